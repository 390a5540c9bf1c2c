//! The common form of all transcripts, and what is read from it.

use std::borrow::Cow;
use std::collections::HashMap;

use journal::{Agent, PromptOrigin, Timestamp, ToolCall};

use super::{Facts, UserText};
use crate::prompts;
use crate::tools::{self, ResultText};

/// One thing that a transcript holds, whatever the host.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    /// A message in the user's role.
    User {
        /// The text.
        text: Cow<'a, str>,
        /// When it was written.
        at: Timestamp,
        /// Who wrote it; only a real user's message begins a turn.
        origin: PromptOrigin,
    },
    /// The agent began to use a tool.
    Call {
        /// The call, not finished.
        call: ToolCall,
        /// The record says less than another one of the same call may say.
        is_echo: bool,
    },
    /// A tool returned.
    Result {
        /// The host's id of the call.
        id: Cow<'a, str>,
        /// What the host says about it.
        result: ResultText<'a>,
        /// When it returned.
        at: Timestamp,
        /// How long it took, where the host says so.
        duration_ms: Option<u64>,
    },
    /// The agent said something.
    Assistant {
        /// The text.
        text: Cow<'a, str>,
    },
}

impl Entry<'_> {
    /// Returns whether a turn begins here.
    pub(super) fn begins_turn(&self) -> bool {
        matches!(
            self,
            Self::User {
                origin: PromptOrigin::User,
                ..
            }
        )
    }
}

/// Returns a call that has begun.
pub(super) fn begun(
    agent: Agent,
    id: &str,
    tool: &str,
    input: &serde_json::Value,
    at: Timestamp,
) -> ToolCall {
    let (kind, command, paths) = tools::describe(agent, tool, input);
    let id = Some(id).filter(|id| !id.is_empty()).map(str::to_owned);
    ToolCall {
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
pub(super) fn fold(agent: Agent, entries: Vec<Entry<'_>>, facts: &mut Facts) {
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut last_assistant = None;
    for entry in entries {
        match entry {
            Entry::User { text, at, origin } => user(facts, &text, at, origin),
            Entry::Assistant { text } => {
                if !text.trim().is_empty() {
                    last_assistant = Some(text);
                }
            }
            Entry::Call { call, is_echo } => begin(facts, &mut index, call, is_echo),
            Entry::Result {
                id,
                result,
                at,
                duration_ms,
            } => {
                let Some(call) = index.get(&*id).and_then(|&at| facts.calls.get_mut(at)) else {
                    continue;
                };
                finish(agent, call, &result, at, duration_ms);
            }
        }
    }
    facts.last_assistant = last_assistant.map(Cow::into_owned);
}

fn user(facts: &mut Facts, text: &str, at: Timestamp, origin: PromptOrigin) {
    let said = UserText {
        text: text.to_owned(),
        at,
        origin,
    };
    if origin == PromptOrigin::User {
        facts.last_real_user = Some(said.clone());
    }
    if origin != PromptOrigin::Host || prompts::calls_to_work(text) {
        facts.last_user = Some(said);
    }
}

/// Adds a call, or lets a fuller record of the same call take the place of a poorer one.
fn begin(facts: &mut Facts, index: &mut HashMap<String, usize>, call: ToolCall, is_echo: bool) {
    let known = call
        .id
        .as_ref()
        .and_then(|id| index.get(id))
        .and_then(|&at| facts.calls.get_mut(at));
    match known {
        None => {
            if let Some(id) = &call.id {
                index.insert(id.clone(), facts.calls.len());
            }
            facts.calls.push(call);
        }
        Some(_) if is_echo => {}
        Some(known) => {
            (known.tool, known.kind, known.command, known.paths) =
                (call.tool, call.kind, call.command, call.paths);
        }
    }
}

/// Ends a call; the first result that says it has ended stands.
fn finish(
    agent: Agent,
    call: &mut ToolCall,
    result: &ResultText<'_>,
    at: Timestamp,
    duration_ms: Option<u64>,
) {
    if call.finished {
        return;
    }
    let ended = tools::outcome(agent, call.kind, call.command.as_deref(), result);
    if ended.finished {
        let known = call.at != Timestamp::default() && at != Timestamp::default();
        call.duration_ms = duration_ms.or_else(|| known.then(|| at.millis_since(call.at)));
    }
    (call.finished, call.is_error, call.refused) = (ended.finished, ended.is_error, ended.refused);
    call.output = ended.output;
}

/// Says who wrote a user-role text that its host marks in no other way.
pub(super) fn origin_of(agent: Agent, text: &str, prefix: &str) -> PromptOrigin {
    prompts::origin(agent, text, prefix, false)
}
