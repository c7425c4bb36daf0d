// State to picture: the plane with its field, lines and points. Nothing from the state becomes markup.
import { Contours } from './contour.js';
import { isRegression } from './kernel.js';
import { CELLS, CLASSES } from './solve.js';
import { TEXTS, pointName, short } from './texts.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').View} View */
/** @typedef {import('./solve.js').Machine} Machine */
/** @typedef {(name: string) => any} Part  the element of a name */
/** @typedef {{state: State, machine: Machine, hover: number, picked: number, hint: boolean, settled: boolean, stepping: boolean, acting: readonly number[]}} Scene */

const SIDE = CELLS + 2;
const MOST_NUMBERED = 80; // points that carry their numbers while steps are shown; with more, the one at hand has it in the corner
const PALE = 0.25; // in regression colours only say above and below
const SHADES = 1024; // colours run over f / sqrt(1 + f^2), so that no value is beyond them

/** @param {string} name @param {Record<string, string | number>} [attributes] @param {Element} [parent] */
export function svg(name, attributes = {}, parent) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  parent?.append(element);
  return element;
}

/** @param {number} label @param {number} r */
export const shape = (label, r) => label === 1 ? `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`
  : label === -1 ? `M${-r * 0.89} ${-r * 0.89}H${r * 0.89}V${r * 0.89}H${-r * 0.89}Z`
    : `M0 ${-r * 1.2}L${r * 1.1} ${r * 0.75}H${-r * 1.1}Z`;

/** @param {number} label */
export const tint = (label) => (label === 1 ? 'plus' : label === -1 ? 'minus' : 'third');

/** The names of colours from the style sheet, as red, green, blue. @param {Element} root @param {string} name */
export const colourOf = (root, name) => (getComputedStyle(root).getPropertyValue(name).trim().slice(1).match(/../g) ?? []).map((h) => parseInt(h, 16));

export class Plane {
  /** @param {Element} root @param {Part} part */
  constructor(root, part) {
    this.root = root;
    this.part = part;
    this.picture = part('picture');
    const field = part('field');
    field.width = field.height = SIDE;
    Object.assign(field.style, { left: `${-100 / CELLS}%`, top: `${-100 / CELLS}%`, width: `${100 * SIDE / CELLS}%`, height: `${100 * SIDE / CELLS}%` });
    this.pen = /** @type {CanvasRenderingContext2D} */ (field.getContext('2d'));
    this.image = this.pen.createImageData(SIDE, SIDE);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.values = Array.from({ length: 3 }, () => new Float64Array(SIDE * SIDE));
    this.narrowest = Array.from({ length: 3 }, () => new Float64Array(SIDE * SIDE));
    this.ahead = new Float64Array(SIDE * SIDE);
    this.inside = new Float64Array(SIDE * SIDE);
    this.contours = new Contours(SIDE);
    const group = (/** @type {Record<string, string>} */ attributes) => svg('g', attributes, this.picture);
    this.axes = group({ 'aria-hidden': 'true' });
    this.slack = svg('path', { class: 'slack' }, this.picture);
    this.ones = svg('path', { class: 'line-one' }, this.picture);
    this.zero = svg('path', { class: 'line-zero' }, this.picture);
    this.points = group({ role: 'group', 'aria-label': TEXTS.points });
    this.hint = group({ class: 'hint', 'aria-hidden': 'true' });
    this.halo = group({ class: 'halo', 'aria-hidden': 'true' });
    this.acting = group({ class: 'acting', 'aria-hidden': 'true' });
    svg('circle', { r: 20 }, this.hint);
    svg('circle', { r: 15 }, this.halo);
    this.hintText = svg('text', {}, this.hint);
    this.hintText.textContent = TEXTS.dragMe;
    /** plot pixels on a side */ this.size = 1;
    /** what is on the screen already, so that only differences are written */ this.seen = { axes: '', points: /** @type {string[]} */ ([]) };
    /** @type {SVGGElement[]} */ this.marks = [];
    this.shades = /** @type {Uint32Array[]} one ramp for two sides, then one for each class */ ([]);
  }

