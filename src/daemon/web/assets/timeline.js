// One session, turn by turn: what was asked, each activity with its outcome, and each stop with what was checked. Above it
// the same in lanes, beside it whatever was chosen.

import { acts, copyButton, wrongForm } from './acts.js';
import { get, lines } from './api.js';
import { checkList, checksOf } from './decision.js';
import { eventLink, h, link, printable, replace, shortId } from './dom.js';
import { detail } from './event.js';
import { cut, duration, exact, folder, moment, number, plural, time } from './format.js';
import { Lanes } from './lanes.js';
import { Scale } from './scale.js';
import { LEGEND } from './signs.js';
import { about, isInternal, kind, lane, outcome, said } from './words.js';

const PAGE = 100;
// The longest name of the session in a button's label.
const NAME_MAX = 120;
// So many times as long as a reading took, before the next one.
const REST = 4;
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
  // What can be done with the session: as its line in Now offers it.
  let periods = [];
  const offer = (row) => row && view.offer(row, periods);
  const askOffer = async () => {
    const now = await get('/api/now?session=' + session).catch(() => null);
    if (now) periods = now.mute_for;
    offer(now?.rows[0]);
  };
  askOffer();
  let reading = null;
  let again = false;
  const catchUp = async () => {
    do {
      again = false;
      const began = performance.now();
      await read();
      await view.update();
      // What takes long is done less often.
      if (again) await new Promise((done) => { setTimeout(done, (performance.now() - began) * REST); });
    } while (again);
  };
  return {
    async changed(message) {
      const row = message.rows?.find((row) => row.session === session);
      if (!message.everything && !row) return;
      if (row) offer(row);
      else askOffer();
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

const isUsers = (event) => (event.kind === 'prompt_submitted' || event.kind === 'prompt_found') && event.origin === 'user';
const call = (event) => event.began_at + event.call.tool;

// The name of each subagent: its kind, with a number from the second of a kind on.
function subagentsOf(events) {
  const names = new Map();
  const kinds = new Map();
  for (const event of events.filter((event) => event.subagent && !names.has(event.subagent))) {
    const kind = event.subagent_type || 'subagent';
    const number = (kinds.get(kind) ?? 0) + 1;
    kinds.set(kind, number);
    names.set(event.subagent, number === 1 ? kind : kind + ' ' + number);
  }
  return names;
}

class Timeline {
  constructor(root, events, session) {
    Object.assign(this, { events, session, selected: null, page: null, filter: '', cuts: true, internals: false, boxes: new Map() });
    this.title = h('h1');
    this.facts = h('p', { class: 'summary' });
    this.open = h('div');
    this.acts = h('div');
    this.said = h('p', { class: 'unseen', role: 'status' });
    this.detail = h('section', { class: 'detail', tabindex: '0', 'aria-label': 'What was chosen' });
    this.list = h('div');
    const chart = h('canvas', {
      class: 'chart', tabindex: '0', role: 'application', 'aria-roledescription': 'timeline',
      'aria-label': 'Timeline of the session in lanes; the list below has the same events. ' + HINT,
      onkeydown: (event) => this.key(event),
    });
    const overview = h('canvas', { class: 'overview', 'aria-hidden': 'true' });
    this.lanes = new Lanes(chart, overview, (seq) => this.choose(seq));
    const button = (text, name, action) => h('button', { type: 'button', 'aria-label': name, title: name, onclick: action }, text);
    const box = h('input', { type: 'search', 'aria-label': 'Only events with these words', placeholder: 'only with these words',
      oninput: () => { this.filter = box.value.toLowerCase(); this.page = 0; this.drawList(); } });
    const toggle = (text, is, change) => h('label', null, h('input', { type: 'checkbox', checked: is, onchange: (event) => change(event.target.checked) }), text);
    replace(root, this.title, this.facts, this.acts, this.open,
      h('div', { class: 'tools' },
        button('+', 'Zoom in', () => this.lanes.zoom(0.5)), button('−', 'Zoom out', () => this.lanes.zoom(2)),
        button('◂', 'Earlier', () => this.lanes.pan(-0.5)), button('▸', 'Later', () => this.lanes.pan(0.5)),
        button('All', 'Show all', () => this.lanes.fit()), toggle('shorten long pauses', true, (is) => { this.cuts = is; this.redraw(); })),
      h('div', { class: 'lanes' }, chart, overview),
      h('ul', { class: 'legend' }, LEGEND.map(([tone, text]) => h('li', null, h('i', { class: 'sign ' + tone, 'aria-hidden': 'true' }), text))), this.said,
      h('div', { class: 'tools' }, box, toggle('what checkpointd did in between', false, (is) => { this.internals = is; this.drawList(); })),
      h('div', { class: 'split' }, h('section', { 'aria-label': 'Turns' }, this.list), this.detail));
    this.update();
  }

  update() {
    const { events } = this;
    const last = events[events.length - 1];
    const count = (of) => events.filter(of).length;
    const project = this.project = events.findLast((event) => event.cwd)?.cwd;
    const failed = count((event) => event.call?.is_error && event.kind !== 'tool_started');
    replace(this.title, events.find(isUsers)?.text || 'Session ' + shortId(this.session));
    replace(this.facts, last ? [last.agent, ' ', shortId(this.session), ' · ', project ? [h('span', { title: project }, folder(project)), ' · '] : null,
      plural(last.turn, 'turn'), ' · ',
      plural(count((event) => event.kind === 'tool_finished' || event.kind === 'tool_failed'), 'tool call'),
      failed ? [', ', h('span', { class: 'bad' }, number(failed) + ' failed')] : null, ' · last event ', moment(last.at)]
      : 'Nothing is known of this session.');
    this.subagents = subagentsOf(events);
    this.joinCalls();
    this.redraw();
    this.drawList();
    if (this.selected === null) this.showLast();
    return this.showOpen();
  }

  // What somebody types there stays while the session offers the same.
  offer(row, periods) {
    const offered = JSON.stringify([row.acts, row.sent, row.resume, periods]);
    if (offered === this.offered) return;
    this.offered = offered;
    const focused = this.acts.contains(document.activeElement);
    replace(this.acts, acts(row, cut(this.title.textContent, NAME_MAX), periods));
    if (focused) this.acts.querySelector('button, select')?.focus({ preventScroll: true });
  }

  // What the session left open, with the files and why, by what is known now.
  async showOpen() {
    const { open, answers, switches } = await get('/api/sessions/' + encodeURIComponent(this.session) + '/open').catch(() => ({ open: [], switches: [] }));
    const off = switches.map((it) => h('p', { class: it.by === 'agent' ? 'open' : 'soft' },
      'Switched off by ' + (it.by === 'agent' ? 'the agent itself' : 'a person') + ': ' + it.what.replaceAll('_', ' ') + ', ' + moment(it.at)));
    replace(this.open, off, open.map((item) => h('div', { class: 'left' }, h('p', { class: 'open' }, 'Open: ' + item.what),
      h('ul', null, item.files.map((file) => {
        const answer = answers.find((it) => it.file === file);
        return h('li', null, h('code', null, file), answer && ': ' + answer.why);
      })))));
  }

  // A call that began and ended is one activity: the end, which tells of both.
  joinCalls() {
    const ended = new Set(this.events.filter((event) => event.began_at).map(call));
    this.joined = this.events.filter((event) => event.kind !== 'tool_started' || !ended.has(event.at + event.call.tool));
  }

  // Until something is chosen: what the agent said last.
  async showLast() {
    const stop = this.events.findLast((event) => event.kind === 'agent_stopped' && event.last_message);
    if (stop?.seq === this.shownLast && stop) return;
    this.shownLast = stop?.seq;
    const whole = stop && await get('/api/events/' + stop.seq).catch(() => stop);
    if (this.selected !== null) return;
    replace(this.detail, whole ? [h('h2', null, 'What the agent said last'), h('p', { class: 'soft' }, 'turn ' + stop.turn + ', ' + moment(stop.at)), h('div', { class: 'text' }, whole.last_message), h('p', null, copyButton('message', whole.last_message))]
      : h('p', { class: 'soft' }, 'The agent has said nothing so far. Choose a line to see all of it.'));
  }

  redraw() {
    const moments = this.events.map((event) => [Date.parse(event.at), event.turn]).sort((a, b) => a[0] - b[0]);
    const scale = new Scale(moments, this.cuts);
    this.lanes.set(scale, this.items(scale, moments), turns(scale, moments));
  }

  items(scale, moments) {
    const last = moments.length ? moments[moments.length - 1][0] : 0;
    const items = [];
    for (const event of this.joined) {
      const place = lane(event);
      if (!place) continue;
      const at = Date.parse(event.at);
      const begins = event.kind === 'tool_started';
      items.push({ seq: event.seq, lane: place[0], tone: place[1], bar: Boolean(event.began_at) || begins,
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
    this.page = Math.max(0, Math.floor(this.shown().findIndex((event) => event.seq === seq) / PAGE));
    this.drawList();
    const whole = await get('/api/events/' + seq).catch((error) => ({ ...event, problem: error.message }));
    if (this.selected === seq) replace(this.detail, h('h2', null, kind(whole)), detail(whole, event), h('p', null, eventLink(seq, 'This event on its own')));
  }

  shown() {
    const fits = (event) => !this.filter || (kind(event) + ' ' + said(event)).toLowerCase().includes(this.filter);
    return this.joined.filter((event) => (this.internals || event.seq === this.selected || !isInternal(event)) && fits(event));
  }

  drawList() {
    const shown = this.shown();
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const page = Math.min(this.page ?? pages - 1, pages - 1);
    const turn = (to) => () => { this.page = to; this.drawList(); };
    const focused = this.list.contains(document.activeElement) && document.activeElement.closest('[data-seq]')?.dataset.seq;
    const groups = Map.groupBy(shown.slice(page * PAGE, (page + 1) * PAGE), (event) => event.turn);
    replace(this.list,
      pages > 1 ? h('div', { class: 'tools' },
        h('button', { type: 'button', disabled: page === 0, onclick: turn(page - 1) }, 'Earlier'),
        h('span', { class: 'soft' }, 'page ' + (page + 1) + ' of ' + pages),
        h('button', { type: 'button', disabled: page >= pages - 1, onclick: turn(page + 1) }, 'Later')) : null,
      [...groups].map(([turn, events]) => [h('h2', null, turn ? 'Turn ' + turn : 'Before the first turn', h('span', { class: 'soft' }, ' ' + moment(events[0].turn_began_at ?? events[0].at))),
        h('ol', { class: 'events' }, events.map((event) => this.row(event)))]));
    if (focused) this.list.querySelector('[data-seq="' + focused + '"] a')?.focus({ preventScroll: true });
  }

  row(event) {
    const { seq } = event;
    const chosen = seq === this.selected;
    const [took, tone, word] = outcome(event);
    const by = this.subagents.get(event.subagent);
    const open = (click) => { if (!click.ctrlKey && !click.metaKey) click.preventDefault(); };
    return h('li', { 'data-seq': seq, class: [chosen && 'chosen', isUsers(event) && 'prompt', event.kind === 'agent_stopped' && 'stop', by && 'by'].filter(Boolean).join(' ') || null, onclick: () => this.choose(seq) },
      h('time', { datetime: event.at, title: exact(event.at) }, time(event.at)),
      h('p', null, by ? h('span', { class: 'soft' }, by + ': ') : null, h('a', { href: '#/event/' + seq, 'aria-current': chosen ? 'true' : null, onclick: open }, event.call?.tool ?? kind(event)), ' ', h('span', { class: event.call ? 'mono' : null }, about(event, this.project))),
      h('p', { class: 'outcome' }, word ? h('span', { class: tone }, word) : null, took === null ? null : h('span', { class: 'number' }, duration(took))),
      event.kind === 'decided' ? this.checked(event) : null);
  }

  // What was checked at a stop: asked for only where somebody opens it, as each takes a look at the whole session. It stays
  // as it is, with what somebody types there, until a person has marked the decision.
  checked({ seq }) {
    const mark = this.events.findLast((event) => event.kind === 'marked_wrong' && event.decision === seq)?.seq;
    const known = this.boxes.get(seq);
    if (known && known.mark === mark) return known.box;
    const place = h('div');
    let asked = null;
    const fill = async () => {
      asked ??= get('/api/decisions/' + seq);
      const { decision, rules, evidence, marked_wrong: marked } = await asked.catch(() => ({}));
      const checks = rules ? checksOf(rules, evidence) : [];
      replace(place, checks.length ? checkList(checks) : h('p', { class: 'soft' }, evidence?.changes.known ? 'Nothing had to be checked.' : 'The work was not looked at.'),
        decision?.verdict === 'inject' && !decision.machine && !marked.length ? wrongForm(decision) : null,
        h('p', null, link('decision/' + seq, 'The whole decision')));
    };
    const box = h('details', { onclick: (click) => click.stopPropagation(), ontoggle: () => box.open && !asked && fill() }, h('summary', null, 'Checks'), place);
    // What was sent last is what a person comes for.
    box.open = known?.box.open ?? seq === (this.joined.findLast((event) => event.verdict === 'inject') ?? this.joined.findLast((event) => event.verdict))?.seq;
    this.boxes.set(seq, { box, mark });
    return box;
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
