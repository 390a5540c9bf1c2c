//! What the output of a tool call says about how the things ended that it ran (spec EVID-11).
//!
//! Test runners, compilers, type checkers and linters end with a line of a known form, which the catalogue holds under
//! `prints:`. A form has to fill its line, so that prose, code and log lines that mention one do not match.
//! Colors, line endings, progress that overwrites itself, and the prefixes of task runners are taken off first.
//!
//! Reading takes linear time, and reads at most the first 16 KB and the last 64 KB of an output.

mod counts;
mod draft;
mod failure;
mod lines;
mod missing;
pub mod report;
mod table;
#[cfg(test)]
mod tests;

use journal::{Summary, SummaryKind, SummaryVerdict};

use draft::Drafts;

pub use failure::{speaks_of_failure, without_denials};
pub use lines::{HEAD_BYTES, TAIL_BYTES};

/// Returns what an output reports on: one entry for each tool, kind and verdict, in the order in which they appear last, and
/// what was missing; at most 16.
pub fn read(output: &str) -> Vec<Summary> {
    let mut drafts = Drafts::default();
    let mut missing = missing::Names::default();
    let mut known = Vec::new();
    lines::each(output, |line| {
        known.clear();
        table::find(line, &mut known);
        for row in &known {
            drafts.add(row, line);
        }
        missing.add(line) || !known.is_empty()
    });
    let mut said = drafts.finish();
    said.extend(missing.finish().into_iter().map(|tool| Summary {
        kind: SummaryKind::Missing,
        tool,
        ..Summary::default()
    }));
    said.truncate(draft::SUMMARIES_MAX);
    said
}

/// Returns what the output of a command line reports on, without the lines that the command line itself spells out:
/// `make; echo "Build succeeded"` prints that whatever `make` does.
pub fn of_call(line: &str, output: &str) -> Vec<Summary> {
    if !["echo", "printf", "Write-"]
        .iter()
        .any(|word| line.contains(word))
    {
        return read(output);
    }
    let is_own = |text: &&str| {
        let text = text.trim();
        !text.is_empty() && line.contains(text)
    };
    let kept: Vec<&str> = output.lines().filter(|text| !is_own(text)).collect();
    read(&kept.join("\n"))
}

/// Returns how the things of a kind ended, taken together: failed if any failed, passed if any passed.
pub fn overall(summaries: &[Summary], kind: SummaryKind) -> Option<SummaryVerdict> {
    let mut verdicts = summaries
        .iter()
        .filter(|summary| summary.kind == kind)
        .map(|summary| summary.verdict);
    let first = verdicts.next()?;
    Some(verdicts.fold(first, worse))
}

/// Returns whether a line sums up how something ended, and so does not say what failed.
pub fn sums_up(line: &str) -> bool {
    let mut known = Vec::new();
    lines::each(line, |line| {
        table::find(line, &mut known);
        !known.is_empty()
    });
    let is_item =
        |row: &&table::Row| matches!(row.says, table::Says::Item(_) | table::Says::Tally(_));
    known.iter().any(|row| !is_item(row))
}

/// Returns whether a file may hold an output that was kept, by the ending of its name.
pub fn is_log(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["log", "out", "output", "txt", "err", "tap"].contains(&ending)
}

/// Combines two verdicts of one kind.
fn worse(one: SummaryVerdict, other: SummaryVerdict) -> SummaryVerdict {
    use SummaryVerdict::{Failed, Passed, RanNothing};
    match (one, other) {
        (Failed, _) | (_, Failed) => Failed,
        (Passed, _) | (_, Passed) => Passed,
        (RanNothing, RanNothing) => RanNothing,
    }
}
