//! System calls that fail, in the real daemon and the real client: the Nth write, fsync, rename, open and so on gets
//! an errno from the system, for every N until a session runs without meeting it.
//!
//! The short form takes some N of each; `CHECKPOINTD_FAULTS=all` takes all of them. N counts within each thread.

mod disk;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::kills::{CALLS, hook_call, number_of};
use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::strace::Trace;
use crate::support::{Home, run, wait_until, wait_until_or};

/// How long a hook call may take: the wait that a stop is given here, and a slow machine's time on top.
const HOOK_LIMIT: Duration = Duration::from_secs(30);
/// What a stop waits at most in these tests.
const STOP_WAIT: &str = "3000";
/// More than the daemon has threads that journal.
const LATER_STOPS: u32 = 8;
/// System calls that fail in the daemon. Renames and removals have several names; those that a machine does not know
/// are passed over.
const DAEMON_CALLS: [&str; 10] = [
    "pwrite64",
    "fdatasync",
    "fsync",
    "ftruncate",
    "openat",
    "?rename,?renameat,?renameat2",
    "?mkdir,?mkdirat",
    "?unlink,?unlinkat",
    "sync_file_range",
    "pread64",
];
/// System calls that fail in the client.
const CLIENT_CALLS: [&str; 8] = [
    "write",
    "fdatasync",
    "fsync",
    "?open,openat",
    "?rename,?renameat,?renameat2",
    "?mkdir,?mkdirat",
    "?connect",
    "?socket",
];
const ERRNOS: [&str; 3] = ["ENOSPC", "EIO", "EACCES"];

/// One kind of failing call.
#[derive(Clone, Debug)]
struct Fault {
    calls: &'static str,
    errno: &'static str,
    /// The first that fails.
    nth: u32,
    /// All after it fail too.
    lasting: bool,
}

impl Fault {
    fn option(&self) -> String {
        let lasting = if self.lasting { "+" } else { "" };
        format!(
            "inject={}:error={}:when={}{lasting}",
            self.calls, self.errno, self.nth
        )
    }

    fn trace(&self) -> String {
        format!("trace={}", self.calls)
    }
}

/// What a row of the table counts.
#[derive(Debug, Default)]
struct Row {
    runs: u32,
    /// System calls that failed.
    hits: usize,
    /// Starts that were refused because of it.
    no_start: u32,
    /// Calls acknowledged.
    acked: u64,
    /// Acknowledged calls that were not in the journal afterward.
    lost: u64,
    /// The longest hook call.
    slowest: Duration,
}

fn print(title: &str, rows: &BTreeMap<String, Row>) {
    println!(
        "{title:<44} {:>5} {:>6} {:>8} {:>6} {:>5} {:>9}",
        "runs", "faults", "no start", "acked", "lost", "slowest"
    );
    for (
        name,
        Row {
            runs,
            hits,
            no_start,
            acked,
            lost,
            slowest,
        },
    ) in rows
    {
        println!(
            "{name:<44} {runs:>5} {hits:>6} {no_start:>8} {acked:>6} {lost:>5} {:>6} ms",
            slowest.as_millis()
        );
    }
}

/// Is this the long form?
fn is_long() -> bool {
    std::env::var("CHECKPOINTD_FAULTS").is_ok_and(|value| value == "all")
}

/// Calls a hook, and returns how long that took. It exits 0 with nothing or one JSON object, whatever happens.
fn call(command: &mut Command, payload: &Value, what: &dyn std::fmt::Debug) -> Duration {
    let began = Instant::now();
    command
        .env("CHECKPOINTD_STOP_WAIT_MS", STOP_WAIT)
        .env_remove("CHECKPOINTD_PLAIN_WAIT_MS");
    let output = run(command, payload.to_string().as_bytes());
    let took = began.elapsed();
    assert!(took < HOOK_LIMIT, "{what:?}: a hook call took {took:?}");
    assert_eq!(output.status.code(), Some(0), "{what:?}");
    if !output.stdout.is_empty() {
        let reply: Value =
            serde_json::from_slice(&output.stdout).expect("nothing or one JSON object");
        assert!(reply.is_object(), "{what:?}: {reply}");
    }
    took
}

/// Plays a session, and returns the longest call.
fn play(daemon: &Daemon, session: &str, what: &dyn std::fmt::Debug) -> Duration {
    let calls = (0..=CALLS).map(|number| {
        let (event, payload) = hook_call(session, number);
        call(&mut daemon.home.client(&["claude", event]), &payload, what)
    });
    calls.max().unwrap_or_default()
}

/// Counts a session's calls that are not in the journal exactly once.
fn missing(daemon: &Daemon, session: &str) -> u64 {
    let (_, lines) = daemon.ask_code(&["timeline", session, "--json"]);
    let times = |number| {
        lines
            .iter()
            .filter(|line| number_of(line, session) == Some(number))
            .count()
    };
    (0..=CALLS).filter(|number| times(*number) != 1).count() as u64
}

