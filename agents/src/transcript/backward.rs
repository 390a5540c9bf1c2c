//! How the current turn is read from a transcript's end, line by line.

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
    let (mut reader, mut is_own, mut is_whole) = (Reader::new(authors), false, false);
    for text in tail.lines_backward() {
        let known = reader.entries.len();
        let Read::Own { may_begin } = lines.read(text, &mut reader) else {
            continue;
        };
        is_own = true;
        let added = &mut reader.entries[known..];
        added.reverse();
        if may_begin && !tail.all_turns && added.iter().any(Entry::begins_turn) {
            is_whole = true;
            break;
        }
    }
    let Reader {
        mut facts,
        mut entries,
        ..
    } = reader;
    facts.is_whole = is_whole;
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
