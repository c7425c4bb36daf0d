// One problem and its answer: pair descent (SMO) with Newton steps between, a certificate after each round.
//
// In Mercer's one currency, f = sum beta_i k(x_i, .) + b. With h_i(s) = eps |s| - q_i s on [lo_i, hi_i], sum beta = mass,
//     dual(beta)      = -1/2 beta'K beta - sum h_i(beta_i)
//     primal(beta, b) =  1/2 beta'K beta + sum loss_i(f_i) + mass b,   loss_i(f) = max over s of (q_i - f) s - eps |s|.
// SVC: q = y, [0, C] or [-C, 0]. SVR: q = t, [-C, C]. One-class: q = 0, [0, 1], mass = nu n.
// primal - dual bounds the distance of both from the best: that is the certificate.
import { cholesky, dot, product, solved, sum } from './algebra.js';
import { gram } from './kernel.js';

/** @typedef {import('./state.js').Point} Point */
/** @typedef {import('./kernel.js').Kernel} Kernel */
/** @typedef {{primal: number, dual: number, gap: number, relative: number, bias: number, norm2: number}} Certificate */
/** @typedef {{points: readonly Point[], k: Kernel, key: string, q: Float64Array, lo: Float64Array, hi: Float64Array,
 *   eps: number, mass: number, width: number}} Problem  width: hi - lo on one side of 0, the same for all points */

const SMALLEST_CURVATURE = 1e-12;
const MOST_FREE = 200;   // free multipliers solved for at once
const NEWTON_STEPS = 64; // at most, after each round of pairs; each but the last meets a bound
const ROUGH = 1e-5;      // above this gap, F may carry the rounding of its updates
const LEAST_ROUNDS = 6;  // of a frame with news: on a busy machine the time may be up before any work is done
const TRIFLE = 1e-13;    // of the largest value that 1/2 beta'K beta could have
const TIE = 1e-10;        // of values that differ by less, the first is chosen: no choice hangs on the last bits
const IDLE = 1e-12;      // a pair that promises less, in parts of the largest value, gains nothing

/** @param {number} primal @param {number} dual */
export function relativeGap(primal, dual) {
  const gap = Math.max(0, primal - dual);
  return gap === 0 ? 0 : gap / Math.max(Math.abs(primal), Math.abs(dual));
}

/** K, beta and F = K beta, kept from one problem to the next. */
export class Descent {
  /** @type {Problem | null} */ problem = null;
  n = 0;
  /** @type {Float64Array[]} */ K = [];
  /** @type {Float64Array} */ beta = new Float64Array(0);
  /** @type {Float64Array} */ F = new Float64Array(0);
  steps = 0;
  /** @type {Certificate | null} */ certificate = null;

  /** Take over a new problem with as little work as the difference between the two allows. @param {Problem} next */
  follow(next) {
    const last = this.problem;
    this.problem = next;
    this.certificate = null;
    const same = last && last.key === next.key;
    const moved = same ? whoMoved(last.points, next.points) : 'many';
    if (typeof moved === 'number') this.#move(moved, next);
    else if (moved === 'many') {
      const carried = last ? new Map(last.points.map((p, k) => [p, this.beta[k]])) : new Map();
      const kept = last?.points.length === next.points.length && !same ? this.beta : null;
      this.n = next.points.length;
      this.K = gram(next.points, next.k);
      this.beta = kept ?? Float64Array.from(next.points, (p) => carried.get(p) ?? 0);
      this.refresh();
    }
    if (makeFeasible(this.beta, next)) this.refresh();
    if (next.mass === 0) this.#rescale();
  }

