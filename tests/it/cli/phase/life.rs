//! A phase record from `create` to `cleanup`, with a daemon and without one.

use super::*;

/// The life of a phase record, the same with a daemon and without.
fn lives(home: &Home) {
    let project = home.path().join("project");
    fs::create_dir_all(project.join(".git")).expect("a folder");
    let seed = home.path().join("seed.json");
    fs::write(&seed, "{\"state\": {\"mood\": \"calm\"}}").expect("writable");
    let seed = || fs::read_to_string(&seed).expect("there");

    let made = is_created(home, &project);
    let id = made["checkpointId"].as_str().expect("an id");
    assert_eq!(
        seed(),
        format!("{{\"state\": {{\"mood\": \"calm\", \"checkpointRef\": \"{id}\"}}}}")
    );
    is_found_by_project_and_session(home, &project, &made);
    comes_back_when_lost(home, &made);
    is_completed(home, &made);
    assert_eq!(seed(), "{\"state\": {\"mood\": \"calm\"}}");
    assert_eq!(detect(home, &project, &[])["checkpointId"], Value::Null);
    is_cleaned_up(home, &made);
    refuses_what_is_wrong(home);
}

/// Creates a record from a folder deep inside of the project.
fn is_created(home: &Home, project: &Path) -> Value {
    let inside = project.join("src/deep");
    fs::create_dir_all(&inside).expect("a folder");
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
    made
}

fn detect(home: &Home, folder: &Path, arguments: &[&str]) -> Value {
    phase_in(home, folder, &[&["detect"], arguments].concat(), b"").1
}

/// Found from anywhere in its project and by its session, and from nowhere else.
fn is_found_by_project_and_session(home: &Home, project: &Path, made: &Value) {
    let id = &made["checkpointId"];
    let found = |folder: &Path, arguments: &[&str]| detect(home, folder, arguments);
    assert_eq!(&found(project, &[])["checkpointId"], id);
    assert_eq!(found(home.path(), &[])["checkpointId"], Value::Null);
    assert_eq!(
        &found(home.path(), &["--session", "s-1"])["checkpointId"],
        id
    );
    assert_eq!(
        found(project, &["--session", "s-2"])["checkpointId"],
        Value::Null
    );
    assert_eq!(
        found(home.path(), &["--all"])["checkpoint"]["taskSummary"],
        "- half of it"
    );
    assert_eq!(
        phase(home, &["show", id.as_str().expect("an id")])["checkpoint"]["metadata"]["branch"],
        "a=b"
    );
}

/// A lost file comes back as it was.
fn comes_back_when_lost(home: &Home, made: &Value) {
    let id = made["checkpointId"].as_str().expect("an id");
    let path = made["file"].as_str().expect("a path");
    let bytes = fs::read(path).expect("there");
    fs::remove_file(path).expect("there");
    assert_eq!(
        phase(home, &["show", id])["checkpointId"],
        made["checkpointId"]
    );
    assert_eq!(fs::read(path).expect("back"), bytes);
}

fn count_listed(home: &Home, which: &str) -> Option<usize> {
    phase(home, &["list", which])["checkpoints"]
        .as_array()
        .map(Vec::len)
}

fn is_completed(home: &Home, made: &Value) {
    let id = made["checkpointId"].as_str().expect("an id");
    assert_eq!(count_listed(home, "--incomplete"), Some(1));
    assert_eq!(phase(home, &["complete", id])["file"], made["file"]);
    assert_eq!(
        phase(home, &["complete", id])["ok"],
        true,
        "once more changes nothing"
    );
    assert_eq!(read(&made["file"])["completed"], true);
}

fn is_cleaned_up(home: &Home, made: &Value) {
    assert_eq!(count_listed(home, "--completed"), Some(1));
    let deleted = |age: &str| phase(home, &["cleanup", "--older-than", age])["deleted"].clone();
    assert_eq!(deleted("1h"), 0);
    assert_eq!(deleted("0s"), 1);
    assert!(!Path::new(made["file"].as_str().expect("a path")).exists());
}

