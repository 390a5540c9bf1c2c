//! What the outputs of a turn's calls say. The output of a command in the background belongs to the call that started it
//! (spec EVID-17).

use std::collections::{BTreeMap, HashMap};

use journal::{CallOutcome, CommandEnd, Summary, SummaryVerdict, ToolCall, ToolKind};
use serde_json::Value;

use crate::outcome::{self, report};
use crate::tools::{ResultText, Tools};

/// The most summaries that are kept of one call.
const SUMMARIES_MAX: usize = 32;
/// The most earlier calls that may have written a file with an output.
const WRITERS_MAX: usize = 64;

/// Fields of a tool's input that name a command in the background.
const TASK_FIELDS: [&str; 4] = ["task_id", "bash_id", "shell_id", "session_id"];

/// Returns the id of the command in the background that a tool's input names.
pub(crate) fn task_in(input: &Value) -> Option<String> {
    let value = TASK_FIELDS.iter().find_map(|field| input.get(*field))?;
    match value {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// The outputs of a turn's calls, by position.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    said: BTreeMap<usize, CallOutcome>,
    /// The calls that left a command running, by the host's id of the command.
    started: HashMap<String, usize>,
    /// The commands that calls read the output of.
    read: HashMap<usize, String>,
}

impl Outputs {
    /// Notes that a call reads the output of a command in the background.
    pub(super) fn reads(&mut self, call: usize, task: Option<String>) {
        self.read.extend(task.map(|task| (call, task)));
    }

    /// Adds the result of the call at a position.
    pub(super) fn result(
        &mut self,
        tools: &Tools,
        calls: &[ToolCall],
        at: usize,
        result: &ResultText<'_>,
    ) {
        let Some(call) = calls.get(at).filter(|_| !result.refused) else {
            return;
        };
        if let Some(task) = &result.task {
            self.started.insert(task.clone().into_owned(), at);
        }
        let started = self.started_by(call, at).filter(|started| *started != at);
        let owner = match (started, call.kind) {
            (Some(started), _) => started,
            (None, ToolKind::Shell) => at,
            (None, ToolKind::Read) if call.paths.iter().any(|path| outcome::is_log(path)) => at,
            (None, ToolKind::Other) if result.is_error != Some(true) => {
                return self.reported(call, at, tools.body(&tools.program_text(result)));
            }
            (None, _) => return,
        };
        let text = tools.program_text(result);
        let text = text.as_ref();
        let summaries = outcome::read(text);
        let ended = started.and_then(|_| (tools.task_end)(result));
        if !summaries.is_empty() || ended.is_some() {
            let outcome = self.said.entry(owner).or_insert_with(|| CallOutcome {
                call: owner,
                ..CallOutcome::default()
            });
            add(&mut outcome.summaries, summaries);
            outcome.ended = verdict(ended).or(outcome.ended);
        }
    }

    /// Notes what a subagent, or a tool that tests or builds by itself, reports (spec EVID-27).
    fn reported(&mut self, call: &ToolCall, at: usize, text: &str) {
        let mut summaries = if report::is_subagent(&call.tool) {
            report::of_subagent(crate::text::tail(text, outcome::TAIL_BYTES))
        } else {
            Vec::from_iter(report::of_tool(&call.tool, text))
        };
        if !summaries.is_empty() {
            let outcome = self.said.entry(at).or_insert_with(|| CallOutcome {
                call: at,
                ..CallOutcome::default()
            });
            outcome.summaries.append(&mut summaries);
        }
    }

    /// Notes that a command in the background ended.
    pub(super) fn ended(&mut self, task: &str, failed: bool) {
        let Some(&call) = self.started.get(task) else {
            return;
        };
        let outcome = self.said.entry(call).or_insert_with(|| CallOutcome {
            call,
            ..CallOutcome::default()
        });
        outcome.ended = verdict(Some(failed));
    }

    /// Returns the call that started the command whose output a call reads: by its id, or from a file named after it.
    fn started_by(&self, call: &ToolCall, at: usize) -> Option<usize> {
        if self.started.is_empty() {
            return None;
        }
        if let Some(task) = self.read.get(&at) {
            return self.started.get(task).copied();
        }
        let words = call.command.iter().flat_map(|line| {
            line.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '|' | '>'))
        });
        let paths: Box<dyn Iterator<Item = &str>> = match call.kind {
            ToolKind::Read => Box::new(call.paths.iter().map(String::as_str)),
            ToolKind::Shell => Box::new(words),
            _ => return None,
        };
        let mut named = paths.filter_map(|path| {
            let name = path
                .rsplit(['/', '\\'])
                .next()
                .filter(|name| *name != path)?;
            self.started.get(name.split('.').next().unwrap_or(name))
        });
        named.next().copied()
    }

    /// Returns what the outputs say, in the order of the calls.
    pub(super) fn into_outcomes(self) -> Vec<CallOutcome> {
        self.said.into_values().collect()
    }
}

fn verdict(failed: Option<bool>) -> Option<SummaryVerdict> {
    failed.map(|failed| {
        if failed {
            SummaryVerdict::Failed
        } else {
            SummaryVerdict::Passed
        }
    })
}

/// Adds what is not known yet; of two words about one command, the later that says how it ended.
fn complete(known: &mut Vec<CommandEnd>, more: Vec<CommandEnd>) {
    for end in more {
        match known.iter_mut().find(|known| known.place == end.place) {
            Some(known) if end.verdict.is_some() => *known = end,
            Some(known) => {
                known.unread |= end.unread;
                known.crashed |= end.crashed;
            }
            None => known.push(end),
        }
    }
}

/// Adds what is missing: two records of one result, and two reads of one output, say the same.
fn add(known: &mut Vec<Summary>, more: Vec<Summary>) {
    for summary in more {
        if known.len() < SUMMARIES_MAX && !known.contains(&summary) {
            known.push(summary);
        }
    }
}
