// The same machine elsewhere: as Python, as a command, as a table, as a picture. Text only; numbers are those of the state.
import { isRegression } from './kernel.js';

/** @typedef {import('./state.js').State} State */

/** The kernel as Mercer reads it. @param {State} state */
function kernelText({ kernel, gamma, degree, coef0, text }) {
  if (kernel === 'text') return text;
  if (kernel === 'linear') return 'linear';
  return kernel === 'poly' ? `poly(degree=${degree}, gamma=${gamma}, coef0=${coef0})` : `${kernel}(gamma=${gamma})`;
}

const CLASSES = /** @type {const} */ ({ svc: 'SVC', svr: 'SVR', oneclass: 'OneClassSVM', ridge: 'KernelRidge', perceptron: 'KernelPerceptron' });

/** @param {State} state */
function settings({ machine, C, epsilon, nu, lambda }) {
  if (machine === 'svc') return [`C=${C}`, 'tol=1e-6'];
  if (machine === 'svr') return [`C=${C}`, `epsilon=${epsilon}`, 'tol=1e-6'];
  if (machine === 'oneclass') return [`nu=${nu}`, 'tol=1e-6'];
  return machine === 'ridge' ? [`alpha=${lambda}`, 'bias=True'] : ['bias=True'];
}

/** @param {State} state */
export function toPython(state) {
  const { points, machine } = state, regression = isRegression(state), name = CLASSES[machine];
  const rows = points.map((p) => (regression ? `[${p.x}]` : `[${p.x}, ${p.y}]`));
  const target = machine === 'oneclass' ? '' : `y = np.array([\n${wrapped(points.map((p) => String(regression ? p.y : p.label)), 20)}])\n`;
  return 'import numpy as np\n' + `from mercer import ${name}\n\n` + `X = np.array([\n${wrapped(rows)}])\n${target}`
    + `machine = ${name}(${[JSON.stringify(kernelText(state)), ...settings(state)].join(', ')}).fit(X${target ? ', y' : ''})\n` + 'print(machine.certificate_)\n';
}

/** Several to a line. @param {string[]} items @param {number} [wide] */
function wrapped(items, wide = 5) {
  let out = '';
  for (let k = 0; k < items.length; k += wide) out += `    ${items.slice(k, k + wide).join(', ')},\n`;
  return out;
}

/** For points.csv, which is the table that the page gives. @param {State} state */
export function toShell(state) {
  const { machine, C, epsilon, nu, lambda } = state, regression = isRegression(state);
  const flags = [regression ? '--target x2 --drop label' : machine === 'oneclass' ? '--drop label' : '--target label', `--model ${machine}`, `--kernel "${kernelText(state)}"`,
    ...(machine === 'svc' || machine === 'svr' ? [`--C ${C}`] : []), ...(machine === 'svr' ? [`--epsilon ${epsilon}`] : []), ...(machine === 'oneclass' ? [`--nu ${nu}`] : []),
    ...(machine === 'ridge' ? [`--alpha ${lambda}`] : []), ...(machine === 'perceptron' || machine === 'ridge' ? [] : ['--tol 1e-6']), '--scale none', '--test-size 0', '-o machine.mercer'];
  return `mercer train points.csv ${flags.join(' ')}\n`;
}

/** The plot as one SVG, the field inside it as a picture; styles are written out, so that it looks the same anywhere.
 * @param {SVGElement} picture @param {HTMLCanvasElement} field @param {number} size @param {number} cells @param {string} paper @returns {string} */
export function toSvg(picture, field, size, cells, paper) {
  const copy = /** @type {SVGElement} */ (picture.cloneNode(true)), cell = size / cells;
  copy.querySelectorAll('.hint, .halo, .acting').forEach((part) => part.remove());
  const [from, to] = [picture, copy].map((root) => [...root.querySelectorAll('*')].filter((part) => !part.closest('.hint, .halo, .acting')));
  const names = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-linejoin', 'font-size', 'font-family', 'font-weight', 'paint-order'];
  from.forEach((element, k) => {
    const style = getComputedStyle(element), target = to[k];
    for (const name of names) { const value = style.getPropertyValue(name); if (value && value !== 'none' || name === 'fill') target.setAttribute(name, value); }
    for (const name of ['class', 'tabindex', 'role', 'aria-label', 'aria-hidden']) target.removeAttribute(name);
  });
  for (const name of ['class', 'role', 'aria-label', 'data-part', 'data-label']) copy.removeAttribute(name);
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect'), image = document.createElementNS('http://www.w3.org/2000/svg', 'image');
  for (const [key, value] of Object.entries({ width: size, height: size, fill: paper })) ground.setAttribute(key, String(value));
  for (const [key, value] of Object.entries({ x: -cell, y: -cell, width: size + 2 * cell, height: size + 2 * cell, href: field.toDataURL('image/png'), preserveAspectRatio: 'none' })) image.setAttribute(key, String(value));
  copy.prepend(ground, image);
  for (const [key, value] of Object.entries({ xmlns: 'http://www.w3.org/2000/svg', width: size, height: size, viewBox: `0 0 ${size} ${size}` })) copy.setAttribute(key, String(value));
  return new XMLSerializer().serializeToString(copy);
}

/** @param {string} source an SVG @param {number} size @returns {Promise<Blob | null>} a PNG, twice as fine */
export async function toPng(source, size) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.round(2 * size);
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
