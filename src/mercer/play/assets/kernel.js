// k(x, z) for points of the plane, and sums of kernels over a grid.
//
// In regression a point's height is its target: the kernels then see the first coordinate alone.

/** @typedef {import('./state.js').State} State */
/** @typedef {{readonly x: number, readonly y: number}} Place */
/** @typedef {(a: Place, b: Place) => number} Kernel */
/** @typedef {{readonly x: number, readonly y: number, readonly beta: number}} Weighted */
/** @typedef {Pick<State, 'kernel' | 'gamma' | 'degree' | 'coef0' | 'machine'>} Choice */

/** @param {Pick<State, 'machine'>} state */
export const isRegression = ({ machine }) => machine === 'svr' || machine === 'ridge';

/** What a kernel depends on, as text: equal keys, equal kernels. @param {Choice & Pick<State, 'text'>} of */
export const kernelKey = ({ kernel, gamma, degree, coef0, text, machine }) =>
  [kernel, gamma, degree, coef0, kernel === 'text' ? text : '', isRegression({ machine })].join('|');

/** @param {Choice} of @returns {Kernel} */
export function kernelOf({ kernel, gamma, degree, coef0, machine }) {
  if (isRegression({ machine })) {
    if (kernel === 'linear') return (a, b) => a.x * b.x;
    if (kernel === 'poly') return (a, b) => (gamma * a.x * b.x + coef0) ** degree;
    if (kernel === 'laplacian') return (a, b) => Math.exp(-gamma * Math.abs(a.x - b.x));
    return (a, b) => Math.exp(-gamma * (a.x - b.x) ** 2);
  }
  if (kernel === 'linear') return (a, b) => a.x * b.x + a.y * b.y;
  if (kernel === 'poly') return (a, b) => (gamma * (a.x * b.x + a.y * b.y) + coef0) ** degree;
  if (kernel === 'laplacian') return (a, b) => Math.exp(-gamma * (Math.abs(a.x - b.x) + Math.abs(a.y - b.y)));
  return (a, b) => Math.exp(-gamma * ((a.x - b.x) ** 2 + (a.y - b.y) ** 2));
}

/** All values of k on these points. @param {readonly Place[]} points @param {Kernel} k */
export function gram(points, k) {
  const K = points.map(() => new Float64Array(points.length));
  for (let i = 0; i < points.length; i++) for (let j = 0; j <= i; j++) K[i][j] = K[j][i] = k(points[i], points[j]);
  return K;
}

/** Add sum beta k(x_i, .) at the places (xs[i], ys[j]) to field, row j after row j.
 * Gaussian and Laplacian are products over the coordinates: side + side exponentials per point, not side^2.
 * @param {Choice} of @param {readonly Weighted[]} points @param {Float64Array} xs @param {Float64Array} ys @param {Float64Array} field */
export function addOverGrid(of, points, xs, ys, field) {
  const { kernel, gamma, degree, coef0 } = of, side = xs.length, across = new Float64Array(side);
  if (kernel === 'linear') {
    let wx = 0, wy = 0;
    for (const p of points) { wx += p.beta * p.x; wy += p.beta * p.y; }
    for (let j = 0; j < ys.length; j++) for (let i = 0; i < side; i++) field[j * side + i] += wx * xs[i] + wy * ys[j];
    return;
  }
  if (kernel !== 'poly') { addProducts(of, points.filter((p) => p.beta !== 0), xs, ys, field); return; }
  for (const p of points) {
    if (p.beta === 0) continue;
    for (let i = 0; i < side; i++) across[i] = gamma * xs[i] * p.x;
    for (let j = 0; j < ys.length; j++) {
      const at = j * side, down = gamma * ys[j] * p.y + coef0;
      for (let i = 0; i < side; i++) {
        const base = across[i] + down;
        let power = base;
        for (let d = 1; d < degree; d++) power *= base;
        field[at + i] += p.beta * power;
      }
    }
  }
}

/** Kernels that are products of a function of x and one of y: four points at a time, so that the field is read and written
 * a quarter as often. @param {Choice} of @param {readonly Weighted[]} points @param {Float64Array} xs @param {Float64Array} ys @param {Float64Array} field */
function addProducts({ kernel, gamma }, points, xs, ys, field) {
  const side = xs.length, value = kernel === 'laplacian' ? (/** @type {number} */ t) => Math.exp(-gamma * Math.abs(t)) : (/** @type {number} */ t) => Math.exp(-gamma * t * t);
  const four = Array.from({ length: 4 }, () => new Float64Array(side)), [a, b, c, d] = four;
  for (let k = 0; k < points.length; k += 4) {
    four.forEach((across, m) => { const p = points[k + m]; for (let i = 0; i < side; i++) across[i] = p ? value(xs[i] - p.x) : 0; });
    for (let j = 0; j < ys.length; j++) {
      const [wa, wb, wc, wd] = [0, 1, 2, 3].map((m) => { const p = points[k + m]; return p ? p.beta * value(ys[j] - p.y) : 0; });
      if (Math.abs(wa) + Math.abs(wb) + Math.abs(wc) + Math.abs(wd) < 1e-9) continue;
      for (let i = 0, at = j * side; i < side; i++) field[at + i] += wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
    }
  }
}

/** f and its gradient at a place, without the bias. @param {Choice} of @param {readonly Weighted[]} points @param {number} x @param {number} y */
export function slopeAt(of, points, x, y) {
  const { kernel, gamma, degree, coef0 } = of;
  let f = 0, fx = 0, fy = 0;
  for (const p of points) {
    if (p.beta === 0) continue;
    if (kernel === 'rbf') {
      const value = p.beta * Math.exp(-gamma * ((x - p.x) ** 2 + (y - p.y) ** 2));
      f += value; fx += 2 * gamma * value * (p.x - x); fy += 2 * gamma * value * (p.y - y);
    } else if (kernel === 'laplacian') {
      const value = p.beta * Math.exp(-gamma * (Math.abs(x - p.x) + Math.abs(y - p.y)));
      f += value; fx += gamma * value * Math.sign(p.x - x); fy += gamma * value * Math.sign(p.y - y);
    } else {
      const base = gamma * (x * p.x + y * p.y) + coef0;
      const rate = kernel === 'poly' ? p.beta * degree * gamma * base ** (degree - 1) : p.beta;
      f += kernel === 'poly' ? p.beta * base ** degree : p.beta * (x * p.x + y * p.y);
      fx += rate * p.x; fy += rate * p.y;
    }
  }
  return { f, fx, fy };
}
