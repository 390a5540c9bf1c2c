//! `kill -9` of the daemon and of clients under concurrent load. `CHECKPOINTD_KILL_ROUNDS` makes it long.

use std::collections::HashSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP};

/// Clients at the same time, each a session of its own in every round.
const CLIENTS: u64 = 4;
/// Calls of a client in a round, a stop after them.
pub(crate) const CALLS: u64 = 15;
/// The journal is proved whole after so many rounds, and at the end.
const VERIFY_EVERY: u64 = 50;

/// What a test counts; printed at its end.
#[derive(Debug, Default)]
struct Figures {
    rounds: u64,
    acked: u64,
    clients_killed: u64,
    lost: u64,
    doubled: u64,
    out_of_order: u64,
    double_decisions: u64,
    double_deliveries: u64,
    slowest_start: Duration,
}

/// Calls a hook, and now and then kills the client in it. Returns whether it was acknowledged.
fn call(daemon: &Daemon, event: &str, payload: &Value, random: &mut Rng) -> bool {
    if random.u64(..10) > 0 {
        daemon.hook(&["claude", event], payload.to_string().as_bytes());
        return true;
    }
    let mut client = daemon.home.client(&["claude", event]);
    let mut client = client
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut input = client.stdin.take().expect("a pipe");
    let _ = std::io::Write::write_all(&mut input, payload.to_string().as_bytes());
    drop(input);
    std::thread::sleep(Duration::from_micros(random.u64(..4_000)));
    let _ = client.kill();
    client.wait().expect("it ends").success()
}

/// Returns a client's call with this number, and its event: a prompt, tool calls, at [`CALLS`] a stop.
pub(crate) fn hook_call(session: &str, number: u64) -> (&'static str, Value) {
    let id = format!("{session}-{number:03}");
    let mut payload = json!({ "session_id": session, "cwd": "/p", "prompt_id": "p" });
    let (event, more) = match number {
        0 => ("UserPromptSubmit", json!({ "prompt": id })),
        CALLS => ("Stop", json!({ "stop_hook_active": false })),
        _ => (
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": id }, "tool_response": {} }),
        ),
    };
    payload["hook_event_name"] = json!(event);
    for (key, value) in more.as_object().expect("an object") {
        payload[key] = value.clone();
    }
    (event, payload)
}

/// Returns the number of the call that an event of a session came from.
pub(crate) fn number_of(line: &Value, session: &str) -> Option<u64> {
    match line["kind"].as_str()? {
        "prompt_submitted" => Some(0),
        "agent_stopped" => Some(CALLS),
        _ => line["call"]["id"]
            .as_str()?
            .strip_prefix(session)?
            .strip_prefix('-')?
            .parse()
            .ok(),
    }
}

/// One client's calls. Returns the numbers of those that were acknowledged.
fn work(daemon: &Daemon, session: &str, mut random: Rng) -> (Vec<u64>, u64) {
    let (mut acked, mut killed) = (Vec::new(), 0);
    for number in 0..=CALLS {
        let (event, payload) = hook_call(session, number);
        match call(daemon, event, &payload, &mut random) {
            true => acked.push(number),
            false => killed += 1,
        }
    }
    (acked, killed)
}

/// Counts what is wrong with a session's events.
fn examine(lines: &[Value], session: &str, acked: &[u64], figures: &mut Figures) {
    let number = |line: &Value| number_of(line, session);
    let seen: Vec<u64> = lines.iter().filter_map(number).collect();
    let once: HashSet<u64> = seen.iter().copied().collect();
    figures.acked += acked.len() as u64;
    figures.lost += acked.iter().filter(|number| !once.contains(number)).count() as u64;
    figures.doubled += (seen.len() - once.len()) as u64;
    // Of a call whose client was killed, nobody knows when it ended.
    let ended: Vec<u64> = seen
        .into_iter()
        .filter(|number| acked.contains(number))
        .collect();
    figures.out_of_order += ended.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64;
    let doubled = |kind: &str, fields: [&str; 2]| {
        let of_kind = lines.iter().filter(|line| line["kind"] == kind);
        let keys: Vec<String> = of_kind
            .map(|line| format!("{} {}", line[fields[0]], line[fields[1]]))
            .collect();
        (keys.len() - keys.iter().collect::<HashSet<_>>().len()) as u64
    };
    figures.double_decisions += doubled("decided", ["trigger", "trigger"]);
    figures.double_deliveries += doubled("delivery_attempted", ["decision", "attempt"]);
    figures.double_deliveries += doubled("delivery_confirmed", ["decision", "decision"]);
}

#[test]
fn random_kills_under_load_lose_nothing_and_double_nothing() {
    let rounds = std::env::var("CHECKPOINTD_KILL_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(6);
    let seed = std::env::var("CHECKPOINTD_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 2_654_435_761 + 1);
    println!("CHECKPOINTD_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let mut daemon = Daemon::with(EVERY_STOP);
    let mut figures = Figures::default();
    for round in 0..rounds {
        let seeds: Vec<_> = (0..CLIENTS).map(|_| random.u64(..)).collect();
        let pause = Duration::from_millis(20 + random.u64(..120));
        let worked: Vec<(Vec<u64>, u64)> = std::thread::scope(|scope| {
            let daemon = &daemon;
            let start = |(client, seed): (usize, u64)| {
                scope.spawn(move || {
                    work(daemon, &format!("s{round}-{client}"), Rng::with_seed(seed))
                })
            };
            let workers: Vec<_> = seeds.into_iter().enumerate().map(start).collect();
            std::thread::sleep(pause);
            let killed = Command::new("kill")
                .args(["-9", &daemon.pid().to_string()])
                .status()
                .expect("kill runs");
            assert!(killed.success());
            workers
                .into_iter()
                .map(|worker| worker.join().expect("no panic"))
                .collect()
        });
        daemon.kill();
        let began = Instant::now();
        daemon.start();
        let took = began.elapsed();
        figures.slowest_start = figures.slowest_start.max(took);
        for (client, (acked, killed)) in worked.iter().enumerate() {
            let session = format!("s{round}-{client}");
            let (code, lines) = daemon.ask_code(&["timeline", &session, "--json"]);
            let lines = if code == 0 { lines } else { Vec::new() };
            examine(&lines, &session, acked, &mut figures);
            figures.clients_killed += killed;
        }
        figures.rounds += 1;
        let wrong = [
            figures.lost,
            figures.doubled,
            figures.out_of_order,
            figures.double_decisions,
            figures.double_deliveries,
        ];
        assert_eq!(wrong, [0; 5], "round {round} of seed {seed}: {figures:?}");
        if (round + 1) % VERIFY_EVERY == 0 {
            daemon.verify();
            println!("{figures:?}");
        }
    }
    daemon.verify();
    println!("{figures:?}");
}
