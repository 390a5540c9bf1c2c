//! Rows for people.

use std::io::{self, Write};

use serde_json::Value;

use crate::render::{self, Color};

/// The longest cell, but in the last column.
const CELL_CHARS_MAX: usize = 40;

fn text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Writes rows under their names, cut to the terminal's width.
pub(super) fn table(out: &mut impl Write, names: &[String], rows: &[Vec<Value>]) -> io::Result<()> {
    let last = names.len().saturating_sub(1);
    let shown = |cell: &str, column: usize| {
        let cell = render::printable(cell);
        if column == last {
            cell
        } else {
            render::cut(&cell, CELL_CHARS_MAX)
        }
    };
    let head: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(column, name)| shown(name, column))
        .collect();
    let body: Vec<Vec<_>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .enumerate()
                .map(|(column, cell)| shown(&text(cell), column))
                .collect()
        })
        .collect();
    let mut widths: Vec<_> = head.iter().map(|name| name.chars().count()).collect();
    for row in &body {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let padded: Vec<_> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        render::cut(padded.join("  ").trim_end(), render::width())
    };
    writeln!(out, "{}", render::paint(Color::Bold, &line(&head)))?;
    body.iter()
        .try_for_each(|row| writeln!(out, "{}", line(row)))
}
