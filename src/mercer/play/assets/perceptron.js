// The kernel perceptron for the kernel k + 1: on a mistake alpha_i += 1. With M mistakes and f = sum alpha_i y_i (k(x_i, .) + 1),
//     min y_i f(x_i) / |f|  <=  margin  <=  |f| / M.

/** @typedef {{point: number, score: number, pass: number}} Mistake */
/** @typedef {{alpha: Float64Array, F: Float64Array, mistakes: Mistake[], count: number, passes: number, done: boolean}} Run */

const MOST_PASSES = 100;

/** Passes in the order of the points until one has no mistake. @param {Float64Array[]} K @param {ArrayLike<number>} y
 * @param {number} [remember] mistakes that are kept @returns {Run} F is without the bias, which is sum alpha y */
export function perceptron(K, y, remember = 0) {
  const n = y.length, alpha = new Float64Array(n), F = new Float64Array(n);
  /** @type {Mistake[]} */ const mistakes = [];
  let bias = 0, count = 0, passes = 0, done = false;
  while (passes < MOST_PASSES && !done) {
    passes++;
    done = true;
    for (let i = 0; i < n; i++) {
      const score = F[i] + bias;
      if (y[i] * score > 0) continue;
      done = false;
      alpha[i]++; bias += y[i]; count++;
      for (let j = 0, row = K[i]; j < n; j++) F[j] += y[i] * row[j];
      if (mistakes.length < remember) mistakes.push({ point: i, score, pass: passes });
    }
  }
  return { alpha, F, mistakes, count, passes, done };
}

/** What the mistakes prove of the margin. @param {ArrayLike<number>} y @param {Float64Array} alpha @param {Float64Array} F */
export function marginBounds(y, alpha, F) {
  let bias = 0, count = 0, square = 0, least = Infinity;
  for (let k = 0; k < y.length; k++) { bias += alpha[k] * y[k]; count += alpha[k]; }
  for (let k = 0; k < y.length; k++) {
    const f = y[k] * (F[k] + bias);
    square += alpha[k] * f;
    least = Math.min(least, f);
  }
  const norm = Math.sqrt(Math.max(0, square));
  const lower = count === 0 ? 0 : norm > 0 ? least / norm : least >= 0 ? 0 : -Infinity;
  return { lower, upper: count === 0 ? Infinity : norm / count, norm, bias, count };
}
