// State to words and numbers: headline, bar, figures, settings, legend, steps. Only differences are written.
import { isRegression } from './kernel.js';
import { classesOf, lacks } from './solve.js';
import { FORMULAS, TEXTS, partOf, positionText, sentence, short, stepText } from './texts.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./solve.js').Machine} Machine */
/** @typedef {import('./draw.js').Part} Part */

/** @param {HTMLElement} element @param {string} text */
export function say(element, text) { if (element.textContent !== text) element.textContent = text; }

/** Seven digits; plain as long as they are not all behind the point or far before it. @param {number} value */
export function seven(value) {
  const power = Math.floor(Math.log10(Math.abs(value)));
  if (!Number.isFinite(value) || value === 0) return short(value);
  return (power < -4 || power > 9 ? value.toExponential(6).replace('e+', 'e') : value.toFixed(Math.max(0, 6 - power))).replaceAll('-', '−');
}

/** A number whose digits that agree with the other stand out. @param {HTMLElement} output @param {string} own @param {string} other */
function agree(output, own, other) {
  let same = 0;
  if (own.indexOf('.') === other.indexOf('.') && own.split('e')[1] === other.split('e')[1]) while (same < own.length && own[same] === other[same]) same++;
  const rest = document.createElement('span');
  rest.className = 'differs';
  rest.textContent = own.slice(same);
  output.replaceChildren(own.slice(0, same), rest);
}

/** Dual from the left, primal from the right; the slit is the relative gap on a logarithmic scale. @param {Part} part @param {State} state @param {Machine} machine */
export function drawBar(part, state, machine) {
  const s = machine.summary, alive = machine.alive && s !== null, perceptron = state.machine === 'perceptron';
  const opening = !alive ? 1 : perceptron ? Math.min(1, Math.max(0, s.relative)) : Math.min(1, Math.max(0, Math.log10(Math.max(s.relative, 1e-6)) / 6 + 1));
  for (const side of ['from-left', 'from-right']) part(side).style.transform = `scaleX(${1 - opening})`;
  part('bar').classList.toggle('met', alive && s.relative <= 1e-6);
  say(part('dual-name'), perceptron ? TEXTS.lower : TEXTS.dual);
  say(part('primal-name'), perceptron ? TEXTS.upper : TEXTS.primal);
  say(part('dual-note'), perceptron ? TEXTS.lowerNote : TEXTS.dualNote);
  say(part('primal-note'), perceptron ? TEXTS.upperNote : TEXTS.primalNote);
  if (alive) {
    const [dual, primal] = [seven(s.dual), seven(s.primal)];
    agree(part('dual'), dual, primal); agree(part('primal'), primal, dual);
  } else { say(part('dual'), '–'); say(part('primal'), '–'); }
  say(part('gap'), !alive ? '–' : s.relative <= 1e-6 && !perceptron ? '< 1e−6 ✓' : short(s.relative));
}

/** @param {number} factor @param {string} name */
const term = (factor, name) => (short(factor) === '1' ? name.trim() : short(factor) + name);

/** @param {Part} part @param {State} state @param {Machine} machine @param {number} spent milliseconds */
export function drawFigures(part, state, machine, spent) {
  const s = machine.summary, alive = machine.alive && s !== null, n = state.points.length;
  /** @type {[string, string][]} */ const rows = [];
  const support = s ? s.free + s.bound : 0, add = (/** @type {string} */ key, /** @type {string} */ value) => rows.push([TEXTS[key], alive ? value : '–']);
  if (state.machine === 'perceptron') { add('mistakeCount', String(s?.mistakes)); if (state.step < 0) add('passes', String(s?.passes)); }
  else if (state.machine !== 'ridge') { add('supportCount', partOf(support, n)); add('boundCount', String(s?.bound)); }
  if (state.machine === 'svc' && !Number.isNaN(s?.margin)) add('margin', short(s?.margin ?? NaN));
  const wrong = { svc: 'wrong', perceptron: 'wrong', svr: 'outside', oneclass: 'strangers', ridge: '' }[state.machine];
  if (wrong) add(wrong, String(s?.errors));
  const w = alive && s ? machine.weights : null;
  if (w && s) add('line', `${term(w.x, ' x₁')} ${isRegression(state) ? '' : `${w.y < 0 ? '−' : '+'} ${term(Math.abs(w.y), ' x₂')} `}${s.bias < 0 ? '−' : '+'} ${short(Math.abs(s.bias))}`);
  add('time', `${spent < 0.1 ? '< 0.1' : spent.toFixed(1)} ms`);
  const list = part('figures');
  while (list.children.length > rows.length) list.lastChild.remove();
  rows.forEach(([name, value], k) => {
    if (!list.children[k]) {
      const row = document.createElement('div');
      row.append(document.createElement('dt'), document.createElement('dd'));
      list.append(row);
    }
    say(list.children[k].children[0], name); say(list.children[k].children[1], value);
  });
}

