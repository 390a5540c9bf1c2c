// One session: swim lanes, the same events as a table, and whichever event was chosen.

import { get, lines } from './api.js';
import { eventLink, h, printable, replace } from './dom.js';
import { detail } from './event.js';
import { duration, exact, moment, number, plural } from './format.js';
import { LEGEND, Lanes } from './lanes.js';
import { Scale } from './scale.js';
import { kind, lane, said } from './words.js';

const PAGE = 100;
// So many times as long as a reading took, before the next one.
const REST = 4;
const HEADS = ['Time', 'Turn', 'In turn', 'Event', 'What'];
const NUMBERS = [1, 2];
const HINT = 'Drag or Shift+wheel to move; Ctrl+wheel, double click or + and − to zoom. With the keyboard: ← and → go from event to event, Home shows all.';

export async function show(root, id) {
  const events = [];
  const path = '/api/sessions/' + encodeURIComponent(id) + '/timeline';
  // What came after the last event that is known. What is as in the line before is left out of a line.
  const read = async () => {
    const known = events.length ? events[events.length - 1].seq : 0;
    let above = {};
    await lines(path + '?from=' + (known + 1), (line) => {
      const event = { ...above, ...line };
      const { session, agent, turn, turn_began_at } = event;
      above = { session, agent, turn, turn_began_at };
      events.push(event);
    });
  };
  replace(root, h('p', { class: 'empty', role: 'status' }, 'Reading …'));
  await read();
  const session = events[0]?.session ?? id;
  const view = new Timeline(root, events, session);
  let reading = null;
  let again = false;
  const catchUp = async () => {
    do {
      again = false;
      const began = performance.now();
      await read();
      view.update();
      // What takes long is done less often.
      if (again) await new Promise((done) => { setTimeout(done, (performance.now() - began) * REST); });
    } while (again);
  };
  return {
    async changed(message) {
      if (!message.everything && !message.rows.some((row) => row.session === session)) return;
      // What changes while it is being read is read right afterward.
      if (reading) again = true;
      else {
        reading = catchUp().finally(() => { reading = null; });
        await reading;
      }
    },
    restyled: () => view.lanes.restyle(),
    leave: () => view.lanes.leave(),
  };
}

class Timeline {
  constructor(root, events, session) {
    Object.assign(this, { events, session, selected: null, page: null, filter: '', cuts: true });
    this.facts = h('p', { class: 'summary' });
    this.said = h('p', { class: 'unseen', role: 'status' });
    this.detail = h('section', { class: 'detail', tabindex: '0', 'aria-label': 'The chosen event' }, h('p', { class: 'soft' }, 'Choose an event to see all of it.'));
    this.list = h('div');
    const chart = h('canvas', {
      class: 'chart', tabindex: '0', role: 'application', 'aria-roledescription': 'timeline',
      'aria-label': 'Timeline of the session in lanes; the table below has the same events. ' + HINT,
      onkeydown: (event) => this.key(event),
    });
    const overview = h('canvas', { class: 'overview', 'aria-hidden': 'true' });
    this.lanes = new Lanes(chart, overview, (seq) => this.choose(seq));
    const button = (text, name, action) => h('button', { type: 'button', 'aria-label': name, title: name, onclick: action }, text);
    const cuts = h('input', { type: 'checkbox', checked: true, onchange: () => { this.cuts = cuts.checked; this.redraw(); } });
    replace(root,
      h('h1', null, 'Session ', h('span', { class: 'mono' }, session.slice(0, 8))), this.facts,
      h('div', { class: 'tools' },
        button('+', 'Zoom in', () => this.lanes.zoom(0.5)), button('−', 'Zoom out', () => this.lanes.zoom(2)),
        button('◂', 'Earlier', () => this.lanes.pan(-0.5)), button('▸', 'Later', () => this.lanes.pan(0.5)),
        button('All', 'Show all', () => this.lanes.fit()), h('label', null, cuts, 'shorten long pauses'),
        h('span', { class: 'soft' }, 'drag to move, Ctrl+wheel to zoom, ← and → from event to event')),
      h('div', { class: 'lanes' }, chart, overview),
      h('ul', { class: 'legend' }, LEGEND.map(([tone, text]) => h('li', null, h('i', { class: 'sign ' + tone, 'aria-hidden': 'true' }), text))), this.said,
      h('div', { class: 'split' }, h('section', { 'aria-label': 'Events' }, h('h2', null, 'Events'), this.search(), this.list), this.detail));
    this.update();
  }

  search() {
    const box = h('input', { type: 'search', 'aria-label': 'Only events with these words', placeholder: 'only with these words',
      oninput: () => { this.filter = box.value.toLowerCase(); this.page = 0; this.drawList(); } });
    return h('div', { class: 'tools' }, box);
  }

  update() {
    const last = this.events[this.events.length - 1];
    const count = (of) => this.events.filter(of).length;
    const project = [...this.events].reverse().find((event) => event.cwd)?.cwd;
    const failed = count((event) => event.call?.is_error && event.kind !== 'tool_started');
    replace(this.facts, last ? [last.agent, ' · ', project ? [h('span', { title: project }, project), ' · '] : null,
      plural(last.turn, 'turn'), ' · ', plural(this.events.length, 'event'), ' · ',
      plural(count((event) => event.kind === 'tool_finished' || event.kind === 'tool_failed'), 'tool call'),
      failed ? [', ', h('span', { class: 'bad' }, number(failed) + ' failed')] : null, ' · ',
      plural(count((event) => event.kind === 'decided' && event.verdict === 'inject'), 'checkpoint'), ' · last event ', moment(last.at)]
      : 'Nothing is known of this session.');
    this.redraw();
    this.drawList();
  }

