//! How the current turn is read from a transcript's end, line by line.

use super::facts::Facts;
use super::forward::{Lines, Read, Reader};
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
