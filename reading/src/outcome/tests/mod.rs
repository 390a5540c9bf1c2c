//! Outputs of many tools, texts that say nothing, and what must not change a verdict.

mod cases;
mod invariants;
mod silent;

use journal::{Summary, SummaryKind, SummaryVerdict};

use super::{draft, lines, read, table};

/// Outputs as tools write them, each after a line `##### ` with what it says.
const CASES: [&str; 8] = [
    include_str!("cases/ecosystems.txt"),
    include_str!("cases/javascript.txt"),
    include_str!("cases/machine.txt"),
    include_str!("cases/native.txt"),
    include_str!("cases/nothing.txt"),
    include_str!("cases/others.txt"),
    include_str!("cases/own.txt"),
    include_str!("cases/python.txt"),
];

/// Lines that say nothing.
const SILENT: &str = include_str!("cases/silent.txt");

/// Returns all cases: what the output says, and the output.
fn cases() -> Vec<(&'static str, &'static str)> {
    let cases = CASES.iter().flat_map(|text| text.split("##### ").skip(1));
    cases
        .map(|case| case.split_once('\n').unwrap_or((case, "")))
        .collect()
}

/// Shows summaries: tool, kind, verdict, and the numbers of passed, failed and skipped.
fn shown(summaries: &[Summary]) -> String {
    if summaries.is_empty() {
        return "none".to_owned();
    }
    let one = |summary: &Summary| {
        let tool = if summary.tool.is_empty() {
            "-"
        } else {
            &summary.tool
        };
        let kind = match summary.kind {
            SummaryKind::Tests => "tests",
            SummaryKind::Build => "build",
            SummaryKind::Types => "types",
            SummaryKind::Lint => "lint",
            SummaryKind::Format => "format",
            SummaryKind::Missing => "missing",
            SummaryKind::Other => "other",
        };
        let verdict = match summary.verdict {
            SummaryVerdict::Passed => "passed",
            SummaryVerdict::Failed => "failed",
            SummaryVerdict::RanNothing => "nothing",
        };
        let counts = [summary.passed, summary.failed, summary.skipped]
            .map(|count| count.map_or("-".to_owned(), |count| count.to_string()));
        format!("{tool} {kind} {verdict} {}", counts.join("/"))
    };
    summaries.iter().map(one).collect::<Vec<_>>().join("; ")
}
