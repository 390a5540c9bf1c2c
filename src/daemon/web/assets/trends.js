// What the last days come to: whether demands were right, met or ignored, by rule and project; and how it went day by day.

import { one } from './api.js';
import { decisionLink, h, replace, table } from './dom.js';
import { duration, folder, micros, moment, number, plural, reasonWords } from './format.js';
import { COLORS, bars } from './plot.js';

const SPANS = [['7', '7 days'], ['30', '30 days'], ['90', '90 days'], ['366', '1 year']];

export async function show(root) {
  const stop = new AbortController();
  const span = h('select', { onchange: () => draw(span.value) }, SPANS.map(([days, name]) => h('option', { value: days }, name)));
  const machine = h('select', { onchange: () => draw(span.value) });
  const ofMachine = h('label', { hidden: true }, 'On ', machine);
  const place = h('div');
  replace(root, h('h1', null, 'Trends'), h('div', { class: 'tools' }, h('label', null, 'Over the last ', span), ofMachine), place);
  async function draw(days) {
    replace(place, h('p', { class: 'soft', role: 'status' }, 'Counting…'));
    const query = new URLSearchParams({ days });
    if (machine.value) query.set('machine', machine.value);
    const answer = await one('/api/trends?' + query, { signal: stop.signal });
    offer(answer.known_machines);
    // Of no span in particular the daemon takes the shortest one that has all there is.
    span.value = String(answer.days.length);
    replace(place, acted(answer), plots(answer));
  }
  // At a collector.
  function offer(known) {
    ofMachine.hidden = !known.length;
    const chosen = machine.value;
    replace(machine, h('option', { value: '' }, 'all machines'), known.map((name) => h('option', { value: name }, name)));
    machine.value = chosen;
  }
  await draw(0);
  return { leave: () => stop.abort() };
}

const share = (part, all) => (all ? Math.round((100 * part) / all) + ' %' : '–');
const figure = (value, name, about) => h('div', { class: 'figure' }, h('dt', null, name), h('dd', null, h('strong', null, value), ' ', h('span', { class: 'soft' }, about)));

// What somebody can act on: a rule that is often wrong or ignored, a project where demands are not met.
function acted({ demands, rules, projects, machines, done_ms: done, benefit, turns, hooks }) {
  const sum = (field) => demands.reduce((all, it) => all + it[field], 0);
  const [asked, met] = [sum('demands'), sum('met')];
  const ignored = (it) => (it.met === null ? '–' : number(it.demanded - it.met));
  return [
    h('p', { class: 'summary' }, plural(benefit.sent, 'checkpoint') + ' at ' + plural(benefit.stops, 'stop') + '; ' + number(met) + ' of '
      + plural(asked, 'demand') + ' met afterward.'),
    h('dl', { class: 'figures' },
      figure(number(benefit.caught), 'caught', 'of ' + plural(benefit.checks, 'check') + ' that checkpoints asked for failed at first: mistakes that you were not handed'),
      figure(share(met, asked), 'met', number(met) + ' of ' + plural(asked, 'demand') + ' that have ended'),
      figure(number(benefit.open), 'pending', 'demands whose end is not known yet'),
      figure(number(benefit.wrong), 'marked wrong', 'of ' + plural(benefit.sent, 'checkpoint') + '; the others are unrated'),
      figure(duration(done), 'time to done', 'the middle of the demands that were met'),
      figure(duration(benefit.ms), 'time spent', 'in ' + plural(benefit.rounds, 'answer') + ' that checkpoints led to, at most'),
      figure(number(benefit.lost), 'lost', 'checkpoints that did not arrive'),
      figure(duration(turns.median_ms), 'middle turn', 'hook calls were journaled in ' + micros(hooks.p50_us) + ', one in a hundred in ' + micros(hooks.p99_us) + ' or more'
        + (hooks.later ? '; ' + plural(hooks.later, 'call') + ' came by the spool' : ''))),
    benefit.mistakes.length ? [h('h2', null, 'Caught'), table('Checks that failed at first', ['check', 'when', 'decision'],
      benefit.mistakes.map((it) => [h('code', null, it.command), moment(it.at), decisionLink(it.decision)]))] : null,
    rules.length ? [h('h2', null, 'By rule'), table('Demands by rule', ['rule', 'asked', 'met', 'ignored', 'marked wrong'],
      rules.map((it) => [it.rule, number(it.demanded), it.met === null ? '–' : number(it.met), ignored(it), number(it.wrong)]), [1, 2, 3, 4]),
    h('p', { class: 'soft' }, 'A rule that is often wrong or ignored is worth a change: ', h('a', { href: '#/what-if' }, 'What if'), ' tries one on the past.')] : null,
    projects.length ? [h('h2', null, 'By project'), table('Demands by project', ['project', 'asked', 'met', 'ignored', 'marked wrong', 'time to done'],
      projects.map((it) => [h('span', { title: it.name }, folder(it.name)), ...counts(it)]), [1, 2, 3, 4, 5])] : null,
    machines.length ? [h('h2', null, 'By machine'), table('Demands by machine', ['machine', 'asked', 'met', 'ignored', 'marked wrong', 'time to done'],
      machines.map((it) => [it.name, ...counts(it)]), [1, 2, 3, 4, 5])] : null,
  ];
}

