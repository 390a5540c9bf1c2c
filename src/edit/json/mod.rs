//! Edits of JSON settings as splices: the rest keeps every byte, including comments, order,
//! indentation and line ends. The text is parsed only to find positions; it is never printed from a
//! parsed form.

mod layout;

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use layout::Layout;

/// Comments are allowed, as in Gemini CLI; the rest is strict JSON.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text; `None` if it holds only spaces and comments.
pub(crate) fn parse(text: &str) -> Result<Option<Value<'_>>, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT);
    let value = parsed.map_err(|error| {
        let what = error.kind().to_string().to_lowercase();
        format!(
            "line {}, column {}: {what}",
            error.line_display(),
            error.column_display()
        )
    })?;
    Ok(value.value)
}

/// The positions of an object or array and of its children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    range: Range<usize>,
    children: Vec<Range<usize>>,
}

impl Container {
    /// Returns the positions of an array and its elements.
    pub(crate) fn of_array(array: &Array<'_>) -> Self {
        let children = array.elements.iter().map(|child| span(child.range()));
        Self {
            range: span(array.range),
            children: children.collect(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.children.len()
    }

    /// Returns the positions of an object and its properties.
    pub(crate) fn of_object(object: &Object<'_>) -> Self {
        let children = object.properties.iter().map(|child| span(child.range));
        Self {
            range: span(object.range),
            children: children.collect(),
        }
    }

    fn inner(&self) -> Range<usize> {
        self.range.start + 1..self.range.end - 1
    }
}

pub(crate) fn span(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}

/// Adds a child after all others, in the container's layout. A property has a key.
pub(crate) fn append(
    text: &str,
    into: &Container,
    key: Option<&str>,
    value: &serde_json::Value,
) -> String {
    let layout = Layout::of(text);
    let own_indent = layout::indentation(text, into.range.start);
    let (indent, is_multiline) = match into.children.first() {
        Some(first) if text[into.range.start..first.start].contains('\n') => {
            (layout::indentation(text, first.start).to_owned(), true)
        }
        first => (
            format!("{own_indent}{}", layout.unit),
            first.is_none() && layout.is_multiline,
        ),
    };
    let (at, comma, ends_in_line_comment) = match into.children.last() {
        Some(last) => {
            let (after, is_line_comment) = past_remark(text, last.end, into.inner().end);
            (after, Some(last.end), is_line_comment)
        }
        None => {
            let inner = &text[into.inner()];
            let kept = inner.trim_end();
            (
                into.inner().start + kept.len(),
                None,
                kept.lines().last().is_some_and(|line| line.contains("//")),
            )
        }
    };
    let is_multiline = is_multiline || ends_in_line_comment;
    let item = layout.item(key, value, is_multiline.then_some(indent.as_str()));
    let mut out = String::with_capacity(text.len() + item.len() + 64);
    match comma {
        Some(end) => {
            out.push_str(&text[..end]);
            out.push(',');
            out.push_str(&text[end..at]);
        }
        None => out.push_str(&text[..at]),
    }
    match (is_multiline, comma) {
        (true, _) => out.extend([layout.newline, &indent]),
        (false, Some(_)) => out.push_str(layout.space),
        (false, None) => {}
    }
    out.push_str(&item);
    let rest = &text[at..];
    if is_multiline && !text[at..into.inner().end].contains('\n') {
        out.extend([layout.newline, own_indent]);
    }
    out.push_str(rest);
    out
}

/// Removes a child with its comma and space. What [`append`] added leaves no trace, except that an
/// empty container loses the space in it.
pub(crate) fn remove(text: &str, from: &Container, index: usize) -> String {
    let child = &from.children[index];
    let before = &text[..child.start];
    let behind = &text[child.end..];
    let is_last = index + 1 == from.children.len();
    if !is_last {
        let comma = past_trivia(text, child.end);
        return [before, text[comma + 1..].trim_start()].concat();
    }
    if index > 0 {
        let comma = past_trivia(text, from.children[index - 1].end);
        return join(&text[..comma], &before[comma + 1..], behind);
    }
    let inner = from.inner();
    let is_alone = text[inner.start..child.start].trim().is_empty()
        && text[child.end..inner.end].trim().is_empty();
    let behind = if is_alone { &text[inner.end..] } else { behind };
    let (before, within) = (&text[..inner.start], &text[inner.start..child.start]);
    join(before, within, behind)
}

/// Joins two texts around a gap. Trailing space of the gap is dropped, unless it ends a comment.
fn join(before: &str, gap: &str, behind: &str) -> String {
    let kept = gap.trim_end();
    let is_open = kept.lines().last().is_some_and(|line| line.contains("//"));
    let behind_blanks = behind.trim_start_matches([' ', '\t', '\r']);
    let needs_newline = is_open && !behind_blanks.starts_with('\n');
    let newline = if needs_newline {
        Layout::of(before).newline
    } else {
        ""
    };
    [before, kept, newline, behind].concat()
}

/// Replaces a range by other text.
pub(crate) fn replace(text: &str, place: Range<usize>, with: &str) -> String {
    [&text[..place.start], with, &text[place.end..]].concat()
}

/// Starts a document in an empty text, after its comments.
pub(crate) fn begin(text: &str) -> String {
    let newline = Layout::of(text).newline;
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        newline
    };
    [text, gap, "{}", newline].concat()
}

/// Returns the position after a comment that follows on the same line, and whether it is a line
/// comment. Without a comment, the position itself.
fn past_remark(text: &str, from: usize, end: usize) -> (usize, bool) {
    let line = text[from..end].lines().next().unwrap_or_default();
    let rest = line.trim_start_matches([' ', '\t']);
    let start = from + line.len() - rest.len();
    if rest.starts_with("//") {
        return (start + rest.trim_end().len(), true);
    }
    let comment = rest.strip_prefix("/*");
    match comment.and_then(|comment| comment.find("*/")) {
        Some(close) => (start + "/*".len() + close + "*/".len(), false),
        None => (from, false),
    }
}

/// Returns the position of the next character that is neither space nor comment.
fn past_trivia(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            at += trimmed.find("*/").map_or(trimmed.len(), |close| close + 2);
        } else {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn root(text: &str) -> Container {
        match parse(text).expect("JSON").expect("a value") {
            Value::Object(object) => Container::of_object(&object),
            Value::Array(array) => Container::of_array(&array),
            other => panic!("no container: {other:?}"),
        }
    }

    fn added(text: &str) -> String {
        append(text, &root(text), Some("k"), &json!({ "v": [1] }))
    }

    #[test]
    fn an_addition_is_written_as_its_neighbors_are_and_leaves_no_trace() {
        let cases = [
            ("{}", "{\n  \"k\": {\n    \"v\": [\n      1\n    ]\n  }\n}"),
            ("{\"a\":1}", "{\"a\":1,\"k\":{\"v\":[1]}}"),
            (
                "{\"a\": 1, \"b\": 2}",
                "{\"a\": 1, \"b\": 2, \"k\": {\"v\":[1]}}",
            ),
            (
                "{\n\t\"a\": 1 // why\n}",
                "{\n\t\"a\": 1, // why\n\t\"k\": {\n\t\t\"v\": [\n\t\t\t1\n\t\t]\n\t}\n}",
            ),
            (
                "{\r\n \"a\": 1\r\n}\r\n",
                "{\r\n \"a\": 1,\r\n \"k\": {\r\n  \"v\": [\r\n   1\r\n  ]\r\n }\r\n}\r\n",
            ),
            (
                "{\"a\": 1 /* x */}",
                "{\"a\": 1, /* x */ \"k\": {\"v\":[1]}}",
            ),
            (
                "{\"a\": 1 // x\n}",
                "{\"a\": 1, // x\n  \"k\": {\n    \"v\": [\n      1\n    ]\n  }\n}",
            ),
            (
                "{ // c\n}",
                "{ // c\n  \"k\": {\n    \"v\": [\n      1\n    ]\n  }\n}",
            ),
        ];
        for (text, expected) in cases {
            let with = added(text);
            assert_eq!(with, expected);
            let children = root(&with).children.len();
            assert_eq!(remove(&with, &root(&with), children - 1), text);
        }
    }

    #[test]
    fn children_in_front_of_others_go_with_their_comma() {
        let text = "[1, // one\n 2,\n 3]";
        assert_eq!(remove(text, &root(text), 0), "[// one\n 2,\n 3]");
        assert_eq!(remove(text, &root(text), 1), "[1, // one\n 3]");
        assert_eq!(remove(text, &root(text), 2), "[1, // one\n 2]");
        for text in ["[1, // one\n 2]", "[ // one\n 2]"] {
            let without = remove(text, &root(text), root(text).children.len() - 1);
            assert!(parse(&without).is_ok(), "{without}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = parse("{\n  \"a\": 1,\n}").expect_err("a trailing comma");
        insta::assert_snapshot!(error, @"line 2, column 9: trailing commas are not allowed");
    }
}
