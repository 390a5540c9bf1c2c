//! The headings of a document (spec PROG-4) and the synonyms that agents use.

use super::lists::bullet;

/// The subject of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Headings in lower case, without punctuation. Unknown headings belong to the notes.
const HEADINGS: [(Part, &[&str]); 23] = [
    (
        Part::Opening,
        &[
            "progress checkpoint",
            "session handoff checkpoint",
            "incremental checkpoint",
            "checkpoint",
            "handoff",
        ],
    ),
    (Part::Phase, &["phase"]),
    (Part::Summary, &["executive summary", "summary", "overview"]),
    (Part::Task, &["current task", "task"]),
    (Part::TaskId, &["task id"]),
    (Part::Objective, &["objective", "goal", "the goal", "goals"]),
    (Part::Status, &["status"]),
    (Part::Completion, &["completion", "progress"]),
    (
        Part::Completed,
        &[
            "completed steps",
            "completed",
            "done",
            "what is done",
            "finished",
        ],
    ),
    (
        Part::Remaining,
        &[
            "remaining steps",
            "remaining",
            "left",
            "what is left",
            "to do",
            "todo",
            "next steps",
        ],
    ),
    (Part::Steps, &["steps", "plan"]),
    (
        Part::Blockers,
        &["active blockers", "blockers", "blocked", "what is blocked"],
    ),
    (
        Part::Files,
        &[
            "files modified this session",
            "files changed",
            "changed files",
            "files",
            "files modified",
        ],
    ),
    (
        Part::Decisions,
        &[
            "key decisions made",
            "key decisions",
            "decisions",
            "decisions made",
        ],
    ),
    (Part::MustRead, &["must read", "read first"]),
    (Part::CanSkip, &["can skip", "need not read"]),
    (
        Part::SkippableSummary,
        &["summary of skippable content", "skippable content"],
    ),
    (
        Part::Recovery,
        &[
            "recovery instructions",
            "when resuming",
            "resuming",
            "resume",
        ],
    ),
    (
        Part::Handoff,
        &["handoff notes", "context for next session"],
    ),
    (
        Part::NextAction,
        &[
            "recommended next action",
            "next action",
            "first action",
            "do first",
        ],
    ),
    (
        Part::RemainingWork,
        &["estimated remaining work", "remaining work"],
    ),
    (Part::Risks, &["risk areas", "risks", "what might go wrong"]),
    (Part::Dependencies, &["dependencies", "external blockers"]),
];

/// Headings and fields of our own documents that hold facts.
const FACTS: [&str; 23] = [
    "last updated",
    "session id",
    "session",
    "agent",
    "project",
    "type",
    "git state",
    "git",
    "branch",
    "last commit",
    "uncommitted changes",
    "ahead/behind remote",
    "time worked",
    "tool runs",
    "failures",
    "failures and what resolved them",
    "parent checkpoint",
    "delta since parent",
    "files touched",
    "turns",
    "written because",
    "work phase",
    "changes since",
];

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
    if FACTS.contains(&plain) {
        return Some(Part::Fact);
    }
    HEADINGS
        .iter()
        .find(|(_, words)| words.contains(&plain))
        .map(|(part, _)| *part)
}
