//! Deterministic simulation: runs that are drawn from a seed, with the invariants of ARCHITECTURE.md checked after
//! every step.
//!
//! Real: all actors between a hook call and its answer, on one thread with a paused clock, the normal form, the fold,
//! the rules, taking in the spool, and the journal with its threads, in files. Modeled: the agents with their hook
//! clients (`agents.rs`, `plan.rs`), and the moments at which the threads are done (`gates.rs` lets them finish between
//! two looks at the actors, so that a run is the same each time). A crash drops all actors where they stand and starts
//! others on the same journal; a process that is really killed, and a journal that is damaged, are other tests' subject.
//!
//! Terminals are simulated apart from the actors, and in memory (`typing.rs`), as tmux is too slow for many runs.
//!
//! `CHECKPOINTD_SIMULATE_SEEDS` is the number of seeds, `CHECKPOINTD_SIMULATE_FIRST` the first of them.

mod agents;
mod dice;
mod gates;
mod pane;
mod place;
mod plan;
mod rules;
mod typing;
mod world;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use place::Place;
use plan::{Act, Setup};
use rules::Broken;
use world::Run;

/// The default number of seeds for the actors. `just simulate`, which CI runs at night, takes five times as many.
const SEEDS: u64 = 2_000;
/// Seeds of typing that are run then; they need no journal.
const TYPING_SEEDS: u64 = 10_000;
/// Seeds that share a journal.
const SEEDS_A_PLACE: u64 = 100;

fn number(variable: &str, otherwise: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(otherwise, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}"))
    })
}

fn seeds_and_first(otherwise: u64) -> (u64, u64) {
    (
        number("CHECKPOINTD_SIMULATE_SEEDS", otherwise),
        number("CHECKPOINTD_SIMULATE_FIRST", 1),
    )
}

/// Says how to run a seed alone.
fn again(seed: u64) -> String {
    format!(
        "seed {seed} alone: CHECKPOINTD_SIMULATE_SEEDS=1 CHECKPOINTD_SIMULATE_FIRST={seed} cargo test --workspace --test simulation"
    )
}

#[test]
fn the_actors_keep_the_invariants() {
    let (seeds, first) = seeds_and_first(SEEDS);
    println!("seeds {first} to {}", first + seeds - 1);
    let began = std::time::Instant::now();
    let (next, events, failure) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(None));
    let failed = || {
        failure
            .lock()
            .expect("no thread panics while holding it")
            .is_some()
    };
    let work = |worker: usize| {
        keep_to_one_core(worker);
        while !failed() {
            let from = next.fetch_add(SEEDS_A_PLACE, Ordering::Relaxed);
            let to = seeds.min(from + SEEDS_A_PLACE);
            if from >= to {
                return;
            }
            match some_seeds(first + from..first + to) {
                Ok(count) => drop(events.fetch_add(count, Ordering::Relaxed)),
                Err(report) => {
                    *failure.lock().expect("no thread panics while holding it") = Some(report)
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..workers).for_each(|worker| drop(scope.spawn(move || work(worker))))
    });
    if let Some(report) = failure
        .into_inner()
        .expect("no thread panicked while holding it")
    {
        panic!("{report}");
    }
    println!(
        "{seeds} seeds, {} events, {:.1?}",
        events.into_inner(),
        began.elapsed()
    );
}

/// Keeps a worker, and all threads that it starts, on a core of its own. They take turns all the time, and waking one on
/// another core takes a virtual machine longer than all that it is woken for.
fn keep_to_one_core(worker: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(allowed) = sched_getaffinity(None) else {
            return;
        };
        let Some(core) = (0..CpuSet::MAX_CPU)
            .filter(|core| allowed.is_set(*core))
            .nth(worker)
        else {
            return;
        };
        let mut own = CpuSet::new();
        own.set(core);
        // Where it may not be chosen, it only takes longer.
        let _ = sched_setaffinity(None, &own);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = worker;
}

