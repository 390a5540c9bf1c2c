//! The sections of a rendered document.

use reading::text;

use super::document::Document;
use super::facts::Failed;
use super::lines::{cell, duration, line, list, mark, name, one_line, span, times};
use super::markdown::{BY_AGENT, NOT_STATED};
use super::values::{Decision, FileNote, Texts};

pub(super) fn head(out: &mut String, document: &Document) {
    line!(out, "**Last Updated**: {}", document.at);
    line!(
        out,
        "**Session ID**: {}",
        name(document, &document.native_session)
    );
    line!(out, "**Agent**: {}", document.agent);
    line!(out, "**Project**: {}", name(document, &document.project));
    let phase = document.stated.now.phase.as_deref();
    line!(
        out,
        "**Phase**: {}",
        phase.map_or("not stated".to_owned(), |phase| format!(
            "{phase}{BY_AGENT}"
        ))
    );
    if let Some(open) = &document.open_phase {
        let title = name(document, &open.name);
        let summary = one_line(&open.summary);
        line!(
            out,
            "**Work Phase**: {} of 7, {title} ({}): {summary}",
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

/// Returns a text on one line, or the words for a missing one.
fn line_or(text: &Option<String>, missing: &str) -> String {
    text.as_deref().map_or(missing.to_owned(), one_line)
}

pub(super) fn task(out: &mut String, document: &Document) {
    let now = &document.stated.now;
    line!(out, "\n## Current Task\n");
    let words = |text| line_or(text, "not stated");
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

pub(super) fn files(out: &mut String, document: &Document) {
    line!(out, "\n## Files Modified This Session\n");
    let notes = document.stated.now.files.as_deref().unwrap_or_default();
    let note = |path: &str| {
        let is_about =
            |note: &&FileNote| note.path == path || path.ends_with(&format!("/{}", note.path));
        let changes = notes.iter().find(is_about).map(|note| cell(&note.changes));
        changes.filter(|changes| !changes.is_empty() || !document.is_terse())
    };
    let rows: Vec<_> = file_rows(document)
        .map(|(path, status, seen)| (cell(&name(document, path)), note(path), status, seen))
        .collect();
    if rows.is_empty() {
        line!(out, "None");
    } else {
        file_table(out, &rows, document.is_terse());
    }
    let before = document.others.iter().filter(|file| file.before).count();
    if before > 0 {
        line!(
            out,
            "\n{} uncommitted before the session, unchanged since.",
            text::count(before, "more file was", "more files were")
        );
    }
    if document.facts.files_left_out > 0 {
        line!(
            out,
            "\nLeft out: {}, changed earlier.",
            text::count(document.facts.files_left_out, "more file", "more files")
        );
    }
    if !notes.is_empty() && !rows.is_empty() {
        line!(out, "\nThe column Changes:");
        mark(out, document, "files");
    }
}

/// Returns path, status, and what was seen of each file of the session.
fn file_rows(document: &Document) -> impl Iterator<Item = (&str, &str, String)> {
    let own = document.facts.files.iter().map(|file| {
        let mut seen = Vec::new();
        if file.writes > 0 {
            seen.push(format!("written {}", times(file.writes)));
        }
        if file.edits > 0 {
            seen.push(format!("edited {}", times(file.edits)));
        }
        (file.path.as_str(), file.status.as_str(), seen.join(", "))
    });
    let others = document.others_of_session().map(|file| {
        let seen = match file.status.as_str() {
            "stated" => "stated, and git says nothing",
            _ if file.committed => "committed, by git",
            _ => "uncommitted, by git",
        };
        (file.path.as_str(), file.status.as_str(), seen.to_owned())
    });
    own.chain(others)
}

/// The table of files. A terse one has no column Changes if the agent stated nothing about any of them.
fn file_table(out: &mut String, rows: &[(String, Option<String>, &str, String)], is_terse: bool) {
    if is_terse && rows.iter().all(|(_, note, ..)| note.is_none()) {
        line!(out, "| File | Status | Seen |\n|------|--------|------|");
        for (path, _, status, seen) in rows {
            line!(out, "| {path} | {status} | {seen} |");
        }
        return;
    }
    let missing = if is_terse { "not stated" } else { "-" };
    line!(
        out,
        "| File | Changes | Status | Seen |\n|------|---------|--------|------|"
    );
    for (path, note, status, seen) in rows {
        let note = note.as_deref().unwrap_or(missing);
        line!(out, "| {path} | {note} | {status} | {seen} |");
    }
}

pub(super) fn runs(out: &mut String, document: &Document) {
    let facts = &document.facts;
    line!(out, "\n## Tool Runs\n");
    line!(
        out,
        "{} in {}: {}, {}, {}; {} failed.",
        text::count(facts.tools, "tool call", "tool calls"),
        text::count(facts.turns, "turn", "turns"),
        text::count(facts.shell, "shell command", "shell commands"),
        text::count(facts.changes, "file change", "file changes"),
        text::count(facts.reads, "read", "reads"),
        facts.failed
    );
    line!(out, "\n## Failures and What Resolved Them\n");
    if facts.failures.is_empty() {
        line!(out, "None");
    }
    for failed in &facts.failures {
        if document.is_escaped() {
            failure(out, failed);
            continue;
        }
        let said = if failed.said.is_empty() {
            String::new()
        } else {
            format!(": {}", one_line(&failed.said))
        };
        let resolved = line_or(&failed.resolved, "not resolved");
        line!(
            out,
            "- {} {} `{}`{said} -> {resolved}",
            failed.at,
            one_line(&failed.tool),
            one_line(&failed.what).replace('`', "'")
        );
    }
}

/// The outcome of a failure comes first. Foreign text follows it, each in a code span that it cannot end, so no output
/// can claim to be resolved.
fn failure(out: &mut String, failed: &Failed) {
    let said = match failed.said.as_str() {
        "" => String::new(),
        said => format!(", which said {}", span(said)),
    };
    let resolved = line_or(&failed.resolved, "not resolved");
    line!(
        out,
        "- {} {resolved}: {} {}{said}",
        failed.at,
        span(&failed.tool),
        span(&failed.what)
    );
}

/// The decisions, without those that a parent has.
pub(super) fn decisions(out: &mut String, document: &Document, known: &[String]) {
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
    decision_table(out, &fresh, document.is_terse());
    line!(out);
    mark(out, document, "decisions");
}

/// A column's title, and its cell for a decision.
type Column<'a> = (&'a str, &'a dyn Fn(&Decision) -> Option<String>);

/// The table of decisions. A terse one leaves out the columns that are empty in every row.
fn decision_table(out: &mut String, made: &[&Decision], is_terse: bool) {
    let missing = if is_terse { "not stated" } else { "-" };
    let columns: [Column<'_>; 4] = [
        ("Decision", &|made| Some(cell(&made.decision))),
        ("Rationale", &|made| {
            Some(cell(&made.rationale)).filter(|reason| !reason.is_empty() || !is_terse)
        }),
        ("Confidence", &|made| {
            made.confidence.map(|share| format!("{}%", share.0))
        }),
        ("Reversible", &|made| made.reversible.as_deref().map(cell)),
    ];
    let has_content =
        |(_, read): &&Column<'_>| !is_terse || made.iter().any(|made| read(made).is_some());
    let columns: Vec<_> = columns.iter().filter(has_content).collect();
    let titles: Vec<_> = columns.iter().map(|(title, _)| *title).collect();
    let rules: Vec<_> = titles
        .iter()
        .map(|title| "-".repeat(title.len() + 2))
        .collect();
    line!(out, "| {} |\n|{}|", titles.join(" | "), rules.join("|"));
    for made in made {
        let cells = columns
            .iter()
            .map(|(_, read)| read(made).unwrap_or_else(|| missing.to_owned()));
        line!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

pub(super) fn handoff(out: &mut String, document: &Document) {
    let now = &document.stated.now;
    line!(out, "\n## Handoff Notes\n");
    let words = |text| line_or(text, "not stated");
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

pub(super) fn git(out: &mut String, document: &Document) {
    line!(out, "\n## Git State\n");
    let git = match &document.git {
        Ok(git) => git,
        Err(why) => return line!(out, "Not known: {}", why.replace('_', " ")),
    };
    line!(
        out,
        "**Branch**: {}",
        git.branch
            .as_deref()
            .map_or("(detached)".to_owned(), |branch| name(document, branch))
    );
    match &git.commit {
        Some(hash) => line!(
            out,
            "**Last Commit**: {} - {}",
            &hash[..hash.len().min(10)],
            name(document, &git.subject)
        ),
        None => line!(out, "**Last Commit**: none yet"),
    }
    let paths: Vec<String> = git
        .uncommitted
        .iter()
        .map(|(_, path)| name(document, path))
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
