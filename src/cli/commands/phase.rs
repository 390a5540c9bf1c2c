//! `phase`: phase checkpoints. Their readers are mostly agents, so the answer is JSON wherever it does not go to a
//! terminal, and a refusal is `{"ok":false,"error"}` there.

use std::io::{IsTerminal, Read as _};
use std::path::{Path, PathBuf};

use checkpoint::agents;
use checkpoint::phase::{Scope, input};
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use journal::Home;
use serde_json::{Value, json};

use crate::cli::shared::Output;
use crate::cli::{complete, connection};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::phase::{self, Places, Request, Trouble};
use crate::render::{self, Colour, Table};

/// Keep the state of a task at the end of a phase of work, for a later session
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd phase create --phase build --number 4 --summary 'the parser is done' --metadata branch=parser\n  \
    checkpointd phase detect\n  checkpointd phase complete 019ab3\n\n\
    The answer is JSON with --json, and wherever it does not go to a terminal."
)]
pub(crate) struct PhaseArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: PhaseAction,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

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

/// Why there is no answer: exit code and sentence.
type Refusal = (u8, String);

/// Runs one of the commands.
pub(crate) fn run(home: &Home, args: PhaseArgs) -> Result<u8> {
    let PhaseArgs { action, output } = args;
    let is_json = output.json || !std::io::stdout().is_terminal();
    match request(action).and_then(|request| Ok((ask(home, &request)?, request))) {
        Ok((answer, _)) if is_json => println!("{answer}"),
        Ok((answer, request)) => show(&request, &answer),
        Err((code, error)) if is_json => {
            println!("{}", json!({ "ok": false, "error": error }));
            return Ok(code);
        }
        Err((exit::UNREACHABLE, error)) => return Err(Failure::unreachable(error)),
        Err((_, error)) => return Err(Failure::failed(error)),
    }
    Ok(exit::OK)
}

/// Makes a request of what the command line says.
fn request(action: PhaseAction) -> std::result::Result<Request, Refusal> {
    let here = || {
        std::env::current_dir()
            .ok()
            .map(|folder| folder.display().to_string())
    };
    let text = |path: &Path| {
        std::path::absolute(path)
            .unwrap_or_else(|_| path.to_owned())
            .display()
            .to_string()
    };
    Ok(match action {
        PhaseAction::Create {
            phase,
            number,
            summary,
            criteria,
            metadata,
            session,
            project,
        } => {
            let mut fields = serde_json::Map::new();
            let mut put = |key: &str, value: Option<Value>| {
                value.and_then(|value| fields.insert(key.into(), value))
            };
            let variables = || {
                agents::session_variables()
                    .find_map(|name| std::env::var(name).ok().filter(|id| !id.is_empty()))
            };
            put("sessionId", session.or_else(variables).map(Value::from));
            put("phase", phase.map(Value::from));
            // What is no number is passed on as it is, for the validation to name.
            put(
                "phaseNumber",
                number.map(|text| text.parse::<i64>().map_or(Value::from(text), Value::from)),
            );
            put("taskSummary", summary.map(Value::from));
            put(
                "iscCriteria",
                criteria.map(|path| read_criteria(&path)).transpose()?,
            );
            put("metadata", Some(read_metadata(&metadata)?));
            Request::Create {
                project: project.as_deref().map(text),
                folder: here(),
                checkpoint: fields.into(),
            }
        }
        PhaseAction::Show { id } => Request::Show { id },
        PhaseAction::List {
            completed,
            incomplete,
            session,
            project,
        } => Request::List {
            completed: (completed || incomplete).then_some(completed),
            scope: Scope {
                project: project.as_deref().map(text),
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
                project.as_deref().map(text)
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
    let pair = |pair: &String| match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), Value::from(value))),
        _ => Err((exit::FAILED, format!("metadata: `{pair}` is not KEY=VALUE"))),
    };
    pairs
        .iter()
        .map(pair)
        .collect::<std::result::Result<serde_json::Map<_, _>, _>>()
        .map(Value::from)
}

