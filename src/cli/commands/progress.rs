//! `progress`: documents that carry work from one session to the next.

use std::io::{IsTerminal, Read as _};
use std::path::{Path, PathBuf};

use checkpoint::agents;
use checkpoint::progress::INPUT_BYTES_MAX;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use journal::{Home, ProgressKind};
use serde_json::Value;

use crate::cli::shared::Output;
use crate::cli::text::progress_bar::progress_done;
use crate::cli::{complete, connection};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::progress::{self, Refused, Request};
use crate::render::{self, Colour};

/// Write down where work stands, show it, and check whether it still holds
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd progress write --type handoff --from notes.md\n  checkpointd progress show\n  \
    checkpointd progress validate --json\n\n\
    Facts come from the journal and git. What --from states, as Markdown under headings (Goal, Done, Remaining,\n\
    Blocked, Decisions, Must Read, Can Skip, Next Action, ..) or as JSON, is marked as stated by the agent, and\n\
    stays until it is stated anew."
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

/// Runs one of the commands.
pub(crate) fn run(home: &Home, args: ProgressArgs) -> Result<u8> {
    let ProgressArgs { action, output } = args;
    let (word, request) = match action {
        ProgressAction::Write { kind, from, of } => {
            let input = from.as_deref().map(input).transpose()?;
            (
                "write",
                Request {
                    kind: ProgressKind::of_word(&kind),
                    input,
                    ..request(of)?
                },
            )
        }
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
    let is_shown = std::io::stderr().is_terminal();
    if is_shown {
        let doing = match word {
            "validate" => "checking",
            "rebuild" => "holding files against the journal",
            _ => "looking at the work tree",
        };
        eprint!("\r{doing} ..");
    }
    let answered = ask(home, word, &request);
    progress_done();
    let answer = answered?;
    let is_good = answer["holds"] != false && list(&answer["problems"]).is_empty();
    match (output.json, word) {
        (true, _) => println!("{answer}"),
        (false, "show") => println!("{}", render::printable_lines(text(&answer["markdown"]))),
        (false, "write") => {
            println!("{}", render::path(Path::new(text(&answer["file"]))));
            for note in list(&answer["notes"]) {
                eprintln!("note: {}", render::printable(text(note)));
            }
        }
        (false, "rebuild") => show_rebuilt(&answer),
        (false, _) => show_report(&answer),
    }
    Ok(if is_good { exit::OK } else { exit::FAILED })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn request(of: ProgressOf) -> Result<Request> {
    let folder = match of.project {
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    let inside = agents::session_variables()
        .find_map(|name| std::env::var(name).ok().filter(|id| !id.is_empty()));
    Ok(Request {
        session: of.session,
        inside,
        project: folder.display().to_string(),
        ..Request::default()
    })
}

/// Reads what the agent states, at most a little more than is taken.
fn input(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let limit = INPUT_BYTES_MAX as u64 + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn ask(home: &Home, word: &str, request: &Request) -> Result<Value> {
    let Some(journal) = connection::own_journal(home)? else {
        let body = serde_json::to_vec(request).expect("plain data");
        let (status, body) = connection::exchange(home, &format!("/v1/progress/{word}"), &body)?;
        let answer: Value = serde_json::from_slice(&body).map_err(Failure::failed)?;
        return match status {
            200 => Ok(answer),
            503 => Err(Failure::unreachable(text(&answer["error"]))),
            _ => Err(Failure::failed(text(&answer["error"]))),
        };
    };
    let answered = config::load(&home.config)
        .map(|config| progress::answer(word, request, &journal, home, &config));
    journal.close();
    answered?.map_err(|(kind, error)| match kind {
        Refused::Journal => Failure::unreachable(error),
        _ => Failure::failed(error),
    })
}

fn show_report(answer: &Value) {
    for line in list(&answer["lines"]) {
        let (colour, mark) = if line["ok"] == true {
            (Colour::Green, "ok  ")
        } else {
            (Colour::Red, "FAIL")
        };
        let label = format!("{mark}  {:<12}  ", text(&line["check"]));
        for (number, part) in render::wrapped(&label, &render::printable(text(&line["found"])))
            .into_iter()
            .enumerate()
        {
            println!(
                "{}",
                if number == 0 {
                    part.replacen(mark, &render::paint(colour, mark), 1)
                } else {
                    part
                }
            );
        }
        if let Some(reconcile) = line["reconcile"].as_str() {
            render::print_wrapped(&format!("{:20}-> ", ""), &render::printable(reconcile));
        }
    }
    let (colour, verdict) = if answer["holds"] == true {
        (Colour::Green, "It holds: go on from it.")
    } else {
        (
            Colour::Red,
            "It does not hold: settle the above first, then `checkpointd progress write`.",
        )
    };
    println!("{}", render::paint(colour, verdict));
}

fn show_rebuilt(answer: &Value) {
    let path = |file: &Value| render::path(Path::new(text(file)));
    for (key, word) in [("rebuilt", "written anew"), ("kept", "kept")] {
        list(&answer[key])
            .iter()
            .for_each(|file| println!("{word:<12}  {}", path(file)));
    }
    println!(
        "{} files written anew, {} are as they should be",
        list(&answer["rebuilt"]).len(),
        answer["unchanged"]
    );
    for file in list(&answer["edited"]) {
        eprintln!(
            "note: {} was changed by somebody and stays; `--force` writes it anew and keeps a copy",
            path(file)
        );
    }
    match list(&answer["gone"]).len() {
        0 => {}
        count => eprintln!("note: {count} files are left out, for their projects are gone"),
    }
    for problem in list(&answer["problems"]) {
        let error = render::printable(text(&problem["error"]));
        eprintln!(
            "{} {} cannot be written: {error}",
            render::paint(Colour::Red, "error:"),
            path(&problem["file"])
        );
    }
}
