//! FIFOs, links, devices and false heads in the place of our own files: nothing waits for them, and nothing is lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use journal::frame::{self, Kind};

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};

/// Files that daemon, clients and commands open in a home.
const FILES: [&str; 13] = [
    "run/pid",
    "run/stop-wait-ms",
    "run/autostart.lock",
    "run/page.json",
    "spool/00000000000000000000-0.spool",
    "spool/.full",
    "logs/daemon.log",
    "journal/lock",
    "journal/repaired",
    "journal/imported",
    "journal/intake/00000000000000099999.log",
    "journal/store/conf",
    "journal/store/db",
];

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo runs").success());
}

fn zeros(path: &Path) {
    symlink("/dev/zero", path).expect("a link");
}

fn folder(path: &Path) {
    fs::create_dir(path).expect("a folder");
}

#[test]
fn no_strange_file_stops_the_daemon_or_a_client_and_each_is_named() {
    for (make, word) in [
        (fifo as fn(&Path), "FIFO"),
        (zeros, "link"),
        (folder, "folder"),
    ] {
        let mut daemon = Daemon::with(EVERY_STOP);
        let calls = recorded("codex/h-normal");
        let (before, after) = calls.split_at(4);
        before.iter().for_each(|call| drop(play(&daemon, call)));
        daemon.kill();
        for name in FILES {
            let path = daemon.home.path().join(name);
            let _ = fs::remove_file(&path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            make(&path);
        }
        // A client without a daemon, a daemon, and a client with one.
        play(&daemon, &after[0]);
        daemon.start();
        after[1..].iter().for_each(|call| drop(play(&daemon, call)));
        let hooks: Vec<_> = daemon
            .ask(&["timeline", "last", "--json"])
            .iter()
            .filter_map(|line| line["host"]["hook"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(hooks.len(), calls.len(), "{word}: {hooks:?}");
        let status = daemon.ask(&["status", "--json"])[0].to_string();
        for name in [
            "run/pid",
            "spool/00000000000000000000-0.spool",
            "journal/lock",
            "journal/intake/00000000000000099999.log",
        ] {
            assert!(
                status.contains(&format!("{name}.aside was set aside")),
                "{word}: {name} is not named: {status}"
            );
        }
        daemon.verify();
    }
}

#[test]
fn a_spool_file_of_false_heads_is_kept_as_damage_in_a_time_that_grows_with_its_size() {
    let mut daemon = Daemon::with(EVERY_STOP);
    daemon.kill();
    let call = &recorded("codex/h-normal")[0];
    play(&daemon, call);
    let mut head = Vec::new();
    frame::push(&mut head, Kind::Request, b"");
    let heads = 500_000_u32;
    let mut bytes = Vec::new();
    for left in (0..heads).rev() {
        head[8..12].copy_from_slice(&(left * 16).to_le_bytes());
        bytes.extend_from_slice(&head);
    }
    let spool = daemon.home.path().join("spool");
    fs::write(spool.join("00000000000000000000-0.spool"), &bytes).expect("written");
    // Without the limit it takes hours.
    daemon.start();
    assert_eq!(daemon.home.waiting(), 0);
    daemon.verify();
}
