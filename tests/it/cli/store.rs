//! The journal as a whole: backup, restore, compaction, from the outside.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::{Act, Home, http, next, run, serve, wait_until};

/// Runs a command in a home, and returns its exit code and what it printed.
pub(crate) fn checkpointd(home: &Home, arguments: &[&str]) -> (i32, String, String) {
    let output = run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
        b"",
    );
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (
        output.status.code().expect("no signal"),
        text(output.stdout),
        text(output.stderr),
    )
}

fn well(home: &Home, arguments: &[&str]) -> String {
    let (code, out, error) = checkpointd(home, arguments);
    assert_eq!(code, 0, "{arguments:?}: {out}{error}");
    out
}

fn answer(home: &Home, arguments: &[&str]) -> Value {
    let out = well(home, arguments);
    serde_json::from_str(&out).expect("JSON")
}

fn is_proven(home: &Home) {
    for arguments in [
        ["journal", "verify", "--json"],
        ["replay", "--verify", "--json"],
    ] {
        well(home, &arguments);
    }
}

/// A daemon that has seen a session of every agent, with decisions.
pub(crate) fn with_history(config: &str) -> Daemon {
    let daemon = Daemon::with(&format!("{EVERY_STOP}{config}"));
    for scenario in [
        "claude/h-stop-block-once",
        "codex/h-stop-block-once",
        "gemini/h-stop-deny-once",
    ] {
        for call in recorded(scenario) {
            play(&daemon, &call);
        }
    }
    // How it ended is journaled a moment after the last call.
    wait_until(|| {
        daemon
            .ask(&["audit", "--json"])
            .iter()
            .all(|decision| decision["delivery"] != "pending")
    });
    daemon
}

/// Backs up to a folder while hook calls come in.
fn back_up_under_load(daemon: &Daemon, folder: &Path) -> Value {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut sent = 0;
            while !stop.load(Ordering::Relaxed) {
                sent += 1;
                let payload = json!({ "session_id": "load", "hook_event_name": "PostToolUse", "tool_name": "Bash",
                    "tool_use_id": sent.to_string(), "tool_input": { "command": "ls" }, "tool_response": "" });
                let answered = daemon.http("POST", "/v1/hooks/claude", &[], payload.to_string().as_bytes());
                assert_eq!(answered.expect("an answer").0, 200);
            }
            sent
        });
        wait_until(|| {
            daemon
                .http("GET", "/v1/sessions/load", &[], b"")
                .is_some_and(|(status, _)| status == 200)
        });
        let backup = answer(
            &daemon.home,
            &["journal", "backup", &folder.display().to_string(), "--json"],
        );
        stop.store(true, Ordering::Relaxed);
        assert!(load.join().expect("no panic") > 0);
        backup
    })
}

fn refuses_to_overwrite(home: &Home, file: &str) {
    let (code, _, error) = checkpointd(home, &["journal", "backup", file]);
    assert!(code == 1 && error.contains("never overwritten"), "{error}");
    let (code, _, error) = checkpointd(home, &["journal", "restore", file, "--force"]);
    assert!(code == 1 && error.contains("daemon stop"), "{error}");
}

#[test]
fn a_backup_under_load_restores_elsewhere_to_the_same_journal() {
    let mut daemon = with_history("");
    let folder = Home::new();
    let backup = back_up_under_load(&daemon, folder.path());
    let events = backup["events"].as_u64().expect("a number") as usize;
    let file = backup["file"].as_str().expect("a path");
    assert_eq!(
        fs::metadata(file).expect("there").len(),
        backup["bytes"].as_u64().expect("a number")
    );
    refuses_to_overwrite(&daemon.home, file);

    let other = Home::new();
    let restored = answer(
        &other,
        &[
            "journal",
            "restore",
            &folder.path().display().to_string(),
            "--json",
        ],
    );
    assert_eq!(
        (&restored["events"], &restored["ok"], &restored["kept"]),
        (&json!(events), &json!(true), &Value::Null)
    );
    let all = well(&daemon.home, &["journal", "export"]);
    let copy = well(&other, &["journal", "export"]);
    assert!(all.starts_with(&copy), "not the same events");
    assert_eq!(copy.lines().count(), events);
    is_proven(&other);
    // The same without a daemon, into a journal that is there.
    daemon.kill();
    let here = folder.path().join("here.backup");
    let backup = answer(
        &daemon.home,
        &["journal", "backup", &here.display().to_string(), "--json"],
    );
    assert_eq!(backup["events"], all.lines().count());
    restores_over_a_journal_only_when_forced(&other, &here.display().to_string());
    assert_eq!(well(&other, &["journal", "export"]), all);
    is_proven(&other);
}