/** The sentence that follows the picture: the only live region that speaks of it. @param {Part} part @param {State} state @param {Machine} machine
 * @param {boolean} settled @param {string} instead */
export function drawSentence(part, state, machine, settled, instead) {
  const box = part('sentence');
  if (settled && machine.summary) say(box, instead || sentence(state, machine.summary, lacks(state)));
  setBusy(box, !settled);
}

/** Whether a text speaks of an earlier picture: it is pale then, and not read out. @param {HTMLElement} box @param {boolean} busy */
export function setBusy(box, busy) { if (box.ariaBusy !== String(busy)) box.ariaBusy = String(busy); }

const SLIDERS = /** @type {const} */ ({ C: 'C', gamma: 'γ', degree: 'd', coef0: 'c', epsilon: 'ε', nu: 'ν', lambda: 'λ' });
export const LOGARITHMIC = ['C', 'gamma', 'epsilon', 'lambda'];

/** Which settings the machine and its kernel have. @param {State} state */
function settingsOf({ machine, kernel }) {
  const of = /** @type {string[]} */ (machine === 'svc' ? ['C'] : machine === 'svr' ? ['C', 'epsilon'] : machine === 'oneclass' ? ['nu'] : machine === 'ridge' ? ['lambda'] : []);
  if (kernel === 'poly') of.push('gamma', 'degree', 'coef0');
  if (kernel === 'rbf' || kernel === 'laplacian') of.push('gamma');
  return of;
}

/** One row for each number. @param {Part} part @param {Record<string, any>} table SETTINGS */
export function makeSliders(part, table) {
  for (const [name, letter] of Object.entries(SLIDERS)) {
    const row = document.createElement('div'), label = document.createElement('label'), words = document.createElement('span');
    const symbol = document.createElement('var'), value = document.createElement('span'), input = document.createElement('input'), log = LOGARITHMIC.includes(name);
    row.className = 'slider'; row.dataset.part = `${name}-row`;
    value.className = 'number'; value.dataset.part = `${name}-value`;
    symbol.textContent = letter;
    words.append(symbol, ` ${TEXTS[name]}`);
    Object.assign(input, { type: 'range', min: String(log ? Math.log10(table[name].low) : table[name].low), max: String(log ? Math.log10(table[name].high) : table[name].high),
      step: table[name].whole ? '1' : log ? '0.02' : '0.01' });
    input.dataset.part = name;
    label.append(words, value, input);
    row.append(label);
    part('sliders').append(row);
  }
}

/** @param {Part} part @param {State} state @param {{example: string, canUndo: boolean, canRedo: boolean, picked: number, adds: number, python: boolean}} scene */
export function drawControls(part, state, { example, canUndo, canRedo, picked, adds, python }) {
  const shown = settingsOf(state);
  for (const name of /** @type {(keyof typeof SLIDERS)[]} */ (Object.keys(SLIDERS))) {
    part(`${name}-row`).hidden = !shown.includes(name);
    const slider = part(name), at = LOGARITHMIC.includes(name) ? Math.log10(state[name]) : state[name];
    if (Math.abs(Number(slider.value) - at) > Number(slider.step) / 2 + 1e-9) slider.value = String(at);
    say(part(`${name}-value`), short(state[name]));
    if (slider.getAttribute('aria-valuetext') !== short(state[name])) slider.setAttribute('aria-valuetext', short(state[name]));
  }
  say(part('formula'), FORMULAS[state.kernel]);
  part('formula').hidden = state.kernel === 'text';
  part('text-row').hidden = state.kernel !== 'text';
  if (document.activeElement !== part('text')) part('text').value = state.text;
  say(part('text-note'), python ? TEXTS.textHint : TEXTS.textAlone);
  if (part('machine').value !== state.machine) part('machine').value = state.machine;
  for (const input of part('kernels').querySelectorAll('input')) input.checked = input.value === state.kernel;
  for (const input of part('plot').parentElement.querySelectorAll('[data-adds]')) input.checked = Number(input.value) === adds;
  const labelled = state.machine === 'svc' || state.machine === 'perceptron';
  part('plot').parentElement.querySelector('.adds').hidden = !labelled;
  part('relabel').hidden = !labelled;
  for (const chip of part('examples').children) chip.setAttribute('aria-current', String(chip.dataset.name === example));
  part('undo').disabled = !canUndo; part('redo').disabled = !canRedo;
  part('relabel').disabled = part('delete').disabled = !(picked >= 0 && picked < state.points.length);
}

