//! `phase`: phase records. Their readers are mostly agents, so the answer is JSON wherever it does not go to a
//! terminal, and a refusal is `{"ok":false,"error"}` there.

use std::io::{IsTerminal, Read as _};
use std::path::{Path, PathBuf};

use checkpoint::agents;
use checkpoint::phase::{Scope, input};
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use journal::{Home, Journal, Options};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cli::shared::Output;
use crate::cli::text::{print_json, word};
use crate::cli::{complete, connection};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::phase::{
    self, Cleaned, Detected, Done, Listed, PhaseError, Places, Problem, Rebuilt, RefusedAnswer,
    Request, Shown,
};
use crate::ops::views::PhaseView;
use crate::render::{self, Color, Table};

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

/// Why there is no answer: exit code and sentence.
type Refusal = (u8, String);

pub(crate) fn run(home: &Home, action: PhaseAction, output: Output) -> Result<u8> {
    let is_json = output.json || !std::io::stdout().is_terminal();
    match request(action).and_then(|request| Ok((ask(home, &request)?, request))) {
        Ok((answer, _)) if is_json => print_json(&answer),
        Ok((answer, request)) => show(&request, answer)?,
        Err((code, error)) if is_json => {
            let ok = false;
            print_json(&RefusedAnswer { ok, error });
            return Ok(code);
        }
        Err((exit::UNREACHABLE, error)) => return Err(Failure::unreachable(error)),
        Err((_, error)) => return Err(Failure::failed(error)),
    }
    Ok(exit::OK)
}

/// The fields of a new record, with the names that its file has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    /// Anything but a number is passed on as it is, for the validation to name.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_number: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    isc_criteria: Option<Value>,
    metadata: Value,
}

fn here() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    Some(folder.display().to_string())
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}

fn create(args: CreateArgs) -> std::result::Result<Request, Refusal> {
    let variables = || {
        agents::session_variables()
            .find_map(|name| std::env::var(name).ok().filter(|id| !id.is_empty()))
    };
    let number = args.number.map(|text| {
        let number = text.parse::<i64>();
        number.map_or(Value::from(text), Value::from)
    });
    let criteria = args.criteria.as_deref().map(read_criteria);
    let record = NewRecord {
        session_id: args.session.or_else(variables),
        phase: args.phase,
        phase_number: number,
        task_summary: args.summary,
        isc_criteria: criteria.transpose()?,
        metadata: read_metadata(&args.metadata)?,
    };
    Ok(Request::Create {
        project: args.project.as_deref().map(absolute),
        folder: here(),
        checkpoint: json!(record),
    })
}

/// Makes a request of what the command line says.
fn request(action: PhaseAction) -> std::result::Result<Request, Refusal> {
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

fn read_criteria(path: &Path) -> std::result::Result<Value, Refusal> {
    let wrong = |error: String| (exit::FAILED, format!("iscCriteria: {error}"));
    let mut bytes = Vec::new();
    let limit = input::BYTES_MAX as u64 + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| wrong(format!("{} cannot be read: {error}", path.display())))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| wrong(format!("{} is not JSON: {error}", path.display())))
}

