//! The text about unfinished work that a new session gets: short, bounded, and worded as
//! information from an earlier session, never as an order.

use super::document::{Document, OpenPhase};
use super::lines::{one_line, span};
use super::report::Report;
use super::stated::Judgments;
use super::values::{Pointer, Texts};
use reading::text;

/// The longest text in bytes.
pub const OFFER_BYTES_MAX: usize = 4_000;
/// The longest single line.
const LINE_BYTES_MAX: usize = 400;
/// The most items of one list.
const ITEMS_MAX: usize = 8;

/// Returns the text; `None` without unfinished work.
///
/// `document` comes with the path of its file and its validation.
pub fn offer(
    phase: Option<&OpenPhase>,
    document: Option<(&Document, &str, &Report)>,
) -> Option<String> {
    if phase.is_none() && document.is_none() {
        return None;
    }
    let mut lines = vec![
        "Work of an earlier session can be resumed here. This is what was left, for your information; what the user asks \
         for comes first."
            .to_owned(),
    ];
    if let Some(phase) = phase {
        let OpenPhase {
            name,
            number,
            checkpoint,
            summary,
        } = phase;
        lines.push(format!(
            "Open work phase: {number} of 7, {name}: {summary} (checkpoint {checkpoint})"
        ));
    }
    if let Some((document, file, report)) = document {
        about(&mut lines, document, file, report);
    }
    let mut out = String::new();
    for line in lines {
        // No word of a repository or an agent begins a line of its own.
        let line = one_line(&line);
        let line = if line.len() > LINE_BYTES_MAX {
            format!("{}..", text::head(&line, LINE_BYTES_MAX))
        } else {
            line
        };
        if out.len() + line.len() >= OFFER_BYTES_MAX {
            break;
        }
        out.push_str(&line);
        out.push('\n');
    }
    Some(text::visible(out.trim_end()))
}

fn about(lines: &mut Vec<String>, document: &Document, file: &str, report: &Report) {
    let now = &document.stated.now;
    lines.push(format!(
        "Progress document ({}, by {} session {}, {}): {}",
        document.kind.word(),
        document.agent,
        text::head(&document.native_session, 8),
        document.at,
        span(file)
    ));
    // The most important part first, in case the text is cut.
    validation(lines, report);
    stated(lines, now);
    if now.is_empty() {
        let files: Vec<String> = document
            .facts
            .files
            .iter()
            .rev()
            .take(ITEMS_MAX)
            .map(|file| span(&file.path))
            .collect();
        lines.push(format!(
            "The agent stated nothing; by the journal it last changed: {}",
            files.join(", ")
        ));
    }
}

fn validation(lines: &mut Vec<String>, report: &Report) {
    let bad: Vec<_> = report.lines.iter().filter(|line| !line.ok).collect();
    if bad.is_empty() {
        lines.push("Validation: it still holds.".into());
    } else {
        lines.push("Validation: it does not hold any more:".into());
        for line in bad.iter().take(ITEMS_MAX) {
            let expected = line.expected.as_deref();
            let expected = expected.map_or(String::new(), |what| format!(" (expected: {what})"));
            let reconcile = line.reconcile.as_deref();
            let reconcile = reconcile.map_or(String::new(), |what| format!(" -> {what}"));
            let (check, found) = (&line.check, &line.found);
            lines.push(format!("- {check}: {found}{expected}{reconcile}"));
        }
    }
}

fn stated(lines: &mut Vec<String>, now: &Judgments) {
    let text = |lines: &mut Vec<String>, title: &str, text: &Option<String>| {
        lines.extend(text.as_deref().map(|text| format!("{title}: {text}")));
    };
    text(lines, "Goal", &now.objective);
    text(lines, "Summary", &now.summary);
    text(lines, "Next action", &now.next_action);
    let list = |lines: &mut Vec<String>, title: &str, items: Vec<String>| {
        if !items.is_empty() {
            lines.push(format!("{title}:"));
            lines.extend(items.iter().take(ITEMS_MAX).map(|item| format!("- {item}")));
        }
    };
    let pointers = |pointers: &Option<Vec<Pointer>>| {
        let words = |pointer: &Pointer| {
            format!("{} {}", span(&pointer.file), pointer.why)
                .trim()
                .to_owned()
        };
        pointers.iter().flatten().map(words).collect::<Vec<_>>()
    };
    list(lines, "Must read", pointers(&now.must_read));
    list(lines, "Can skip", pointers(&now.can_skip));
    let texts = |texts: &Option<Texts>| texts.iter().flat_map(|list| list.0.clone()).collect();
    list(lines, "Remaining", texts(&now.remaining));
    list(lines, "Blocked by", texts(&now.blockers));
}
