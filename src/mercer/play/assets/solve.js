// The mathematics, no DOM: a machine that follows a changing state, and knows how good its answer is.
import { dot, product, sum } from './algebra.js';
import { Descent, relativeGap } from './descent.js';
import { addOverGrid, gram, isRegression, kernelKey, kernelOf, slopeAt } from './kernel.js';
import { marginBounds, perceptron } from './perceptron.js';
import { certifyRidge, ridge } from './ridge.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Point} Point */
/** @typedef {import('./descent.js').Certificate} Certificate */
/** @typedef {import('./descent.js').Problem} Problem */
/** @typedef {{readonly classes: readonly number[], readonly rows: readonly number[], readonly beta: Float64Array, readonly F: Float64Array, readonly bias: number}} Part
 *   one function f = sum beta k + bias over some of the points; positive for classes[0] */
/** @typedef {{parts: Part[], primal: number, dual: number, relative: number, fields: Float64Array[], K: Float64Array[], mistakes: number, passes: number, open: boolean}} Answer
 *   a machine that was fitted elsewhere; fields: f of each part on the grid, in regression its one row; open: more can be gained */
/** @typedef {Certificate & {free: number, bound: number, errors: number, margin: number, mistakes: number, passes: number}} Summary */

export const CELLS = 112; // the field of values has this many cells on a side, and a ring around them
export const CLASSES = /** @type {const} */ ([1, -1, 2]);

/** The classes that have points, in the order circle, square, triangle. @param {readonly Point[]} points */
export const classesOf = (points) => CLASSES.filter((label) => points.some((p) => p.label === label));

/** 1 for the first of the two classes, -1 for the other. @param {readonly Point[]} points */
export function signs(points) {
  const [first] = classesOf(points);
  return points.map((p) => (p.label === first ? 1 : -1));
}

/** Why there is no machine yet: 'points', 'classes' (one is missing), 'two' (one too many), or nothing. @param {State} state */
export function lacks({ machine, points }) {
  if (points.length === 0) return 'points';
  if (machine !== 'svc' && machine !== 'perceptron') return '';
  const classes = classesOf(points).length;
  return classes < 2 ? 'classes' : classes > 2 && machine === 'perceptron' ? 'two' : '';
}

/** The problem of some points, in the one currency. @param {State} state @param {readonly Point[]} points
 * @param {number} [first] the class with y = 1 @returns {Problem} */
export function problemOf(state, points, first = classesOf(points)[0]) {
  const { machine, C, epsilon, nu } = state, n = points.length;
  const full = (/** @type {number} */ value) => new Float64Array(n).fill(value);
  const common = { points, k: kernelOf(state), key: kernelKey(state) };
  if (machine === 'svr') return { ...common, q: Float64Array.from(points, (p) => p.y), lo: full(-C), hi: full(C), eps: epsilon, mass: 0, width: C };
  if (machine === 'oneclass') return { ...common, q: full(0), lo: full(0), hi: full(1), eps: 0, mass: nu * n, width: 1 };
  const q = Float64Array.from(points, (p) => (p.label === first ? 1 : -1));
  return { ...common, q, lo: q.map((y) => (y > 0 ? 0 : -C)), hi: q.map((y) => (y > 0 ? C : 0)), eps: 0, mass: 0, width: C };
}

/** A machine keeps what it knows from one state to the next. */
export class Machine {
  /** @type {State | null} */ state = null;
  /** @type {Descent[]} one, or one for each pair of classes */ descents = [];
  /** @type {Part[]} */ parts = [];
  /** @type {Float64Array[]} */ K = [];
  #key = '';
  /** @type {readonly Point[]} */ #points = [];
  steps = 0;
  /** @type {Summary | null} */ summary = null;
  /** @type {{alpha: Float64Array, count: number, passes: number, done: boolean} | null} */ run = null;
  /** @type {Answer | null} what Python found */ answer = null;

