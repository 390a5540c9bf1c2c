//! Writes CSV. Texts of agents and people stay texts in a spreadsheet and never become formulas. On a terminal, what would
//! steer it is made visible; a file or a pipe gets the texts as they are.

use std::io::{IsTerminal as _, Write};

use serde_json::Value;

use crate::error::Result;
use crate::render;

/// Spreadsheets take a cell that starts with one of these for a formula, possibly after trimming it
/// (OWASP, "CSV Injection").
const FORMULA_BEGINS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Writes rows of JSON values as CSV (RFC 4180, with plain line feeds).
pub(crate) struct Sheet<W: Write> {
    out: csv::Writer<W>,
    is_terminal: bool,
}

impl<W: Write> Sheet<W> {
    /// Writes the header row to what is, or ends in, stdout.
    pub(crate) fn new<'a>(out: W, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        Self::on(std::io::stdout().is_terminal(), out, names)
    }

    fn on<'a>(is_terminal: bool, out: W, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let out = csv::Writer::from_writer(out);
        let mut sheet = Self { out, is_terminal };
        sheet.write(names.into_iter().map(|name| harmless(name.to_owned())))?;
        Ok(sheet)
    }

    /// Writes a row. Numbers stay numbers; a list becomes a cell of several lines.
    pub(crate) fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a Value>) -> Result<()> {
        self.write(cells.into_iter().map(cell))
    }

    fn write(&mut self, cells: impl Iterator<Item = String>) -> Result<()> {
        let is_terminal = self.is_terminal;
        let cells = cells.map(|cell| match is_terminal {
            true => render::printable_lines(&cell),
            false => cell,
        });
        Ok(self.out.write_record(cells).map_err(std::io::Error::from)?)
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        other => harmless(text(other)),
    }
}

/// Formats a value: null as an empty text, a list line by line.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join("\n"),
        // An action.
        Value::Object(fields) if fields.contains_key("text") => text(&fields["text"]),
        other => other.to_string(),
    }
}

/// Puts an apostrophe, which spreadsheets do not show, in front of a formula.
fn harmless(text: String) -> String {
    if text.starts_with(FORMULA_BEGINS) {
        format!("'{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(names: &[&str], row: &Value) -> String {
        written_to(false, names, row)
    }

    fn written_to(is_terminal: bool, names: &[&str], row: &Value) -> String {
        let mut out = Vec::new();
        let mut sheet = Sheet::on(is_terminal, &mut out, names.iter().copied()).expect("writes");
        sheet.row(row.as_array().expect("cells")).expect("writes");
        sheet.finish().expect("writes");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn quotes_stand_where_they_are_needed_and_lists_are_lines() {
        let actions = json!([{ "text": "one", "step": "observe" }, { "text": "two" }]);
        let row = json!([null, 1, "a,b", "say \"x\"\nagain", "plain", true, actions]);
        let out = written(&["a", "b", "c", "d", "e", "f", "g"], &row);
        assert_eq!(
            out,
            "a,b,c,d,e,f,g\n,1,\"a,b\",\"say \"\"x\"\"\nagain\",plain,true,\"one\ntwo\"\n"
        );
    }

    #[test]
    fn a_terminal_is_not_steered() {
        let row = json!(["\u{1b}[2J\nplain\u{202e}", "=\u{9b}1", "\t=1"]);
        let written = |is_terminal| written_to(is_terminal, &["a", "b", "c\u{7}"], &row);
        assert_eq!(
            written(true),
            "a,b,c\\x07\n\"\\x1b[2J\nplain\\u{202e}\",'=\\x9b1,' =1\n"
        );
        assert_eq!(
            written(false),
            "a,b,c\u{7}\n\"\u{1b}[2J\nplain\u{202e}\",'=\u{9b}1,'\t=1\n"
        );
    }

    #[test]
    fn no_text_is_a_formula_and_numbers_are_numbers() {
        let row = json!([
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            -5,
            -0.5,
            "a=b",
            "'=1",
            ["-x", "=y"]
        ]);
        let out = written(&["=head"], &json!(["x"]));
        assert!(out.starts_with("'=head\n"), "{out}");
        let out = written(&["x"; 11], &row);
        let line = out.split_once('\n').expect("a head").1;
        assert_eq!(
            line,
            "'=1+1,'+1,'-1,'@SUM(A1),'\t=1,\"'\r=1\",-5,-0.5,a=b,'=1,\"'-x\n=y\"\n"
        );
    }
}