/// Asks the daemon, or without one the journal itself.
fn ask(home: &Home, request: &Request) -> std::result::Result<Value, Refusal> {
    let refusal = |failure: Failure| (failure.code(), failure.text());
    let Some(journal) = connection::own_journal(home).map_err(refusal)? else {
        let (word, fields) = request.parts();
        let body = fields.to_string();
        let (status, body) =
            connection::exchange(home, &format!("/v1/phase/{word}"), body.as_bytes())
                .map_err(refusal)?;
        let answer: Value = serde_json::from_slice(&body).map_err(|_| {
            (
                exit::UNREACHABLE,
                format!("the daemon's answer ({status}) is not understood"),
            )
        })?;
        return match status {
            200 => Ok(answer),
            503 => Err((exit::UNREACHABLE, text(&answer["error"]).to_owned())),
            _ => Err((exit::FAILED, text(&answer["error"]).to_owned())),
        };
    };
    let answered = config::load(&home.config)
        .map_err(refusal)
        .and_then(|config| {
            let answer = Places::of(&config.settings.phase)
                .and_then(|places| phase::answer(request, &journal, &places));
            answer.map_err(|(trouble, error)| {
                (
                    if trouble == Trouble::Journal {
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

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Shows an answer to a person.
fn show(request: &Request, answer: &Value) {
    match request {
        Request::Create { .. } | Request::Complete { .. } => {
            let done = if matches!(request, Request::Create { .. }) {
                "made"
            } else {
                "completed"
            };
            println!(
                "{done} {}",
                render::printable(text(&answer["checkpointId"]))
            );
            println!("{}", render::path(Path::new(text(&answer["file"]))));
        }
        Request::Detect { .. } if answer["checkpoint"].is_null() => {
            println!("There is nothing to be resumed here.");
            if answer["elsewhere"] == true {
                println!("`checkpointd phase detect --all` finds what is open in other projects.");
            }
        }
        Request::Show { .. } | Request::Detect { .. } => show_one(&answer["checkpoint"]),
        Request::List { .. } => show_list(answer),
        Request::Cleanup { .. } => {
            println!("{} deleted", answer["deleted"]);
            if answer["keptIncomplete"] != 0 {
                println!(
                    "{} kept, for their work is not over; `--incomplete` deletes them too",
                    answer["keptIncomplete"]
                );
            }
        }
        Request::Rebuild {} => {
            for name in answer["rebuilt"].as_array().into_iter().flatten() {
                println!("written anew  {}", render::printable(text(name)));
            }
            println!(
                "{} files written anew",
                answer["rebuilt"].as_array().map_or(0, Vec::len)
            );
        }
    }
    for problem in answer["problems"].as_array().into_iter().flatten() {
        let file = render::path(Path::new(text(&problem["file"])));
        eprintln!(
            "{} {file} {}",
            render::paint(Colour::Yellow, "warning:"),
            render::printable(text(&problem["error"]))
        );
    }
    if let Some(problem) = answer["seedProblem"].as_str() {
        eprintln!(
            "{} {}",
            render::paint(Colour::Yellow, "warning:"),
            render::printable(problem)
        );
    }
}

fn show_one(checkpoint: &Value) {
    for (key, value) in checkpoint.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("createdAt", value) => println!("{key:14} {}", render::local_time(text(value))),
            ("iscCriteria", Value::Array(criteria)) => {
                for one in criteria {
                    let line = format!(
                        "{} {} {}",
                        text(&one["status"]),
                        text(&one["id"]),
                        text(&one["subject"])
                    );
                    render::print_wrapped(
                        &format!("{:14} ", "criterion"),
                        &render::printable(&line),
                    );
                }
            }
            (key, Value::String(value)) => {
                render::print_wrapped(&format!("{key:14} "), &render::printable(value))
            }
            (key, value) => render::print_wrapped(
                &format!("{key:14} "),
                &render::printable(&value.to_string()),
            ),
        }
    }
}

fn show_list(answer: &Value) {
    let mut table = Table::new([
        "ID", "MADE", "PHASE", "NUMBER", "STATE", "SESSION", "SUMMARY",
    ])
    .optional(&[5, 3, 1]);
    for one in answer["checkpoints"].as_array().into_iter().flatten() {
        table.row([
            text(&one["id"]).into(),
            render::local_time(text(&one["createdAt"])),
            text(&one["phase"]).into(),
            one["phaseNumber"].to_string(),
            if one["completed"] == true {
                "completed".into()
            } else {
                "open".into()
            },
            text(&one["sessionId"]).chars().take(8).collect(),
            render::cut(text(&one["taskSummary"]), 60),
        ]);
    }
    if table.is_empty() {
        println!("There are no phase checkpoints.")
    } else {
        table.print()
    }
}
