// What comes in and goes out: tables, links, pictures, code, the worked solution.
import { fromCsv, toCsv } from './csv.js';
import { CELLS } from './draw.js';
import { download, toPng, toPython, toShell, toSvg } from './share.js';
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

/** The exact solution, shown only as long as it is that of the points and settings at hand. */
export class WorkedView {
  /** @param {Page} page @param {((state: S.State) => Promise<Worked>) | null} solve @param {{key: string, worked: Worked} | null} given */
  constructor(page, solve, given) {
    this.page = page;
    this.solve = solve;
    this.given = given;
    /** @type {{key: string, worked: Worked} | null} */ this.shown = null;
    this.open = false;
    page.part('worked-toggle').addEventListener('click', () => (this.open ? this.hide() : this.show()));
    page.part('worked-close').addEventListener('click', () => this.hide());
    page.part('worked-latex').addEventListener('click', () => { if (this.shown) showCode(page, TEXTS.latex, this.shown.worked.latex); });
  }

  hide() { this.open = false; this.shown = null; this.page.wake(); }

  async show() {
    const { page } = this, { state } = page, key = workedKey(state);
    this.open = true;
    if (this.given?.key === key) this.#put(this.given);
    else if (this.solve) {
      page.part('worked-note').textContent = TEXTS.workedBusy;
      page.part('worked-note').hidden = false;
      try {
        const worked = await this.solve(state);
        if (this.open && workedKey(page.state) === key) this.#put({ key, worked });
      } catch (error) {
        this.open = false;
        page.part('worked-note').textContent = `${TEXTS.workedFailed} ${error instanceof Error ? error.message : ''}`;
        page.wake();
        return;
      }
    }
    page.part('worked-note').hidden = true;
    page.wake();
    requestAnimationFrame(() => page.part('worked').scrollIntoView({ block: 'nearest' }));
  }

  /** @param {{key: string, worked: Worked}} what */
  #put(what) {
    this.shown = what;
    const frame = this.page.part('worked-frame');
    if (what.worked.url) frame.src = what.worked.url; else frame.srcdoc = what.worked.html ?? '';
  }

  /** @param {S.State} state */
  draw(state) {
    const { part } = this.page, key = workedKey(state), few = state.points.length > 0 && state.points.length <= MOST_BY_HAND;
    const byHand = few && state.machine !== 'oneclass' && state.machine !== 'svr' && (state.kernel === 'linear' || state.kernel === 'poly');
    const possible = byHand && (this.solve !== null || this.given?.key === key);
    if (this.open && (!this.shown || this.shown.key !== key) && part('worked-note').hidden) { this.open = false; this.shown = null; }
    part('worked-toggle').hidden = !possible;
    part('worked-toggle').textContent = this.open ? TEXTS.hideWorked : TEXTS.showWorked;
    part('worked').hidden = !this.open || !this.shown || this.shown.key !== key;
    if (!this.open && !possible) part('worked-note').hidden = true;
  }
}
