//! `phase`: phase records. Their readers are mostly agents, so the answer is JSON wherever it does not go to a
//! terminal, and a refusal is `{"ok":false,"error"}` there.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use checkpoint::phase::{Scope, input};
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use journal::{Home, Journal, Options};
use serde_json::{Value, json};

use crate::cli::shared::{Output, read_given, session_here};
use crate::cli::text::print_json;
use crate::cli::{complete, connection};
use crate::error::{Failure, Result, exit};
use crate::ops::phase::{self, Places, Request};
use crate::render::{self, Color, Column, Table};

/// Save the state of a task at the end of a phase of work, for a later session
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd progress phase create --phase build --number 4 --summary 'the parser is done' --metadata branch=parser\n  \
    checkpointd progress phase detect\n  checkpointd progress phase complete 019ab3\n\n\
    The output is JSON with --json, and whenever it is not a terminal."
)]
pub(crate) struct PhaseArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: PhaseAction,
}

/// The subcommands of `phase`. Fields are validated where the request is read, not here.
#[derive(Debug, Subcommand)]
pub(crate) enum PhaseAction {
    /// Create a record
    Create(CreateArgs),
    /// Show a record
    Show {
        /// Its id, a prefix of it, or the name of its file
        id: String,
    },
    /// List records, newest first
    List {
        /// Only those that are completed
        #[arg(long, conflicts_with = "incomplete")]
        completed: bool,
        /// Only unfinished ones
        #[arg(long)]
        incomplete: bool,
        /// Only of this session
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Only of the project in this folder
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Show the latest unfinished record of this project
    Detect {
        /// Of this session, in any project
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Of the project in this folder
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Of any project
        #[arg(long, conflicts_with = "project")]
        all: bool,
    },
    /// Mark a record as completed
    Complete {
        /// Its id, a prefix of it, or the name of its file
        id: String,
    },
    /// Delete old completed records
    Cleanup {
        /// Only records older than this (default: `phase.keep`, 30d)
        #[arg(long, value_name = "DURATION")]
        older_than: Option<String>,
        /// Also unfinished ones
        #[arg(long)]
        incomplete: bool,
    },
    /// Restore missing, damaged or changed files from the journal; changed files are kept under another name
    Rebuild,
}

/// What a record is made of.
#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// The phase's name
    #[arg(long)]
    pub(crate) phase: Option<String>,
    /// The phase's number, 1 to 7
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) number: Option<String>,
    /// What the task is and how far it is
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) summary: Option<String>,
    /// Criteria of the phase: a JSON list of {"id", "subject", "status": pending|in_progress|completed}
    #[arg(long, value_name = "FILE|-")]
    pub(crate) criteria: Option<PathBuf>,
    /// Other data, as a key and a value or a JSON object; may be repeated
    #[arg(long, value_name = "KEY=VALUE|JSON")]
    pub(crate) metadata: Vec<String>,
    /// The session: id, prefix of one, or `last` (default: the one this runs in, else the project's newest)
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// The project's folder (default: the session's, else the current one)
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

pub(crate) fn run(home: &Home, action: PhaseAction, output: Output) -> Result<u8> {
    let is_json = output.json || !std::io::stdout().is_terminal();
    match request(action).and_then(|request| Ok((ask(home, &request)?, request))) {
        Ok((answer, _)) if is_json => print_json(&answer),
        Ok((answer, request)) => show(&request, &answer),
        Err(failure) if is_json => {
            print_json(&json!({ "ok": false, "error": failure.text() }));
            return Ok(failure.code());
        }
        Err(failure) => return Err(failure),
    }
    Ok(exit::OK)
}

fn here() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    Some(folder.display().to_string())
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}

/// Makes a record of what was given, with the names that its file has. Anything but a number is passed on as it is, for
/// the validation to name.
fn create(args: CreateArgs) -> Result<Request> {
    let number = args.number.map(|text| {
        let number = text.parse::<i64>();
        number.map_or(Value::from(text), Value::from)
    });
    let criteria = args.criteria.as_deref().map(read_criteria).transpose()?;
    let fields = [
        (
            "sessionId",
            args.session.or_else(session_here).map(Value::from),
        ),
        ("phase", args.phase.map(Value::from)),
        ("phaseNumber", number),
        ("taskSummary", args.summary.map(Value::from)),
        ("iscCriteria", criteria),
        ("metadata", Some(read_metadata(&args.metadata)?)),
    ];
    let given = fields.into_iter();
    let given = given.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(Request::Create {
        project: args.project.as_deref().map(absolute),
        folder: here(),
        checkpoint: given.collect(),
    })
}

/// Makes a request of what the command line says.
fn request(action: PhaseAction) -> Result<Request> {
    Ok(match action {
        PhaseAction::Create(args) => create(args)?,
        PhaseAction::Show { id } => Request::Show { id },
        PhaseAction::List {
            completed,
            incomplete,
            session,
            project,
        } => Request::List {
            completed: (completed || incomplete).then_some(completed),
            scope: Scope {
                project: project.as_deref().map(absolute),
                session,
            },
        },
        PhaseAction::Detect {
            session,
            project,
            all,
        } => {
            let is_here = project.is_none() && session.is_none() && !all;
            let project = if is_here {
                here()
            } else {
                project.as_deref().map(absolute)
            };
            Request::Detect {
                scope: Scope { project, session },
            }
        }
        PhaseAction::Complete { id } => Request::Complete { id },
        PhaseAction::Cleanup {
            older_than,
            incomplete,
        } => Request::Cleanup {
            older_than,
            incomplete,
        },
        PhaseAction::Rebuild => Request::Rebuild {},
    })
}

