//! What is wrong with the servers is named by the collector, whatever it is. How long that takes is printed.

use std::fs;
use std::time::Instant;

use testkit::wait_until_or;

use crate::machines::{Collector, Machine};
use crate::servers::Servers;

/// Waits until the collector's `status` names something.
fn names(collector: &Collector, what: &str) {
    let began = Instant::now();
    let line = || collector.status()["daemon"]["fleet"].clone();
    let says = || {
        let line = line();
        line["trouble"].to_string() + &line["collects"]["notes"].to_string()
    };
    wait_until_or(|| says().contains(what), || format!("{what}: {}", says()));
    println!(
        "{:5.1} s  {what}: {}",
        began.elapsed().as_secs_f32(),
        says()
    );
}

/// What a server has of the stream cannot be read any more. Returns where it was.
fn damages(servers: &mut Servers, server: usize) {
    servers.kill(server);
    let jetstream = servers.store(server).join("jetstream");
    let stream = jetstream.join("$G/streams/FLEET");
    assert!(stream.is_dir());
    fs::remove_dir_all(&stream).expect("removes");
    fs::write(&stream, "damage").expect("writes");
    servers.start(server);
}

fn heals(servers: &mut Servers, server: usize) {
    servers.kill(server);
    let stream = servers.store(server).join("jetstream/$G/streams/FLEET");
    if stream.is_file() {
        fs::remove_file(stream).expect("removes");
    }
    servers.start(server);
}

#[test]
fn a_damaged_replica_and_a_stream_without_a_leader_are_named() {
    let mut servers = Servers::open(3);
    let collector = Collector::new(&servers.url());
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.calls_tools(100);
    collector.waits_for(&machine);
    names(&collector, "[]");
    let leader = servers.leader();
    let [one, two] = [1, 2].map(|next| (leader + next) % 3);
    damages(&mut servers, one);
    names(&collector, &format!("server n{one} is away, or behind"));
    machine.calls_tools(100);
    collector.waits_for(&machine);
    damages(&mut servers, two);
    machine.calls_tools(100);
    names(&collector, "stream FLEET has no leader");
    heals(&mut servers, one);
    heals(&mut servers, two);
    collector.waits_for(&machine);
    collector.assert_has(&machine);
    names(&collector, "null[]");
}

#[test]
fn servers_that_are_away_are_named() {
    let mut servers = Servers::open(3);
    let collector = Collector::new(&servers.url());
    let leader = servers.leader();
    servers.kill((leader + 1) % 3);
    names(&collector, &format!("server n{} is away", (leader + 1) % 3));
    servers.kill(leader);
    names(&collector, "stream FLEET has no leader");
    servers.start_all();
    names(&collector, "null[]");
}
