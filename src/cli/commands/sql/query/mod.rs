//! Answers a query: fills the tables that it reads, and prints its rows.

mod load;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::Home;
use parking_lot::Mutex;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use serde_json::{Value, json};

use super::arguments::SqlArgs;
use super::tables::{self, Wanted};
use crate::cli::csv::Sheet;
use crate::cli::text::progress_bar::progress_done;
use crate::error::{Failure, Result, exit};
use crate::render::{self, Table};
use journal::hex;

/// Operations that take longer show their progress.
const QUIET_FOR: Duration = Duration::from_secs(1);
/// The longest cell for people, but in the last column.
const CELL_CHARS_MAX: usize = 40;
/// Lines between two signs of progress.
const SHOW_EVERY: u64 = 1_000;

pub(super) fn answer(home: &Home, query: &str, arguments: &SqlArgs) -> Result<u8> {
    let mut database = Connection::open_in_memory().map_err(Failure::failed)?;
    database
        .execute_batch(&tables::definitions())
        .map_err(Failure::failed)?;
    let wanted = restrict(&mut database)?;
    drop(prepare(&database, query)?);
    let wanted = std::mem::take(&mut *wanted.lock());
    unrestrict(&mut database)?;
    load::fill(
        home,
        &database,
        (&wanted, arguments.machine.as_deref()),
        &mut progress(),
    )?;
    progress_done();
    restrict(&mut database)?;
    let mut statement = prepare(&database, query)?;
    let names = names(&statement);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = if arguments.output.json {
        each_row(&mut statement, |row| {
            let line = Value::Object(names.iter().cloned().zip(row).collect());
            Ok(writeln!(out, "{}", render::json(&line))?)
        })
    } else if arguments.csv {
        let mut sheet = Sheet::new(&mut out, names.iter().map(String::as_str))?;
        each_row(&mut statement, |row| sheet.row(&row)).and_then(|()| sheet.finish())
    } else {
        let mut table = Table::new(cells(names));
        let read = each_row(&mut statement, |row| {
            table.row(cells(row.iter().map(text).collect()));
            Ok(())
        });
        read.map(|()| table.print())
    };
    written?;
    out.flush()?;
    Ok(exit::OK)
}

/// Lets the questions only read, and notes what they read. What SQLite asks here it asks before anything is done.
fn restrict(database: &mut Connection) -> Result<Arc<Mutex<Wanted>>> {
    let wanted = Arc::new(Mutex::new(Wanted::new()));
    let noted = Arc::clone(&wanted);
    let allow = move |context: AuthContext<'_>| match context.action {
        AuthAction::Read {
            table_name,
            column_name,
        } => {
            let read = (table_name.to_owned(), column_name.to_owned());
            noted.lock().insert(read);
            Authorization::Allow
        }
        AuthAction::Select | AuthAction::Function { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    };
    database.authorizer(Some(allow)).map_err(Failure::failed)?;
    Ok(wanted)
}

fn unrestrict(database: &mut Connection) -> Result<()> {
    let none: Option<fn(AuthContext<'_>) -> Authorization> = None;
    database.authorizer(none).map_err(Failure::failed)
}

fn prepare<'a>(database: &'a Connection, query: &str) -> Result<Statement<'a>> {
    const ONLY_READ: &str = "only SELECT is allowed: a query cannot change the journal";
    let statement = database.prepare(query).map_err(|error| {
        let text = error.to_string();
        let hint = if text.contains("not authorized") || text.contains("prohibited") {
            ONLY_READ
        } else if text.contains("Multiple statements") {
            "only one query is allowed"
        } else {
            "`checkpointd journal sql --schema` shows the tables and their columns"
        };
        Failure::usage(format!("invalid query: {text}")).hint(hint)
    })?;
    if statement.readonly() && statement.column_count() > 0 {
        return Ok(statement);
    }
    let hint = if statement.readonly() {
        "`checkpointd journal sql --schema` shows the tables and their columns"
    } else {
        ONLY_READ
    };
    Err(Failure::usage("invalid query: it returns no rows").hint(hint))
}

fn names(statement: &Statement<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in statement.column_names() {
        let again = names
            .iter()
            .filter(|known| known.split(':').next() == Some(name))
            .count();
        names.push(if again == 0 {
            name.to_owned()
        } else {
            format!("{name}:{again}")
        });
    }
    names
}

fn each_row(
    statement: &mut Statement<'_>,
    mut take: impl FnMut(Vec<Value>) -> Result<()>,
) -> Result<()> {
    let count = statement.column_count();
    let mut rows = statement.query([]).map_err(Failure::usage)?;
    while let Some(row) = rows.next().map_err(Failure::usage)? {
        let cells: rusqlite::Result<Vec<Value>> = (0..count)
            .map(|column| row.get_ref(column).map(value))
            .collect();
        take(cells.map_err(Failure::failed)?)?;
    }
    Ok(())
}

fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => hex(bytes).into(),
    }
}

/// Returns the cells of a row for people, each but the last cut.
fn cells(mut row: Vec<String>) -> Vec<String> {
    if let Some((_, others)) = row.split_last_mut() {
        for cell in others {
            *cell = render::cut(&render::printable(cell), CELL_CHARS_MAX);
        }
    }
    row
}

fn text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Shows on a terminal how much was read, where that takes long.
fn progress() -> impl FnMut(&str) {
    let (began, shown) = (Instant::now(), io::stderr().is_terminal());
    let mut lines = 0u64;
    move |table| {
        lines += 1;
        if shown && lines.is_multiple_of(SHOW_EVERY) && began.elapsed() > QUIET_FOR {
            eprint!("\rreading {table}: {lines} lines\x1b[K");
        }
    }
}
