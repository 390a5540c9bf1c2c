//! `journal append|export|import|verify|stats`; the rest is in `maintenance.rs`.

use std::io::{BufWriter, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};

use checkpoint::config::DescribedAgents;
use checkpoint::hooks::{Reading, normalize};
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use journal::recovery::verify::Verified;
use journal::{Draft, Home, Journal, Timestamp};
use parking_lot::Mutex;
use serde_json::Value;

use crate::cli::commands::{import, maintenance, sql, state, tail};
use crate::cli::shared::Output;
use crate::cli::text::print_json;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::cli::{complete, connection};
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Events, Query};
use crate::ops::views::Stats;
use crate::ops::wire::{self, HookLine};
use crate::render::{self, Table};

/// Read, query, verify, back up or export the journal
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd journal tail -f --project .\n  checkpointd journal export > events.ndjson\n  CHECKPOINTD_HOME=/tmp/copy checkpointd journal import < events.ndjson\n  checkpointd journal verify"
)]
pub(crate) struct JournalArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: JournalAction,
}

/// What to do with the journal.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalAction {
    Tail(tail::TailArgs),
    State(state::StateArgs),
    Sql(sql::SqlArgs),
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
        /// These are your own events: write progress documents and phase records where they say, and finish open deliveries
        #[arg(long)]
        own: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Check that the intake log and the store are complete and agree
    Verify {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Show the numbers of events and their sizes
    Stats {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Write a backup to one file; the daemon may be running
    #[command(
        after_help = "Examples:\n  checkpointd journal backup ~/backups\n  checkpointd journal backup today.backup"
    )]
    Backup {
        /// A new file, or a folder, in which the backup is named by the time
        to: PathBuf,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Replace the journal with a backup; without one, rebuild the store from the intake log
    #[command(
        after_help = "Examples:\n  checkpointd journal restore today.backup\n  checkpointd journal restore ~/backups --force\n  checkpointd journal restore"
    )]
    Restore {
        /// A backup, or a folder with backups, of which the newest is used
        from: Option<PathBuf>,
        /// Keep the current journal in another folder and replace it; without a backup, skip unreadable events
        #[arg(long)]
        force: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Remove the sessions that `lookback --import` added
    Forget {
        /// Required: only imported sessions can be removed
        #[arg(long, required = true)]
        imported: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Drop payloads older than `journal.retention`; events and decisions stay
    ///
    /// While no daemon runs, the store is also rewritten, which frees unused disk space. Hook calls wait in the
    /// spool meanwhile.
    Compact {
        /// Only show what would be dropped
        #[arg(long)]
        dry_run: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
}

/// Maximum number of lines that are sent to the daemon in one request.
const LINES_AT_ONCE: usize = 500;

pub(crate) fn run(home: &Home, args: JournalArgs) -> Result<u8> {
    match args.action {
        JournalAction::Tail(args) => tail::run(home, args),
        JournalAction::State(args) => state::run(home, args),
        JournalAction::Sql(args) => sql::run(home, &args),
        JournalAction::Append { output } => append(home, output.json),
        JournalAction::Export { from, session } => export(home, from, session),
        JournalAction::Import { own, output } => import::run(home, own, output),
        JournalAction::Verify { output } => verify(home, output),
        JournalAction::Stats { output } => stats(home, output),
        JournalAction::Backup { to, output } => maintenance::backup(home, &to, output),
        JournalAction::Restore {
            from,
            force,
            output,
        } => maintenance::restore(home, from.as_deref(), force, output),
        JournalAction::Forget { output, .. } => maintenance::forget(home, output),
        JournalAction::Compact { dry_run, output } => maintenance::compact(home, dry_run, output),
    }
}

fn append(home: &Home, json: bool) -> Result<u8> {
    let mut input = String::new();
    std::io::stdin()
        .read_to_string(&mut input)
        .map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))?;
    let answers = if connection::health(home).is_some() {
        append_by_daemon(home, &input)?
    } else {
        append_here(home, &input)?
    };
    let (mut appended, mut duplicates, mut wrong) = (0, 0, 0);
    for answer in &answers {
        if let Some(error) = answer["error"].as_str() {
            wrong += 1;
            if !json {
                eprintln!("line {}: {}", answer["line"], render::printable(error));
            }
        } else if answer["duplicate"] == true {
            duplicates += 1;
        } else {
            appended += 1;
        }
        if json {
            print_json(answer);
        }
    }
    if !json {
        println!("{appended} appended, {duplicates} already known, {wrong} refused");
    }
    Ok(exit::of(wrong == 0))
}

fn append_by_daemon(home: &Home, input: &str) -> Result<Vec<Value>> {
    let lines: Vec<_> = input.lines().collect();
    let mut answers = Vec::new();
    for (number, chunk) in lines.chunks(LINES_AT_ONCE).enumerate() {
        let body = connection::post(home, "/v1/append", chunk.join("\n").as_bytes())?;
        for line in String::from_utf8_lossy(&body).lines() {
            let mut answer: Value = serde_json::from_str(line).map_err(Failure::failed)?;
            let before = number * LINES_AT_ONCE;
            answer["line"] = (answer["line"].as_u64().unwrap_or(0) + before as u64).into();
            answers.push(answer);
        }
    }
    Ok(answers)
}