  /** @param {State} next */
  follow(next) {
    if (this.state === next) return;
    const last = this.state;
    this.state = next;
    this.summary = null;
    this.answer = null;
    if (last && last.machine !== next.machine) { this.descents = []; this.parts = []; }
    if (lacks(next) || next.kernel === 'text') { this.#clear(next); return; }
    const pairs = this.#pairs();
    if (next.machine !== 'ridge' && next.machine !== 'perceptron') {
      if (this.descents.length !== pairs.length) this.descents = pairs.map(() => new Descent());
      pairs.forEach(({ rows, classes }, k) => this.descents[k].follow(problemOf(next, rows.map((row) => next.points[row]), classes[0])));
    }
    if (this.descents.length === 1) { this.K = this.descents[0].K; this.#key = ''; } else this.#wholeGram(next);
  }

  /** @param {State} next */
  #clear(next) {
    this.descents = []; this.parts = []; this.#key = '';
    this.K = next.kernel === 'text' ? [] : gram(next.points, kernelOf(next));
  }

  /** Show a step on the way instead of the answer. @param {State} next @param {import('./steps.js').Step} step */
  showStep(next, { beta, F, bias, primal, dual, relative, event }) {
    if (this.state?.points !== next.points || kernelKey(this.state) !== kernelKey(next)) this.K = gram(next.points, kernelOf(next));
    this.state = next;
    this.descents = []; this.answer = null; this.#key = '';
    const rows = [...next.points.keys()];
    const classes = classesOf(next.points);
    this.parts = [{ classes: classes.length === 2 ? classes : [1, -1], rows, beta, F, bias }];
    const count = beta.reduce((total, b) => total + Math.abs(b), 0);
    this.run = { alpha: beta.map(Math.abs), count, passes: 0, done: false };
    this.steps++;
    this.summary = { ...this.#counted(), mistakes: count, passes: event.kind === 'mistake' ? event.count : 0, primal, dual, relative, gap: Math.max(0, primal - dual), bias };
  }

  /** Show what Python found. @param {State} next @param {Answer} answer */
  showAnswer(next, answer) {
    this.state = next;
    this.descents = []; this.#key = '';
    this.answer = answer;
    this.parts = answer.parts;
    this.K = answer.K;
    this.steps++;
    const { primal, dual, relative, mistakes, passes } = answer;
    this.summary = { ...this.#counted(), primal, dual, relative, mistakes, passes, gap: Math.max(0, primal - dual), bias: answer.parts[0].bias };
  }

  #pairs() {
    const { machine, points } = /** @type {State} */ (this.state), all = [...points.keys()], classes = classesOf(points);
    if (machine !== 'svc') return [{ classes: classes.length === 2 ? classes : [1, -1], rows: all }];
    return classes.flatMap((a, i) => classes.slice(i + 1).map((b) => ({
      classes: [a, b], rows: classes.length === 2 ? all : all.filter((k) => points[k].label === a || points[k].label === b) })));
  }

  /** All of K, where no descent holds it. @param {State} next */
  #wholeGram(next) {
    const key = kernelKey(next), moved = this.K.length === next.points.length && key === this.#key
      ? [...next.points.keys()].filter((k) => next.points[k] !== this.#points[k]) : null;
    if (moved && moved.length <= 1) {
      const k = kernelOf(next);
      for (const i of moved) for (let j = 0; j < next.points.length; j++) this.K[i][j] = this.K[j][i] = k(next.points[i], next.points[j]);
    } else this.K = gram(next.points, kernelOf(next));
    this.#key = key;
    this.#points = next.points;
  }

  /** Whether there is something to show. */
  get alive() { return this.state !== null && !lacks(this.state) && (this.state.kernel !== 'text' || this.answer !== null); }

  /** Descend until the relative gap is reached or the time is up. @param {number} target @param {number} budget milliseconds */
  descend(target, budget) {
    const state = /** @type {State} */ (this.state);
    if (!this.alive) return this.summary = this.#nothing();
    if (state.machine === 'ridge') this.#ridge(target, budget);
    else if (state.machine === 'perceptron') this.#perceptron();
    else {
      for (const descent of this.descents) descent.descend(target, budget / this.descents.length);
      this.steps = this.descents.reduce((count, descent) => count + descent.steps, 0);
      this.parts = this.#pairs().map(({ classes, rows }, k) => {
        const { beta, F, certificate } = this.descents[k];
        return { classes, rows, beta, F, bias: certificate?.bias ?? 0 };
      });
    }
    return this.summary = this.#summarise();
  }

