//! `fleet`: what leaves this machine, and the events of many machines in one place.

mod arguments;
mod forget;
mod members;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueHint};
use journal::home::create_folder;
use journal::{Home, Journal, Options};
use serde::Serialize;
use serde_json::Value;

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text::print_json;
use crate::cli::text::progress_bar::{Shown, progress_done};
use crate::cli::time as when;
use crate::daemon;
use crate::error::{Failure, Result, exit};
use crate::ops::fleet::{Level, Merge, Merged, Problem};
use crate::ops::query::{Outgoing, Query};
use crate::render;
use arguments::{Operator, level, machine};

/// Collect the journals of many machines in one place
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  checkpointd fleet preview --since 2h\n  \
    checkpointd fleet export --machine laptop-7 > laptop-7.ndjson\n  \
    checkpointd fleet merge laptop-7.ndjson desk-2.ndjson --into ~/fleet\n  \
    CHECKPOINTD_HOME=~/fleet checkpointd audit --machine laptop-7")]
pub(crate) struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: FleetAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetAction {
    /// Show exactly what this machine would send, event by event
    Preview {
        /// How much is sent: decisions, a skeleton of all events without their texts, or all with prompts and payloads
        #[arg(long, default_value = "decisions", value_parser = level())]
        level: Level,
        /// Events since: 1h, yesterday, 14:30, 2026-11-20, RFC 3339
        #[arg(long, value_name = "TIME", default_value = "1h")]
        since: String,
    },
    /// Write this machine's events to stdout, for `fleet merge`
    Export {
        /// Name of this machine at the collector: lower-case letters, digits and `-`
        #[arg(long, value_name = "NAME", value_parser = machine)]
        machine: String,
        /// How much is sent: decisions, a skeleton of all events without their texts, or all with prompts and payloads
        #[arg(long, default_value = "decisions", value_parser = level())]
        level: Level,
    },
    /// Create a certificate authority and the configuration of NATS servers and the collector
    InitServer {
        /// The servers, one or three: HOST or HOST:PORT
        #[arg(required = true, value_name = "SERVER")]
        servers: Vec<String>,
        #[command(flatten)]
        operator: Operator,
    },
    /// Add a machine or renew its certificate; writes NAME.join for `fleet join`
    Enrol {
        /// Name of the machine: lower-case letters, digits and `-`
        #[arg(value_parser = machine)]
        name: String,
        #[command(flatten)]
        operator: Operator,
    },
    /// Revoke a machine's certificate
    Revoke {
        /// Name of the machine
        #[arg(value_parser = machine)]
        name: String,
        #[command(flatten)]
        operator: Operator,
    },
    /// Renew the certificates of the servers and the collector, which are valid for 398 days
    Renew {
        #[command(flatten)]
        operator: Operator,
    },
    /// Start to send this machine's events, with the file that `fleet enrol` wrote
    Join {
        /// The file
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// How much is sent: decisions, a skeleton of all events without their texts, or all with prompts and payloads
        #[arg(long, default_value = "decisions", value_parser = level())]
        level: Level,
    },
    /// Run the collector: write what machines send to the broker to the journal
    ///
    /// The broker is `fleet.url` in config.yml. While the collector runs, it answers queries as a daemon does.
    Collect,
    /// Remove a machine or a session from a stopped collector and its broker
    Forget {
        /// Name of a machine, or id of a session
        #[arg(value_name = "MACHINE|SESSION")]
        what: String,
    },
    /// Merge exports of machines into a collector's journal
    Merge {
        /// Exports, `-` for stdin
        #[arg(required = true, value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
        /// The collector's folder; set CHECKPOINTD_HOME to it for queries
        #[arg(long, value_name = "HOME", value_hint = ValueHint::DirPath)]
        into: PathBuf,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
}

pub(crate) fn run(home: &Home, args: FleetArgs) -> Result<u8> {
    match args.action {
        FleetAction::Preview { level, since } => preview(home, level, &since),
        FleetAction::Export { machine, level } => export(home, level, &machine),
        FleetAction::InitServer { servers, operator } => members::init_server(&operator, &servers),
        FleetAction::Enrol { name, operator } => members::enrol(&operator, &name),
        FleetAction::Revoke { name, operator } => members::revoke(&operator, &name),
        FleetAction::Renew { operator } => members::renew(&operator),
        FleetAction::Join { file, level } => members::join(home, &file, level),
        FleetAction::Collect => {
            daemon::run(home.clone(), true)?;
            Ok(exit::OK)
        }
        FleetAction::Forget { what } => forget::forget(home, &what),
        FleetAction::Merge {
            files,
            into,
            output,
        } => merge(&files, &into, output),
    }
}

fn export(home: &Home, level: Level, machine: &str) -> Result<u8> {
    let query = Query::Outgoing(Outgoing {
        level: level.word().to_owned(),
        machine: machine.to_owned(),
        since: None,
    });
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    connection::ask_json(home, &query, |line| {
        if written.is_ok()
            && let Some(line) = line.as_str()
        {
            written = writeln!(out, "{line}");
        }
    })?;
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit::OK),
    }
}

