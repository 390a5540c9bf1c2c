//! Whose the changes are, through the real client and daemon with real repositories (spec FILES-4, FILES-5, FILES-7).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::git::git;

use super::turns::{Scene, TICK};

const OTHER: &str = "5f1c9f0e-0d7c-4a51-8f0e-3f1f0c7d2a13";

/// Runs git as an agent does: its commits are of now.
fn git_now(folder: &Path, line: &str) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=n", "-c", "user.email=e@x"])
        .args(line.split(' '))
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(command.status().expect("git").success(), "{line}");
}

fn bash(line: &str) -> Value {
    json!({ "command": line })
}

fn notes(explained: &Value) -> String {
    explained["evidence"]["notes"].to_string()
}

#[test]
fn what_a_person_or_another_session_writes_is_not_the_turns() {
    let scene = Scene::new("");
    let file = scene.project.join("stock.py");
    let save = |text: &str| {
        std::thread::sleep(TICK);
        std::fs::write(&file, text).expect("writes");
        std::thread::sleep(TICK);
    };
    // A person saves between two calls, and while the agent only looks.
    scene.prompt("one", true);
    scene.tool("one", "Read", json!({ "file_path": file }), || ());
    save("count = 2\n");
    scene.tool("one", "Bash", bash("cat stock.py; sleep 5"), || {
        save("count = 3\n")
    });
    let (reason, explained) = scene.stop_in("one", &scene.project);
    assert_eq!(reason, "silent_unchanged");
    assert!(notes(&explained).contains("1 file was changed by others: stock.py"));

    // Another session edits and commits in the same work tree, while a call of this one could have.
    scene.prompt("two", true);
    scene.tool("two", "Bash", bash("make slow"), || {
        scene.session.set(OTHER);
        scene.prompt("others", true);
        scene.write("others", &file, "count = 4\n");
        scene.tool("others", "Bash", bash("git commit -qam x"), || {
            git_now(&scene.project, "commit -qam x");
        });
        scene.session.set(Scene::SESSION);
    });
    assert_eq!(scene.stop("two"), "silent_unchanged");
    scene.session.set(OTHER);
    assert_eq!(scene.stop("others"), "actions_due");
    scene.session.set(Scene::SESSION);

    // Nothing names the file, but a call of the turn could write it and ran then.
    scene.prompt("three", true);
    let script = "python3 - <<'E'\nimport edit\nE";
    scene.tool("three", "Bash", bash(script), || save("count = 5\n"));
    assert_eq!(scene.stop("three"), "actions_due");
    scene.daemon.verify();
}

#[test]
fn thousands_of_untracked_files_do_not_hide_the_edited_one() {
    let scene = Scene::new("");
    let cache = scene.project.join("cache");
    std::fs::create_dir(&cache).expect("a folder");
    for number in 0..5_100 {
        std::fs::write(cache.join(number.to_string()), "").expect("writes");
    }
    scene.prompt("one", true);
    scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
    assert_eq!(scene.stop("one"), "actions_due");
    scene.daemon.verify();
}

#[test]
fn a_file_counts_whatever_bytes_its_name_has_and_whatever_git_was_told_to_assume() {
    let scene = Scene::new("");
    let named = scene.project.join(OsStr::from_bytes(b"caf\xe9.py"));
    std::fs::write(&named, "a = 1\n").expect("writes");
    git(&scene.project, &["add", "-A"]);
    git(&scene.project, &["commit", "-qm", "next"]);
    git(
        &scene.project,
        &["update-index", "--assume-unchanged", "stock.py"],
    );
    scene.prompt("one", true);
    let input = json!({ "file_path": named.to_string_lossy(), "content": "a = 2\n" });
    let put = || std::fs::write(&named, "a = 2\n").expect("writes");
    scene.tool("one", "Write", input, put);
    assert_eq!(scene.stop("one"), "actions_due");
    git(&scene.project, &["checkout", "-q", "--", "."]);
    scene.prompt("two", true);
    scene.write("two", &scene.project.join("stock.py"), "count = 2\n");
    assert_eq!(scene.stop("two"), "actions_due");
    scene.daemon.verify();
}

