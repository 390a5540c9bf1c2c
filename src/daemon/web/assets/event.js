// One event with all that was told of it: on its own by a permanent link, and beside a timeline.

import { get } from './api.js';
import { decisionLink, h, replace, sessionLink } from './dom.js';
import { exact, moment, words } from './format.js';

const PLAIN_MAX = 40;

export async function show(root, seq) {
  if (!/^\d+$/.test(seq)) throw new Error('Events have numbers, and “' + seq + '” is none.');
  const event = await get('/api/events/' + seq);
  document.title = 'Event ' + event.seq + ' – checkpointd';
  // What the daemon did by itself belongs to no session that could be looked at.
  const whose = event.agent === 'daemon' ? 'of the daemon itself' : [event.agent, ' session ', sessionLink(event.session)];
  replace(root, h('h1', null, 'Event ' + event.seq + ': ' + words(event.kind)), h('p', { class: 'summary' }, whose, ', ', moment(event.at)), detail(event));
  return {};
}

const ADDRESS = ['seq', 'at', 'recorded_at', 'session', 'native_session', 'agent', 'id', 'late', 'kind', 'payload', 'turn', 'turn_began_at', 'problem'];

// `placed` is the same event as a timeline has it, which knows of its turn.
export function detail(event, placed) {
  const fields = Object.entries(event).filter(([name, value]) => !ADDRESS.includes(name) && value !== null);
  const plain = fields.filter(([, value]) => typeof value !== 'object' && String(value).length < PLAIN_MAX);
  const decision = event.kind === 'decided' ? event.seq : event.decision;
  return [
    h('dl', null, h('dt', null, 'event'), h('dd', null, event.seq + (event.late ? ', journaled late' : '')),
      h('dt', null, 'at'), h('dd', null, moment(event.at) + ' (' + exact(event.at) + ')'),
      placed?.began_at ? [h('dt', null, 'began'), h('dd', null, exact(placed.began_at))] : null,
      placed ? [h('dt', null, 'turn'), h('dd', null, placed.turn)] : null),
    decision ? h('p', null, 'Decision ', decisionLink(decision), ' explains it.') : null,
    event.problem ? h('p', { class: 'problem' }, event.problem) : null,
    plain.length ? h('dl', null, plain.map(([name, value]) => [h('dt', null, words(name)), h('dd', null, String(value))])) : null,
    fields.filter((field) => !plain.includes(field)).map(([name, value]) => [h('h3', { class: 'soft' }, words(name)), h('pre', null, pretty(value))]),
    event.payload ? h('details', null, h('summary', null, 'As the agent told it'), h('pre', null, pretty(event.payload)))
      : event.payload_dropped ? h('p', { class: 'soft' }, 'What the agent told was dropped by age.') : null,
  ];
}

const pretty = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
