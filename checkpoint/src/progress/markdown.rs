//! Reads an agent's Markdown by its headings: those of 004, and the words in which agents say the same.

use super::stated::{Judgements, PHASES, STATUSES};
use super::values::{Decision, FileNote, Percent, Pointer, Texts};

/// What a part of the text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Before the first heading, and under the document's own title.
    Opening,
    Phase,
    Summary,
    /// The task as such: its fields, and the goal in plain words.
    Task,
    TaskId,
    Objective,
    Status,
    Completion,
    Completed,
    Remaining,
    /// Both, told apart by their boxes.
    Steps,
    Blockers,
    Files,
    Decisions,
    MustRead,
    CanSkip,
    SkippableSummary,
    Recovery,
    /// What goes by its own fields.
    Handoff,
    NextAction,
    RemainingWork,
    Risks,
    Dependencies,
    /// What git and the journal know better.
    Fact,
    /// Anything else.
    Other,
}

/// Headings in lower case, without marks. A heading that is not here belongs to the notes.
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

/// Beginning of the lines with which our own documents mark who said a thing, and when.
pub(super) const MARK: &str = "_Stated by the agent";
/// What stands behind a word of the agent's in a line of its own.
pub(super) const BY_AGENT: &str = " (stated by the agent)";
/// The step that our own documents add to those of the agent.
pub(super) const OWN_STEP: &str =
    "Run `checkpointd progress validate` and settle what it reports before continuing.";
/// What our own documents say where nothing was stated.
pub(super) const NOT_STATED: &str = "_Not stated._";

/// Reads all of it; what belongs nowhere becomes notes.
pub(super) fn read(text: &str) -> Judgements {
    let mut parts: Vec<(Part, String, Vec<String>)> =
        vec![(Part::Opening, String::new(), Vec::new())];
    let mut fence = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            fence = !fence;
        }
        let current = parts.last().map_or(Part::Opening, |(part, ..)| *part);
        let heading = if fence {
            None
        } else {
            heading(trimmed, current)
        };
        match heading {
            Some((part, title, rest)) => parts.push((part, title, rest.into_iter().collect())),
            None => {
                if !trimmed.starts_with(MARK) && trimmed != NOT_STATED && trimmed != "---" {
                    parts
                        .last_mut()
                        .expect("one at least")
                        .2
                        .push(line.trim_end().to_owned());
                }
            }
        }
    }
    let mut judgements = Judgements::default();
    let mut notes = Vec::new();
    for (part, title, lines) in parts {
        take(&mut judgements, part, &title, &lines, &mut notes);
    }
    let notes = notes.join("\n\n");
    judgements.notes = Some(notes).filter(|notes| !notes.is_empty());
    judgements
}

