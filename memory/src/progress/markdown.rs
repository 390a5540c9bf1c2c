//! Parses an agent's Markdown by its headings: those of a document (spec PROG-4) and their synonyms.

use super::headings::{Part, heading};
use super::lists::{items, items_with_boxes, says_none, table, word};
use super::stated::{Judgments, PHASES, STATUSES};
use super::values::{Decision, FileNote, Percent, Pointer, Texts};

/// Beginning of the lines that mark statements in our own documents.
pub(super) const MARK: &str = "_Stated by the agent";
/// Follows a statement of the agent within a line.
pub(super) const BY_AGENT: &str = " (stated by the agent)";
/// The step that our own documents add to the agent's steps.
pub(super) const OWN_STEP: &str =
    "Run `checkpointd progress validate` and settle what it reports before continuing.";
/// Replaces a missing statement in our own documents.
pub(super) const NOT_STATED: &str = "_Not stated._";

/// Reads a text; text under unknown headings becomes notes.
pub(super) fn read(text: &str) -> Judgments {
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
    let mut judgments = Judgments::default();
    let mut notes = Vec::new();
    for (part, title, lines) in parts {
        fill(&mut judgments, part, &title, &lines, &mut notes);
    }
    let notes = notes.join("\n\n");
    judgments.notes = Some(notes).filter(|notes| !notes.is_empty());
    judgments
}

/// Reads one part into its fields.
fn fill(
    judgments: &mut Judgments,
    part: Part,
    title: &str,
    lines: &[String],
    notes: &mut Vec<String>,
) {
    let text = || prose(lines);
    match part {
        Part::Fact => {}
        Part::Opening => match &mut judgments.summary {
            Some(_) => notes.extend(text()),
            none => *none = text(),
        },
        Part::Summary => {
            // Text under the heading replaces text above it.
            if let Some(summary) = text() {
                notes.extend(judgments.summary.replace(summary));
            }
        }
        Part::Phase => match text().map(|text| word(text.trim_end_matches(BY_AGENT))) {
            Some(phase) if PHASES.contains(&phase.as_str()) => judgments.phase = Some(phase),
            other => notes.extend(other.map(|other| format!("Phase: {other}"))),
        },
        Part::Status => match text() {
            Some(text) if STATUSES.contains(&word(&text).as_str()) => {
                judgments.status = Some(word(&text))
            }
            other => notes.extend(other.map(|other| format!("Status: {other}"))),
        },
        Part::Completion => {
            let Some(text) = text() else { return };
            match Percent::read(&text) {
                Some(percent) => judgments.completion = Some(percent),
                None => notes.push(format!("Completion: {text}")),
            }
        }
        Part::Handoff => notes.extend(text()),
        Part::Other if title == "Notes" => notes.extend(text()),
        Part::Other => notes.extend(text().map(|text| format!("{title}: {text}"))),
        _ => {
            fill_text(judgments, part, lines);
            fill_list(judgments, part, lines);
        }
    }
}

/// Reads a part that is one text.
fn fill_text(judgments: &mut Judgments, part: Part, lines: &[String]) {
    let text = match part {
        Part::TaskId => &mut judgments.task_id,
        Part::Task | Part::Objective => &mut judgments.objective,
        Part::SkippableSummary => &mut judgments.skippable_summary,
        Part::NextAction => &mut judgments.next_action,
        Part::RemainingWork => &mut judgments.remaining_work,
        _ => return,
    };
    *text = prose(lines).or(text.take());
}

/// Reads a part that is a list or a table.
fn fill_list(judgments: &mut Judgments, part: Part, lines: &[String]) {
    match part {
        Part::Completed => extend(&mut judgments.completed, items(lines)),
        Part::Remaining => extend(&mut judgments.remaining, items(lines)),
        Part::Steps => {
            let all = items_with_boxes(lines).unwrap_or_default();
            let (done, open): (Vec<_>, Vec<_>) = all
                .into_iter()
                .partition(|(ticked, _)| *ticked == Some(true));
            extend(
                &mut judgments.completed,
                Some(done.into_iter().map(|(_, item)| item).collect()),
            );
            extend(
                &mut judgments.remaining,
                Some(open.into_iter().map(|(_, item)| item).collect()),
            );
        }
        Part::Blockers => extend(&mut judgments.blockers, items(lines)),
        Part::Recovery => {
            let own =
                |items: Vec<String>| items.into_iter().filter(|item| item != OWN_STEP).collect();
            extend(&mut judgments.recovery, items(lines).map(own));
        }
        Part::Risks => extend(&mut judgments.risks, items(lines)),
        Part::Dependencies => extend(&mut judgments.dependencies, items(lines)),
        Part::MustRead => judgments.must_read = pointers(lines).or(judgments.must_read.take()),
        Part::CanSkip => judgments.can_skip = pointers(lines).or(judgments.can_skip.take()),
        Part::Files => judgments.files = files(lines).or(judgments.files.take()),
        Part::Decisions => judgments.decisions = decisions(lines).or(judgments.decisions.take()),
        _ => {}
    }
}

fn extend(known: &mut Option<Texts>, items: Option<Vec<String>>) {
    if let Some(items) = items {
        known.get_or_insert_default().0.extend(items);
    }
}

fn prose(lines: &[String]) -> Option<String> {
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty() && !says_none(&text)).then_some(text)
}

fn pointers(lines: &[String]) -> Option<Vec<Pointer>> {
    items(lines).map(|items| items.iter().map(|item| Pointer::read(item)).collect())
}

fn files(lines: &[String]) -> Option<Vec<FileNote>> {
    let Some(table) = table(lines) else {
        return items(lines).map(|items| items.iter().map(|item| FileNote::read(item)).collect());
    };
    let notes = table.rows.iter().filter_map(|row| {
        let cell = |title: &str, place| table.cell(row, title, &["changes", "status"], place);
        Some(FileNote {
            path: row.first()?.trim_matches('`').to_owned(),
            changes: cell("changes", 1)?.to_owned(),
        })
    });
    Some(notes.collect())
}

fn decisions(lines: &[String]) -> Option<Vec<Decision>> {
    let Some(table) = table(lines) else {
        return items(lines).map(|items| items.iter().map(|item| decision(item)).collect());
    };
    let titles = ["rationale", "confidence", "reversible"];
    let of = |row: &Vec<String>| {
        let cell = |title: &str, place| table.cell(row, title, &titles, place);
        Decision {
            decision: row.first().cloned().unwrap_or_default(),
            rationale: cell("rationale", 1).unwrap_or_default().to_owned(),
            confidence: cell("confidence", 2).and_then(Percent::read),
            reversible: cell("reversible", 3).map(str::to_owned),
        }
    };
    let made = table.rows.iter().map(of);
    Some(
        made.filter(|made| !says_none(&made.decision) && made.decision != "-")
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
