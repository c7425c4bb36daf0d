// Linear algebra in plain loops: sums, a Cholesky factor, leading eigenvectors.

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function dot(a, b) {
  let total = 0;
  for (let k = 0; k < a.length; k++) total += a[k] * b[k];
  return total;
}

/** @param {ArrayLike<number>} values */
export function sum(values) {
  let total = 0;
  for (let k = 0; k < values.length; k++) total += values[k];
  return total;
}

/** K v, where many v are 0. @param {Float64Array[]} K @param {Float64Array} v */
export function product(K, v) {
  const out = new Float64Array(v.length);
  for (let i = 0; i < v.length; i++) {
    if (v[i] === 0) continue;
    for (let j = 0, row = K[i], weight = v[i]; j < v.length; j++) out[j] += weight * row[j];
  }
  return out;
}

/** The lower factor of K on these rows, with `ridge` added to its diagonal, and a trifle; null where there is none.
 * @param {Float64Array[]} K @param {number[]} rows @param {number} [ridge] */
export function cholesky(K, rows, ridge = 0) {
  const m = rows.length;
  const L = Array.from({ length: m }, (_, i) => new Float64Array(i + 1));
  for (let i = 0; i < m; i++) {
    const Li = L[i], source = K[rows[i]];
    for (let j = 0; j <= i; j++) {
      const Lj = L[j];
      let value = source[rows[j]];
      if (i === j) value += ridge || 1e-10 * (1 + value);
      for (let k = 0; k < j; k++) value -= Li[k] * Lj[k];
      if (i !== j) Li[j] = value / Lj[j];
      else if (value > 0) Li[j] = Math.sqrt(value);
      else return null;
    }
  }
  return L;
}

/** The x with L L' x = right. @param {Float64Array[]} L @param {Float64Array} right */
export function solved(L, right) {
  const m = L.length, x = right.slice();
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
    x[i] /= L[i][i];
  }
  for (let i = m - 1; i >= 0; i--) {
    x[i] /= L[i][i];
    for (let k = 0; k < i; k++) x[k] -= L[i][k] * x[i];
  }
  return x;
}

const BLOCK = 6;       // vectors that are iterated together: the first two converge by the ratio of the second and the seventh
const ROUNDS = 300;
const STILL = 1e-12;   // change of the leading eigenvalues, in parts of them, at which they are found

/** The two largest eigenvalues of the centred K, and coordinates sqrt(eigenvalue) v: kernel PCA.
 * Each axis points so that its largest entry is positive: the same points, the same picture.
 * @param {Float64Array[]} K @returns {{values: [number, number], x: Float64Array, y: Float64Array, total: number}} */
export function kernelPca(K) {
  const n = K.length, means = K.map((row) => sum(row) / Math.max(n, 1)), mean = sum(means) / Math.max(n, 1);
  let total = 0;
  for (let i = 0; i < n; i++) total += K[i][i] - 2 * means[i] + mean;
  const m = Math.min(BLOCK, n);
  if (m === 0) return { values: [0, 0], x: new Float64Array(0), y: new Float64Array(0), total: 0 };
  const centred = K.map((row, i) => row.map((value, j) => value - means[i] - means[j] + mean));
  let V = Array.from({ length: m }, (_, a) => Float64Array.from({ length: n }, (_, i) => Math.cos((a + 1) * (i + 0.5) * 2.399963) + (a === i ? 1 : 0)));
  orthonormalise(V);
  /** @type {number[]} */ let values = [];
  for (let round = 0, last = Infinity; round < ROUNDS; round++) {
    const W = V.map((v) => product(centred, v));
    const small = V.map((v) => Float64Array.from(W, (w) => dot(v, w)));
    const { vectors, values: found } = jacobi(small);
    V = vectors.map((c) => combined(W, c));
    values = found;
    orthonormalise(V);
    const size = found[0] + (found[1] ?? 0);
    if (Math.abs(size - last) <= STILL * Math.abs(size)) break;
    last = size;
  }
  const axis = (/** @type {number} */ a) => {
    const v = V[a] ?? new Float64Array(n), root = Math.sqrt(Math.max(0, values[a] ?? 0));
    let largest = 0;
    for (const entry of v) if (Math.abs(entry) > Math.abs(largest) * (1 + 1e-9)) largest = entry;
    return v.map((entry) => (largest < 0 ? -root : root) * entry);
  };
  return { values: [Math.max(0, values[0] ?? 0), Math.max(0, values[1] ?? 0)], x: axis(0), y: axis(1), total };
}

/** @param {Float64Array[]} W @param {Float64Array} weights */
function combined(W, weights) {
  const out = new Float64Array(W[0].length);
  W.forEach((w, a) => { for (let i = 0; i < out.length; i++) out[i] += weights[a] * w[i]; });
  return out;
}

/** Gram and Schmidt, twice, in place. @param {Float64Array[]} V */
function orthonormalise(V) {
  V.forEach((v, a) => {
    for (let twice = 0; twice < 2; twice++) {
      for (let b = 0; b < a; b++) {
        const part = dot(v, V[b]);
        for (let i = 0; i < v.length; i++) v[i] -= part * V[b][i];
      }
    }
    const norm = Math.sqrt(dot(v, v));
    for (let i = 0; i < v.length; i++) v[i] = norm > 1e-150 ? v[i] / norm : 0;
  });
}

/** Eigenvalues, the largest first, and vectors of a small symmetric matrix, by rotations. @param {Float64Array[]} A */
function jacobi(A) {
  const m = A.length, M = A.map((row) => row.slice());
  const V = A.map((_, i) => Float64Array.from(A, (_, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0, size = 0;
    for (let p = 0; p < m; p++) for (let q = 0; q < m; q++) if (p === q) size += M[p][p] ** 2; else off += M[p][q] ** 2;
    if (off <= 1e-30 * size) break;
    for (let p = 0; p < m; p++) for (let q = p + 1; q < m; q++) if (M[p][q] !== 0) rotate(M, V, p, q);
  }
  const order = M.map((_, i) => i).sort((a, b) => M[b][b] - M[a][a]);
  return { values: order.map((i) => M[i][i]), vectors: order.map((i) => V[i]) };
}

/** @param {Float64Array[]} M @param {Float64Array[]} V @param {number} p @param {number} q */
function rotate(M, V, p, q) {
  const theta = (M[q][q] - M[p][p]) / (2 * M[p][q]);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1), s = t * c, m = M.length;
  for (let k = 0; k < m; k++) [M[k][p], M[k][q]] = [c * M[k][p] - s * M[k][q], s * M[k][p] + c * M[k][q]];
  for (let k = 0; k < m; k++) [M[p][k], M[q][k]] = [c * M[p][k] - s * M[q][k], s * M[p][k] + c * M[q][k]];
  for (let k = 0; k < m; k++) [V[p][k], V[q][k]] = [c * V[p][k] - s * V[q][k], s * V[p][k] + c * V[q][k]];
}
