//! The part of the command line that is about the journal as a whole.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;

use super::Output;
use crate::cli::complete;

/// What to do with the journal.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalAction {
    /// Append hook calls, one JSON object a line on stdin: {"agent","payload",("event","at","id","env")}
    Append {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Write all events to stdout, one JSON object a line
    Export {
        /// Begin with this event
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// Only this session
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
    },
    /// Read exported events from stdin into an empty journal
    Import {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Prove that the intake log and the store are whole and agree
    Verify {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Show how much there is
    Stats {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Write everything into one file, also while the daemon runs
    #[command(
        after_help = "Examples:\n  checkpointd journal backup ~/backups\n  checkpointd journal backup today.backup"
    )]
    Backup {
        /// A file that is not there yet, or a folder, where it is named by the time
        to: PathBuf,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Put a backup in the journal's place; without one, build the store anew from the intake log
    #[command(
        after_help = "Examples:\n  checkpointd journal restore today.backup\n  checkpointd journal restore ~/backups --force\n  checkpointd journal restore"
    )]
    Restore {
        /// A backup, or a folder, whose newest backup is taken
        from: Option<PathBuf>,
        /// Move a journal that is there aside (it is kept)
        #[arg(long, requires = "from")]
        force: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Drop payloads that are older than `journal.retention` says; events and decisions stay
    ///
    /// While no daemon runs, the store is also written anew, which gives back the room that it no longer uses. Hook
    /// calls wait in the spool meanwhile.
    Compact {
        /// Only say what would be dropped
        #[arg(long)]
        dry_run: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
}

/// A question in SQL.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd sql \"select tool, count(*), sum(is_error) from tools group by tool\"\n  \
    checkpointd sql --csv \"select session, turn, duration_ms from turns order by duration_ms desc limit 10\"\n  \
    checkpointd sql --schema"
)]
pub(crate) struct SqlArgs {
    /// One SELECT, in the dialect of SQLite
    #[arg(required_unless_present = "schema")]
    pub(crate) query: Option<String>,
    /// Show the tables and their columns
    #[arg(long, conflicts_with = "query")]
    pub(crate) schema: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}
