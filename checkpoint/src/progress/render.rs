//! A document as Markdown: every section of 004, in its order and under its headings. What the agent stated is marked as
//! such, with the time since which it stands.

use std::fmt::Write as _;

use journal::ProgressKind;

use super::document::{Document, GitState, Parent};
use super::facts::Facts;
use super::markdown::{BY_AGENT, MARK, NOT_STATED, OWN_STEP};
use super::stated::Judgements;
use super::values::{Pointer, Texts};

/// Renders a document. The same document gives the same bytes.
pub fn render(document: &Document) -> String {
    let mut out = String::new();
    if document.kind == ProgressKind::Incremental {
        incremental(&mut out, document);
    } else {
        full(&mut out, document);
    }
    out
}

/// Adds a line; writing into a text cannot fail.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($format:tt)*) => {{ let _ = writeln!($out, $($format)*); }};
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
    let now = &document.stated.now;
    line!(out, "\n## Executive Summary\n");
    stated_text(out, document, "summary", now.summary.as_deref());
    task(out, document);
    files(out, document);
    runs(out, &document.facts);
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
    git(out, &document.git);
}

fn head(out: &mut String, document: &Document) {
    line!(out, "**Last Updated**: {}", document.at);
    line!(
        out,
        "**Session ID**: {}",
        one_line(&document.native_session)
    );
    line!(out, "**Agent**: {}", document.agent);
    line!(out, "**Project**: {}", one_line(&document.project));
    let phase = document.stated.now.phase.as_deref();
    line!(
        out,
        "**Phase**: {}",
        phase.map_or("not stated".to_owned(), |phase| format!(
            "{phase}{BY_AGENT}"
        ))
    );
    if let Some(open) = &document.open_phase {
        let (name, summary) = (one_line(&open.name), one_line(&open.summary));
        line!(
            out,
            "**Work Phase**: {} of 7, {name} ({}): {summary}",
            open.number,
            open.checkpoint
        );
    }
    line!(out, "**Type**: {}", document.kind.word());
    line!(
        out,
        "**Written Because**: {}",
        document.cause.replace('_', " ")
    );
    line!(
        out,
        "**Time Worked**: {}",
        duration(document.facts.worked_ms)
    );
}

fn task(out: &mut String, document: &Document) {
    let now = &document.stated.now;
    line!(out, "\n## Current Task\n");
    let words = |text: &Option<String>| text.as_deref().map_or("not stated".to_owned(), one_line);
    line!(out, "**Task ID**: {}", words(&now.task_id));
    line!(out, "**Objective**: {}", words(&now.objective));
    line!(out, "**Status**: {}", words(&now.status));
    line!(
        out,
        "**Completion**: {}",
        now.completion
            .map_or("not stated".to_owned(), |share| format!("{}%", share.0))
    );
    let newest = ["task_id", "objective", "status", "completion"]
        .iter()
        .max_by_key(|field| document.stated.since(field));
    if let Some(field) = newest.filter(|field| document.stated.since(field).is_some()) {
        line!(out);
        mark(out, document, field);
    }
    list(
        out,
        document,
        "Completed Steps",
        "completed",
        now.completed.as_ref(),
        "- [x] ",
    );
    list(
        out,
        document,
        "Remaining Steps",
        "remaining",
        now.remaining.as_ref(),
        "- [ ] ",
    );
    list(
        out,
        document,
        "Active Blockers",
        "blockers",
        now.blockers.as_ref(),
        "- ",
    );
}

fn files(out: &mut String, document: &Document) {
    line!(out, "\n## Files Modified This Session\n");
    if document.facts.files.is_empty() {
        line!(out, "None");
        return;
    }
    line!(
        out,
        "| File | Changes | Status | Seen |\n|------|---------|--------|------|"
    );
    let notes = document.stated.now.files.as_deref().unwrap_or_default();
    for file in &document.facts.files {
        let note = notes
            .iter()
            .find(|note| note.path == file.path || file.path.ends_with(&format!("/{}", note.path)));
        let changes = note.map_or("-".to_owned(), |note| cell(&note.changes));
        let mut seen = Vec::new();
        if file.writes > 0 {
            seen.push(format!("written {}", times(file.writes)));
        }
        if file.edits > 0 {
            seen.push(format!("edited {}", times(file.edits)));
        }
        line!(
            out,
            "| {} | {changes} | {} | {} |",
            cell(&file.path),
            file.status,
            seen.join(", ")
        );
    }
    if document.facts.files_left_out > 0 {
        line!(
            out,
            "\n{} more files, changed earlier, are left out.",
            document.facts.files_left_out
        );
    }
    if !notes.is_empty() {
        line!(out, "\nThe column Changes:");
        mark(out, document, "files");
    }
}

