// Checks documents with Harper: harper.mjs RULES_OFF WORDS FILE..
import { readFileSync } from 'node:fs';
import { Dialect, LocalLinter } from 'harper.js';
import { binary } from 'harper.js/binary';

const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/ *#.*/, '').trim())
    .filter(Boolean);

const [rulesOff, words, ...files] = process.argv.slice(2);
const linter = new LocalLinter({ binary, dialect: Dialect.American });
const config = await linter.getLintConfig();
for (const rule of lines(rulesOff)) {
  if (!(rule in config)) throw new Error(`${rulesOff}: Harper has no rule ${rule}`);
  config[rule] = false;
}
await linter.setLintConfig(config);
await linter.importWords(lines(words));

let found = false;
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const rules = await linter.organizedLints(text, { language: 'markdown' });
  const lints = Object.entries(rules).flatMap(([rule, group]) => group.map((lint) => [rule, lint]));
  // Positions count characters, not the units of a JavaScript string.
  const characters = [...text];
  for (const [rule, lint] of lints.sort(([, a], [, b]) => a.span().start - b.span().start)) {
    const before = characters.slice(0, lint.span().start).join('').split('\n');
    const problem = lint.get_problem_text().replaceAll('\n', ' ').slice(0, 60);
    console.log(`${file}:${before.length}:${before.at(-1).length + 1}: ${rule}: "${problem}": ${lint.message()}`);
    found = true;
  }
}
process.exit(found ? 1 : 0);
