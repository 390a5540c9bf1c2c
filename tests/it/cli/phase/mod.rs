//! Phase checkpoints from the outside: with a daemon and without one, many at once, and killed in the midst.

mod life;
mod writers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::{Home, run, wait_until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkpointd");

/// Writes a configuration, and returns the folder that it names.
fn configure(home: &Home) -> PathBuf {
    let folder = home.path().join("ckpt");
    let text = format!(
        "phase: {{folder: '{}', seed: '{}'}}\n",
        folder.display(),
        home.path().join("seed.json").display()
    );
    fs::write(home.path().join("config.yml"), text).expect("writable");
    folder
}

/// Runs `phase` in a folder and returns its exit code and its answer.
fn phase_in(home: &Home, folder: &Path, arguments: &[&str], stdin: &[u8]) -> (i32, Value) {
    let arguments: Vec<_> = ["progress", "phase"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let output = run(home.command(PROGRAM, &arguments).current_dir(folder), stdin);
    let text = String::from_utf8(output.stdout).expect("text");
    let answer = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"));
    (output.status.code().expect("no signal"), answer)
}

fn phase(home: &Home, arguments: &[&str]) -> Value {
    let (code, answer) = phase_in(home, home.path(), arguments, b"");
    assert_eq!(
        (code, &answer["ok"]),
        (0, &json!(true)),
        "{arguments:?}: {answer}"
    );
    answer
}

fn create(home: &Home, phase_name: &str) -> Value {
    phase(
        home,
        &[
            "create",
            "--phase",
            phase_name,
            "--number",
            "4",
            "--summary",
            "half of it",
        ],
    )
}

fn read(path: &Value) -> Value {
    serde_json::from_slice(&fs::read(path.as_str().expect("a path")).expect("readable"))
        .expect("JSON")
}

/// The checkpoints' files by name; each of them is whole.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let bytes = fs::read(&path).expect("readable");
            let state: Value =
                serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert!(state["metadata"].is_object(), "{path:?} is cut short");
            (
                path.file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned(),
                bytes,
            )
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_session_of_the_journal_tells_project_and_id() {
    let home = Home::new();
    configure(&home);
    let mut daemon = Daemon::at(home);
    let project = daemon.home.path().join("work");
    fs::create_dir_all(&project).expect("a folder");
    let native = "5c1d8f0a-0000-4000-8000-00000000c0de";
    let prompt = json!({
        "session_id": native, "cwd": project, "hook_event_name": "UserPromptSubmit", "prompt_id": "p", "prompt": "go",
    });
    daemon.hook(&["claude"], prompt.to_string().as_bytes());
    let plan = [
        "create",
        "--phase",
        "plan",
        "--number",
        "3",
        "--summary",
        "",
    ];
    let of_session = |session| [&plan[..], &["--session", session]].concat();
    let by_name = phase(&daemon.home, &of_session("5c1d"));
    let by_place = phase_in(&daemon.home, &project, &plan, b"");
    daemon.kill();
    let by_name_alone = phase(&daemon.home, &of_session("last"));
    for made in [&by_name, &by_place.1, &by_name_alone] {
        assert_eq!(read(&made["file"])["sessionId"], native, "{made}");
        let shown = phase(
            &daemon.home,
            &["show", made["checkpointId"].as_str().expect("an id")],
        );
        let canonical = project.canonicalize().expect("there");
        assert_eq!(
            shown["checkpoint"]["project"],
            json!(canonical),
            "the session's, wherever the caller is"
        );
    }
    let nowhere = create(&daemon.home, "plan");
    assert_eq!(
        read(&nowhere["file"])["sessionId"],
        "none",
        "no session of this folder is known"
    );
}

/// Posts a body to a route of phase records, and returns the status and the answer.
fn post(daemon: &Daemon, word: &str, body: &Value) -> (u16, Value) {
    let (status, answer) = daemon
        .http(
            "POST",
            &format!("/v1/phase/{word}"),
            &[],
            body.to_string().as_bytes(),
        )
        .expect("an answer");
    let answer = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
    (status, answer)
}

#[test]
fn the_socket_answers_as_the_command_does() {
    let home = Home::new();
    let folder = configure(&home);
    let daemon = Daemon::at(home);
    let post = |word: &str, body: &Value| post(&daemon, word, body);
    let checkpoint = json!({ "phase": "learn", "phaseNumber": 7, "taskSummary": "done", "metadata": { "n": 0.1 } });
    let (status, made) = post(
        "create",
        &json!({ "checkpoint": checkpoint, "project": folder.parent() }),
    );
    assert_eq!((status, &made["ok"]), (200, &json!(true)), "{made}");
    let id = &made["checkpointId"];
    assert_eq!(
        post("show", &json!({ "id": id })).1["checkpoint"]["metadata"],
        json!({ "n": 0.1 })
    );
    assert_eq!(&post("detect", &json!({})).1["checkpointId"], id);
    assert_eq!(post("complete", &json!({ "id": id })).0, 200);
    assert_eq!(
        post("list", &json!({ "completed": true })).1["checkpoints"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert_eq!(
        post("cleanup", &json!({ "older_than": "0s" })).1["deleted"],
        1
    );
    assert_eq!(post("rebuild", &json!({})).1["rebuilt"], json!([]));
    let (status, answer) = post("complete", &json!({ "id": id }));
    assert_eq!(
        (status, &answer["ok"]),
        (404, &json!(false)),
        "deleted: {answer}"
    );
}

#[test]
fn the_socket_refuses_what_is_wrong() {
    let home = Home::new();
    configure(&home);
    let daemon = Daemon::at(home);
    for (word, body, expected) in [
        ("show", json!({ "id": "x" }), 404),
        ("create", json!({ "checkpoint": { "phase": "" } }), 400),
        ("create", json!([]), 400),
        ("explode", json!({}), 400),
    ] {
        let (status, answer) = post(&daemon, word, &body);
        assert_eq!(
            (status, &answer["ok"]),
            (expected, &json!(false)),
            "{word}: {answer}"
        );
    }
    let broken = daemon.http("POST", "/v1/phase/list", &[], b"{");
    assert_eq!(broken.expect("an answer").0, 400);
}

#[test]
fn a_daemon_that_comes_up_knows_what_other_programs_have_left() {
    let home = Home::new();
    let folder = configure(&home);
    fs::create_dir(&folder).expect("a folder");
    let state = json!({
        "id": "V1StGXR8_Z5jdHi6B-myT", "sessionId": "far", "phase": "observe", "phaseNumber": 1, "completed": false,
        "createdAt": "2026-02-01T10:30:00.000Z", "taskSummary": "", "iscCriteria": [], "metadata": {},
    });
    fs::write(
        folder.join("ckpt-2026-02-01T10-30-00-observe.json"),
        state.to_string(),
    )
    .expect("writable");
    let daemon = Daemon::at(home);
    let imported = || daemon.ask(&["journal", "tail", "--kind", "phase_created", "--json"]);
    wait_until(|| !imported().is_empty());
    assert_eq!(
        (
            &imported()[0]["imported"],
            &imported()[0]["checkpoint"]["session"]
        ),
        (&json!(true), &json!("far"))
    );
    let found = phase(&daemon.home, &["detect", "--session", "far"]);
    assert_eq!(found["checkpoint"]["phase"], "observe");
    assert_eq!(imported().len(), 1);
}

#[test]
fn a_question_creates_no_journal() {
    let home = Home::new();
    configure(&home);
    assert_eq!(phase(&home, &["list"])["checkpoints"], json!([]));
    assert_eq!(phase(&home, &["detect"])["checkpoint"], Value::Null);
    let (code, answer) = phase_in(&home, home.path(), &["show", "none"], b"");
    assert_eq!((code, &answer["ok"]), (1, &json!(false)), "{answer}");
    let left: Vec<_> = fs::read_dir(home.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(left, ["config.yml"], "nothing is made");
}
