//! Codex's config.toml as text: parsed only for positions, edited by splices.

use serde_json::json;
use toml_edit::Document;

pub(super) type Result<T> = std::result::Result<T, String>;

pub(super) fn parse(text: &str) -> Result<Document<&str>> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or_default();
        let column = last.chars().count() + 1;
        format!("line {line}, column {column}: {}", error.message())
    })
}

/// Checks that a splice is still TOML. It is not if the user has written a table inline.
pub(super) fn valid(text: String) -> Result<String> {
    match parse(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(format!(
            "`hooks` is written in a way that cannot be added to ({error}); write it as [hooks] tables, or trust the \
             hooks when Codex asks"
        )),
    }
}

pub(super) fn line_end(text: &str, from: usize) -> usize {
    let end = text[from..].find('\n');
    end.map_or(text.len(), |end| from + end + 1)
}

pub(super) fn newline(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if text[..first].ends_with('\r') {
        "\r\n"
    } else {
        "\n"
    }
}

/// Formats a TOML string. All of JSON's escapes are valid TOML.
pub(super) fn toml_string(text: &str) -> String {
    json!(text).to_string()
}
