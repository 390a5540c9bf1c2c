//! Certificates: who takes part, who does not any more, and what somebody with another one can do.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, HeaderMap};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::daemon::EVERY_STOP;
use testkit::{Home, program, run, wait_until};

use crate::form::is_full;
use crate::machines::{Collector, Machine};
use crate::servers::Servers;

const JOURNAL: &str = "22222222-2222-4222-8222-222222222222";

/// A machine that was enrolled and joins.
pub(crate) fn joined(servers: &Servers, name: &str, level: &str) -> Machine {
    let mut machine = Machine::stopped(name);
    let config = machine.daemon.home.path().join("config.yml");
    std::fs::write(config, EVERY_STOP).expect("writes");
    joins(servers, &machine, level);
    machine.daemon.start();
    machine
}

fn joins(servers: &Servers, machine: &Machine, level: &str) {
    let file = servers.operator().join(format!("{}.join", machine.name));
    let file = file.display().to_string();
    let out = run(
        &mut machine.daemon.home.command(
            program("checkpointd"),
            &["fleet", "join", &file, "--level", level],
        ),
        b"",
    );
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

pub(crate) fn collector(servers: &Servers) -> Collector {
    let home = Home::new();
    copies(servers, &home, &["config.yml", "fleet.pem"]);
    Collector::at(home)
}

/// Copies files of the collector's folder to its host, as the operator does.
fn copies(servers: &Servers, home: &Home, files: &[&str]) {
    let made = servers.operator().join("collector");
    for file in files {
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .arg(made.join(file))
            .arg(home.path())
            .status();
        assert!(copied.expect("runs").success());
    }
}

#[test]
fn a_fleet_is_set_up_joined_renewed_and_left() {
    let servers = Servers::enrolled(3, &["laptop-7", "desk-2"]);
    let mut collector = collector(&servers);
    let mut laptop = joined(&servers, "laptop-7", "all");
    let desk = joined(&servers, "desk-2", "decisions");
    laptop.calls_tools(50);
    laptop.works();
    desk.works();
    collector.waits_for(&laptop);
    collector.assert_has(&laptop);
    wait_until(|| {
        !collector
            .ask(&["audit", "--json", "--machine", "desk-2"])
            .is_empty()
    });
    // Three replicas, no server away or behind, nothing dropped.
    wait_until(|| collector.collects()["notes"] == json!([]));
    // One that comes later is let in by servers that run.
    servers.operates(&["enrol", "late-1"]);
    servers.reload();
    let late = joined(&servers, "late-1", "all");
    late.works();
    collector.waits_for(&late);
    collector.assert_has(&late);
    // A new certificate puts the one before out of use.
    servers.operates(&["enrol", "laptop-7"]);
    servers.reload();
    laptop.restarts();
    wait_until(|| !laptop.trouble().is_empty());
    joins(&servers, &laptop, "all");
    laptop.restarts();
    laptop.calls_tools(10);
    collector.waits_for(&laptop);
    collector.assert_has(&laptop);
    // So does one for the servers and the collector.
    servers.operates(&["renew"]);
    copies(&servers, &collector.home, &["fleet.pem"]);
    servers.reload();
    collector.restarts();
    laptop.restarts();
    laptop.calls_tools(10);
    collector.waits_for(&laptop);
    // Who is taken out is not let in; the others are.
    servers.operates(&["revoke", "desk-2"]);
    servers.reload();
    desk.works();
    wait_until(|| !desk.trouble().is_empty());
    laptop.calls_tools(10);
    collector.waits_for(&laptop);
    collector.assert_has(&laptop);
    collector.verify();
}

/// Writes what is in the file for a machine: its key, its certificate, and the authority's.
fn stolen(servers: &Servers, machine: &str) -> [PathBuf; 3] {
    let text = std::fs::read_to_string(servers.operator().join(format!("{machine}.join")))
        .expect("a file");
    let ticket: Value = serde_json::from_str(&text).expect("JSON");
    let pem = ticket["pem"].as_str().expect("PEM");
    // A line before the first says until when it is valid.
    let mut parts = pem.split("-----BEGIN ").skip(1);
    ["key", "certificate", "authority"].map(|name| {
        let path = servers.folder().join(name);
        let part = parts.next().expect("three parts");
        std::fs::write(&path, format!("-----BEGIN {part}")).expect("writes");
        path
    })
}

/// A client with a machine's certificate that is not checkpointd.
async fn thief(servers: &Servers, machine: &str) -> Client {
    let [key, certificate, authority] = stolen(servers, machine);
    ConnectOptions::new()
        .require_tls(true)
        .add_root_certificates(authority)
        .add_client_certificate(certificate, key)
        .custom_inbox_prefix(format!("_INBOX.{machine}"))
        .request_timeout(Some(Duration::from_secs(2)))
        .connect(servers.url())
        .await
        .expect("it is let in")
}

/// What a thief of m1's certificate tries, and that all of it is refused.
async fn tries_everything(client: &Client, own: &str, others: &str) {
    let (own, others) = (own.to_owned(), others.to_owned());
    let refused = [
        format!("ckpt.v1.m2.{others}"),
        format!("head.v1.m1.{own}"),
        format!("head.v1.m2.{others}"),
        format!("$JS.API.DIRECT.GET.FLEET.ckpt.v1.m2.{others}"),
        format!("$JS.API.DIRECT.GET.HEADS.head.v1.m2.{others}"),
        "$JS.API.DIRECT.GET.FLEET".to_owned(),
        "$JS.API.STREAM.INFO.FLEET".to_owned(),
        "$JS.API.STREAM.MSG.GET.FLEET".to_owned(),
        "$JS.API.STREAM.MSG.DELETE.FLEET".to_owned(),
        "$JS.API.STREAM.PURGE.FLEET".to_owned(),
        "$JS.API.STREAM.DELETE.FLEET".to_owned(),
        "$JS.API.STREAM.UPDATE.FLEET".to_owned(),
        "$JS.API.CONSUMER.CREATE.FLEET".to_owned(),
    ];
    for subject in refused {
        let answered = client.request(subject.clone(), "{}".into()).await;
        assert!(answered.is_err(), "{subject}: {answered:?}");
    }
    // The server writes its answers with its own rights: they must not reach another's subject or an order.
    for reply in [
        format!("ckpt.v1.m2.{others}"),
        "$JS.API.STREAM.PURGE.FLEET".to_owned(),
        "$JS.API.STREAM.DELETE.FLEET".to_owned(),
    ] {
        for subject in [
            format!("ckpt.v1.m1.{own}"),
            format!("$JS.API.DIRECT.GET.FLEET.ckpt.v1.m1.{own}"),
            format!("$JS.API.DIRECT.GET.HEADS.head.v1.m1.{own}"),
        ] {
            let sent = client
                .publish_with_reply(subject, reply.clone(), "{}".into())
                .await;
            sent.expect("it goes to the server");
        }
    }
    for header in ["Nats-Rollup", "Nats-TTL"] {
        let mut headers = HeaderMap::new();
        headers.insert(header, if header == "Nats-TTL" { "1s" } else { "all" });
        let answer = client
            .request_with_headers(format!("ckpt.v1.m1.{own}"), headers, "{}".into())
            .await;
        if let Ok(answer) = answer {
            let answer: Value = serde_json::from_slice(&answer.payload).expect("JSON");
            assert!(answer["error"].is_object(), "{header}: {answer}");
        }
    }
    client.flush().await.expect("flushes");
}

#[test]
fn a_stolen_certificate_is_good_for_its_own_subject_only() {
    let servers = Servers::enrolled(1, &["m1", "m2"]);
    let collector = collector(&servers);
    let mut one = joined(&servers, "m1", "decisions");
    let mut two = joined(&servers, "m2", "all");
    one.calls_tools(20);
    two.calls_tools(20);
    collector.waits_for(&two);
    let journal = |machine: &Machine| {
        machine.status()["journal"]["id"]
            .as_str()
            .expect("an id")
            .replace('-', "")
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let client = thief(&servers, "m1").await;
        tries_everything(&client, &journal(&one), &journal(&two)).await;
    });
    // The other machine goes on as if nothing had happened: nothing is purged, deleted, or written for it.
    two.calls_tools(20);
    collector.waits_for(&two);
    collector.assert_has(&two);
    assert_eq!(two.trouble(), "");
    let messages = collector.ask(&["audit", "--json", "--machine", "m2"]).len();
    assert_eq!(messages, two.daemon.ask(&["audit", "--json"]).len());
    // What the thief did send as m1 is no run; it is left out, and m1 says so.
    one.restarts();
    one.calls_tools(5);
    wait_until(|| one.trouble().contains("not a run"));
    collector.verify();
}

