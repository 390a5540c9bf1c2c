//! What is left when looking back is ended in its middle, and the same figures on the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::Did::{Edited, Failed, Ran, Read};
use super::{User, days_ago};
use crate::support::daemon::Daemon;
use crate::support::page::Page;
use crate::support::wait_until;

impl User {
    /// Writes so many transcripts of so many turns.
    fn put_many(&self, project: &Path, sessions: usize, turns: usize) {
        let turn: &[super::Did<'_>] = &[Read("src/lib.rs"), Edited("src/lib.rs"), Ran("ls")];
        let turns = vec![turn; turns];
        for session in 0..sessions {
            let began = days_ago(20).plus(Duration::from_secs(session as u64));
            self.put_session(project, &format!("many-{session}"), began, &turns);
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // Tests that a shell runs in the background ignore interrupts, and so do the programs that they start.
        let mut line = vec!["--default-signal=INT", env!("CARGO_BIN_EXE_checkpointd")];
        line.extend(arguments);
        let mut command = match cfg!(target_os = "linux") {
            true => self.home.command("/usr/bin/env", &line),
            false => self.home.command(line[1], arguments),
        };
        command
            .env("HOME", self.home.path().join("user"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Returns every file below the home with its size and time of change.
    fn files(&self) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
        let mut folders = vec![self.home.path().to_owned()];
        let mut files = BTreeMap::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let meta = entry.metadata().expect("metadata");
                if meta.is_dir() {
                    folders.push(entry.path());
                } else {
                    let changed = meta.modified().expect("a time");
                    files.insert(entry.path(), (meta.len(), changed));
                }
            }
        }
        files
    }
}

#[test]
fn an_interrupt_ends_looking_back_and_leaves_nothing() {
    use std::os::unix::process::ExitStatusExt as _;

    let user = User::new();
    user.put_many(&user.project(), 40, 400);
    let before = user.files();
    let mut child = user.command(&["lookback"]).spawn().expect("starts");
    // It has begun to read once it has opened a transcript.
    let descriptors = PathBuf::from(format!("/proc/{}/fd", child.id()));
    if descriptors.is_dir() {
        wait_until(|| {
            let open = fs::read_dir(&descriptors).into_iter().flatten().flatten();
            open.filter_map(|entry| fs::read_link(entry.path()).ok())
                .any(|path| path.extension().is_some_and(|end| end == "jsonl"))
        });
    }
    let pid = i32::try_from(child.id()).expect("an id");
    let pid = rustix::process::Pid::from_raw(pid).expect("an id");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let status = child.wait().expect("it ends");
    assert!(
        status.signal() == Some(2) || status.code() == Some(130),
        "{status:?}"
    );
    assert_eq!(user.files(), before);
}

#[test]
fn an_import_that_was_killed_is_completed_by_the_next() {
    let user = User::new();
    let (sessions, turns) = (10, 30);
    user.put_many(&user.project(), sessions, turns);
    let mut child = user
        .command(&["lookback", "--import"])
        .spawn()
        .expect("starts");
    let log = user.home.path().join("journal/intake");
    let journaled = || {
        let files = fs::read_dir(&log).into_iter().flatten().flatten();
        let sizes = files.filter_map(|entry| entry.metadata().ok());
        sizes.map(|meta| meta.len()).sum::<u64>()
    };
    wait_until(|| journaled() > 4096);
    child.kill().expect("a signal");
    child.wait().expect("it ends");
    let rest = user.json(&["lookback", "--import", "--json"]);
    assert_eq!(rest["problems"], json!([]));
    let counted = user.json(&[
        "journal",
        "sql",
        "--json",
        "select count(*) as n from decisions",
    ]);
    assert_eq!(counted["n"], sessions * turns, "{rest}");
    assert_ne!(rest["turns"], 0, "it was not ended in its middle");
    let again = user.json(&["lookback", "--import", "--json"]);
    assert_eq!(
        (&again["turns"], &again["events"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
    user.well(&["journal", "verify"]);
    user.well(&["replay", "--verify"]);
}

#[test]
fn the_page_shows_what_the_command_prints() {
    let user = User::new();
    let project = user.project();
    user.put_session(
        &project,
        "pppp",
        days_ago(3),
        &[
            &[Read("src/lib.rs"), Edited("src/lib.rs")],
            &[Edited("src/lib.rs"), Failed("cargo test")],
        ],
    );
    let printed = user.json(&["lookback", "--since", "30d", "--json"]);
    assert_eq!(printed["total"]["turns"], 2);
    let mut daemon = Daemon {
        home: user.home.clone(),
        child: None,
    };
    let of_user = user.home.path().join("user");
    daemon.start_with(&[("HOME", of_user.to_str().expect("text"))]);
    let page = Page::open(&daemon);
    let key = page.enter();
    let answer = page.get("/api/lookback?days=30", &[("Authorization", &key)]);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let shown: Value = serde_json::from_str(&answer.body).expect("JSON");
    for part in [
        "total", "groups", "days", "rules", "worth", "problems", "complete",
    ] {
        assert!(!printed[part].is_null(), "{part}");
        assert_eq!(shown[part], printed[part], "{part}");
    }
    let refused = page.get("/api/lookback?days=x", &[("Authorization", &key)]);
    assert_eq!(refused.status, 400, "{}", refused.body);
}
