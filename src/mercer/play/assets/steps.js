// The methods of the page, step by step. A step holds beta, b and what happened: the page puts it in words.
import { dot, product, sum } from './algebra.js';
import { Descent, relativeGap } from './descent.js';
import { uniforms } from './examples.js';
import { gram, kernelOf } from './kernel.js';
import { marginBounds, perceptron } from './perceptron.js';
import { classesOf, lacks, problemOf, signs } from './solve.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {{kind: 'start' | 'mistake' | 'pair' | 'subgradient' | 'combined' | 'stochastic' | 'drawn' | 'end', points: number[], size: number, rise: number,
 *   count: number, before: number, stop: 'top' | 'bottom' | 'middle' | 'done' | 'limit' | '', pushes: boolean}} Event
 *   points: who changes; size: by how much; count: the step's number, or of points; before: f or y f before it */
/** @typedef {{beta: Float64Array, F: Float64Array, bias: number, primal: number, dual: number, relative: number, event: Event}} Step */

const MOST_STEPS = 400;
const CLOSED = 1e-6; // the relative gap at which steps end
const AT = 1e-9; // a point so near its margin is on it
/** Gap, time and rounds of the small problem inside a best step: what it leaves, the next step takes up. */
const INNER = /** @type {const} */ ([1e-8, Infinity, 12]);
const MOST_POINTS_IN_STEPS = 400;

/** @param {Partial<Event> & {kind: Event['kind']}} given @returns {Event} */
const event = (given) => ({ points: [], size: 0, rise: 0, count: 0, before: 0, stop: '', pushes: false, ...given });

/** Why there are no steps, or nothing. @param {State} state */
export function whyNoSteps(state) {
  if (lacks(state)) return 'data';
  if (state.machine === 'ridge') return 'ridge';
  if (state.kernel === 'text') return 'text';
  if (state.machine === 'svc' && classesOf(state.points).length > 2) return 'classes';
  return state.points.length > MOST_POINTS_IN_STEPS ? 'many' : '';
}

/** All steps of the state's method. @param {State} state @returns {Step[]} */
export function stepsOf(state) {
  if (state.machine === 'perceptron') return perceptronSteps(state);
  if (state.machine !== 'svc') return pairSteps(state);
  return { pairs: pairSteps, subgradient: subgradientSteps, 'subgradient-best': combinedSteps, stochastic: stochasticSteps, 'stochastic-best': drawnSteps }[state.method](state);
}

/** @param {State} state @returns {Step[]} */
function perceptronSteps(state) {
  const y = signs(state.points), K = gram(state.points, kernelOf(state));
  const { mistakes, count, done } = perceptron(K, y, MOST_STEPS - 1);
  const n = y.length, alpha = new Float64Array(n), F = new Float64Array(n);
  const step = (/** @type {Event} */ what) => {
    const { lower, upper, bias } = marginBounds(y, alpha, F);
    const relative = upper === Infinity ? 1 : (upper - Math.max(lower, 0)) / upper;
    return { beta: alpha.map((a, k) => a * y[k]), F: F.slice(), bias, primal: upper, dual: lower, relative, event: what };
  };
  const steps = [step(event({ kind: 'start' }))];
  for (const { point: i, score, pass } of mistakes) {
    alpha[i]++;
    for (let j = 0; j < n; j++) F[j] += y[i] * K[i][j];
    steps.push(step(event({ kind: 'mistake', points: [i], size: y[i], before: score, count: pass })));
  }
  steps.push({ ...steps[steps.length - 1], event: event({ kind: 'end', stop: done && count === mistakes.length ? 'done' : 'limit', count }) });
  return steps;
}

/** @param {State} state @returns {Step[]} */
function pairSteps(state) {
  const descent = new Descent();
  descent.follow(problemOf(state, state.points));
  const step = (/** @type {Event} */ what) => {
    const { primal, dual, relative, bias } = descent.certify();
    return { beta: descent.beta.slice(), F: descent.F.slice(), bias, primal, dual, relative, event: what };
  };
  const steps = [step(event({ kind: 'start' }))];
  while (steps.length < MOST_STEPS && steps[steps.length - 1].relative > CLOSED) {
    const pair = descent.pairStep();
    if (!pair) break;
    const { i, j, t, rise, bend, top, bottom } = pair;
    const stop = descent.beta[i] === top && t < rise / bend ? 'top' : descent.beta[j] === bottom && t < rise / bend ? 'bottom' : 'middle';
    steps.push(step(event({ kind: 'pair', points: [i, j], size: t, rise, count: steps.length, stop })));
  }
  const last = steps[steps.length - 1];
  steps.push({ ...last, event: event({ kind: 'end', stop: last.relative <= CLOSED ? 'done' : 'limit', count: steps.length - 1 }) });
  return steps;
}

