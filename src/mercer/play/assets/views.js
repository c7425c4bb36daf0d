// What stands beside the plane: the Gram matrix and the feature space.
import { colourOf, shape, tint } from './draw.js';
import { camera, featuresOf } from './features.js';
import { isRegression } from './kernel.js';
import { TEXTS, gramNote, pcaNote } from './texts.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./solve.js').Machine} Machine */
/** @typedef {import('./draw.js').Part} Part */

const SHADES = 256;
const WIDE = 224; // pixels of the Gram matrix, as in page.css: to ask for it would lay out the page in every frame

/** The order of the Gram matrix: class by class. @param {State} state */
export const gramOrder = (state) => [...state.points.keys()].sort((a, b) => isRegression(state) ? state.points[a].x - state.points[b].x || a - b
  : rank(state.points[a].label) - rank(state.points[b].label) || a - b);
/** @param {number} label */
const rank = (label) => [1, -1, 2].indexOf(label);

export class GramView {
  /** @param {Element} root @param {Part} part */
  constructor(root, part) {
    this.root = root;
    this.part = part;
    this.canvas = part('gram-field');
    this.pen = this.canvas.getContext('2d');
    this.shades = new Uint32Array(2 * SHADES + 1);
  }

  /** From the most negative value to the most positive. */
  readColours() {
    const [low, zero, high] = ['--gram-minus', '--zero', '--gram-plus'].map((name) => colourOf(this.root, name));
    for (let s = -SHADES; s <= SHADES; s++) {
      const end = s < 0 ? low : high, [r, g, b] = zero.map((value, c) => Math.round(value + Math.abs(s) / SHADES * (end[c] - value)));
      this.shades[s + SHADES] = 0xff000000 | b << 16 | g << 8 | r;
    }
  }

  /** @param {State} state @param {Machine} machine @param {number} hover @param {boolean} repaint */
  draw(state, machine, hover, repaint) {
    const n = state.points.length, order = gramOrder(state), known = machine.K.length === n && n > 0;
    this.part('gram').hidden = !known;
    if (repaint && known) this.#paint(machine.K, order);
    const row = known ? order.indexOf(hover) : -1, width = 100 / n;
    const [across, down] = [this.part('gram-across'), this.part('gram-down')];
    across.hidden = down.hidden = row < 0;
    const note = known ? gramNote(state.points[hover]) : n > 1 && state.kernel !== 'text' ? TEXTS.gramAway : '';
    if (this.part('gram-note').textContent !== note) this.part('gram-note').textContent = note;
    if (row < 0) return;
    across.style.top = down.style.left = `${row * width}%`;
    across.style.height = down.style.width = `max(${width}%, 4px)`;
  }

  /** @param {Float64Array[]} K @param {number[]} order */
  #paint(K, order) {
    const n = order.length, { shades } = this;
    if (this.canvas.width !== n) this.canvas.width = this.canvas.height = n;
    this.canvas.classList.toggle('fine', n > WIDE);
    const picture = this.pen.createImageData(n, n), pixels = new Uint32Array(picture.data.buffer);
    let most = 1e-300;
    for (let i = 0; i < n; i++) for (let j = 0, row = K[i]; j < n; j++) if (Math.abs(row[j]) > most) most = Math.abs(row[j]);
    for (let i = 0, at = 0; i < n; i++) for (let j = 0, row = K[order[i]]; j < n; j++) pixels[at++] = shades[(SHADES + 0.5 + SHADES * row[order[j]] / most) | 0];
    this.pen.putImageData(picture, 0, 0);
  }
}

export class FeatureView {
  /** @param {Element} root @param {Part} part */
  constructor(root, part) {
    this.root = root;
    this.part = part;
    this.canvas = part('space');
    this.pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    /** @type {import('./features.js').Features | null} */ this.features = null;
  }

  /** `fresh`: the points or the kernel may have changed. @param {State} state @param {Machine} machine @param {number} hover @param {boolean} fresh */
  draw(state, machine, hover, fresh) {
    if (machine.K.length !== state.points.length) { this.features = null; this.canvas.hidden = true; return; }
    if (fresh || !this.features) this.features = featuresOf(state, machine.K);
    const { kind, coordinates, share } = this.features, turn = Number(this.part('turn').value);
    this.canvas.hidden = coordinates.length === 0;
    this.part('turn-row').hidden = coordinates[0]?.length !== 3;
    const note = { plane: TEXTS.featurePlane, space: TEXTS.featureSpace, curve: TEXTS.featureSpaceCurve, pca: pcaNote(share) }[kind];
    this.part('features-note').textContent = note;
    this.canvas.setAttribute('aria-label', note);
    if (coordinates.length) this.#paint(state, machine, coordinates, turn, hover);
  }

