// What is true: one frozen object, and named functions from state to state. No DOM.

/** @typedef {1 | -1 | 2} Label  circle, square, triangle */
/** @typedef {{readonly x: number, readonly y: number, readonly label: Label}} Point */
/** @typedef {{readonly x: number, readonly y: number, readonly half: number}} View  centre and half width of the square shown */
/** @typedef {'svc' | 'svr' | 'oneclass' | 'ridge' | 'perceptron'} MachineName */
/** @typedef {'linear' | 'poly' | 'rbf' | 'laplacian' | 'text'} KernelName */
/** @typedef {'pairs' | 'subgradient' | 'subgradient-best' | 'stochastic' | 'stochastic-best'} Method */
/** @typedef {{readonly points: readonly Point[], readonly view: View, readonly machine: MachineName, readonly kernel: KernelName,
 *   readonly text: string, readonly C: number, readonly gamma: number, readonly degree: number, readonly coef0: number,
 *   readonly epsilon: number, readonly nu: number, readonly lambda: number, readonly method: Method, readonly step: number}} State
 *   step: how many steps have been taken, or -1 where the machine is solved at once */
/** @typedef {Exclude<keyof State, 'points' | 'view'>} Setting */

export const MOST_POINTS = 2000;
export const FARTHEST = 1e4; // coordinates beyond are refused
const LONGEST_TEXT = 200;

/** The settings that travel in the address: name there, kind, range, default. One table reads and writes them. */
export const SETTINGS = /** @type {const} */ ({
  machine: { key: 'm', choices: ['svc', 'svr', 'oneclass', 'ridge', 'perceptron'], start: 'svc' },
  kernel: { key: 'k', choices: ['linear', 'poly', 'rbf', 'laplacian', 'text'], start: 'rbf' },
  text: { key: 't', words: /^[A-Za-z0-9_ .,+*()=-]*$/, start: 'rbf(gamma=1) + 0.5*linear' },
  C: { key: 'C', low: 0.01, high: 10000, start: 10 },
  gamma: { key: 'g', low: 0.01, high: 100, start: 1 },
  degree: { key: 'd', low: 2, high: 6, start: 3, whole: true },
  coef0: { key: 'c', low: 0, high: 1, start: 1, whole: true },
  epsilon: { key: 'e', low: 0.01, high: 2, start: 0.2 },
  nu: { key: 'n', low: 0.01, high: 1, start: 0.2 },
  lambda: { key: 'l', low: 0.0001, high: 100, start: 0.1 },
  method: { key: 'w', choices: ['pairs', 'subgradient', 'subgradient-best', 'stochastic', 'stochastic-best'], start: 'pairs' },
  step: { key: 's', low: -1, high: 5000, start: -1, whole: true },
});

/** @param {number} value */
const rounded = (value) => Number(value.toPrecision(4));
/** @param {number} value */
const placed = (value) => Math.round(value * 1000) / 1000;
/** @param {number} value @param {number} low @param {number} high */
const within = (value, low, high) => Math.min(high, Math.max(low, value));

/** @param {unknown} value @returns {Label} */
const labelOf = (value) => (Number(value) === 2 ? 2 : Number(value) > 0 ? 1 : -1);

/** @param {number} x @param {number} y @param {number} label @returns {Point} */
export const point = (x, y, label) => Object.freeze({ x: placed(x), y: placed(y), label: labelOf(label) });

/** @param {State} state @param {Partial<State>} change @returns {State} */
const changed = (state, change) => Object.freeze({ ...state, ...change });

/** New points: steps that have been taken no longer hold. @param {State} state @param {readonly Point[]} points */
const withPoints = (state, points) => changed(state, { points, step: Math.min(state.step, 0) });

/** @param {State} state @param {number} index @param {number} x @param {number} y */
export function moved(state, index, x, y) {
  const { view } = state, here = point(within(x, view.x - view.half, view.x + view.half),
    within(y, view.y - view.half, view.y + view.half), state.points[index].label);
  return withPoints(state, state.points.with(index, here));
}

/** @param {State} state @param {number} x @param {number} y @param {number} label */
export function added(state, x, y, label) {
  return state.points.length >= MOST_POINTS ? state : withPoints(state, [...state.points, point(x, y, label)]);
}

const NEXT_LABEL = /** @type {const} */ ({ '1': -1, '-1': 2, '2': 1 });

/** The next class: circle, square, triangle, circle; without triangles in the data, circle and square.
 * @param {State} state @param {number} index */
export function relabelled(state, index) {
  const { x, y, label } = state.points[index], three = state.points.some((p) => p.label === 2);
  return withPoints(state, state.points.with(index, point(x, y, three ? NEXT_LABEL[label] : label === 1 ? -1 : 1)));
}

/** @param {State} state @param {number} index */
export const deleted = (state, index) => withPoints(state, state.points.toSpliced(index, 1));

/** @param {State} state */
export const cleared = (state) => withPoints(state, []);

/** Other points, in a square that shows all of them. @param {State} state @param {readonly Point[]} points */
export const replaced = (state, points) => changed(withPoints(state, points.slice(0, MOST_POINTS)), { view: viewOf(points) });

/** @param {State} state @param {Setting} name @param {unknown} value */
export function set(state, name, value) {
  const change = { [name]: setting(name, value).value };
  const keeps = name === 'step' || name === 'method';
  return changed(state, keeps ? change : { ...change, step: Math.min(state.step, 0) });
}