/// A server with the certificate of a machine is let into no cluster, whether the machine is revoked or not: it would
/// act as every account.
#[test]
fn a_machines_certificate_makes_no_server() {
    let servers = Servers::enrolled(3, &["m1", "evil"]);
    let collector = collector(&servers);
    let mut one = joined(&servers, "m1", "all");
    one.calls_tools(20);
    collector.waits_for(&one);
    let [key, certificate, authority] = stolen(&servers, "evil");
    assert_eq!(servers.seen_by_another([&key, &certificate, &authority]), 1);
    servers.operates(&["revoke", "evil"]);
    servers.reload();
    assert_eq!(servers.seen_by_another([&key, &certificate, &authority]), 1);
    // What a client can steal of a server on its own port is no help either.
    let own = servers.operator().join("server-1");
    let of_client = ["server.key", "server.crt", "routes.crt"].map(|name| own.join(name));
    assert_eq!(servers.seen_by_another(of_client.each_ref()), 1);
    // With a server's own certificate for routes it would be one of them.
    let of_server = ["route.key", "route.crt", "routes.crt"].map(|name| own.join(name));
    assert!(servers.seen_by_another(of_server.each_ref()) > 1);
    one.calls_tools(20);
    collector.waits_for(&one);
    collector.assert_has(&one);
}

