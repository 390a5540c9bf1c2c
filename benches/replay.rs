//! How fast history can be proved: `replay --verify` over a journal of 200,000 events, 2,000 sessions and 10,000
//! decisions, as a process of its own and asked of the daemon, on all cores and on one, next to a bare pass over the same
//! events.
//!
//! `cargo bench --bench replay [-- --sessions N] [-- --rounds N]`. Target: 200,000 events a second on one core,
//! every decision the same.

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/generate.rs"]
mod generate;
#[path = "support/measure.rs"]
mod measure;

use std::path::Path;
use std::time::{Duration, Instant};

use daemon::{Daemon, processor, run};
use journal::{Home, Journal, Options};
use measure::{median, ms, option, title};

/// As the daemon has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let (sessions, rounds) = (option("--sessions", 2_000), option("--rounds", 7));
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let began = Instant::now();
    let (events, decisions) = make(home.path(), sessions);
    let making = began.elapsed();
    title(&format!(
        "{events} events, {sessions} sessions, {decisions} decisions (made in {:.1} s)",
        making.as_secs_f64()
    ));
    println!(
        "  {:46} {:>20} {:>20} {:>11}",
        "", "clock", "processor", "of the bare pass"
    );
    measure(home.path(), events, decisions, rounds);
    #[cfg(target_os = "linux")]
    {
        stay_on_one_core();
        println!("  all on one core:");
        measure(home.path(), events, decisions, rounds);
    }
}

/// Holds this process, and whatever it starts from here on.
#[cfg(target_os = "linux")]
fn stay_on_one_core() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let cores = sched_getaffinity(None).expect("the cores that may be used");
    let mut one = CpuSet::new();
    one.set(
        (0..CpuSet::MAX_CPU)
            .rfind(|core| cores.is_set(*core))
            .expect("a core"),
    );
    sched_setaffinity(None, &one).expect("one core");
}

fn measure(home: &Path, events: u64, decisions: usize, rounds: usize) {
    let [mut bare, mut alone, mut asked] = [const { (Vec::new(), Vec::new()) }; 3];
    let (mut alone_to_bare, mut asked_to_bare, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let verify = || run(home, &["replay", "--verify", "--json"]);
        let ((), pass, pass_spent) = timed(|| bare_pass(home, events));
        let (answer, own, own_spent) = timed(verify);
        check(&answer, decisions);
        let (daemon, _) = Daemon::start(home);
        let before = daemon.spent();
        let (answer, through, client_spent) = timed(verify);
        check(&answer, decisions);
        let through_spent = daemon.spent() - before + client_spent;
        memory.push(daemon.memory().1);
        daemon.stop();
        for (times, (time, spent)) in [
            (&mut bare, (pass, pass_spent)),
            (&mut alone, (own, own_spent)),
            (&mut asked, (through, through_spent)),
        ] {
            times.0.push(ms(time));
            times.1.push(ms(spent));
        }
        alone_to_bare.push(ms(own_spent) / ms(pass_spent));
        asked_to_bare.push(ms(through_spent) / ms(pass_spent));
    }
    let line = |what: &str, (clock, spent): (Vec<f64>, Vec<f64>), ratio: f64| {
        let (clock, spent) = (median(clock), median(spent));
        let [by_clock, by_processor] = [clock, spent].map(|time| events as f64 / time * 1e3);
        println!(
            "  {what:46} {clock:6.0} ms {by_clock:8.0}/s {spent:6.0} ms {by_processor:8.0}/s {ratio:11.2}"
        );
    };
    line("bare pass: open, read and decode every event", bare, 1.0);
    line(
        "replay --verify, no daemon (whole process)",
        alone,
        median(alone_to_bare),
    );
    line(
        "replay --verify, asked of the daemon",
        asked,
        median(asked_to_bare),
    );
    println!(
        "  the daemon's memory is at most {:.0} MB then",
        median(memory)
    );
}

fn make(home: &Path, sessions: usize) -> (u64, usize) {
    let (journal, _) =
        Journal::open(&Home::under(home).journal, Options::default()).expect("a journal");
    let decisions = generate::fill(&journal, sessions);
    let events = journal.last_seq();
    journal.close();
    assert_eq!(decisions, sessions * generate::TURNS);
    (events, decisions)
}

fn bare_pass(home: &Path, events: u64) {
    let (journal, _) =
        Journal::open(&Home::under(home).journal, Options::default()).expect("a journal");
    let read = journal
        .history(1..=events, |_| true)
        .expect("readable")
        .filter(Result::is_ok)
        .count();
    journal.close();
    assert!(read as u64 >= events);
}

/// Every decision came out as it was.
fn check(answer: &str, decisions: usize) {
    let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
    assert_eq!(answer["decisions"], decisions);
    assert_eq!(answer["matched"], decisions, "{}", answer["mismatched"][0]);
}

/// Runs something, and returns what it gave and what it took: by the clock, and of the processor, children included.
fn timed<T>(body: impl FnOnce() -> T) -> (T, Duration, Duration) {
    let used = || processor("/proc/self/stat").iter().sum::<Duration>();
    let (before, began) = (used(), Instant::now());
    let value = body();
    (value, began.elapsed(), used() - before)
}
