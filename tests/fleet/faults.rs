//! Everything goes wrong: what is killed, lost, copied or set back.

use std::time::{Duration, Instant};

use testkit::wait_until;

use fastrand::Rng;

use crate::form::is_full;
use crate::machines::{Collector, Machine};
use crate::servers::Servers;

#[test]
fn kills_at_random_lose_and_double_nothing() {
    let (machines, rounds, calls) = if is_full() { (50, 40, 50) } else { (4, 8, 50) };
    let mut servers = Servers::open(3);
    let mut collector = Collector::new(&servers.url());
    let mut machines: Vec<_> = (0..machines)
        .map(|number| Machine::new(&format!("m{number}"), &servers.url(), "all"))
        .collect();
    // What waits before the first kill.
    servers.asked("STREAM.INFO.FLEET", &serde_json::json!({}));
    collector.kill();
    let waiting = if is_full() { 100_000 } else { 4_000 };
    let each = waiting / machines.len() as u64;
    machines
        .iter_mut()
        .for_each(|machine| machine.calls_tools(each));
    collector.start();
    let mut dice = Rng::with_seed(0x5eed_0001);
    for round in 0..rounds {
        for machine in &mut machines {
            machine.calls_tools(calls);
        }
        let server = servers.leader();
        match round % 4 {
            0 => servers.kill(server),
            1 => {
                collector.kill();
                collector.start();
            }
            2 => {
                let machine = dice.usize(..machines.len());
                machines[machine].restarts();
            }
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(200 + dice.usize(..800) as u64));
        if round % 4 == 0 {
            servers.start(server);
        }
    }
    let ended = jiff::Timestamp::now();
    collector.waits_for_all(&machines);
    let taken: Option<jiff::Timestamp> = collector.collects()["taken_at"]
        .as_str()
        .and_then(|at| at.parse().ok());
    let after = taken.map(|taken| taken.duration_since(ended).as_secs_f32());
    println!("the last run came {after:?} s after the last kill");
    let events = collector.assert_has_all(&machines);
    println!(
        "{events} events of {} machines: none lost, none twice, in order",
        machines.len()
    );
    collector.verify();
}

#[test]
fn a_broker_that_is_away_stops_nothing_and_gets_everything() {
    let mut servers = Servers::open(3);
    let collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(20);
    collector.waits_for(&machine);
    servers.kill(0);
    let says = |words: &str| collector.collects()["notes"].to_string().contains(words);
    wait_until(|| says("server n0 is away"));
    servers.kill(1);
    let began = Instant::now();
    machine.calls_tools(500);
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    wait_until(|| machine.fleet()["backlog"].as_u64() > Some(400) && !machine.trouble().is_empty());
    servers.kill(2);
    machine.calls_tools(50);
    servers.start_all();
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    wait_until(|| machine.trouble().is_empty());
}

#[test]
fn a_lost_stream_is_no_loss() {
    let mut servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(100);
    collector.waits_for(&machine);
    let head = machine.subject().replace("ckpt", "head");
    machine.daemon.kill();
    servers.lose_all();
    servers.start_all();
    // The collector makes it again, and says what it has.
    wait_until(|| servers.has_head(&head));
    machine.daemon.start();
    machine.calls_tools(100);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    collector.verify();
    let sent = servers.messages();
    assert!(sent <= 5, "only what was new was sent: {sent}");
}

#[test]
fn a_collector_that_was_set_back_asks_for_what_it_lacks() {
    let servers = Servers::open(1);
    let mut collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(80);
    collector.waits_for(&machine);
    let backup = servers
        .folder()
        .join("collector.backup")
        .display()
        .to_string();
    collector.does(&["journal", "backup", &backup]);
    machine.calls_tools(80);
    collector.waits_for(&machine);
    // The head is written a moment later.
    std::thread::sleep(Duration::from_secs(3));
    collector.kill();
    // What the broker still has is read again.
    collector.does(&["journal", "restore", &backup, "--force"]);
    collector.start();
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    collector.kill();
    collector.does(&["journal", "restore", &backup, "--force"]);
    // For what it has no longer, the machine is asked. The request waits for a machine that is away, whatever others send
    // and however often the collector starts.
    servers.asked("STREAM.PURGE.FLEET", &serde_json::json!({}));
    machine.daemon.kill();
    let is_parked = |collector: &Collector| {
        wait_until(|| {
            collector.collects()["parked"]
                .as_array()
                .is_some_and(|parked| !parked.is_empty())
        });
    };
    collector.start();
    is_parked(&collector);
    let mut other = Machine::new("other", &servers.url(), "all");
    other.calls_tools(20);
    collector.waits_for(&other);
    collector.kill();
    collector.start();
    is_parked(&collector);
    machine.daemon.start();
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    wait_until(|| {
        collector.collects()["parked"]
            .as_array()
            .is_some_and(Vec::is_empty)
    });
    collector.verify();
}