/** A square with some room around all points. @param {readonly {x: number, y: number}[]} points @returns {View} */
export function viewOf(points) {
  if (points.length === 0) return Object.freeze({ x: 0, y: 0, half: 2 });
  const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const half = Math.max(right - left, high - low, 0.5) * 0.5 * 1.2;
  return Object.freeze({ x: rounded((left + right) / 2), y: rounded((low + high) / 2), half: rounded(half) });
}

/** A setting parsed into its range, or its default; whether it had to be mended.
 * @param {Setting} name @param {unknown} given @returns {{value: string | number, mended: boolean}} */
function setting(name, given) {
  const row = SETTINGS[name];
  if ('choices' in row) {
    const found = /** @type {readonly string[]} */ (row.choices).find((choice) => choice === given);
    return { value: found ?? row.start, mended: found === undefined };
  }
  if ('words' in row) {
    const fits = typeof given === 'string' && given.length <= LONGEST_TEXT && row.words.test(given);
    return { value: fits ? given : row.start, mended: !fits };
  }
  const number = given === '' || given == null || typeof given === 'boolean' ? NaN : Number(given);
  if (!Number.isFinite(number)) return { value: row.start, mended: true };
  const kept = within(number, row.low, row.high), value = 'whole' in row ? Math.round(kept) : rounded(kept);
  return { value, mended: kept !== number };
}

/** A state of what is given, each part in its range or replaced by the default.
 * @param {Record<string, unknown>} given @param {View} view @param {readonly Point[]} points @returns {State} */
export function makeState(given, view, points) {
  const settings = Object.keys(SETTINGS).map((name) => [name, given[name] === undefined
    ? SETTINGS[/** @type {Setting} */ (name)].start : setting(/** @type {Setting} */ (name), given[name]).value]);
  return /** @type {State} */ (Object.freeze({ points: Object.freeze([...points]), view: Object.freeze(view), ...Object.fromEntries(settings) }));
}

// ---- Plain data: what a notebook and a server see ---------------------------------------------

/** @param {State} state */
export function toPlain({ points, view, ...settings }) {
  return { ...settings, view: [view.x, view.y, view.half], points: points.map((p) => [p.x, p.y, p.label]) };
}

/** @param {unknown} given anything @returns {State} */
export function fromPlain(given) {
  const data = /** @type {Record<string, unknown>} */ (given !== null && typeof given === 'object' ? given : {});
  const rows = Array.isArray(data.points) ? data.points : [];
  const points = rows.filter((row) => Array.isArray(row) && typeof row[0] === 'number' && typeof row[1] === 'number'
    && Math.abs(row[0]) <= FARTHEST && Math.abs(row[1]) <= FARTHEST).slice(0, MOST_POINTS).map((row) => point(row[0], row[1], row[2]));
  return makeState(data, viewFrom(data.view) ?? viewOf(points), points);
}

/** @param {unknown} given @returns {View | null} */
function viewFrom(given) {
  if (!Array.isArray(given) || given.length !== 3 || !given.every((v) => typeof v === 'number' && Math.abs(v) <= 2 * FARTHEST)) return null;
  return given[2] >= 0.1 ? Object.freeze({ x: given[0], y: given[1], half: given[2] }) : null;
}

// ---- The address ----------------------------------------------------------------------------

const LETTERS = /** @type {const} */ ({ '1': 'p', '-1': 'n', '2': 't' });
const LABELS = /** @type {Record<string, Label>} */ ({ p: 1, n: -1, t: 2 });

/** @param {State} state */
export function toHash(state) {
  const settings = Object.entries(SETTINGS).filter(([name, row]) => state[/** @type {Setting} */ (name)] !== row.start)
    .map(([name, row]) => `${row.key}=${encodeURIComponent(state[/** @type {Setting} */ (name)])}`);
  const at = state.points.map(({ x, y, label }) => `${x},${y}${LETTERS[label]}`).join('');
  return '#' + [...settings, `v=${state.view.x},${state.view.y},${state.view.half}`, `pts=${at}`].join('&');
}

/** What an address says, each part in its range or replaced by the default; and how many parts were mended.
 * @param {string} hash @returns {{state: State, mended: number} | null} null where it says nothing */
export function fromHash(hash) {
  const given = new Map(hash.replace(/^#/, '').split('&').map((part) => {
    const cut = part.indexOf('=');
    return [part.slice(0, cut), decoded(part.slice(cut + 1))];
  }));
  if (!given.has('pts')) return null;
  let mended = 0;
  /** @type {Record<string, unknown>} */ const settings = {};
  for (const [name, row] of Object.entries(SETTINGS)) {
    if (!given.has(row.key)) continue;
    const { value, mended: odd } = setting(/** @type {Setting} */ (name), given.get(row.key));
    settings[name] = value;
    mended += Number(odd);
  }
  const view = viewFrom((given.get('v') ?? '').split(',').map((part) => (part === '' ? NaN : Number(part))));
  const texts = (given.get('pts') ?? '').match(/[^pnt]*[pnt]|[^pnt]+$/g) ?? [];
  const seen = view ?? Object.freeze({ x: 0, y: 0, half: 2 }), points = [];
  for (const text of texts) {
    const cells = text.slice(0, -1).split(',').map((part) => (part === '' ? NaN : Number(part))), label = LABELS[text.slice(-1)];
    const fits = label && cells.length === 2 && Math.abs(cells[0] - seen.x) <= seen.half && Math.abs(cells[1] - seen.y) <= seen.half;
    if (fits && points.length < MOST_POINTS) points.push(point(cells[0], cells[1], label)); else mended++;
  }
  return { state: makeState(settings, seen, points), mended: mended + Number(view === null) };
}

/** @param {string} text */
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return ''; }
}
