// Many points are solved in a worker, so that the page stays quick: the same modules, asked for one slice of work at a time.
// A newer question is simply the next one; what was known of the points that stayed is kept.
import { CELLS, Machine } from './solve.js';
import { fromPlain, makeState, toPlain } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./solve.js').Answer} Answer */

const FIRST = { gap: 1e-3, budget: 250 }; // milliseconds for a state that is new
const AFTER = { gap: 1e-6, budget: 400 }; // and for one that is asked for again

/** In the worker: answer questions. @param {any} scope */
export function serve(scope) {
  const machine = new Machine();
  scope.onmessage = (/** @type {MessageEvent} */ { data: { number, plain } }) => {
    const state = settled(machine.state, fromPlain(plain)), fresh = state !== machine.state, before = machine.steps, rule = fresh ? FIRST : AFTER;
    machine.follow(state);
    const { primal, dual, relative, mistakes, passes } = machine.descend(rule.gap, rule.budget);
    const fields = machine.parts.map(() => new Float64Array((CELLS + 2) ** 2)), open = relative > AFTER.gap && state.machine !== 'perceptron' && (fresh || machine.steps > before);
    machine.fillRaw(CELLS, fields);
    const parts = machine.parts.map((part) => ({ ...part, beta: part.beta.slice(), F: part.F.slice() }));
    scope.postMessage({ number, answer: { parts, primal, dual, relative, mistakes, passes, fields, K: [], open } });
  };
}

/** The same state with the points of the last one, where they are equal: machines know points by identity.
 * @param {State | null} last @param {State} next */
function settled(last, next) {
  if (!last) return next;
  if (JSON.stringify(toPlain(last)) === JSON.stringify(toPlain(next))) return last;
  const points = next.points.map((p, k) => { const q = last.points[k]; return q && q.x === p.x && q.y === p.y && q.label === p.label ? q : p; });
  return makeState(next, next.view, points);
}

/** In the page: a worker that is started when it is first needed; null where there can be none.
 * @param {string} code that of the page itself @returns {{fit: (state: State) => Promise<Answer>} | null} */
export function startWorker(code) {
  if (!code || typeof Worker === 'undefined') return null;
  /** @type {Worker | null} */ let worker = null;
  /** @type {Map<number, {done: (answer: Answer) => void, fail: (error: Error) => void}>} */ const waiting = new Map();
  let last = 0;
  const start = () => {
    const started = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
    started.onmessage = ({ data: { number, answer } }) => { waiting.get(number)?.done(answer); waiting.delete(number); };
    started.onerror = (event) => { // nobody is left waiting; the next question starts another
      event.preventDefault();
      for (const { fail } of waiting.values()) fail(new Error(event.message));
      waiting.clear();
      started.terminate();
      worker = null;
    };
    return started;
  };
  return { fit: (state) => new Promise((done, fail) => {
    worker ??= start();
    waiting.set(++last, { done, fail });
    worker.postMessage({ number: last, plain: toPlain(state) });
  }) };
}