#[test]
fn what_is_forgotten_does_not_come_again() {
    let servers = Servers::open(1);
    let mut collector = Collector::new(&servers.url());
    let (mut one, mut two) = (
        Machine::new("one", &servers.url(), "all"),
        Machine::new("two", &servers.url(), "all"),
    );
    one.calls_tools(30);
    two.calls_tools(30);
    collector.waits_for(&one);
    collector.waits_for(&two);
    let count = |collector: &Collector, machine: &str| {
        let ask = format!("select count(*) as n from tools where machine = '{machine}'");
        collector.ask(&["journal", "sql", "--json", &ask])[0]["n"]
            .as_u64()
            .expect("a number")
    };
    assert_eq!(
        (count(&collector, "one"), count(&collector, "two")),
        (30, 30)
    );
    std::thread::sleep(Duration::from_secs(3));
    collector.stop();
    let out = run(
        &mut collector
            .home
            .command(program("checkpointd"), &["fleet", "forget", "one"]),
        b"",
    );
    let said =
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() && said.contains("removed from the broker"),
        "{said}"
    );
    collector.start();
    one.restarts();
    one.calls_tools(7);
    two.calls_tools(7);
    collector.waits_for(&one);
    collector.waits_for(&two);
    assert_eq!(
        (count(&collector, "one"), count(&collector, "two")),
        (7, 37)
    );
    collector.assert_has(&two);
    collector.verify();
    let (machine, tools) = (
        "one",
        "select command from tools where machine = 'one' order by command",
    );
    assert!(
        !collector
            .ask(&["journal", "sql", "--json", tools])
            .iter()
            .any(|row| row["command"] == "ls case_3"),
        "{machine}"
    );
}

/// An event of a daemon's start.
fn started(seq: u64, id: u128) -> String {
    json!({ "seq": seq, "at": "2026-11-23T12:00:00Z", "recorded_at": "2026-11-23T12:00:00Z",
        "session": "00000000-0000-0000-0000-000000000000", "native_session": "00000000-0000-0000-0000-000000000000",
        "agent": "daemon", "id": uuid::Uuid::from_u128(id), "late": false, "kind": "daemon_started",
        "version": "0.1.0", "recovery": [], "payload": null })
    .to_string()
}

/// A run of these events as a machine sends it: its chain, and its message.
fn run_of(
    (machine, journal): (&str, &str),
    first: u64,
    previous: &str,
    lines: &[String],
) -> (String, Vec<u8>) {
    let mut hash = Sha256::new();
    hash.update(previous);
    for line in lines {
        hash.update(b"\n");
        hash.update(line.as_bytes());
    }
    let digest = hash.finalize();
    let chain: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let count = lines.len() as u64;
    let head = json!({ "run": { "format": 1, "machine": machine, "journal": journal, "level": "all", "first": first,
        "last": first + count - 1, "lines": count, "previous": previous, "chain": chain } });
    let text = [&[head.to_string()][..], lines].concat().join("\n") + "\n";
    (chain, zstd::encode_all(text.as_bytes(), 0).expect("memory"))
}

/// Publishes messages as a machine's daemon does, but whatever they are: the last event, its chain, the body.
fn publishes(
    servers: &Servers,
    (machine, journal): (&str, &str),
    messages: Vec<(u64, String, Vec<u8>)>,
) {
    let subject = format!("ckpt.v1.{machine}.{}", journal.replace('-', ""));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let servers: Vec<_> = servers.url().split(',').map(str::to_owned).collect();
        let client = async_nats::connect(&servers[..]).await.expect("connects");
        for (last, chain, body) in messages {
            let mut headers = HeaderMap::new();
            headers.insert("Ckpt-Format", "1");
            headers.insert("Ckpt-Last", last.to_string());
            headers.insert("Ckpt-Chain", chain.as_str());
            headers.insert("Ckpt-Proof", "x");
            let sent = client.request_with_headers(subject.clone(), headers, body.into());
            sent.await.expect("stored");
        }
    });
}