/// Reads a heading: `## Words`, `**Words**`, `Words:`, or a field `**Words**: value`, which begins a part of its own.
fn heading(line: &str, current: Part) -> Option<(Part, String, Option<String>)> {
    if let Some(title) = line.strip_prefix('#') {
        let title = title.trim_start_matches('#').trim();
        return Some((
            part_of(title).unwrap_or(Part::Other),
            title.to_owned(),
            None,
        ));
    }
    // Within lists and tables a bold word is just that, except where a part consists of fields.
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

fn take(
    judgements: &mut Judgements,
    part: Part,
    title: &str,
    lines: &[String],
    notes: &mut Vec<String>,
) {
    let text = || prose(lines);
    match part {
        Part::Fact => {}
        Part::Opening => match &mut judgements.summary {
            Some(_) => notes.extend(text()),
            none => *none = text(),
        },
        Part::Summary => {
            // The heading counts for more than what stood above it.
            if let Some(summary) = text() {
                notes.extend(judgements.summary.replace(summary));
            }
        }
        Part::Phase => match text().map(|text| word(text.trim_end_matches(BY_AGENT))) {
            Some(phase) if PHASES.contains(&phase.as_str()) => judgements.phase = Some(phase),
            other => notes.extend(other.map(|other| format!("Phase: {other}"))),
        },
        Part::Status => match text() {
            Some(text) if STATUSES.contains(&word(&text).as_str()) => {
                judgements.status = Some(word(&text))
            }
            other => notes.extend(other.map(|other| format!("Status: {other}"))),
        },
        Part::Completion => {
            let Some(text) = text() else { return };
            match Percent::read(&text) {
                Some(percent) => judgements.completion = Some(percent),
                None => notes.push(format!("Completion: {text}")),
            }
        }
        Part::TaskId => judgements.task_id = text().or(judgements.task_id.take()),
        Part::Task | Part::Objective => {
            judgements.objective = text().or(judgements.objective.take())
        }
        Part::Completed => extend(&mut judgements.completed, items(lines)),
        Part::Remaining => extend(&mut judgements.remaining, items(lines)),
        Part::Steps => {
            let all = items_with_boxes(lines).unwrap_or_default();
            let (done, open): (Vec<_>, Vec<_>) = all
                .into_iter()
                .partition(|(ticked, _)| *ticked == Some(true));
            extend(
                &mut judgements.completed,
                Some(done.into_iter().map(|(_, item)| item).collect()),
            );
            extend(
                &mut judgements.remaining,
                Some(open.into_iter().map(|(_, item)| item).collect()),
            );
        }
        Part::Blockers => extend(&mut judgements.blockers, items(lines)),
        Part::Recovery => {
            let own =
                |items: Vec<String>| items.into_iter().filter(|item| item != OWN_STEP).collect();
            extend(&mut judgements.recovery, items(lines).map(own));
        }
        Part::Risks => extend(&mut judgements.risks, items(lines)),
        Part::Dependencies => extend(&mut judgements.dependencies, items(lines)),
        Part::MustRead => judgements.must_read = pointers(lines).or(judgements.must_read.take()),
        Part::CanSkip => judgements.can_skip = pointers(lines).or(judgements.can_skip.take()),
        Part::SkippableSummary => {
            judgements.skippable_summary = text().or(judgements.skippable_summary.take())
        }
        Part::NextAction => judgements.next_action = text().or(judgements.next_action.take()),
        Part::RemainingWork => {
            judgements.remaining_work = text().or(judgements.remaining_work.take())
        }
        Part::Files => judgements.files = files(lines).or(judgements.files.take()),
        Part::Decisions => judgements.decisions = decisions(lines).or(judgements.decisions.take()),
        Part::Handoff => notes.extend(text()),
        Part::Other if title == "Notes" => notes.extend(text()),
        Part::Other => notes.extend(text().map(|text| format!("{title}: {text}"))),
    }
}

fn extend(known: &mut Option<Texts>, items: Option<Vec<String>>) {
    if let Some(items) = items {
        known.get_or_insert_default().0.extend(items);
    }
}

/// Makes a word of 004 of what stands for it: `In progress` is `in_progress`.
fn word(text: &str) -> String {
    text.trim()
        .trim_matches(['`', '*', '.'])
        .to_lowercase()
        .replace([' ', '-'], "_")
}

fn says_none(text: &str) -> bool {
    matches!(
        word(text).as_str(),
        "none" | "not_stated" | "nothing" | "n/a" | "no" | "" | "_none_" | "(none)" | "_"
    )
}

fn prose(lines: &[String]) -> Option<String> {
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty() && !says_none(&text)).then_some(text)
}

/// Reads the beginning of an item: `- `, `* `, `1. `, with or without a box. Returns whether the box is ticked.
fn bullet(line: &str) -> Option<(Option<bool>, &str)> {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if digits.len() < line.len() {
        digits.strip_prefix(". ").or(digits.strip_prefix(") "))
    } else {
        None
    };
    let item = ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or(numbered)?;
    for (open, is_ticked) in [("[x] ", true), ("[X] ", true), ("[ ] ", false)] {
        if let Some(item) = item.strip_prefix(open) {
            return Some((Some(is_ticked), item.trim()));
        }
    }
    Some((None, item.trim()))
}

