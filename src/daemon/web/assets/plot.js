// Bars with axes, units, a legend, and the same figures as a table.

import { h, s, table } from './dom.js';
import { number } from './format.js';

const WIDTH = 560;
const HEIGHT = 230;
const LEFT = 46;
const RIGHT = 8;
const TOP = 18;
const BOTTOM = 42;
export const COLORS = 8;

// `names` stand below the bars, `series` are {name, values}; they are stacked. `unit` belongs to the figures, `across`
// to the names. With `named`, one series alone is named too.
export function bars({ title, names, series, unit, across, format = number, named }) {
  const sums = names.map((_, index) => series.reduce((sum, { values }) => sum + values[index], 0));
  const most = Math.max(1, ...sums);
  const steps = ticks(most);
  const top = steps[steps.length - 1];
  const x = (index) => LEFT + ((WIDTH - LEFT - RIGHT) * index) / names.length;
  const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / top;
  const wide = (WIDTH - LEFT - RIGHT) / names.length;
  const every = Math.ceil(Math.max(...names.map((name) => name.length), 3) * 8 / wide);
  const chart = s('svg', { viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT, role: 'img', 'aria-label': title + ', in ' + unit + '. The table below has the figures.' },
    steps.map((value) => [
      s('line', { class: 'axis', x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      s('text', { x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, format(value)),
    ]),
    names.map((name, index) => stack(series, index, x(index) + wide * 0.1, wide * 0.8, y, name, format)),
    names.map((name, index) => (index % every ? null
      : s('text', { class: 'name', x: x(index) + wide / 2, y: HEIGHT - BOTTOM + 15, 'text-anchor': 'middle' }, name))),
    s('text', { x: 0, y: 10 }, unit), s('text', { x: WIDTH - RIGHT, y: HEIGHT - 8, 'text-anchor': 'end' }, across));
  const legend = series.length > 1 || named ? h('ul', { class: 'legend' }, series.map(({ name }, index) => h('li', null, h('i', { class: 'k' + (index % COLORS) }), name))) : null;
  const rows = names.map((name, index) => [name, ...series.map(({ values }) => format(values[index]))]);
  const drawn = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title + ', as a plot' }, chart);
  return h('figure', null, h('figcaption', null, title), drawn, legend,
    h('details', null, h('summary', null, 'As a table'), table(title, [across, ...series.map((one) => one.name)], rows, series.map((_, index) => index + 1))));
}

function stack(series, index, x, width, y, name, format) {
  let below = 0;
  return series.map(({ name: part, values }, place) => {
    const value = values[index];
    const bar = value > 0 && s('rect', { class: 'k' + (place % COLORS), x, width: Math.max(1, width), y: y(below + value), height: Math.max(0.5, y(below) - y(below + value)) },
      s('title', null, name + ': ' + format(value) + (series.length > 1 ? ' ' + part : '')));
    below += value;
    return bar;
  });
}

// Round figures from zero up to the first one that is not below the largest.
function ticks(most) {
  const rough = most / 4;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(most <= 4 ? 1 : 0, [1, 2, 5, 10].map((by) => by * size).find((step) => step >= rough));
  const all = [];
  for (let value = 0; ; value += step) {
    all.push(value);
    if (value >= most) return all;
  }
}