fn refuses_what_is_wrong(home: &Home) {
    let refusals: [(&[&str], &str); 10] = [
        (&["create"], "phase: missing"),
        (
            &["create", "--phase", "", "--number", "4", "--summary", ""],
            "phase: must not be empty",
        ),
        (
            &["create", "--phase", "x", "--number", "8"],
            "phaseNumber: expected an integer from 1 to 7, got 8",
        ),
        (
            &["create", "--phase", "x", "--number", "-1"],
            "phaseNumber: expected an integer from 1 to 7, got -1",
        ),
        (
            &["create", "--phase", "x", "--number", "two"],
            "phaseNumber: expected an integer from 1 to 7, got \"two\"",
        ),
        (
            &["create", "--phase", "x", "--number", "4"],
            "taskSummary: missing",
        ),
        (
            &["create", "--phase", "x", "--metadata", "y"],
            "metadata: `y` is neither KEY=VALUE nor a JSON object",
        ),
        (
            &["create", "--phase", "x", "--criteria", "/nowhere"],
            "iscCriteria: /nowhere cannot be read",
        ),
        (&["show", "nothing"], "there is no phase record `nothing`"),
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
            .ask(&["journal", "tail", "-n", "1000", "--kind", kind, "--json"])
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
fn what_a_record_says_is_journaled_without_secrets() {
    let home = Home::new();
    let folder = configure(&home);
    let criteria =
        json!([{ "id": "1", "subject": "curl -u me:hunter2x works", "status": "pending" }]);
    let arguments = [
        "create",
        "--phase",
        "build",
        "--number",
        "4",
        "--summary",
        "log in with PGPASSWORD=hunter2x psql",
        "--criteria",
        "-",
        "--metadata",
        "password=hunter2x",
        "--metadata",
        "cwd=PGPASSWORD=hunter2x",
        "--json",
    ];
    // Another program's record, which stays as it is and fits all the same.
    let foreign = json!({
        "id": "other", "sessionId": "s1", "phase": "plan", "phaseNumber": 2, "createdAt": "2026-02-01T10:30:00Z",
        "completed": false, "taskSummary": "PGPASSWORD=hunter2x of another program", "iscCriteria": [], "metadata": {},
    });
    fs::create_dir_all(&folder).expect("writable");
    let path = folder.join("ckpt-1769941800-plan.json");
    fs::write(&path, foreign.to_string()).expect("writable");
    let mut daemon = Daemon::at(home);
    for _ in 0..2 {
        let (code, answer) = phase_in(
            &daemon.home,
            &folder,
            &arguments,
            criteria.to_string().as_bytes(),
        );
        assert_eq!(code, 0, "{answer}");
        let shown = phase(
            &daemon.home,
            &["show", answer["checkpointId"].as_str().expect("an id")],
        );
        assert_eq!(
            shown["checkpoint"]["metadata"]["password"],
            "[redacted: secret]"
        );
        assert!(!read(&answer["file"]).to_string().contains("hunter2x"));
        let listed = phase(&daemon.home, &["list"]);
        assert_eq!(listed["problems"], json!([]), "{listed}");
        assert!(listed.to_string().contains("of another program"));
        let exported = run(
            &mut daemon.home.command(PROGRAM, &["journal", "export"]),
            b"",
        );
        assert!(!String::from_utf8_lossy(&exported.stdout).contains("hunter2x"));
        daemon.kill();
    }
    assert!(
        fs::read_to_string(&path)
            .expect("readable")
            .contains("hunter2x")
    );
}

#[test]
fn metadata_is_json_too_and_files_stay_in_the_folder_of_the_variable() {
    let home = Home::new();
    let user = home.path().join("user");
    fs::create_dir(&user).expect("a folder");
    let metadata = r#"{"tries": 2, "parts": ["a"]}"#;
    let arguments = [
        "progress",
        "phase",
        "create",
        "--phase",
        "build",
        "--number",
        "4",
        "--summary",
        "half",
        "--metadata",
        metadata,
        "--metadata",
        "branch=x",
        "--json",
    ];
    let output = run(
        home.command(PROGRAM, &arguments)
            .env("HOME", &user)
            .current_dir(home.path()),
        b"",
    );
    let made: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let file = PathBuf::from(made["file"].as_str().expect("a path"));
    assert_eq!(file.parent(), Some(&*home.path().join("checkpoints")));
    assert_eq!(fs::read_dir(&user).expect("a folder").count(), 0);
    assert_eq!(
        read(&made["file"])["metadata"],
        json!({ "tries": 2, "parts": ["a"], "branch": "x" })
    );
}