fn runs(out: &mut String, facts: &Facts) {
    line!(out, "\n## Tool Runs\n");
    line!(
        out,
        "{} tool calls in {} turns: {} shell commands, {} file changes, {} reads; {} failed.",
        facts.tools,
        facts.turns,
        facts.shell,
        facts.changes,
        facts.reads,
        facts.failed
    );
    line!(out, "\n## Failures and What Resolved Them\n");
    if facts.failures.is_empty() {
        line!(out, "None");
    }
    for failed in &facts.failures {
        let said = if failed.said.is_empty() {
            String::new()
        } else {
            format!(": {}", one_line(&failed.said))
        };
        let resolved = failed
            .resolved
            .as_deref()
            .map_or("not resolved".to_owned(), one_line);
        line!(
            out,
            "- {} {} `{}`{said} -> {resolved}",
            failed.at,
            one_line(&failed.tool),
            one_line(&failed.what).replace('`', "'")
        );
    }
}

/// The decisions, without those that a parent has.
fn decisions(out: &mut String, document: &Document, known: &[String]) {
    line!(out, "\n## Key Decisions Made\n");
    let Some(all) = &document.stated.now.decisions else {
        return line!(out, "{NOT_STATED}");
    };
    let fresh: Vec<_> = all
        .iter()
        .filter(|made| !known.contains(&made.decision))
        .collect();
    if fresh.is_empty() {
        return line!(out, "None");
    }
    line!(
        out,
        "| Decision | Rationale | Confidence | Reversible |\n|----------|-----------|------------|------------|"
    );
    for made in fresh {
        let confidence = made
            .confidence
            .map_or("-".to_owned(), |share| format!("{}%", share.0));
        let reversible = made.reversible.as_deref().map_or("-".to_owned(), cell);
        line!(
            out,
            "| {} | {} | {confidence} | {reversible} |",
            cell(&made.decision),
            cell(&made.rationale)
        );
    }
    line!(out);
    mark(out, document, "decisions");
}

fn pointers(
    out: &mut String,
    document: &Document,
    title: &str,
    field: &str,
    pointers: Option<&[Pointer]>,
) {
    let item = |pointer: &Pointer| match pointer.why.as_str() {
        "" => pointer.file.clone(),
        why => format!("{} - {why}", pointer.file),
    };
    let texts = pointers.map(|pointers| Texts(pointers.iter().map(item).collect()));
    list(out, document, title, field, texts.as_ref(), "- ");
}

fn handoff(out: &mut String, document: &Document) {
    let now = &document.stated.now;
    line!(out, "\n## Handoff Notes\n");
    let words = |text: &Option<String>| text.as_deref().map_or("not stated".to_owned(), one_line);
    let many = |list: &Option<Texts>| match list {
        Some(list) if list.0.is_empty() => "None".to_owned(),
        Some(list) => list
            .0
            .iter()
            .map(|item| one_line(item))
            .collect::<Vec<_>>()
            .join("; "),
        None => "not stated".to_owned(),
    };
    let first = now.next_action.clone().or_else(|| {
        now.remaining
            .as_ref()
            .and_then(|list| list.0.first().cloned())
    });
    line!(out, "**Recommended Next Action**: {}", words(&first));
    line!(
        out,
        "**Estimated Remaining Work**: {}",
        words(&now.remaining_work)
    );
    line!(out, "**Risk Areas**: {}", many(&now.risks));
    line!(out, "**Dependencies**: {}", many(&now.dependencies));
    for field in ["next_action", "remaining_work", "risks", "dependencies"] {
        if document.stated.since(field).is_some() {
            line!(out);
            return mark(out, document, field);
        }
    }
}