#[test]
fn of_two_copies_of_a_machine_one_stops_with_a_word() {
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(50);
    collector.waits_for(&machine);
    machine.daemon.kill();
    let mut copy = Machine::stopped("m");
    let copied = std::process::Command::new("cp")
        .args(["-a", "--"])
        .arg(format!("{}/.", machine.daemon.home.path().display()))
        .arg(copy.daemon.home.path())
        .status();
    assert!(copied.expect("runs").success());
    machine.daemon.start();
    machine.calls_tools(10);
    collector.waits_for(&machine);
    copy.daemon.start();
    copy.calls_tools(10);
    wait_until(|| copy.trouble().contains("forked"));
    // The one that went on first still does, and nothing of the other is there.
    machine.calls_tools(10);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    // As it is told, the copy becomes another journal.
    copy.daemon.kill();
    std::fs::remove_file(copy.daemon.home.path().join("journal/identity")).expect("removes");
    copy.daemon.start();
    collector.waits_for(&copy);
    collector.assert_has(&copy);
    collector.assert_has(&machine);
    collector.verify();
}

#[test]
fn a_purged_stream_is_no_loss_and_nothing_comes_twice() {
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(100);
    collector.waits_for(&machine);
    // The head is written a moment later.
    std::thread::sleep(Duration::from_secs(3));
    servers.asked("STREAM.PURGE.FLEET", &serde_json::json!({}));
    machine.restarts();
    machine.calls_tools(10);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    assert!(
        servers.messages() <= 3,
        "only what was new was sent: {}",
        servers.messages()
    );
    collector.verify();
}

#[test]
fn a_full_stream_stops_machines_with_a_word_until_there_is_space() {
    let servers = Servers::open(1);
    let mut collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(10);
    collector.waits_for(&machine);
    collector.stop();
    let bytes_max = |bytes: i64| {
        let info = servers.asked("STREAM.INFO.FLEET", &serde_json::json!({}));
        let mut config = info["config"].clone();
        config["max_bytes"] = bytes.into();
        servers.asked("STREAM.UPDATE.FLEET", &config);
    };
    bytes_max(200_000);
    while !machine.trouble().contains("full") {
        machine.calls_tools(500);
    }
    assert!(machine.fleet()["backlog"].as_u64() > Some(0));
    // It heals by itself: what the collector has taken in makes room.
    collector.start();
    // The machine asks again after at most a minute.
    collector.waits_for_all(std::slice::from_ref(&machine));
    collector.assert_has(&machine);
}

#[test]
fn what_the_collector_has_leaves_the_broker_after_a_while() {
    let servers = Servers::open(1);
    let config = format!("fleet: {{url: '{}', keep: 2s}}\n", servers.url());
    let collector = Collector::with(&config);
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(100);
    collector.waits_for(&machine);
    // The last one stays, so that the machine finds where to go on.
    wait_until(|| servers.messages() == 1);
    machine.calls_tools(100);
    collector.waits_for(&machine);
    machine.restarts();
    machine.calls_tools(20);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
}

#[test]
fn a_broker_that_never_answers_keeps_no_hook_waiting() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("nats://{}", silent.local_addr().expect("an address"));
    let machine = Machine::new("m", &url, "all");
    let call = br#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"},"tool_response":""}"#;
    let mut times: Vec<_> = (0..200)
        .map(|_| {
            let began = Instant::now();
            let answer = machine.daemon.http("POST", "/v1/hooks/claude", &[], call);
            assert_eq!(answer.expect("an answer").0, 200);
            began.elapsed()
        })
        .collect();
    times.sort();
    // Far below every wait for the broker, however busy this machine is.
    assert!(times[100] < Duration::from_millis(200), "{:?}", times[100]);
    wait_until(|| !machine.trouble().is_empty());
}

#[test]
fn a_restored_machine_sends_its_events_as_another_journal() {
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(40);
    let backup = servers
        .folder()
        .join("machine.backup")
        .display()
        .to_string();
    machine.does(&["journal", "backup", &backup]);
    machine.calls_tools(40);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    machine.daemon.kill();
    machine.does(&["journal", "restore", &backup, "--force"]);
    machine.daemon.start();
    machine.calls_tools(40);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    assert_eq!(collector.collects()["journals"], 2);
    assert_eq!(machine.trouble(), "");
    collector.verify();
}
