// What the last days come to: checkpoints by reason and project, demands met, turn lengths, hook times.

import { one } from './api.js';
import { h, replace, table } from './dom.js';
import { duration, folder, micros, number, plural, words } from './format.js';
import { COLOURS, bars } from './plot.js';

const SPANS = [['7', '7 days'], ['30', '30 days'], ['90', '90 days'], ['366', '1 year']];

export async function show(root) {
  const stop = new AbortController();
  const span = h('select', { onchange: () => draw() }, SPANS.map(([days, name]) => h('option', { value: days, selected: days === '30' }, name)));
  const place = h('div');
  replace(root, h('h1', null, 'Trends'), h('div', { class: 'tools' }, h('label', null, 'Over the last ', span)), place);
  async function draw() {
    replace(place, h('p', { class: 'soft', role: 'status' }, 'Counting…'));
    const answer = await one('/api/trends?days=' + span.value, { signal: stop.signal });
    replace(place, plots(answer));
  }
  await draw();
  return { leave: () => stop.abort() };
}

function plots(answer) {
  const { days, decisions, demands, rules, turns, hooks } = answer;
  const names = days.map((day) => day.slice(5));
  const sent = decisions.filter((it) => it.verdict === 'inject');
  const asked = days.map((_, day) => demands.find((it) => it.day === day) ?? { demands: 0, met: 0 });
  const sum = (list, field) => list.reduce((all, it) => all + it[field], 0);
  return [
    h('p', { class: 'summary' }, plural(sum(sent, 'count'), 'checkpoint') + ' of ' + plural(sum(decisions, 'count'), 'decision') + '; '
      + number(sum(asked, 'met')) + ' of ' + plural(sum(asked, 'demands'), 'demand') + ' met afterwards; middle turn '
      + duration(turns.median_ms) + '; hook calls journaled in ' + micros(hooks.p50_us) + ', one in a hundred in ' + micros(hooks.p99_us) + ' or more'
      + (hooks.later ? '; ' + plural(hooks.later, 'call') + ' came by the spool' : '') + '.'),
    rules.length ? table('Demands by rule', ['rule', 'asked', 'met', 'marked wrong'],
      rules.map((it) => [it.rule, number(it.demanded), it.met === null ? '–' : number(it.met), number(it.wrong)]), [1, 2, 3]) : null,
    h('div', { class: 'plots' },
      bars({ title: 'Checkpoints by reason', names, unit: 'checkpoints', across: 'day', named: true, series: by(sent, days, (it) => words(it.reason)) }),
      bars({ title: 'Checkpoints by project', names, unit: 'checkpoints', across: 'day', named: true, series: by(sent, days, (it) => folder(it.project)) }),
      bars({ title: 'Stops that were let pass, by reason', names, unit: 'stops', across: 'day', named: true, series: by(decisions.filter((it) => it.verdict === 'pass'), days, (it) => words(it.reason)) }),
      bars({ title: 'Demands, and what became of them', names, unit: 'demands', across: 'day',
        series: [{ name: 'met', values: asked.map((it) => it.met) }, { name: 'not met', values: asked.map((it) => it.demands - it.met) }] }),
      bars({ title: 'Turn lengths', names: classes(turns.bounds_ms, duration), unit: 'turns', across: 'length, up to', series: [{ name: 'turns', values: turns.counts }] }),
      bars({ title: 'Hook calls: time until journaled', names: classes(hooks.bounds_us, micros), unit: 'calls', across: 'time, up to', series: [{ name: 'calls', values: hooks.counts }] })),
  ];
}

// One series for each name, the most frequent first; what there is no colour for is put together.
function by(list, days, nameOf) {
  const series = new Map();
  for (const it of list) {
    const name = nameOf(it);
    if (!series.has(name)) series.set(name, days.map(() => 0));
    series.get(name)[it.day] += it.count;
  }
  const total = (values) => values.reduce((all, value) => all + value, 0);
  const sorted = [...series].map(([name, values]) => ({ name, values })).sort((a, b) => total(b.values) - total(a.values));
  if (sorted.length <= COLOURS) return sorted.length ? sorted : [{ name: 'none', values: days.map(() => 0) }];
  const rest = sorted.splice(COLOURS - 1);
  return [...sorted, { name: 'others', values: days.map((_, day) => rest.reduce((all, it) => all + it.values[day], 0)) }];
}

const short = (text) => text.replace('.0', '').replace(/^(\d+[hm])00.$/, '$1');
const classes = (bounds, format) => [...bounds.map((bound) => short(format(bound))), 'more'];
