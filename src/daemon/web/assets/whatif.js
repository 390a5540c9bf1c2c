// Another configuration, tried on everything that was ever decided. Nothing is changed by it.

import { get, one } from './api.js';
import { decisionLink, h, replace, sessionLink, table } from './dom.js';
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
  const editor = h('textarea', { rows: '14', spellcheck: 'false', 'aria-label': 'Configuration to try', value: text });
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
      replace(place, h('p', { class: 'problem', role: 'alert' }, error.message));
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

function outcome(answer) {
  const { changed, decisions } = answer;
  const turned = (from, to) => changed.filter((it) => it.was.verdict === from && it.now.verdict === to).length;
  const side = (it) => [h('span', { class: 'verdict ' + it.verdict }, verdictWords(it.verdict)), ', ', reasonWords(it.reason)];
  const rows = changed.slice(-SHOWN_MAX).reverse().map((it) => [decisionLink(it.seq), moment(it.at), it.agent, sessionLink(it.session), folder(it.project),
    side(it.was), side(it.now), it.now.message && it.now.message !== it.was.message ? h('details', null, h('summary', null, 'the message'), h('pre', null, it.now.message)) : '–']);
  return [
    h('h2', null, number(changed.length) + ' of ' + plural(decisions, 'decision') + ' would change'),
    h('p', null, plural(turned('pass', 'inject'), 'more checkpoint') + ', ' + turned('inject', 'pass') + ' fewer, '
      + (changed.length - turned('pass', 'inject') - turned('inject', 'pass')) + ' otherwise'
      + (changed.length > SHOWN_MAX ? '; the newest ' + SHOWN_MAX + ' are shown' : '') + '.'),
    answer.waiting.map((line) => h('p', { class: 'soft' }, line)),
    rows.length ? table('Decisions that would change', ['Decision', 'At', 'Agent', 'Session', 'Project', 'Was', 'Would be', 'New message'], rows, [0]) : null,
  ];
}

function download(text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  h('a', { href: url, download: 'config.yml' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
