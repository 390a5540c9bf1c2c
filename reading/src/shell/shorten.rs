//! Cutting a command line to a limit without losing a command.

use std::borrow::Cow;

use super::grammar;
use super::state::State;
use crate::text;

/// Replaces what was cut, on a line of its own. As a command it is a program that nothing is known of.
pub(super) const GAP: &str = "[..]";

/// How much is kept of each quoted text and heredoc, in bytes: the first that is little enough.
const KEPT: [usize; 4] = [2048, 512, 128, 0];

/// Returns a command line in at most `bytes_max` bytes. Heredocs and quoted texts are cut in their middle, so each command
/// stays. If that is not enough, the beginning of the line is the input of an unknown program.
pub fn shortened(line: &str, bytes_max: usize) -> Cow<'_, str> {
    if line.len() <= bytes_max {
        return Cow::Borrowed(line);
    }
    let inert = grammar::inert(line);
    let cut = KEPT.iter().map(|kept| {
        let (mut out, mut from) = (String::new(), 0);
        for range in &inert {
            out.push_str(&line[from..range.start]);
            out.push_str(&ends(&line[range.clone()], *kept));
            from = range.end;
        }
        out + &line[from..]
    });
    let enough = cut.into_iter().find(|cut| cut.len() <= bytes_max);
    // Where a line is no shell, what was cut may have mattered after all.
    let same = enough.filter(|cut| shape(cut) == shape(line));
    Cow::Owned(same.unwrap_or_else(|| {
        let unknown = format!("{GAP} <<'{GAP}'\n");
        let room = bytes_max.saturating_sub(unknown.len());
        unknown + text::head(line, room)
    }))
}

/// Returns of each command of a line its program, the number of its words, and what its failure means for the line.
fn shape(line: &str) -> Vec<(Option<String>, usize, bool, bool)> {
    let commands = grammar::read(line, State::default()).commands.into_iter();
    let shape = commands.map(|it| {
        let count = it.words.len();
        (it.words.into_iter().next(), count, it.certain, it.decides)
    });
    shape.collect()
}

/// Returns the first and the last lines of a text.
fn ends(text: &str, bytes_max: usize) -> Cow<'_, str> {
    let gap = format!("\n{GAP}\n");
    if text.len() <= bytes_max + gap.len() {
        return Cow::Borrowed(text);
    }
    let start = text::head(text, bytes_max / 2);
    let start = &start[..start.rfind('\n').unwrap_or(0)];
    let end = text::tail(text, bytes_max / 2);
    let end = end.split_once('\n').map_or("", |(_, end)| end);
    Cow::Owned(format!("{start}{gap}{end}"))
}

/// Returns whether a text has lost its middle.
pub(super) fn is_cut(text: &str) -> bool {
    text.lines().any(|line| line == GAP)
}