  /** Colours change with the theme. */
  readColours() {
    const pack = (/** @type {number[]} */ [r, g, b]) => 0xff000000 | b << 16 | g << 8 | r;
    const ramp = (/** @type {[number, string][]} */ named) => {
      const stops = named.map(([at, name]) => ({ at, rgb: colourOf(this.root, name) }));
      return Uint32Array.from({ length: SHADES + 1 }, (_, s) => {
        const u = s / SHADES * 2 - 1, k = Math.max(1, stops.findIndex((stop) => stop.at >= u)), a = stops[k - 1], b = stops[k];
        return pack(a.rgb.map((value, c) => Math.round(value + (u - a.at) / (b.at - a.at) * (b.rgb[c] - value))));
      });
    };
    const half = (/** @type {string} */ name) => ramp([[-1, '--zero'], [0, '--zero'], [Math.SQRT1_2, `--${name}-one`], [1, `--${name}-deep`]]);
    this.shades = [ramp([[-1, '--minus-deep'], [-Math.SQRT1_2, '--minus-one'], [0, '--zero'], [Math.SQRT1_2, '--plus-one'], [1, '--plus-deep']]),
      half('plus'), half('minus'), half('third')];
  }

  /** @param {number} pixelsWide */
  resize(pixelsWide) {
    this.size = pixelsWide;
    this.picture.setAttribute('viewBox', `0 0 ${pixelsWide} ${pixelsWide}`);
    this.seen.axes = '';
  }

  /** @param {View} view @param {number} px @param {number} py */
  toData(view, px, py) { return [view.x + (2 * px / this.size - 1) * view.half, view.y - (2 * py / this.size - 1) * view.half]; }
  /** @param {View} view @param {{x: number, y: number}} p */
  toPixels(view, p) { return [((p.x - view.x) / view.half + 1) * this.size / 2, (1 - (p.y - view.y) / view.half) * this.size / 2]; }

  /** Everything, from one routine. `solved` says whether the machine changed. @param {Scene} scene @param {boolean} solved */
  draw(scene, solved) {
    if (solved) { this.#drawField(scene); this.#drawSlack(scene); }
    this.#drawAxes(scene.state.view);
    this.#drawPoints(scene);
    if (scene.settled) this.#namePoints(scene);
    this.#drawHalo(scene);
    this.#drawActing(scene);
    this.#drawHint(scene);
  }

  /** @param {Scene} scene */
  #drawField({ machine, state }) {
    const { values, pixels, shades } = this, half = SHADES / 2, cell = this.size / CELLS;
    const parts = machine.alive && machine.parts.length ? machine.parts.length : 0;
    if (parts) machine.fill(CELLS, values); else values[0].fill(0);
    const tone = isRegression(state) ? PALE : 1;
    const sides = !parts || state.machine !== 'svc' && state.machine !== 'perceptron' || parts === 1 && !machine.parts[0].classes.includes(2);
    if (sides) {
      const ramp = shades[state.machine === 'oneclass' ? 1 : 0];
      for (let k = 0; k < pixels.length; k++) { const f = tone * values[0][k]; pixels[k] = ramp[(half + half * f / Math.sqrt(1 + f * f)) | 0]; }
    } else this.#paintClasses(machine);
    this.pen.putImageData(this.image, 0, 0);
    const margins = state.machine === 'svc' || state.machine === 'svr';
    if (parts > 1) this.#traceClasses(machine, cell);
    else {
      this.zero.setAttribute('d', parts ? this.contours.trace(values[0], 0, cell) : '');
      this.ones.setAttribute('d', parts && margins ? this.contours.trace(values[0], 1, cell) + this.contours.trace(values[0], -1, cell) : '');
    }
  }

