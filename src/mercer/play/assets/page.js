// Events to new states. One animation frame solves and draws what changed.
import { Plane } from './draw.js';
import { EXAMPLES } from './examples.js';
import { drawBar, drawControls, drawFigures, drawHeadings, drawSentence, drawSteps, makeSliders, setBusy, LOGARITHMIC } from './figures.js';
import { listenToKeys, listenToPointer } from './gestures.js';
import { MOST_BY_HAND, WorkedView, listenToMenus } from './menus.js';
import { Machine, classesOf } from './solve.js';
import * as S from './state.js';
import { Stepper } from './stepper.js';
import { stepsOf, whyNoSteps } from './steps.js';
import { EXAMPLE_NAMES, TEXTS, mendedNote, stepSentence } from './texts.js';
import { FeatureView, GramView, gramOrder } from './views.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./solve.js').Answer} Answer */
/** @typedef {{fit: (state: State) => Promise<Answer>, worked: (state: State) => Promise<import('./menus.js').Worked>}} Python */
/** @typedef {{state?: State, mended?: number, address?: boolean, python?: Python | null, worker?: Pick<Python, 'fit'> | null, worked?: {key: string, worked: import('./menus.js').Worked} | null,
 *   changed?: (state: State) => void}} Options  address: the state is kept in the address; changed: told of every finished gesture */

const WHILE_MOVING = { gap: 1e-3, budget: 60 }; // a frame with news: good enough, soon enough
const AT_REST = { gap: 1e-6, budget: 12 };      // a frame without: in slices, until proved
const LONGEST = 2000;                           // milliseconds of work at rest: then the bar stays as open as it is
const LARGE = 500;                              // points from which on Python solves, or else a worker

let instances = 0;

export class Page {
  /** @param {HTMLElement} root with the markup of page.html inside @param {Options} [options] */
  constructor(root, options = {}) {
    this.root = root;
    this.options = options;
    this.number = ++instances;
    /** @type {Map<string, any>} */ const found = new Map();
    this.part = (/** @type {string} */ name) => {
      if (!found.has(name)) found.set(name, root.querySelector(`[data-part="${name}"]`));
      return found.get(name);
    };
    this.#write();
    this.machine = new Machine();
    this.state = options.state ?? EXAMPLES.moons();
    /** @type {State[]} one state per finished gesture */ this.past = [this.state];
    this.at = 0;
    this.hover = this.picked = -1;
    this.adds = 1;
    this.hint = true;
    this.example = options.state ? '' : 'moons';
    this.held = false;
    this.waiting = false;
    this.stale = true;
    /** @type {number | null} */ this.cause = null;
    this.spent = 0;
    /** @type {import('./steps.js').Step[]} */ this.steps = [];
    /** @type {State | null} whose steps these are */ this.stepped = null;
    /** @type {State | null} what Python is asked for now */ this.asked = null;
    /** @type {State | null} what Python has answered or refused */ this.answered = null;
    this.trouble = '';
    this.view = 'gram';
    this.framed = '';
    this.plane = new Plane(root, this.part);
    this.gram = new GramView(root, this.part);
    this.features = new FeatureView(root, this.part);
    listenToPointer(this);
    listenToKeys(this);
    listenToMenus(this);
    this.worked = new WorkedView(this, options.python?.worked ?? null, options.worked ?? null);
    this.stepper = new Stepper(this);
    this.#listenToControls();
    this.#listenToSurroundings();
    if (options.mended) this.notice(mendedNote(options.mended));
  }

