// Times, durations and numbers as a person would write them.

const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const DAY = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
const NUMBER = new Intl.NumberFormat();

const two = (value) => String(value).padStart(2, '0');

export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return Math.round(ms) + 'ms';
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return (Math.floor(ms / 100) / 10).toFixed(1) + 's';
  if (seconds < 3600) return Math.floor(seconds / 60) + 'm' + two(seconds % 60) + 's';
  if (seconds < 86400) return Math.floor(seconds / 3600) + 'h' + two(Math.floor(seconds / 60) % 60) + 'm';
  return Math.floor(seconds / 86400) + 'd' + two(Math.floor(seconds / 3600) % 24) + 'h';
}

export function micros(us) {
  if (us === null || us === undefined) return '–';
  if (us < 0) return '−' + micros(-us);
  if (us < 1000) return us + 'µs';
  return us < 10000 ? (us / 1000).toFixed(1) + 'ms' : duration(us / 1000);
}

export const time = (at) => TIME.format(new Date(at));
export const day = (at) => DAY.format(new Date(at));
export const number = (value) => NUMBER.format(value);

export function moment(at) {
  const date = new Date(at);
  const today = new Date().toDateString() === date.toDateString();
  return (today ? '' : DAY.format(date) + ' ') + TIME.format(date);
}

// With milliseconds, for what happens within one second.
export const exact = (at) => TIME.format(new Date(at)) + '.' + String(new Date(at).getMilliseconds()).padStart(3, '0');

export const words = (word) => String(word ?? '').replaceAll('_', ' ');

// Why a stop was treated so, as the commands say it; a test compares them.
const REASONS = {
  muted: 'the session is muted',
  project_off: 'off for this project',
  escape_hatch: 'the agent said that it cannot',
  background_tasks: 'background tasks still run',
  no_turn_start: 'no turn had begun',
  block_budget: 'already asked in this turn',
  below_threshold: 'the turn was short',
  own_prompt: 'the prompt was a checkpoint',
  headless: 'nothing to do, and no user waits',
  repeated: 'asked before, nothing changed since',
  silent_all_clear: 'nothing is open',
  silent_docs_only: 'only documentation changed',
  docs_only: 'only documentation changed',
  overloaded: 'no answer in time',
  actions_due: 'work is open',
  observations_only: 'something to look at',
  all_clear: 'all is done',
  generic: 'what changed is not known',
  restart: 'the agent was restarted',
  silent_unchanged: 'nothing changed or failed',
  nobody_waiting: 'no agent waited for an answer',
  superseded: 'you wrote on before',
  held_out: 'held back, to measure the effect',
  leaves_open: 'work that would leave is open',
  leaves_asked: 'you asked for it to leave',
  leaves_clear: 'nothing that would leave is open',
  exits_off: 'work that left was open',
};
export const reasonWords = (reason) => REASONS[reason] ?? words(reason);

// How long ago something was, with the largest unit only, as the commands say it.
export function ago(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return seconds + 's ago';
  if (seconds < 3600) return Math.floor(seconds / 60) + 'm ago';
  return seconds < 86400 ? Math.floor(seconds / 3600) + 'h ago' : Math.floor(seconds / 86400) + 'd ago';
}

export function folder(path) {
  const parts = String(path ?? '').split('/').filter(Boolean);
  return parts.length ? parts[parts.length - 1] : '–';
}

export const plural = (count, one, many) => number(count) + ' ' + (count === 1 ? one : many ?? one + 's');

export function cut(text, most) {
  const value = String(text ?? '').replace(/\s+/g, ' ').trim();
  return value.length > most ? value.slice(0, most - 1) + '…' : value;
}

// What became of a stop, as people say it.
export const verdictWords = (verdict) => ({ inject: 'sent', pass: 'let through' }[verdict] ?? verdict);
