//! An imported journal of somebody else, whose events name files and projects of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::{Home, run, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkpointd");
const SESSION: &str = "5c1d8f0a-0000-4000-8000-00000000c0de";

fn ok(home: &Home, folder: &Path, arguments: &[&str], stdin: &[u8]) -> String {
    let output = run(home.command(PROGRAM, arguments).current_dir(folder), stdin);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    text(&output.stdout)
}

/// Returns the files and links below a folder, which may be missing.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .flat_map(|path| match path.is_dir() {
            true => files_below(&path),
            false => vec![path],
        })
        .collect()
}

fn configure(home: &Home) {
    let config = format!(
        "phase: {{folder: '{}'}}\n",
        home.path().join("outside/ckpt").display()
    );
    fs::write(home.path().join("config.yml"), config).expect("written");
}

/// Returns a journal with a document in a project and a phase record, which claims that the project is `victim`.
fn exported(victim: &Path) -> Vec<u8> {
    let mut daemon = Daemon::prepared("");
    configure(&daemon.home);
    daemon.start();
    let project = tempfile::tempdir().expect("a folder");
    let top = project.path().canonicalize().expect("there");
    for event in ["SessionStart", "UserPromptSubmit"] {
        let payload = json!({
            "session_id": SESSION, "cwd": top, "hook_event_name": event, "prompt": "please", "source": "startup",
        });
        daemon.hook(&["claude", event], payload.to_string().as_bytes());
    }
    ok(
        &daemon.home,
        &top,
        &["progress", "write", "--session", SESSION, "--json"],
        b"",
    );
    ok(
        &daemon.home,
        &top,
        &[
            "progress",
            "phase",
            "create",
            "--phase",
            "one",
            "--number",
            "1",
            "--summary",
            "x",
        ],
        b"",
    );
    assert!(
        !files_below(&top).is_empty(),
        "the document is in the project"
    );
    let text = ok(&daemon.home, &top, &["journal", "export"], b"");
    let names_top = text.matches(&*top.to_string_lossy()).count();
    assert!(names_top > 2, "the events name the project");
    text.replace(&*top.to_string_lossy(), &victim.to_string_lossy())
        .into_bytes()
}

/// Imports a journal, and does everything by which files follow from it, as the daemon does and as people order it. Returns
/// the daemon.
fn import(journal: &[u8], options: &[&str], victim: &Path) -> Daemon {
    let home = Home::new();
    configure(&home);
    ok(
        &home,
        victim,
        &[&["journal", "import"], options].concat(),
        journal,
    );
    let daemon = Daemon::at(home);
    for arguments in [
        &["progress", "rebuild", "--json"][..],
        &["progress", "rebuild", "--force", "--json"],
        &["progress", "write", "--session", SESSION, "--json"],
        &["progress", "phase", "list"],
        &["progress", "phase", "rebuild"],
    ] {
        ok(&daemon.home, victim, arguments, b"");
    }
    daemon
}

#[test]
fn files_are_written_only_into_the_data_because_of_imported_events() {
    let victim = tempfile::tempdir().expect("a folder");
    let victim = victim.path().canonicalize().expect("there");
    let journal = exported(&victim);
    let daemon = import(&journal, &[], &victim);
    assert_eq!(files_below(&victim), Vec::<PathBuf>::new());
    let outside = daemon.home.path().join("outside");
    assert_eq!(files_below(&outside), Vec::<PathBuf>::new());
    let documents = files_below(&daemon.home.path().join("progress"));
    assert!(!documents.is_empty(), "they can still be read");
    daemon.verify();

    // The owner of both machines may say so. This also shows that the events name what would be written.
    let daemon = import(&journal, &["--own"], &victim);
    assert!(!files_below(&victim).is_empty());
    let outside = daemon.home.path().join("outside");
    assert_eq!(files_below(&outside).len(), 1, "the phase record");
}

#[test]
fn a_phase_record_names_no_file_outside_its_folder() {
    let victim = tempfile::tempdir().expect("a folder");
    let victim = victim.path().canonicalize().expect("there");
    let there = victim.join("settings.json");
    fs::write(&there, "mine").expect("written");
    let journal = exported(&victim);
    let lines = String::from_utf8(journal).expect("text");
    for name in [there.display().to_string(), "../../ckpt-x.json".to_owned()] {
        let forged: String = lines
            .lines()
            .map(|line| {
                let mut event: Value = serde_json::from_str(line).expect("JSON");
                if event["kind"] == "phase_created" {
                    event["file"] = json!(name);
                }
                format!("{event}\n")
            })
            .collect();
        assert!(forged.contains(&name));
        let daemon = import(forged.as_bytes(), &["--own"], &victim);
        let cleaned = run(
            &mut daemon.home.command(
                PROGRAM,
                &["progress", "phase", "cleanup", "--older-than", "0s"],
            ),
            b"",
        );
        assert_eq!(cleaned.status.code(), Some(0), "{cleaned:?}");
        assert_eq!(fs::read_to_string(&there).expect("there"), "mine");
        assert!(!daemon.home.path().join("ckpt-x.json").exists());
    }
}
