// Data to start from. The same in every visit: a small repeatable source of numbers makes the noise.
import { makeState, point } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Point} Point */

/** @param {number} seed */
export function uniforms(seed) {
  let word = seed >>> 0;
  return () => {
    word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
    return (word + 0.5) / 4294967296;
  };
}

/** @param {number} seed */
function normals(seed) {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** @param {number} count @param {number} [noise] @param {number} [seed] @returns {Point[]} */
export function moons(count, noise = 0.16, seed = 7) {
  const normal = normals(seed);
  return Array.from({ length: count }, (_, i) => {
    const label = i % 2 ? -1 : 1, angle = (Math.PI * ((i >> 1) + 0.5)) / (count / 2);
    return point(label * (Math.cos(angle) - 0.5) + noise * normal(), label * (Math.sin(angle) - 0.25) + noise * normal(), label);
  });
}

/** @param {number} count @param {number} [noise] @param {number} [seed] @returns {Point[]} */
function rings(count, noise = 0.13, seed = 3) {
  const normal = normals(seed), inner = Math.floor(count / 3);
  return Array.from({ length: count }, (_, i) => {
    const label = i < inner ? 1 : -1, radius = (label > 0 ? 0.5 : 1.4) + noise * normal();
    const angle = 2 * Math.PI * (label > 0 ? i / inner : (i - inner) / (count - inner));
    return point(radius * Math.cos(angle), radius * Math.sin(angle), label);
  });
}

/** Three clouds, one for each class. @param {number} count @returns {Point[]} */
function clouds(count) {
  const normal = normals(11), centres = [[-0.8, 0.6], [0.8, 0.7], [0, -0.8]];
  return Array.from({ length: count }, (_, i) => point(centres[i % 3][0] + 0.4 * normal(), centres[i % 3][1] + 0.4 * normal(), [1, -1, 2][i % 3]));
}

/** A wave with noise, to be followed. @param {number} count @returns {Point[]} */
function wave(count) {
  const normal = normals(5);
  return Array.from({ length: count }, (_, i) => {
    const x = -1.8 + 3.6 * (i + 0.5) / count;
    return point(x, Math.sin(2.2 * x) + 0.18 * normal(), 1);
  });
}

/** One cloud and a few strangers. @param {number} count @returns {Point[]} */
function cloud(count) {
  const normal = normals(9);
  const around = Array.from({ length: count - 4 }, () => { const t = normal(); return point(0.75 * t + 0.25 * normal(), 0.4 * t + 0.3 * normal(), 1); });
  return [...around, point(-1.4, 1.3, 1), point(1.5, -1.2, 1), point(0.1, -1.5, 1), point(-1.6, -1.4, 1)];
}

const PLAIN = Object.freeze({ x: 0, y: 0, half: 2 });
const XOR = [point(1, 1, 1), point(-1, -1, 1), point(1, -1, -1), point(-1, 1, -1)];
const THREE = [point(1, 3, 1), point(2, 1, 1), point(0, 1, -1)];
const LINE = [[1.1, 2.2, 1], [1.7, 0.9, -1], [2.7, 0.6, -1], [2.4, 1.6, -1], [1.3, 1, -1], [1, 0.4, -1],
  [3.2, 2.1, -1], [2.5, 3.1, 1], [1.1, 2.6, 1], [0.8, 2.4, 1], [0.3, 2, 1], [0.9, 3.2, 1]];

/** @type {Record<string, () => State>} named in texts.js */
export const EXAMPLES = {
  three: () => makeState({ kernel: 'linear' }, { x: 1, y: 2, half: 2.5 }, THREE),
  xor: () => makeState({ kernel: 'poly', degree: 2 }, PLAIN, XOR),
  moons: () => makeState({ gamma: 1.5 }, PLAIN, moons(60)),
  rings: () => makeState({ kernel: 'poly', degree: 2, coef0: 0 }, PLAIN, rings(60)),
  clouds: () => makeState({ C: 1 }, PLAIN, clouds(48)),
  wave: () => makeState({ machine: 'svr', C: 10, gamma: 1.5 }, PLAIN, wave(36)),
  cloud: () => makeState({ machine: 'oneclass', gamma: 0.6, nu: 0.2 }, PLAIN, cloud(44)),
  perceptron: () => makeState({ machine: 'perceptron', kernel: 'linear', step: 0 }, { x: 1.5, y: 1.5, half: 2 }, LINE.map(([x, y, label]) => point(x, y, label))),
};
