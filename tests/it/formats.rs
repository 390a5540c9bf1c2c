//! Frozen bytes: every format that was ever released is read by every later version. `tests/data/journals/vN` and
//! `tests/data/spool/vN` are append-only.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::daemon::Daemon;
use crate::support::{Home, run};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn versions(name: &str) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(data(name)).expect("frozen data").map(|entry| entry.expect("one").path()).collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

fn checkpointd(home: &Home, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let output = run(&mut home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments), b"");
    (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A home with a copy of a frozen journal.
fn thawed(version: &Path) -> Home {
    let home = Home::new();
    let intake = home.path().join("journal/intake");
    fs::create_dir_all(&intake).expect("a folder");
    for entry in fs::read_dir(version.join("intake")).expect("segments") {
        let path = entry.expect("a segment").path();
        fs::copy(&path, intake.join(path.file_name().expect("a name"))).expect("copies");
    }
    home
}

#[test]
fn every_frozen_journal_is_read_and_verifies() {
    for version in versions("journals") {
        let home = thawed(&version);
        let (code, exported, error) = checkpointd(&home, &["journal", "export"]);
        assert_eq!(code, Some(0), "{}: {error}", version.display());
        let expected = fs::read(version.join("export.ndjson")).expect("the export of then");
        assert_eq!(String::from_utf8_lossy(&exported), String::from_utf8_lossy(&expected), "{}", version.display());
        for arguments in [["journal", "verify", "--json"], ["replay", "--verify", "--json"]] {
            let (code, answer, error) = checkpointd(&home, &arguments);
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            assert_eq!(code, Some(0), "{}: {answer} {error}", version.display());
        }
        let (_, answer, _) = checkpointd(&home, &["replay", "--verify", "--json"]);
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert!(answer["decisions"].as_u64().is_some_and(|decisions| decisions > 0), "{answer}");
    }
}

#[test]
fn every_frozen_spool_is_taken_in() {
    for version in versions("spool") {
        let mut daemon = Daemon::with("");
        daemon.kill();
        let spool = daemon.home.path().join("spool");
        let mut frozen = 0;
        for entry in fs::read_dir(&version).expect("frozen calls") {
            let path = entry.expect("a call").path();
            fs::copy(&path, spool.join(path.file_name().expect("a name"))).expect("copies");
            frozen += 1;
        }
        daemon.start();
        let events = daemon.ask(&["tail", "-n", "1000", "--json"]);
        let hooks = events.iter().filter(|event| event.get("host").is_some()).count();
        assert_eq!((hooks, daemon.home.spooled().len()), (frozen, 0), "{}", version.display());
    }
}

#[test]
fn a_journal_of_a_newer_program_is_refused_with_the_word_upgrade() {
    let home = thawed(&versions("journals")[0]);
    let intake = home.path().join("journal/intake");
    let segment = fs::read_dir(&intake).expect("listed").next().expect("one").expect("one").path();
    let mut bytes = fs::read(&segment).expect("readable");
    bytes[4] = 200;
    fs::write(&segment, bytes).expect("writes");
    let (code, _, error) = checkpointd(&home, &["sessions"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("upgrade"), "{error}");
}
