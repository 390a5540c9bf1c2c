//! Writes CSV. Texts of agents and people stay texts in a spreadsheet and never become formulas.

use std::io::Write;

use serde_json::Value;

use crate::error::Result;

/// Spreadsheets take a cell that starts with one of these for a formula, possibly after trimming it
/// (OWASP, "CSV Injection").
const FORMULA_BEGINS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Writes rows of JSON values as CSV (RFC 4180, with plain line feeds).
pub(crate) struct Sheet<W: Write>(csv::Writer<W>);

impl<W: Write> Sheet<W> {
    /// Writes the header row.
    pub(crate) fn new<'a>(out: W, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut sheet = Self(csv::Writer::from_writer(out));
        sheet
            .0
            .write_record(names.into_iter().map(|name| harmless(name.to_owned())))
            .map_err(std::io::Error::from)?;
        Ok(sheet)
    }

    /// Writes a row. Numbers stay numbers; a list becomes a cell of several lines.
    pub(crate) fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a Value>) -> Result<()> {
        Ok(self
            .0
            .write_record(cells.into_iter().map(cell))
            .map_err(std::io::Error::from)?)
    }

    /// Flushes the output.
    pub(crate) fn finish(mut self) -> Result<()> {
        Ok(self.0.flush()?)
    }
}

/// Formats a value as a cell.
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
        let mut out = Vec::new();
        let mut sheet = Sheet::new(&mut out, names.iter().copied()).expect("writes");
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
