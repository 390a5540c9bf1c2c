// Another configuration, tried on everything that was ever decided. Nothing is changed by it.

import { get, one } from './api.js';
import { h, link, replace, sessionLink } from './dom.js';
import { folder, moment, number, plural, reasonWords, verdictWords } from './format.js';

// Keys that have a field of their own; the text below has all of them.
const FIELDS = [
  ['min_turn', 'Shortest turn that gets a checkpoint', null],
  ['max_blocks_per_turn', 'Checkpoints in one turn, at most', ['0', '1', '2', '3']],
  ['repeat', 'The same demand again', ['once', 'always']],
  ['evidence', 'What shows that something was done', ['command', 'substring']],
  ['all_clear', 'When everything was seen', ['message', 'silent']],
  ['docs_only', 'When only documents changed', ['message', 'silent']],
];
const SHOWN_MAX = 500;
const RULE = `rules:
  - name: database schema
    include: ["migrations/**"]
    actions:
      - text: Run the migration against a copy
        evidence: [make migrate-test]
`;

export async function show(root) {
  const { text, settings } = await get('/api/config');
  const holds = new Map(settings);
  const editor = h('textarea', { rows: String(Math.max(4, text.split('\n').length + 1)), spellcheck: 'false', 'aria-label': 'Configuration to try', value: text });
  const fields = FIELDS.map(([key, name, choices]) => {
    const field = choices ? h('select', null, choices.map((choice) => h('option', { value: choice }, choice))) : h('input', { inputmode: 'text' });
    field.name = key;
    field.value = read(text, key) ?? holds.get(key) ?? '';
    field.addEventListener('change', () => { editor.value = write(editor.value, key, field.value); });
    return h('label', null, name, field);
  });
  editor.addEventListener('change', () => {
    for (const field of root.querySelectorAll('.fields [name]')) field.value = read(editor.value, field.name) ?? holds.get(field.name) ?? '';
  });
  const place = h('div', { 'aria-live': 'polite' });
  const go = h('button', { type: 'submit', class: 'main' }, 'See what would change');
  const form = h('form', { onsubmit: (event) => { event.preventDefault(); run(); } },
    h('div', { class: 'fields' }, fields), h('h2', null, 'config.yml'),
    h('p', { class: 'soft' }, 'Only what differs from the defaults has to be here. Rules are tried too.'), editor,
    h('div', { class: 'tools' }, go,
      h('button', { type: 'button', onclick: () => download(editor.value) }, 'Download config.yml'),
      h('button', { type: 'button', onclick: () => { editor.value = editor.value.trimEnd() + (editor.value.trim() ? '\n' : '') + RULE; } }, 'Add an example rule'),
      h('button', { type: 'button', onclick: () => { editor.value = text; editor.dispatchEvent(new Event('change')); } }, 'As it is now')));
  replace(root, h('h1', null, 'What if'),
    h('p', { class: 'summary' }, 'Change the threshold or the rules, and see which past decisions would have come out otherwise. Nothing is sent and nothing is changed.'),
    form, place);
  const stop = new AbortController();

  async function run() {
    const bar = h('progress');
    replace(place, h('p', null, h('label', null, 'Deciding again… ', bar)));
    go.disabled = true;
    try {
      const progress = (done, all) => { bar.max = all; bar.value = done; };
      replace(place, outcome(await one('/api/what-if', { body: { text: editor.value }, progress, signal: stop.signal })));
    } catch (error) {
      // A mistake is shown with its caret below its place, and selected in the text.
      replace(place, h('pre', { class: 'problem', role: 'alert' }, error.message));
      mark(editor, error.message);
    }
    go.disabled = false;
  }
  return { leave: () => stop.abort() };
}

// A key at the top level of a YAML text that is one plain value.
const line = (key) => new RegExp('^' + key + ':[ \\t]*([^#\\n]*?)[ \\t]*(#.*)?$', 'm');

const read = (text, key) => line(key).exec(text)?.[1].replace(/^["']|["']$/g, '') || null;

function write(text, key, value) {
  if (line(key).test(text)) return text.replace(line(key), () => key + ': ' + value);
  return key + ': ' + value + '\n' + text;
}

// Selects the line of a mistake from its place on.
function mark(editor, message) {
  const [, line, column] = /config\.yml:(\d+):(\d+)/.exec(message) ?? [];
  if (!line) return;
  const lines = editor.value.split('\n');
  const begin = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  editor.focus({ preventScroll: true });
  editor.setSelectionRange(begin + Number(column) - 1, begin + (lines[line - 1] ?? '').length);
}

// The lines that two texts differ in; what is between them only where it joins two differences.
function difference(was, now) {
  const [a, b] = [was ? was.split('\n') : [], now ? now.split('\n') : []];
  // How many lines are common to the rests of both.
  const common = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let k = b.length - 1; k >= 0; k -= 1) common[i][k] = a[i] === b[k] ? common[i + 1][k + 1] + 1 : Math.max(common[i + 1][k], common[i][k + 1]);
  }
  const lines = [];
  for (let i = 0, k = 0; i < a.length || k < b.length;) {
    if (i < a.length && k < b.length && a[i] === b[k]) {
      lines.push([' ', a[i]]);
      i += 1;
      k += 1;
    } else if (k >= b.length || (i < a.length && common[i + 1][k] >= common[i][k + 1])) lines.push(['−', a[i++]]);
    else lines.push(['+', b[k++]]);
  }
  return h('pre', { class: 'difference' }, lines.map(([sign, text]) => h(sign === '+' ? 'ins' : sign === '−' ? 'del' : 'span', null, sign + ' ' + text + '\n')));
}

function outcome(answer) {
  const { changed, decisions } = answer;
  const turned = (from, to) => changed.filter((it) => it.was.verdict === from && it.now.verdict === to).length;
  const side = (it) => [h('span', { class: 'verdict ' + it.verdict }, verdictWords(it.verdict)), ', ', reasonWords(it.reason)];
  const rows = changed.slice(-SHOWN_MAX).reverse().map((it) => h('li', { class: 'card ' + it.now.verdict },
    h('p', { class: 'about' }, link('decision/' + it.seq, [it.seq + ': ', side(it.was)]), ' → ', side(it.now)),
    it.was.message !== it.now.message ? h('details', { open: changed.length === 1 }, h('summary', null, 'The difference of the messages'), difference(it.was.message, it.now.message)) : null,
    h('p', { class: 'where' }, h('span', { class: 'project', title: it.project }, folder(it.project)), h('span', null, it.agent + ' ', sessionLink(it.session)), h('time', { datetime: it.at }, moment(it.at)))));
  return [
    h('h2', null, number(changed.length) + ' of ' + plural(decisions, 'decision') + ' would change'),
    h('p', null, plural(turned('pass', 'inject'), 'more checkpoint') + ', ' + turned('inject', 'pass') + ' fewer, '
      + (changed.length - turned('pass', 'inject') - turned('inject', 'pass')) + ' otherwise'
      + (changed.length > SHOWN_MAX ? '; the newest ' + SHOWN_MAX + ' are shown' : '') + '.'),
    answer.waiting.map((line) => h('p', { class: 'soft' }, line)),
    rows.length ? h('ul', { class: 'cards', 'aria-label': 'Decisions that would change' }, rows) : null,
  ];
}

function download(text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  h('a', { href: url, download: 'config.yml' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
