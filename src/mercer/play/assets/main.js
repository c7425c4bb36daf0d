// The page of its own: its state is in the address; Python is asked where the page came from Python.
import { Page } from './page.js';
import { askPython } from './python.js';
import { fromHash } from './state.js';
import { workedKey } from './menus.js';
import { serve, startWorker } from './worker.js';

/** What `mercer play --export` has left in the page. */
function exported() {
  const element = document.getElementById('mercer-exported');
  if (!element) return null;
  const { state, html, latex } = JSON.parse(element.textContent ?? 'null'), read = fromHash(state);
  return read && html ? { key: workedKey(read.state), worked: { html, latex }, state: read.state } : read && { key: '', worked: null, state: read.state };
}

function open() {
  const root = /** @type {HTMLElement} */ (document.querySelector('.mercer-play')), given = fromHash(location.hash);
  const kept = exported(), python = document.documentElement.dataset.python === 'yes' ? askPython() : null;
  const worker = startWorker(document.querySelector('script[type=module]')?.textContent ?? '');
  const page = new Page(root, { state: given?.state ?? kept?.state, mended: given?.mended, address: true, python, worker,
    worked: kept?.worked ? { key: kept.key, worked: kept.worked } : null });
  page.wake();
}

if (typeof document === 'undefined') serve(globalThis); else open(); // the same text is the worker's
