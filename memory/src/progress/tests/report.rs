//! Whether a document still holds.

use journal::{ChangedFile, ProgressKind};

use super::{HANDOFF, at, document};
use crate::progress::{Elsewhere, Now, OtherFile, compare};

type Change = fn(&mut Now);

/// The check, what it finds, and the change that makes it find that.
const CHANGES: [(&str, &str, Change); 11] = [
    ("git", "on `main`, not on `feature`", |now| {
        now.git.as_mut().expect("git").branch = Some("main".into())
    }),
    ("git", "last commit was a1b2c3d4e5 and is ffff", |now| {
        now.git.as_mut().expect("git").commit = Some("ffff".into())
    }),
    ("git", "no longer uncommitted: `src/jwt.rs`", |now| {
        now.git.as_mut().expect("git").uncommitted.clear()
    }),
    ("git", "uncommitted since: `b`", |now| {
        now.git
            .as_mut()
            .expect("git")
            .uncommitted
            .push(("??".into(), "b".into()))
    }),
    ("git", "git cannot be asked (timeout)", |now| {
        now.git = Err("timeout".into())
    }),
    ("files", "gone: `src/jwt.rs`", |now| {
        now.files[0].hash = None
    }),
    ("files", "changed since: `src/jwt.rs`", |now| {
        now.files[0].hash = Some(8)
    }),
    ("files", "changed since: `by-shell.txt`", |now| {
        now.files[1].hash = Some(8)
    }),
    ("files", "gone: `by-shell.txt`", |now| {
        now.files[1].hash = None
    }),
    ("files", "to be read, but not there: `x.md`", |now| {
        now.missing.push("x.md".into())
    }),
    ("dependencies", "changed since: `Cargo.lock`", |now| {
        now.lock_files.clear()
    }),
];

#[test]
fn a_report_names_each_thing_that_does_not_hold_any_more() {
    let mut document = document(ProgressKind::Full, HANDOFF);
    document.others.push(OtherFile {
        path: "by-shell.txt".into(),
        status: "modified".into(),
        hash: Some(7),
        ..OtherFile::default()
    });
    let mark = |path: &str| ChangedFile {
        path: path.into(),
        hash: Some(7),
    };
    let same = Now {
        git: document.git.clone(),
        files: vec![mark("src/jwt.rs"), mark("by-shell.txt")],
        missing: vec![],
        lock_files: document.lock_files.clone(),
        elsewhere: vec![],
    };
    assert!(compare(&document, &same).holds);
    let other = |files: &[&str]| Elsewhere {
        who: "codex session x".into(),
        last_at: at(1),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
    };
    let unread = Now {
        files: vec![mark("src/jwt.rs")],
        ..same.clone()
    };
    assert!(
        compare(&document, &unread).holds,
        "there was no time for it"
    );
    for (check, found, change) in CHANGES {
        let mut now = same.clone();
        change(&mut now);
        let report = compare(&document, &now);
        let bad: Vec<_> = report.lines.iter().filter(|line| !line.ok).collect();
        assert!(!report.holds && bad.len() == 1, "{found}: {report:?}");
        assert!(
            bad[0].check == check && bad[0].found.starts_with(found) && bad[0].reconcile.is_some(),
            "{found}: {bad:?}"
        );
    }
    let with = |files: &[&str]| {
        compare(
            &document,
            &Now {
                elsewhere: vec![other(files)],
                ..same.clone()
            },
        )
    };
    assert!(
        with(&["other.rs"]).holds,
        "work on other files is no conflict"
    );
    assert!(!with(&["src/jwt.rs"]).holds);
}
