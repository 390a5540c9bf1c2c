//! Transcript text in, facts out: what the agent did in its current turn, and who spoke last.
//!
//! Three layers. The raw tail (`tail.rs`) gives whole lines, last one first. Each host's module (`claude.rs`, `codex.rs`,
//! `gemini.rs`) turns its records into the common `normal::Entry`; nothing else knows their formats. What is needed
//! (`normal.rs`, `join.rs`) is read from the entries alone. Lines that are broken or unknown are skipped; nothing here
//! fails or panics, whatever the bytes.
//!
//! A turn begins at a real user message. Tool results, hook feedback, reminders, summaries, subagents' lines and this
//! product's own text begin none. Where the beginning lies before the tail, all of the tail belongs to the turn.

mod claude;
mod codex;
mod gemini;
mod join;
mod json;
mod normal;
mod tail;

use std::borrow::Cow;

use journal::{Agent, Event, PromptOrigin, Timestamp, ToolCall};

use crate::redact::Redactor;
use crate::{text, tools};

pub use join::join;

/// How much of a transcript's end is read.
pub const TAIL_BYTES: usize = 512 * 1024;

/// What a user-role message of a transcript says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserText {
    /// The text, cut to [`journal::Event::TEXT_BYTES_MAX`].
    pub text: String,
    /// When it was written; the epoch where the transcript does not say.
    pub at: Timestamp,
    /// Who wrote it.
    pub origin: PromptOrigin,
}

/// What a transcript's tail says about its session and the current turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The tool calls of the current turn, one for each tool use, in the order in which they began.
    pub calls: Vec<ToolCall>,
    /// The last message in the user's role that set the agent to work, whoever wrote it: a person, this product, or
    /// the host (hook feedback, task notifications). Reminders, summaries and echoes of local commands do not count.
    pub last_user: Option<UserText>,
    /// The last real user message, which began the current turn; none where it lies before the tail.
    pub last_real_user: Option<UserText>,
    /// The agent's last words in the current turn, cut to [`journal::Event::TEXT_BYTES_MAX`].
    pub last_assistant: Option<String>,
    /// The agent's version.
    pub host_version: Option<String>,
    /// The git branch, where the host notes it.
    pub branch: Option<String>,
    /// The working directory, where the host notes it.
    pub cwd: Option<String>,
    /// The host's id of the session.
    pub session: Option<String>,
}

/// Reads the end of an agent's transcript; none where nothing in it is of that agent's format.
///
/// `from_start` says that `bytes` begin where the file begins; else a first line that may be torn is left out. Gemini's
/// older format, one JSON document, can only be read whole. `prefix` is the canonical prefix of this product's own text.
/// No fact has a secret that `redactor` knows: it is taken out before anything is cut to its limit.
pub fn read(
    agent: Agent,
    bytes: &[u8],
    from_start: bool,
    prefix: &str,
    redactor: &Redactor,
) -> Option<Facts> {
    let text = String::from_utf8_lossy(bytes);
    let tail = tail::Tail {
        text: &text,
        from_start,
    };
    let mut facts = match agent {
        Agent::Claude => claude::read(tail, prefix),
        Agent::Codex => codex::read(tail, prefix),
        Agent::Gemini => gemini::read(tail, prefix),
        Agent::Daemon => None,
    }?;
    facts.redact(redactor);
    facts.bound();
    Some(facts)
}

impl Facts {
    /// Takes secrets out of all that somebody wrote. What a host names, ids and versions, is kept.
    fn redact(&mut self, redactor: &Redactor) {
        let said = [&mut self.last_user, &mut self.last_real_user]
            .into_iter()
            .flatten()
            .map(|said| &mut said.text);
        let calls = self.calls.iter_mut().flat_map(|call| {
            call.command
                .iter_mut()
                .chain(&mut call.paths)
                .chain(std::iter::once(&mut call.output))
        });
        for text in said
            .chain(&mut self.last_assistant)
            .chain(&mut self.branch)
            .chain(calls)
        {
            if let Cow::Owned(redacted) = redactor.text(text) {
                *text = redacted;
            }
        }
    }

    /// Cuts all texts to their limits.
    fn bound(&mut self) {
        let said = [&mut self.last_user, &mut self.last_real_user]
            .into_iter()
            .flatten()
            .map(|said| &mut said.text);
        for text in said.chain(&mut self.last_assistant) {
            text.truncate(text::head(text, Event::TEXT_BYTES_MAX).len());
        }
        self.calls.iter_mut().for_each(tools::bound);
    }
}

#[cfg(test)]
mod tests;

/// Returns whether a Codex session runs without a person, by the beginning of its rollout.
///
/// Only the first line says so, and of a long session it is not in the tail.
pub fn is_codex_exec(beginning: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Line {
        payload: Meta,
    }
    #[derive(serde::Deserialize)]
    struct Meta {
        source: Option<serde_json::Value>,
    }
    let first = beginning
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    serde_json::from_slice::<Line>(first)
        .is_ok_and(|line| line.payload.source.is_some_and(|source| source == "exec"))
}