fn git(out: &mut String, git: &Result<GitState, String>) {
    line!(out, "\n## Git State\n");
    let git = match git {
        Ok(git) => git,
        Err(why) => return line!(out, "Not known: {}", why.replace('_', " ")),
    };
    line!(
        out,
        "**Branch**: {}",
        git.branch
            .as_deref()
            .map_or("(detached)".to_owned(), one_line)
    );
    match &git.commit {
        Some(hash) => line!(
            out,
            "**Last Commit**: {} - {}",
            &hash[..hash.len().min(10)],
            one_line(&git.subject)
        ),
        None => line!(out, "**Last Commit**: none yet"),
    }
    let paths: Vec<String> = git
        .uncommitted
        .iter()
        .map(|(_, path)| one_line(path))
        .collect();
    let list = if paths.is_empty() {
        "No".to_owned()
    } else {
        format!("Yes - {}", paths.join(", "))
    };
    line!(out, "**Uncommitted Changes**: {list}");
    match (git.ahead, git.behind) {
        (Some(ahead), Some(behind)) => line!(
            out,
            "**Ahead/Behind Remote**: {ahead} ahead, {behind} behind"
        ),
        _ => line!(out, "**Ahead/Behind Remote**: the branch follows none"),
    }
}

fn incremental(out: &mut String, document: &Document) {
    line!(out, "# Incremental Checkpoint\n");
    head(out, document);
    let (Some(parent), facts) = (&document.parent, &document.facts) else {
        return;
    };
    let Parent {
        at,
        tools,
        failed,
        decisions: known,
        ..
    } = parent;
    let fresh: Vec<_> = facts
        .files
        .iter()
        .filter(|file| file.last_at > *at)
        .collect();
    line!(out, "\n**Parent Checkpoint**: {at}");
    line!(
        out,
        "**Delta Since Parent**: {} tool calls, {} of them failed; {} files changed",
        facts.tools.saturating_sub(*tools),
        facts.failed.saturating_sub(*failed),
        fresh.len()
    );
    let names: Vec<String> = fresh
        .iter()
        .map(|file| format!("{} ({})", one_line(&file.path), file.status))
        .collect();
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
        .filter(|made| !known.contains(&made.decision))
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
    let newer = Judgements::FIELDS.iter().filter(|field| {
        document
            .stated
            .since(field)
            .is_some_and(|since| since > *at)
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
        decisions(out, document, known);
    }
    git(out, &document.git);
}

fn stated_text(out: &mut String, document: &Document, field: &str, text: Option<&str>) {
    let Some(text) = text else {
        return line!(out, "{NOT_STATED}");
    };
    line!(out, "{}\n", prose(text));
    mark(out, document, field);
}

fn list(
    out: &mut String,
    document: &Document,
    title: &str,
    field: &str,
    list: Option<&Texts>,
    bullet: &str,
) {
    line!(out, "\n### {title}\n");
    let Some(Texts(items)) = list else {
        return line!(out, "{NOT_STATED}");
    };
    if items.is_empty() {
        line!(out, "None");
    }
    for item in items {
        line!(out, "{bullet}{}", one_line(item));
    }
    line!(out);
    mark(out, document, field);
}

/// Says who stated a field, and since when it stands where that was before this document.
fn mark(out: &mut String, document: &Document, field: &str) {
    match document
        .stated
        .since(field)
        .filter(|since| *since < document.at)
    {
        Some(since) => line!(out, "{MARK} at {since}; nothing newer was stated._"),
        None => line!(out, "{MARK}._"),
    }
}

/// Returns a text that stays within its line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

/// Returns a text whose lines cannot be taken for headings of the document.
fn prose(text: &str) -> String {
    let plain = |line: &str| {
        if line.trim_start().starts_with('#') {
            format!("\\{}", line.trim_start())
        } else {
            line.to_owned()
        }
    };
    text.trim()
        .lines()
        .map(plain)
        .collect::<Vec<_>>()
        .join("\n")
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

fn duration(ms: u64) -> String {
    let minutes = ms / 60_000;
    if minutes < 60 {
        format!("{minutes}m")
    } else {
        format!("{}h{:02}m", minutes / 60, minutes % 60)
    }
}
