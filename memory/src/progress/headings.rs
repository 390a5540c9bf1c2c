//! The headings of a document (spec PROG-4) and the synonyms that agents use.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::lists::bullet;

/// The subject of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    /// Before the first heading, and under the document's own title.
    Opening,
    Phase,
    Summary,
    /// The task: its fields, and the goal in plain words.
    Task,
    TaskId,
    Objective,
    Status,
    Completion,
    Completed,
    Remaining,
    /// Both, distinguished by their checkboxes.
    Steps,
    Blockers,
    Files,
    Decisions,
    MustRead,
    CanSkip,
    SkippableSummary,
    Recovery,
    /// A section whose fields are parts of their own.
    Handoff,
    NextAction,
    RemainingWork,
    Risks,
    Dependencies,
    /// Facts, which come from git and the journal, not from the agent.
    Fact,
    /// Anything else.
    Other,
}

/// The headings of each part.
static HEADINGS: LazyLock<BTreeMap<Part, Vec<String>>> =
    LazyLock::new(|| reading::built_in("headings", include_str!("headings.yml")));

/// Reads a heading: `## Words`, `**Words**`, `Words:`, or a field `**Words**: value`, which begins a part of its own.
pub(super) fn heading(line: &str, current: Part) -> Option<(Part, String, Option<String>)> {
    if let Some(title) = line.strip_prefix('#') {
        let title = title.trim_start_matches('#').trim();
        return Some((
            part_of(title).unwrap_or(Part::Other),
            title.to_owned(),
            None,
        ));
    }
    // In lists and tables a bold word is not a heading, except in parts that consist of fields.
    let is_item = line.starts_with(['|', '>']) || bullet(line).is_some();
    let has_fields = matches!(
        current,
        Part::Opening | Part::Task | Part::Handoff | Part::TaskId | Part::Status
    );
    let line = match bullet(line) {
        Some((None, item)) if has_fields => item,
        _ if is_item => return None,
        _ => line,
    };
    let bold = line
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**"));
    let (title, value) = match bold {
        Some((title, rest)) => (title, rest.trim_start().strip_prefix(':').unwrap_or(rest)),
        None => line.split_once(':')?,
    };
    let part = part_of(title)?;
    let value = value.trim();
    Some((
        part,
        title.to_owned(),
        (!value.is_empty()).then(|| value.to_owned()),
    ))
}

fn part_of(title: &str) -> Option<Part> {
    let plain: String = title
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '/'))
        .collect();
    let plain = plain.trim().to_lowercase();
    let plain = plain.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let mut parts = HEADINGS.iter();
    let known = parts.find(|(_, words)| words.iter().any(|word| word == plain));
    known.map(|(part, _)| *part)
}