fn preview(home: &Home, level: Level, since: &str) -> Result<u8> {
    let since = when::read_now(since).map_err(Failure::usage)?.begin;
    let query = Query::Outgoing(Outgoing {
        level: level.word().to_owned(),
        machine: String::new(),
        since: Some(since),
    });
    let (mut lines, mut withheld, mut bytes) = (0u64, 0u64, 0u64);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    connection::ask_json(home, &query, |line| {
        let Some(text) = line.as_str() else {
            return;
        };
        let event: Value = serde_json::from_str(text).unwrap_or_default();
        match event["kind"].as_str() {
            Some("withheld") => withheld += event["count"].as_u64().unwrap_or(0),
            _ => lines += 1,
        }
        bytes += text.len() as u64 + 1;
        if written.is_ok() {
            written = writeln!(out, "{}", render::json(&event));
        }
    })?;
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    eprintln!(
        "level {}: {} in {}, and of {withheld} more only number, time and session",
        level.word(),
        render::count(lines, "event", "events"),
        render::bytes(bytes)
    );
    Ok(exit::OK)
}

/// The result of merging a file.
#[derive(Serialize)]
struct MergedFile {
    file: PathBuf,
    #[serde(flatten)]
    merged: Option<Merged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn merge(files: &[PathBuf], into: &Path, output: Output) -> Result<u8> {
    let into = std::path::absolute(into)?;
    let home = Home::under(&into);
    if connection::health(&home).is_some() {
        return Err(
            Failure::failed(format!("a daemon runs in {}", render::path(&into)))
                .hint("name a folder of its own for the collector"),
        );
    }
    create_folder(&into)?;
    let (journal, _) = Journal::open(&home.journal, Options::default())?;
    let mut merge = Merge::new(&journal).map_err(failure)?;
    let mut all = Vec::new();
    for file in files {
        let merged = take(&mut merge, file);
        progress_done();
        // After a failed write nothing is certain about what the journal has.
        let is_over = matches!(merged, Err(Problem::Journal(_)));
        let (merged, error) = match merged {
            Ok(merged) => (Some(merged), None),
            Err(problem) => (None, Some(problem.to_string())),
        };
        let line = MergedFile {
            file: file.clone(),
            merged,
            error,
        };
        show(&line, output);
        all.push(line);
        if is_over {
            break;
        }
    }
    journal.settle()?;
    journal.close();
    let is_whole = all.iter().all(|line| line.error.is_none());
    Ok(exit::of(is_whole))
}

fn take(merge: &mut Merge<'_>, file: &Path) -> std::result::Result<Merged, Problem> {
    let opened: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let open = File::open(file);
        let open =
            open.map_err(|error| Problem::Refused(format!("it cannot be opened: {error}")))?;
        let size = open.metadata().map_or(0, |meta| meta.len());
        let shown = Shown::new(open, render::path(file), size);
        Box::new(BufReader::with_capacity(1 << 20, shown))
    };
    merge.file(opened)
}

fn show(line: &MergedFile, output: Output) {
    if output.json {
        print_json(line);
        return;
    }
    let name = render::path(&line.file);
    match (&line.merged, &line.error) {
        (Some(merged), _) => {
            println!(
                "{name}: {} merged, {} already known",
                merged.merged, merged.known
            );
        }
        (None, error) => {
            let error = error.as_deref().unwrap_or_default();
            eprintln!("{name}: {}", render::printable(error));
        }
    }
}

fn failure(problem: Problem) -> Failure {
    match problem {
        Problem::Journal(error) => error.into(),
        refused @ (Problem::Refused(_) | Problem::Missing(..)) => Failure::failed(refused),
    }
}
