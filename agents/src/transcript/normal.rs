//! The common form of all transcripts, and the facts read from it.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use journal::{PromptOrigin, Timestamp, ToolCall, ToolKind};

use super::facts::{Facts, Said, UserText};
use super::json::Object;
use super::outputs::{Outputs, TaskEnd, task_in};
use crate::prompts::Authors;
use crate::tools::{ResultText, Tools};
use reading::text;

/// One thing that a transcript holds, in the form that all agents share.
#[derive(Debug)]
pub enum Entry<'a> {
    /// A message in the user's role.
    User {
        /// All of it.
        text: Cow<'a, str>,
        /// When it was sent.
        at: Timestamp,
        /// Only a real user's message begins a turn.
        origin: PromptOrigin,
    },
    /// The agent began to use a tool.
    Call {
        /// Not finished.
        call: ToolCall,
        /// The record says less than another one of the same call may say.
        is_echo: bool,
        /// The agent's id of the command in the background whose output it reads.
        task: Option<String>,
    },
    /// The agent put a text beside the result of a call, with what commands printed in it.
    Printed {
        /// The agent's id of the call.
        id: Cow<'a, str>,
        /// All of it.
        text: Cow<'a, str>,
    },
    /// A command or a subagent in the background ended.
    TaskEnded(TaskEnd<'a>),
    /// A tool returned.
    Result {
        /// The agent's id of the call.
        id: Cow<'a, str>,
        /// What it returned.
        result: ResultText<'a>,
        /// When it returned.
        at: Timestamp,
        /// How long it took, if the transcript says so.
        duration_ms: Option<u64>,
    },
    /// The agent said something.
    Assistant {
        /// All of it.
        text: Cow<'a, str>,
        /// When it was said.
        at: Timestamp,
    },
    /// A person stopped the agent.
    Interrupted {
        /// When that was.
        at: Timestamp,
    },
}

impl<'a> Entry<'a> {
    /// Returns a message in the user's role, whose author its text tells.
    pub(crate) fn user(text: Cow<'a, str>, at: Timestamp, authors: &Authors<'_>) -> Self {
        Self::user_of(text, at, authors, true)
    }

    /// Like [`Self::user`], of a text that a person wrote only if `is_persons`.
    pub(crate) fn user_of(
        text: Cow<'a, str>,
        at: Timestamp,
        authors: &Authors<'_>,
        is_persons: bool,
    ) -> Self {
        let origin = match authors.origin(&text, false) {
            PromptOrigin::User if !is_persons => PromptOrigin::Host,
            by_text => by_text,
        };
        Self::User { text, at, origin }
    }

    /// Returns what the agent said; none if it is no text.
    pub(crate) fn said(text: Option<Cow<'a, str>>, at: Timestamp) -> Option<Self> {
        text.map(|text| Self::Assistant { text, at })
    }

    /// Returns the beginning of a call. `names` are those of the members with its id, its tool and its input.
    pub(crate) fn call(tools: &Tools, said: &Object<'_>, names: [&str; 3], at: Timestamp) -> Self {
        let [id, tool, input] = names;
        Self::begun(
            tools,
            &said.word(id),
            &said.word(tool),
            &said.value(input),
            at,
        )
    }

    /// Returns the beginning of a call, of which the record says all.
    pub(crate) fn begun(
        tools: &Tools,
        id: &str,
        tool: &str,
        input: &serde_json::Value,
        at: Timestamp,
    ) -> Self {
        Self::Call {
            call: begun(tools, id, tool, input, at),
            is_echo: false,
            task: task_in(input),
        }
    }

    /// Returns the end of a call; none if no call is named.
    pub(crate) fn result(
        id: Option<Cow<'a, str>>,
        result: ResultText<'a>,
        at: Timestamp,
    ) -> Option<Self> {
        Some(Self::Result {
            id: id?,
            result,
            at,
            duration_ms: None,
        })
    }
}

impl Entry<'_> {
    /// Returns whether a turn begins here.
    pub(crate) fn begins_turn(&self) -> bool {
        match self {
            Self::User { origin, .. } => *origin == PromptOrigin::User,
            _ => false,
        }
    }

    /// Returns the agent's id of the call that begins here.
    pub(crate) fn begun_id(&self) -> Option<&str> {
        match self {
            Self::Call { call, .. } => call.id.as_deref(),
            _ => None,
        }
    }

    /// Returns when it happened, the epoch if the transcript does not say.
    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Self::User { at, .. }
            | Self::Result { at, .. }
            | Self::Assistant { at, .. }
            | Self::Interrupted { at } => *at,
            Self::Call { call, .. } => call.at,
            Self::TaskEnded(_) | Self::Printed { .. } => Timestamp::default(),
        }
    }
}

/// Returns a call that has begun.
pub fn begun(
    tools: &Tools,
    id: &str,
    tool: &str,
    input: &serde_json::Value,
    at: Timestamp,
) -> ToolCall {
    let (kind, command, paths) = tools.describe(tool, input);
    let created = match kind {
        ToolKind::Edit => tools.created(tool, input),
        _ => Vec::new(),
    };
    let id = Some(id).filter(|id| !id.is_empty()).map(str::to_owned);
    ToolCall {
        created,
        id,
        tool: tool.to_owned(),
        kind,
        command,
        paths,
        at,
        ..ToolCall::default()
    }
}

