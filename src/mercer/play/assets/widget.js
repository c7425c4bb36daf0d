// The page in a notebook: anywidget's interface. The state is shared with Python, in both directions.
import { Page } from './page.js';
import { readAnswer } from './python.js';
import { fromPlain, toPlain } from './state.js';

/** @typedef {{get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void, send: (message: any) => void,
 *   on: (event: string, act: (message?: any) => void) => void, off: (event: string, act: (message?: any) => void) => void}} Model */

/** Questions to the kernel of the notebook, each with a number by which its answer is known. @param {Model} model */
function askKernel(model) {
  /** @type {Map<number, {done: (value: any) => void, fail: (error: Error) => void}>} */ const open = new Map();
  let last = 0;
  const listen = (/** @type {any} */ message) => {
    const waiting = open.get(message?.number);
    if (!waiting) return;
    open.delete(message.number);
    if (message.error) waiting.fail(new Error(String(message.error))); else waiting.done(message.answer);
  };
  const ask = (/** @type {string} */ what, /** @type {import('./state.js').State} */ state) => new Promise((done, fail) => {
    open.set(++last, { done, fail });
    model.send({ number: last, what, state: toPlain(state) });
  });
  model.on('msg:custom', listen);
  return { python: { fit: async (/** @type {any} */ state) => readAnswer(await ask('fit', state)), worked: async (/** @type {any} */ state) => ask('worked', state) },
    stop: () => model.off('msg:custom', listen) };
}

/** @param {string} markup that of page.html */
export function makeWidget(markup) {
  return {
    /** @param {{model: Model, el: HTMLElement}} given @returns {() => void} what ends it */
    render({ model, el }) {
      const root = document.createElement('div'), { python, stop } = askKernel(model);
      root.className = 'mercer-play';
      root.append(...new DOMParser().parseFromString(markup, 'text/html').body.childNodes);
      el.append(root);
      let own = JSON.stringify(model.get('state'));
      const page = new Page(root, { state: fromPlain(model.get('state')), python, changed: (state) => {
        own = JSON.stringify(toPlain(state));
        model.set('state', toPlain(state));
        model.save_changes();
      } });
      const listen = () => { // what this page has said itself comes back, and is no news
        const given = model.get('state');
        if (JSON.stringify(given) !== own) { own = JSON.stringify(given); page.take(fromPlain(given)); }
      };
      model.on('change:state', listen);
      page.wake();
      return () => { model.off('change:state', listen); stop(); };
    },
  };
}
