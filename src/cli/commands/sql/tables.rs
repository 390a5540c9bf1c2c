//! The tables that questions are asked over. `sql --schema` prints this; `docs/journal.md` refers to it.

use std::io;

use serde_json::json;

use crate::cli::csv::Sheet;
use crate::cli::text::print_json;
use crate::error::Result;
use crate::render::{self, Color};

/// The tables and columns that a question reads.
#[cfg(feature = "sqlite")]
pub(super) type Wanted = std::collections::BTreeSet<(String, String)>;

/// A column: its name, its type in SQLite, and what it means.
type Column = (&'static str, &'static str, &'static str);

/// A table: its name, what a row is, and its columns, in groups that several tables share.
struct Table {
    name: &'static str,
    row: &'static str,
    groups: &'static [&'static [Column]],
}

impl Table {
    fn columns(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.columns().map(|(name, ..)| *name)
    }
}

/// Columns about time.
const EVENT: &[Column] = &[
    ("seq", "INTEGER", "place in the journal, from 1"),
    (
        "at",
        "TEXT",
        "when it happened (RFC 3339, UTC; julianday() and date() read it)",
    ),
];
/// Columns about the session.
const SESSION: &[Column] = &[
    ("session", "TEXT", "the session's id here"),
    ("native_session", "TEXT", "the session's id at its agent"),
    (
        "agent",
        "TEXT",
        "the agent's name, such as claude; daemon for its own events",
    ),
];
const PROJECT: &[Column] = &[
    ("project", "TEXT", "the session's last known folder"),
    (
        "remote",
        "TEXT",
        "host and path of the repository that it is a clone of",
    ),
];
const TURN: &[Column] = &[(
    "turn",
    "INTEGER",
    "the session's turn, from 1; 0 before the first prompt",
)];
/// Columns about the outcome of stops.
const OUTCOMES: &[Column] = &[
    ("injected", "INTEGER", "checkpoints that were sent"),
    ("passed", "INTEGER", "stops that passed"),
];

/// Columns about where a row of a collector came from; null in the journal of the machine itself.
const SOURCE: &[Column] = &[
    (
        "machine",
        "TEXT",
        "the machine that it came from, at a collector",
    ),
    ("journal", "TEXT", "id of the machine's journal"),
];
const PLACE: &[Column] = &[("journal_seq", "INTEGER", "place in the machine's journal")];
const WITHHELD: &[Column] = &[(
    "withheld",
    "TEXT",
    "JSON: fields that the machine did not send; their values here are meaningless",
)];

