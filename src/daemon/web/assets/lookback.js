// What became of the turns in the agents' own transcripts, by the rules in force now. Nothing of it is kept.

import { get } from './api.js';
import { h, replace, table } from './dom.js';
import { duration, folder, number, plural } from './format.js';
import { COLORS, bars } from './plot.js';

const SPANS = [['7', '7 days'], ['30', '30 days'], ['90', '90 days'], ['366', '1 year']];

export async function show(root) {
  const stop = new AbortController();
  const span = h('select', { onchange: () => draw() }, SPANS.map(([days, name]) => h('option', { value: days, selected: days === '30' }, name)));
  const place = h('div');
  replace(root, h('h1', null, 'Looking back'), h('div', { class: 'tools' }, h('label', null, 'Over the last ', span)), place);
  async function draw() {
    replace(place, h('p', { class: 'soft', role: 'status' }, 'Reading the agents’ transcripts…'));
    const answer = await get('/api/lookback?days=' + span.value, { signal: stop.signal });
    replace(place, parts(answer));
  }
  await draw();
  return { leave: () => stop.abort() };
}

function parts({ total, groups, days, rules, worth, problems, complete }) {
  if (!total.turns) return h('p', null, 'No turns were found in the transcripts of this time.');
  const names = [...new Set(days.map((it) => it.day))];
  const of = (field) => names.map((day) => days.filter((it) => it.day === day).reduce((all, it) => all + it[field], 0));
  const short = names.map((day) => day.slice(5));
  return [
    h('p', { class: 'summary' }, number(total.nothing_run) + ' of ' + plural(total.turns, 'turn') + ' ended with code changed and nothing run after it, '
      + number(total.tests_failed) + ' with failing tests, ' + number(total.error_left) + ' with an error left; at '
      + number(total.asked) + ' something would have been asked.' + (complete ? '' : ' Not all transcripts were read.')),
    h('div', { class: 'plots' },
      bars({ title: 'What became of turns', names: short, unit: 'turns', across: 'day', named: true, series: [
        { name: 'nothing run', values: of('nothing_run') },
        { name: 'failing tests', values: of('tests_failed') },
        { name: 'error left', values: of('error_left') }] }),
      bars({ title: 'Turns by project', names: short, unit: 'turns', across: 'day', named: true, series: projects(names, days, 'turns') }),
      bars({ title: 'Nothing run after a change of code, by project', names: short, unit: 'turns', across: 'day', named: true,
        series: projects(names, days, 'nothing_run') })),
    table('By project', ['project', 'agent', 'sessions', 'turns', 'time', 'code changed', 'nothing run', 'failing', 'error', 'asked'],
      groups.map((it) => [folder(it.project), it.agent, number(it.sessions), number(it.turns), duration(it.worked_ms), number(it.code_changed),
        number(it.nothing_run), number(it.tests_failed), number(it.error_left), number(it.asked)]), [2, 3, 4, 5, 6, 7, 8, 9]),
    rules.length ? table('What would have been asked, by rule', ['rule', 'turns'], rules.map((it) => [it.rule, number(it.turns)]), [1]) : null,
    worth.length ? table('Most worth reading', ['when', 'project', 'message', 'left open', 'open with'],
      worth.map((it) => [it.at.slice(0, 16).replace('T', ' '), folder(it.project), it.prompt, left(it), it.open ?? it.transcript]), []) : null,
    problems.length ? h('p', { class: 'soft' }, plural(problems.length, 'transcript') + ' cannot be read, or not all of it.') : null,
  ];
}

const left = (it) => [[it.claimed, 'claims passing tests'], [it.nothing_run, 'nothing run'], [it.tests_failed, 'tests fail'], [it.error_left, 'an error']]
  .filter(([is]) => is).map(([, what]) => what).join(', ') || it.asked[0] || '';

// One series for each project, the one with the most first; what there is no color for is put together.
function projects(names, days, field) {
  const series = new Map();
  for (const it of days) {
    const name = folder(it.project) || 'no folder';
    if (!series.has(name)) series.set(name, names.map(() => 0));
    series.get(name)[names.indexOf(it.day)] += it[field];
  }
  const total = (values) => values.reduce((all, value) => all + value, 0);
  const sorted = [...series].map(([name, values]) => ({ name, values })).sort((a, b) => total(b.values) - total(a.values));
  if (sorted.length <= COLORS) return sorted;
  const rest = sorted.splice(COLORS - 1);
  return [...sorted, { name: 'others', values: names.map((_, day) => rest.reduce((all, it) => all + it.values[day], 0)) }];
}
