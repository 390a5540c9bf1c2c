// What a person does from a line: each is one request, journaled with the page as its author, and can be taken back.

import { get, send } from './api.js';
import { h, printable, replace } from './dom.js';

const NOTE_MS = 20000;

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
    const { shown } = await send('/api/sessions/' + encodeURIComponent(session) + '/' + word, body);
    note(shown ? shown + '.' : said, undo);
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
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(printable(typeof text === 'string' ? text : await text()));
      note('Copied: ' + name + '.');
    } catch (error) {
      note(error.message);
    }
  };
  return h('button', { type: 'button', 'aria-label': label, onclick: copy }, 'Copy ' + name);
}

// The buttons of a session's line: what the daemon offers for it. `of` names it to who hears them.
export function acts(row, of, periods) {
  const session = row.session;
  const button = (name, action) => h('button', { type: 'button', 'aria-label': name + ': ' + of, onclick: action }, name);
  const message = async () => (await get('/api/decisions/' + row.sent)).decision.message;
  const choice = h('select', { 'aria-label': 'Mute ' + of, onchange: () => mute(session, choice.value) },
    h('option', { value: '-' }, 'Mute'), periods.map((period) => h('option', { value: period }, 'for ' + period)), h('option', { value: '' }, 'until unmuted'));
  const offered = {
    pane: () => button('Go to pane', () => order(session, 'pane', {}, '')),
    resume: () => copyButton('command', row.resume, 'Copy the command that resumes ' + of),
    message: () => copyButton('message', message, 'Copy the last message to ' + of),
    wrong: () => h('details', null, h('summary', { 'aria-label': 'Wrong? ' + of }, 'Wrong?'), wrongForm({ session, seq: row.sent })),
    mute: () => choice,
    unmute: () => button('Unmute', () => unmute(session)),
    clear: () => button('Let next stop pass', () => order(session, 'clear', {}, 'Its next stop passes.')),
  };
  return h('div', { class: 'acts' }, row.acts.map((act) => offered[act]?.()));
}
