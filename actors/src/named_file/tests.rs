//! Links, devices and FIFOs in the place of files that an agent or a user names.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use checkpoint::config::Config;
use journal::{Agent, Home};

use super::*;
use crate::project::{self, Project};
use crate::transcripts;
use crate::trust::Trust;

/// Returns the note about a project whose settings file `make` makes.
fn note(make: impl FnOnce(&Path)) -> String {
    let project = tempfile::tempdir().unwrap();
    make(&project.path().join(project::FILE));
    let top = project.path().to_str().unwrap();
    let trust = Trust::of(&Home::under(project.path()));
    Project::look(&Config::default(), &trust, top)
        .notes
        .join("\n")
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn settings_that_are_not_a_plain_file_are_not_used() {
    let refused = |reason: &str| format!(".checkpointd.yml was not used: {reason}");
    assert_eq!(note(|_| {}), "");
    assert_eq!(note(fifo), refused("not a regular file"));
    for target in [
        "/proc/self/pagemap",
        "/proc/kmsg",
        "/dev/zero",
        "/etc/hosts",
    ] {
        let linked = note(|path| symlink(target, path).unwrap());
        assert_eq!(linked, refused("not a regular file"), "{target}");
    }
    assert_eq!(
        note(|path| std::fs::create_dir(path).unwrap()),
        refused("not a regular file")
    );
    let large = "#".repeat(300 * 1024);
    assert_eq!(
        note(|path| std::fs::write(path, &large).unwrap()),
        refused("larger than 262144 bytes")
    );
}

#[test]
fn errors_do_not_quote_the_file() {
    for text in [
        "machine example.org login me password s3cr3t\n",
        "machine example.org\n  login me\n  password s3cr3t\n",
        "rules: machine login password s3cr3t\n",
        "min_turn: \"machine password s3cr3t\"\n",
        "enabled: machine password s3cr3t\n",
        "packs: [machine password s3cr3t]\n",
        "machine password s3cr3t: 1\n",
        "a: 'machine password s3cr3t\n",
    ] {
        let note = note(|path| std::fs::write(path, text).unwrap());
        assert!(
            note.starts_with(".checkpointd.yml was not used: .checkpointd.yml:"),
            "{note}"
        );
        assert!(!note.contains("s3cr3t"), "{note}");
    }
}

#[test]
fn transcripts_are_regular_files() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.jsonl");
    fifo(&pipe);
    let read = |path: &Path| {
        let mut notes = Vec::new();
        let config = Config::default();
        let facts = transcripts::read(&config, Agent::Claude, path, "", &mut notes);
        assert!(facts.is_none());
        notes.join("\n")
    };
    let refused = "cannot read the transcript: not a regular file";
    assert_eq!(read(&pipe), refused);
    assert_eq!(read(Path::new("/dev/zero")), refused);
    for path in ["/proc/self/pagemap", "/proc/kmsg"] {
        if Path::new(path).exists() {
            let note = read(Path::new(path));
            assert!(
                note.contains("empty") || note.contains("denied") || note.contains("permitted"),
                "{note}"
            );
        }
    }
}

#[test]
fn only_a_link_that_may_be_followed_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let link = folder.path().join("link");
    std::fs::write(&file, "text").unwrap();
    symlink(&file, &link).unwrap();
    assert_eq!(text(&file, 4).unwrap(), "text");
    assert!(text(&file, 3).is_err());
    assert!(text(&link, 4).is_err());
    assert_eq!(beginning(&link, 3).unwrap(), b"tex");
}