  redraw() {
    const moments = this.events.map((event) => [Date.parse(event.at), event.turn]).sort((a, b) => a[0] - b[0]);
    const scale = new Scale(moments, this.cuts);
    this.lanes.set(scale, this.items(scale, moments), turns(scale, moments));
  }

  items(scale, moments) {
    const ended = new Set(this.events.filter((event) => event.began_at).map((event) => event.began_at + event.call.tool));
    const last = moments.length ? moments[moments.length - 1][0] : 0;
    const items = [];
    for (const event of this.events) {
      const place = lane(event);
      const begins = event.kind === 'tool_started';
      if (!place || (begins && ended.has(event.at + event.call.tool))) continue;
      const at = Date.parse(event.at);
      const isTool = Boolean(event.began_at) || begins;
      items.push({ seq: event.seq, lane: place[0], tone: place[1], bar: isTool,
        from: scale.place(event.began_at ? Date.parse(event.began_at) : at), to: scale.place(begins ? last : at) });
    }
    return items.sort((a, b) => a.from - b.from);
  }

  // The events that the lanes show are those that the arrows lead through.
  key(event) {
    const keys = { '+': () => this.lanes.zoom(0.5), '=': () => this.lanes.zoom(0.5), '-': () => this.lanes.zoom(2),
      ArrowRight: () => (event.shiftKey ? this.lanes.pan(0.25) : this.go(1)), ArrowLeft: () => (event.shiftKey ? this.lanes.pan(-0.25) : this.go(-1)),
      Home: () => this.lanes.fit(), Enter: () => this.detail.querySelector('a, button')?.focus() };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  go(by) {
    const items = this.lanes.items;
    const index = items.findIndex((item) => item.seq === this.selected);
    const next = items[index < 0 ? (by > 0 ? 0 : items.length - 1) : index + by];
    if (next) this.choose(next.seq);
  }

  async choose(seq) {
    this.selected = seq;
    this.lanes.select(seq);
    const event = this.events.find((event) => event.seq === seq);
    this.said.textContent = kind(event) + ' ' + printable(said(event)) + ' at ' + exact(event.at);
    this.page = Math.floor(this.shown().findIndex((event) => event.seq === seq) / PAGE);
    if (this.page < 0) this.page = 0;
    this.drawList();
    const whole = await get('/api/events/' + seq).catch((error) => ({ ...event, problem: error.message }));
    if (this.selected === seq) replace(this.detail, h('h2', null, kind(whole)), detail(whole, event), h('p', null, eventLink(seq, 'This event on its own')));
  }

  shown() {
    if (!this.filter) return this.events;
    return this.events.filter((event) => (kind(event) + ' ' + said(event)).toLowerCase().includes(this.filter));
  }

  drawList() {
    const shown = this.shown();
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const page = Math.min(this.page ?? pages - 1, pages - 1);
    const turn = (to) => () => { this.page = to; this.drawList(); };
    const rows = shown.slice(page * PAGE, (page + 1) * PAGE).map((event) => this.row(event));
    const head = HEADS.map((text, index) => h('th', { scope: 'col', class: NUMBERS.includes(index) ? 'number' : null }, text));
    replace(this.list,
      h('div', { class: 'tools' },
        h('button', { type: 'button', disabled: page === 0, onclick: turn(page - 1) }, 'Earlier'),
        h('span', { class: 'soft' }, plural(shown.length, 'event') + ', page ' + (page + 1) + ' of ' + pages),
        h('button', { type: 'button', disabled: page >= pages - 1, onclick: turn(page + 1) }, 'Later')),
      h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Events of the session' }, h('table', { class: 'events' }, h('caption', { class: 'unseen' }, 'Events of the session'),
        h('thead', null, h('tr', null, head)), h('tbody', null, rows))));
  }

  row(event) {
    const after = event.turn_began_at ? '+' + duration(Math.max(0, Date.parse(event.at) - Date.parse(event.turn_began_at))) : '';
    const bad = event.call?.is_error || event.kind === 'delivery_failed';
    const choose = () => this.choose(event.seq);
    return h('tr', { 'data-seq': event.seq, 'aria-selected': event.seq === this.selected ? 'true' : null, onclick: choose },
      h('td', null, h('time', { datetime: event.at }, exact(event.at))), h('td', { class: 'number' }, event.turn),
      h('td', { class: 'number' }, after), h('td', null, h('a', { href: '#/event/' + event.seq, onclick: (click) => { if (!click.ctrlKey && !click.metaKey) click.preventDefault(); } }, kind(event))),
      h('td', { class: bad ? 'bad' : null }, said(event)));
  }
}

function turns(scale, moments) {
  const turns = [];
  for (const [at, turn] of moments) {
    const last = turns[turns.length - 1];
    if (last && last.turn >= turn) last.to = scale.place(at);
    else if (turn > 0) turns.push({ turn, from: scale.place(at), to: scale.place(at) });
  }
  return turns;
}
