//! The layout of a JSON text: line ends, indentation, spaces.

use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};

#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) newline: &'static str,
    pub(super) unit: &'a str,
    /// Between a comma and what follows on the same line.
    pub(super) space: &'static str,
    /// The text has several lines, or nothing in it shows the opposite.
    pub(super) is_multiline: bool,
}

impl<'a> Layout<'a> {
    /// Detects the layout from the first lines.
    pub(super) fn of(text: &'a str) -> Self {
        let first_end = text.find('\n');
        let is_crlf = first_end.is_some_and(|end| text[..end].ends_with('\r'));
        let indented = |line: &'a str| {
            let rest = line.trim_start_matches([' ', '\t']);
            let space = &line[..line.len() - rest.len()];
            (rest.starts_with('"') && !space.is_empty()).then_some(space)
        };
        let body = text.trim();
        Self {
            newline: if is_crlf { "\r\n" } else { "\n" },
            unit: text.lines().find_map(indented).unwrap_or("  "),
            space: if body.contains(", ") || body.contains(": ") {
                " "
            } else {
                ""
            },
            is_multiline: body.contains('\n') || body.len() <= 2,
        }
    }

    /// Formats an element, or with a key a property, over several lines from this indentation on or
    /// on one line.
    pub(super) fn item(
        &self,
        key: Option<&str>,
        value: &serde_json::Value,
        indent: Option<&str>,
    ) -> String {
        let text = match indent {
            Some(indent) => {
                let mut bytes = Vec::new();
                let mut writer = Serializer::with_formatter(
                    &mut bytes,
                    PrettyFormatter::with_indent(self.unit.as_bytes()),
                );
                let written = value.serialize(&mut writer);
                written.expect("a JSON value can be written");
                let text = String::from_utf8(bytes).expect("JSON is text");
                // Line ends within strings are escaped, so each one here belongs to the layout.
                text.replace('\n', &[self.newline, indent].concat())
            }
            None => value.to_string(),
        };
        match key {
            Some(key) => {
                let gap = if indent.is_some() { " " } else { self.space };
                format!("{}:{gap}{text}", serde_json::Value::from(key))
            }
            None => text,
        }
    }
}

/// Returns the indentation of the line at a position.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
