//! The list of messages, from a log of changes or from one document.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::transcript::json::Object;

/// A line: a header, a message or a change; or the whole older document.
pub(super) type Line<'a> = Object<'a>;

fn is_message(line: &Line<'_>) -> bool {
    let kind = line.word("type");
    matches!(&*kind, "user" | "gemini" | "info" | "warning" | "error")
        && !line.word("id").is_empty()
        && (line.get("content").is_some() || line.get("toolCalls").is_some())
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
    let line = Line::read(text).ok()?;
    line.get("messages")?;
    let mut chat = Chat {
        is_gemini: !line.word("sessionId").is_empty(),
        ..Chat::default()
    };
    chat.take(line);
    Some(chat)
}

impl<'a> Chat<'a> {
    /// Returns the list that the lines of a log build, given the last one first, and how many of them are broken.
    pub(super) fn of(lines: &[&'a str]) -> (Self, usize) {
        let (mut chat, mut broken) = (Self::default(), 0);
        for text in lines.iter().rev() {
            match Line::read(text) {
                Ok(line) => chat.take(line),
                Err(_) => broken += 1,
            }
        }
        (chat, broken)
    }

    pub(super) fn take(&mut self, line: Line<'a>) {
        let rewinds_to = line.word("$rewindTo");
        if is_message(&line) {
            self.is_gemini = true;
            let id = line.word("id").into_owned();
            match self.index.get(&id) {
                Some(&at) => self.messages[at] = line,
                None => {
                    self.index.insert(id, self.messages.len());
                    self.messages.push(line);
                }
            }
        } else if let Some(change) = line.part("$set") {
            self.is_gemini = true;
            self.set(&change);
        } else if !rewinds_to.is_empty() {
            // The message is removed too; if it is missing here, it is before the tail.
            let at = self.index.get(&*rewinds_to).copied().unwrap_or(0);
            self.messages.truncate(at);
            self.index.retain(|_, place| *place < at);
        } else if !line.word("sessionId").is_empty() {
            self.is_gemini |= !line.word("projectHash").is_empty();
            self.set(&line);
        }
    }

    fn set(&mut self, change: &Line<'a>) {
        self.session = change.owned("sessionId").or(self.session.take());
        self.is_subagent |= change.word("kind") == "subagent";
        let Some(messages) = change.part::<Vec<&RawValue>>("messages") else {
            return;
        };
        self.messages.clear();
        self.index.clear();
        for message in messages {
            match Line::read(message.get()) {
                Ok(line) if is_message(&line) => self.take(line),
                _ => {}
            }
        }
    }
}
