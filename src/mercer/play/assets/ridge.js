// Kernel ridge regression: (K + lambda I) beta + b = t with sum beta = 0, and its certificate.
//     J(beta, b) = 1/2 sum (t - f)^2 + lambda/2 beta'K beta,   its dual = lambda (t'beta - 1/2 beta'K beta - lambda/2 beta'beta).
import { cholesky, dot, product, solved, sum } from './algebra.js';
import { relativeGap } from './descent.js';

/** @typedef {import('./descent.js').Certificate} Certificate */

const DIRECT = 400; // points up to which the system is factored; with more, conjugate gradients go on from the last answer

/** beta from nothing or from an earlier beta, until the relative gap is reached or the time is up.
 * @param {Float64Array[]} K @param {Float64Array} t @param {number} lambda @param {Float64Array} start
 * @param {number} target @param {number} budget milliseconds @returns {Float64Array} */
export function ridge(K, t, lambda, start, target, budget) {
  const L = t.length <= DIRECT ? cholesky(K, [...t.keys()], lambda) : null;
  if (!L) return conjugate(K, t, lambda, start, target, performance.now() + budget);
  const apply = (/** @type {Float64Array} */ v) => product(K, v).map((value, k) => value + lambda * v[k]);
  const solve = (/** @type {Float64Array} */ right) => {
    const x = solved(L, right), off = apply(x).map((value, k) => right[k] - value), fine = solved(L, off);
    return x.map((value, k) => value + fine[k]); // refined once
  };
  const u = solve(t), z = solve(new Float64Array(t.length).fill(1)), b = sum(u) / sum(z);
  return centred(u.map((value, k) => value - b * z[k]));
}

/** @param {Float64Array} v */
const centred = (v) => { const mean = sum(v) / v.length; return v.map((value) => value - mean); };

/** Conjugate gradients on the beta of sum 0. @param {Float64Array[]} K @param {Float64Array} t @param {number} lambda
 * @param {Float64Array} start @param {number} target @param {number} end */
function conjugate(K, t, lambda, start, target, end) {
  const n = t.length;
  let beta = start.length === n ? centred(start) : new Float64Array(n);
  const apply = (/** @type {Float64Array} */ v) => centred(product(K, v).map((value, k) => value + lambda * v[k]));
  const image = apply(beta);
  let r = centred(t).map((value, k) => value - image[k]), d = r.slice(), square = dot(r, r);
  for (let round = 0; round < 4 * n && square > 0; round++) {
    const Ad = apply(d), step = square / dot(d, Ad);
    for (let k = 0; k < n; k++) { beta[k] += step * d[k]; r[k] -= step * Ad[k]; }
    const next = dot(r, r);
    if (round % 8 === 7 && (performance.now() >= end || certifyRidge(beta, product(K, beta), t, lambda).relative <= target)) break;
    for (let k = 0; k < n; k++) d[k] = r[k] + next / square * d[k];
    square = next;
  }
  return centred(beta);
}

/** @param {Float64Array} beta @param {Float64Array} F @param {Float64Array} t @param {number} lambda @returns {Certificate} */
export function certifyRidge(beta, F, t, lambda) {
  const n = t.length, bias = n ? (sum(t) - sum(F)) / n : 0, norm2 = dot(beta, F);
  let square = 0;
  for (let k = 0; k < n; k++) square += (t[k] - F[k] - bias) ** 2;
  const primal = square / 2 + lambda / 2 * norm2, dual = lambda * (dot(t, beta) - norm2 / 2 - lambda / 2 * dot(beta, beta));
  return { primal, dual, gap: Math.max(0, primal - dual), relative: relativeGap(primal, dual), bias, norm2 };
}
