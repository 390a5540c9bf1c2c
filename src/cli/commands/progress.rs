//! `progress`: documents that carry work from one session to the next.

use std::path::{Path, PathBuf};

use actors::progress::Rebuilt;
use checkpoint::progress::{CheckResult, INPUT_BYTES_MAX};
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use journal::{Home, ProgressKind};
use serde_json::{Value, json};

use crate::cli::commands::phase;
use crate::cli::shared::{Output, one_of, read_given, session_here};
use crate::cli::text::print_json;
use crate::cli::text::progress_bar::{announce, progress_done};
use crate::cli::{complete, connection};
use crate::error::{Failure, Result, exit};
use crate::ops::progress::{self, Request};
use crate::render::{self, Color};

/// Write and show what carries work from one session to the next
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd progress write --type handoff --from notes.md\n  checkpointd progress show\n  \
    checkpointd progress validate --json\n\n\
    Facts come from the journal and git. The FILE of --from contains the agent's statements, as JSON\n\
    or as Markdown with headings such as Goal, Done, Remaining, Blocked, Decisions, Must Read, Can\n\
    Skip and Next Action."
)]
pub(crate) struct ProgressArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: ProgressAction,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What to do with progress documents.
#[derive(Debug, Subcommand)]
pub(crate) enum ProgressAction {
    Phase(phase::PhaseArgs),
    /// Write a document
    Write {
        /// full, incremental, handoff, pre-operation, pre-compaction, error or manual
        #[arg(long = "type", default_value = "full", value_name = "TYPE",
            value_parser = one_of(ProgressKind::ALL, ProgressKind::word))]
        kind: ProgressKind,
        /// What the agent states, as Markdown or JSON
        #[arg(long, value_name = "FILE|-")]
        from: Option<PathBuf>,
        #[command(flatten)]
        of: ProgressOf,
    },
    /// Show the latest document of the project or a session
    Show {
        #[command(flatten)]
        of: ProgressOf,
    },
    /// Check whether the latest document is still valid; exit 1 if it is not
    Validate {
        #[command(flatten)]
        of: ProgressOf,
    },
    /// Rewrite missing or outdated files from the journal; files changed by hand stay
    ///
    /// Restores the latest document of each session and the link to the newest. Files that were changed by hand are
    /// reported and left unchanged.
    Rebuild {
        /// Only of this session: id, prefix of one, or `last`
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Only of the project in this folder (default: of all projects)
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Also overwrite files changed by hand; keep them as NAME.kept
        #[arg(long)]
        force: bool,
    },
}

/// Whose progress document.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ProgressOf {
    /// The session: id, prefix of one, or `last` (default: the one this runs in, else the project's newest)
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// The project's folder (default: the current one)
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

pub(crate) fn run(home: &Home, args: ProgressArgs) -> Result<u8> {
    let ProgressArgs { action, output } = args;
    let (word, request) = match action {
        ProgressAction::Write { kind, from, of } => {
            let input = from
                .as_deref()
                .map(|path| read_given(path, INPUT_BYTES_MAX));
            let input = input.transpose()?;
            let input = input.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (
                "write",
                Request {
                    kind: Some(kind),
                    input,
                    ..request(of)?
                },
            )
        }
        ProgressAction::Phase(args) => return phase::run(home, args.action, output),
        ProgressAction::Show { of } => ("show", request(of)?),
        ProgressAction::Validate { of } => ("validate", request(of)?),
        ProgressAction::Rebuild {
            session,
            project,
            force,
        } => {
            let project = project
                .map(std::path::absolute)
                .transpose()?
                .unwrap_or_default()
                .display()
                .to_string();
            (
                "rebuild",
                Request {
                    session,
                    project,
                    force,
                    ..Request::default()
                },
            )
        }
    };
    // Git and checks of the user's own may take seconds.
    announce(match word {
        "validate" => "checking",
        "rebuild" => "comparing files with the journal",
        _ => "examining the work tree",
    });
    let path = format!("/v1/progress/{word}");
    let answered = connection::own_journal(home).and_then(|journal| {
        connection::keep(
            home,
            journal,
            (&path, &json!(request)),
            |journal, config| progress::answer(word, &request, journal, home, config),
        )
    });
    progress_done();
    let answer = answered?;
    let is_good = match word {
        "validate" => answer["holds"] == true,
        "rebuild" => answer["problems"].as_array().is_some_and(Vec::is_empty),
        _ => true,
    };
    if output.json {
        print_json(&answer);
    } else {
        show(word, answer)?;
    }
    Ok(exit::of(is_good))
}

/// Shows an answer to a person.
fn show(word: &str, mut answer: Value) -> Result<()> {
    let text = |name: &str| answer[name].as_str().unwrap_or_default();
    match word {
        "validate" => {
            let is_valid = answer["holds"] == true;
            let lines = serde_json::from_value(answer["lines"].take()).map_err(Failure::failed)?;
            show_report(lines, is_valid);
        }
        "rebuild" => show_rebuilt(&serde_json::from_value(answer).map_err(Failure::failed)?),
        "show" => println!("{}", render::printable_lines(text("markdown"))),
        _ => {
            println!("{}", render::path(Path::new(text("file"))));
            for note in answer["notes"].as_array().into_iter().flatten() {
                let note = note.as_str().unwrap_or_default();
                eprintln!("note: {}", render::printable(note));
            }
        }
    }
    Ok(())
}

fn request(of: ProgressOf) -> Result<Request> {
    let folder = match of.project {
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    Ok(Request {
        session: of.session,
        inside: session_here(),
        project: folder.display().to_string(),
        ..Request::default()
    })
}

fn show_report(lines: Vec<CheckResult>, is_valid: bool) {
    for line in &lines {
        let (color, mark) = if line.ok {
            (Color::Green, "ok  ")
        } else {
            (Color::Red, "FAIL")
        };
        let label = format!("{}  {:<12}  ", render::paint(color, mark), line.check);
        render::print_wrapped(&label, &render::printable(&line.found));
        let details = [("expected", &line.expected), ("repair", &line.reconcile)];
        for (title, text) in details {
            if let Some(text) = text {
                let label = format!("{:6}{title:<12}  ", "");
                render::print_wrapped(&label, &render::printable(text));
            }
        }
    }
    let (color, verdict) = if is_valid {
        (Color::Green, "It is valid.")
    } else {
        (
            Color::Red,
            "It is no longer valid. Fix the lines above, or write a new document: `checkpointd progress write`.",
        )
    };
    for line in render::wrapped("", verdict) {
        println!("{}", render::paint(color, &line));
    }
}

fn show_rebuilt(done: &Rebuilt) {
    for (files, did) in [(&done.rebuilt, "rewritten"), (&done.kept, "kept")] {
        for file in files {
            println!("{did:<12}  {}", render::path(file));
        }
    }
    println!(
        "{} rewritten, {} up to date",
        render::count(done.rebuilt.len(), "file", "files"),
        done.unchanged
    );
    for file in &done.edited {
        eprintln!(
            "note: {} was changed by hand and is kept; `--force` rewrites it and keeps a copy",
            render::path(file)
        );
    }
    if !done.gone.is_empty() {
        let files = render::count(done.gone.len(), "file was", "files were");
        eprintln!("note: {files} skipped because there is no such project");
    }
    for problem in &done.problems {
        eprintln!(
            "{} {} cannot be written: {}",
            render::paint(Color::Red, "error:"),
            render::path(&problem.file),
            render::printable(&problem.error)
        );
    }
}
