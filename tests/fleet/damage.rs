//! Bits are flipped in what one server has stored.

use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::form::is_full;
use crate::machines::{Collector, Machine};
use crate::servers::Servers;

/// Bits that are flipped in each file.
const BITS: usize = 8;

/// Returns the files with messages below a folder: those of streams, and those of what the servers agree on.
fn blocks(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut found: Vec<_> = entries
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                blocks(&path)
            } else {
                Vec::from_iter(
                    path.extension()
                        .is_some_and(|end| end == "blk")
                        .then_some(path),
                )
            }
        })
        .collect();
    found.sort();
    found
}

fn flip_bits(store: &Path, dice: &mut Rng) -> usize {
    let mut flipped = 0;
    for file in blocks(store) {
        let mut bytes = fs::read(&file).expect("readable");
        if bytes.is_empty() {
            continue;
        }
        for _ in 0..BITS {
            let at = dice.usize(..bytes.len());
            bytes[at] ^= 1 << dice.usize(..8);
            flipped += 1;
        }
        fs::write(&file, bytes).expect("written");
    }
    flipped
}

#[test]
fn flipped_bits_in_one_servers_files_do_not_reach_a_collector() {
    let mut servers = Servers::open(3);
    let collector = Collector::new(&servers.url());
    let mut machines: Vec<_> = ["one", "two"]
        .iter()
        .map(|name| Machine::new(name, &servers.url(), "all"))
        .collect();
    let mut dice = Rng::with_seed(0x5eed_0007);
    let rounds = if is_full() { 6 } else { 2 };
    for round in 0..rounds {
        for machine in &mut machines {
            machine.calls_tools(300);
        }
        collector.waits_for_all(&machines);
        let damaged = round % servers.count();
        servers.kill(damaged);
        assert!(flip_bits(&servers.store(damaged), &mut dice) > 0);
        servers.start(damaged);
        // The next leader may be the one with the damage.
        let other = (damaged + 1) % servers.count();
        servers.kill(other);
        for machine in &mut machines {
            machine.calls_tools(100);
        }
        std::thread::sleep(std::time::Duration::from_secs(5));
        servers.start(other);
        collector.waits_for_all(&machines);
    }
    collector.assert_has_all(&machines);
    collector.verify();
}
