//! What 10,000 machines come to: days of machines are played by the rules by which a daemon sends, at measured costs.
//! `just fleet scale::` prints the table of docs/fleet.md. It needs no servers.

use std::collections::BTreeMap;

use fastrand::Rng;

/// Machines, and what one of them does in a working day of eight hours.
const MACHINES: u64 = 10_000;
const EVENTS: u64 = 20_000;
const DAY_SECONDS: usize = 8 * 3_600;
/// Machines that are played; the others are like them.
const PLAYED: u64 = 200;
/// Events of a turn, and those that come in a second while an agent works.
const TURN_EVENTS: usize = 40;
const TURN_EVENTS_A_SECOND: usize = 2;
/// By which rules a daemon sends (`src/daemon/fleet/publisher.rs`).
const GATHER_SECONDS: u64 = 5;
const BACKLOG: u64 = 64;
const LOOK_SECONDS: u64 = 60;

/// Measured costs of a level.
struct Level {
    name: &'static str,
    /// Of a message in the stream, on one server: for itself, and for each event in it.
    message_bytes: f64,
    event_bytes: f64,
    /// Of an event on the collector's disk, packed.
    disk_bytes: f64,
    /// The part of a machine's events that is one for itself at the collector.
    kept: f64,
}

/// Measured as docs/fleet.md says.
const LEVELS: [Level; 3] = [
    Level {
        name: "decisions",
        message_bytes: 1_000.0,
        event_bytes: 2.0,
        disk_bytes: 150.0,
        kept: 0.1,
    },
    Level {
        name: "skeleton",
        message_bytes: 1_000.0,
        event_bytes: 60.0,
        disk_bytes: 150.0,
        kept: 1.0,
    },
    Level {
        name: "all",
        message_bytes: 1_000.0,
        event_bytes: 130.0,
        disk_bytes: 150.0,
        kept: 1.0,
    },
];
/// Events a second that a collector took in from a broker on the same two cores.
const TAKEN: f64 = 51_000.0;
/// A collector's memory for an event, of 10,000,001, at its most.
const MEMORY_BYTES: f64 = 62.0;

/// What was sent in a day: messages in all, and in each second.
#[derive(Default)]
struct Sent {
    messages: u64,
    events: u64,
    by_second: BTreeMap<usize, u64>,
}

/// Plays the day of a machine: turns with pauses between them, and a decision at the end of each.
fn play(dice: &mut Rng, sent: &mut Sent) {
    let turns = usize::try_from(EVENTS).expect("small") / TURN_EVENTS;
    let mut starts: Vec<_> = (0..turns).map(|_| dice.usize(..DAY_SECONDS)).collect();
    starts.sort_unstable();
    let mut by_second = BTreeMap::<usize, (u64, bool)>::new();
    for start in starts {
        let length = TURN_EVENTS.div_ceil(TURN_EVENTS_A_SECOND);
        for second in 0..length {
            let at = by_second.entry(start + second).or_default();
            at.0 += TURN_EVENTS_A_SECOND as u64;
            at.1 |= second + 1 == length;
        }
    }
    let (mut backlog, mut since) = (0, 0);
    let last = by_second.keys().next_back().copied().unwrap_or(0) + 10;
    for second in 0..last {
        let (events, is_decided) = by_second.get(&second).copied().unwrap_or_default();
        if backlog == 0 {
            since = second;
        }
        backlog += events;
        let is_due = is_decided || backlog >= BACKLOG || (second - since) as u64 >= GATHER_SECONDS;
        if backlog > 0 && is_due {
            sent.messages += 1;
            sent.events += backlog;
            *sent.by_second.entry(second).or_default() += 1;
            backlog = 0;
        }
    }
}

#[test]
fn ten_thousand_machines() {
    let (mut dice, mut sent) = (Rng::with_seed(0x5eed_0008), Sent::default());
    (0..PLAYED).for_each(|_| play(&mut dice, &mut sent));
    let share = (MACHINES / PLAYED) as f64;
    let messages = sent.messages as f64 * share;
    let events = sent.events as f64 * share;
    let most = sent.by_second.values().max().copied().unwrap_or(0) as f64 * share;
    let seconds = DAY_SECONDS as f64;
    println!("{MACHINES} machines, {EVENTS} events each in 8 hours");
    println!("  events a second        {:>10.0}", events / seconds);
    println!("  events in a message    {:>10.1}", events / messages);
    println!("  messages a second      {:>10.0}", messages / seconds);
    println!("  the most in a second   {most:>10.0}");
    println!(
        "  looks a second         {:>10.0}",
        2.0 * MACHINES as f64 / LOOK_SECONDS as f64
    );
    println!(
        "  level       stream GB a day  collector: events/s  of what it takes  disk GB a day  memory GB a day"
    );
    for level in LEVELS {
        let stream = messages * level.message_bytes + events * level.event_bytes;
        let kept = events * level.kept + messages;
        println!(
            "  {:10} {:>16.1} {:>20.0} {:>16.0}% {:>14.1} {:>16.1}",
            level.name,
            stream / 1e9,
            kept / seconds,
            100.0 * kept / seconds / TAKEN,
            kept * level.disk_bytes / 1e9,
            kept * MEMORY_BYTES / 1e9
        );
    }
    // All that was journaled is sent.
    assert_eq!(sent.events, PLAYED * EVENTS);
}