  /** One point moved: one row and column of K, and what they add to F. @param {number} i @param {Problem} next */
  #move(i, { points, k }) {
    const { K, F, beta, n } = this, row = K[i], here = points[i], weight = beta[i];
    let own = 0;
    for (let j = 0; j < n; j++) {
      const value = k(here, points[j]);
      F[j] += weight * (value - row[j]);
      row[j] = K[j][i] = value;
      own += beta[j] * value;
    }
    F[i] = own;
  }

  /** F from scratch, so that rounding never gathers. */
  refresh() { this.F = product(this.K, this.beta); }

  /** The best feasible multiple of the multipliers at hand: the warm start after any change. */
  #rescale() {
    const { beta, F, n } = this, { q, eps, lo, hi } = /** @type {Problem} */ (this.problem);
    let linear = 0, reach = Infinity;
    for (let i = 0; i < n; i++) {
      linear += q[i] * beta[i] - eps * Math.abs(beta[i]);
      if (beta[i] !== 0) reach = Math.min(reach, (beta[i] > 0 ? hi[i] : lo[i]) / beta[i]);
    }
    if (reach === Infinity) return;
    const t = Math.max(0, Math.min(linear / Math.max(dot(beta, F), SMALLEST_CURVATURE), reach));
    for (let i = 0; i < n; i++) {
      beta[i] = Math.min(hi[i], Math.max(lo[i], t * beta[i]));
      F[i] *= t;
    }
  }

  /** Descend until the relative gap is reached, or the time or the rounds are up; the certificate says which.
   * @param {number} target @param {number} budget milliseconds @param {number} [most] rounds @returns {Certificate} */
  descend(target, budget, most = Infinity) {
    const end = performance.now() + budget;
    let now = this.certify();
    if (now.relative > target) { this.#newton(); now = this.certify(); } // a warm start mostly has the right free set
    for (let exact = target > ROUGH, rounds = 0; ;) {
      const late = rounds >= most || performance.now() >= end && (target <= ROUGH || rounds >= LEAST_ROUNDS);
      if (now.relative <= target || late) {
        if (exact || now.relative > target) break;
        this.refresh(); // what is called proved is computed afresh
        exact = true;
      } else {
        let moving = true;
        rounds++;
        exact = target > ROUGH;
        for (let s = 0; s < Math.max(20, this.n / 4) && moving; s++) moving = this.pairStep() !== null;
        this.#newton();
        if (!moving) { this.refresh(); now = this.certify(); break; }
      }
      now = this.certify();
    }
    return this.certificate = now;
  }

  /** The pair that a step would change and by how much: the steepest way up, and the partner that promises the largest gain. */
  choosePair() {
    const { K, F, beta, n } = this, { q, lo, hi, eps } = /** @type {Problem} */ (this.problem);
    let i = -1, best = -1e300, size = 0;
    for (let k = 0; k < n; k++) {
      const v = q[k] - F[k];
      size = Math.max(size, Math.abs(v));
      const rise = v - (beta[k] >= 0 ? eps : -eps);
      if (rise > best + TIE && beta[k] < hi[k]) { best = rise; i = k; }
    }
    if (i < 0) return null;
    const Ki = K[i], kii = Ki[i];
    let j = -1, gain = 0, rise = 0, bend = 1;
    for (let k = 0; k < n; k++) {
      const difference = best - q[k] + F[k] + (beta[k] > 0 ? eps : -eps);
      if (difference > 0 && beta[k] > lo[k] && k !== i) {
        const curvature = Math.max(kii + K[k][k] - 2 * Ki[k], SMALLEST_CURVATURE);
        const promised = difference * difference / curvature;
        if (promised > gain * (1 + TIE)) { gain = promised; j = k; rise = difference; bend = curvature; }
      }
    }
    if (j < 0 || rise < IDLE * Math.max(1, size)) return null;
    const top = eps > 0 && beta[i] < 0 ? 0 : hi[i], bottom = eps > 0 && beta[j] > 0 ? 0 : lo[j];
    const t = Math.min(rise / bend, top - beta[i], beta[j] - bottom);
    return { i, j, t, top, bottom, rise, bend };
  }

  /** One pair: null when none gains. */
  pairStep() {
    const pair = this.choosePair();
    if (!pair) return null;
    const { K, F, beta, n } = this, { i, j, t, top, bottom } = pair, Ki = K[i], Kj = K[j];
    const [roomUp, roomDown] = [top - beta[i], beta[j] - bottom];
    beta[i] = t === roomUp ? top : beta[i] + t;
    beta[j] = t === roomDown ? bottom : beta[j] - t;
    for (let k = 0; k < n; k++) F[k] += t * (Ki[k] - Kj[k]);
    this.steps++;
    return pair;
  }

  #newton() { for (let s = 0; s < NEWTON_STEPS && this.#newtonStep(); s++); }

  /** All free multipliers at once: solve K d + b = slope on the free set with sum d = 0, and go as far as the box allows.
   * True when the box cut the step short, so that another one may gain. */
  #newtonStep() {
    const { K, F, beta, n } = this, { q, lo, hi, eps } = /** @type {Problem} */ (this.problem);
    const free = [];
    for (let k = 0; k < n; k++) if (beta[k] !== 0 && beta[k] > lo[k] && beta[k] < hi[k]) free.push(k);
    const m = free.length;
    if (m < 2 || m > MOST_FREE) return false;
    const L = cholesky(K, free);
    if (!L) return false;
    const slope = Float64Array.from(free, (k) => q[k] - F[k] - eps * Math.sign(beta[k]));
    const u = solved(L, slope), z = solved(L, new Float64Array(m).fill(1)), shift = sum(u) / sum(z);
    const d = u.map((value, a) => value - shift * z[a]), drift = sum(d) / m;
    let reach = 1, cut = -1, edge = 0;
    for (let a = 0; a < m; a++) {
      d[a] -= drift;
      const k = free[a], wall = d[a] > 0 ? (beta[k] < 0 ? Math.min(hi[k], 0) : hi[k]) : (beta[k] > 0 ? Math.max(lo[k], 0) : lo[k]);
      const room = (wall - beta[k]) / d[a];
      if (d[a] !== 0 && room < reach) { reach = Math.max(room, 0); cut = a; edge = wall; }
    }
    const step = new Float64Array(n);
    for (let a = 0; a < m; a++) for (let k = 0, row = K[free[a]], da = d[a]; k < n; k++) step[k] += da * row[k];
    let gain = dot(d, slope), bend = 0; // along d the dual rises by gain t - bend t^2 / 2: never step where it would fall
    for (let a = 0; a < m; a++) bend += d[a] * step[free[a]];
    if (!(gain > 0)) return false;
    const t = Math.min(reach, bend > 0 ? gain / bend : reach);
    for (let a = 0; a < m; a++) beta[free[a]] = a === cut && t === reach ? edge : beta[free[a]] + t * d[a];
    for (let k = 0; k < n; k++) F[k] += t * step[k];
    this.steps++;
    return cut >= 0 && t === reach;
  }

  /** The b that makes the primal least, the middle where an interval does. The slope in b starts at mass - sum hi and
   * rises by the same width at each break of a loss, so that sorting the breaks and counting is enough. */
  bestBias() {
    const { F, n } = this, { q, lo, hi, eps, mass, width } = /** @type {Problem} */ (this.problem);
    const breaks = new Float64Array(2 * n);
    let m = 0;
    for (let k = 0; k < n; k++) {
      if (hi[k] > 0) breaks[m++] = q[k] - eps - F[k];
      if (lo[k] < 0) breaks[m++] = q[k] + eps - F[k];
    }
    const sorted = breaks.subarray(0, m).sort(), count = (sum(hi) - mass) / width, whole = Math.round(count);
    if (m === 0) return 0;
    if (Math.abs(count - whole) > 1e-9) return sorted[Math.min(m - 1, Math.floor(count))];
    if (whole <= 0) return sorted[0];
    return whole >= m ? sorted[m - 1] : (sorted[whole - 1] + sorted[whole]) / 2;
  }

  /** Primal, dual and what lies between. @returns {Certificate} */
  certify() {
    const { F, beta, n } = this, { q, eps, mass } = /** @type {Problem} */ (this.problem), bias = this.bestBias();
    let norm2 = 0, linear = 0, loss = 0;
    for (let k = 0; k < n; k++) {
      norm2 += beta[k] * F[k];
      linear += q[k] * beta[k] - eps * Math.abs(beta[k]);
      loss += this.lossAt(k, F[k] + bias);
    }
    const primal = norm2 / 2 + loss + mass * bias, dual = linear - norm2 / 2, gap = Math.max(0, primal - dual);
    return { primal, dual, gap, relative: gap <= this.#rounding() ? 0 : relativeGap(primal, dual), bias, norm2 };
  }

  /** What rounding alone makes of a one-class machine whose best is 0, because the origin lies among the points. */
  #rounding() {
    const { mass } = /** @type {Problem} */ (this.problem);
    if (mass === 0) return 0;
    let largest = 0;
    for (let k = 0; k < this.n; k++) largest = Math.max(largest, this.K[k][k]);
    return TRIFLE * largest * mass * mass;
  }

  /** @param {number} k @param {number} f */
  lossAt(k, f) {
    const { q, lo, hi, eps } = /** @type {Problem} */ (this.problem), d = q[k] - f;
    return d > eps ? hi[k] * (d - eps) : d < -eps ? lo[k] * (d + eps) : 0;
  }
}

