// Lines of equal value on a square grid: marching squares, the pieces chained into long lines so that dashes run on.

const TAKEN = -2; // an edge that is in a chain already

export class Contours {
  /** @param {number} side values on a side; the outermost ring lies outside the picture */
  constructor(side) {
    this.side = side;
    this.first = new Int32Array(2 * side * side); // edge 2c runs right from corner c, edge 2c + 1 runs down from it
    this.second = new Int32Array(2 * side * side);
  }

  /** @param {Float64Array} values @param {number} level @param {number} scale pixels per cell
   * @param {Float64Array | null} [inside] where this is below 0, the line is not drawn @returns {string} the path */
  trace(values, level, scale, inside = null) {
    const { side } = this;
    const place = (/** @type {number} */ edge) => {
      const c = edge >> 1, down = edge & 1, to = c + (down ? side : 1), part = (level - values[c]) / (values[to] - values[c]);
      const x = c % side - 0.5 + (down ? 0 : part), y = Math.floor(c / side) - 0.5 + (down ? part : 0);
      return { x: x * scale, y: y * scale, shown: inside ? inside[c] + part * (inside[to] - inside[c]) : 1 };
    };
    return this.#chains(values, level).map((edges) => drawn(edges.map(place))).join('');
  }

  /** The line as edges that it crosses one after the other; a closed one ends where it began. @param {Float64Array} values @param {number} level */
  #chains(values, level) {
    const { first, second } = this, crossed = this.#cross(values, level);
    /** @type {number[][]} */ const chains = [];
    const follow = (/** @type {number} */ start) => {
      const edges = [start];
      for (let last = -1, at = start; ;) {
        const next = first[at] !== last && first[at] >= 0 ? first[at] : second[at];
        first[at] = second[at] = TAKEN;
        if (next < 0 || next === last) break;
        edges.push(next);
        if (first[next] === TAKEN) break;
        last = at; at = next;
      }
      chains.push(edges);
    };
    for (const edge of crossed) if (first[edge] >= 0 && second[edge] === -1) follow(edge);
    for (const edge of crossed) if (first[edge] >= 0) follow(edge);
    return chains;
  }

  /** Which edges the line crosses, each linked to its two neighbours. @param {Float64Array} values @param {number} level */
  #cross(values, level) {
    const { side, first, second } = this;
    /** @type {number[]} */ const crossed = [];
    first.fill(-1); second.fill(-1);
    const join = (/** @type {number} */ a, /** @type {number} */ b) => {
      if (first[a] < 0) { first[a] = b; crossed.push(a); } else second[a] = b;
      if (first[b] < 0) { first[b] = a; crossed.push(b); } else second[b] = a;
    };
    for (let j = 0; j < side - 1; j++) {
      for (let i = 0; i < side - 1; i++) {
        const c = j * side + i;
        const a = values[c] > level, b = values[c + 1] > level, d = values[c + side] > level, e = values[c + side + 1] > level;
        if (a === b && b === d && d === e) continue;
        const top = 2 * c, left = 2 * c + 1, right = 2 * (c + 1) + 1, bottom = 2 * (c + side);
        if (a !== b && d !== e && a !== d && b !== e) { // a saddle: its middle says how the four meet
          const middle = (values[c] + values[c + 1] + values[c + side] + values[c + side + 1]) / 4 > level;
          if (middle === a) { join(top, right); join(left, bottom); } else { join(top, left); join(right, bottom); }
          continue;
        }
        const cuts = [a !== b ? top : -1, a !== d ? left : -1, b !== e ? right : -1, d !== e ? bottom : -1].filter((cut) => cut >= 0);
        join(cuts[0], cuts[1]);
      }
    }
    return crossed;
  }
}

/** @typedef {{x: number, y: number, shown: number}} Place */

/** A path through places, cut where `shown` changes its sign. @param {Place[]} places */
function drawn(places) {
  const last = places.length - 1, closed = last > 1 && places[0].x === places[last].x && places[0].y === places[last].y;
  if (closed && places.every(({ shown }) => shown >= 0)) return `M${places.slice(0, last).map(written).join('L')}Z`;
  let path = '';
  for (let k = 0, down = false; k < last; k++) {
    const [from, to] = [places[k], places[k + 1]];
    if (from.shown < 0 && to.shown < 0) { down = false; continue; }
    if (!down) path += 'M' + written(from.shown < 0 ? cut(from, to) : from);
    path += 'L' + written(to.shown < 0 ? cut(from, to) : to);
    down = to.shown >= 0;
  }
  return path;
}

/** @param {{x: number, y: number}} place */
const written = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** Where `shown` is 0 between two places. @param {Place} from @param {Place} to */
function cut(from, to) {
  const part = from.shown / (from.shown - to.shown);
  return { x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) };
}
