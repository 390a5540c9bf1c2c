//! The real agents, from npm and PyPI, against a scripted model: what they do with checkpointd's hooks and checkpoints.
//!
//! `tests/agents/run.sh` installs the agents and starts this in a network of its own, in which there is nothing but
//! loopback. Arguments are words; only scenarios with one of them in their name, or of an agent so named, are run.

mod agent;
mod model;
mod notify;
mod opencode;
mod programs;
mod progress;
mod scenarios;
mod stage;
mod terminal;
mod tried;
mod typed;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use agent::Agent;
use stage::Counts;

/// How many agents play at the same time.
const AT_ONCE: usize = 4;

/// What came of one agent's scenarios.
#[derive(Default)]
struct Tally {
    scenarios: usize,
    failed: usize,
    counts: Counts,
}

fn main() -> ExitCode {
    if std::env::var_os(agent::PROGRAMS).is_none() || !is_alone() {
        eprintln!(
            "run tests/agents/run.sh: it installs the agents, and takes the network away from them"
        );
        return ExitCode::FAILURE;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let began = Instant::now();
    let tallies = play_all(&words);
    println!("\nagent    scenarios  failed  runs  hook events  decisions  checkpoints delivered");
    for (
        agent,
        Tally {
            scenarios,
            failed,
            counts,
        },
    ) in &tallies
    {
        let Counts {
            runs,
            hooks,
            decisions,
            delivered,
        } = counts;
        let name = agent.name();
        println!(
            "{name:<8} {scenarios:>9}  {failed:>6}  {runs:>4}  {hooks:>11}  {decisions:>9}  {delivered:>21}"
        );
    }
    println!("{:.0} s", began.elapsed().as_secs_f64());
    let is_good = tallies.iter().all(|(_, tally)| tally.failed == 0);
    let any = tallies.iter().any(|(_, tally)| tally.scenarios > 0);
    if is_good && any {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns whether there is no network but loopback, so that no agent can call anybody.
fn is_alone() -> bool {
    let devices = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let mut names = devices
        .lines()
        .skip(2)
        .filter_map(|line| line.split(':').next())
        .map(str::trim);
    names.all(|name| name == "lo")
}

/// Plays the scenarios of all agents, a few agents at a time.
///
/// Agents do not meet, because each has its own homes. But each start of one takes seconds of a processor, and their waits
/// are limited.
fn play_all(words: &[String]) -> Vec<(Agent, Tally)> {
    let waiting = Mutex::new(Agent::ALL.into_iter());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let next = || waiting.lock().expect("panics are caught inside").next();
                while let Some(agent) = next() {
                    let tally = play(agent, words);
                    done.lock()
                        .expect("panics are caught inside")
                        .push((agent, tally));
                }
            });
        }
    });
    let mut tallies = done.into_inner().expect("panics are caught inside");
    tallies.sort_by_key(|(agent, _)| Agent::ALL.iter().position(|other| other == agent));
    tallies
}

fn play(agent: Agent, words: &[String]) -> Tally {
    let mut tally = Tally::default();
    let is_all = std::env::var_os("CHECKPOINTD_AGENTS_ALL").is_some();
    let wanted = |name: &str| {
        (words.is_empty() && (is_all || tried::is_short(agent, name)))
            || words
                .iter()
                .any(|word| name.contains(word) || agent.name() == word)
    };
    // One from PyPI may be left out.
    if !agent::programs().join(agent.name()).exists() {
        println!("{agent:?} is not installed: SKIPPED");
        return tally;
    }
    for (name, scenario) in tried::of(agent)
        .into_iter()
        .filter(|(name, _)| wanted(name))
    {
        let began = Instant::now();
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| scenario(agent)));
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!(
            "{:<8} {name:<66} {word:<6} {:>5.1} s",
            agent.name(),
            began.elapsed().as_secs_f64()
        );
        tally.scenarios += 1;
        match outcome {
            Ok(counts) => tally.counts.add(counts),
            Err(_) => tally.failed += 1,
        }
    }
    tally
}