#[test]
fn a_machine_that_means_harm_keeps_no_other_out() {
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let mut good = Machine::new("good", &servers.url(), "all");
    good.calls_tools(20);
    collector.waits_for(&good);
    // Its second event has the id of its first.
    let evil = ("evil", JOURNAL);
    let (chain, body) = run_of(evil, 1, "", &[started(1, 7), started(2, 7)]);
    // The second is no run at all.
    let no_run = (2, chain.clone(), b"no frame".to_vec());
    publishes(&servers, evil, vec![(2, chain, body), no_run]);
    good.calls_tools(20);
    collector.waits_for(&good);
    collector.assert_has(&good);
    let parked = collector.collects()["parked"].to_string();
    assert!(parked.contains("evil: "), "{parked}");
    collector.verify();
}

/// More than one answer of the broker brings waits for a collector, on three servers. Nothing that it has read before is
/// needed, and nothing that came between is passed over.
#[test]
fn what_waits_for_a_collector_comes_whole() {
    let servers = Servers::open(3);
    let mut collector = Collector::new(&servers.url());
    // It makes the stream.
    servers.asked("STREAM.INFO.FLEET", &json!({}));
    collector.kill();
    let (source, mut previous) = (("m", JOURNAL), String::new());
    let count = if is_full() { 10_000 } else { 1_200 };
    let mut messages = Vec::new();
    for number in 0..count {
        let first = 2 * number + 1;
        let lines = [first, first + 1].map(|seq| started(seq, seq.into()));
        let (chain, body) = run_of(source, first, &previous, &lines);
        messages.push((first + 1, chain.clone(), body));
        previous = chain;
    }
    // One message is missing at first.
    let held = messages.remove(700);
    publishes(&servers, source, messages);
    collector.start();
    let events = |collector: &Collector| {
        let ask = "select count(*) as n from events where kind = 'daemon_started'";
        collector.ask(&["journal", "sql", "--json", ask])[0]["n"].as_u64()
    };
    wait_until(|| events(&collector) == Some(1_400));
    let hole = "m: events 1401 to 1402 are missing";
    let parked = |collector: &Collector| collector.collects()["parked"].to_string();
    wait_until(|| parked(&collector).contains(hole));
    // It is known after a restart, too, and read from the broker once it is there.
    collector.restarts();
    wait_until(|| parked(&collector).contains("1401"));
    assert!(collector.doctor().contains(hole));
    publishes(&servers, source, vec![held]);
    wait_until(|| events(&collector) == Some(2 * count));
    wait_until(|| parked(&collector) == "[]");
    collector.verify();
}

/// Another machine that knows the id of a journal cannot continue it.
#[test]
fn a_journal_is_continued_by_its_own_machine_only() {
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let mut good = Machine::new("good", &servers.url(), "all");
    good.calls_tools(20);
    collector.waits_for(&good);
    let journal = good.journal();
    let next = collector.last_of(&good);
    let evil = ("evil", journal.as_str());
    let lines: Vec<_> = (next..next + 3)
        .map(|seq| started(seq, seq.into()))
        .collect();
    let (chain, body) = run_of(evil, next, "", &lines);
    publishes(&servers, evil, vec![(next + 2, chain, body)]);
    let parked = || collector.collects()["parked"].to_string();
    wait_until(|| parked().contains("belongs to good"));
    // Nor can a copy of the machine, with other events at known numbers.
    let copy = ("good", journal.as_str());
    let (chain, body) = run_of(copy, next, "", &lines);
    publishes(&servers, copy, vec![(next + 2, chain, body)]);
    wait_until(|| parked().contains("was copied"));
    assert_eq!(collector.last_of(&good), next);
    collector.verify();
}

/// A `.join` file that is used twice brings a second journal, which is named.
#[test]
fn a_second_journal_of_a_machine_is_named() {
    let servers = Servers::enrolled(1, &["m"]);
    let collector = collector(&servers);
    for _ in 0..2 {
        let mut machine = joined(&servers, "m", "all");
        machine.calls_tools(20);
        collector.waits_for(&machine);
    }
    let notes = || collector.collects()["notes"].to_string();
    wait_until(|| notes().contains("m has sent 2 journals"));
    assert!(collector.doctor().contains("m has sent 2 journals"));
}
