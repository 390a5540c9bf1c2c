//! The tables that questions are asked over. `sql --schema` prints this; `docs/journal.md` refers to it.

use std::io;

use serde_json::json;

use super::print;
use crate::render::{self, Colour};

/// A table: its name, what a row is, and its columns with their types and meanings.
pub(super) struct Table {
    pub(super) name: &'static str,
    row: &'static str,
    pub(super) columns: &'static [(&'static str, &'static str, &'static str)],
}

const SEQ: (&str, &str, &str) = ("seq", "INTEGER", "place in the journal, from 1");
const AT: (&str, &str, &str) = ("at", "TEXT", "when it happened (RFC 3339, UTC; julianday() and date() read it)");
const SESSION: (&str, &str, &str) = ("session", "TEXT", "the session's id here");
const NATIVE: (&str, &str, &str) = ("native_session", "TEXT", "the session's id at its agent");
const AGENT: (&str, &str, &str) = ("agent", "TEXT", "claude, gemini, codex; daemon for its own events");
const TURN: (&str, &str, &str) = ("turn", "INTEGER", "the session's turn, from 1; 0 before the first prompt");

/// All tables.
pub(super) const TABLES: [Table; 5] = [
    Table {
        name: "events",
        row: "all that happened",
        columns: &[
            SEQ,
            AT,
            ("recorded_at", "TEXT", "when the journal took it"),
            SESSION,
            NATIVE,
            AGENT,
            TURN,
            ("id", "TEXT", "identity"),
            ("late", "INTEGER", "1: it came after an event that happened later"),
            ("kind", "TEXT", "what happened, for example tool_finished"),
            ("fields", "TEXT", "JSON: the fields of the kind, for json_extract()"),
            ("payload", "TEXT", "JSON: what the agent told its hook"),
            ("payload_dropped", "INTEGER", "1: compaction dropped the payload"),
        ],
    },
    Table {
        name: "decisions",
        row: "stops that were decided about, as in `audit`",
        columns: &[
            SEQ,
            AT,
            SESSION,
            NATIVE,
            AGENT,
            TURN,
            ("trigger", "INTEGER", "seq of the stop"),
            ("verdict", "TEXT", "inject or pass"),
            ("reason", "TEXT", "one word: why"),
            ("route", "TEXT", "hook_reply or tmux; null for a pass"),
            ("elapsed_ms", "INTEGER", "length of the turn; null where none had begun"),
            ("delivery", "TEXT", "none, pending, confirmed, failed or expired"),
            ("delivery_reason", "TEXT", "what the delivery waits for, or why it failed"),
            ("categories", "TEXT", "JSON: categories of the changed files"),
            ("actions", "TEXT", "JSON: what the agent was asked to do"),
            ("observations", "TEXT", "JSON: what was observed"),
            ("all_clear", "INTEGER", "1: all that was expected had been seen"),
            ("message", "TEXT", "the text as the agent got it"),
        ],
    },
    Table {
        name: "tools",
        row: "tool calls that returned or failed",
        columns: &[
            SEQ,
            AT,
            SESSION,
            NATIVE,
            AGENT,
            TURN,
            ("subagent", "TEXT", "the subagent that called; null for the main agent"),
            ("id", "TEXT", "the agent's id of the call"),
            ("tool", "TEXT", "the agent's name of the tool"),
            ("kind", "TEXT", "shell, edit, write, read or other"),
            ("command", "TEXT", "the command line of a shell call"),
            ("paths", "TEXT", "JSON: the files it touched"),
            ("is_error", "INTEGER", "1: it failed"),
            ("refused", "INTEGER", "1: it was refused and never ran"),
            ("output", "TEXT", "the result of a failed call"),
            ("duration_ms", "INTEGER", "how long it took, where known"),
        ],
    },
    Table {
        name: "turns",
        row: "what followed one prompt of a person",
        columns: &[
            SESSION,
            NATIVE,
            AGENT,
            TURN,
            ("seq", "INTEGER", "its first event"),
            ("began_at", "TEXT", "when the prompt was given"),
            ("ended_at", "TEXT", "its agent's last sign of life"),
            ("duration_ms", "INTEGER", "from the one to the other"),
            ("prompt", "TEXT", "the prompt, up to 4 KB"),
            ("tool_calls", "INTEGER", "calls that returned or failed"),
            ("tool_errors", "INTEGER", "calls that failed"),
            ("stops", "INTEGER", "stops of the agent"),
            ("injected", "INTEGER", "checkpoints that were sent"),
            ("passed", "INTEGER", "stops that passed"),
        ],
    },
    Table {
        name: "sessions",
        row: "sessions, as in `sessions`",
        columns: &[
            SESSION,
            NATIVE,
            AGENT,
            ("project", "TEXT", "its folder"),
            ("turn", "INTEGER", "how many turns it had"),
            ("running", "INTEGER", "1: its agent works"),
            ("ended", "INTEGER", "1: it is over"),
            ("notification", "TEXT", "why it waits for a person; null where it does not"),
            ("muted", "INTEGER", "1: it is switched off"),
            ("first_at", "TEXT", "its first event"),
            ("last_at", "TEXT", "its last hook event"),
            ("events", "INTEGER", "how many events it has"),
            ("injected", "INTEGER", "checkpoints that were sent"),
            ("passed", "INTEGER", "stops that passed"),
        ],
    },
];

/// Returns the SQL that makes all tables.
pub(super) fn definitions() -> String {
    let define = |table: &Table| {
        let columns: Vec<_> = table.columns.iter().map(|(name, form, _)| format!("\"{name}\" {form}")).collect();
        format!("CREATE TABLE {} ({});\n", table.name, columns.join(", "))
    };
    TABLES.iter().map(define).collect()
}

/// Prints the tables and their columns.
pub(super) fn show(json: bool, csv: bool) {
    let all = TABLES.iter().flat_map(|table| table.columns.iter().map(move |column| (table.name, column)));
    if json {
        for (table, (column, form, about)) in all {
            println!("{}", json!({ "table": table, "column": column, "type": form, "about": about }));
        }
    } else if csv {
        let mut out = io::stdout().lock();
        let _ = print::csv_line(&mut out, ["table", "column", "type", "about"]);
        for (table, (column, form, about)) in all {
            let _ = print::csv_line(&mut out, [table, *column, *form, *about]);
        }
    } else {
        for table in &TABLES {
            println!("{} {}", render::paint(Colour::Bold, table.name), table.row);
            for (column, form, about) in table.columns {
                println!("  {column:16} {form:8} {about}");
            }
        }
    }
}