/// Returns a list's items; lines without a mark continue the item before, or are items where there are no marks.
fn items_with_boxes(lines: &[String]) -> Option<Vec<(Option<bool>, String)>> {
    let marked = lines.iter().any(|line| bullet(line).is_some());
    let mut items: Vec<(Option<bool>, String)> = Vec::new();
    let mut begun = false;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        begun = true;
        match (bullet(line), items.last_mut()) {
            (Some((ticked, item)), _) => items.push((ticked, item.to_owned())),
            (None, Some((_, item))) if marked => *item = format!("{item} {}", line.trim()),
            // Words that introduce a list, as in `If resuming from this checkpoint:`.
            (None, None) if marked => {}
            (None, _) => items.push((None, line.trim().to_owned())),
        }
    }
    items.retain(|(_, item)| !says_none(item));
    begun.then_some(items)
}

fn items(lines: &[String]) -> Option<Vec<String>> {
    items_with_boxes(lines).map(|items| items.into_iter().map(|(_, item)| item).collect())
}

fn pointers(lines: &[String]) -> Option<Vec<Pointer>> {
    items(lines).map(|items| items.iter().map(|item| Pointer::read(item)).collect())
}

/// Returns a table's rows without its head; none where there is no table.
fn rows(lines: &[String]) -> Option<Vec<Vec<String>>> {
    let table: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| line.starts_with('|'))
        .collect();
    let is_rule = |line: &&str| line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let rule = table.iter().position(is_rule)?;
    let cells = |line: &&str| {
        let inner = line.trim_start_matches('|').replace("\\|", "\u{0}");
        let inner = inner.strip_suffix('|').unwrap_or(&inner);
        inner
            .split('|')
            .map(|cell| cell.trim().replace('\u{0}', "|"))
            .collect()
    };
    Some(table[rule + 1..].iter().map(cells).collect())
}

fn files(lines: &[String]) -> Option<Vec<FileNote>> {
    let Some(rows) = rows(lines) else {
        return items(lines).map(|items| items.iter().map(|item| FileNote::read(item)).collect());
    };
    let cell = |row: &[String], at: usize| {
        row.get(at)
            .map_or("", |cell| cell.trim_matches('`'))
            .to_owned()
    };
    let notes = rows.iter().map(|row| FileNote {
        path: cell(row, 0),
        changes: cell(row, 1),
    });
    Some(
        notes
            .filter(|note| !matches!(note.changes.as_str(), "" | "-"))
            .collect(),
    )
}

fn decisions(lines: &[String]) -> Option<Vec<Decision>> {
    let Some(rows) = rows(lines) else {
        return items(lines).map(|items| items.iter().map(|item| decision(item)).collect());
    };
    let cell = |row: &[String], at: usize| {
        row.get(at)
            .filter(|cell| !matches!(cell.as_str(), "" | "-"))
            .cloned()
    };
    let of = |row: &Vec<String>| Decision {
        decision: cell(row, 0).unwrap_or_default(),
        rationale: cell(row, 1).unwrap_or_default(),
        confidence: cell(row, 2).as_deref().and_then(Percent::read),
        reversible: cell(row, 3),
    };
    Some(
        rows.iter()
            .map(of)
            .filter(|made| !says_none(&made.decision))
            .collect(),
    )
}

/// Reads `choice - reason`, `choice: reason` or `choice because reason`.
fn decision(item: &str) -> Decision {
    let split = [" because ", " - ", " – ", " — ", ": "]
        .iter()
        .filter_map(|by| item.find(by).map(|at| (at, by.len())))
        .min();
    let (choice, reason) = split.map_or((item, ""), |(at, length)| {
        (&item[..at], &item[at + length..])
    });
    Decision {
        decision: choice.trim_matches('*').trim().to_owned(),
        rationale: reason.trim().to_owned(),
        ..Decision::default()
    }
}