fn read_metadata(pairs: &[String]) -> std::result::Result<Value, Refusal> {
    let mut metadata = serde_json::Map::new();
    for text in pairs {
        let is_json = text.trim_start().starts_with('{');
        if is_json {
            let read = serde_json::from_str::<serde_json::Map<_, _>>(text);
            let fields = read.map_err(|error| (exit::FAILED, format!("metadata: {error}")))?;
            metadata.extend(fields);
            continue;
        }
        let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
        let (key, value) = pair.ok_or_else(|| {
            let problem = format!("metadata: `{text}` is neither KEY=VALUE nor a JSON object");
            (exit::FAILED, problem)
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
fn ask(home: &Home, request: &Request) -> std::result::Result<Value, Refusal> {
    let refusal = |failure: Failure| (failure.code(), failure.text());
    let (journal, _scratch) = journal_for(home, request).map_err(refusal)?;
    let Some(journal) = journal else {
        let (word, fields) = request.parts();
        let (path, body) = (format!("/v1/phase/{word}"), fields.to_string());
        return connection::post_for(home, &path, body.as_bytes()).map_err(refusal);
    };
    let answered = config::load(home).map_err(refusal).and_then(|config| {
        let answer =
            Places::of(home, &config).and_then(|places| phase::answer(request, &journal, &places));
        let answer = answer.map(|answer| json!(answer));
        answer.map_err(|(kind, error)| {
            (
                if kind == PhaseError::Journal {
                    exit::UNREACHABLE
                } else {
                    exit::FAILED
                },
                error,
            )
        })
    });
    journal.close();
    answered
}

/// Shows an answer to a person.
fn show(request: &Request, answer: Value) -> Result<()> {
    fn read<T: DeserializeOwned>(answer: Value) -> Result<T> {
        serde_json::from_value(answer).map_err(Failure::failed)
    }
    let mut problems = Vec::new();
    let mut seed_problem = None;
    match request {
        Request::Create { .. } | Request::Complete { .. } => {
            let done: Done = read(answer)?;
            let did = match request {
                Request::Create { .. } => "made",
                _ => "completed",
            };
            println!("{did} {}", render::printable(&done.checkpoint_id));
            println!("{}", render::path(&done.file));
            seed_problem = done.seed_problem;
        }
        Request::Show { .. } => show_one(&read::<Shown>(answer)?.checkpoint),
        Request::Detect { .. } => {
            let detected: Detected = read(answer)?;
            show_detected(&detected);
            problems = detected.problems;
        }
        Request::List { .. } => {
            let listed: Listed = read(answer)?;
            show_list(&listed.checkpoints);
            problems = listed.problems;
        }
        Request::Cleanup { .. } => {
            let cleaned: Cleaned = read(answer)?;
            println!("{} deleted", cleaned.deleted);
            if cleaned.kept_incomplete != 0 {
                println!(
                    "{} kept because they are unfinished; `--incomplete` deletes them too",
                    cleaned.kept_incomplete
                );
            }
            problems = cleaned.problems;
            seed_problem = cleaned.seed_problem;
        }
        Request::Rebuild {} => {
            let rebuilt: Rebuilt = read(answer)?;
            for name in &rebuilt.rebuilt {
                println!("rewritten  {}", render::printable(name));
            }
            let files = render::count(rebuilt.rebuilt.len(), "file", "files");
            println!("{files} rewritten");
            problems = rebuilt.problems;
        }
    }
    show_problems(&problems, seed_problem.as_deref());
    Ok(())
}

fn show_problems(problems: &[Problem], seed_problem: Option<&str>) {
    let warning = render::paint(Color::Yellow, "warning:");
    for problem in problems {
        let file = render::path(Path::new(&problem.file));
        eprintln!("{warning} {file} {}", render::printable(&problem.error));
    }
    if let Some(problem) = seed_problem {
        eprintln!("{warning} {}", render::printable(problem));
    }
}

fn show_detected(detected: &Detected) {
    match &detected.checkpoint {
        Some(record) => show_one(record),
        None => {
            println!("There is no unfinished phase here.");
            if detected.elsewhere == Some(true) {
                println!("`checkpointd progress phase detect --all` searches other projects too.");
            }
        }
    }
}

fn show_one(record: &PhaseView) {
    let line = |label: &str, text: &str| {
        render::print_wrapped(&format!("{label:14} "), &render::printable(text))
    };
    line("id", &record.id);
    line("sessionId", &record.session_id);
    line("phase", &record.phase);
    line("phaseNumber", &record.phase_number.to_string());
    let at = render::local_time(record.created_at);
    println!("{:14} {at}", "createdAt");
    line("completed", &record.completed.to_string());
    line("taskSummary", &record.task_summary);
    for criterion in &record.isc_criteria {
        let status = word(criterion.status);
        line(
            "criterion",
            &format!("{status} {} {}", criterion.id, criterion.subject),
        );
    }
    line("metadata", &record.metadata.to_string());
    line("project", record.project.as_deref().unwrap_or("null"));
    line("file", &record.file);
}

fn show_list(records: &[PhaseView]) {
    if records.is_empty() {
        println!("There are no phase records.");
        return;
    }
    let mut table = Table::new([
        "ID", "MADE", "PHASE", "NUMBER", "STATE", "SESSION", "SUMMARY",
    ])
    .optional(&[5, 3, 1]);
    for record in records {
        let state = if record.completed {
            "completed"
        } else {
            "open"
        };
        table.row([
            record.id.clone(),
            render::local_time(record.created_at),
            record.phase.clone(),
            record.phase_number.to_string(),
            state.into(),
            record.session_id.chars().take(8).collect(),
            render::cut(&record.task_summary, 60),
        ]);
    }
    table.print();
}
