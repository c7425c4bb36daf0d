// Lines of equal value on a square grid: marching squares, the pieces chained into long lines so that dashes run on.

export class Contours {
  /** @param {number} side values on a side; the outermost ring lies outside the picture */
  constructor(side) {
    this.side = side;
    this.first = new Int32Array(2 * side * side); // edge 2c runs right from corner c, edge 2c + 1 runs down from it
    this.second = new Int32Array(2 * side * side);
  }

  /** @param {Float64Array} values @param {number} level @param {number} scale pixels per cell
   * @param {((corner: number) => boolean) | null} [shown] cells that count, by their first corner @returns {string} the path */
  trace(values, level, scale, shown = null) {
    const { side, first, second } = this, crossed = this.#cross(values, level, shown);
    const where = (/** @type {number} */ edge) => {
      const c = edge >> 1, down = edge & 1, to = c + (down ? side : 1), part = (level - values[c]) / (values[to] - values[c]);
      const x = c % side - 0.5 + (down ? 0 : part), y = Math.floor(c / side) - 0.5 + (down ? part : 0);
      return `${(x * scale).toFixed(1)} ${(y * scale).toFixed(1)}`;
    };
    let path = '';
    const follow = (/** @type {number} */ start) => {
      path += 'M' + where(start);
      for (let last = -1, at = start; ;) {
        const next = first[at] !== last && first[at] >= 0 ? first[at] : second[at];
        first[at] = second[at] = -2; // taken
        if (next < 0 || next === last) break;
        path += next === start ? 'Z' : 'L' + where(next);
        if (next === start || first[next] === -2) break;
        last = at; at = next;
      }
    };
    for (const edge of crossed) if (first[edge] >= 0 && second[edge] === -1) follow(edge);
    for (const edge of crossed) if (first[edge] >= 0) follow(edge);
    return path;
  }

  /** Which edges the line crosses, each linked to its two neighbours. @param {Float64Array} values @param {number} level
   * @param {((corner: number) => boolean) | null} shown */
  #cross(values, level, shown) {
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
        if ((a === b && b === d && d === e) || (shown && !shown(c))) continue;
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