#[test]
fn work_that_was_committed_pushed_and_left_is_judged() {
    type Work = fn(&Scene);
    let on_a_branch: Work = |scene| {
        scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
        let line =
            "git checkout -qb feat && git commit -qam x && git push origin feat; git checkout main";
        scene.tool("one", "Bash", bash(line), || {
            for line in [
                "checkout -qb feat",
                "commit -qam x",
                "push -q -u origin feat",
                "checkout -q main",
            ] {
                git_now(&scene.project, line);
            }
        });
    };
    let in_a_work_tree: Work = |scene| {
        let linked = scene.daemon.home.path().join("wt");
        let line = "git worktree add --detach ../wt";
        scene.tool("one", "Bash", bash(line), || {
            git_now(&scene.project, "worktree add -q --detach ../wt");
        });
        scene.write("one", &linked.join("stock.py"), "count = 2\n");
        let line =
            "cd ../wt && git commit -qam x && git push origin HEAD:feat; git worktree remove ../wt";
        scene.tool("one", "Bash", bash(line), || {
            git_now(&linked, "commit -qam x");
            git_now(&linked, "push -q origin HEAD:refs/heads/feat");
            git_now(&scene.project, "worktree remove ../wt");
        });
    };
    for work in [on_a_branch, in_a_work_tree] {
        let scene = Scene::new("");
        let origin = scene.daemon.home.path().join("origin.git");
        let origin = origin.to_str().expect("text");
        git(&scene.project, &["init", "-q", "--bare", origin]);
        git(&scene.project, &["remote", "add", "origin", origin]);
        scene.prompt("one", true);
        work(&scene);
        let (reason, explained) = scene.stop_in("one", &scene.project);
        assert_eq!(reason, "actions_due", "{explained}");
        assert!(notes(&explained).contains("commits that HEAD does not have"));
        scene.daemon.verify();
    }
}

#[test]
fn linked_work_trees_inside_are_not_code_of_the_main_one() {
    let scene = Scene::new("");
    scene.prompt("one", true);
    let line = "git worktree add -b x .claude/worktrees/x";
    scene.tool("one", "Bash", bash(line), || {
        git_now(&scene.project, "worktree add -q -b x .claude/worktrees/x");
    });
    assert_eq!(scene.stop("one"), "silent_unchanged");
    scene.daemon.verify();
}

#[test]
fn a_session_whose_work_tree_was_merged_and_removed_gets_no_general_message() {
    let scene = Scene::new("");
    let linked = scene.daemon.home.path().join("wt");
    git_now(&scene.project, "worktree add -q -b side ../wt");
    let scene = Scene {
        project: linked.clone(),
        ..scene
    };
    let main = scene.daemon.home.path().join("project");
    scene.call(
        "SessionStart",
        "none",
        &linked,
        json!({ "source": "startup" }),
    );
    scene.prompt("one", true);
    scene.write("one", &linked.join("stock.py"), "count = 2\n");
    let passed = json!({ "stdout": "3 passed in 0.1s", "stderr": "", "interrupted": false });
    scene.tool_with("one", "Bash", bash("pytest -q"), passed, || ());
    let line =
        "git commit -qam x && cd ../project && git merge -q side && git worktree remove ../wt";
    scene.tool("one", "Bash", bash(line), || {
        git_now(&linked, "commit -qam x");
        git_now(&main, "merge -q side");
        git_now(&main, "worktree remove ../wt");
    });
    let (reason, explained) = scene.stop_in("one", &linked);
    assert!(reason.ends_with("all_clear"), "{reason} {explained}");
    scene.daemon.verify();
}

#[test]
fn a_clock_that_goes_back_changes_nothing() {
    // The second host does not say which turn a call is of.
    for turn in ["one", ""] {
        let scene = Scene::new("");
        let ahead = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(10);
        let mut prompt = json!({
            "session_id": Scene::SESSION, "transcript_path": "", "cwd": scene.project, "prompt_id": turn,
            "hook_event_name": "UserPromptSubmit", "prompt": "go on",
        });
        let fields = prompt.as_object_mut().expect("an object");
        fields.retain(|_, value| value != "");
        let ahead = ahead.to_string();
        let headers = [
            ("Checkpointd-At", ahead.as_str()),
            ("Content-Type", "application/json"),
        ];
        let body = prompt.to_string();
        let answer = scene
            .daemon
            .http("POST", "/v1/hooks/claude", &headers, body.as_bytes());
        assert!(answer.is_some_and(|(status, _)| status < 300));
        std::thread::sleep(TICK);
        scene.write(turn, &scene.project.join("stock.py"), "count = 2\n");
        assert_eq!(scene.stop(turn), "actions_due", "{turn}");
        scene.daemon.verify();
    }
}

#[test]
fn payloads_may_begin_with_a_byte_order_mark() {
    let scene = Scene::new("");
    let call = |event: &str, more: Value| {
        let mut payload = json!({
            "session_id": Scene::SESSION, "transcript_path": "", "cwd": scene.project, "prompt_id": "one",
            "hook_event_name": event,
        });
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let payload = format!("\u{feff}{payload}");
        scene.daemon.hook(&["claude", event], payload.as_bytes())
    };
    call("UserPromptSubmit", json!({ "prompt": "go on" }));
    let file = scene.project.join("stock.py");
    std::fs::write(&file, "count = 2\n").expect("writes");
    call(
        "PostToolUse",
        json!({ "tool_name": "Write", "tool_use_id": "t", "tool_input": { "file_path": file } }),
    );
    assert!(call("Stop", json!({ "last_assistant_message": "done" })).contains("decision"));
    scene.daemon.verify();
}
