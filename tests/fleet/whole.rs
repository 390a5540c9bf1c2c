//! Nothing goes wrong: what machines journal is at the collector, as each level says.

use std::time::{Duration, Instant};

use testkit::wait_until;

use crate::machines::{Collector, Machine};
use crate::servers::Servers;

#[test]
fn what_machines_journal_is_at_the_collector() {
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    let mut one = Machine::new("one", &servers.url(), "all");
    let two = Machine::new("two", &servers.url(), "all");
    one.works();
    two.works();
    one.calls_tools(300);
    for machine in [&one, &two] {
        collector.waits_for(machine);
        collector.assert_has(machine);
        wait_until(|| machine.fleet()["backlog"] == 0);
        let fleet = machine.fleet();
        assert_eq!(
            (&fleet["machine"], &fleet["trouble"]),
            (&machine.name.as_str().into(), &().into())
        );
        // Each question is answered as there.
        let there = machine.daemon.ask(&["audit", "--json"]);
        let here = collector.ask(&["audit", "--json", "--machine", &machine.name]);
        assert!(!there.is_empty());
        assert_eq!(here.len(), there.len());
        for (here, there) in here.iter().zip(&there) {
            for field in ["at", "verdict", "reason", "message", "delivery"] {
                assert_eq!(here[field], there[field], "{field}");
            }
            assert_eq!(here["journal_seq"], there["seq"]);
        }
    }
    collector.verify();
    assert_eq!(collector.collects()["journals"], 2);
    // Compressed replicas were damaged by kills.
    for stream in ["STREAM.INFO.FLEET", "STREAM.INFO.HEADS"] {
        let config = &servers.asked(stream, &serde_json::json!({}))["config"];
        assert_eq!(config["compression"], "none", "{stream}: {config}");
    }
    // A decision is there at once, whatever waits to be gathered.
    let began = Instant::now();
    one.works();
    collector.waits_for(&one);
    assert!(began.elapsed() < Duration::from_secs(60));
    let collector_log = std::fs::read_to_string(collector.home.path().join("log")).expect("a log");
    assert!(
        !collector_log.contains("was not accepted"),
        "{collector_log}"
    );
}

#[test]
fn what_a_level_withholds_does_not_travel() {
    let servers = Servers::open(1);
    let machine = Machine::new("quiet", &servers.url(), "decisions");
    machine.works();
    let collector = Collector::new(&servers.url());
    wait_until(|| {
        let there = machine.daemon.ask(&["audit", "--json"]).len();
        collector.ask(&["audit", "--json"]).len() == there && there > 0
    });
    let out = collector.ask(&["journal", "export"]);
    let text: String = out.iter().map(ToString::to_string).collect();
    assert!(text.contains("\"withheld\""), "{text}");
    assert!(!text.contains("/home/user"), "{text}");
    for explained in collector.ask(&["audit", "--json"]) {
        let withheld = explained["withheld"].as_array().expect("a list");
        assert!(withheld.contains(&"message".into()), "{explained}");
    }
}

#[test]
fn a_machine_that_moves_to_another_collector_brings_all_it_has() {
    let (servers, others) = (Servers::open(1), Servers::open(1));
    let (collector, other) = (
        Collector::new(&servers.url()),
        Collector::new(&others.url()),
    );
    let mut machine = Machine::new("m", &servers.url(), "all");
    machine.works();
    machine.calls_tools(200);
    collector.waits_for(&machine);
    let moved = format!(
        "fleet: {{url: '{}', machine: m, level: all}}\n",
        others.url()
    );
    std::fs::write(machine.daemon.home.path().join("config.yml"), moved).expect("writes");
    machine.calls_tools(20);
    other.waits_for(&machine);
    other.assert_has(&machine);
    other.verify();
}
