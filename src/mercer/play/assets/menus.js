// What comes in and goes out: tables, links, pictures, code, the worked solution.
import { fromCsv, toCsv } from './csv.js';
import { download, toPng, toPython, toShell, toSvg } from './share.js';
import { CELLS, classesOf } from './solve.js';
import * as S from './state.js';
import { TEXTS, tableNote } from './texts.js';

/** @typedef {import('./page.js').Page} Page */
/** @typedef {{html?: string, url?: string, latex: string}} Worked  a document of its own, and the same for paper */

const LARGEST_FILE = 4_000_000; // bytes
export const MOST_BY_HAND = 6;  // points

/** @param {Page} page */
export function listenToMenus(page) {
  const { part, root } = page;
  const on = (/** @type {string} */ name, /** @type {(event: Event) => unknown} */ act) => part(name).addEventListener('click', act);
  const close = () => { for (const menu of root.querySelectorAll('details.menu')) /** @type {HTMLDetailsElement} */ (menu).open = false; };
  const file = (/** @type {string} */ text, /** @type {string} */ name, /** @type {string} */ type) => { close(); download(new Blob([text], { type }), name); };
  const picture = () => toSvg(page.plane.picture, part('field'), page.plane.size, CELLS, getComputedStyle(root).getPropertyValue('--zero').trim());
  root.addEventListener('click', (event) => { // a click elsewhere closes a menu
    for (const menu of root.querySelectorAll('details.menu[open]')) if (!menu.contains(/** @type {Node} */ (event.target))) /** @type {HTMLDetailsElement} */ (menu).open = false;
  });
  root.addEventListener('keydown', (event) => {
    const open = /** @type {HTMLDetailsElement | null} */ (root.querySelector('details.menu[open]'));
    if (/** @type {KeyboardEvent} */ (event).key === 'Escape' && open) { open.open = false; open.querySelector('summary')?.focus(); }
  });
  on('link', async () => { close(); page.notice(await page.copyLink() ? TEXTS.linkCopied : TEXTS.linkHere); });
  on('csv', () => file(toCsv(page.state.points), 'points.csv', 'text/csv'));
  on('svg', () => file(picture(), 'mercer.svg', 'image/svg+xml'));
  on('png', async () => { close(); const blob = await toPng(picture(), page.plane.size); if (blob) download(blob, 'mercer.png'); });
  on('python', () => { close(); showCode(page, TEXTS.python, toPython(page.state)); });
  on('shell', () => { close(); showCode(page, TEXTS.shell, toShell(page.state)); });
  on('code-close', () => part('code').close());
  on('code-copy', async () => {
    await navigator.clipboard?.writeText(part('code-text').textContent).catch(() => {});
    part('code-copy').textContent = TEXTS.copied;
    setTimeout(() => { part('code-copy').textContent = TEXTS.copy; }, 1500);
  });
  on('use-rows', () => { readTable(page, part('paste').value); close(); });
  on('clear', () => { page.change(S.cleared(page.state)); page.pick(-1); close(); });
  part('file').addEventListener('change', async () => {
    const [chosen] = part('file').files ?? [];
    if (chosen) readTable(page, await chosen.slice(0, LARGEST_FILE).text());
    part('file').value = '';
    close();
  });
}

/** @param {Page} page @param {string} text */
function readTable(page, text) {
  const table = fromCsv(text);
  page.notice(tableNote(table));
  if (!table.points.length) return;
  page.change(S.replaced(page.state, table.points));
  page.pick(-1);
}

/** @param {Page} page @param {string} title @param {string} text */
export function showCode({ part }, title, text) {
  part('code-title').textContent = title;
  part('code-text').textContent = text;
  part('code').showModal();
}

/** Points, machine, kernel and C: what a worked solution is of. @param {S.State} state */
export const workedKey = ({ points, machine, kernel, C, gamma, degree, coef0, lambda }) => JSON.stringify([points.map((p) => [p.x, p.y, p.label]), machine, kernel, C, gamma, degree, coef0, lambda]);

/** Whether these few points can be solved by hand: two classes or ridge, and a kernel of whole powers.
 * @param {S.State} state */
function isByHand({ points, machine, kernel }) {
  const learns = machine === 'ridge' || (machine === 'svc' || machine === 'perceptron') && classesOf(points).length === 2;
  return points.length > 0 && points.length <= MOST_BY_HAND && learns && (kernel === 'linear' || kernel === 'poly');
}

/** The exact solution, shown only as long as it is that of the points and settings at hand. */
export class WorkedView {
  /** @type {'closed' | 'busy' | 'open' | 'failed'} */ status = 'closed';
  /** of the state that it is about */ key = '';
  /** @type {Worked | null} */ worked = null;
  trouble = '';

  /** @param {Page} page @param {((state: S.State) => Promise<Worked>) | null} solve @param {{key: string, worked: Worked} | null} given */
  constructor(page, solve, given) {
    this.page = page;
    this.solve = solve;
    this.given = given;
    page.part('worked-toggle').addEventListener('click', () => { if (this.status === 'open') { this.status = 'closed'; page.wake(); } else this.show(); });
    page.part('worked-latex').addEventListener('click', () => showCode(page, TEXTS.latex, this.worked?.latex ?? ''));
  }

  async show() {
    const { page, given, solve } = this, { state } = page, key = this.key = workedKey(state);
    this.status = 'busy';
    page.wake();
    try {
      const worked = given?.key === key ? given.worked : await solve?.(state);
      if (this.status !== 'busy' || this.key !== key || !worked) return;
      this.worked = worked;
      this.status = 'open';
      const frame = page.part('worked-frame');
      if (worked.url) frame.src = worked.url; else frame.srcdoc = worked.html ?? '';
    } catch (error) {
      if (this.key !== key) return;
      this.status = 'failed';
      this.trouble = error instanceof Error ? error.message : '';
    }
    page.wake();
    requestAnimationFrame(() => page.part('worked').scrollIntoView({ block: 'nearest' })); // after the frame that shows it
  }

  /** @param {S.State} state */
  draw(state) {
    const { part, root } = this.page, key = workedKey(state), byHand = isByHand(state), possible = byHand && (this.solve !== null || this.given?.key === key);
    if (this.key !== key) this.status = 'closed';
    const { status } = this;
    part('worked-toggle').hidden = !possible;
    part('worked-toggle').textContent = status === 'open' ? TEXTS.hideWorked : TEXTS.showWorked;
    part('worked-toggle').setAttribute('aria-expanded', String(status === 'open'));
    part('worked').hidden = status !== 'open';
    root.classList.toggle('with-worked', status === 'open');
    const note = status === 'busy' ? TEXTS.workedBusy : status === 'failed' ? `${TEXTS.workedFailed} ${this.trouble}` : byHand && !possible ? TEXTS.workedAlone : '';
    part('worked-note').hidden = !note;
    part('worked-note').textContent = note;
  }
}