  /** @param {number} target @param {number} budget */
  #ridge(target, budget) {
    const { points, lambda } = /** @type {State} */ (this.state), t = Float64Array.from(points, (p) => p.y);
    const beta = ridge(this.K, t, lambda, this.parts[0]?.beta ?? new Float64Array(0), target, budget);
    const F = product(this.K, beta);
    this.steps++;
    this.parts = [{ classes: [1, -1], rows: [...t.keys()], beta, F, bias: certifyRidge(beta, F, t, lambda).bias }];
  }

  #perceptron() {
    const { points } = /** @type {State} */ (this.state), y = signs(points);
    const { alpha, F, count, passes, done } = perceptron(this.K, y);
    this.run = { alpha, count, passes, done };
    this.steps++;
    const beta = alpha.map((value, k) => value * y[k]);
    this.parts = [{ classes: classesOf(points), rows: [...points.keys()], beta, F, bias: sum(beta) }];
  }

  /** @returns {Summary} */
  #nothing() {
    return { primal: 0, dual: 0, gap: 0, relative: 0, bias: 0, norm2: 0, free: 0, bound: 0, errors: 0, margin: Infinity, mistakes: 0, passes: 0 };
  }

  /** @returns {Summary} */
  #summarise() {
    const { points, machine } = /** @type {State} */ (this.state), out = this.#counted();
    const certificates = this.#certificates();
    for (const c of certificates) { out.primal += c.primal; out.dual += c.dual; out.gap += c.gap; out.norm2 += c.norm2; }
    out.relative = certificates.length === 1 ? certificates[0].relative : relativeGap(out.primal, out.dual);
    out.bias = this.parts[0].bias;
    if (machine === 'perceptron' && this.run) {
      const { lower, upper } = marginBounds(signs(points), this.run.alpha, this.parts[0].F);
      Object.assign(out, { primal: upper, dual: lower, gap: upper - lower, relative: upper > 0 ? (upper - Math.max(lower, 0)) / upper : 1,
        margin: lower, mistakes: this.run.count, passes: this.run.passes });
    }
    return out;
  }

  /** What can be counted: points by kind, points on the wrong side, the margin. @returns {Summary} */
  #counted() {
    const out = this.#nothing(), n = /** @type {State} */ (this.state).points.length;
    for (let k = 0; k < n; k++) {
      const kind = this.kind(k);
      if (kind === 'free') out.free++; else if (kind === 'bound') out.bound++;
      if (this.isWrong(k)) out.errors++;
    }
    const [{ beta, F }] = this.parts, square = this.parts.length === 1 ? dot(beta, F) : NaN;
    out.margin = square > 0 ? 1 / Math.sqrt(square) : NaN;
    return out;
  }

  /** @returns {Certificate[]} */
  #certificates() {
    const { machine, points, lambda } = /** @type {State} */ (this.state), [part] = this.parts;
    if (machine === 'perceptron') return [];
    if (machine === 'ridge') return [certifyRidge(part.beta, part.F, Float64Array.from(points, (p) => p.y), lambda)];
    return this.descents.map((descent) => descent.certificate ?? descent.certify());
  }

  /** Beta of a point; of several machines the one with the largest size. @param {number} k */
  betaOf(k) {
    let largest = 0;
    for (const { rows, beta } of this.parts) {
      const at = rows.length === this.state?.points.length ? k : rows.indexOf(k);
      if (at >= 0 && Math.abs(beta[at]) > Math.abs(largest)) largest = beta[at];
    }
    return largest;
  }

  /** The largest |beta| there may be, or 0 where there is no bound. */
  get bound() {
    const { machine, C } = /** @type {State} */ (this.state);
    return machine === 'svc' || machine === 'svr' ? C : machine === 'oneclass' ? 1 : 0;
  }

  /** 'none', 'free' or 'bound'. @param {number} k */
  kind(k) {
    const size = Math.abs(this.betaOf(k));
    return size === 0 ? 'none' : this.bound > 0 && size >= this.bound ? 'bound' : 'free';
  }

  /** f at a training point; of three classes, that of the pair of its class that it loses most, or wins least, positive
   * for its own class. @param {number} k */
  scoreOf(k) {
    if (this.parts.length === 1) return this.parts[0].F[k] + this.parts[0].bias;
    const label = /** @type {State} */ (this.state).points[k].label;
    let least = Infinity;
    for (const { rows, F, bias, classes } of this.parts) {
      const at = rows.indexOf(k);
      if (at >= 0) least = Math.min(least, (classes[0] === label ? 1 : -1) * (F[at] + bias));
    }
    return least;
  }

  /** y f(x): how far a point is on its side. @param {number} k */
  sideOf(k) {
    const { machine, points } = /** @type {State} */ (this.state), f = this.scoreOf(k);
    if (isRegression({ machine })) return points[k].y - f;
    return machine === 'oneclass' || this.parts.length > 1 || points[k].label === this.parts[0].classes[0] ? f : -f;
  }

  /** @param {number} k */
  isWrong(k) {
    const { machine, epsilon } = /** @type {State} */ (this.state);
    if (machine === 'ridge') return false;
    if (machine === 'svr') return Math.abs(this.sideOf(k)) > epsilon * (1 + 1e-6) + 1e-9;
    if (machine === 'oneclass') return this.sideOf(k) < -1e-6 * (1 + Math.abs(this.parts[0].bias));
    if (this.sideOf(k) > 0) return false;
    if (this.parts.length === 1) return true;
    const { points } = /** @type {State} */ (this.state); // a pair that is lost need not decide the vote
    return winner(this.parts.map((part) => part.classes), this.scoresAt(points[k])) !== points[k].label;
  }

  /** f of each part at a place. @param {{x: number, y: number}} place */
  scoresAt(place) {
    const state = /** @type {State} */ (this.state), k = kernelOf(state);
    return this.parts.map(({ rows, beta, bias }) => rows.reduce((f, row, at) => (beta[at] === 0 ? f : f + beta[at] * k(state.points[row], place)), bias));
  }

  /** f of each part on a grid of size x size cell centres that covers the view and one ring of cells around it, rows from
   * the top; in regression the first row holds f, which is the same in all. @param {number} size @param {Float64Array[]} fields */
  fillRaw(size, fields) {
    const state = /** @type {State} */ (this.state), { points } = state, { xs, ys } = gridOf(state, size), flat = isRegression(state);
    this.parts.forEach(({ rows, beta, bias }, k) => {
      if (this.answer) { fields[k].set(this.answer.fields[k]); return; }
      fields[k].fill(bias);
      const weighted = rows.map((row, at) => ({ x: points[row].x, y: flat ? 0 : points[row].y, beta: beta[at] }));
      addOverGrid(state, weighted, xs, flat ? new Float64Array(1) : ys, fields[k]);
    });
  }

  /** The same as it is shown: in regression the height above f in parts of epsilon, without margins in parts of the usual |f|.
   * @param {number} size @param {Float64Array[]} fields each of (size + 2)^2 values */
  fill(size, fields) {
    const state = /** @type {State} */ (this.state), { view, machine, epsilon } = state, { ys } = gridOf(state, size), side = size + 2;
    this.fillRaw(size, fields);
    this.parts.forEach((_, k) => {
      if (machine === 'oneclass' || machine === 'perceptron') scale(fields[k], this.#typical(k));
      if (!isRegression(state)) return;
      const curve = fields[k].slice(0, side), unit = machine === 'svr' ? epsilon : view.half / 3;
      for (let j = 0; j < side; j++) for (let i = 0; i < side; i++) fields[k][j * side + i] = (ys[j] - curve[i]) / unit;
    });
  }

  /** 1 over the mean |f| of the points: the colours of machines without margins. @param {number} part */
  #typical(part) {
    const { F, bias } = this.parts[part];
    let total = 0;
    for (const value of F) total += Math.abs(value + bias);
    return total > 0 ? F.length / total : 1;
  }

  /** For each point inside its margin, or outside the tube, the way to where it would cost nothing; at most 80.
   * @returns {[Point, {x: number, y: number}][]} */
  slacks() {
    const state = /** @type {State} */ (this.state), { points, machine, view, epsilon } = state;
    if (!this.alive || this.parts.length !== 1 || machine === 'perceptron' || (state.kernel === 'text' && !isRegression(state))) return [];
    const { beta, bias } = this.parts[0], wanted = machine === 'oneclass' ? 0 : 1;
    /** @type {[Point, {x: number, y: number}][]} */ const ways = [];
    const weighted = points.map((p, k) => ({ x: p.x, y: p.y, beta: beta[k] }));
    for (let k = 0; k < points.length && ways.length < 80; k++) {
      const p = points[k], side = this.sideOf(k);
      if (isRegression(state)) {
        const far = machine === 'svr' ? Math.max(0, Math.abs(side) - epsilon) : Math.abs(side);
        if (far > 0.005 * view.half) ways.push([p, { x: p.x, y: p.y - Math.sign(side) * far }]);
        continue;
      }
      if (side > wanted - 0.005 * (machine === 'oneclass' ? Math.abs(bias) : 1)) continue;
      const goal = machine === 'oneclass' ? 0 : p.label === this.parts[0].classes[0] ? 1 : -1;
      const end = this.#climb(weighted, bias, p, goal, view.half);
      if (end) ways.push([p, end]);
    }
    return ways;
  }

  /** Up or down the slope of f to where f = goal. @param {import('./kernel.js').Weighted[]} weighted @param {number} bias
   * @param {Point} from @param {number} goal @param {number} half */
  #climb(weighted, bias, from, goal, half) {
    let { x, y } = from, left = Infinity;
    for (let step = 0; step < 12 && left > 0.01; step++) {
      const { f, fx, fy } = slopeAt(/** @type {State} */ (this.state), weighted, x, y), steep = fx * fx + fy * fy, off = goal - f - bias;
      left = Math.abs(off);
      if (steep < 1e-9) break;
      const t = Math.min(1, 0.15 * half * Math.sqrt(steep) / left) * off / steep; // short strides on flat ground
      x += t * fx; y += t * fy;
    }
    return left < 0.1 ? { x, y } : null;
  }

  /** w, where f is w x + b. @returns {{x: number, y: number} | null} */
  get weights() {
    const state = /** @type {State} */ (this.state);
    if (state.kernel !== 'linear' || this.parts.length !== 1) return null;
    let x = 0, y = 0;
    state.points.forEach((p, k) => { x += this.parts[0].beta[k] * p.x; y += this.parts[0].beta[k] * p.y; });
    return { x, y: isRegression(state) ? 0 : y };
  }
}

/** The middles of the cells and of a ring around them. @param {State} state @param {number} size */
function gridOf({ view }, size) {
  const cell = 2 * view.half / size, places = Float64Array.from({ length: size + 2 }, (_, i) => (i - 0.5) * cell - view.half);
  return { xs: places.map((place) => view.x + place), ys: places.map((place) => view.y - place) };
}

/** @param {Float64Array} values @param {number} factor */
function scale(values, factor) { for (let k = 0; k < values.length; k++) values[k] *= factor; }

/** The class that wins most pairs at a place, as Mercer counts: votes, then by how much. @param {readonly (readonly number[])[]} pairs
 * @param {readonly number[]} scores of the pairs, positive for the first */
export function winner(pairs, scores) {
  let best = 0, most = -Infinity;
  for (const label of CLASSES) {
    let won = 0, by = 0, known = false;
    for (let k = 0; k < pairs.length; k++) {
      const first = pairs[k][0] === label;
      if (!first && pairs[k][1] !== label) continue;
      known = true;
      if (scores[k] >= 0 === first) won++;
      by += first ? scores[k] : -scores[k];
    }
    const value = won + by / (3 * (Math.abs(by) + 1));
    if (known && value > most) { most = value; best = label; }
  }
  return best;
}