/// What `status` says is not as it should be.
fn degraded(daemon: &Daemon) -> Vec<Value> {
    let (_, lines) = daemon.ask_code(&["status", "--json"]);
    lines
        .first()
        .and_then(|status| status["daemon"]["degraded"].as_array().cloned())
        .unwrap_or_default()
}

/// Plays one more session, none of whose calls may be missing. Returns whether its stop was decided about.
fn decides(daemon: &Daemon, number: u32, fault: &Fault) -> bool {
    let session = format!("after-{number}");
    play(daemon, &session, fault);
    wait_until(|| daemon.home.waiting() == 0);
    assert_eq!(missing(daemon, &session), 0, "{fault:?}: {}", daemon.log());
    let (_, audit) = daemon.ask_code(&["audit", "--session", &session, "--json"]);
    assert!(audit.len() < 2, "{fault:?}: {audit:?}");
    audit.len() == 1
}

/// One session with a fault in the daemon, then a start without. Returns whether the fault was met.
fn daemon_round(fault: &Fault, row: &mut Row) -> bool {
    let home = Home::new();
    std::fs::write(home.path().join("config.yml"), EVERY_STOP).expect("writes");
    let mut daemon = Daemon::at(home);
    play(&daemon, "before", fault);
    daemon.kill();
    play(&daemon, "spooled", fault);
    let trace = Trace::to(daemon.home.path().join("trace"));
    let came_up =
        daemon.start_under(&trace.command(&["-e", &fault.trace(), "-e", &fault.option()]));
    row.slowest = row.slowest.max(play(&daemon, "during", fault));
    if came_up && !fault.lasting {
        // It must not refuse for ever because of what is over: spooled calls are taken in, and a stop is decided about.
        wait_until_or(
            || daemon.home.waiting() == 0 && degraded(&daemon).is_empty(),
            || {
                let state = (daemon.home.waiting(), degraded(&daemon));
                format!("{fault:?}: {state:?}: {}", daemon.log())
            },
        );
        // strace counts the calls of each thread, so a thread may still meet its fault, once, at a later stop.
        let is_decided = (0..LATER_STOPS).any(|number| decides(&daemon, number, fault));
        assert!(
            is_decided,
            "{fault:?}: a stop is decided about again: {}",
            daemon.log()
        );
    }
    daemon.kill();
    let log = daemon.log();
    assert!(!log.contains("panicked"), "{fault:?}: {log}");
    let hits = trace.finished().matches("(INJECTED)").count();
    daemon.start();
    wait_until(|| daemon.home.waiting() == 0);
    assert_eq!(degraded(&daemon), Vec::<Value>::new(), "{fault:?}");
    for session in ["before", "spooled", "during"] {
        row.acked += CALLS + 1;
        row.lost += missing(&daemon, session);
    }
    daemon.verify();
    row.runs += 1;
    row.hits += hits;
    row.no_start += u32::from(!came_up);
    hits > 0
}

/// One session with a fault in each client. Returns whether the fault was met.
fn client_round(fault: &Fault, with_daemon: bool, row: &mut Row) -> bool {
    let mut daemon = Daemon::with(EVERY_STOP);
    if !with_daemon {
        daemon.kill();
    }
    let mut hits = 0;
    for number in 0..=CALLS {
        let (event, payload) = hook_call("s", number);
        let trace = Trace::to(daemon.home.path().join(format!("trace-{number}")));
        let words = trace.command(&["-e", &fault.trace(), "-e", &fault.option()]);
        let mut command = daemon.home.command(&words[0], &[]);
        command
            .args(&words[1..])
            .arg(env!("CARGO_BIN_EXE_checkpointd-hook"))
            .args(["claude", event]);
        row.slowest = row.slowest.max(call(&mut command, &payload, fault));
        hits += trace.finished().matches("(INJECTED)").count();
    }
    // What a client could neither deliver nor keep is lost, and nothing else suffers.
    if !with_daemon {
        daemon.start();
    }
    wait_until(|| daemon.home.waiting() == 0);
    let gone = missing(&daemon, "s");
    daemon.verify();
    row.runs += 1;
    row.hits += hits;
    row.acked += CALLS + 1;
    row.lost += gone;
    hits > 0
}

/// Tries N after N until a run does not meet the fault; in the short form only some of them.
fn all_n(short: &[u32], mut round: impl FnMut(u32) -> bool) {
    if is_long() {
        let _ = (1..).find(|nth| !round(*nth));
    } else {
        for nth in short {
            round(*nth);
        }
    }
}

