//! How the current turn is read from a transcript's end, line by line.

use super::facts::Facts;
use super::forward::{Read, ReadLine};
use super::normal::{self, Entry};
use super::tail::Tail;
use crate::prompts::Authors;
use crate::tools::Tools;

/// Reads the tail back to where the turn began; none if no line has the agent's format.
pub(crate) fn read(
    tail: Tail<'_>,
    authors: &Authors<'_>,
    tools: &Tools,
    line: ReadLine,
) -> Option<Facts> {
    let (mut facts, mut is_own) = (Facts::default(), false);
    let mut entries = Vec::new();
    for text in tail.lines_backward() {
        let known = entries.len();
        let Read::Own { may_begin } = line(text, authors, &mut facts, &mut entries) else {
            continue;
        };
        is_own = true;
        entries[known..].reverse();
        if may_begin && !tail.all_turns && entries[known..].iter().any(Entry::begins_turn) {
            facts.is_whole = true;
            break;
        }
    }
    entries.reverse();
    normal::fold(tools, authors, entries, &mut facts);
    is_own.then_some(facts)
}
