// What the tests ask the page's modules, in the browser.
import { kernelPca } from '/assets/algebra.js';
import { EXAMPLES, moons, uniforms } from '/assets/examples.js';
import { toCsv } from '/assets/csv.js';
import { gram, kernelOf } from '/assets/kernel.js';
import { toPython, toShell } from '/assets/share.js';
import { Machine, winner } from '/assets/solve.js';
import * as S from '/assets/state.js';
import { stepsOf } from '/assets/steps.js';
import { startWorker } from '/assets/worker.js';

const { makeState, point, toPlain, viewOf } = S;

/** 20 problems for each kernel: few points and many, small C and large, some points almost or quite in one place. */
function randomStates(machine) {
  const u = uniforms(12345), out = [];
  for (const kernel of ['linear', 'poly', 'rbf', 'laplacian']) for (let k = 0; k < 20; k++) {
    const n = 8 + Math.floor(u() * 32), C = [0.1, 1, 10, 1000][k % 4], apart = u() * 1.5;
    const points = Array.from({ length: n }, (_, i) => point(u() * 3 - 1.5 + (i % 2 ? apart : -apart) / 2, u() * 3 - 1.5, i % 2 ? 1 : -1));
    const flips = machine === 'perceptron' ? 1 : -1; // near-ties: the same place, or almost, and the other class
    for (let i = 0; i < n / 8; i++) points.push(point(points[i].x + (i % 2 ? 0 : 0.001), points[i].y, i % 3 ? points[i].label : flips * points[i].label));
    const state = makeState({ machine, kernel, C, gamma: [0.1, 1, 2][k % 3], degree: 2 + k % 3, coef0: k % 5 ? 1 : 0,
      epsilon: [0.05, 0.3][k % 2], nu: [0.05, 0.2, 0.5, 1][k % 4], lambda: [0.001, 0.1, 10][k % 3] }, viewOf(points), points);
    out.push(state);
  }
  return out;
}

export function problems(machine) {
  return randomStates(machine).map((state) => {
    const m = new Machine();
    m.follow(state);
    const { primal, dual, relative, mistakes } = m.descend(1e-7, 4000);
    return { state: toPlain(state), primal, dual, relative, mistakes, done: m.run?.done ?? true };
  });
}

/** The same problems by steps: the best primal and dual after some of them, and what the last step says of itself. */
export function walks({ method, after }) {
  return randomStates('svc').map((state) => {
    const all = stepsOf(S.set(state, 'method', method)), some = all.slice(0, after), { relative, event } = all[all.length - 1];
    const best = (steps) => [Math.min(...steps.map((s) => s.primal)), Math.max(...steps.map((s) => s.dual))];
    return { state: toPlain(state), some: best(some), all: best(all), relative, stop: event.stop };
  });
}

export function follow(settings) {
  let state = S.makeState(settings, { x: 0, y: 0, half: 2 }, moons(50, 0.3));
  const warm = new Machine(), worst = [];
  const changes = [
    ...Array.from({ length: 8 }, (_, k) => (s) => S.moved(s, 5, 1.5 * Math.cos(k), 1.5 * Math.sin(k))),
    (s) => S.relabelled(s, 3), (s) => S.deleted(s, 7), (s) => S.added(s, 0.1, 0.2, 1), (s) => S.set(s, 'C', 1000), (s) => S.set(s, 'C', 0.1),
    (s) => S.set(s, 'gamma', 3), (s) => S.set(s, 'kernel', 'laplacian'), (s) => S.set(s, 'kernel', 'linear'), (s) => S.added(s, 0, 0, 2), (s) => S.cleared(s),
    (s) => S.added(s, 0.5, 0.5, 1), (s) => S.added(s, -0.5, 0.5, -1),
  ];
  for (const change of changes) {
    state = change(state);
    const cold = new Machine();
    warm.follow(state); cold.follow(state);
    const a = warm.descend(1e-7, 4000), b = cold.descend(1e-7, 4000);
    worst.push([a.relative, Math.abs(a.dual - b.dual) / Math.max(1e-6, Math.abs(b.dual))]);
  }
  return worst;
}

export function threeClasses() {
  const state = EXAMPLES.clouds(), m = new Machine(), places = [];
  m.follow(state);
  const { relative, primal } = m.descend(1e-8, 4000);
  for (let x = -2; x <= 2; x += 0.25) for (let y = -2; y <= 2; y += 0.25) places.push([x, y]);
  const pairs = m.parts.map((part) => part.classes), scores = places.map(([x, y]) => m.scoresAt({ x, y }));
  return { state: toPlain(state), relative, primal, places, pairs, scores, labels: scores.map((s) => winner(pairs, s)) };
}

export function steps(settings) {
  const state = makeState(settings, { x: 0, y: 0, half: 2 }, moons(24, 0.3));
  return { state: toPlain(state), steps: stepsOf(state).map(({ primal, dual, beta, event }) => ({ primal, dual, beta: Array.from(beta), event })) };
}

export function pca(kernel) {
  const state = makeState({ kernel }, { x: 0, y: 0, half: 2 }, moons(40, 0.3)), { values, x, y } = kernelPca(gram(state.points, kernelOf(state)));
  return { state: toPlain(state), values, x: Array.from(x), y: Array.from(y) };
}

export function links() {
  const odd = makeState({ machine: 'svr', kernel: 'text', text: 'rbf(gamma=0.5) + 2*linear**2', C: 12.34, gamma: 0.05, epsilon: 0.125, method: 'stochastic', step: 3 },
    { x: 0.5, y: -1, half: 2.25 }, [point(0.125, -1.5, 2), point(-1, 0, -1), point(1e-7, 2, 1)]);
  return [...Object.values(EXAMPLES).map((make) => S.toHash(make())), S.toHash(odd)];
}

/** What the page gives to take along, and what it found itself. */
export function taken(name) {
  const state = name === 'ridge' ? S.set(EXAMPLES.wave(), 'machine', 'ridge') : S.set(EXAMPLES[name](), 'step', -1), machine = new Machine();
  machine.follow(state);
  return { link: S.toHash(state), python: toPython(state), shell: toShell(state), csv: toCsv(state.points), primal: machine.descend(1e-8, 4000).primal };
}

/** What a worker that breaks down leaves behind, twice. */
export async function brokenWorker() {
  const worker = startWorker("onmessage = () => { throw new Error('out of memory'); };"), state = EXAMPLES.three();
  return [await worker.fit(state).catch(String), await worker.fit(state).catch(String)];
}

/** The widget in a page without a notebook: a model that keeps what it is told, and says what it was asked. */
export async function mount([code, style, state]) {
  const { default: widget } = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const listeners = {}, kept = { state }, all = (event, message) => listeners[event]?.forEach((act) => act(message));
  const model = window.model = {
    listeners, saved: 0, sent: [],
    get: (name) => kept[name],
    set: (name, value) => { kept[name] = value; all(`change:${name}`); },
    save_changes() { this.saved++; },
    send(message) { this.sent.push(message); },
    tell: (message) => all('msg:custom', message),
    on: (event, act) => { (listeners[event] ??= []).push(act); },
    off: (event, act) => { listeners[event] = listeners[event].filter((other) => other !== act); },
  };
  document.head.append(Object.assign(document.createElement('style'), { textContent: style }));
  window.end = widget.render({ model, el: document.body });
}
