// Questions to the server that this page came from. Its address, token included, is the page's own.

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./solve.js').Answer} Answer */
import { toPlain } from './state.js';

/** @param {string} text base64 of float64 numbers */
export function numbers(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

/** A reply as the page takes it. @param {any} reply @returns {Answer} */
export function readAnswer(reply) {
  const K = reply.K ? numbers(reply.K) : new Float64Array(0), n = Math.round(Math.sqrt(K.length));
  return {
    parts: reply.parts.map((/** @type {any} */ part) => ({ classes: part.classes, rows: part.rows, beta: numbers(part.beta), F: numbers(part.F), bias: part.bias })),
    fields: reply.fields.map(numbers), K: Array.from({ length: n }, (_, i) => K.slice(i * n, (i + 1) * n)),
    primal: reply.primal ?? Infinity, dual: reply.dual ?? -Infinity, relative: reply.relative ?? 1, mistakes: reply.mistakes ?? 0, passes: reply.passes ?? 0, open: false,
  };
}

/** @returns {import('./page.js').Python} */
export function askPython() {
  /** @param {string} what @param {State} state */
  const ask = async (what, state) => {
    const reply = await fetch(what, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(toPlain(state)) });
    const answer = await reply.json();
    if (answer.error) throw new Error(String(answer.error));
    return answer;
  };
  return { fit: async (state) => readAnswer(await ask('fit', state)), worked: async (state) => ask('worked', state) };
}
