// A decision as a page: what it was based on, what was found and missing, what was sent, and what became of it.

import { get } from './api.js';
import { decisionLink, eventLink, h, link, replace, row, sessionLink, table } from './dom.js';
import { cut, duration, folder, micros, moment, number, plural, reasonWords, verdictWords, words } from './format.js';
import { toolWords } from './words.js';

const LIST = 100;
const HEADS = ['Decision', 'At', 'Agent', 'Session', 'Project', 'Turn', 'Verdict', 'Why', 'After', 'Delivery'];
const NUMBERS = [0, 5, 8];
const FLEET_HEADS = [...HEADS.slice(0, 3), 'Machine', ...HEADS.slice(3)];
const FLEET_NUMBERS = [0, 6, 9];
const FILES_MAX = 60;
const FILES_CHARS_MAX = 200;
const OUTCOMES = { none: 'nothing to deliver', pending: 'on its way', confirmed: 'arrived', failed: 'did not arrive', expired: 'nobody can tell' };
const ENDS = { open: 'the agent has not stopped again yet', met: 'all of it was done afterward', unknown: 'not known' };

export const show = (root, seq) => (seq ? one(root, seq) : list(root));

async function list(root) {
  const verdict = h('select', { 'aria-label': 'Verdict' }, ['all', 'inject', 'pass'].map((word) => h('option', { value: word }, verdictWords(word))));
  const text = h('input', { type: 'search', placeholder: 'words in what was asked', 'aria-label': 'Words in what was asked' });
  const agent = h('select', { 'aria-label': 'Agent' }, ['', 'claude', 'gemini', 'codex'].map((word) => h('option', { value: word }, word || 'all agents')));
  const project = h('input', { placeholder: 'project: its folder', 'aria-label': 'Folder of the project' });
  const machine = h('input', { placeholder: 'machine', 'aria-label': 'Name of the machine' });
  const summary = h('p', { class: 'summary', role: 'status' });
  const more = h('button', { type: 'button', onclick: () => older() }, 'Older');
  // At a collector decisions came from machines.
  const isFleet = (await get('/api/decisions?limit=1')).some((it) => it.machine);
  const line = lineOf(isFleet);
  const whole = table('Decisions, the newest first', isFleet ? FLEET_HEADS : HEADS, [], isFleet ? FLEET_NUMBERS : NUMBERS);
  const body = whole.querySelector('tbody');
  const rows = new Map();
  let oldest = null;
  let asked = 0;

  // The newest, or those before a decision; the newest first.
  async function read(before) {
    const query = new URLSearchParams({ limit: LIST });
    if (before) query.set('before', before);
    if (verdict.value !== 'all') query.set('verdict', verdict.value);
    if (text.value) query.set('text', text.value);
    if (agent.value) query.set('agent', agent.value);
    if (project.value.trim()) query.set('project', project.value.trim());
    if (machine.value.trim()) query.set('machine', machine.value.trim());
    const mine = asked;
    const decisions = (await get('/api/decisions?' + query)).reverse();
    // Somebody may have asked for others meanwhile.
    return mine === asked ? decisions : null;
  }

  function add(decisions) {
    for (const it of decisions) {
      rows.set(it.seq, line(it));
      body.append(rows.get(it.seq));
      oldest = it.seq;
    }
    more.hidden = decisions.length < LIST;
    count();
  }

  function count() {
    whole.hidden = !rows.size;
    summary.textContent = rows.size ? plural(rows.size, 'decision') + (more.hidden ? ', all there are' : '') + ', the newest first.' : 'Nothing like that was decided yet.';
  }

  function begin(decisions) {
    rows.clear();
    replace(body);
    add(decisions);
  }

  async function anew() {
    asked += 1;
    const decisions = await read();
    if (decisions) begin(decisions);
  }

  async function older() {
    more.disabled = true;
    const decisions = await read(oldest).finally(() => { more.disabled = false; });
    if (decisions) add(decisions);
  }

  // What is new comes on top, and a delivery may have come to an end; all else stays as it is.
  async function changed() {
    const decisions = await read();
    if (!decisions) return;
    if (!decisions.some((it) => rows.has(it.seq))) {
      begin(decisions);
      return;
    }
    for (const it of decisions.reverse()) {
      const [was, now] = [rows.get(it.seq), line(it)];
      if (was?.textContent === now.textContent) continue;
      if (was) was.replaceWith(now);
      else if (it.seq > oldest) body.prepend(now);
      else continue;
      rows.set(it.seq, now);
    }
    count();
  }

  verdict.addEventListener('change', anew);
  for (const field of [text, agent, project, machine]) field.addEventListener('change', anew);
  replace(root, h('h1', null, 'Decisions'), summary, h('div', { class: 'tools' }, text, h('label', null, 'Verdict ', verdict), agent, project, isFleet && machine), whole,
    h('div', { class: 'tools' }, more));
  await anew();
  return { changed };
}

