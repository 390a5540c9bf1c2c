//! What the outputs of a turn's calls say. The output of a command in the background belongs to the call that started it
//! (spec EVID-11).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use journal::{CallOutcome, Summary, SummaryVerdict, ToolCall, ToolKind};
use serde_json::Value;

use super::facts::Facts;
use super::facts::Subagent;
use crate::tools::{ResultText, Tools};
use reading::outcome::{self, report};

/// The most summaries that are kept of one call.
const SUMMARIES_MAX: usize = 32;

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
    subagents: Vec<Subagent>,
}

/// The notice that something in the background ended.
#[derive(Debug, Default)]
pub struct TaskEnd<'a> {
    /// The agent's id of it.
    pub task: Cow<'a, str>,
    /// The agent's id of the call that started it, if the notice names that.
    pub call: Option<Cow<'a, str>>,
    /// Whether it failed, if the notice says so.
    pub failed: Option<bool>,
    /// What a subagent reports.
    pub report: Cow<'a, str>,
    /// How many tools the subagent used.
    pub calls: Option<u64>,
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
        if report::is_subagent(&call.tool) {
            return self.returned(tools, at, result);
        }
        let started = self.started_by(call, at).filter(|started| *started != at);
        let owner = match (started, call.kind) {
            (Some(started), _) => started,
            (None, ToolKind::Shell) => at,
            (None, ToolKind::Read) if call.paths.iter().any(|path| outcome::is_log(path)) => at,
            // It answered with the end of a command that it ran.
            (None, ToolKind::Other) if result.exit_code.is_some() => at,
            (None, ToolKind::Other) if result.is_error != Some(true) => {
                let said = report::of_tool(&call.tool, tools.body(&tools.program_text(result)));
                return self.add(at, said);
            }
            (None, _) => return,
        };
        let line = calls[owner].command.as_deref().unwrap_or_default();
        let mut said = outcome::of_call(line, &tools.program_text(result));
        if said.is_empty() && call.kind == ToolKind::Other {
            let code = result.exit_code.unwrap_or_default();
            said.extend(report::by_code(&call.tool, code));
        }
        self.add(owner, said);
        if let Some(failed) = started.and_then(|_| (tools.task_end)(result)) {
            self.of(owner).ended = Some(verdict(failed));
        }
    }

    /// Notes what commands printed into a text beside the result of a call: those in a skill's text. What is fenced is an
    /// example, and prose has no form of a known tool.
    pub(super) fn printed(&mut self, calls: &[ToolCall], at: usize, text: &str) {
        let is_other = |call: &ToolCall| call.kind == ToolKind::Other;
        if calls.get(at).is_some_and(is_other) {
            let unfenced: Vec<&str> = text.split("```").step_by(2).collect();
            let said = outcome::read(&unfenced.concat()).into_iter();
            self.add(at, said.filter(|summary| !summary.tool.is_empty()));
        }
    }

    /// Notes that a subagent returned, or was started.
    fn returned(&mut self, tools: &Tools, at: usize, result: &ResultText<'_>) {
        let known = result.subagent.as_ref();
        if let Some(id) = known.and_then(|known| known.id.as_ref()) {
            let id = id.clone().into_owned();
            self.subagents.push(Subagent { id, call: at });
        }
        if !result.running && known.is_none_or(|known| !known.continues) {
            let text = tools.program_text(result);
            self.reported(at, tools.body(&text), known.and_then(|known| known.calls));
        }
    }

    /// Notes what a subagent says of its work (spec EVID-13): nothing, if it used no tool.
    fn reported(&mut self, at: usize, text: &str, calls: Option<u64>) {
        if calls != Some(0) {
            let text = reading::text::tail(text, outcome::TAIL_BYTES);
            self.add(at, report::of_subagent(text));
        }
    }

    /// Notes that a command, or a subagent, in the background ended; `call` is the call that the notice names.
    pub(super) fn ended(&mut self, calls: &[ToolCall], call: Option<usize>, end: &TaskEnd<'_>) {
        let Some(at) = call.or_else(|| self.started.get(&*end.task).copied()) else {
            return;
        };
        let is_subagent = |call: &ToolCall| report::is_subagent(&call.tool);
        if calls.get(at).is_some_and(is_subagent) {
            // A later report of the same subagent replaces the one before.
            self.said.remove(&at);
            self.reported(at, &end.report, end.calls);
        } else if let Some(failed) = end.failed {
            self.of(at).ended = Some(verdict(failed));
        }
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
            let name = path.rsplit(['/', '\\']).next();
            let name = name.filter(|name| *name != path)?;
            self.started.get(name.split('.').next().unwrap_or(name))
        });
        named.next().copied()
    }

    fn of(&mut self, call: usize) -> &mut CallOutcome {
        self.said.entry(call).or_insert_with(|| CallOutcome {
            call,
            ..CallOutcome::default()
        })
    }

    fn add(&mut self, call: usize, more: impl IntoIterator<Item = Summary>) {
        let mut more = more.into_iter().peekable();
        if more.peek().is_some() {
            add(&mut self.of(call).summaries, more);
        }
    }

    /// Adds what the outputs say, in the order of the calls.
    pub(super) fn finish(self, facts: &mut Facts) {
        facts.outcomes = self.said.into_values().collect();
        facts.subagents = self.subagents;
    }
}

const fn verdict(failed: bool) -> SummaryVerdict {
    if failed {
        SummaryVerdict::Failed
    } else {
        SummaryVerdict::Passed
    }
}

/// Adds what is missing: two records of one result, and two reads of one output, say the same.
fn add(known: &mut Vec<Summary>, more: impl Iterator<Item = Summary>) {
    for summary in more {
        if known.len() < SUMMARIES_MAX && !known.contains(&summary) {
            known.push(summary);
        }
    }
}
