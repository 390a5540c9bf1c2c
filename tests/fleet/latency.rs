//! What a hook call costs while the broker is there, is away, or takes connections and says nothing.

#[path = "../../benches/support/hooks.rs"]
mod hooks;

use std::net::TcpListener;

use hooks::{BASELINE, compare};
use testkit::{program, wait_until};

use crate::form::is_full;
use crate::machines::{Collector, Machine};
use crate::servers::Servers;

/// Prints the times of the client and of `/bin/true`, which run in turns. They are for people: how long a call takes
/// depends on what else the machine does.
#[test]
fn no_hook_waits_for_the_broker() {
    let rounds = if is_full() { 1_000 } else { 100 };
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let away = free.local_addr().expect("an address").port();
    drop(free);
    let mut machines = [
        ("no fleet", Machine::with("m", "")),
        ("broker there", Machine::new("there", &servers.url(), "all")),
        (
            "broker away",
            Machine::new("away", &format!("nats://127.0.0.1:{away}"), "all"),
        ),
        (
            "broker silent",
            Machine::new("silent", &format!("nats://127.0.0.1:{port}"), "all"),
        ),
    ];
    let client = program("checkpointd-hook");
    let client = client.to_str().expect("text");
    println!("{rounds} rounds each; median / 95th percentile");
    for (name, machine) in &mut machines {
        // There is something to send all the while.
        machine.calls_tools(5_000);
        let home = &machine.daemon.home;
        let times = compare(rounds, home.path(), &[client, "claude"], &[BASELINE]);
        println!(
            "  {name:14} {} / {} us, {BASELINE} {} us, ratio of medians {:.2}",
            times.ours.0.as_micros(),
            times.ours.1.as_micros(),
            times.theirs.0.as_micros(),
            times.ratio()
        );
        // A call whose client gave up comes later, by a file.
        wait_until(|| home.waiting() == 0);
    }
    collector.waits_for(&machines[1].1);
}