  /** The class that wins, as deep as its narrowest victory. That is the winner of the vote wherever one class wins all
   * its pairs; between, where each wins one, it is the one that loses least. @param {Machine} machine */
  #paintClasses({ parts }) {
    const { values, pixels, shades, narrowest } = this, half = SHADES / 2;
    CLASSES.forEach((label, c) => {
      narrowest[c].fill(Infinity);
      for (let p = 0; p < parts.length; p++) {
        const sign = parts[p].classes[0] === label ? 1 : parts[p].classes[1] === label ? -1 : 0;
        if (sign) for (let k = 0, f = values[p], out = narrowest[c]; k < f.length; k++) out[k] = Math.min(out[k], sign * f[k]);
      }
      if (!parts.some(({ classes }) => classes.includes(label))) narrowest[c].fill(-Infinity);
    });
    const [first, second, third] = narrowest;
    for (let k = 0; k < pixels.length; k++) {
      const c = first[k] >= second[k] ? (first[k] >= third[k] ? 0 : 2) : second[k] >= third[k] ? 1 : 2, depth = Math.max(0, narrowest[c][k]);
      pixels[k] = shades[c + 1][(half + half * depth / Math.sqrt(1 + depth * depth)) | 0];
    }
  }

  /** Where two classes win alike, and the third does not win: f = 0 of their pair, but for places where each wins one.
   * @param {Machine} machine @param {number} cell */
  #traceClasses({ parts }, cell) {
    const { narrowest, ahead, inside } = this, of = (/** @type {number} */ label) => narrowest[CLASSES.findIndex((other) => other === label)];
    this.zero.setAttribute('d', parts.map(({ classes }) => {
      const [a, b] = classes.map(of), c = of(CLASSES.find((label) => !classes.includes(label)) ?? 0);
      for (let k = 0; k < ahead.length; k++) { ahead[k] = a[k] - b[k]; inside[k] = Math.max(a[k], b[k]) - c[k]; }
      return this.contours.trace(ahead, 0, cell, inside);
    }).join(''));
    this.ones.setAttribute('d', '');
  }

  /** Lines from each point that costs something to where it would not. @param {Scene} scene */
  #drawSlack({ state, machine }) {
    let path = '';
    for (const [from, to] of machine.slacks()) {
      const [a, b] = this.toPixels(state.view, from), [c, d] = this.toPixels(state.view, to);
      path += `M${a.toFixed(1)} ${b.toFixed(1)}L${c.toFixed(1)} ${d.toFixed(1)}`;
    }
    this.slack.setAttribute('d', path);
  }

  /** @param {View} view */
  #drawAxes(view) {
    const { size } = this, key = `${view.x},${view.y},${view.half},${size}`;
    if (this.seen.axes === key) return;
    this.seen.axes = key;
    this.axes.replaceChildren();
    const rough = 2 * view.half / (size < 420 ? 5 : 6), power = 10 ** Math.floor(Math.log10(rough));
    const step = ([1, 2, 5, 10].find((s) => s * power >= rough) ?? 10) * power;
    let thin = '', thick = '';
    for (const side of [0, 1]) {
      const middle = side ? view.y : view.x;
      for (let k = Math.ceil((middle - view.half) / step); k * step <= middle + view.half; k++) {
        const value = k * step, [px, py] = this.toPixels(view, { x: value, y: value });
        const line = side ? `M0 ${Math.round(py)}H${size}` : `M${Math.round(px)} 0V${size}`;
        if (k === 0) thick += line; else thin += line;
        if ((side ? py : px) < 24 || (side ? py : px) > size - 20) continue;
        const text = svg('text', side ? { class: 'tick', x: 7, y: py - 4 } : { class: 'tick', x: px + 4, y: size - 7 }, this.axes);
        text.textContent = short(value);
      }
    }
    svg('path', { class: 'grid', d: thin }, this.axes);
    svg('path', { class: 'axis', d: thick }, this.axes);
  }

  /** @param {Scene} scene */
  #drawPoints({ state, machine, picked, stepping }) {
    const { points, view } = state, { marks, seen, size } = this, plain = isRegression(state) || state.machine === 'oneclass';
    const numbered = stepping && points.length <= MOST_NUMBERED;
    this.picture.setAttribute('tabindex', points.length ? '-1' : '0'); // the first point is added by keyboard too
    while (marks.length > points.length) marks.pop()?.remove();
    seen.points.length = Math.min(seen.points.length, points.length);
    while (marks.length < points.length) {
      const mark = /** @type {SVGGElement} */ (svg('g', { class: 'point', role: 'button', tabindex: -1 }, this.points));
      svg('path', {}, mark); svg('path', { class: 'ring' }, mark);
      marks.push(mark);
    }
    const betas = points.map((_, k) => Math.abs(machine.betaOf(k))), largest = betas.reduce((most, b) => Math.max(most, b), 1e-300);
    const small = (size < 420 ? 0.85 : 1) * (points.length > 600 ? 0.45 : points.length > 120 ? 0.7 : 1), limit = machine.bound;
    this.points.classList.toggle('many', points.length > 120);
    this.points.classList.toggle('crowd', points.length > 30);
    points.forEach((p, k) => {
      const weight = betas[k], bound = limit > 0 && weight >= limit, label = plain ? 1 : p.label;
      const r = Math.round(4 * small * (weight > 0 ? 5.5 + 4.5 * Math.sqrt(weight / largest) : 4.5)) / 4;
      const [x, y] = this.toPixels(view, p);
      const key = `${x.toFixed(1)} ${y.toFixed(1)} ${label} ${r} ${bound} ${weight > 0} ${k === Math.max(picked, 0)} ${numbered}`;
      if (seen.points[k] === key) return;
      seen.points[k] = key;
      const [body, ring, number] = marks[k].children;
      marks[k].setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      marks[k].setAttribute('tabindex', k === Math.max(picked, 0) ? '0' : '-1');
      body.setAttribute('d', shape(label, bound ? r * 0.75 : r));
      body.setAttribute('class', `mark ${tint(label)}${weight > 0 ? '' : ' mute'}`);
      ring.setAttribute('d', bound ? shape(label, r + 1.5) : '');
      if (numbered) (number ?? svg('text', { x: 9, y: -8 }, marks[k])).textContent = String(k + 1); else number?.remove();
    });
  }

  /** Names of the points for screen readers: written at rest only. @param {Scene} scene */
  #namePoints({ state, machine, stepping }) {
    state.points.forEach((p, k) => {
      const name = pointName(p, machine.kind(k), machine.betaOf(k), state.machine, stepping ? k + 1 : 0);
      if (this.marks[k].getAttribute('aria-label') !== name) this.marks[k].setAttribute('aria-label', name);
    });
  }

  /** @param {number} index */
  focus(index) { this.marks[index]?.focus(); }

  /** The point at hand, and what is known of it, in the corner: beside it, it would cover its neighbours. @param {Scene} scene */
  #drawHalo({ state, machine, hover, picked, stepping }) {
    const shown = hover >= 0 ? hover : picked, at = state.points[shown], readout = this.part('readout');
    this.halo.style.display = at ? '' : 'none';
    readout.hidden = !at || !machine.alive || !machine.parts.length;
    if (!at) return;
    const [x, y] = this.toPixels(state.view, at);
    this.halo.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    if (readout.hidden) return;
    const side = machine.sideOf(shown), beta = machine.betaOf(shown), near = Math.abs(side) < 5e-4 ? 0 : side;
    readout.textContent = (stepping ? `${shown + 1}:   ` : '') + (isRegression(state) ? `β = ${short(beta)}   t − f = ${short(near)}`
      : `α = ${short(Math.abs(beta))}   ${state.machine === 'oneclass' ? 'f' : 'y f'} = ${short(near)}`);
  }

  /** Rings around the points that a step changes. @param {Scene} scene */
  #drawActing({ state, acting }) {
    const shown = acting.slice(0, 60).filter((k) => state.points[k]);
    while (this.acting.children.length > shown.length) this.acting.lastChild?.remove();
    while (this.acting.children.length < shown.length) svg('circle', { r: 13 }, this.acting);
    shown.forEach((k, a) => {
      const [x, y] = this.toPixels(state.view, state.points[k]);
      this.acting.children[a].setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    });
  }

  /** @param {Scene} scene */
  #drawHint({ state, machine, hint }) {
    const shown = hint && machine.alive;
    this.hint.style.display = shown ? '' : 'none';
    if (!shown) return;
    const [x, y] = this.toPixels(state.view, state.points[this.#hinted(state, machine)]), { size } = this;
    this.hint.setAttribute('transform', `translate(${x} ${y})`);
    const others = state.points.map((p) => this.toPixels(state.view, p));
    const crowd = (/** @type {number[]} */ [a, b]) => others.filter(([px, py]) => Math.abs(px - x - a) < 42 && Math.abs(py - y - b) < 16).length
      + (x + a < 42 || x + a > size - 42 || y + b < 16 || y + b > size - 16 ? 100 : 0);
    const [a, b] = [[56, 0], [0, -32], [0, 32], [-56, 0], [50, 26], [50, -26], [-50, 26], [-50, -26]].reduce((best, next) => (crowd(next) < crowd(best) ? next : best));
    this.hintText.setAttribute('x', String(a)); this.hintText.setAttribute('y', String(b));
  }

  /** The point that invites to be dragged: one that matters, with room around it. @param {State} state @param {Machine} machine */
  #hinted({ points, view }, machine) {
    let best = 0, room = 0;
    points.forEach((p, k) => {
      if (machine.betaOf(k) === 0 || Math.abs(p.x - view.x) > 0.7 * view.half || Math.abs(p.y - view.y) > 0.8 * view.half) return;
      const near = points.reduce((least, q, j) => (j === k ? least : Math.min(least, Math.hypot(p.x - q.x, p.y - q.y))), Infinity);
      if (near > room) { room = near; best = k; }
    });
    return best;
  }
}
