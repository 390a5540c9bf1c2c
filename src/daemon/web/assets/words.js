// What an event says, in a few words. Events are those of a timeline: short, with nothing but what is said here.

import { cut, duration, folder, moment, reasonWords, verdictWords, words } from './format.js';

const TEXT_MAX = 110;

// What people call the commonest ones.
const KINDS = { prompt_submitted: 'message', prompt_found: 'message', agent_stopped: 'stopped', decided: 'checkpointd' };
export const kind = (event) => KINDS[event.kind] ?? words(event.kind);

export function toolWords(call) {
  const about = call.command ?? (call.paths ?? []).join(' ');
  const took = call.duration_ms === null || call.duration_ms === undefined ? '' : ' ' + duration(call.duration_ms);
  return call.tool + ' ' + cut(about, TEXT_MAX) + took + (call.is_error ? ' failed' : call.refused ? ' refused' : '');
}

// What an event is about: the input of a call, with files by their places in the project; else what it says.
export function about(event, project) {
  const within = (path) => (project && path.startsWith(project + '/') ? path.slice(project.length + 1) : path);
  return event.call ? cut(event.call.command ?? (event.call.paths ?? []).map(within).join(' '), TEXT_MAX) : said(event);
}

// How a call went: its time, and a word with its tone where it did not just end well.
export function outcome({ kind, at, began_at: began, call }) {
  if (!call) return [null];
  const took = call.duration_ms ?? (began ? Date.parse(at) - Date.parse(began) : null);
  return call.is_error ? [took, 'bad', 'failed'] : call.refused ? [took, 'warn', 'refused'] : kind === 'tool_started' ? [null, 'soft', 'running …'] : [took];
}

// What checkpointd does by itself, or an agent's machinery: of interest only to who looks for it.
const INTERNAL = ['model_stepped', 'other_hook', 'evidence_gathered', 'facts_gathered', 'announced', 'baseline_taken', 'head_seen', 'call_examined', 'progress_written', 'progress_validated'];
export const isInternal = (event) => INTERNAL.includes(event.kind) || event.kind.startsWith('delivery') || (event.kind.startsWith('prompt') && event.origin !== 'user');

const SAID = {
  session_started: (e) => e.source,
  session_ended: (e) => e.reason,
  prompt_submitted: (e) => (e.origin === 'user' ? '' : e.origin + ': ') + cut(e.text, TEXT_MAX),
  prompt_found: (e) => (e.origin === 'user' ? '' : e.origin + ': ') + cut(e.text, TEXT_MAX),
  tool_started: (e) => toolWords(e.call),
  tool_finished: (e) => toolWords(e.call),
  tool_failed: (e) => toolWords(e.call),
  permission_asked: (e) => toolWords(e.call),
  agent_stopped: (e) => (e.reentry ? 'again' : '') + (e.last_message ? ' ' + cut(e.last_message, TEXT_MAX) : ''),
  interrupted: (e) => e.cause,
  notified: (e) => words(e.notification) + ': ' + cut(e.message, TEXT_MAX),
  decided: (e) => verdictWords(e.verdict) + ': ' + reasonWords(e.reason) + (Number.isFinite(e.elapsed_ms) ? ' (after ' + duration(e.elapsed_ms) + ')' : ''),
  delivery_attempted: (e) => words(e.route) + ' of ' + e.decision,
  delivery_confirmed: (e) => e.decision + ' by ' + words(e.by),
  delivery_held: (e) => e.decision + ' ' + words(e.obstacle),
  delivery_pasted: (e) => String(e.decision),
  delivery_entered: (e) => String(e.decision),
  delivery_failed: (e) => e.decision + ' ' + words(e.reason),
  delivery_expired: (e) => e.decision + ' ' + words(e.reason),
  escape_hatch_used: (e) => 'by ' + e.by,
  marked_wrong: (e) => String(e.decision),
  muted: (e) => (e.until ? 'until ' + moment(e.until) : ''),
  announced: (e) => words(e.news) + ' of ' + e.about,
  restart_requested: (e) => 'checkpoint due ' + moment(e.due),
  agent_restarted: (e) => 'checkpoint due ' + moment(e.due),
  restart_closed: (e) => words(e.reason),
  progress_written: (e) => e.progress + ' ' + folder(e.file),
  progress_validated: (e) => e.document + (e.holds ? ' holds' : ' does not hold'),
  model_stepped: (e) => e.hook,
  other_hook: (e) => e.hook,
};

export const said = (event) => SAID[event.kind]?.(event) ?? '';

// In which lane an event stands, and how it looks there; null for what would only be in the way.
export function lane(event) {
  if (INTERNAL.includes(event.kind) && !event.kind.startsWith('progress')) return null;
  switch (event.kind) {
    case 'prompt_submitted': case 'prompt_found':
      return ['prompts', event.origin === 'user' ? 'accent' : 'soft'];
    case 'tool_started': case 'tool_finished': case 'tool_failed':
      return [toolLane(event.call), event.call.is_error ? 'bad' : event.call.refused ? 'warn' : 'tool'];
    case 'permission_asked': case 'interrupted':
      return ['agent', 'bad'];
    case 'agent_stopped':
      return ['agent', 'ink'];
    case 'decided':
      return ['decisions', event.verdict === 'inject' ? 'warn' : 'soft'];
    case 'delivery_confirmed':
      return ['delivery', 'good'];
    case 'delivery_failed': case 'delivery_expired':
      return ['delivery', 'bad'];
    default:
      return [event.kind.startsWith('delivery') ? 'delivery' : 'agent', 'soft'];
  }
}

function toolLane(call) {
  if (call.kind === 'shell') return 'shell';
  if (call.kind === 'edit' || call.kind === 'write') return 'edits';
  return call.kind === 'read' ? 'reads' : 'other';
}
