// Which view is shown, the colors, and the link to the daemon. Views are permanent links: `#/session/ID` and the like.

import { Away, enter, follow, get, onRestart } from './api.js';
import { note } from './acts.js';
import { press } from './keys.js';
import { h, replace } from './dom.js';

const VIEWS = {
  '': ['now', 'Now', () => import('./now.js')],
  session: ['now', 'Session', () => import('./timeline.js')],
  event: ['now', 'Event', () => import('./event.js')],
  decision: ['decision', 'Decision', () => import('./decision.js')],
  'what-if': ['what-if', 'What if', () => import('./whatif.js')],
  trends: ['trends', 'Trends', () => import('./trends.js')],
  lookback: ['lookback', 'Looking back', () => import('./lookback.js')],
};
const THEMES = ['auto', 'light', 'dark'];
const RETRY_MS = 5000;
const AGAIN_MS = 1000;
const LOOK_MS = 15000;

const main = document.getElementById('main');
const state = { view: null, turn: 0, source: null, seq: 0, timer: 0, attempt: 0 };

async function show() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, '').split('/');
  const [tab, title, load] = VIEWS[name] ?? VIEWS[''];
  const turn = ++state.turn;
  state.view?.leave?.();
  state.view = null;
  state.failed = false;
  for (const anchor of document.querySelectorAll('nav a')) {
    if (anchor.dataset.view === tab) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
  document.title = title + ' – checkpointd';
  const root = h('div', { class: 'view', 'data-view': name || 'now' });
  replace(main, root);
  try {
    const module = await load().catch(() => { throw new Away(); });
    const view = await module.show(root, decodeURIComponent(rest.join('/')));
    // Somebody may have gone on meanwhile.
    if (turn === state.turn) state.view = view;
    else view?.leave?.();
  } catch (error) {
    if (turn !== state.turn) return;
    state.failed = !error.status;
    replace(root, h('h1', null, title), h('p', { class: 'problem', role: 'alert' }, error.message));
  }
  if (state.moved) main.focus({ preventScroll: true });
  state.moved = true;
  await state.view?.whole;
  root.dataset.ready = 'yes';
}

function theme(word) {
  document.documentElement.dataset.theme = word;
  const button = document.getElementById('theme');
  button.textContent = word;
  button.setAttribute('aria-label', 'Colors: ' + (word === 'auto' ? 'as the system has them' : word));
  state.view?.restyled?.();
}

function said(is, text) {
  const place = document.getElementById('link');
  place.className = is ? 'on' : 'off';
  place.textContent = text;
}

const unlinked = (refused) => said(false, refused ? 'not let in: run checkpointd web --open' : 'the daemon is away, trying again');

// Begins at the journal's end: every view reads by itself what was there before. A browser has six connections for all
// of its tabs, so only those that are seen keep one; the others look now and then, for the count in their title.
async function connect() {
  const attempt = ++state.attempt;
  clearTimeout(state.timer);
  state.source?.close();
  state.source = null;
  const later = (wait) => { state.timer = setTimeout(connect, wait); };
  try {
    const { seq } = await get('/api/now?first=0');
    if (attempt !== state.attempt) return;
    // What could not be read while the daemon was away is read now.
    if (state.failed) show();
    else if (state.seq && state.seq !== seq) state.view?.changed?.({ seq, everything: true });
    state.seq = seq;
    if (document.hidden) {
      later(LOOK_MS);
      return;
    }
    state.source = follow(seq, (message) => {
      state.seq = message.seq;
      state.view?.changed?.(message);
    }, (is) => {
      if (attempt !== state.attempt) return;
      if (is) said(true, 'live');
      else {
        unlinked(false);
        later(AGAIN_MS);
      }
    });
  } catch (error) {
    if (attempt !== state.attempt) return;
    unlinked(error.status === 403);
    later(RETRY_MS);
  }
}

// A token may be in the address when the page is loaded, or be put there later.
async function begin() {
  const entered = await enter().catch((error) => error);
  if (entered instanceof Error) {
    replace(main, h('div', { class: 'view', 'data-ready': 'yes' }, h('p', { class: 'problem', role: 'alert' }, entered.message)));
    unlinked(entered.status === 403);
    return;
  }
  // All views are fetched, so that each can be shown while the daemon is away too.
  show().then(() => Object.values(VIEWS).forEach(([, , load]) => load().catch(() => {})));
  if (entered || !state.attempt) connect();
}

onRestart(() => note('The daemon was restarted. This page goes on.'));
document.addEventListener('visibilitychange', connect);
document.addEventListener('keydown', press);
document.getElementById('keys').addEventListener('click', () => press({ key: '?', target: document.body, preventDefault() {} }));
addEventListener('pagehide', () => state.source?.close());
addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
document.getElementById('theme').addEventListener('click', () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  localStorage.setItem('theme', next);
  theme(next);
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', begin);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => state.view?.restyled?.());
const kept = localStorage.getItem('theme');
theme(THEMES.includes(kept) ? kept : 'auto');
begin();