/// A journal that is there is replaced only by `--force`, and is kept.
fn restores_over_a_journal_only_when_forced(home: &Home, file: &str) {
    let before = well(home, &["journal", "export"]);
    let (code, _, error) = checkpointd(home, &["journal", "restore", file]);
    assert!(code == 1 && error.contains("--force"), "{error}");
    assert_eq!(well(home, &["journal", "export"]), before);
    let restored = answer(home, &["journal", "restore", file, "--force", "--json"]);
    let kept = restored["kept"].as_str().expect("a folder");
    assert!(fs::read_dir(kept).expect("kept").count() > 0);
}

#[test]
fn a_file_that_is_no_backup_is_refused_and_nothing_changes() {
    let mut daemon = with_history("");
    daemon.kill();
    let before = well(&daemon.home, &["journal", "export"]);
    let file = daemon.home.path().join("notes.txt");
    fs::write(&file, "nothing of ours").expect("writes");
    let (code, _, error) = checkpointd(
        &daemon.home,
        &["journal", "restore", "notes.txt", "--force"],
    );
    assert!(
        code == 1 && error.contains("not a backup") && error.contains("nothing was changed"),
        "{error}"
    );
    let (code, _, error) = checkpointd(&daemon.home, &["journal", "restore", "absent", "--force"]);
    assert!(code == 1 && error.contains("absent"), "{error}");
    assert_eq!(well(&daemon.home, &["journal", "export"]), before);
}

#[test]
fn a_store_is_built_anew_by_hand() {
    let mut daemon = with_history("");
    daemon.kill();
    let before = well(&daemon.home, &["journal", "export"]);
    let (_, said, _) = checkpointd(&daemon.home, &["journal", "restore"]);
    assert!(
        said.contains("whole") && said.contains("store.replaced-"),
        "{said}"
    );
    assert_eq!(well(&daemon.home, &["journal", "export"]), before);
    is_proven(&daemon.home);
    let (code, _, error) = checkpointd(&Home::new(), &["journal", "restore"]);
    assert!(
        code == 3 && error.contains("there is no journal"),
        "{error}"
    );
}

/// Counts the lines of an export with a payload, with a dropped one, and all prompts among the former.
fn payloads(export: &str) -> (usize, usize, usize) {
    let lines: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let dropped = lines
        .iter()
        .filter(|line| line["payload_dropped"] == true && line["payload"].is_null())
        .count();
    let kept: Vec<_> = lines
        .iter()
        .filter(|line| !line["payload"].is_null())
        .collect();
    let prompts = kept
        .iter()
        .filter(|line| line["kind"] == "prompt_submitted")
        .count();
    (kept.len(), dropped, prompts)
}

/// Compacts, after a dry run that changes nothing, as many payloads as are due.
fn is_compacted(home: &Home, due: &Value) {
    let before = well(home, &["journal", "export"]);
    let dry = answer(home, &["journal", "compact", "--dry-run", "--json"]);
    assert_eq!((&dry["dry_run"], &dry["payloads"]), (&json!(true), due));
    assert_eq!(well(home, &["journal", "export"]), before);
    let done = answer(home, &["journal", "compact", "--json"]);
    assert_eq!(
        (&done["payloads"], &done["segments"], &done["skipped"]),
        (due, &json!(1), &json!([]))
    );
    assert!(
        done["intake_bytes"].as_u64() < done["intake_bytes_before"].as_u64(),
        "{done}"
    );
}

/// The export is the same from the intake log alone, and after an import elsewhere.
fn is_rebuilt_from_intake_log_and_export(home: &Home) {
    let export = well(home, &["journal", "export"]);
    fs::remove_dir_all(home.path().join("journal/store")).expect("removes");
    assert_eq!(well(home, &["journal", "export"]), export);
    let other = Home::new();
    let imported = run(
        &mut other.command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "import"]),
        export.as_bytes(),
    );
    assert_eq!(
        imported.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&imported.stderr)
    );
    assert_eq!(well(&other, &["journal", "export"]), export);
    is_proven(&other);
}

