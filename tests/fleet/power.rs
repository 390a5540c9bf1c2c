//! The power of all servers fails. Their system calls are recorded, and each gets the disk that was synced
//! (`testkit::disk` states the model): `kill -9` alone would leave what the kernel still had in memory.

use std::time::Duration;

use testkit::disk::Keeps;

use crate::machines::{Collector, Machine};
use crate::servers::Servers;
use fastrand::Rng;

/// What a machine was told of.
fn acknowledged(machine: &Machine) -> u64 {
    machine.fleet()["sent"].as_u64().unwrap_or(0)
}

/// Cuts the power while two machines send. Whatever it leaves, in the end everything is at the collector, once.
fn cut(keeps: Keeps, seed: u64) {
    let mut dice = Rng::with_seed(seed);
    let mut servers = Servers::recorded();
    let collector = Collector::new(&servers.url());
    let mut machines = ["one", "two"].map(|name| Machine::new(name, &servers.url(), "all"));
    collector.waits_for_all(&machines);
    for _ in 0..8 {
        for machine in &mut machines {
            machine.calls_tools(70 + dice.usize(..200) as u64);
        }
        std::thread::sleep(Duration::from_millis(dice.usize(..500) as u64));
    }
    let acknowledged = machines.each_ref().map(acknowledged);
    let subjects = machines.each_ref().map(Machine::subject);
    for machine in &mut machines {
        machine.daemon.kill();
    }
    servers.power_cut(keeps, &mut dice);
    servers.start_all();
    let kept = subjects
        .each_ref()
        .map(|subject| servers.finds_last_of(subject));
    println!(
        "{keeps:?}: acknowledged up to {acknowledged:?}, on the servers' disks up to {kept:?}"
    );
    // Servers sync each file and no folder: with the names of files they lose their streams, and what was acknowledged.
    // Whatever is lost there, the machines still have.
    if matches!(keeps, Keeps::All | Keeps::Names) {
        let holds = |(kept, acknowledged): (&Option<u64>, &u64)| *kept >= Some(*acknowledged);
        assert!(kept.iter().zip(&acknowledged).all(holds));
    }
    for machine in &mut machines {
        machine.daemon.start();
        machine.calls_tools(100);
    }
    collector.waits_for_all(&machines);
    collector.assert_has_all(&machines);
    collector.verify();
}

#[test]
fn servers_that_keep_everything_go_on() {
    cut(Keeps::All, 0x5eed_0007);
}

#[test]
fn servers_that_keep_what_was_synced_and_all_names_are_made_whole() {
    cut(Keeps::Names, 0x5eed_0002);
}

#[test]
fn servers_that_keep_a_part_by_chance_are_made_whole() {
    for seed in [0x5eed_0003, 0x5eed_0004, 0x5eed_0005] {
        cut(Keeps::Some, seed);
    }
}

#[test]
fn servers_that_lose_even_names_are_made_whole() {
    cut(Keeps::Nothing, 0x5eed_0006);
}