  /** @param {State} state @param {Machine} machine @param {number[][]} coordinates @param {number} turn @param {number} hover */
  #paint(state, machine, coordinates, turn, hover) {
    const { canvas, pen } = this, wide = canvas.clientWidth || 260, scale = devicePixelRatio || 1, style = getComputedStyle(this.root);
    if (canvas.width !== Math.round(wide * scale)) canvas.width = canvas.height = Math.round(wide * scale);
    pen.setTransform(scale * wide / 2, 0, 0, -scale * wide / 2, scale * wide / 2, scale * wide / 2);
    pen.clearRect(-1, -1, 2, 2);
    const { place, centre, size } = camera(coordinates, turn), ink = style.getPropertyValue('--ink');
    pen.lineWidth = 2 / wide;
    this.#axes(place, centre, size, coordinates[0].length, ink);
    if (!isRegression(state)) this.#plane(machine, coordinates, place, centre, size, ink);
    const plain = state.machine === 'oneclass' || isRegression(state);
    const order = coordinates.map((c, k) => ({ k, at: place(c) })).sort((a, b) => b.at[2] - a.at[2]);
    for (const { k, at: [x, y] } of order) {
      const label = plain ? 1 : state.points[k].label, weight = machine.kind(k) !== 'none', r = (weight ? 5.5 : 3.5) * 2 / wide;
      pen.save();
      pen.translate(x, y);
      pen.scale(r, -r);
      pen.fillStyle = style.getPropertyValue(`--${tint(label)}`);
      pen.globalAlpha = weight ? 1 : 0.65;
      pen.fill(new Path2D(shape(label, 1)));
      pen.lineWidth = (k === hover ? 3 : 1) / (r * wide / 2);
      pen.strokeStyle = style.getPropertyValue(k === hover ? '--ink' : '--halo');
      pen.globalAlpha = 1;
      pen.stroke(new Path2D(shape(label, k === hover ? 1.6 : 1)));
      pen.restore();
    }
  }

  /** @param {(c: readonly number[]) => number[]} place @param {number[]} centre @param {number} size @param {number} width @param {string} ink */
  #axes(place, centre, size, width, ink) {
    this.pen.strokeStyle = ink;
    this.pen.globalAlpha = 0.25;
    for (let a = 0; a < width; a++) {
      const [from, to] = [-1, 1].map((end) => place(centre.map((c, k) => (k === a ? c + end * size : width === 3 ? c - size : c))));
      this.pen.beginPath(); this.pen.moveTo(from[0], from[1]); this.pen.lineTo(to[0], to[1]); this.pen.stroke();
    }
    this.pen.globalAlpha = 1;
  }

  /** w phi + b = 0 as a line, or as a plane cut out of the cube around the points. @param {Machine} machine @param {number[][]} coordinates
   * @param {(c: readonly number[]) => number[]} place @param {number[]} centre @param {number} size @param {string} ink */
  #plane(machine, coordinates, place, centre, size, ink) {
    if (this.features?.kind === 'pca') return;
    for (const { rows, beta, bias } of machine.parts) {
      const w = centre.map((_, a) => rows.reduce((total, row, at) => total + beta[at] * coordinates[row][a], 0));
      const level = (/** @type {number[]} */ c) => c.reduce((total, value, a) => total + w[a] * value, bias);
      const corners = cutCube(centre, size, level).map(place);
      if (corners.length < 2) continue;
      this.pen.beginPath();
      corners.forEach(([x, y], k) => { if (k) this.pen.lineTo(x, y); else this.pen.moveTo(x, y); });
      if (centre.length === 3) { this.pen.closePath(); this.pen.fillStyle = ink; this.pen.globalAlpha = 0.1; this.pen.fill(); this.pen.globalAlpha = 1; }
      this.pen.strokeStyle = ink;
      this.pen.lineWidth = 4 / (this.canvas.clientWidth || 260);
      this.pen.stroke();
    }
  }
}

/** Where level = 0 cuts the edges of a square or a cube, in order around the middle. @param {number[]} centre @param {number} half
 * @param {(c: number[]) => number} level */
function cutCube(centre, half, level) {
  const width = centre.length, corners = Array.from({ length: 2 ** width }, (_, m) => centre.map((c, a) => c + ((m >> a) & 1 ? half : -half)));
  /** @type {number[][]} */ const cuts = [];
  corners.forEach((from, m) => {
    for (let a = 0; a < width; a++) {
      if ((m >> a) & 1) continue;
      const to = corners[m | 1 << a], [f, g] = [level(from), level(to)];
      if ((f > 0) !== (g > 0)) cuts.push(from.map((value, k) => value + f / (f - g) * (to[k] - value)));
    }
  });
  if (width < 3 || cuts.length < 3) return cuts;
  const middle = centre.map((_, a) => cuts.reduce((total, c) => total + c[a], 0) / cuts.length);
  const minus = (/** @type {number[]} */ p, /** @type {number[]} */ q) => p.map((value, a) => value - q[a]);
  const product = (/** @type {number[]} */ p, /** @type {number[]} */ q) => p.reduce((total, value, a) => total + value * q[a], 0);
  const u = minus(cuts[0], middle), normal = centre.map((c, a) => level(centre.map((v, k) => (k === a ? v + 1 : v))) - level(centre));
  const v = [normal[1] * u[2] - normal[2] * u[1], normal[2] * u[0] - normal[0] * u[2], normal[0] * u[1] - normal[1] * u[0]];
  const [nu, nv] = [Math.sqrt(product(u, u)) || 1, Math.sqrt(product(v, v)) || 1];
  return cuts.map((c) => ({ c, angle: Math.atan2(product(minus(c, middle), v) / nv, product(minus(c, middle), u) / nu) })).sort((a, b) => a.angle - b.angle).map(({ c }) => c);
}
