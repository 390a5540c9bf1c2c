//! What 10,000 machines come to: days of machines are played by the rules by which a daemon sends, at measured costs.
//! `just fleet scale::` prints the table of docs/fleet.md. What messages and accounts cost the servers is measured here, too;
//! what events cost a collector, by `cargo bench --bench fleet`.

use std::collections::BTreeMap;
use std::time::Instant;

use broker::server_config;
use fastrand::Rng;
use testkit::wait_until;

use crate::form::is_full;
use crate::machines::{Collector, Machine};
use crate::servers::Servers;
use crate::thief::{collector, joined};

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

fn has_sent(machine: &Machine) -> bool {
    let status = machine.status();
    status["daemon"]["fleet"]["sent"] == status["events"]
}

/// Has a machine send so many events as often. Returns the messages and bytes that a server then has more; where a run ends
/// by its numbers, there is one message more.
fn sends(servers: &Servers, machine: &mut Machine, times: u64, events: u64) -> (f64, f64) {
    let stored = || (servers.messages(), servers.stored("bytes"));
    let before = stored();
    for _ in 0..times {
        machine.calls_tools(events);
        wait_until(|| has_sent(machine));
    }
    let after = stored();
    ((after.0 - before.0) as f64, (after.1 - before.1) as f64)
}

#[test]
fn what_messages_cost_the_servers() {
    let (levels, times) = if is_full() {
        (&LEVELS[..], 100)
    } else {
        (&LEVELS[2..], 20)
    };
    for level in levels {
        let servers = Servers::open(3);
        let _collector = Collector::new(&servers.url());
        let mut machine = Machine::new("m", &servers.url(), level.name);
        machine.calls_tools(BACKLOG);
        wait_until(|| has_sent(&machine));
        let little = 4;
        let (one, of_little) = sends(&servers, &mut machine, 1, little);
        let (before, began) = (servers.costs().0, Instant::now());
        let (messages, bytes) = sends(&servers, &mut machine, times, BACKLOG);
        let (after, took) = (servers.costs().0, began.elapsed());
        // As long without messages: that is not their cost.
        std::thread::sleep(took);
        let spent = (after - before) - (servers.costs().0 - after);
        let events = (times * BACKLOG) as f64;
        let a_message = of_little / one;
        let an_event = (bytes - messages * a_message) / (events - messages * little as f64);
        println!(
            "{:10} {:.0} bytes for a message and {an_event:.0} for an event; {:.1} ms of a processor for a message of {:.0} events, on three servers",
            level.name,
            a_message - an_event * little as f64,
            1e3 * spent / messages,
            events / messages
        );
        let said = messages * level.message_bytes + events * level.event_bytes;
        assert!(bytes <= said, "{bytes}: the table says {said}");
    }
}

#[test]
fn what_accounts_cost_a_server() {
    let count = if is_full() { MACHINES } else { 300 };
    let mut servers = Servers::enrolled(1, &["m"]);
    let names: Vec<_> = (0..count).map(|number| format!("m-{number}")).collect();
    let names = names.iter().map(String::as_str).chain(["m"]);
    let text = server_config::accounts(1, names.map(|name| (name, 1)));
    let file = servers.operator().join("server-1/accounts.conf");
    std::fs::write(file, &text).expect("writes");
    servers.kill(0);
    let began = Instant::now();
    servers.start(0);
    let started = began.elapsed();
    let collector = collector(&servers);
    let mut machine = joined(&servers, "m", "all");
    machine.calls_tools(20);
    collector.waits_for(&machine);
    let memory = servers.costs().1;
    let began = Instant::now();
    servers.reload_once();
    let is_reloaded = || {
        let log = std::fs::read_to_string(servers.folder().join("0.log"));
        log.expect("a log")
            .contains("Reloaded server configuration")
    };
    wait_until(is_reloaded);
    println!(
        "{count} accounts: {:.1} MB of configuration, start {:.1} s, reload {:.1} s, memory {memory:.0} MB, after the reload {:.0} MB",
        text.len() as f64 / 1e6,
        started.as_secs_f64(),
        began.elapsed().as_secs_f64(),
        servers.costs().1
    );
    machine.calls_tools(20);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
}
