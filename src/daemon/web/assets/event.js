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
  const { call } = event;
  const part = (name, text) => (text ? [h('h3', { class: 'soft' }, name), h('pre', null, text)] : null);
  return [
    h('dl', null, h('dt', null, 'event'), h('dd', null, event.seq + (event.late ? ', journaled late' : '')),
      h('dt', null, 'at'), h('dd', null, moment(event.at) + ' (' + exact(event.at) + ')'),
      placed?.began_at ? [h('dt', null, 'began'), h('dd', null, exact(placed.began_at))] : null,
      placed ? [h('dt', null, 'turn'), h('dd', null, placed.turn)] : null,
      call ? [h('dt', null, 'tool'), h('dd', null, call.tool + (call.is_error ? ', failed' : call.refused ? ', refused' : ''))] : null,
      plain.map(([name, value]) => [h('dt', null, words(name)), h('dd', null, String(value))])),
    decision ? h('p', null, 'Decision ', decisionLink(decision), ' explains it.') : null,
    event.problem ? h('p', { class: 'problem' }, event.problem) : null,
    call ? [part('input', call.command ?? call.paths.join('\n')), part('output', call.output)] : null,
    fields.filter(([name, value]) => typeof value === 'string' && !plain.some(([known]) => known === name)).map(([name, value]) => part(words(name), value)),
    event.payload_dropped ? h('p', { class: 'soft' }, 'What the agent told was dropped by age.') : null,
    h('details', null, h('summary', null, 'All of it, as JSON'), h('pre', null, JSON.stringify(event, null, 2))),
  ];
}
