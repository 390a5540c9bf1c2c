//! How the current turn is read from a transcript's end, line by line.

use std::collections::HashSet;

use journal::Timestamp;

use super::facts::Facts;
use super::forward::{Lines, Read, ReadWhole, Reader, Text};
use super::normal::{self, Entry};
use super::tail::Tail;
use crate::prompts::Authors;
use crate::tools::Tools;

/// Reads the tail back to where the turn began; none if no line has the agent's format.
pub(crate) fn read(
    tail: Tail<'_>,
    authors: &Authors<'_>,
    tools: &Tools,
    lines: Lines,
) -> Option<Facts> {
    let (mut reader, mut is_own) = (Reader::new(authors), false);
    let mut began: Option<Began> = None;
    for text in tail.lines_backward() {
        let known = reader.entries.len();
        let Read::Own { may_begin } = lines.read(text, &mut reader) else {
            continue;
        };
        is_own = true;
        if let Some(began) = &mut began {
            let before = reader.entries.split_off(known);
            if !began.take(before, &mut reader.entries) {
                break;
            }
            continue;
        }
        let added = &mut reader.entries[known..];
        added.reverse();
        let first = added.iter().rposition(Entry::begins_turn);
        if let Some(first) = first.filter(|_| may_begin && !tail.all_turns) {
            let begun = Began::at(known + first, &reader.entries);
            let is_all = begun.open.is_empty();
            began = Some(begun);
            if is_all {
                break;
            }
        }
    }
    let Reader {
        mut facts,
        mut entries,
        ..
    } = reader;
    facts.is_whole = began.is_some();
    entries.reverse();
    normal::fold(tools, authors, entries, &mut facts);
    is_own.then_some(facts)
}

/// Reads the tail of a transcript that is read whole: from its end back to where the turn began, with an entry before
/// that, which may tell who wrote the first message.
pub(crate) fn whole(
    tail: Tail<'_>,
    authors: &Authors<'_>,
    tools: &Tools,
    read: ReadWhole,
) -> Option<Facts> {
    let mut text = Text {
        whole: tail.whole(),
        lines: Vec::new(),
    };
    let (mut reader, mut is_own, mut begun) = (Reader::new(authors), false, None);
    for part in tail.parts_backward() {
        text.lines.extend(part);
        reader = Reader::new(authors);
        is_own = read(&text, &mut reader).is_own;
        let mut entries = reader.entries.iter();
        begun = entries.rposition(|entry| !tail.all_turns && entry.begins_turn());
        if begun.is_some_and(|at| at > 0) {
            break;
        }
    }
    let mut facts = Facts {
        session: reader.facts.session,
        is_whole: begun.is_some(),
        ..Facts::default()
    };
    let turn = reader.entries.split_off(begun.unwrap_or(0));
    normal::fold(tools, authors, turn, &mut facts);
    is_own.then_some(facts)
}

/// The message that began a turn. Factory droid may write it down after the first call that it makes for it. An agent that
/// has stopped makes no call until it is spoken to, so a call that ends after the message is one of its turn.
struct Began {
    /// Its place in the entries, the last one first.
    message: usize,
    /// The calls that end in the turn, and whose beginning was not read.
    open: HashSet<String>,
}

impl Began {
    fn at(message: usize, entries: &[Entry<'_>]) -> Self {
        let begun: HashSet<&str> = entries.iter().filter_map(Entry::begun_id).collect();
        let ended = entries.iter().filter_map(|entry| match entry {
            Entry::Result { id, .. } if !begun.contains(&**id) => Some(id.to_string()),
            _ => None,
        });
        Self {
            message,
            open: ended.collect(),
        }
    }

    /// Puts those of the turn's calls that a line before the message begins behind it. Returns whether there were any.
    fn take<'a>(&mut self, before: Vec<Entry<'a>>, entries: &mut Vec<Entry<'a>>) -> bool {
        let is_open = |entry: &Entry<'_>| entry.begun_id().is_some_and(|id| self.open.contains(id));
        let early: Vec<Entry<'a>> = before.into_iter().rev().filter(is_open).collect();
        let (place, count) = (self.message, early.len());
        let times = early.iter().map(Entry::at);
        let first = times.filter(|at| *at != Timestamp::default()).min();
        if let (Some(first), Some(Entry::User { at, .. })) = (first, entries.get_mut(place)) {
            *at = first.min(*at);
        }
        entries.splice(place..place, early);
        self.message += count;
        count > 0
    }
}