const lineOf = (isFleet) => (it) => row([decisionLink(it.seq), moment(it.at), it.agent, ...(isFleet ? [it.machine ?? '–'] : []), sessionLink(it.session),
  folder(isFleet && it.remote ? it.remote : it.project), it.turn, verdictOf(it), reasonWords(it.reason), duration(it.elapsed_ms), delivery(it)],
isFleet ? FLEET_NUMBERS : NUMBERS);
const verdictOf = (decision) => h('span', { class: 'verdict ' + decision.verdict }, verdictWords(decision.verdict));
const delivery = (decision) => (decision.delivery === 'none' ? '–'
  : OUTCOMES[decision.delivery] + (decision.delivery_reason ? ' (' + words(decision.delivery_reason) + ')' : ''));

async function one(root, seq) {
  let shown = '';
  const draw = async () => {
    const answer = await get('/api/decisions/' + encodeURIComponent(seq));
    // Whatever somebody reads or marks stays as it is, unless it has changed.
    const text = JSON.stringify(answer);
    if (text === shown) return;
    shown = text;
    document.title = 'Decision ' + answer.decision.seq + ' – checkpointd';
    replace(root, page(answer));
  };
  await draw();
  const session = JSON.parse(shown).decision.session;
  return { changed: (message) => (message.everything || message.rows.some((row) => row.session === session) ? draw() : null) };
}

function page(answer) {
  const { decision, state, evidence, rules, considered } = answer;
  return [
    h('h1', null, 'Decision ' + decision.seq + ': ', verdictOf(decision), ', ' + reasonWords(decision.reason)),
    h('p', { class: 'summary' }, decision.agent, ' session ', sessionLink(decision.session), decision.machine ? ' on ' + decision.machine : null, ', turn ' + decision.turn + ', ',
      moment(decision.at), decision.elapsed_ms === null ? '' : ', after ' + duration(decision.elapsed_ms) + ' of work'),
    decision.withheld?.length ? h('p', { class: 'warn' }, 'Its machine did not send: ' + decision.withheld.join(', ') + '. What depends on it is not known here.') : null,
    decision.message ? [h('h2', null, 'The message as the agent got it'), h('pre', { class: 'message' }, decision.message)] : null,
    h('div', { class: 'split' }, h('div', null, asked(answer), exits(considered), found(rules)), h('div', null, inputs(answer.event, state), seen(evidence), times(answer))),
  ];
}

function asked({ decision, demand, marked_wrong: marked }) {
  const list = (title, items) => (items.length ? [h('h2', null, title), h('ol', null, items.map((item) => h('li', null, item)))] : null);
  const left = demand?.end === 'left' ? (demand.left ?? []).length + ' of ' + decision.actions.length + ' were not done afterward' : ENDS[demand?.end];
  return [
    list('What it asked for', decision.actions.map((action) => [action.text, h('span', { class: 'soft' }, ' ' + action.category + ', ' + action.step)])),
    decision.actions.length && left ? h('p', { class: demand.end === 'met' ? 'good' : demand.end === 'left' ? 'warn' : 'soft' }, 'Outcome: ' + left + '.') : null,
    list('What it had noticed', decision.observations),
    list('Marked wrong', marked.map((mark) => (mark.item === null ? 'all demands' : 'demand ' + mark.item) + (mark.note ? ': ' + mark.note : ''))),
  ];
}

// The exits in their order: the first that is taken decides.
function exits(considered) {
  return [h('h2', null, 'Ways out, in order'), table('Ways out that were considered',
    ['Way out', 'Taken', 'Why'], considered.map((exit) => [reasonWords(exit.reason), exit.taken ? h('strong', { class: 'warn' }, 'taken') : 'no', exit.why]))];
}

