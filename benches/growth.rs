//! What grows with a journal, and what does not: start, memory, waking a session, a hook call, and the disk, for journals
//! from 1,000 to 1,000,000 events, as a table for `docs/performance.md`.
//!
//! `cargo bench --bench growth [-- --sessions-max N] [-- --rounds N]`. Targets: a start below 2 s with 1,000,000 events; a
//! session wakes in the same time whatever the journal's size; at most 1.3 bytes on the disk, compacted, for each
//! byte of the same events as plain lines of JSON.

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/generate.rs"]
mod generate;
#[path = "support/hooks.rs"]
mod hooks;
#[path = "support/measure.rs"]
mod measure;

use std::path::Path;
use std::time::Instant;

use daemon::{Daemon, run};
use journal::{Agent, Home, Journal, Options, codec};
use measure::{median, ms, option, title};

const SESSIONS: [usize; 4] = [10, 100, 1_000, 10_000];
/// Sessions that are woken, each for the first time.
const WOKEN: usize = 40;
const MB: f64 = 1024.0 * 1024.0;

fn main() {
    let (most, rounds) = (option("--sessions-max", 10_000), option("--rounds", 3));
    title(&format!(
        "journals of up to {} events, {rounds} rounds, medians",
        most * generate::SESSION_EVENTS
    ));
    println!(
        "| events | sessions | start | of processor | after kill -9 | memory | a session wakes | a hook call | raw | disk | compacted |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for sessions in SESSIONS.into_iter().filter(|sessions| *sessions <= most) {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        row(home.path(), sessions, rounds);
    }
}

fn row(home: &Path, sessions: usize, rounds: usize) {
    let (events, raw, names) = make(home, sessions);
    let [mut clean, mut spent, mut killed, mut memory] = [const { Vec::new() }; 4];
    for _ in 0..rounds {
        Daemon::start(home).0.stop();
        let (daemon, time) = Daemon::start(home);
        clean.push(ms(time));
        spent.push(ms(daemon.spent()));
        memory.push(daemon.memory().0);
        drop(daemon);
        let (daemon, time) = Daemon::start(home);
        killed.push(ms(time));
        daemon.stop();
    }
    let (daemon, _) = Daemon::start(home);
    let woken = names
        .iter()
        .step_by(names.len().div_ceil(WOKEN))
        .map(|name| {
            let began = Instant::now();
            let (status, _) = daemon
                .get(&format!("/v1/sessions/{name}"))
                .expect("an answer");
            assert_eq!(status, 200);
            ms(began.elapsed())
        });
    let woken = median(woken.collect());
    let client = [env!("CARGO_BIN_EXE_checkpointd-hook"), "claude"];
    let hook = hooks::compare(200, home, &client, &[hooks::BASELINE]).ratio();
    daemon.stop();
    let before = disk(home);
    run(home, &["journal", "compact", "--json"]);
    let after = disk(home);
    println!(
        "| {events} | {sessions} | {:.0} ms | {:.0} ms | {:.0} ms | {:.0} MB | {woken:.1} ms | {hook:.2} of `/bin/true` | {:.1} MB | {:.2} of it | {:.2} of it |",
        median(clean),
        median(spent),
        median(killed),
        median(memory),
        raw as f64 / MB,
        before as f64 / raw as f64,
        after as f64 / raw as f64,
    );
}

/// Makes a journal; returns its events, their bytes as the lines of an export, and the names of its sessions.
fn make(home: &Path, sessions: usize) -> (u64, usize, Vec<String>) {
    let (journal, _) =
        Journal::open(&Home::under(home).journal, Options::default()).expect("a journal");
    generate::fill(&journal, sessions);
    let raw = journal.events_from(1).map(|envelope| {
        let envelope = envelope.expect("an event");
        let payload = journal.kept_payload(envelope.seq).expect("it can be read");
        codec::to_export(&envelope, &payload).to_string().len() + 1
    });
    let raw = raw.sum();
    let sessions = journal.sessions().into_iter().map(|entry| entry.stream);
    // The daemon's own stream is not a session.
    let names = sessions
        .filter(|stream| stream.agent != Agent::Daemon)
        .map(|stream| stream.session.to_string());
    let names = names.collect();
    let events = journal.last_seq();
    journal.close();
    (events, raw, names)
}

/// Returns the bytes that a home's journal takes, as the file system counts them.
fn disk(home: &Path) -> u64 {
    fn below(folder: &Path) -> u64 {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| match entry.metadata() {
                Ok(meta) if meta.is_dir() => below(&entry.path()),
                Ok(meta) => std::os::unix::fs::MetadataExt::blocks(&meta) * 512,
                Err(_) => 0,
            })
            .sum()
    }
    below(&Home::under(home).journal)
}