/// Reads the entries of the current turn, oldest first, into `facts`; no text is cut.
pub fn fold(tools: &Tools, authors: &Authors<'_>, entries: Vec<Entry<'_>>, facts: &mut Facts) {
    let mut folding = Folding::default();
    for entry in entries {
        folding.push(tools, authors, entry, facts);
    }
    folding.finish(facts);
}

/// The entries of a turn, taken one by one.
#[derive(Debug, Default)]
pub(crate) struct Folding {
    index: HashMap<String, usize>,
    outputs: Outputs,
    last_assistant: Option<String>,
    said: VecDeque<Said>,
}

impl Folding {
    /// Takes the next entry. Returns the position of the call that it is about.
    pub(crate) fn push(
        &mut self,
        tools: &Tools,
        authors: &Authors<'_>,
        entry: Entry<'_>,
        facts: &mut Facts,
    ) -> Option<usize> {
        match entry {
            Entry::User { text, at, origin } => user(facts, authors, &text, at, origin),
            Entry::Assistant { text, .. } => {
                if !text.trim().is_empty() {
                    self.note_said(facts.calls.len(), &text);
                    self.last_assistant = Some(text.into_owned());
                }
            }
            Entry::Call {
                call,
                is_echo,
                task,
            } => {
                let at = begin(facts, &mut self.index, call, is_echo);
                self.outputs.reads(at, task);
                return Some(at);
            }
            Entry::Printed { id, text } => {
                let place = *self.index.get(&*id)?;
                self.outputs.printed(&facts.calls, place, &text);
            }
            Entry::TaskEnded(end) => {
                let call = end.call.as_deref().and_then(|id| self.index.get(id));
                self.outputs.ended(&facts.calls, call.copied(), &end);
            }
            Entry::Result {
                id,
                result,
                at,
                duration_ms,
            } => {
                let place = *self.index.get(&*id)?;
                let call = facts.calls.get_mut(place)?;
                let result = tools.of_foreign(&call.tool, result);
                finish(tools, call, &result, at, duration_ms);
                self.outputs.result(tools, &facts.calls, place, &result);
                return Some(place);
            }
            Entry::Interrupted { .. } => {}
        }
        None
    }

    /// Keeps the latest messages. Some transcripts hold each of them twice.
    fn note_said(&mut self, calls: usize, text: &str) {
        if self.last_assistant.as_deref() == Some(text) {
            return;
        }
        if self.said.len() == Said::MESSAGES_MAX {
            self.said.pop_front();
        }
        // Secrets are removed before a text is cut to its limit; the rest of a longer one is of no use.
        let text = text::head(text, 2 * Said::BYTES_MAX).to_owned();
        self.said.push_back(Said { calls, text });
    }

    /// Returns whether the agent has said or done anything.
    pub(crate) fn has_begun(&self) -> bool {
        self.last_assistant.is_some() || !self.index.is_empty()
    }

    /// Adds what all entries together say.
    pub(crate) fn finish(self, facts: &mut Facts) {
        self.outputs.finish(facts);
        facts.last_assistant = self.last_assistant;
        facts.said = self.said.into();
    }
}

fn user(facts: &mut Facts, authors: &Authors<'_>, text: &str, at: Timestamp, origin: PromptOrigin) {
    let said = UserText {
        text: text.to_owned(),
        at,
        origin,
    };
    if origin == PromptOrigin::User {
        facts.prompts.push(said.text.clone());
        facts.last_real_user = Some(said.clone());
        facts.began.get_or_insert(at);
    }
    if origin != PromptOrigin::Host || authors.calls_to_work(text) {
        facts.last_user = Some(said);
    }
}

/// Adds a call, or replaces a record of the same call that says less; returns its position.
fn begin(
    facts: &mut Facts,
    index: &mut HashMap<String, usize>,
    call: ToolCall,
    is_echo: bool,
) -> usize {
    let place = call.id.as_ref().and_then(|id| index.get(id)).copied();
    let place = place.unwrap_or(facts.calls.len());
    match facts.calls.get_mut(place) {
        None => {
            if let Some(id) = &call.id {
                index.insert(id.clone(), facts.calls.len());
            }
            facts.calls.push(call);
        }
        Some(_) if is_echo => {}
        Some(known) => {
            known.tool = call.tool;
            known.kind = call.kind;
            known.command = call.command;
            known.paths = call.paths;
            known.created = call.created;
        }
    }
    place
}

/// Ends a call; the first result that says so wins.
fn finish(
    tools: &Tools,
    call: &mut ToolCall,
    result: &ResultText<'_>,
    at: Timestamp,
    duration_ms: Option<u64>,
) {
    if call.finished {
        return;
    }
    let ended = tools.outcome(call.kind, call.command.as_deref(), result);
    if ended.finished {
        let known = call.at != Timestamp::default() && at != Timestamp::default();
        call.duration_ms = duration_ms.or_else(|| known.then(|| at.millis_since(call.at)));
    }
    call.finished = ended.finished;
    call.is_error = ended.is_error;
    call.refused = ended.refused;
    call.output = ended.output;
}
