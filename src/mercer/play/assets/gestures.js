// Pointer and keyboard on the plot. Each thing the mouse does has a key or a button, and ends in the same state.
import * as S from './state.js';

/** @typedef {import('./page.js').Page} Page */

const ARROWS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] });
const REACH = { finger: 26, mouse: 14 }; // pixels

/** The class that Shift and a click add. @param {number} label */
const other = (label) => (label === 1 ? -1 : 1);

/** @param {Page} page */
export function listenToPointer(page) {
  const { plane } = page, { picture } = plane;
  /** @type {{index: number, x: number, y: number, moved: boolean, dx: number, dy: number} | null} */ let held = null;
  /** @type {number[] | null} */ let tapped = null;

  /** @param {PointerEvent} event */
  const place = (event) => { const box = picture.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  /** The nearest point within reach, wider for a finger. @param {PointerEvent} event */
  const nearest = (event) => {
    const [px, py] = place(event);
    let best = -1, reach = event.pointerType === 'touch' ? REACH.finger : REACH.mouse;
    page.state.points.forEach((p, k) => {
      const [x, y] = plane.toPixels(page.state.view, p), away = Math.hypot(x - px, y - py);
      if (away < reach) { reach = away; best = k; }
    });
    return best;
  };
  /** @param {number} px @param {number} py @param {PointerEvent} event */
  const add = (px, py, event) => {
    const [x, y] = plane.toData(page.state.view, px, py);
    page.show(S.added(page.state, x, y, event.shiftKey ? other(page.adds) : page.adds), event);
    page.pick(page.state.points.length - 1);
  };
  /** @param {number} index @param {number} px @param {number} py @param {PointerEvent} event */
  const hold = (index, px, py, event) => {
    const [x, y] = plane.toPixels(page.state.view, page.state.points[index]);
    held = { index, x: px, y: py, moved: false, dx: x - px, dy: y - py };
    page.held = true;
    page.pick(index);
    picture.setPointerCapture(event.pointerId);
    picture.classList.add('held');
  };

  picture.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const index = nearest(event), [px, py] = place(event);
    if (index >= 0 && event.altKey) { page.change(S.deleted(page.state, index), event); page.pick(-1); return; }
    if (index >= 0 && event.shiftKey) { page.change(S.relabelled(page.state, index), event); return; }
    if (index < 0 && event.pointerType === 'touch') { tapped = [px, py]; return; } // it may become a scroll
    if (index < 0) add(px, py, event); // press adds, and the same press may drag on
    hold(index < 0 ? page.state.points.length - 1 : index, px, py, event);
    if (index >= 0) plane.focus(index);
  });
  picture.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
    if (!held) {
      const index = nearest(event);
      picture.classList.toggle('near', index >= 0);
      page.hoverOver(index);
      return;
    }
    const [px, py] = place(event);
    held.moved ||= Math.hypot(px - held.x, py - held.y) > 2;
    if (!held.moved) return;
    const [x, y] = plane.toData(page.state.view, px + held.dx, py + held.dy);
    page.show(S.moved(page.state, held.index, x, y), event);
  });
  /** @param {PointerEvent} event */
  const release = (event) => {
    if (tapped && event.type === 'pointerup') { add(tapped[0], tapped[1], event); page.finish(); }
    tapped = null;
    if (!held) return;
    held = null;
    page.held = false;
    picture.classList.remove('held');
    page.finish();
    page.wake();
  };
  picture.addEventListener('touchstart', (/** @type {TouchEvent} */ event) => { if (held) event.preventDefault(); }, { passive: false });
  picture.addEventListener('pointerup', release);
  picture.addEventListener('pointercancel', release);
  picture.addEventListener('pointerleave', () => { if (!held) page.hoverOver(-1); });
}

/** The next point in a direction: near, and not far off to the side. @param {readonly import('./state.js').Point[]} points @param {number} from @param {[number, number]} way */
function neighbour(points, from, [ux, uy]) {
  const here = points[from];
  let best = from, cost = Infinity;
  points.forEach((p, k) => {
    const ahead = (p.x - here.x) * ux + (p.y - here.y) * uy, aside = Math.abs((p.x - here.x) * uy) + Math.abs((p.y - here.y) * ux);
    if (k !== from && ahead > 0 && ahead + 2 * aside < cost) { cost = ahead + 2 * aside; best = k; }
  });
  return best;
}

/** Keys act only on the focused picture. @param {Page} page */
export function listenToKeys(page) {
  const { plane } = page, { picture } = plane;
  let nudging = false;
  picture.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const { state, picked } = page, arrow = ARROWS[event.key], chosen = picked >= 0 && picked < state.points.length;
    if (event.metaKey || (event.ctrlKey && !arrow)) return;
    if (arrow && chosen && event.shiftKey) {
      const step = state.view.half / (event.ctrlKey ? 200 : 40), p = state.points[picked];
      nudging = true;
      page.show(S.moved(state, picked, p.x + arrow[0] * step, p.y + arrow[1] * step), event);
    } else if (arrow && state.points.length) { page.pick(chosen ? neighbour(state.points, picked, arrow) : 0); plane.focus(page.picked); }
    else if (/^[rR ]$/.test(event.key) && chosen) page.change(S.relabelled(state, picked), event);
    else if (/^(Delete|Backspace)$/.test(event.key) && chosen) page.remove(event);
    else if (/^[aA]$/.test(event.key)) {
      const from = chosen ? state.points[picked] : state.view, step = chosen ? state.view.half / 10 : 0;
      page.change(S.added(state, from.x + step, from.y + step, event.shiftKey ? other(page.adds) : page.adds), event);
      page.pick(page.state.points.length - 1);
      requestAnimationFrame(() => plane.focus(page.picked));
    } else if (event.key === 'Escape') { page.pick(-1); picture.focus(); }
    else return;
    event.preventDefault();
  });
  picture.addEventListener('keyup', () => { if (nudging) { nudging = false; page.finish(); } });
  picture.addEventListener('focusin', (/** @type {FocusEvent} */ event) => {
    const index = plane.marks.indexOf(/** @type {SVGGElement} */ (event.target));
    if (index >= 0 && index !== page.picked) page.pick(index);
  });
}
