//! Renders a document as Markdown: every section of spec PROG-4, in order. Statements of the agent are marked, with
//! the time at which each was made.

use journal::ProgressKind;

use super::document::{Document, Parent};
use super::lines::{line, mark, name, one_line, pointers, prose, stated_text};
use super::markdown::OWN_STEP;
use super::sections::{decisions, files, git, handoff, head, runs, task};
use super::stated::Judgments;
use reading::text::{self, visible};

/// Renders a document as the text of its file. The same document gives the same bytes.
pub fn render(document: &Document) -> String {
    let mut out = String::new();
    if document.kind == ProgressKind::Incremental {
        incremental(&mut out, document);
    } else {
        full(&mut out, document);
    }
    finished(out, document)
}

/// Renders everything that a document knows, also an incremental one.
pub fn render_whole(document: &Document) -> String {
    let mut out = String::new();
    full(&mut out, document);
    finished(out, document)
}

fn finished(text: String, document: &Document) -> String {
    if document.is_escaped() {
        visible(&text)
    } else {
        text
    }
}

fn full(out: &mut String, document: &Document) {
    let is_handoff = document.kind == ProgressKind::Handoff;
    line!(
        out,
        "# {}\n",
        if is_handoff {
            "Session Handoff Checkpoint"
        } else {
            "Progress Checkpoint"
        }
    );
    head(out, document);
    if let Some(parent) = &document.parent {
        delta(out, document, parent);
    }
    let now = &document.stated.now;
    line!(out, "\n## Executive Summary\n");
    stated_text(out, document, "summary", now.summary.as_deref());
    task(out, document);
    files(out, document);
    runs(out, document);
    decisions(out, document, &[]);
    line!(out, "\n## Context for Next Session");
    pointers(
        out,
        document,
        "Must Read",
        "must_read",
        now.must_read.as_deref(),
    );
    pointers(
        out,
        document,
        "Can Skip",
        "can_skip",
        now.can_skip.as_deref(),
    );
    line!(out, "\n### Summary of Skippable Content\n");
    stated_text(
        out,
        document,
        "skippable_summary",
        now.skippable_summary.as_deref(),
    );
    line!(
        out,
        "\n## Recovery Instructions\n\nIf resuming from this checkpoint:\n"
    );
    let given = now.recovery.as_ref().map_or(&[][..], |list| &list.0);
    let check = OWN_STEP.to_owned();
    for (number, step) in given.iter().chain([&check]).enumerate() {
        line!(out, "{}. {}", number + 1, one_line(step));
    }
    if !given.is_empty() {
        line!(out);
        mark(out, document, "recovery");
    }
    if is_handoff {
        handoff(out, document);
    }
    if let Some(notes) = &now.notes {
        line!(out, "\n## Notes\n\n{}\n", prose(notes));
        mark(out, document, "notes");
    }
    git(out, document);
}

fn incremental(out: &mut String, document: &Document) {
    line!(out, "# Incremental Checkpoint\n");
    head(out, document);
    let Some(parent) = &document.parent else {
        return;
    };
    delta(out, document, parent);
    let newer = Judgments::FIELDS.iter().filter(|field| {
        document
            .stated
            .since(field)
            .is_some_and(|since| since > parent.at)
    });
    let newer: Vec<&str> = newer.copied().collect();
    if newer.contains(&"summary") {
        line!(out, "\n## Executive Summary\n");
        stated_text(
            out,
            document,
            "summary",
            document.stated.now.summary.as_deref(),
        );
    }
    if [
        "completed",
        "remaining",
        "blockers",
        "objective",
        "status",
        "completion",
    ]
    .iter()
    .any(|field| newer.contains(field))
    {
        task(out, document);
    }
    if newer.contains(&"decisions") {
        decisions(out, document, &parent.decisions);
    }
    git(out, document);
}

/// Tool calls, files and decisions since the parent.
fn delta(out: &mut String, document: &Document, parent: &Parent) {
    let facts = &document.facts;
    let fresh: Vec<_> = facts
        .files
        .iter()
        .filter(|file| file.last_at > parent.at)
        .collect();
    let fresh = fresh.iter().map(|file| (&file.path, &file.status));
    let others = document.others_of_session().filter(|file| file.fresh);
    let names: Vec<String> = fresh
        .chain(others.map(|file| (&file.path, &file.status)))
        .map(|(path, status)| format!("{} ({status})", name(document, path)))
        .collect();
    line!(out, "\n**Parent Checkpoint**: {}", parent.at);
    line!(
        out,
        "**Delta Since Parent**: {}, {} of them failed; {} changed",
        text::count(
            facts.tools.saturating_sub(parent.tools),
            "tool call",
            "tool calls"
        ),
        facts.failed.saturating_sub(parent.failed),
        text::count(names.len(), "file", "files")
    );
    line!(
        out,
        "**Files Touched**: {}",
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    );
    let all = document.stated.now.decisions.as_deref().unwrap_or_default();
    let made: Vec<String> = all
        .iter()
        .filter(|made| !parent.decisions.contains(&made.decision))
        .map(|made| one_line(&made.decision))
        .collect();
    line!(
        out,
        "**Decisions Made**: {}",
        if made.is_empty() {
            "none".to_owned()
        } else {
            made.join("; ")
        }
    );
}
