//! Frozen bytes: every format that was ever released is read by every later version. `tests/data/journals/vN` and
//! `tests/data/spool/vN` are append-only.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use journal::frame::{Kind, Reader, push};
use serde_json::Value;

use crate::support::daemon::Daemon;
use crate::support::{Act, Home, run, serve, wait_until};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

fn versions(name: &str) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(data(name))
        .expect("frozen data")
        .map(|entry| entry.expect("one").path())
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

fn checkpointd(home: &Home, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let output = run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
        b"",
    );
    (
        output.status.code(),
        output.stdout,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// A home with a copy of a frozen journal, with its store if that is frozen, too.
fn thawed(version: &Path) -> Home {
    let home = Home::new();
    for folder in ["intake", "store"] {
        let copied = home.path().join("journal").join(folder);
        for entry in fs::read_dir(version.join(folder)).into_iter().flatten() {
            fs::create_dir_all(&copied).expect("a folder");
            let path = entry.expect("a file").path();
            fs::copy(&path, copied.join(path.file_name().expect("a name"))).expect("copies");
        }
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
        assert_eq!(
            String::from_utf8_lossy(&exported),
            String::from_utf8_lossy(&expected),
            "{}",
            version.display()
        );
        for arguments in [
            ["journal", "verify", "--json"],
            ["replay", "--verify", "--json"],
        ] {
            let (code, answer, error) = checkpointd(&home, &arguments);
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            assert_eq!(code, Some(0), "{}: {answer} {error}", version.display());
        }
        let (_, answer, _) = checkpointd(&home, &["replay", "--verify", "--json"]);
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        let count = |key: &str| answer[key].as_u64().unwrap_or_default();
        assert!(count("decisions") > 0, "{answer}");
        // The rules that made them are gone.
        assert_eq!(
            count("decisions"),
            count("earlier") + count("withheld"),
            "{answer}"
        );
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
        let events = daemon.ask(&["journal", "tail", "-n", "1000", "--json"]);
        let hooks = events
            .iter()
            .filter(|event| event.get("host").is_some())
            .count();
        assert_eq!(
            (hooks, daemon.home.spooled().len()),
            (frozen, 0),
            "{}",
            version.display()
        );
    }
}

/// Sets the format of the first frame to one that no program knows yet.
fn make_newer(file: &Path) {
    let mut bytes = fs::read(file).expect("readable");
    bytes[4] = 200;
    fs::write(file, bytes).expect("writes");
}

#[test]
fn a_journal_of_a_newer_program_is_refused_with_the_word_upgrade_and_kept() {
    let home = thawed(&versions("journals")[0]);
    let intake = home.path().join("journal/intake");
    let segment = fs::read_dir(&intake)
        .expect("listed")
        .next()
        .expect("one")
        .expect("one")
        .path();
    make_newer(&segment);
    let before = fs::read(&segment).expect("readable");
    for arguments in [
        &["sessions"][..],
        &["daemon"],
        &["journal", "verify"],
        &["journal", "compact"],
    ] {
        let (code, _, error) = checkpointd(&home, arguments);
        assert_eq!(code, Some(3), "{arguments:?}: {error}");
        assert!(error.contains("upgrade"), "{arguments:?}: {error}");
    }
    assert!(
        fs::read(&segment).expect("still there") == before,
        "not a byte has changed"
    );
}

#[test]
fn a_spooled_call_of_a_newer_client_is_kept_and_told_and_keeps_no_other_one_waiting() {
    let mut daemon = Daemon::with("");
    daemon.kill();
    let spool = daemon.home.path().join("spool");
    let mut files: Vec<_> = fs::read_dir(data("spool/v1"))
        .expect("calls")
        .map(|entry| entry.expect("one").path())
        .collect();
    files.sort();
    let copies: Vec<_> = files
        .iter()
        .map(|file| spool.join(file.file_name().expect("a name")))
        .collect();
    for (file, copy) in files.iter().zip(&copies) {
        fs::copy(file, copy).expect("copies");
    }
    make_newer(&copies[0]);
    let before = fs::read(&copies[0]).expect("readable");
    daemon.start();
    wait_until(|| fs::read_dir(&spool).expect("listed").count() == 1);
    let warned = || {
        daemon.ask(&["status", "--json"])[0]["warnings"]
            .to_string()
            .contains("upgrade")
    };
    wait_until(warned);
    assert_eq!(fs::read(&copies[0]).expect("kept"), before);
    // The newer program is there: what it can read is taken in, and nothing is said any more.
    let whole = copies[0].with_extension("new");
    fs::copy(&files[0], &whole).expect("copies");
    fs::rename(&whole, &copies[0]).expect("renames");
    wait_until(|| daemon.home.waiting() == 0);
    let hooks = || {
        daemon
            .ask(&["journal", "tail", "-n", "1000", "--json"])
            .iter()
            .filter(|event| event.get("host").is_some())
            .count()
    };
    wait_until(|| hooks() >= files.len());
    assert_eq!(hooks(), files.len());
    wait_until(|| !warned());
}

/// Sends bytes as a client of another version did, and returns the answer.
fn send(daemon: &Daemon, request: &[u8]) -> String {
    let mut stream = UnixStream::connect(daemon.home.path().join("run/sock")).expect("a daemon");
    stream.write_all(request).expect("sent");
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    // The connection stays open; the head says how long the answer is, and these have no body.
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = stream.read(&mut piece).expect("an answer");
        assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// The same request as a later version might send it: headers and fields that nobody knows.
fn of_the_future(request: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(request);
    let (head, body) = text.split_once("\r\n\r\n").expect("a request");
    let mut body: Value = serde_json::from_str(body).expect("JSON");
    body["checkpointd_next"] = serde_json::json!({ "deep": [1, null, "x"] });
    let body = body.to_string();
    let head = head
        .lines()
        .filter(|line| !line.starts_with("Content-Length"))
        .collect::<Vec<_>>()
        .join("\r\n");
    let more = format!(
        "Checkpointd-Protocol: 2\r\nCheckpointd-Later: {}",
        "x".repeat(2000)
    );
    format!(
        "{head}\r\n{more}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[test]
fn clients_of_the_first_and_of_a_later_version_are_served_over_the_socket_and_through_the_spool() {
    for version in versions("spool") {
        let mut files: Vec<_> = fs::read_dir(&version)
            .expect("calls")
            .map(|entry| entry.expect("one").path())
            .collect();
        files.sort();
        let requests: Vec<Vec<u8>> = files
            .iter()
            .map(|file| {
                let bytes = fs::read(file).expect("readable");
                let frame = Reader::new(&bytes).next().expect("a frame").expect("whole");
                frame.payload.to_vec()
            })
            .collect();
        for is_later in [false, true] {
            let form = |request: &[u8]| {
                if is_later {
                    of_the_future(request)
                } else {
                    request.to_vec()
                }
            };
            let daemon = Daemon::with("");
            for request in &requests {
                let answer = send(&daemon, &form(request));
                assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            }
            let of_hooks = |daemon: &Daemon| {
                let events = daemon.ask(&["journal", "tail", "-n", "1000", "--json"]);
                events
                    .iter()
                    .filter(|event| event.get("host").is_some())
                    .count()
            };
            assert_eq!(of_hooks(&daemon), requests.len(), "{}", version.display());
            let mut other = Daemon::with("");
            other.kill();
            for (file, request) in files.iter().zip(&requests) {
                let mut bytes = Vec::new();
                push(&mut bytes, Kind::Request, &form(request));
                fs::write(
                    other
                        .home
                        .path()
                        .join("spool")
                        .join(file.file_name().expect("a name")),
                    bytes,
                )
                .expect("writes");
            }
            other.start();
            wait_until(|| other.home.waiting() == 0);
            assert_eq!(of_hooks(&other), requests.len(), "{}", version.display());
            other.verify();
        }
    }
}

#[test]
fn the_answer_of_a_later_daemon_reaches_the_agent_as_it_is() {
    let home = Home::new();
    let body = r#"{"decision":"block","reason":"later","checkpointdNext":{"a":[1,null]}}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\nx-checkpointd-protocol: 2\r\nCONTENT-LENGTH: {}\r\nserver: later/9\r\n\r\n{body}",
        body.len()
    );
    let _requests = serve(&home.socket(), move |_| {
        Act::Reply(answer.clone().into_bytes())
    });
    let output = run(
        &mut home.client(&["claude", "Stop"]),
        br#"{"session_id":"s","hook_event_name":"Stop"}"#,
    );
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).trim_end()
        ),
        (Some(0), body)
    );
    assert_eq!(home.spooled().len(), 0);
}
