// Keys that work in every view, and a box that lists them with the signs of the page.

import { h } from './dom.js';
import { FLAGS, GROUPS, LEGEND } from './signs.js';

const KEYS = [
  ['/', 'to the search box'],
  ['j', 'to the next line of a list'],
  ['k', 'to the line before'],
  ['Enter', 'opens the line'],
  ['?', 'shows this, Esc closes it'],
];

// Lines of lists, each by the link that opens it.
const LINE = 'tbody tr, li.card, .events > li';

let box = null;

export function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const does = { '/': search, j: () => move(1), k: () => move(-1), '?': explain }[event.key];
  if (!does || box?.open) return;
  event.preventDefault();
  does();
}

const isTyping = (target) => target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);

function search() {
  document.querySelector('main [type=search]')?.focus();
}

// One line has one stop, however many links it has.
function move(by) {
  const lines = [...new Map([...document.querySelectorAll('main a')].filter((link) => link.offsetParent && link.closest(LINE)).reverse()
    .map((link) => [link.closest(LINE), link]))].reverse();
  if (!lines.length) return;
  const at = lines.findIndex(([line]) => line.contains(document.activeElement));
  const next = lines[Math.min(lines.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  next[1].focus();
  next[0].scrollIntoView({ block: 'nearest' });
}

function explain() {
  const list = (rows) => h('dl', null, rows.map(([name, text]) => [h('dt', null, name), h('dd', null, text)]));
  const signs = LEGEND.map(([tone, text]) => [h('i', { class: 'sign ' + tone, 'aria-hidden': 'true' }), text]);
  box?.remove();
  box = h('dialog', { class: 'keys', 'aria-labelledby': 'keys-title', tabindex: '0' },
    h('form', { method: 'dialog' }, h('button', { autofocus: true }, 'Close')),
    h('h2', { id: 'keys-title' }, 'Keys'), list(KEYS.map(([key, text]) => [h('kbd', null, key), text])),
    h('h2', null, 'Groups'), list(GROUPS.map(([group, name, text]) => [h('span', { class: 'state ' + group }, name), text])),
    h('h2', null, 'Notes on sessions'), list(Object.entries(FLAGS).map(([flag, text]) => [h('span', { class: 'flag' }, flag), text])),
    h('h2', null, 'Timelines'), h('ul', { class: 'legend' }, signs.map(([sign, text]) => h('li', null, sign, text))));
  document.body.append(box);
  box.showModal();
}