/** Primal and dual of beta for SVC, with the best b. @param {Descent} descent @param {Float64Array} beta @param {Float64Array} F */
function judged(descent, beta, F) {
  descent.beta = beta;
  descent.F = F;
  return descent.certify();
}

/** The dual point of the slopes: C y where y f < 1. Where b sits on kinks, the slopes left and right of it are mixed
 * until they sum to 0. @param {import('./descent.js').Problem} problem @param {Float64Array} F @param {number} b */
function slopes({ q, width: C }, F, b) {
  const at = (/** @type {number} */ shift) => q.map((y, k) => (y * (F[k] + b + shift) < 1 ? C * y : 0));
  const point = at(0);
  if (sum(point) === 0) return point;
  const size = 1e-12 * (1 + Math.abs(b) + F.reduce((most, f) => Math.max(most, Math.abs(f)), 0));
  const left = at(-size), right = at(size), more = sum(left), less = sum(right);
  return more > less && more >= 0 && less <= 0 ? left.map((l, k) => (more * right[k] - less * l) / (more - less)) : point;
}

/** A walk of which each step gives the next beta and what happened; it ends when primal and dual have met.
 * @param {Descent} descent with the problem of all points @param {(beta: Float64Array, F: Float64Array, bias: number, t: number) => {beta: Float64Array, F: Float64Array, what: Event}} next
 * @returns {Step[]} */
function walk(descent, next) {
  /** @type {Step[]} */ const steps = [];
  let now = { beta: descent.beta, F: descent.F, what: event({ kind: 'start' }) }, best = -Infinity;
  for (let t = 1; t <= MOST_STEPS; t++) {
    const { beta, F, what } = now, { primal, dual, bias } = judged(descent, beta, F);
    best = Math.max(best, dual);
    steps.push({ beta, F, bias, primal, dual: best, relative: relativeGap(primal, best), event: what });
    if (relativeGap(primal, best) <= CLOSED) break;
    now = next(beta, F, bias, t);
  }
  const last = steps[steps.length - 1];
  return [...steps, { ...last, event: event({ kind: 'end', stop: last.relative <= CLOSED ? 'done' : 'limit', count: steps.length - 1 }) }];
}

/** @param {State} state */
function start(state) {
  const problem = problemOf(state, state.points), descent = new Descent();
  descent.follow(problem);
  return { problem, descent };
}

/** beta <- (1 - 1/t) beta + 1/t s: the step 1/t along the subgradient w - sum s_i phi(x_i). @param {State} state @returns {Step[]} */
function subgradientSteps(state) {
  const { problem, descent } = start(state);
  return walk(descent, (beta, F, bias, t) => {
    const s = slopes(problem, F, bias), image = product(descent.K, s);
    return { beta: beta.map((b, k) => b + (s[k] - b) / t), F: F.map((f, k) => f + (image[k] - f) / t),
      what: event({ kind: 'subgradient', points: pushing(s), size: 1 / t, count: t }) };
  });
}

/** @param {Float64Array} s */
const pushing = (s) => [...s.keys()].filter((k) => s[k] !== 0);

/** The best of all combinations of the dual points s so far: the a >= 0 of sum 1 with the largest dual value, a problem
 * of its own in as many unknowns as there were steps. @param {State} state @returns {Step[]} */
