//! The arguments of what outlives a session: phase checkpoints and progress documents.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;

use crate::cli::complete;

/// What to do with phase checkpoints. What is wrong with a field is said by the one who knows all fields, not here.
#[derive(Debug, Subcommand)]
pub(crate) enum PhaseAction {
    /// Make one
    Create {
        /// The phase's name
        #[arg(long)]
        phase: Option<String>,
        /// The phase's number, 1 to 7
        #[arg(long, allow_hyphen_values = true)]
        number: Option<String>,
        /// What the task is and how it stands
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        summary: Option<String>,
        /// What the phase is judged by: a JSON list of {"id", "subject", "status": pending|in_progress|completed}
        #[arg(long, value_name = "FILE|-")]
        criteria: Option<PathBuf>,
        /// Anything else; may be given several times
        #[arg(long, value_name = "KEY=VALUE")]
        metadata: Vec<String>,
        /// The session: id, beginning of one, or `last` (default: the one this runs in, else the project's newest)
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// The project's folder (default: the session's, else the current one)
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Show one
    Show {
        /// Its id, the beginning of it, or its file's name
        id: String,
    },
    /// List them, newest first
    List {
        /// Only those that are completed
        #[arg(long, conflicts_with = "incomplete")]
        completed: bool,
        /// Only those whose work is not over
        #[arg(long)]
        incomplete: bool,
        /// Only of this session
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Only of the project in this folder
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Find the latest whose work is not over, in this project
    Detect {
        /// Of this session, in whatever project
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Of the project in this folder
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Of any project, also of none that is known
        #[arg(long, conflicts_with = "project")]
        all: bool,
    },
    /// Say that the work of one is over
    Complete {
        /// Its id, the beginning of it, or its file's name
        id: String,
    },
    /// Delete old ones that are completed
    Cleanup {
        /// From this age on (default: `phase.keep`, 30d)
        #[arg(long, value_name = "DURATION")]
        older_than: Option<String>,
        /// Also those whose work is not over
        #[arg(long)]
        incomplete: bool,
    },
    /// Write all files anew that are missing, damaged or changed; what was there is kept beside them
    Rebuild,
}

/// Whose progress document.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ProgressOf {
    /// The session: id, beginning of one, or `last` (default: the one this runs in, else the project's newest)
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// The project's folder (default: the current one)
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

/// What to do with progress documents.
#[derive(Debug, Subcommand)]
pub(crate) enum ProgressAction {
    /// Write one
    Write {
        /// full, incremental, handoff, pre-operation, pre-compaction, error or manual
        #[arg(long = "type", default_value = "full", value_name = "TYPE",
            value_parser = ["full", "incremental", "handoff", "pre-operation", "pre-compaction", "error", "manual"])]
        kind: String,
        /// What the agent states, as Markdown or JSON
        #[arg(long, value_name = "FILE|-")]
        from: Option<PathBuf>,
        /// Whose.
        #[command(flatten)]
        of: ProgressOf,
    },
    /// Show the latest of the project, or of a session
    Show {
        /// Whose.
        #[command(flatten)]
        of: ProgressOf,
    },
    /// Check whether the latest still holds: exit 0 if it does, 1 if not
    Validate {
        /// Whose.
        #[command(flatten)]
        of: ProgressOf,
    },
    /// Write files anew from the journal that are missing or older; those that somebody has changed stay
    ///
    /// Documents are events, and files follow from them: the latest document of each session comes back as it was
    /// written, and so does the link to the newest. A file that is neither this document nor an older one of ours was
    /// changed by somebody (or written by another version): it is named and left as it is.
    Rebuild {
        /// Only of this session: id, beginning of one, or `last`
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Only of the project in this folder (default: of all projects)
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Also write those anew that somebody has changed; what they hold is kept beside them as NAME.kept
        #[arg(long)]
        force: bool,
    },
}