/** Headline, what the plot asks for, and the legend. @param {Part} part @param {State} state */
export function drawHeadings(part, state) {
  const { machine } = state, capital = machine[0].toUpperCase() + machine.slice(1), lack = lacks(state);
  say(part('title'), TEXTS[`title${capital}`]);
  drawIntro(part('intro'), state, TEXTS[`intro${capital}`]);
  part('empty').hidden = !lack;
  say(part('empty'), lack === 'points' ? TEXTS.emptyPoints : lack === 'classes' ? TEXTS.emptyClasses : lack ? TEXTS.emptyTwo : '');
  const regression = isRegression(state), one = machine === 'oneclass' || regression;
  part('legend').classList.toggle('one-shape', one);
  say(part('legend-zero-text'), regression ? TEXTS.curve : one ? TEXTS.edge : TEXTS.boundary);
  say(part('legend-one-text'), regression ? TEXTS.tube : TEXTS.margins);
  part('legend-one').hidden = machine !== 'svr' && (machine !== 'svc' || classesOf(state.points).length > 2);
  say(part('legend-slack-text'), machine === 'ridge' ? TEXTS.residualRidge : regression ? TEXTS.residual : one ? TEXTS.stranger : TEXTS.slack);
  part('legend-slack').hidden = machine === 'perceptron';
  say(part('legend-mute-text'), regression ? TEXTS.muteBeta : TEXTS.mute);
  part('legend-mute').hidden = machine === 'ridge';
  say(part('legend-support-text'), machine === 'perceptron' ? TEXTS.mistakes : regression ? TEXTS.supportBeta : TEXTS.support);
  say(part('legend-bound-text'), machine === 'oneclass' ? TEXTS.boundOne : regression ? TEXTS.boundBeta : TEXTS.bound);
  part('legend-bound').hidden = machine === 'ridge' || machine === 'perceptron';
}

/** "Blue circles, orange squares and green triangles, and ..." @param {HTMLElement} box @param {State} state @param {string} rest */
function drawIntro(box, { machine, points }, rest) {
  const key = `${machine} ${points.some((p) => p.label === 2)}`;
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  if (machine !== 'svc' && machine !== 'perceptron') { box.textContent = rest; return; }
  const names = [[1, TEXTS.circles], [-1, TEXTS.squares], ...(points.some((p) => p.label === 2) ? [[2, TEXTS.triangles]] : [])];
  box.replaceChildren(...names.flatMap(([label, name]) => {
    const bold = document.createElement('b');
    bold.className = `c${label}`;
    bold.textContent = String(name);
    return [bold, TEXTS.comma];
  }), rest);
}

/** @param {Part} part @param {State} state @param {readonly import('./steps.js').Step[]} steps @param {string} why there are none @param {boolean} playing */
export function drawSteps(part, state, steps, why, playing) {
  const open = state.step >= 0;
  say(part('steps-toggle'), open ? TEXTS.hideSteps : TEXTS.showSteps);
  part('steps-toggle').setAttribute('aria-expanded', String(open));
  part('steps-panel').hidden = !open;
  if (!open) return;
  part('no-steps').hidden = !why;
  say(part('no-steps'), why ? TEXTS[`noSteps${why[0].toUpperCase()}${why.slice(1)}`] : '');
  part('steps-body').hidden = Boolean(why) || steps.length === 0;
  if (why || steps.length === 0) return;
  const last = steps.length - 1, at = Math.min(state.step, last), { what, why: reason } = stepText(steps[at].event, state);
  part('method-row').hidden = state.machine !== 'svc';
  part('method').value = state.method;
  const slider = part('step-slider');
  slider.max = String(last); slider.value = String(at);
  slider.setAttribute('aria-valuetext', positionText(at, last));
  say(part('step-count'), positionText(at, last));
  say(part('step-what'), what); say(part('step-why'), reason);
  part('step-first').disabled = part('step-back').disabled = at === 0;
  part('step-last').disabled = part('step-forward').disabled = at === last;
  part('step-play').classList.toggle('playing', playing);
  part('step-play').setAttribute('aria-label', playing ? TEXTS.pause : TEXTS.play);
  drawSides(part, state, steps[at]);
}

/** w beside alpha, for the perceptron with the linear kernel. @param {Part} part @param {State} state @param {import('./steps.js').Step} step */
function drawSides(part, state, { beta, bias }) {
  const shown = state.machine === 'perceptron';
  part('sides').hidden = !shown;
  if (!shown) return;
  let x = 0, y = 0;
  state.points.forEach((p, k) => { x += beta[k] * p.x; y += beta[k] * p.y; });
  say(part('side-primal'), state.kernel === 'linear' ? `w = (${short(x)}, ${short(y)})\nb = ${short(bias)}` : `w = Σ α y φ(x)\nb = ${short(bias)}`);
  const counted = [...beta.keys()].filter((k) => beta[k] !== 0);
  say(part('side-dual'), counted.length ? counted.slice(0, 12).map((k) => `α${k + 1}\u00a0=\u00a0${Math.abs(beta[k])}`).join(', ') + (counted.length > 12 ? ', …' : '') : 'α = 0');
}
