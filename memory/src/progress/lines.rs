//! Lines of a rendered document, and the marks of statements.

use super::document::Document;
use super::markdown::{MARK, NOT_STATED};
use super::values::{Pointer, Texts};

/// Adds a line; writing into a text cannot fail.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($format:tt)*) => {{
        use std::fmt::Write as _;
        let _ = writeln!($out, $($format)*);
    }};
}

pub(super) use line;

pub(super) fn pointers(
    out: &mut String,
    document: &Document,
    title: &str,
    field: &str,
    pointers: Option<&[Pointer]>,
) {
    let item = |pointer: &Pointer| match pointer.why.as_str() {
        "" => name(document, &pointer.file),
        why => format!("{} - {why}", name(document, &pointer.file)),
    };
    let texts = pointers.map(|pointers| Texts(pointers.iter().map(item).collect()));
    list(out, document, title, field, texts.as_ref(), "- ");
}

pub(super) fn stated_text(out: &mut String, document: &Document, field: &str, text: Option<&str>) {
    let Some(text) = text else {
        return line!(out, "{NOT_STATED}");
    };
    line!(out, "{}\n", prose(text));
    mark(out, document, field);
}

pub(super) fn list(
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

/// Marks a field as stated by the agent, with the time if an earlier document has it.
pub(super) fn mark(out: &mut String, document: &Document, field: &str) {
    match document
        .stated
        .since(field)
        .filter(|since| *since < document.at)
    {
        Some(since) => line!(out, "{MARK} at {since}; nothing newer was stated._"),
        None => line!(out, "{MARK}._"),
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the name of a file, a branch or a commit, in which Markdown is not live.
pub(super) fn name(document: &Document, text: &str) -> String {
    match document.has_spans() {
        true => span(text),
        false => one_line(text),
    }
}

/// Returns a text as code, which it cannot end.
pub(super) fn span(text: &str) -> String {
    match one_line(text).replace('`', "'") {
        empty if empty.is_empty() => empty,
        text => format!("`{text}`"),
    }
}

pub(super) fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

/// Returns a text whose lines cannot be taken for headings of the document.
pub(super) fn prose(text: &str) -> String {
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

pub(super) fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

pub(super) fn duration(ms: u64) -> String {
    let minutes = ms / 60_000;
    if minutes < 60 {
        format!("{minutes}m")
    } else {
        format!("{}h{:02}m", minutes / 60, minutes % 60)
    }
}