const TABLES: [Table; 5] = [
    Table {
        name: "events",
        row: "all that happened",
        groups: &[
            EVENT,
            &[("recorded_at", "TEXT", "when the journal recorded it")],
            SESSION,
            TURN,
            &[
                ("id", "TEXT", "identity"),
                (
                    "late",
                    "INTEGER",
                    "1: a later event of the session was recorded before it",
                ),
                ("kind", "TEXT", "what happened, for example tool_finished"),
                (
                    "fields",
                    "TEXT",
                    "JSON: the fields of the kind, for json_extract()",
                ),
                (
                    "payload",
                    "TEXT",
                    "JSON: the payload that the agent passed to its hook",
                ),
                (
                    "payload_dropped",
                    "INTEGER",
                    "1: compaction dropped the payload",
                ),
            ],
            SOURCE,
            PLACE,
            WITHHELD,
        ],
    },
    Table {
        name: "decisions",
        row: "decisions about stops, as in `audit`",
        groups: &[
            EVENT,
            SESSION,
            PROJECT,
            TURN,
            &[
                ("trigger", "INTEGER", "seq of the stop"),
                ("verdict", "TEXT", "inject or pass"),
                ("reason", "TEXT", "one word: why"),
                ("route", "TEXT", "hook_reply or tmux; null for a pass"),
                (
                    "elapsed_ms",
                    "INTEGER",
                    "length of the turn; null if none had begun",
                ),
                (
                    "delivery",
                    "TEXT",
                    "none, pending, confirmed, failed or expired",
                ),
                (
                    "delivery_reason",
                    "TEXT",
                    "what the delivery is waiting for, or why it failed",
                ),
                (
                    "categories",
                    "TEXT",
                    "JSON: categories of the changed files",
                ),
                ("actions", "TEXT", "JSON: what the agent was asked to do"),
                ("observations", "TEXT", "JSON: the observations"),
                (
                    "all_clear",
                    "INTEGER",
                    "1: all expected actions had been seen",
                ),
                ("message", "TEXT", "the text as the agent got it"),
            ],
            SOURCE,
            PLACE,
            WITHHELD,
        ],
    },
    Table {
        name: "tools",
        row: "tool calls that returned or failed",
        groups: &[
            EVENT,
            SESSION,
            TURN,
            &[
                (
                    "subagent",
                    "TEXT",
                    "the subagent that called; null for the main agent",
                ),
                ("id", "TEXT", "the agent's id of the call"),
                ("tool", "TEXT", "the agent's name of the tool"),
                ("kind", "TEXT", "shell, edit, write, read or other"),
                ("command", "TEXT", "the command line of a shell call"),
                ("paths", "TEXT", "JSON: the files it touched"),
                ("is_error", "INTEGER", "1: it failed"),
                ("refused", "INTEGER", "1: it was refused and never ran"),
                ("output", "TEXT", "the result of a failed call"),
                ("duration_ms", "INTEGER", "how long it took, if known"),
            ],
            SOURCE,
            PLACE,
            WITHHELD,
        ],
    },
    Table {
        name: "turns",
        row: "what followed one prompt of a person",
        groups: &[
            SESSION,
            TURN,
            &[
                ("seq", "INTEGER", "its first event"),
                ("began_at", "TEXT", "when the prompt was given"),
                ("ended_at", "TEXT", "the agent's last event"),
                ("duration_ms", "INTEGER", "from begin to end"),
                ("prompt", "TEXT", "the prompt, up to 4 KB"),
                ("tool_calls", "INTEGER", "calls that returned or failed"),
                ("tool_errors", "INTEGER", "calls that failed"),
                ("stops", "INTEGER", "stops of the agent"),
            ],
            OUTCOMES,
            SOURCE,
            PLACE,
        ],
    },
    Table {
        name: "sessions",
        row: "sessions, as in `sessions`",
        groups: &[
            SESSION,
            PROJECT,
            &[
                ("turn", "INTEGER", "how many turns it had"),
                ("running", "INTEGER", "1: its agent is working"),
                ("ended", "INTEGER", "1: it is over"),
                (
                    "status",
                    "TEXT",
                    "needs_you, waiting, running, idle or ended",
                ),
                (
                    "notification",
                    "TEXT",
                    "when its agent last asked for a person; null once a person has written",
                ),
                ("title", "TEXT", "the first message of a person"),
                ("branch", "TEXT", "the branch of its project, now"),
                ("pane", "TEXT", "its tmux pane"),
                ("muted", "INTEGER", "1: it is muted"),
                (
                    "muted_until",
                    "TEXT",
                    "when the mute ends; null if it does not",
                ),
                ("first_at", "TEXT", "its first event"),
                ("last_at", "TEXT", "its last hook event"),
                ("events", "INTEGER", "how many events it has"),
            ],
            OUTCOMES,
            SOURCE,
        ],
    },
];

#[cfg(feature = "sqlite")]
pub(super) fn definitions() -> String {
    let define = |table: &Table| {
        let columns: Vec<_> = table
            .columns()
            .map(|(name, form, _)| format!("\"{name}\" {form}"))
            .collect();
        format!("CREATE TABLE {} ({});\n", table.name, columns.join(", "))
    };
    TABLES.iter().map(define).collect()
}

/// Returns the names of a table's columns, in order; none for an unknown table.
pub(in crate::cli::commands) fn columns_of(
    table: &str,
) -> impl Iterator<Item = &'static str> + use<> {
    let columns = TABLES
        .iter()
        .find(|known| known.name == table)
        .map(Table::names);
    columns.into_iter().flatten()
}

/// Prints the tables and their columns.
///
/// # Errors
///
/// When they cannot be written.
pub(super) fn show(json: bool, csv: bool) -> Result<()> {
    let line = |table: &Table, (column, form, about): &Column| json!({ "table": table.name, "column": column, "type": form, "about": about });
    let lines: Vec<_> = TABLES
        .iter()
        .flat_map(|table| table.columns().map(move |column| line(table, column)))
        .collect();
    if json {
        lines.iter().for_each(print_json);
    } else if csv {
        const HEAD: [&str; 4] = ["table", "column", "type", "about"];
        let mut sheet = Sheet::new(io::stdout().lock(), HEAD)?;
        lines
            .iter()
            .try_for_each(|line| sheet.row(HEAD.map(|name| &line[name])))?;
        sheet.finish()?;
    } else {
        for table in &TABLES {
            println!("{} {}", render::paint(Color::Bold, table.name), table.row);
            for (column, form, about) in table.columns() {
                render::print_wrapped(&format!("  {column:16} {form:8} "), about);
            }
        }
    }
    Ok(())
}