/// Runs some seeds in one place. Returns the number of their events, or a report.
fn some_seeds(seeds: std::ops::Range<u64>) -> Result<u64, String> {
    let place = Place::new();
    for seed in seeds.clone() {
        let (setup, acts) = plan::draw(seed);
        if let Run {
            broken: Some(broken),
            ..
        } = world::run(&place, seed, &setup, &acts)
        {
            return Err(report(seed, &setup, acts, broken));
        }
    }
    let events = place.journal.last_seq();
    place
        .check_after_reopening()
        .map_err(|broken| format!("seeds {seeds:?}: {broken}"))?;
    Ok(events)
}

/// Searches for the shortest plan that fails; `None` if the failure does not repeat.
fn shrink<A: Clone>(
    acts: &[A],
    step: usize,
    fails: impl Fn(&[A]) -> Option<(usize, Broken)>,
) -> Option<(Vec<A>, Broken)> {
    let all = &acts[..(step + 1).min(acts.len())];
    let (mut shortest, mut broken) = (all.to_vec(), fails(all)?.1);
    // From the end, so that what is taken out does not shift what is still to be tried.
    for index in (0..shortest.len()).rev() {
        let mut fewer = shortest.clone();
        fewer.remove(index);
        if let Some((_, other)) = fails(&fewer) {
            (shortest, broken) = (fewer, other);
        }
    }
    Some((shortest, broken))
}

/// Describes a seed that fails.
fn report(seed: u64, setup: &Setup, acts: Vec<Act>, (step, broken): (usize, Broken)) -> String {
    let shrunk = shrink(&acts, step, |acts| {
        world::run(&Place::new(), seed, setup, acts).broken
    });
    let (acts, broken) = shrunk.unwrap_or((
        acts,
        format!("{broken} (only after other seeds in the same journal)"),
    ));
    let run = world::run(&Place::new(), seed, setup, &acts);
    let mut text = format!(
        "seed {seed}: {broken}\n{}\n\n{}\n",
        again(seed),
        setup.config
    );
    for act in &acts {
        let _ = writeln!(text, "{act:?}");
    }
    text.push('\n');
    for envelope in run.events {
        let _ = writeln!(
            text,
            "{} {} {} {:?}",
            envelope.seq,
            envelope.at,
            envelope.stream.native(),
            envelope.event
        );
    }
    text
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    let story = |seed: u64| -> Vec<String> {
        let (setup, acts) = plan::draw(seed);
        let run = world::run(&Place::new(), seed, &setup, &acts);
        let line = |envelope: &journal::Envelope| {
            format!(
                "{} {} {} {}",
                envelope.seq,
                envelope.id,
                envelope.stream.native(),
                envelope.event.kind()
            )
        };
        run.events.iter().map(line).collect()
    };
    for seed in 1..=20 {
        assert_eq!(story(seed), story(seed), "seed {seed}");
    }
}

#[test]
fn a_checkpoint_is_typed_once_whatever_stands_in_the_pane() {
    let (seeds, first) = seeds_and_first(TYPING_SEEDS);
    let (began, mut outcomes) = (std::time::Instant::now(), BTreeMap::<String, u64>::new());
    for seed in first..first + seeds {
        let (clears, acts) = typing::draw(seed);
        match typing::run(clears, &acts) {
            Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
            Err((step, broken)) => {
                let shrunk = shrink(&acts, step, |acts| typing::run(clears, acts).err());
                let (acts, broken) = shrunk.unwrap_or((acts, broken));
                panic!(
                    "seed {seed}: {broken}\n{}\n\ndrafts are cleared: {clears}\n{acts:#?}",
                    again(seed)
                );
            }
        }
    }
    println!(
        "{seeds} seeds of typing, {:.1?}: {outcomes:#?}",
        began.elapsed()
    );
    // A run in which nothing is ever typed would break no rule.
    assert!(
        seeds < 100 || outcomes.contains_key("confirmed by prompt_hook"),
        "{outcomes:?}"
    );
}