fn read_criteria(path: &Path) -> Result<Value> {
    let wrong = |error: String| Failure::failed(format!("iscCriteria: {error}"));
    let bytes = read_given(path, input::BYTES_MAX).map_err(|failure| wrong(failure.text()))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| wrong(format!("{} is not JSON: {error}", path.display())))
}

fn read_metadata(pairs: &[String]) -> Result<Value> {
    let mut metadata = serde_json::Map::new();
    for text in pairs {
        if text.trim_start().starts_with('{') {
            let read = serde_json::from_str::<serde_json::Map<_, _>>(text);
            metadata.extend(read.map_err(|error| Failure::failed(format!("metadata: {error}")))?);
            continue;
        }
        let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
        let (key, value) = pair.ok_or_else(|| {
            let problem = format!("metadata: `{text}` is neither KEY=VALUE nor a JSON object");
            Failure::failed(problem)
        })?;
        metadata.insert(key.to_owned(), Value::from(value));
    }
    Ok(Value::from(metadata))
}

/// Returns the journal for a request, or none if a daemon has it. A question creates no journal: if there is none, an
/// empty one answers, in a folder that is removed with the returned value.
fn journal_for(
    home: &Home,
    request: &Request,
) -> Result<(Option<Journal>, Option<tempfile::TempDir>)> {
    let has_none = connection::health(home).is_none() && !connection::is_journal_there(home)?;
    if !(has_none && request.only_asks()) {
        return Ok((connection::own_journal(home)?, None));
    }
    let scratch = tempfile::tempdir()?;
    let (journal, _) = Journal::open(scratch.path(), Options::default())?;
    Ok((Some(journal), Some(scratch)))
}

/// Asks the daemon, or without one the journal itself.
fn ask(home: &Home, request: &Request) -> Result<Value> {
    let (journal, _scratch) = journal_for(home, request)?;
    let (word, fields) = request.parts();
    let path = format!("/v1/phase/{word}");
    connection::keep(home, journal, (&path, &fields), |journal, config| {
        phase::answer(request, journal, &Places::of(home, config)?)
    })
}

/// Shows an answer to a person.
fn show(request: &Request, answer: &Value) {
    let text = |name: &str| answer[name].as_str().unwrap_or_default();
    match request {
        Request::Create { .. } | Request::Complete { .. } => {
            let did = match request {
                Request::Create { .. } => "made",
                _ => "completed",
            };
            println!("{did} {}", render::printable(text("checkpointId")));
            println!("{}", render::path(Path::new(text("file"))));
        }
        Request::Detect { .. } if answer["checkpoint"].is_null() => {
            println!("There is no unfinished phase here.");
            if answer["elsewhere"] == true {
                println!("`checkpointd progress phase detect --all` searches other projects too.");
            }
        }
        Request::Show { .. } | Request::Detect { .. } => show_one(&answer["checkpoint"]),
        Request::List { .. } => show_list(list(answer, "checkpoints")),
        Request::Cleanup { .. } => {
            println!("{} deleted", answer["deleted"]);
            if answer["keptIncomplete"] != 0 {
                println!(
                    "{} kept because they are unfinished; `--incomplete` deletes them too",
                    answer["keptIncomplete"]
                );
            }
        }
        Request::Rebuild {} => {
            let rebuilt = list(answer, "rebuilt");
            for name in rebuilt.iter().filter_map(Value::as_str) {
                println!("rewritten  {}", render::printable(name));
            }
            let files = render::count(rebuilt.len(), "file", "files");
            println!("{files} rewritten");
        }
    }
    let warning = render::paint(Color::Yellow, "warning:");
    for problem in list(answer, "problems") {
        let text = |name: &str| problem[name].as_str().unwrap_or_default();
        let file = render::path(Path::new(text("file")));
        eprintln!("{warning} {file} {}", render::printable(text("error")));
    }
    if let Some(problem) = answer["seedProblem"].as_str() {
        eprintln!("{warning} {}", render::printable(problem));
    }
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().map_or(&[], Vec::as_slice)
}

/// Shows a record, a field a line.
fn show_one(record: &Value) {
    let line = |label: &str, text: &str| {
        render::print_wrapped(&format!("{label:14} "), &render::printable(text));
    };
    for (name, value) in record.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("iscCriteria", _) => {
                for criterion in list(record, name) {
                    let parts = ["status", "id", "subject"].map(|part| criterion[part].as_str());
                    line("criterion", &parts.map(Option::unwrap_or_default).join(" "));
                }
            }
            ("createdAt", value) => println!("{name:14} {}", local_time(value)),
            (_, Value::String(text)) => line(name, text),
            (_, other) => line(name, &other.to_string()),
        }
    }
}

fn local_time(at: &Value) -> String {
    let at = at.as_str().and_then(|at| at.parse().ok());
    at.map_or_else(String::new, render::local_time)
}

fn show_list(records: &[Value]) {
    if records.is_empty() {
        println!("There are no phase records.");
        return;
    }
    let text = |record: &Value, name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let state = |record: &Value| match record["completed"] == true {
        true => "completed".to_owned(),
        false => "open".to_owned(),
    };
    let columns: [Column<'_, Value>; 7] = [
        ("ID", &|record| text(record, "id")),
        ("MADE", &|record| local_time(&record["createdAt"])),
        ("PHASE", &|record| text(record, "phase")),
        ("NUMBER", &|record| record["phaseNumber"].to_string()),
        ("STATE", &state),
        ("SESSION", &|record| {
            text(record, "sessionId").chars().take(8).collect()
        }),
        ("SUMMARY", &|record| {
            render::cut(&text(record, "taskSummary"), 60)
        }),
    ];
    let table = Table::of(records, &columns).optional(&[5, 3, 1]);
    table.print();
}
