// Tables: two numbers and a label in each row, in and out. What comes in is untrusted text.
import { FARTHEST, MOST_POINTS, point } from './state.js';

/** @typedef {import('./state.js').Point} Point */
/** @typedef {{points: Point[], skipped: number, strange: number, left: number}} Table
 *   rows that were no points; rows of a fourth class and more; rows beyond the most there may be */

export const LONGEST = 2_000_000; // characters

/** Two numbers at the start of each row, and a third cell as its label. Labels are the first three words that there are,
 * or their signs where they are numbers. @param {string} text @returns {Table} */
export function fromCsv(text) {
  const rows = text.slice(0, LONGEST).split(/\r\n|\n|\r/).filter((line) => line.trim() !== '')
    .map((line) => line.split(/[,;\t]|\s+/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1')).filter((cell) => cell !== ''));
  const good = rows.filter((cells) => cells.length >= 2 && isNumber(cells[0]) && isNumber(cells[1]));
  const names = [...new Set(good.map(nameOf))], known = good.filter((cells) => labelled(nameOf(cells), names) !== 0);
  const kept = known.slice(0, MOST_POINTS);
  const points = kept.map((cells) => point(Number(cells[0]), Number(cells[1]), labelled(nameOf(cells), names)));
  const title = rows[0] && !good.includes(rows[0]) ? 1 : 0;
  return { points, skipped: rows.length - good.length - title, strange: good.length - known.length, left: known.length - kept.length };
}

/** @param {string} cell */
const isNumber = (cell) => /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(cell) && Math.abs(Number(cell)) <= FARTHEST;

/** @param {string[]} cells */
const nameOf = (cells) => cells[2] ?? '1';

/** The class of a name, or 0 where there are three others before it. @param {string} name @param {string[]} names */
function labelled(name, names) {
  const known = names.every((n) => ['1', '+1', '-1', '2', '+', '-'].includes(n));
  if (known) return name === '2' ? 2 : name.startsWith('-') ? -1 : 1;
  if (names.every((n) => n === '0' || n === '1')) return name === '1' ? 1 : -1;
  return [1, -1, 2][names.indexOf(name)] ?? 0;
}

/** @param {readonly Point[]} points */
export const toCsv = (points) => ['x1,x2,label', ...points.map((p) => `${p.x},${p.y},${p.label}`)].join('\n') + '\n';
