//! How soon the daemon takes hooks with 200,000 events in its journal, and how much memory it uses: after a clean stop
//! and after a kill, with an empty journal as the peer; and what is left of it after it has served large questions.
//!
//! `cargo bench --bench startup [-- --sessions N] [-- --rounds N]`. Targets: 1.5 s, 120 MB.

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/generate.rs"]
mod generate;
#[path = "support/measure.rs"]
mod measure;

use std::path::Path;
use std::time::Instant;

use daemon::{Daemon, run};
use journal::{Home, Journal, Options};
use measure::{median, ms, option, title};

/// How the daemon ended before it is started.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Clean,
    Killed,
}

fn main() {
    let (sessions, rounds) = (option("--sessions", 2_000), option("--rounds", 7));
    let folder = || tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (empty, full) = (folder(), folder());
    let (journal, _) =
        Journal::open(&Home::under(full.path()).journal, Options::default()).expect("a journal");
    generate::fill(&journal, sessions);
    let events = journal.last_seq();
    assert_eq!(events as usize, sessions * generate::SESSION_EVENTS + 1);
    journal.close();
    drop(journal);

    title(&format!(
        "daemon ready with {events} events of {sessions} sessions, {rounds} rounds, medians"
    ));
    let ends = [
        (End::Clean, "after a clean stop"),
        (End::Killed, "after kill -9"),
    ];
    for (end, what) in ends {
        let [mut times, mut spent, mut ratios, mut resident, mut most] = [const { Vec::new() }; 5];
        for _ in 0..rounds {
            let [peer, ..] = start_once(empty.path(), end);
            let [time, processor, rss, peak] = start_once(full.path(), end);
            ratios.push(time / peer);
            spent.push(processor);
            times.push(time);
            resident.push(rss);
            most.push(peak);
        }
        let (time, spent, ratio) = (median(times), median(spent), median(ratios));
        let (resident, most) = (median(resident), median(most));
        println!(
            "  {what:18} {time:5.0} ms by the clock ({ratio:.1} of an empty journal), {spent:.0} ms of processor"
        );
        println!("  {:18} {resident:5.0} MB, at most {most:.0} MB", "");
    }
    serve(full.path());
}

/// Starts a daemon whose forerunner ended so; returns milliseconds by the clock and of processor, and MB of memory now
/// and at most.
fn start_once(home: &Path, end: End) -> [f64; 4] {
    let (before, _) = Daemon::start(home);
    match end {
        End::Clean => {
            before.stop();
        }
        End::Killed => drop(before),
    }
    let (daemon, time) = Daemon::start(home);
    let (rss, peak) = daemon.memory();
    [ms(time), ms(daemon.spent()), rss, peak]
}

/// Asks for all there is, and shows what it leaves in memory.
fn serve(home: &Path) {
    let (daemon, _) = Daemon::start(home);
    let questions: [&[&str]; 5] = [
        &["status", "--json"],
        &["sessions", "--json"],
        &["audit", "--json"],
        &["replay", "--verify", "--json"],
        &["journal", "verify", "--json"],
    ];
    for question in questions {
        let began = Instant::now();
        let answer = run(home, question);
        let time = ms(began.elapsed());
        let (rss, peak) = daemon.memory();
        let (bytes, question) = (answer.len() / 1024, question.join(" "));
        println!(
            "  then `{question}`: {time:.0} ms, {bytes} KB; {rss:.0} MB, at most {peak:.0} MB"
        );
    }
    println!("  a clean stop takes {:.0} ms", ms(daemon.stop()));
}
