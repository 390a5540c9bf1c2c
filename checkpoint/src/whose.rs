//! Whose a change is: which of the changed files this turn wrote, and which a person, another session or an earlier
//! time (spec FILES-5).
//!
//! A file is the turn's if a call names it as written, or if its content differs from that at the beginning of the turn
//! and it was written while a call ran that could have done it.

use std::collections::BTreeMap;
use std::time::Duration;

use journal::{ChangedFile, Timestamp, ToolCall, ToolKind};

use crate::catalogue::{Catalogue, Opening, Purpose};
use crate::shell::{self, CommandLine, Simple};

/// How far the times of calls may lie outside their turn: clocks of hooks and transcripts are read at different moments.
const SLACK: Duration = Duration::from_secs(2);

/// When a changed file was written, by the times of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When its content was written. Programs can set this time.
    pub written: Timestamp,
    /// When its content, name or mode changed; of a file that is gone, when its folder changed.
    pub changed: Timestamp,
    /// How coarse the times are.
    pub tick: Duration,
    /// What has the times.
    pub of: TimesOf,
}

/// What the times of a changed file are those of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimesOf {
    /// The file itself.
    File,
    /// The nearest folder that is there: the file was deleted no later.
    Gone,
    /// A folder with files of its own, such as a submodule: nothing follows.
    Folder,
}

/// What the files of a work tree were before the turn.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// The files that had changed already.
    pub files: &'a [ChangedFile],
    /// When that was seen, if it is known.
    pub at: Option<Timestamp>,
}

/// What is known about a turn when its files are told from those of others.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// Its calls, by the transcript and the hooks; `None` if neither is known, so that nothing follows from a missing one.
    pub calls: Option<&'a [ToolCall]>,
    /// When it began.
    pub began: Option<Timestamp>,
    /// When it stopped.
    pub stopped: Timestamp,
    /// The work tree as it began.
    pub before: Option<Before<'a>>,
}

/// What is known about one changed file besides its content.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// When it was written.
    pub times: Option<Times>,
    /// Whether a call of the turn names it as written.
    pub named: bool,
    /// Whether another session edited it last.
    pub others: bool,
    /// Whether this session left it open in an earlier turn.
    pub kept: bool,
}

/// The changed files, told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Those of the turn.
    pub own: Vec<ChangedFile>,
    /// The paths of those that others wrote during the turn.
    pub others: Vec<String>,
    /// Whether the times of the calls tell nothing, so that all files count that differ from before.
    pub untimed: bool,
}

/// Tells the turn's files from those of others.
pub fn tell(
    files: Vec<ChangedFile>,
    turn: &Turn<'_>,
    known: impl Fn(&ChangedFile) -> Known,
) -> Told {
    let before: Option<BTreeMap<&str, Option<u64>>> = turn.before.map(|before| {
        let hashes = before.files.iter();
        hashes.map(|file| (file.path.as_str(), file.hash)).collect()
    });
    let spans = turn.calls.and_then(|calls| spans(calls, turn));
    let mut told = Told {
        untimed: spans.is_none(),
        ..Told::default()
    };
    for file in files {
        let known = known(&file);
        let was = before
            .as_ref()
            .and_then(|before| before.get(file.path.as_str()));
        let is_same = was == Some(&file.hash);
        if known.kept || (!is_same || is_raced(&known, turn)) && is_own(&known, spans.as_deref()) {
            told.own.push(file);
        } else if !is_same && (before.is_some() || is_later(&known, turn)) {
            told.others.push(file.path);
        }
    }
    told
}

fn is_own(known: &Known, spans: Option<&[Span]>) -> bool {
    let Some(spans) = spans else {
        return known.named || !known.others;
    };
    let in_a_span = || match known.times {
        None => !spans.is_empty(),
        Some(times) => spans.iter().any(|span| span.may_hold(&times)),
    };
    known.named || !known.others && in_a_span()
}

/// Returns whether a file that a call names was written before it was seen how the turn began: it may have been seen
/// with what the call wrote.
fn is_raced(known: &Known, turn: &Turn<'_>) -> bool {
    let (Some(times), Some(before)) = (known.times, turn.before) else {
        return false;
    };
    let is_before = before
        .at
        .is_none_or(|at| times.changed <= at.plus(times.tick));
    known.named && is_before && is_later(known, turn)
}

/// Returns whether a file was written after the turn began.
fn is_later(known: &Known, turn: &Turn<'_>) -> bool {
    let times = known.times.zip(turn.began);
    times.is_some_and(|(times, began)| times.changed.plus(times.tick) >= began)
}

/// Returns when the turn's calls could write; `None` if the calls or their times are not known.
pub fn write_spans(turn: &Turn<'_>) -> Option<Vec<(Timestamp, Timestamp)>> {
    let spans = spans(turn.calls?, turn)?;
    Some(spans.iter().map(|span| (span.from, span.to)).collect())
}

/// A time in which a call could write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: Timestamp,
    to: Timestamp,
}

