// Listens to the frames of the page: from the pointer's event to the first task after the frame was painted.
() => {
  window.log = [];
  const channel = new MessageChannel();
  let wait = null;
  channel.port1.onmessage = () => { wait.painted = performance.now(); window.log.push(wait); };
  document.querySelector('.mercer-play').addEventListener('mercer-frame', (event) => {
    if (!event.detail.fresh || event.detail.cause === null) return;
    wait = event.detail;
    channel.port2.postMessage(0);
  });
}
