//! Documents that are written by command: shown, checked, rebuilt, and safe from each other.

use super::*;

fn tells_what_was_done_and_stated(text: &str) {
    for words in [
        "# Session Handoff Checkpoint",
        "| `new.rs` | created | written once |",
        "- [ ] error messages",
        "**Branch**: `main`",
        "Yes - `new.rs`",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

/// Validates, and returns the exit code, the names of the checks that fail, and the whole report.
fn failed_checks(home: &Home, project: &Path) -> (i32, Vec<String>, Value) {
    let (code, report) = ask(home, project, &["progress", "validate", "--json"], "");
    let lines = report["lines"].as_array().expect("lines").iter();
    let failed = lines
        .filter(|line| line["ok"] == false)
        .map(|line| line["check"].as_str().expect("a word").to_owned())
        .collect();
    (code, failed, report)
}

fn refuses_an_unknown_field(home: &Home, project: &Path) {
    let refused = run(
        &mut command(home, project, &["progress", "write", "--from", "-"]),
        b"{\"mood\": 1}",
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("unknown field `mood`"));
}

/// With the daemon and without it.
#[test]
fn a_document_is_written_shown_and_checked() {
    let (mut daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    let write = [
        "progress", "write", "--type", "handoff", "--from", "-", "--json",
    ];
    let (code, written) = ask(&daemon.home, top, &write, STATED);
    assert_eq!(
        (code, &written["type"], &written["native_session"]),
        (0, &json!("handoff"), &json!("s-one")),
        "{written}"
    );
    let text = fs::read_to_string(top.join(LATEST)).expect("the shared one leads to it");
    tells_what_was_done_and_stated(&text);
    let (code, report) = ask(&daemon.home, top, &["progress", "validate", "--json"], "");
    assert_eq!((code, &report["holds"]), (0, &json!(true)), "{report}");
    daemon.kill();

    let (_, shown) = ask(&daemon.home, top, &["progress", "show", "--json"], "");
    assert_eq!(
        (shown["markdown"].as_str(), &shown["seq"]),
        (Some(text.as_str()), &written["seq"]),
        "the file is what the journal says"
    );
    let (code, later) = ask(
        &daemon.home,
        top,
        &["progress", "write", "--type", "incremental", "--json"],
        "",
    );
    assert_eq!((code, &later["type"]), (0, &json!("incremental")));
    assert_eq!(
        fs::read_to_string(top.join(LATEST)).expect("there"),
        text,
        "the full one stays the latest"
    );
    fs::write(top.join("new.rs"), "by somebody\n").expect("writes");
    fs::write(top.join("Cargo.lock"), "2\n").expect("writes");
    git(top, &["commit", "-qm", "second", "Cargo.lock"]);
    let (code, failed, report) = failed_checks(&daemon.home, top);
    assert_eq!(
        (code, failed),
        (
            1,
            ["git", "files", "dependencies"].map(str::to_owned).into()
        ),
        "{report}"
    );
    let output = run(
        &mut command(&daemon.home, top, &["progress", "validate"]),
        b"",
    );
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(
        said.contains("FAIL  files         changed since: `new.rs`\n"),
        "{said}"
    );

    daemon.start();
    assert_eq!(
        (
            events(&daemon, "progress_written").len(),
            events(&daemon, "progress_validated").len()
        ),
        (2, 3)
    );
    refuses_an_unknown_field(&daemon.home, top);
    daemon.verify();
}

fn rebuilds_all_three(home: &Home, project: &Path) {
    let output = run(&mut command(home, project, &["progress", "rebuild"]), b"");
    let said = String::from_utf8(output.stdout).expect("text");
    assert_eq!(
        (output.status.code(), said.lines().count()),
        (Some(0), 4),
        "{said}"
    );
    assert!(
        said.ends_with("3 files rewritten, 0 up to date\n"),
        "{said}"
    );
}

fn leaves_an_edited_file_unless_forced(home: &Home, project: &Path, file: &Path) {
    fs::write(file, "mine\n").expect("writes");
    let (code, answer) = ask(home, project, &["progress", "rebuild", "--json"], "");
    assert_eq!(
        (
            code,
            &answer["edited"],
            &answer["unchanged"],
            &answer["rebuilt"]
        ),
        (0, &json!([file]), &json!(1), &json!([]))
    );
    let (_, answer) = ask(
        home,
        project,
        &["progress", "rebuild", "--force", "--json"],
        "",
    );
    let kept = answer["kept"][0].as_str().expect("a path");
    assert_eq!(fs::read_to_string(kept).expect("there"), "mine\n");
    fs::remove_file(kept).expect("there");
}

#[test]
fn lost_files_come_back_by_command_with_the_daemon_and_without() {
    let (mut daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    for session in ["s-one", "s-two"] {
        work(&daemon.home, session, top, &format!("{session}.rs"));
        ask(
            &daemon.home,
            top,
            &["progress", "write", "--session", session, "--json"],
            "",
        );
    }
    let folder = top
        .join(LATEST)
        .parent()
        .expect("a folder")
        .canonicalize()
        .expect("there");
    let read = || {
        documents(&folder)
            .into_iter()
            .map(|file| (fs::read(&file).expect("readable"), file))
    };
    let written: Vec<_> = read().collect();
    assert_eq!(written.len(), 3, "two and the link");
    for is_up in [true, false] {
        if !is_up {
            daemon.kill();
        }
        fs::remove_dir_all(&folder).expect("there");
        rebuilds_all_three(&daemon.home, top);
        assert_eq!(read().collect::<Vec<_>>(), written);
        leaves_an_edited_file_unless_forced(&daemon.home, top, &written[0].1);
        assert_eq!(read().collect::<Vec<_>>(), written);
    }
    let refused = run(
        &mut command(
            &daemon.home,
            top,
            &["progress", "rebuild", "--session", "nobody"],
        ),
        b"",
    );
    assert_eq!(refused.status.code(), Some(1));
    daemon.start();
    daemon.verify();
}

#[test]
fn the_users_own_checks_count_and_have_an_end() {
    let config = "progress: {checks: [{name: up, run: 'true'}, {name: down, run: [sh, -c, 'echo not there >&2; exit 3']}, {name: slow, run: sleep 100, timeout: 200ms}]}";
    let (daemon, project) = (Daemon::with(config), repository());
    work(&daemon.home, "s-one", project.path(), "new.rs");
    ask(
        &daemon.home,
        project.path(),
        &["progress", "write", "--json"],
        "",
    );
    let (code, report) = ask(
        &daemon.home,
        project.path(),
        &["progress", "validate", "--json"],
        "",
    );
    let found: Vec<_> = report["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .filter(|line| line["check"] == "external")
        .map(|line| line["found"].as_str().expect("text"))
        .collect();
    assert_eq!(
        (code, found),
        (
            1,
            vec![
                "up: good",
                "down: not there",
                "slow: no answer within 200ms"
            ]
        )
    );
}

#[test]
fn two_sessions_that_write_at_once_keep_their_documents() {
    let (daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    let sessions = ["s-one", "s-two", "s-three"];
    sessions
        .iter()
        .for_each(|session| work(&daemon.home, session, top, &format!("{session}.rs")));
    std::thread::scope(|scope| {
        for session in sessions {
            let home = &daemon.home;
            scope.spawn(move || {
                for round in 0..4 {
                    let stated = format!("## Summary\n{session} in round {round}\n");
                    let (code, _) = ask(
                        home,
                        top,
                        &[
                            "progress",
                            "write",
                            "--session",
                            session,
                            "--from",
                            "-",
                            "--json",
                        ],
                        &stated,
                    );
                    assert_eq!(code, 0);
                }
            });
        }
    });
    let folder = top.join(LATEST).parent().expect("a folder").to_owned();
    let files = documents(&folder);
    assert_eq!(
        files.len(),
        4,
        "one for each session and the shared one, nothing left behind: {files:?}"
    );
    for session in sessions {
        let (_, shown) = ask(
            &daemon.home,
            top,
            &["progress", "show", "--session", session, "--json"],
            "",
        );
        let file = shown["file"].as_str().expect("a path");
        let text = fs::read_to_string(file).expect("readable");
        assert_eq!(Some(text.as_str()), shown["markdown"].as_str());
        assert!(text.contains(&format!("{session} in round 3\n")), "{text}");
    }
    let (_, last) = ask(&daemon.home, top, &["progress", "show", "--json"], "");
    let link = fs::canonicalize(top.join(LATEST)).expect("a link");
    assert_eq!(
        link,
        fs::canonicalize(last["file"].as_str().expect("a path")).expect("there"),
        "the journal's order is the files'"
    );
}

const FILLER: &str = "- a step that makes the document long enough to be cut\n";

/// What a long document is written from.
fn write_input(project: &Path, round: u64) {
    let text = format!(
        "## Remaining\n{}\n## Notes\nround {round}\n",
        FILLER.repeat(3_000)
    );
    fs::write(project.join("input.md"), text).expect("writes");
}

fn start_writing(home: &Home, project: &Path) -> Child {
    command(home, project, &["progress", "write", "--from", "input.md"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

#[test]
fn a_killed_writer_leaves_the_old_document_or_the_new_one() {
    let (mut daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    ask(&daemon.home, top, &["progress", "write", "--json"], "");
    daemon.kill();
    for round in 0..25_u64 {
        write_input(top, round);
        let mut child = start_writing(&daemon.home, top);
        std::thread::sleep(Duration::from_millis(8 * round));
        let _ = child.kill();
        child.wait().expect("is gone");
        let text = fs::read_to_string(top.join(LATEST)).expect("always there");
        assert!(
            text.starts_with("# Progress Checkpoint\n") && text.contains("**Ahead/Behind Remote**"),
            "a half: {}",
            text.len()
        );
    }
    let (code, _) = ask(&daemon.home, top, &["progress", "write", "--json"], "");
    let folder = top.join(LATEST).parent().expect("a folder").to_owned();
    let files = documents(&folder);
    assert_eq!(
        (code, files.len()),
        (0, 2),
        "what was unfinished is cleared away: {files:?}"
    );
    daemon.start();
    daemon.verify();
}

/// The daemon is killed while it writes for many.
#[test]
fn a_killed_daemon_leaves_the_document_that_it_journaled() {
    let (mut daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    ask(&daemon.home, top, &["progress", "write", "--json"], "");
    write_input(top, 0);
    for round in 0..5_u64 {
        let writers: Vec<_> = (0..4).map(|_| start_writing(&daemon.home, top)).collect();
        std::thread::sleep(Duration::from_millis(30 * round));
        daemon.kill();
        for mut writer in writers {
            writer.wait().expect("ends");
        }
        daemon.start();
        // A document that is in the journal and not in its file yet is no work of a person's.
        let (code, rebuilt) = ask(&daemon.home, top, &["progress", "rebuild", "--json"], "");
        assert_eq!(
            (code, &rebuilt["edited"], &rebuilt["problems"]),
            (0, &json!([]), &json!([])),
            "{rebuilt}"
        );
        let (_, shown) = ask(&daemon.home, top, &["progress", "show", "--json"], "");
        assert_eq!(
            fs::read_to_string(top.join(LATEST)).ok().as_deref(),
            shown["markdown"].as_str()
        );
    }
    ask(&daemon.home, top, &["progress", "write", "--json"], "");
    let folder = top.join(LATEST).parent().expect("a folder").to_owned();
    assert_eq!(documents(&folder).len(), 2, "nothing is left behind");
    daemon.verify();
}

#[test]
fn a_file_of_somebodys_own_and_a_link_out_of_the_project_are_left_alone() {
    let (daemon, project, outside) = (
        Daemon::with("progress: {path: docs/now.md}"),
        repository(),
        tempfile::tempdir().expect("a folder"),
    );
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    fs::create_dir(top.join("docs")).expect("makes");
    fs::write(top.join("docs/now.md"), "mine").expect("writes");
    let (code, written) = ask(&daemon.home, top, &["progress", "write", "--json"], "");
    assert!(
        code == 0
            && written["notes"][0]
                .as_str()
                .expect("a note")
                .contains("not a link of checkpointd"),
        "{written}"
    );
    assert_eq!(
        fs::read_to_string(top.join("docs/now.md")).expect("there"),
        "mine"
    );
    fs::remove_dir_all(top.join("docs")).expect("removes");
    std::os::unix::fs::symlink(outside.path(), top.join("docs")).expect("links");
    let (_, written) = ask(&daemon.home, top, &["progress", "write", "--json"], "");
    assert!(
        written["notes"][0]
            .as_str()
            .expect("a note")
            .contains("leads out of the project"),
        "{written}"
    );
    assert_eq!(documents(outside.path()), Vec::<PathBuf>::new());
    assert!(Path::new(written["file"].as_str().expect("a path")).starts_with(daemon.home.path()));
}
