// What a person does from a line: each is one request, journaled with the page as its author, and can be taken back.

import { send } from './api.js';
import { h, printable, replace } from './dom.js';

const NOTE_MS = 20000;
const PERIODS = [['1h', 'for 1 hour'], ['8h', 'for 8 hours'], ['', 'until unmuted']];

let hides = 0;

// A sentence that is heard, with what takes it back, and that goes away by itself.
export function note(text, undo) {
  const place = document.getElementById('note');
  replace(place, text, undo ? [' ', h('button', { type: 'button', onclick: () => { place.hidden = true; undo(); } }, 'Undo')] : null);
  place.hidden = false;
  clearTimeout(hides);
  hides = setTimeout(() => { place.hidden = true; }, NOTE_MS);
}

async function order(session, word, body, said, undo) {
  try {
    await send('/api/sessions/' + encodeURIComponent(session) + '/' + word, body);
    note(said, undo);
  } catch (error) {
    note(error.message);
  }
}

const unmute = (session) => order(session, 'unmute', {}, 'It is no longer muted.');

function mute(session, period) {
  if (period === '-') return null;
  return order(session, 'mute', period ? { for: period } : {}, 'It is muted: its stops pass, and it is not announced.', () => unmute(session));
}

// Says that the demands of a decision were wrong, or takes that back.
export function wrong({ session, seq }, reason, is = true) {
  const body = { decision: seq, note: reason, wrong: is };
  return order(session, 'wrong', body, 'Decision ' + seq + (is ? ' is marked wrong.' : ' is no longer marked wrong.'), is ? () => wrong({ session, seq }, '', false) : null);
}

// A form that marks a decision wrong with a reason.
export function wrongForm(decision) {
  const reason = h('input', { 'aria-label': 'Why it is wrong', placeholder: 'why it is wrong, if you like', maxlength: '300' });
  return h('form', { class: 'tools', onclick: (click) => click.stopPropagation(), onsubmit: (event) => { event.preventDefault(); wrong(decision, reason.value); } },
    reason, h('button', { type: 'submit' }, 'This was wrong'));
}

// What is copied is pasted somewhere else: nothing unseen goes with it.
export function copyButton(name, text, label) {
  return h('button', { type: 'button', 'aria-label': label, onclick: () => navigator.clipboard.writeText(printable(text)).then(() => note('Copied: ' + name + '.'), (error) => note(error.message)) }, 'Copy ' + name);
}

// The buttons of a session's line; `of` names it to who hears them.
export function acts(row, of) {
  const muted = row.flags.includes('muted');
  const choice = h('select', { 'aria-label': 'Mute ' + of, onchange: () => mute(row.session, choice.value === 'ever' ? '' : choice.value) },
    h('option', { value: '-' }, 'Mute'), PERIODS.map(([period, name]) => h('option', { value: period || 'ever' }, name)));
  const button = (name, action) => h('button', { type: 'button', 'aria-label': name + ': ' + of, onclick: action }, name);
  return h('p', { class: 'acts' },
    row.resume ? copyButton('command', row.resume, 'Copy the command that resumes ' + of) : null,
    row.machine ? null : [muted ? button('Unmute', () => unmute(row.session)) : choice,
      row.flags.includes('cleared') ? null : button('Let next stop pass', () => order(row.session, 'clear', {}, 'Its next stop passes.'))]);
}