/** The number of the only point that moved, or 'none', or 'many'. @param {readonly Point[]} a @param {readonly Point[]} b */
function whoMoved(a, b) {
  if (a === b) return 'none';
  if (a.length !== b.length) return 'many';
  let found = -1;
  for (let k = 0; k < a.length; k++) {
    if (a[k] === b[k]) continue;
    if (found >= 0 || a[k].label !== b[k].label) return 'many';
    found = k;
  }
  return found < 0 ? 'none' : found;
}

/** Bring beta into its bounds and its sum to the mass, in place. True where it had to change.
 * @param {Float64Array} beta @param {Problem} problem */
function makeFeasible(beta, { lo, hi, mass }) {
  const n = beta.length;
  let changed = false, up = 0, down = 0;
  for (let k = 0; k < n; k++) {
    const kept = Math.min(hi[k], Math.max(lo[k], beta[k]));
    if (kept !== beta[k]) { beta[k] = kept; changed = true; }
    if (kept > 0) up += kept; else down -= kept;
  }
  const off = up - down - mass;
  if (Math.abs(off) <= 1e-13 * (1 + up + down)) return changed;
  if (mass === 0) { // what one side has more is taken from all of it
    const kept = Math.min(up, down);
    for (let k = 0; k < n; k++) beta[k] *= beta[k] > 0 ? kept / up : down > 0 ? kept / down : 0;
  } else if (up === 0) { // the first points, as far as the mass reaches
    for (let k = 0, left = mass; k < n && left > 0; k++) { beta[k] = Math.min(hi[k], left); left -= beta[k]; }
  } else if (off > 0) for (let k = 0; k < n; k++) beta[k] *= mass / up;
  else for (let k = 0, part = -off / Math.max(sum(hi) - up, 1e-300); k < n; k++) beta[k] += part * (hi[k] - beta[k]);
  return true;
}
