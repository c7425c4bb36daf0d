// The feature space as a picture: where phi has two or three coordinates these, else kernel PCA.
import { kernelPca } from './algebra.js';
import { isRegression } from './kernel.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {{kind: 'plane' | 'space' | 'curve' | 'pca', coordinates: number[][], share: number}} Features */

/** phi(x) where it has two or three coordinates, else null; constants are left out.
 * @param {State} state @returns {((p: {x: number, y: number}) => number[]) | null} */
function featureMap(state) {
  const { kernel, gamma, degree, coef0 } = state, root = Math.sqrt(gamma);
  if (isRegression(state)) {
    if (kernel !== 'poly' || coef0 !== 1 || degree > 3) return null;
    if (degree === 2) return ({ x }) => [Math.SQRT2 * root * x, gamma * x * x];
    return ({ x }) => [Math.sqrt(3) * root * x, Math.sqrt(3) * gamma * x * x, root ** 3 * x ** 3];
  }
  if (kernel === 'linear') return ({ x, y }) => [x, y];
  if (kernel === 'poly' && degree === 2 && coef0 === 0) return ({ x, y }) => [gamma * x * x, Math.SQRT2 * gamma * x * y, gamma * y * y];
  return null;
}

/** @param {State} state @param {Float64Array[]} K @returns {Features} */
export function featuresOf(state, K) {
  const map = featureMap(state);
  if (map) {
    const coordinates = state.points.map(map), kind = isRegression(state) ? 'curve' : state.kernel === 'linear' ? 'plane' : 'space';
    return { kind, coordinates, share: 1 };
  }
  const { values, x, y, total } = kernelPca(K);
  return { kind: 'pca', coordinates: [...x].map((value, k) => [value, y[k]]), share: total > 0 ? (values[0] + values[1]) / total : 1 };
}

/** Coordinates on the screen, in [-1, 1]: two as they are, three seen from the side. @param {readonly number[][]} coordinates
 * @param {number} turn degrees @returns {{place: (c: readonly number[]) => [number, number, number], centre: number[], size: number}} */
export function camera(coordinates, turn) {
  const width = coordinates[0]?.length ?? 2;
  const low = Array.from({ length: width }, (_, a) => Math.min(...coordinates.map((c) => c[a])));
  const high = Array.from({ length: width }, (_, a) => Math.max(...coordinates.map((c) => c[a])));
  const centre = low.map((l, a) => (l + high[a]) / 2), size = Math.max(1e-9, ...high.map((h, a) => h - low[a])) / 2;
  const angle = turn * Math.PI / 180, [c, s] = [Math.cos(angle), Math.sin(angle)], [ct, st] = [Math.cos(0.45), Math.sin(0.45)];
  const place = (/** @type {readonly number[]} */ v) => {
    const [a, b, d = 0] = v.map((value, k) => (value - centre[k]) / size);
    if (width < 3) return /** @type {[number, number, number]} */ ([a * 0.85, b * 0.85, 0]);
    const across = c * a - s * b, away = s * a + c * b;
    return /** @type {[number, number, number]} */ ([across * 0.62, (ct * d + st * away) * 0.62, ct * away - st * d]);
  };
  return { place, centre, size };
}