/// Under the daemon and without it.
#[test]
fn compaction_drops_payloads_and_proves_as_before() {
    let config =
        "journal: {compact: off, retention: {payloads: 0s, kinds: {prompt_submitted: forever}}}\n";
    let mut daemon = with_history(config);
    let decisions = well(&daemon.home, &["audit", "--json"]);
    let before = well(&daemon.home, &["journal", "export"]);
    let (with_payload, _, prompts) = payloads(&before);
    assert!(prompts > 0 && with_payload > prompts);
    let due = json!(with_payload - prompts);

    is_compacted(&daemon.home, &due);
    let after = well(&daemon.home, &["journal", "export"]);
    assert_eq!(payloads(&after), (prompts, with_payload - prompts, prompts));
    daemon.verify();
    let verified = answer(&daemon.home, &["journal", "verify", "--json"]);
    assert_eq!(verified["payloads_dropped"], due);

    // What comes later is there; after a kill and a start nothing has come back.
    for call in recorded("claude/h-normal") {
        play(&daemon, &call);
    }
    daemon.kill();
    daemon.start();
    daemon.verify();
    let now = well(&daemon.home, &["journal", "export"]);
    assert!(now.starts_with(&after) && payloads(&now).0 > prompts);
    assert!(well(&daemon.home, &["audit", "--json"]).starts_with(&decisions));
    daemon.kill();
    let db = || {
        fs::metadata(daemon.home.path().join("journal/store/db"))
            .expect("a store")
            .ino()
    };
    let before = db();
    let here = answer(&daemon.home, &["journal", "compact", "--json"]);
    assert_ne!(db(), before, "the store is packed while no daemon has it");
    assert!(
        here["payloads"].as_u64().is_some_and(|dropped| dropped > 0),
        "{here}"
    );
    assert_eq!(
        payloads(&well(&daemon.home, &["journal", "export"])).0,
        payloads(&now).2
    );
    is_proven(&daemon.home);
    is_rebuilt_from_intake_log_and_export(&daemon.home);
}

#[test]
fn the_daemon_drops_old_payloads_once_a_day_unless_told_not_to() {
    let mut daemon = with_history("journal: {compact: off, retention: {payloads: 0s}}\n");
    let config = daemon.home.path().join("config.yml");
    let marker = daemon.home.path().join("journal/compacted");
    daemon.kill();
    daemon.start();
    assert!(!marker.exists());
    assert!(payloads(&well(&daemon.home, &["journal", "export"])).0 > 0);
    daemon.kill();
    fs::write(
        &config,
        format!("{EVERY_STOP}journal: {{retention: {{payloads: 0s}}}}\n"),
    )
    .expect("writes");
    daemon.start();
    wait_until(|| marker.exists());
    assert_eq!(payloads(&well(&daemon.home, &["journal", "export"])).0, 0);
    daemon.verify();
}

#[test]
fn a_question_that_a_daemon_does_not_live_to_answer_is_asked_again() {
    let home = Home::new();
    let line = json!({ "agent": "claude", "payload": {
        "session_id": "asked", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/elsewhere",
    } });
    let mut append = home.command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "append"]);
    let appended = run(&mut append, line.to_string().as_bytes());
    assert_eq!(appended.status.code(), Some(0), "{appended:?}");
    // It answers that it is well, and ends before it answers what it is asked.
    let health = json!({ "ok": true, "version": "0", "pid": 1, "uptime_ms": 1 }).to_string();
    let requests = serve(&home.socket(), move |number| {
        Act::Reply(match number {
            0 | 1 => http(200, &health),
            2 => Vec::new(),
            _ => http(503, ""),
        })
    });
    let sessions = answer(&home, &["sessions", "--all", "--json"]);
    assert_eq!(sessions["native_session"], "asked", "{sessions}");
    let asked: Vec<_> = (0..4).map(|_| next(&requests)).collect();
    assert!(asked[2].starts_with(b"POST /v1/query"), "{asked:?}");
    assert!(asked[3].starts_with(b"GET /healthz"), "{asked:?}");
}