const counts = (it) => [number(it.demands), number(it.met), number(it.demands - it.met), number(it.wrong), duration(it.done_ms)];

function plots(answer) {
  const { days, decisions, demands, turns, hooks } = answer;
  const names = days.map((day) => day.slice(5));
  const sent = decisions.filter((it) => it.verdict === 'inject');
  const asked = days.map((_, day) => demands.find((it) => it.day === day) ?? { demands: 0, met: 0 });
  return [h('h2', null, 'Day by day'),
    h('div', { class: 'plots' },
      bars({ title: 'Checkpoints by reason', names, unit: 'checkpoints', across: 'day', named: true, series: by(sent, days, (it) => reasonWords(it.reason)) }),
      bars({ title: 'Checkpoints by project', names, unit: 'checkpoints', across: 'day', named: true, series: by(sent, days, (it) => folder(it.project)) }),
      bars({ title: 'Stops that were let pass, by reason', names, unit: 'stops', across: 'day', named: true, series: by(decisions.filter((it) => it.verdict === 'pass'), days, (it) => reasonWords(it.reason)) }),
      bars({ title: 'Demands, and what became of them', names, unit: 'demands', across: 'day',
        series: [{ name: 'met', values: asked.map((it) => it.met) }, { name: 'ignored', values: asked.map((it) => it.demands - it.met) }] }),
      bars({ title: 'Turn lengths', names: classes(turns.bounds_ms, duration), unit: 'turns', across: 'length, up to', series: [{ name: 'turns', values: turns.counts }] }),
      bars({ title: 'Hook calls: time until journaled', names: classes(hooks.bounds_us, micros), unit: 'calls', across: 'time, up to', series: [{ name: 'calls', values: hooks.counts }] })),
  ];
}

// One series for each name, the most frequent first; what there is no color for is put together.
function by(list, days, nameOf) {
  const series = new Map();
  for (const it of list) {
    const name = nameOf(it);
    if (!series.has(name)) series.set(name, days.map(() => 0));
    series.get(name)[it.day] += it.count;
  }
  const total = (values) => values.reduce((all, value) => all + value, 0);
  const sorted = [...series].map(([name, values]) => ({ name, values })).sort((a, b) => total(b.values) - total(a.values));
  if (sorted.length <= COLORS) return sorted.length ? sorted : [{ name: 'none', values: days.map(() => 0) }];
  const rest = sorted.splice(COLORS - 1);
  return [...sorted, { name: 'others', values: days.map((_, day) => rest.reduce((all, it) => all + it.values[day], 0)) }];
}

const short = (text) => text.replace('.0', '').replace(/^(\d+[hm])00.$/, '$1');
const classes = (bounds, format) => [...bounds.map((bound) => short(format(bound))), 'more'];