impl Span {
    fn may_hold(&self, times: &Times) -> bool {
        let from = self.from.minus(times.tick);
        let has = |at: Timestamp| from <= at && at <= self.to.plus(times.tick);
        match times.of {
            TimesOf::File => has(times.written) || has(times.changed),
            // Something else in the folder may have changed since.
            TimesOf::Gone => from <= times.changed,
            TimesOf::Folder => true,
        }
    }
}

/// Returns when the turn's calls could write; `None` if the times of the calls lie outside the turn.
fn spans(calls: &[ToolCall], turn: &Turn<'_>) -> Option<Vec<Span>> {
    let earliest = turn.began.map(|began| began.minus(SLACK));
    let is_outside = |call: &ToolCall| {
        earliest.is_some_and(|earliest| call.at < earliest) || call.at > turn.stopped.plus(SLACK)
    };
    if calls.iter().any(is_outside) {
        return None;
    }
    let mut sorted: Vec<&ToolCall> = calls.iter().collect();
    sorted.sort_by_key(|call| call.at);
    let mut spans = Vec::new();
    let mut free_from = turn.began.or(earliest).unwrap_or_default();
    for (index, call) in sorted.iter().enumerate() {
        let next = sorted.get(index + 1).map(|next| next.at);
        let lasted = call.duration_ms.map(Duration::from_millis);
        // A hook may report only the end of a call.
        let from = match lasted {
            _ if !call.finished => call.at,
            Some(lasted) => call.at.minus(lasted).max(free_from).min(call.at),
            None => free_from.min(call.at),
        };
        let to = match lasted {
            _ if !call.finished => turn.stopped,
            Some(lasted) => call.at.plus(lasted),
            None => next.unwrap_or(turn.stopped),
        };
        free_from = free_from.max(call.at).max(lasted.map_or(call.at, |_| to));
        let line = || shell::read(call.command.as_deref().unwrap_or_default());
        if !call.refused && could_write(call, &line()) {
            spans.push(Span { from, to });
        }
    }
    Some(spans)
}

/// Returns the files that a call names as written, as the agent wrote them: none of a call that was refused, or of an
/// edit that failed.
pub fn written(call: &ToolCall) -> Vec<String> {
    match call.kind {
        _ if call.refused => Vec::new(),
        ToolKind::Edit | ToolKind::Write if call.is_error => Vec::new(),
        ToolKind::Edit | ToolKind::Write => call.paths.clone(),
        ToolKind::Shell => shell::read(call.command.as_deref().unwrap_or_default()).writes,
        ToolKind::Read | ToolKind::Other => Vec::new(),
    }
}

/// Returns whether a call could write files of the project, whatever it names.
pub fn could_write(call: &ToolCall, line: &CommandLine) -> bool {
    match call.kind {
        ToolKind::Read => false,
        ToolKind::Edit | ToolKind::Write => true,
        ToolKind::Shell => !line.writes.is_empty() || !line.commands.iter().all(only_looks),
        ToolKind::Other => {
            let name = call.tool.to_lowercase().replace(['_', '-'], "");
            !is_word_of(LOOKING_TOOLS, &name)
        }
    }
}

/// Tools of agents that only look, ask or keep notes, in small letters without separators.
const LOOKING_TOOLS: &str = "
    askfollowupquestion askuser askuserquestion bashoutput croncreate cronlist enterplanmode
    exitplanmode fetch glob googlewebsearch grep grepsearch listdirectory listmcpresources ls
    question readmanyfiles readmcpresource searchfilecontent skill skills taskcreate taskget
    tasklist taskoutput taskupdate todoread todowrite toolsearch updateplan viewimage webfetch
    websearch writetodos";

/// Returns whether a command only shows something.
pub fn only_shows(simple: &Simple) -> bool {
    let known = Catalogue::built_in().command(&simple.words);
    let shows = known.is_some_and(|known| known.does == Some(Purpose::Show) && !known.writes);
    shows || leaves_files(simple)
}

/// Returns whether a command only shows something, or only runs tests or checks.
pub fn only_looks(simple: &Simple) -> bool {
    let Some(known) = Catalogue::built_in().command(&simple.words) else {
        return leaves_files(simple);
    };
    let looks = matches!(
        known.does,
        Some(Purpose::Show | Purpose::Lint | Purpose::Types | Purpose::Tests)
    );
    // What the tasks of a project do is not known by their names.
    let is_task = known.opening == Opening::Tasks && known.language.is_empty();
    leaves_files(simple) || !known.writes && (known.is_dry || looks && !is_task)
}

/// Returns whether a command prepares something and touches no file.
fn leaves_files(simple: &Simple) -> bool {
    let program = simple.words.first();
    program.is_none_or(|program| is_word_of(LEAVE_FILES, program))
}

fn is_word_of(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

const LEAVE_FILES: &str = "
    : bg cd exit export false fg kill pkill popd pushd set sleep true unset wait";

#[cfg(test)]
mod tests;
