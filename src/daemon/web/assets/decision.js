// A decision as a page: what was checked, what was sent, and what came of it; the rest is folded.

import { wrong, wrongForm } from './acts.js';
import { get } from './api.js';
import { eventLink, h, link, replace, sessionLink, table } from './dom.js';
import { cut, duration, folder, micros, moment, number, plural, reasonWords, time, verdictWords, words } from './format.js';
import { toolWords } from './words.js';

const LIST = 100;
const ASKED_MAX = 240;
const COMMAND_MAX = 90;
const FILES_MAX = 60;
const FILES_CHARS_MAX = 200;
const OUTCOMES = { none: 'nothing to deliver', pending: 'on its way', confirmed: 'arrived', failed: 'did not arrive', expired: 'nobody can tell' };
const ENDS = { open: 'the agent has not stopped again yet', met: 'all of it was done afterward', unknown: 'not known' };
// What came of a demand, in a list: its words, and its tone.
const CAME = { met: ['done', 'good'], left: ['not done', 'bad'], open: ['pending', 'warn'] };

export const show = (root, seq) => (seq ? one(root, seq) : list(root));

async function list(root) {
  const verdict = h('select', { 'aria-label': 'Verdict' }, ['all', 'inject', 'pass'].map((word) => h('option', { value: word }, verdictWords(word))));
  const text = h('input', { type: 'search', placeholder: 'words in what was asked', 'aria-label': 'Words in what was asked' });
  const agent = h('input', { placeholder: 'agent', 'aria-label': 'Agent' });
  const project = h('input', { placeholder: 'project: its folder', 'aria-label': 'Folder of the project' });
  const machine = h('input', { placeholder: 'machine', 'aria-label': 'Name of the machine' });
  const summary = h('p', { class: 'summary', role: 'status' });
  const more = h('button', { type: 'button', onclick: () => older() }, 'Older');
  // At a collector decisions came from machines.
  const isFleet = (await get('/api/decisions?limit=1')).some((it) => it.machine);
  const body = h('ul', { class: 'cards', 'aria-label': 'Decisions, the newest first' });
  const rows = new Map();
  let oldest = null;
  let asked = 0;

  // The newest, or those before a decision; the newest first.
  async function read(before) {
    const query = new URLSearchParams({ limit: LIST });
    if (before) query.set('before', before);
    if (verdict.value !== 'all') query.set('verdict', verdict.value);
    if (text.value) query.set('text', text.value);
    if (agent.value.trim()) query.set('agent', agent.value.trim());
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
    body.hidden = !rows.size;
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
  replace(root, h('h1', null, 'Decisions'), summary, h('div', { class: 'tools' }, text, h('label', null, 'Verdict ', verdict), agent, project, isFleet && machine), body,
    h('div', { class: 'tools' }, more));
  await anew();
  return { changed };
}

// What was decided and asked, and where.
function line(it) {
  const asked = [...it.actions.map((action) => action.text), ...it.observations];
  return h('li', { class: 'card ' + it.verdict, 'data-seq': it.seq },
    h('p', { class: 'about' }, link('decision/' + it.seq, [it.seq + ': ', verdictOf(it), ', ' + reasonWords(it.reason)])),
    asked.length ? h('p', { class: 'last' }, cut(asked.join('; '), ASKED_MAX)) : null,
    h('p', { class: 'where' }, it.machine && h('span', { class: 'machine' }, it.machine), h('span', { class: 'project', title: it.project }, folder(it.machine && it.remote ? it.remote : it.project)),
      h('span', null, it.agent + ' ', sessionLink(it.session), ' turn ' + it.turn), CAME[it.demand] ? h('span', { class: 'came ' + CAME[it.demand][1] }, CAME[it.demand][0]) : it.delivery === 'none' ? null : h('span', null, delivery(it)), h('time', { datetime: it.at }, moment(it.at))));
}

const verdictOf = (decision) => h('span', { class: 'verdict ' + decision.verdict }, verdictWords(decision.verdict));
const delivery = (decision) => OUTCOMES[decision.delivery] + (decision.delivery_reason ? ' (' + words(decision.delivery_reason) + ')' : '');

async function one(root, seq) {
  let shown = '';
  let chosen = null;
  const draw = async () => {
    const answer = await get('/api/decisions/' + encodeURIComponent(seq));
    // Whatever somebody reads or marks stays as it is, unless it has changed.
    const text = JSON.stringify(answer);
    if (text === shown) return;
    shown = text;
    chosen = answer.decision.session;
    document.title = 'Decision ' + answer.decision.seq + ' – checkpointd';
    replace(root, page(answer));
  };
  await draw();
  return { changed: (message) => (message.everything || message.rows.some((row) => row.session === chosen) ? draw() : null) };
}

function page(answer) {
  const { decision, evidence, rules } = answer;
  const checks = rules ? checksOf(rules, evidence) : [];
  return [
    h('h1', null, 'Decision ' + decision.seq + ': ', verdictOf(decision), ', ' + reasonWords(decision.reason)),
    h('p', { class: 'summary' }, decision.agent, ' session ', sessionLink(decision.session), decision.machine ? ' on ' + decision.machine : null, ', ', folder(answer.state.project), ', turn ' + decision.turn + ', ',
      moment(decision.at), decision.elapsed_ms === null ? '' : ', after ' + duration(decision.elapsed_ms) + ' of work'),
    decision.withheld?.length ? h('p', { class: 'warn' }, 'Its machine did not send: ' + decision.withheld.join(', ') + '. What depends on it is not known here.') : null,
    h('h2', null, 'Checks'),
    checks.length ? checkList(checks) : h('p', { class: 'soft' }, rules ? 'Nothing that the session changed has to be checked.' : 'What was checked is not known.'),
    outcome(answer),
    decision.message ? [h('h2', null, 'Sent to the agent, ' + OUTCOMES[decision.delivery]), h('pre', { class: 'message' }, decision.message)]
      : h('p', null, 'Nothing was sent: ', why(answer), '.'),
    folded('Ways out that were not taken', exits(answer)),
    rules ? folded('What each rule found', found(rules)) : null,
    evidence ? folded('What git and the transcript said', seen(evidence, answer.subagents)) : null,
    folded('The session before it', inputs(answer)),
    folded('Times, and the delivery', times(answer)),
  ];
}

const folded = (title, content) => (content ? h('details', null, h('summary', null, title), content) : null);
const why = ({ decision, considered }) => considered.find((exit) => exit.taken)?.why ?? reasonWords(decision.reason);

// What came of it: whether it was done, by which call, and what a person said of it.
function outcome({ decision, demand, others, marked_wrong: marked }) {
  const marks = [marked.map((mark) => h('p', { class: 'warn' }, 'Marked wrong' + (mark.item === null ? '' : ', demand ' + mark.item) + (mark.note ? ': ' + mark.note : '.'))),
    decision.verdict !== 'inject' || decision.machine ? null : marked.length ? h('p', null, h('button', { type: 'button', onclick: () => wrong(decision, '', false) }, 'It was not wrong')) : wrongForm(decision)];
  if (!demand) return marks;
  const left = demand.left.length + ' of ' + decision.actions.length + ' not done afterward';
  const tone = { met: 'good', left: 'bad' }[demand.end] ?? 'soft';
  const next = others.find((it) => it.seq > decision.seq && it.turn === decision.turn);
  return [h('p', { class: 'came ' + tone }, 'What came of it: ', demand.end === 'left' ? left : ENDS[demand.end] ?? words(demand.end),
    demand.done_by.map((it) => ['; ' + it.purpose + ': ', by(it)]), next ? [' (', link('decision/' + next.seq, 'the next stop'), ')'] : null, '.'), marks];
}

// The checks of a stop, as those of a pull request: what stands first.
export function checksOf(rules, evidence) {
  const calls = evidence?.timeline.calls ?? [];
  const checks = new Map();
  for (const it of rules.trace.flatMap((rule) => rule.actions)) {
    const known = checks.get(it.text);
    if (!known || (it.stands && !known.stands)) checks.set(it.text, it);
  }
  return [...checks.values()].map((it) => check(it, calls)).sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
}

const TONES = ['bad', 'unknown', 'good', 'soft'];
const SIGNS = { bad: ['✗', 'open'], unknown: ['?', 'not known'], good: ['✓', 'done'], soft: ['–', 'not asked for'] };
// Why a call that looks like it does not count.
const COUNTS = { not_run: 'was not certainly run', unclear: 'hides how it ended', failed: 'failed', too_early: 'came before what it has to follow', before_edit: 'came before the last edit' };

function check(it, calls) {
  const at = (index) => (calls[index] ? { command: calls[index].command ?? calls[index].tool, at: calls[index].at } : null);
  const is = (verified) => it.answers.length && it.answers.every((answer) => answer.verified === verified);
  const counted = it.found.findLast((found) => found.outcome === 'counts');
  const proof = it.answers.find((answer) => answer.verified === 'done' && answer.call !== undefined)?.call ?? counted?.call;
  const tone = it.stands ? 'bad' : is('done') || counted ? 'good' : it.answers.some((answer) => answer.verified === 'unknown') ? 'unknown' : 'soft';
  const near = it.found.findLast((found) => found.outcome !== 'counts');
  const said = tone === 'good' && at(proof) ? by(at(proof))
    : near ? [by({ command: near.command, at: calls[near.call]?.at }), ' ' + COUNTS[near.outcome]]
      : { bad: 'not run, ' + plural(calls.length, 'call') + ' looked at', unknown: 'the record does not say', soft: 'not asked for here', good: 'done' }[tone];
  return { tone, name: it.purpose, hint: it.looked_for[0]?.startsWith('{') ? it.text.match(/\(`([^`]+)`\)/)?.[1] : it.looked_for[0], text: it.text, said, answers: it.answers };
}

const by = (call) => [h('code', null, cut(call.command, COMMAND_MAX)), call.at ? ' at ' + time(call.at) : null];

export const checkList = (checks) => h('ul', { class: 'checks' }, checks.map((it) => {
  const [sign, name] = SIGNS[it.tone];
  return h('li', { class: it.tone }, h('span', { class: 'mark', role: 'img', 'aria-label': name }, sign),
    h('div', null, h('p', { title: it.text }, h('strong', null, it.name), it.hint && it.tone !== 'good' ? [' (', h('code', null, it.hint), ')'] : null, ': ', it.said),
      it.tone === 'good' || !it.answers.length ? null : h('ul', null, it.answers.map((answer) => h('li', null, h('code', null, answer.file), ': ' + answer.why)))));
}));

// The exits in their order: the first that is taken decides.
const exits = ({ considered }) => table('Ways out that were considered', ['Way out', 'Taken', 'Why'],
  considered.map((exit) => [reasonWords(exit.reason), exit.taken ? h('strong', { class: 'warn' }, 'taken') : 'no', exit.why]));

// What each rule asks for: which files brought it up, what was looked for, and what was found.
const found = (rules) => [h('p', { class: 'soft' }, 'Categories: ' + (rules.categories.join(', ') || 'none') + '.'), rules.trace.map((rule) => [
  h('h3', null, rule.rule, h('span', { class: 'soft' }, ' (' + rule.pack + ') ' + (rule.files.length ? cut(rule.files.join(' '), FILES_CHARS_MAX) : 'every stop'))),
  rule.actions.map((action) => [h('p', null, action.text), h('p', { class: 'soft' }, 'Looked for ' + action.looked), h('ul', null, action.seen.map((said) => h('li', null, said)))])])];

function inputs({ event, state }) {
  const rows = [['project', state.project], ['last message', when(state.last_message_sent_at)], ['last checkpoint', when(state.last_checkpoint_at)],
    ['last tool use', when(state.last_tool_use_at)], ['checkpoints in this turn', number(state.blocks_this_turn)],
    ['muted', state.muted ? 'yes' : 'no'], ['cleared by a person', state.cleared ? 'yes' : 'no']];
  return [h('dl', null, rows.map(([name, value]) => [h('dt', null, name), h('dd', null, value ?? '–')])),
    event ? h('p', null, words(event.kind) + ', ', eventLink(event.seq), ', in ', link('session/' + encodeURIComponent(event.session), 'the session’s timeline')) : null];
}

const when = (at) => (at ? moment(at) : '–');

function seen(evidence, subagents = {}) {
  const { changes } = evidence;
  const files = changes?.known?.map((file) => file.path);
  const said = files ? (files.length ? number(files.length) : 'none') : changes?.unknown ? 'unknown: ' + words(changes.unknown) : 'not asked for';
  const { calls, source } = evidence.timeline;
  return [
    h('dl', null, h('dt', null, 'changed files'), h('dd', null, said), h('dt', null, 'tool calls'), h('dd', null, number(calls.length) + ', from: ' + source),
      evidence.notes.map((note) => [h('dt', null, 'note'), h('dd', null, note)])),
    files?.length ? [h('h3', null, 'Changed files'), h('ul', { class: 'mono' }, files.slice(0, FILES_MAX).map((file) => h('li', null, file))),
      files.length > FILES_MAX ? h('p', null, '… and ' + (files.length - FILES_MAX) + ' more') : null] : null,
    calls.length ? [h('h3', null, 'Tool calls'), h('ol', { class: 'mono' }, calls.map((call) => h('li', { class: call.is_error ? 'bad' : null }, subagents[call.id] ? subagents[call.id] + ': ' : null, toolWords(call))))] : null,
  ];
}

function times({ evidence, times, delivery: steps }) {
  const rows = (times ?? []).map((step, index) => [index === 0 ? 'stop journaled' : index === 1 ? 'decision journaled' : words(step.kind),
    micros(step.after_us), words(steps[index - 2]?.by ?? steps[index - 2]?.reason ?? steps[index - 2]?.obstacle ?? '')]);
  return [
    rows.length ? table('Steps after the stop', ['Step', 'After the stop', ''], rows, [1]) : null,
    evidence?.steps?.length ? h('p', { class: 'soft' }, 'Looking things up: ' + evidence.steps.map(([name, us]) => name + ' ' + micros(us)).join(', ')) : null,
  ];
}