function combinedSteps(state) {
  const { problem, descent } = start(state), { q, width: C } = problem, n = q.length, inner = new Descent();
  /** @type {{s: Float64Array, image: Float64Array, products: number[], x: number, y: number, label: 1}[]} */ const all = [];
  const k = (/** @type {any} */ a, /** @type {any} */ b) => (a.x >= b.x ? a.products[b.x] : b.products[a.x]); // x: its number
  return walk(descent, (_, F, bias, t) => {
    const s = slopes(problem, F, bias), image = product(descent.K, s);
    all.push({ s, image, products: [...all.map((other) => dot(other.s, image)), dot(s, image)], x: t - 1, y: 0, label: 1 });
    inner.follow({ points: [...all], k, key: 'combined', q: Float64Array.from(all, (one) => dot(q, one.s)),
      lo: new Float64Array(t), hi: new Float64Array(t).fill(1), eps: 0, mass: 1, width: 1 });
    inner.descend(...INNER);
    const beta = new Float64Array(n), next = new Float64Array(n);
    inner.beta.forEach((a, j) => { if (a > 0) for (let i = 0; i < n; i++) { beta[i] += a * all[j].s[i]; next[i] += a * all[j].image[i]; } });
    return { beta: beta.map((b) => (Math.abs(b) > C * (1 - 1e-12) ? C * Math.sign(b) : b)), F: next,
      what: event({ kind: 'combined', points: pushing(s), size: inner.beta[t - 1], count: t }) };
  });
}

/** One point at a time, drawn by a fixed seed: w <- (1 - 1/t) w + n/t s_i phi(x_i). @param {State} state @returns {Step[]} */
function stochasticSteps(state) {
  const problem = problemOf(state, state.points), descent = new Descent(), draw = uniforms(1);
  descent.follow(problem);
  const { q, width: C } = problem, n = q.length, K = descent.K;
  let beta = new Float64Array(n), F = new Float64Array(n), best = -Infinity, b = 0;
  const mean = new Float64Array(n);
  /** @type {Step[]} */ const steps = [];
  let what = event({ kind: 'start' });
  for (let t = 1; t <= MOST_STEPS; t++) {
    const { primal, bias } = judged(descent, beta, F);
    const s = slopes(problem, F, bias);
    for (let k = 0; k < n; k++) mean[k] += (s[k] - mean[k]) / t; // a mean of dual points is one
    const norm2 = dot(mean, product(K, mean));
    best = Math.max(best, dot(q, mean) - norm2 / 2);
    steps.push({ beta, F, bias, primal, dual: best, relative: relativeGap(primal, best), event: what });
    const i = Math.min(n - 1, Math.floor(draw() * n)), side = q[i] * (F[i] + b), pushes = side < 1;
    const add = pushes ? n * C * q[i] / t : 0;
    beta = beta.map((value, k) => value * (1 - 1 / t) + (k === i ? add : 0));
    F = F.map((value, k) => value * (1 - 1 / t) + add * K[i][k]);
    b = judged(descent, beta, F).bias;
    what = event({ kind: 'stochastic', points: [i], size: 1 / t, before: side, count: t, pushes });
  }
  const last = steps[steps.length - 1];
  return [...steps, { ...last, event: event({ kind: 'end', stop: 'limit', count: steps.length - 1 }) }];
}

/** One point at a time, in a new order in each pass: w becomes the best machine of all points that have pushed so far.
 * @param {State} state @returns {Step[]} */
function drawnSteps(state) {
  const { problem: { q }, descent } = start(state), n = q.length, draw = uniforms(1), inner = new Descent(), [first] = classesOf(state.points);
  /** @type {number[]} */ const rows = [];
  /** @type {number[]} */ let order = [];
  return walk(descent, (_, F, bias, t) => {
    if ((t - 1) % n === 0) order = shuffled(n, draw);
    const i = order[(t - 1) % n], side = q[i] * (F[i] + bias), pushes = side <= 1 + AT && !rows.includes(i);
    const what = event({ kind: 'drawn', points: [i], before: side, count: rows.length + Number(pushes), pushes });
    if (pushes) inner.follow(problemOf(state, [...rows, i].map((row) => state.points[row]), first));
    if (pushes) rows.push(i);
    if (rows.length) inner.descend(...INNER);
    const next = new Float64Array(n);
    rows.forEach((row, at) => { next[row] = inner.beta[at]; });
    return { beta: next, F: product(descent.K, next), what };
  });
}

/** Fisher and Yates. @param {number} n @param {() => number} draw */
function shuffled(n, draw) {
  const order = Array.from({ length: n }, (_, k) => k);
  for (let k = n - 1; k > 0; k--) {
    const other = Math.min(k, Math.floor(draw() * (k + 1)));
    [order[k], order[other]] = [order[other], order[k]];
  }
  return order;
}