/// Returns the calls with one of the words of `CHECKPOINTD_FAULTS_ONLY` in them; all without words.
fn chosen(calls: &[&'static str]) -> Vec<&'static str> {
    let only = only();
    let is_chosen =
        |calls: &&&str| only.is_empty() || only.iter().any(|word| calls.contains(word.as_str()));
    calls.iter().filter(is_chosen).copied().collect()
}

fn only() -> Vec<String> {
    let words = std::env::var("CHECKPOINTD_FAULTS_ONLY").unwrap_or_default();
    let known = || DAEMON_CALLS.iter().chain(&CLIENT_CALLS);
    let words = words.split_whitespace().map(|word| {
        let is_known = known().any(|calls| calls.contains(word));
        assert!(is_known, "no such system call is made to fail: {word}");
        word.to_string()
    });
    words.collect()
}

#[test]
fn system_calls_that_fail_in_the_daemon_cost_nothing_that_was_acknowledged() {
    let mut rows = BTreeMap::new();
    for calls in chosen(&DAEMON_CALLS) {
        for (index, errno) in ERRNOS.into_iter().enumerate() {
            for lasting in [false, true] {
                let name = format!(
                    "{} {errno} {}",
                    calls.replace('?', ""),
                    if lasting { "from N on" } else { "Nth" }
                );
                let row = rows.entry(name.clone()).or_insert_with(Row::default);
                // In the short form each call fails with one errno once, early or late, and with another one for good.
                let short = match (index == usize::from(lasting), lasting) {
                    (true, false) => &[1][..],
                    (true, true) => &[3],
                    _ => &[],
                };
                all_n(short, |nth| {
                    daemon_round(
                        &Fault {
                            calls,
                            errno,
                            nth,
                            lasting,
                        },
                        row,
                    )
                });
                // The table comes after an hour or two.
                if is_long() {
                    println!("{name}: {row:?}");
                }
            }
        }
    }
    rows.retain(|_, row| row.runs > 0);
    print("daemon", &rows);
    assert_eq!(rows.values().map(|row| row.lost).sum::<u64>(), 0);
    assert!(
        !only().is_empty() || rows.values().map(|row| row.hits).sum::<usize>() > 10,
        "the faults were hardly met"
    );
}

#[test]
fn system_calls_that_fail_in_a_client_hurt_neither_its_host_nor_anything_else() {
    let mut rows = BTreeMap::new();
    for with_daemon in [true, false] {
        for calls in chosen(&CLIENT_CALLS) {
            for (index, errno) in ERRNOS.into_iter().enumerate() {
                let place = if with_daemon {
                    "daemon there"
                } else {
                    "no daemon"
                };
                let row = rows
                    .entry(format!("{} {errno}, {place}", calls.replace('?', "")))
                    .or_insert_with(Row::default);
                let short = if index == usize::from(with_daemon) {
                    &[1][..]
                } else {
                    &[]
                };
                all_n(short, |nth| {
                    client_round(
                        &Fault {
                            calls,
                            errno,
                            nth,
                            lasting: false,
                        },
                        with_daemon,
                        row,
                    )
                });
            }
        }
    }
    rows.retain(|_, row| row.runs > 0);
    print("client", &rows);
    let lost = |words: &str| {
        rows.iter()
            .filter(|(name, _)| name.contains(words))
            .map(|(_, row)| row.lost)
            .sum::<u64>()
    };
    // Without a daemon the disk is all there is. With one, a call that cannot be sent goes to the spool.
    assert_eq!(lost("daemon there"), 0);
    // A disk that cannot say that it has a call may have it.
    assert_eq!(lost("sync"), 0);
    assert!(
        !only().is_empty() || rows.values().map(|row| row.hits).sum::<usize>() > 10,
        "the faults were hardly met"
    );
}

/// The system may be out of room for a message while its daemon is well: whoever waited for the reply to what was never
/// sent would hold its agent up for as long as a stop may wait, or the daemon for the rest.
#[test]
fn a_stop_that_cannot_be_sent_goes_to_the_spool_without_waiting_for_a_reply() {
    let daemon = Daemon::with(EVERY_STOP);
    let (event, payload) = hook_call("s", CALLS);
    let trace = Trace::to(daemon.home.path().join("trace"));
    let words = trace.command(&[
        "-e",
        "trace=write",
        "-e",
        "inject=write:error=ENOBUFS:when=1",
    ]);
    let mut client = daemon.home.command(&words[0], &[]);
    client
        .args(&words[1..])
        .arg(env!("CARGO_BIN_EXE_checkpointd-hook"))
        .args(["claude", event]);
    let output = run(
        client.env("CHECKPOINTD_DEBUG", "1"),
        payload.to_string().as_bytes(),
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("cannot send to the daemon") && !said.contains("no reply in time"),
        "{said}"
    );
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), &b""[..]),
        "{said}"
    );
    let in_journal = || daemon.ask_code(&["timeline", "s", "--json"]).1;
    wait_until(|| {
        in_journal()
            .iter()
            .filter(|line| number_of(line, "s") == Some(CALLS))
            .count()
            == 1
    });
}
