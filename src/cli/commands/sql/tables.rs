//! The tables that questions are asked over. `sql --schema` prints this; `docs/journal.md` refers to it.

use std::io;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::csv::Sheet;
use crate::cli::text::print_json;
use crate::error::Result;
use crate::render::{self, Color};

/// The tables and columns that a question reads.
#[cfg(feature = "sqlite")]
pub(super) type Wanted = std::collections::BTreeSet<(String, String)>;

/// A column: its name, its type in SQLite, and what it means.
#[derive(Deserialize)]
struct Column {
    name: String,
    r#type: String,
    about: String,
}

/// A table: its name, what a row is, and its columns, in groups that several tables share.
#[derive(Deserialize)]
struct Table {
    name: String,
    row: String,
    groups: Vec<Vec<Column>>,
}

impl Table {
    fn columns(&self) -> impl Iterator<Item = &Column> {
        self.groups.iter().flatten()
    }
}

static TABLES: LazyLock<Vec<Table>> =
    LazyLock::new(|| checkpoint::built_in("tables", include_str!("tables.yml")));

#[cfg(feature = "sqlite")]
pub(super) fn definitions() -> String {
    let define = |table: &Table| {
        let columns: Vec<_> = table
            .columns()
            .map(|column| format!("\"{}\" {}", column.name, column.r#type))
            .collect();
        format!("CREATE TABLE {} ({});\n", table.name, columns.join(", "))
    };
    TABLES.iter().map(define).collect()
}

/// Returns the names of a table's columns, in order; none for an unknown table.
pub(in crate::cli::commands) fn columns_of(table: &str) -> impl Iterator<Item = &'static str> {
    let tables = TABLES.iter().filter(move |known| known.name == table);
    tables
        .flat_map(Table::columns)
        .map(|column| column.name.as_str())
}

/// Prints the tables and their columns.
///
/// # Errors
///
/// When they cannot be written.
pub(super) fn show(json: bool, csv: bool) -> Result<()> {
    let names = ["table", "column", "type", "about"];
    let line = |table: &Table, column: &Column| {
        [&table.name, &column.name, &column.r#type, &column.about].map(|cell| json!(cell))
    };
    let columns = |table: &'static Table| table.columns().map(move |column| line(table, column));
    let mut lines = TABLES.iter().flat_map(columns);
    if json {
        let object = |line: [Value; 4]| {
            Value::Object(names.map(str::to_owned).into_iter().zip(line).collect())
        };
        lines.map(object).for_each(|line| print_json(&line));
    } else if csv {
        let mut sheet = Sheet::new(io::stdout().lock(), names)?;
        lines.try_for_each(|line| sheet.row(&line))?;
        sheet.finish()?;
    } else {
        for table in &*TABLES {
            println!("{} {}", render::paint(Color::Bold, &table.name), table.row);
            for column in table.columns() {
                let head = format!("  {:16} {:8} ", column.name, column.r#type);
                render::print_wrapped(&head, &column.about);
            }
        }
    }
    Ok(())
}