  /** The words of the markup, from the one place where they are kept. */
  #write() {
    const { root, part } = this;
    for (const element of root.querySelectorAll('[data-text]')) element.textContent = TEXTS[/** @type {HTMLElement} */ (element).dataset.text ?? ''];
    for (const element of root.querySelectorAll('[data-label]')) element.setAttribute('aria-label', TEXTS[/** @type {HTMLElement} */ (element).dataset.label ?? '']);
    for (const element of root.querySelectorAll('[data-title]')) element.setAttribute('title', TEXTS[/** @type {HTMLElement} */ (element).dataset.title ?? '']);
    for (const input of root.querySelectorAll('[data-adds]')) /** @type {HTMLInputElement} */ (input).name = `adds-${this.number}`;
    part('paste').placeholder = TEXTS.pasteHint;
    const options = (/** @type {string} */ name, /** @type {readonly string[]} */ choices) => part(name).append(...choices.map((choice) => new Option(TEXTS[choice], choice)));
    options('machine', S.SETTINGS.machine.choices);
    options('method', S.SETTINGS.method.choices);
    const kernels = S.SETTINGS.kernel.choices.filter((name) => name !== 'text' || this.options.python || this.options.state?.kernel === 'text');
    for (const name of kernels) {
      const label = document.createElement('label'), input = document.createElement('input'), words = document.createElement('span');
      Object.assign(input, { type: 'radio', name: `kernel-${this.number}`, value: name });
      words.textContent = TEXTS[name];
      label.append(input, words);
      part('kernels').append(label);
    }
    makeSliders(part, S.SETTINGS);
    for (const name of Object.keys(EXAMPLES)) {
      const chip = document.createElement('button');
      chip.type = 'button';
      chip.dataset.name = name;
      chip.textContent = EXAMPLE_NAMES[name];
      part('examples').append(chip);
    }
  }

  // ---- Frames -------------------------------------------------------------------------------

  wake() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.#frame());
  }

  /** Whether somebody else solves this state: Python, or a worker. */
  get remote() {
    const { python, worker } = this.options, { step, kernel, points } = this.state;
    return step < 0 && (kernel === 'text' ? Boolean(python) : points.length > LARGE && Boolean(python ?? worker));
  }

  #frame() {
    this.waiting = false;
    const { machine, state } = this, begun = performance.now(), { fresh, open, stuck } = this.#solve(), solved = performance.now();
    if (fresh) this.spent = 0;
    if (fresh || open) this.spent += solved - begun;
    const relative = machine.summary?.relative ?? 0, waits = this.remote && this.answered !== state;
    const stepping = (state.step >= 0 && !whyNoSteps(state)) || state.machine === 'perceptron' || this.remote;
    const settled = !this.held && !fresh && !waits && (relative <= AT_REST.gap || stuck || stepping);
    this.#draw(settled, fresh || open || this.stale);
    this.stale = false;
    this.root.dispatchEvent(new CustomEvent('mercer-frame', { detail: { cause: this.cause, begun, solve: solved - begun, draw: performance.now() - solved, relative, fresh, settled } }));
    this.cause = null;
    const resting = this.held && !fresh && (relative <= AT_REST.gap || stepping);
    if (!settled && !resting && !stuck && !waits) this.wake();
  }

  /** Bring the machine up to the state, as far as a frame allows. */
  #solve() {
    const { machine, state } = this, fresh = machine.state !== state;
    if (state.step >= 0 && !whyNoSteps(state)) return this.#solveStep(fresh);
    if (this.remote) { if (this.answered !== state) this.#ask(); return { fresh: false, open: false, stuck: false }; }
    const rule = fresh ? WHILE_MOVING : AT_REST, before = machine.steps, tired = !fresh && this.spent > LONGEST;
    const open = !fresh && !tired && (machine.summary?.relative ?? 1) > AT_REST.gap && state.machine !== 'perceptron';
    if (fresh) machine.follow(state);
    if (fresh || open) machine.descend(rule.gap, rule.budget);
    return { fresh, open, stuck: tired || open && (machine.steps === before || state.machine === 'ridge' && state.points.length <= 400) };
  }

  /** @param {boolean} fresh */
  #solveStep(fresh) {
    const { state } = this, same = this.stepped && this.stepped.points === state.points && sameProblem(this.stepped, state);
    if (!same) this.steps = stepsOf(state);
    this.stepped = state;
    if (fresh) this.machine.showStep(state, this.steps[Math.min(state.step, this.steps.length - 1)]);
    return { fresh, open: false, stuck: false };
  }

  /** One question at a time; what has changed meanwhile is asked next, and what is still open is asked again. */
  async #ask() {
    const solver = this.options.python ?? this.options.worker;
    if (this.asked || !solver) return;
    const asked = this.asked = this.state, begun = performance.now();
    let open = false;
    try {
      const answer = await solver.fit(asked);
      this.trouble = '';
      if (this.state === asked) { this.spent = performance.now() - begun + (this.machine.state === asked ? this.spent : 0); this.machine.showAnswer(asked, answer); }
      open = answer.open && this.spent < 10 * LONGEST;
    } catch (error) {
      this.trouble = `${this.options.python ? TEXTS.remoteFailed : TEXTS.workerFailed} ${error instanceof Error ? error.message : ''}`;
      if (this.state === asked) { this.machine.follow(asked); this.machine.descend(AT_REST.gap, AT_REST.budget); }
    }
    this.asked = null;
    if (this.state === asked && !open) this.answered = asked;
    this.stale = true;
    this.wake();
  }

  /** @param {boolean} settled @param {boolean} changed */
  #draw(settled, changed) {
    const { part, state, machine, hover, picked } = this, why = state.step >= 0 ? whyNoSteps(state) : '', stepping = state.step >= 0 && !why;
    const at = stepping ? this.steps[Math.min(state.step, this.steps.length - 1)] : null;
    if (machine.state?.points.length === state.points.length) {
      this.plane.draw({ state, machine, hover, picked, hint: this.hint, settled, stepping, acting: at?.event.points ?? [] }, changed);
    }
    if (changed || settled) { drawBar(part, state, machine); drawFigures(part, state, machine, this.spent); }
    const step = at && machine.summary ? stepSentence(Math.min(state.step, this.steps.length - 1), this.steps.length - 1, machine.summary, state.machine) : '';
    const alone = state.kernel === 'text' && !this.options.python ? TEXTS.textAlone : step;
    drawSentence(part, state, machine, settled, this.remote ? this.trouble : alone);
    this.#drawFrame(why);
    if (this.view === 'gram') this.gram.draw(state, machine, hover, changed);
    else if (settled || state.points.length <= 80) this.features.draw(state, machine, hover, changed || settled);
    if (settled || state.points.length <= MOST_BY_HAND + 1) this.worked.draw(state);
  }

  /** What stands around the picture and mostly stays while a point is dragged. @param {string} why there are no steps */
  #drawFrame(why) {
    const { part, state, picked } = this, chosen = picked >= 0 && picked < state.points.length;
    const scene = { example: this.example, canUndo: this.at > 0, canRedo: this.at < this.past.length - 1, picked: chosen ? picked : -1, adds: this.adds, python: Boolean(this.options.python) };
    const key = JSON.stringify([Object.keys(S.SETTINGS).map((name) => state[/** @type {S.Setting} */ (name)]), { ...scene, picked: chosen }, classesOf(state.points), why, this.stepper.playing]);
    if (key === this.framed && state.step < 0) return;
    this.framed = key;
    drawHeadings(part, state);
    drawControls(part, state, scene);
    drawSteps(part, state, this.steps, why, this.stepper.playing);
  }

  // ---- Changes ------------------------------------------------------------------------------

  /** Show a state; the gesture goes on. @param {State} next @param {Event} [event] */
  show(next, event) {
    if (next === this.state) return;
    if (next.points !== this.state.points) this.example = '';
    this.state = next;
    this.hint = false;
    setBusy(this.part('sentence'), true);
    this.cause ??= event?.timeStamp ?? null;
    this.wake();
  }

  /** The gesture is finished: one entry to undo, one in the address. */
  finish() {
    if (this.past[this.at] === this.state) return;
    this.past = [...this.past.slice(0, this.at + 1), this.state];
    this.at++;
    if (this.options.address) history.pushState({ at: this.at }, '', S.toHash(this.state));
    this.options.changed?.(this.state);
    this.wake();
  }

  /** @param {State} next @param {Event} [event] */
  change(next, event) { this.show(next, event); this.finish(); }

  /** A change that is no gesture: a step. @param {State} next */
  replace(next) {
    if (next === this.state) return;
    this.past[this.at] = this.state = next;
    setBusy(this.part('sentence'), true);
    if (this.options.address) history.replaceState(history.state, '', S.toHash(next));
    this.options.changed?.(next);
    this.wake();
  }

  /** What somebody else has said: it can be undone, and is not told back. @param {State} next */
  take(next) {
    this.show(next);
    this.picked = this.hover = -1;
    this.past = [...this.past.slice(0, this.at + 1), next];
    this.at++;
  }

  undo() { if (this.at > 0) { if (this.options.address) history.back(); else this.#goTo(this.at - 1); } }
  redo() { if (this.at < this.past.length - 1) { if (this.options.address) history.forward(); else this.#goTo(this.at + 1); } }

  /** @param {number} at */
  #goTo(at) {
    this.at = at;
    this.picked = this.hover = -1;
    this.stepper.pause();
    this.show(this.past[at]);
    this.example = '';
    this.options.changed?.(this.state);
  }

  /** @param {number} index */
  pick(index) { this.picked = this.hover = index; this.wake(); }
  /** @param {number} index */
  hoverOver(index) { if (index !== this.hover) { this.hover = index; this.wake(); } }

  /** Delete the point at hand; the one after it is at hand then. @param {Event} event */
  remove(event) {
    const index = this.picked;
    this.change(S.deleted(this.state, index), event);
    this.picked = Math.min(index, this.state.points.length - 1);
    this.hover = -1;
    requestAnimationFrame(() => this.plane.focus(this.picked));
  }

  /** @param {string} text */
  notice(text) {
    const box = this.part('notice');
    box.hidden = !text;
    box.textContent = text;
  }

  /** @returns {Promise<boolean>} whether it could be copied */
  async copyLink() {
    const hash = S.toHash(this.state);
    if (this.options.address) history.replaceState(history.state, '', hash);
    try {
      await navigator.clipboard.writeText(this.options.address ? location.href : hash);
      return true;
    } catch { return false; }
  }

  // ---- Listening ----------------------------------------------------------------------------

  #listenToControls() {
    const { part, root } = this, on = (/** @type {string} */ name, /** @type {(event: Event) => void} */ act) => part(name).addEventListener('click', act);
    on('relabel', (event) => this.change(S.relabelled(this.state, this.picked), event));
    on('delete', (event) => { this.change(S.deleted(this.state, this.picked), event); this.pick(-1); });
    on('undo', () => this.undo());
    on('redo', () => this.redo());
    for (const input of root.querySelectorAll('[data-adds]')) input.addEventListener('change', () => { this.adds = Number(/** @type {HTMLInputElement} */ (input).value); this.wake(); });
    for (const input of part('kernels').querySelectorAll('input')) input.addEventListener('change', (/** @type {Event} */ event) => this.change(S.set(this.state, 'kernel', input.value), event));
    part('machine').addEventListener('change', (/** @type {Event} */ event) => { this.stepper.pause(); this.change(S.set(this.state, 'machine', part('machine').value), event); });
    part('text').addEventListener('change', (/** @type {Event} */ event) => this.change(S.set(this.state, 'text', part('text').value), event));
    for (const name of /** @type {const} */ (['C', 'gamma', 'degree', 'coef0', 'epsilon', 'nu', 'lambda'])) {
      part(name).addEventListener('input', (/** @type {Event} */ event) => this.show(S.set(this.state, name, LOGARITHMIC.includes(name) ? 10 ** part(name).value : Number(part(name).value)), event));
      part(name).addEventListener('change', () => this.finish());
    }
    for (const chip of part('examples').children) {
      chip.addEventListener('click', (/** @type {Event} */ event) => { this.stepper.pause(); this.pick(-1); this.change(EXAMPLES[chip.dataset.name](), event); this.example = chip.dataset.name; });
    }
    this.#listenToViews();
  }

  #listenToViews() {
    const { part } = this;
    const choose = (/** @type {string} */ view) => {
      this.view = view;
      for (const name of ['gram', 'features']) {
        part(`tab-${name}`).setAttribute('aria-selected', String(name === view));
        part(`tab-${name}`).tabIndex = name === view ? 0 : -1;
        part(`${name}-panel`).hidden = name !== view;
      }
      this.stale = true;
      this.wake();
    };
    for (const name of ['gram', 'features']) {
      part(`tab-${name}`).addEventListener('click', () => choose(name));
      part(`tab-${name}`).addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
        if (!/^Arrow(Left|Right)$/.test(event.key)) return;
        choose(name === 'gram' ? 'features' : 'gram');
        part(`tab-${this.view}`).focus();
      });
    }
    choose('gram');
    part('gram').addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
      const box = part('gram').getBoundingClientRect(), n = this.state.points.length;
      this.hoverOver(gramOrder(this.state)[Math.min(n - 1, Math.floor((event.clientY - box.top) / box.height * n))] ?? -1);
    });
    part('gram').addEventListener('pointerleave', () => this.hoverOver(-1));
    part('turn').addEventListener('input', () => { this.stale = true; this.wake(); });
    part('space').addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
      if (event.buttons !== 1) return;
      part('turn').value = String((Number(part('turn').value) + event.movementX + 540) % 360 - 180);
      this.stale = true;
      this.wake();
    });
  }

  #listenToSurroundings() {
    const { root, part } = this, night = matchMedia('(prefers-color-scheme: dark)');
    const dress = (/** @type {boolean} */ dark) => {
      root.dataset.theme = dark ? 'dark' : 'light';
      part('theme').setAttribute('aria-pressed', String(dark));
      this.plane.readColours();
      this.gram.readColours();
      this.stale = true;
      this.wake();
    };
    night.addEventListener('change', () => dress(night.matches));
    part('theme').addEventListener('click', () => dress(root.dataset.theme !== 'dark'));
    new ResizeObserver(([entry]) => { this.plane.resize(entry.contentRect.width || 1); this.stale = true; this.wake(); }).observe(part('plot'));
    root.addEventListener('keydown', (event) => {
      const { ctrlKey, metaKey, shiftKey, key, target } = /** @type {KeyboardEvent} */ (event);
      if (!(ctrlKey || metaKey) || key.toLowerCase() !== 'z' || /** @type {Element} */ (target).matches('textarea, input[type=text], input[type=number]')) return;
      event.preventDefault();
      if (shiftKey) this.redo(); else this.undo();
    });
    if (this.options.address) this.#listenToAddress();
    dress(night.matches);
  }

  /** Back and Forward, and links that are put into the address of an open page. The address is right, whatever was kept:
   * after a reload the numbers in the history are those of the page before. */
  #listenToAddress() {
    const opened = this.state;
    history.replaceState({ at: 0 }, '');
    addEventListener('popstate', (event) => {
      const known = event.state?.at, at = known ?? this.at + 1;
      if (known === undefined) { this.past.length = at; history.replaceState({ at }, ''); }
      if (!this.past[at] || S.toHash(this.past[at]) !== location.hash) {
        const read = S.fromHash(location.hash);
        this.past[at] = read?.state ?? opened;
        this.notice(mendedNote(read?.mended ?? 0));
      }
      this.#goTo(at);
    });
  }
}

/** Whether two states have the same steps. @param {State} a @param {State} b */
function sameProblem(a, b) {
  return Object.keys(S.SETTINGS).every((name) => name === 'step' || a[/** @type {S.Setting} */ (name)] === b[/** @type {S.Setting} */ (name)]);
}