/// Without a daemon the journal is opened here; the next daemon settles what is open. Lines are read on threads of their
/// own while others are written, and those of one chunk are committed together.
fn append_here(home: &Home, input: &str) -> Result<Vec<Value>> {
    let config = settings::load(home)?;
    let journal = connection::opened(home)?;
    let payload_bytes_max =
        usize::try_from(config.settings.journal.payload_bytes_max.0).unwrap_or(usize::MAX);
    let reading = Reading {
        prefix: &config.settings.prefix.0,
        payload_bytes_max,
        redactor: &config.redactor,
        agents: &config.settings.agents,
    };
    let agents = &config.settings.agents;
    let lines: Vec<(usize, &str)> = input
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    let mut answers = Vec::with_capacity(lines.len());
    in_order(
        // Times are assigned in order, so that no line without a time is late.
        lines
            .chunks(LINES_AT_ONCE)
            .map(|chunk| (Timestamp::now(), chunk)),
        |(now, chunk)| {
            let read =
                |(number, text): &(usize, &str)| (*number, drafted(text, now, reading, agents));
            chunk.iter().map(read).collect()
        },
        |read: Vec<_>| answers.extend(append_together(&journal, read)),
    );
    journal.close();
    Ok(answers)
}

/// Returns the event of a line, or why it has none.
fn drafted(
    text: &str,
    now: Timestamp,
    reading: Reading<'_>,
    agents: &DescribedAgents,
) -> std::result::Result<Draft, String> {
    let line = HookLine::read(text)?;
    let headers = line.headers(now);
    let call = headers
        .with_payload(line.payload.get().as_bytes(), agents)
        .map_err(|error| error.to_string())?;
    Ok(normalize(&call, reading)?.draft)
}

/// Appends the events of some lines in one commit.
fn append_together(
    journal: &Journal,
    read: Vec<(usize, std::result::Result<Draft, String>)>,
) -> Vec<Value> {
    let mut drafts = Vec::with_capacity(read.len());
    let read: Vec<(usize, Option<String>)> = read
        .into_iter()
        .map(|(number, read)| (number, read.map(|draft| drafts.push(draft)).err()))
        .collect();
    let appended = journal.append_wait(drafts);
    let mut appended = match &appended {
        Ok(appended) => Ok(appended.iter()),
        Err(error) => Err(error.to_string()),
    };
    let mut outcome = |refused: Option<String>| match (refused, &mut appended) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(error.clone()),
        (None, Ok(appended)) => {
            let own = appended.next().expect("an answer for each event");
            Ok((own.seq, own.duplicate))
        }
    };
    read.into_iter()
        .map(|(number, refused)| wire::appended(number + 1, outcome(refused)))
        .collect()
}

/// Does `work` on all parts, on as many threads as there are processors, and gives what comes of them to `take` in order.
fn in_order<T: Send, R: Send>(
    parts: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R),
) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = Mutex::new(parts);
    let (sender, done) = sync_channel::<Receiver<R>>(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, parts, work) = (sender.clone(), &parts, &work);
            scope.spawn(move || {
                loop {
                    // The place in the order is taken with the part.
                    let (answer, place) = sync_channel(1);
                    let part = {
                        let mut parts = parts.lock();
                        let Some(part) = parts.next() else { return };
                        if sender.send(place).is_err() {
                            return;
                        }
                        part
                    };
                    if answer.send(work(part)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        done.iter()
            .filter_map(|place| place.recv().ok())
            .for_each(&mut take);
    });
}

fn export(home: &Home, from: u64, session: Option<String>) -> Result<u8> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut broken = None;
    connection::ask_json(
        home,
        &Query::Events(Events {
            from,
            session,
            payloads: true,
            export: true,
            ..Events::default()
        }),
        |line| {
            if broken.is_none() {
                broken = writeln!(out, "{}", render::json(&line)).err();
            }
        },
    )?;
    match broken.or_else(|| out.flush().err()) {
        Some(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit::OK),
    }
}

fn verify(home: &Home, output: Output) -> Result<u8> {
    let verified: Verified =
        connection::ask_one_with(home, &Query::VerifyJournal, progress("verifying"))?;
    progress_done();
    let ok = verified.ok;
    output.print(&verified, |verified| {
        for line in verified.repaired.iter().chain(&verified.problems) {
            println!("{}", render::printable(line));
        }
        let word = if ok { "whole" } else { "damaged" };
        println!(
            "{word}: {} in the store, {} in the intake log",
            render::count(verified.events, "event", "events"),
            verified.intake_events
        );
        if verified.payloads_dropped > 0 {
            println!(
                "{} dropped by age",
                render::count(verified.payloads_dropped, "payload was", "payloads were")
            );
        }
        if !ok {
            eprintln!(
                "hint: stop the daemon and start it again: it rebuilds the store from the intake log. If the log itself lacks events, restore a backup, or continue without them: `checkpointd journal restore --force`"
            );
        }
    });
    Ok(exit::of(ok))
}

fn stats(home: &Home, output: Output) -> Result<u8> {
    let stats: Stats = connection::ask_one(home, &Query::Stats)?;
    output.print(&stats, |stats| {
        println!(
            "{} of {}",
            render::count(stats.events, "event", "events"),
            render::count(stats.sessions, "session", "sessions")
        );
        println!(
            "{} store, {} intake log\n",
            render::bytes(stats.store_bytes),
            render::bytes(stats.intake_bytes)
        );
        let mut table = Table::new(["KIND", "EVENTS"]);
        for (kind, count) in &stats.kinds {
            table.row([kind.clone(), count.to_string()]);
        }
        table.print();
    });
    Ok(exit::OK)
}
