//! The list of messages, from a log of changes or from one document.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::json::{self, Scalar};

/// A line: a header, a message or a change; or the whole older document.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(rename = "type")]
    pub(super) kind: Scalar<'a>,
    pub(super) timestamp: Scalar<'a>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) tool_calls: Option<&'a RawValue>,
    pub(super) session_id: Scalar<'a>,
    pub(super) project_hash: Scalar<'a>,
    #[serde(rename = "kind")]
    pub(super) chat_kind: Scalar<'a>,
    pub(super) messages: Option<&'a RawValue>,
    #[serde(rename = "$set")]
    pub(super) set: Option<&'a RawValue>,
    #[serde(rename = "$rewindTo")]
    pub(super) rewind_to: Scalar<'a>,
}

impl Line<'_> {
    fn is_message(&self) -> bool {
        matches!(
            self.kind.text(),
            "user" | "gemini" | "info" | "warning" | "error"
        ) && !self.id.text().is_empty()
            && (self.content.is_some() || self.tool_calls.is_some())
    }
}

/// The list of messages as the log has built it.
#[derive(Default)]
pub(super) struct Chat<'a> {
    pub(super) messages: Vec<Line<'a>>,
    pub(super) index: HashMap<String, usize>,
    pub(super) session: Option<String>,
    pub(super) is_gemini: bool,
    pub(super) is_subagent: bool,
}

/// Reads the older format; none if the text is something else.
pub(super) fn document(text: &str) -> Option<Chat<'_>> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    line.messages?;
    let mut chat = Chat {
        is_gemini: !line.session_id.text().is_empty(),
        ..Chat::default()
    };
    chat.take(line);
    Some(chat)
}

/// The lines of a log that were read, the last one first.
#[derive(Default)]
pub(super) struct Log<'a> {
    pub(super) lines: Vec<Line<'a>>,
    /// The last of them replaces the whole list. From earlier lines, only the session's id is needed.
    pub(super) is_all: bool,
}

impl<'a> Log<'a> {
    pub(super) fn take(&mut self, lines: impl Iterator<Item = &'a str>) {
        for text in lines {
            if let Ok(line) = serde_json::from_str::<Line<'_>>(text) {
                self.is_all = text.contains("\"$set\"") && replaces(&line);
                self.lines.push(line);
            }
            if self.is_all {
                return;
            }
        }
    }

    /// Returns the list of messages that the lines build, after the first line of the file, if that is known.
    pub(super) fn chat(&self, first: Option<&'a str>) -> Chat<'a> {
        let mut chat = Chat::default();
        if let Some(line) = first.filter(|_| self.is_all)
            && let Ok(line) = serde_json::from_str(line)
        {
            chat.take(line);
        }
        for line in self.lines.iter().rev() {
            chat.take(line.clone());
        }
        chat
    }
}

/// Returns whether a line replaces all messages.
fn replaces(line: &Line<'_>) -> bool {
    json::part::<Line<'_>>(line.set).is_some_and(|set| set.messages.is_some())
}

impl<'a> Chat<'a> {
    pub(super) fn take(&mut self, line: Line<'a>) {
        if line.is_message() {
            self.is_gemini = true;
            match self.index.get(line.id.text()) {
                Some(&at) => self.messages[at] = line,
                None => {
                    self.index
                        .insert(line.id.text().to_owned(), self.messages.len());
                    self.messages.push(line);
                }
            }
        } else if let Some(change) = json::part::<Line<'_>>(line.set) {
            self.is_gemini = true;
            self.set(&change);
        } else if !line.rewind_to.text().is_empty() {
            // The message is removed too; if it is missing here, it is before the tail.
            let at = self.index.get(line.rewind_to.text()).copied().unwrap_or(0);
            self.messages.truncate(at);
            self.index.retain(|_, place| *place < at);
        } else if !line.session_id.text().is_empty() {
            self.is_gemini |= !line.project_hash.text().is_empty();
            self.set(&line);
        }
    }

    fn set(&mut self, change: &Line<'a>) {
        self.session = change.session_id.owned().or(self.session.take());
        self.is_subagent |= change.chat_kind.text() == "subagent";
        let Some(messages) = json::part::<Vec<&RawValue>>(change.messages) else {
            return;
        };
        self.messages.clear();
        self.index.clear();
        for message in messages {
            match serde_json::from_str::<Line<'_>>(message.get()) {
                Ok(line) if line.is_message() => self.take(line),
                _ => {}
            }
        }
    }
}