// What each rule asks for: which files brought it up, what was looked for, and what was found.
function found(rules) {
  if (!rules) return null;
  return [h('h2', null, 'What the rules found'),
    h('p', { class: 'soft' }, 'Categories: ' + (rules.categories.join(', ') || 'none') + '. All clear: ' + (rules.all_clear ? 'yes' : 'no') + '.'),
    (rules.trace ?? []).map((rule) => [
      h('h3', null, rule.rule, h('span', { class: 'soft' }, ' (' + rule.pack + ') ' + (rule.files.length ? cut(rule.files.join(' '), FILES_CHARS_MAX) : 'every stop'))),
      (rule.actions ?? []).map(action)])];
}

function action(action) {
  const done = action.found.some((seen) => seen.outcome === 'counts');
  const [mark, tone] = action.stands ? ['due', 'warn'] : done ? ['done', 'good'] : ['with another', 'soft'];
  return h('div', { class: 'action' }, h('p', null, h('strong', { class: tone }, mark), ' ', action.text),
    h('p', { class: 'soft' }, 'Looked for ' + action.looked), h('ul', null, action.seen.map((said) => h('li', null, said))));
}

function inputs(event, state) {
  const rows = [['project', state.project], ['last message', time(state.last_message_sent_at)], ['last checkpoint', time(state.last_checkpoint_at)],
    ['last tool use', time(state.last_tool_use_at)], ['checkpoints in this turn', number(state.blocks_this_turn)],
    ['muted', state.muted === 'off' || !state.muted ? 'no' : 'yes'], ['cleared by a person', state.cleared ? 'yes' : 'no']];
  return [h('h2', null, 'The session before it'), h('dl', null, rows.map(([name, value]) => [h('dt', null, name), h('dd', null, value ?? '–')])),
    event ? h('p', null, words(event.kind) + ', ', eventLink(event.seq), ', in ', link('session/' + encodeURIComponent(event.session), 'the session’s timeline')) : null];
}

const time = (at) => (at ? moment(at) : '–');

function seen(evidence) {
  if (!evidence) return null;
  const { changes } = evidence;
  const files = changes?.known?.map((file) => file.path);
  const said = files ? (files.length ? number(files.length) : 'none') : changes?.unknown ? 'unknown: ' + words(changes.unknown) : 'not asked for';
  const { calls, source } = evidence.timeline;
  return [
    h('h2', null, 'What git and the transcript said'),
    h('dl', null, h('dt', null, 'changed files'), h('dd', null, said), h('dt', null, 'tool calls'), h('dd', null, number(calls.length) + ', from: ' + source),
      evidence.notes.map((note) => [h('dt', null, 'note'), h('dd', null, note)])),
    files?.length ? h('details', { open: files.length <= 12 }, h('summary', null, 'Changed files'),
      h('ul', { class: 'mono' }, files.slice(0, FILES_MAX).map((file) => h('li', null, file))), files.length > FILES_MAX ? h('p', null, '… and ' + (files.length - FILES_MAX) + ' more') : null) : null,
    calls.length ? h('details', { open: calls.length <= 12 }, h('summary', null, 'Tool calls'),
      h('ol', { class: 'mono' }, calls.map((call) => h('li', { class: call.is_error ? 'bad' : null }, toolWords(call))))) : null,
  ];
}

function times({ decision, evidence, times, delivery: steps }) {
  const rows = (times ?? []).map((step, index) => [index === 0 ? 'stop journaled' : index === 1 ? 'decision journaled' : words(step.kind),
    micros(step.after_us), words(steps[index - 2]?.by ?? steps[index - 2]?.reason ?? steps[index - 2]?.obstacle ?? '')]);
  return [
    h('h2', null, 'Times, and the delivery: ', OUTCOMES[decision.delivery]),
    rows.length ? table('Steps after the stop', ['Step', 'After the stop', ''], rows, [1]) : null,
    evidence?.steps?.length ? h('p', { class: 'soft' }, 'Looking things up: ' + evidence.steps.map(([name, us]) => name + ' ' + micros(us)).join(', ')) : null,
  ];
}
