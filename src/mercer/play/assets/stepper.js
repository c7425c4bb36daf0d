// Step by step: the transport, and the question before a step.
import * as S from './state.js';
import { answerText, isRight, question, verdict } from './texts.js';

/** @typedef {import('./page.js').Page} Page */

const PACE = 650; // milliseconds from step to step while playing

export class Stepper {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.timer = 0;
    const { part } = page, on = (/** @type {string} */ name, /** @type {() => void} */ act) => part(name).addEventListener('click', act);
    on('steps-toggle', () => { this.pause(); page.change(S.set(page.state, 'step', page.state.step < 0 ? 0 : -1)); });
    on('step-first', () => this.go(0));
    on('step-back', () => this.go(this.at - 1));
    on('step-forward', () => this.go(this.at + 1));
    on('step-last', () => this.go(this.last));
    on('step-play', () => (this.playing ? this.pause() : this.play()));
    part('step-slider').addEventListener('input', () => this.go(Number(part('step-slider').value)));
    part('method').addEventListener('change', () => { this.pause(); page.change(S.set(S.set(page.state, 'method', part('method').value), 'step', 0)); });
    on('quiz-open', () => this.ask());
    on('quiz-yes', () => this.answer(true));
    on('quiz-no', () => this.answer(false));
    on('quiz-reveal', () => this.answer(null));
    part('quiz-form').addEventListener('submit', (/** @type {Event} */ event) => {
      event.preventDefault();
      if (part('quiz-number').value !== '') this.answer(Number(part('quiz-number').value));
    });
  }

  get playing() { return this.timer !== 0; }
  get last() { return this.page.steps.length - 1; }
  get at() { return Math.min(Math.max(0, this.page.state.step), this.last); }

  /** Steps replace the address and are no gestures of their own: Undo goes back to the data. @param {number} to */
  go(to) {
    const step = Math.min(Math.max(0, to), this.last);
    this.page.part('quiz').hidden = true;
    this.page.replace(S.set(this.page.state, 'step', step));
    if (step === this.last) this.pause();
  }

  play() {
    if (this.at === this.last) this.go(0);
    this.timer = window.setInterval(() => this.go(this.at + 1), PACE);
    this.page.wake();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.page.part('quiz').hidden = true;
    this.page.wake();
  }

  /** The next step's question; its answer stays hidden. */
  ask() {
    const { part, steps } = this.page;
    clearInterval(this.timer);
    this.timer = 0;
    if (this.at >= this.last) return;
    const { text, kind } = question(steps[this.at + 1].event);
    part('quiz').hidden = false;
    part('quiz-text').textContent = text;
    part('quiz-form').hidden = kind !== 'number';
    part('quiz-choice').hidden = kind !== 'yesno';
    part('quiz-reveal').hidden = false;
    part('quiz-number').value = '';
    part('quiz-verdict').textContent = '';
    this.page.wake();
  }

  /** The learner's own, or null to be told. @param {number | boolean | null} given */
  answer(given) {
    const { part, steps } = this.page, { event } = steps[Math.min(this.at + 1, this.last)];
    part('quiz-verdict').textContent = given === null ? answerText(event) : verdict(isRight(event, given), answerText(event));
    part('quiz-form').hidden = part('quiz-choice').hidden = part('quiz-reveal').hidden = true;
  }
}
