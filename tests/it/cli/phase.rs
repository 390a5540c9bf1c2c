//! Phase checkpoints from the outside: with a daemon and without one, many at once, and killed in the midst.

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
    let arguments: Vec<_> = ["phase"].iter().chain(arguments).copied().collect();
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

/// The life of a checkpoint, the same with a daemon and without.
fn lives(home: &Home) {
    let project = home.path().join("project");
    let inside = project.join("src/deep");
    fs::create_dir_all(&inside).expect("a folder");
    fs::create_dir_all(project.join(".git")).expect("a folder");
    fs::write(
        home.path().join("seed.json"),
        "{\"state\": {\"mood\": \"calm\"}}",
    )
    .expect("writable");
    let criteria = json!([{ "id": "C1", "subject": "it parses", "status": "in_progress" }]);
    let arguments = [
        "create",
        "--phase",
        "Build",
        "--number",
        "4",
        "--summary",
        "- half of it",
        "--criteria",
        "-",
        "--metadata",
        "branch=a=b",
        "--metadata",
        "empty=",
        "--session",
        "s-1",
        "--json",
    ];
    let (code, made) = phase_in(home, &inside, &arguments, criteria.to_string().as_bytes());
    assert_eq!((code, &made["ok"]), (0, &json!(true)), "{made}");
    let mut state = read(&made["file"]);
    assert!(
        state["createdAt"]
            .as_str()
            .is_some_and(|at| at.parse::<journal::Timestamp>().is_ok())
    );
    assert_eq!(state["id"], made["checkpointId"]);
    for key in ["id", "createdAt"] {
        state.as_object_mut().expect("an object").remove(key);
    }
    let expected = json!({
        "sessionId": "s-1", "phase": "Build", "phaseNumber": 4, "completed": false, "taskSummary": "- half of it",
        "iscCriteria": criteria, "metadata": { "branch": "a=b", "empty": "" },
    });
    assert_eq!(state, expected);
    let seed = || fs::read_to_string(home.path().join("seed.json")).expect("there");
    let id = made["checkpointId"].as_str().expect("an id");
    assert_eq!(
        seed(),
        format!("{{\"state\": {{\"mood\": \"calm\", \"checkpointRef\": \"{id}\"}}}}")
    );

    // Found from anywhere in its project and by its session, and from nowhere else.
    let found = |folder: &Path, arguments: &[&str]| {
        phase_in(home, folder, &[&["detect"], arguments].concat(), b"").1
    };
    assert_eq!(found(&project, &[])["checkpointId"], made["checkpointId"]);
    assert_eq!(found(home.path(), &[])["checkpointId"], Value::Null);
    assert_eq!(
        found(home.path(), &["--session", "s-1"])["checkpointId"],
        made["checkpointId"]
    );
    assert_eq!(
        found(&project, &["--session", "s-2"])["checkpointId"],
        Value::Null
    );
    assert_eq!(
        found(home.path(), &["--all"])["checkpoint"]["taskSummary"],
        "- half of it"
    );
    assert_eq!(
        phase(home, &["show", id])["checkpoint"]["metadata"]["branch"],
        "a=b"
    );

    // Lost, and back as it was.
    let path = made["file"].as_str().expect("a path");
    let bytes = fs::read(path).expect("there");
    fs::remove_file(path).expect("there");
    assert_eq!(
        phase(home, &["show", id])["checkpointId"],
        made["checkpointId"]
    );
    assert_eq!(fs::read(path).expect("back"), bytes);

    assert_eq!(
        phase(home, &["list", "--incomplete"])["checkpoints"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert_eq!(phase(home, &["complete", id])["file"], made["file"]);
    assert_eq!(
        phase(home, &["complete", id])["ok"],
        true,
        "once more changes nothing"
    );
    assert_eq!(read(&made["file"])["completed"], true);
    assert_eq!(seed(), "{\"state\": {\"mood\": \"calm\"}}");
    assert_eq!(found(&project, &[])["checkpointId"], Value::Null);
    assert_eq!(
        phase(home, &["list", "--completed"])["checkpoints"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert_eq!(
        phase(home, &["cleanup", "--older-than", "1h"])["deleted"],
        0
    );
    assert_eq!(
        phase(home, &["cleanup", "--older-than", "0s"])["deleted"],
        1
    );
    assert!(!Path::new(path).exists());

    let refusals: [(&[&str], &str); 10] = [
        (&["create"], "phase: is missing"),
        (
            &["create", "--phase", "", "--number", "4", "--summary", ""],
            "phase: must not be empty",
        ),
        (
            &["create", "--phase", "x", "--number", "8"],
            "phaseNumber: must be a whole number from 1 to 7, and is 8",
        ),
        (
            &["create", "--phase", "x", "--number", "-1"],
            "phaseNumber: must be a whole number from 1 to 7, and is -1",
        ),
        (
            &["create", "--phase", "x", "--number", "two"],
            "phaseNumber: must be a whole number from 1 to 7, and is \"two\"",
        ),
        (
            &["create", "--phase", "x", "--number", "4"],
            "taskSummary: is missing",
        ),
        (
            &["create", "--phase", "x", "--metadata", "y"],
            "metadata: `y` is not KEY=VALUE",
        ),
        (
            &["create", "--phase", "x", "--criteria", "/nowhere"],
            "iscCriteria: /nowhere cannot be read",
        ),
        (
            &["show", "nothing"],
            "there is no phase checkpoint `nothing`",
        ),
        (
            &["cleanup", "--older-than", "old"],
            "older_than: `old` is not a duration",
        ),
    ];
    for (arguments, expected) in refusals {
        let (code, answer) = phase_in(home, home.path(), arguments, b"");
        assert_eq!((code, &answer["ok"]), (1, &json!(false)), "{arguments:?}");
        let error = answer["error"].as_str().expect("a sentence");
        assert!(error.starts_with(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn a_checkpoint_lives_the_same_with_a_daemon_and_without() {
    let home = Home::new();
    configure(&home);
    lives(&home);
    let daemon = Daemon::at(home);
    lives(&daemon.home);
    let kinds = |kind: &str| {
        daemon
            .ask(&["tail", "-n", "1000", "--kind", kind, "--json"])
            .len()
    };
    assert_eq!(
        ["phase_created", "phase_completed", "phase_deleted"].map(kinds),
        [2, 2, 2]
    );
    assert_eq!(
        daemon.ask(&["sessions", "--json"]),
        Vec::<Value>::new(),
        "it is no session"
    );
    daemon.verify();
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
    let by_name = phase(
        &daemon.home,
        &[
            "create",
            "--phase",
            "plan",
            "--number",
            "3",
            "--summary",
            "",
            "--session",
            "5c1d",
        ],
    );
    let by_place = phase_in(
        &daemon.home,
        &project,
        &[
            "create",
            "--phase",
            "plan",
            "--number",
            "3",
            "--summary",
            "",
        ],
        b"",
    );
    daemon.kill();
    let by_name_alone = phase(
        &daemon.home,
        &[
            "create",
            "--phase",
            "plan",
            "--number",
            "3",
            "--summary",
            "",
            "--session",
            "last",
        ],
    );
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

#[test]
fn the_socket_answers_as_the_command_does() {
    let home = Home::new();
    let folder = configure(&home);
    let daemon = Daemon::at(home);
    let post = |word: &str, body: &Value| {
        let (status, answer) = daemon
            .http(
                "POST",
                &format!("/v1/phase/{word}"),
                &[],
                body.to_string().as_bytes(),
            )
            .expect("an answer");
        (
            status,
            serde_json::from_str::<Value>(&answer)
                .unwrap_or_else(|error| panic!("{error}: {answer}")),
        )
    };
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
    let question = json!({ "query": "incomplete_phase", "project": daemon.home.path().canonicalize().expect("there") });
    let asked = daemon.http(
        "POST",
        "/v1/query",
        &[("Content-Type", "application/json")],
        question.to_string().as_bytes(),
    );
    let asked: Value = serde_json::from_str(
        asked
            .expect("an answer")
            .1
            .lines()
            .find(|line| line.starts_with('{'))
            .expect("a line"),
    )
    .expect("JSON");
    assert_eq!(&asked["id"], id);
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
    for (word, body, expected) in [
        ("show", json!({ "id": "x" }), 404),
        ("complete", json!({ "id": id }), 404),
        ("create", json!({ "checkpoint": { "phase": "" } }), 400),
        ("create", json!([]), 400),
        ("explode", json!({}), 400),
    ] {
        let (status, answer) = post(word, &body);
        assert_eq!(
            (status, &answer["ok"]),
            (expected, &json!(false)),
            "{word}: {answer}"
        );
    }
    assert_eq!(
        daemon
            .http("POST", "/v1/phase/list", &[], b"{")
            .expect("an answer")
            .0,
        400
    );
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
    let imported = || daemon.ask(&["tail", "--kind", "phase_created", "--json"]);
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
fn many_writers_of_one_moment_get_files_of_their_own() {
    let home = Home::new();
    let folder = configure(&home);
    let mut daemon = Daemon::at(home);
    let at_once = |daemon: &Daemon| {
        let writers: Vec<_> = (0..6)
            .map(|_| {
                let arguments = [
                    "phase",
                    "create",
                    "--phase",
                    "build",
                    "--number",
                    "4",
                    "--summary",
                    "x",
                ];
                let mut command = daemon.home.command(PROGRAM, &arguments);
                command
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("starts")
            })
            .collect();
        for writer in writers {
            let output = writer.wait_with_output().expect("ends");
            let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(answer["ok"], true, "{answer}");
            assert_eq!(
                read(&answer["file"])["id"],
                answer["checkpointId"],
                "nobody else's"
            );
        }
    };
    at_once(&daemon);
    daemon.kill();
    at_once(&daemon);
    assert_eq!(files(&folder).len(), 12);
    let listed = phase(&daemon.home, &["list"]);
    assert_eq!(
        (
            listed["checkpoints"].as_array().map(Vec::len),
            &listed["problems"]
        ),
        (Some(12), &json!([]))
    );
    assert_eq!(listed["rebuilt"], json!([]));
}

/// Names and lengths of all that is in a folder.
fn sizes(folder: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| {
        (
            entry.file_name().to_string_lossy().into_owned(),
            entry.metadata().map_or(0, |meta| meta.len()),
        )
    };
    let mut sizes: Vec<_> = entries.map(size).collect();
    sizes.sort();
    sizes
}

/// Kills a command as soon as it has begun to write a file, or a moment later.
fn kill_while_writing(home: &Home, folder: &Path, arguments: &[&str], pause: usize) {
    let arguments: Vec<_> = ["phase"].iter().chain(arguments).copied().collect();
    let before = sizes(folder);
    let mut child = home
        .command(PROGRAM, &arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    let has_begun = || sizes(folder) != before;
    while !has_begun() && child.try_wait().expect("a child").is_none() {}
    for _ in 0..pause {
        let _ = has_begun();
    }
    let _ = child.kill();
    child.wait().expect("is gone");
}

#[test]
fn a_kill_in_the_midst_of_a_write_leaves_the_old_file_or_the_new_one() {
    let home = Home::new();
    let folder = configure(&home);
    // Large, so that writing takes a while.
    let criterion = json!({ "id": "C", "subject": "x".repeat(300_000), "status": "pending" });
    let criteria = home.path().join("criteria.json");
    fs::write(&criteria, json!([criterion]).to_string()).expect("writable");
    let make = [
        "create",
        "--phase",
        "build",
        "--number",
        "4",
        "--summary",
        "s",
        "--criteria",
        "criteria.json",
    ];
    let old = phase(&home, &make);
    let id = old["checkpointId"].as_str().expect("an id");
    let path = old["file"].as_str().expect("a path");
    let before = fs::read(path).expect("there");
    let completed = String::from_utf8(before.clone()).expect("text").replacen(
        "\"completed\": false",
        "\"completed\": true",
        1,
    );
    for pause in 0..5 {
        kill_while_writing(&home, &folder, &make, pause * 20);
        files(&folder);
    }
    // What was journaled and not written comes back, so that the next ones are killed at the file that they are for.
    phase(&home, &["list"]);
    for pause in 0..5 {
        kill_while_writing(&home, &folder, &["complete", id], pause * 20);
        let now = fs::read(path).expect("there");
        assert!(
            now == before || now == completed.as_bytes(),
            "half of it after {pause}"
        );
        // Back to the beginning: as if the file had not been written yet.
        fs::write(path, &before).expect("writable");
        for entry in fs::read_dir(&folder).expect("there").flatten() {
            if entry
                .file_name()
                .to_string_lossy()
                .starts_with(".checkpointd-")
            {
                fs::remove_file(entry.path()).expect("there");
            }
        }
    }
    // The next look finishes what was begun, and clears away what is half written.
    let listed = phase(&home, &["list"]);
    assert_eq!(listed["problems"], json!([]));
    assert!(
        fs::read(path).expect("there") == completed.as_bytes(),
        "it is completed"
    );
    assert_eq!(
        files(&folder).len(),
        listed["checkpoints"].as_array().map_or(0, Vec::len)
    );
    assert_eq!(
        fs::read_dir(&folder).expect("there").count(),
        files(&folder).len(),
        "nothing is left behind"
    );
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).expect("there").permissions());
    assert_eq!(mode & 0o777, 0o600);

    // The daemon is killed while it works for many.
    let mut daemon = Daemon::at(home);
    let mut writers = Vec::new();
    for _ in 0..4 {
        let mut command = daemon.home.command(PROGRAM, &["phase"]);
        command
            .args(make)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        writers.push(command.spawn().expect("starts"));
    }
    let count = files(&folder).len();
    wait_until(|| files(&folder).len() > count);
    daemon.kill();
    for mut writer in writers {
        writer.wait().expect("ends");
    }
    files(&folder);
    daemon.start();
    let listed = phase(&daemon.home, &["list"]);
    assert_eq!(
        (
            &listed["problems"],
            listed["checkpoints"].as_array().map(Vec::len)
        ),
        (&json!([]), Some(files(&folder).len()))
    );
    daemon.verify();
}
