//! What is seen of a command whose end the line hides: the agent was shown what it printed, or that it crashed (spec EVID-26).

use std::borrow::Cow;

use journal::CommandEnd;

use super::case::{Shown, is_blank, lines};
use super::programs;
use crate::outcome;
use crate::shell::{Flow, Step};

/// Adds what the output shows about commands of a line whose end is hidden. What the line says itself does not count.
/// `own` returns the output without that.
pub(super) fn note<'o>(
    flow: &Flow<Step>,
    own: impl FnOnce() -> Cow<'o, str>,
    shown: Shown<'_>,
    ends: &mut Vec<CommandEnd>,
) {
    let mut seen = Vec::new();
    gather(flow, true, &mut seen);
    let is_hidden = |part: &&Part<'_>| !part.step.decides && programs::is_of_interest(part.step);
    let hidden: Vec<&Part<'_>> = seen.iter().filter(is_hidden).collect();
    if hidden.is_empty() {
        return;
    }
    let own = &*own();
    let crashed = outcome::shows_crash(own);
    let is_empty = lines(own).iter().all(|line| is_blank(line, true));
    let is_well = !crashed && !outcome::speaks_of_failure(own);
    for part in hidden {
        let is_seen = match shown {
            Shown::Whole => part.visible || is_shown_from_file(part.step, &seen),
            Shown::File(path) => part.writes(path),
            Shown::Part => false,
        };
        let unread = is_seen && is_well && (!is_empty || part.sought);
        let crashed = crashed && (is_seen || shown != Shown::Whole || !part.step.away);
        if unread || crashed {
            add(part.step, unread, crashed, ends);
        }
    }
}

fn add(step: &Step, unread: bool, crashed: bool, ends: &mut Vec<CommandEnd>) {
    let Some(place) = step.place else {
        return;
    };
    match ends.iter_mut().find(|end| end.place == place) {
        Some(end) => {
            end.unread = unread;
            end.crashed = crashed;
        }
        None => ends.push(CommandEnd {
            place,
            program: step.words.first().cloned().unwrap_or_default(),
            unread,
            crashed,
            ..CommandEnd::default()
        }),
    }
}

/// A command of a line.
struct Part<'f> {
    step: &'f Step,
    flow: &'f Flow<Step>,
    /// The end of what it prints is shown.
    visible: bool,
    /// A later command searched its output for failures.
    sought: bool,
}

impl Part<'_> {
    fn writes(&self, path: &str) -> bool {
        let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
        let mut outputs = self.step.outputs.iter();
        outputs.any(|output| name(output) == name(path))
    }
}

/// Returns whether another command of the line shows the end of the file that a command writes.
fn is_shown_from_file(step: &Step, seen: &[Part<'_>]) -> bool {
    let shows = |part: &Part<'_>| {
        part.visible
            && leaves_the_end(part.flow)
            && step
                .outputs
                .iter()
                .any(|file| part.step.words.contains(file))
    };
    seen.iter().any(shows)
}

/// Returns whether a part of a pipeline passes on the end of its input.
fn leaves_the_end(flow: &Flow<Step>) -> bool {
    programs::passes(flow) && program(flow) != Some("head")
}

/// Returns whether a part of a pipeline searches for failures.
fn seeks_failures(flow: &Flow<Step>) -> bool {
    let Flow::Run(step) = flow else {
        return false;
    };
    let is_search = matches!(program(flow), Some("grep" | "egrep" | "rg"));
    let is_word = |word: &String| {
        let word = word.to_lowercase();
        word.contains("err") || word.contains("fail")
    };
    let turned = step.words.iter().any(|word| word == "-v");
    is_search && !turned && step.words.iter().skip(1).any(is_word)
}

fn program(flow: &Flow<Step>) -> Option<&str> {
    match flow {
        Flow::Run(step) => step.words.first().map(String::as_str),
        _ => None,
    }
}

/// Gathers the commands of a flow, and whether what they print is shown.
fn gather<'f>(flow: &'f Flow<Step>, visible: bool, found: &mut Vec<Part<'f>>) {
    match flow {
        Flow::Run(step) => found.push(Part {
            step,
            flow,
            visible: visible && !step.away && !step.hushed,
            sought: false,
        }),
        Flow::Pipe(parts, _) => {
            for (at, part) in parts.iter().enumerate() {
                let behind = &parts[at + 1..];
                let before = found.len();
                gather(part, visible && behind.iter().all(leaves_the_end), found);
                let sought = behind.iter().any(seeks_failures);
                found[before..]
                    .iter_mut()
                    .for_each(|part| part.sought |= sought);
            }
        }
        Flow::Not(inner) | Flow::Apart(inner) => gather(inner, visible, found),
        Flow::Away(inner, _) | Flow::Behind(inner) => gather(inner, false, found),
        Flow::Set(_, by) => by.iter().for_each(|by| gather(by, false, found)),
        Flow::Seq(parts) => parts.iter().for_each(|part| gather(part, visible, found)),
        Flow::Chain(first, rest) => {
            gather(first, visible, found);
            rest.iter()
                .for_each(|(_, part)| gather(part, visible, found));
        }
        Flow::If(condition, then, other) => {
            gather(condition, visible, found);
            gather(then, visible, found);
            other.iter().for_each(|other| gather(other, visible, found));
        }
        Flow::Opaque => {}
    }
}
