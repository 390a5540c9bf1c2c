//! How fast a collector takes in what machines send, and what it then holds: `fleet merge` of an export, which is also what
//! `fleet collect` does with each message. The peer reads the same lines as JSON.
//!
//! `cargo bench --bench fleet [-- --sessions N]`. Targets: 40,000 events a second on two cores; memory that does not depend
//! on the size of the export; a collector that answers 2 s after its start with 10,000,000 events. With the path of
//! nats-server in `CHECKPOINTD_NATS_SERVER`, the same from a broker: `cargo build --release --package checkpointd-fleet` first.

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/generate.rs"]
mod generate;
#[path = "support/measure.rs"]
#[expect(dead_code, reason = "other benches take medians")]
mod measure;

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use daemon::{Daemon, processor, program, run};
use journal::{Home, Journal, Options};
use measure::{option, title};
use serde_json::Value;

const LEVELS: [&str; 3] = ["all", "skeleton", "decisions"];

fn main() {
    let sessions = option("--sessions", 2_000);
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let machine = place.path().join("machine");
    std::fs::create_dir(&machine).expect("a folder");
    let events = {
        let (journal, _) =
            Journal::open(&Home::under(&machine).journal, Options::default()).expect("a journal");
        generate::fill(&journal, sessions);
        let events = journal.last_seq();
        journal.close();
        events
    };
    title(&format!("{events} events of {sessions} sessions"));
    for level in LEVELS {
        let file = place.path().join(format!("{level}.ndjson"));
        export(&machine, level, &file);
        let collector = place.path().join(level);
        let taken = measured(
            program(&collector)
                .args(["fleet", "merge", "--into"])
                .args([&collector, &file]),
        );
        let peer = measured(Command::new("jq").args(["-c", ".kind"]).arg(&file));
        let per_second = |time: Duration| events as f64 / time.as_secs_f64();
        println!(
            "  {level:10} {:8.0} events/s, {:8.0} per processor second, {:4.0} MB at most; {:.2} of jq; {:.0} bytes of the export and {:.0} on the disk for an event",
            per_second(taken.time),
            per_second(taken.spent),
            taken.memory,
            peer.time.as_secs_f64() / taken.time.as_secs_f64(),
            size(&file) as f64 / events as f64,
            size(&collector) as f64 / events as f64,
        );
        starts(&collector);
    }
    from_broker(&machine, &place.path().join("collected"), events);
}

/// Has the machine send everything to a real server while the collector is away, and then the collector read it.
fn from_broker(machine: &Path, collector: &Path, events: u64) {
    let Some(server) = std::env::var_os("CHECKPOINTD_NATS_SERVER") else {
        println!("  broker     not measured: CHECKPOINTD_NATS_SERVER does not name nats-server");
        return;
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let (url, port) = (format!("nats://127.0.0.1:{port}"), port.to_string());
    let store = collector.with_extension("store");
    let server = Command::new(server)
        .args(["-js", "-a", "127.0.0.1", "-p", &port, "-sd"])
        .arg(store)
        .stderr(Stdio::null())
        .spawn();
    let mut server = server.expect("a server");
    std::fs::create_dir(collector).expect("a folder");
    let config = |home: &Path, more: &str| {
        let text = format!("fleet: {{url: '{url}'{more}}}\n");
        std::fs::write(home.join("config.yml"), text).expect("a file");
    };
    config(collector, "");
    config(machine, ", machine: m, level: all");
    let wait = |home: &Path, is_so: &dyn Fn(&Value) -> bool| {
        let status = || serde_json::from_str::<Value>(&run(home, &["status", "--json"]));
        while !is_so(&status().expect("JSON")) {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // It makes the streams, of which it says nothing.
    let (daemon, _) = Daemon::start_as(collector, &["fleet", "collect"]);
    std::thread::sleep(Duration::from_secs(3));
    daemon.stop();
    let (sender, _) = Daemon::start(machine);
    let began = Instant::now();
    wait(machine, &|status| {
        status["daemon"]["fleet"]["sent"].as_u64() >= Some(events)
    });
    let sent = began.elapsed();
    sender.stop();
    let (daemon, _) = Daemon::start_as(collector, &["fleet", "collect"]);
    let began = Instant::now();
    wait(collector, &|status| {
        status["events"].as_u64() >= Some(events)
    });
    let (taken, spent) = (began.elapsed(), daemon.spent());
    let per_second = |time: Duration| events as f64 / time.as_secs_f64();
    println!(
        "  broker     sent {:.0} events/s; collected {:.0} events/s, {:.0} per processor second of the collector",
        per_second(sent),
        per_second(taken),
        per_second(spent),
    );
    daemon.stop();
    server.kill().and_then(|()| server.wait()).expect("is gone");
}

fn export(machine: &Path, level: &str, file: &Path) {
    let arguments = ["fleet", "export", "--machine", "m", "--level", level];
    let file = File::create(file).expect("a file");
    let status = program(machine).args(arguments).stdout(file).status();
    assert!(status.expect("a process").success());
}

/// Starts the collector twice: the first time it has all to read that the merge has left.
fn starts(collector: &Path) {
    let config = "fleet: {url: 'nats://127.0.0.1:9'}\n";
    std::fs::write(collector.join("config.yml"), config).expect("a file");
    for _ in 0..2 {
        let (daemon, time) = Daemon::start_as(collector, &["fleet", "collect"]);
        let (now, most) = daemon.memory();
        println!(
            "             answers {:.0} ms after its start, {now:.0} MB, at most {most:.0} MB",
            time.as_secs_f64() * 1e3
        );
        daemon.stop();
    }
}

/// What a process took.
struct Measured {
    time: Duration,
    spent: Duration,
    /// At most, in MB.
    memory: f64,
}

fn measured(command: &mut Command) -> Measured {
    let before = processor("/proc/self/stat")[1];
    let began = Instant::now();
    let child = command.stdout(Stdio::null()).spawn();
    let (mut child, mut memory) = (child.expect("a process"), 0.0_f64);
    let status = loop {
        memory = memory.max(most_memory(&child));
        if let Some(status) = child.try_wait().expect("a process") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{command:?}: {status}");
    Measured {
        time: began.elapsed(),
        spent: processor("/proc/self/stat")[1].saturating_sub(before),
        memory,
    }
}

fn most_memory(child: &Child) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

/// Returns the bytes that a file or a folder takes, as the file system counts them.
fn size(path: &Path) -> u64 {
    let meta = std::fs::symlink_metadata(path).expect("it is there");
    if !meta.is_dir() {
        return std::os::unix::fs::MetadataExt::blocks(&meta) * 512;
    }
    let entries = std::fs::read_dir(path).expect("a folder").flatten();
    entries.map(|entry| size(&entry.path())).sum()
}
