//! What belongs to a turn, through the real client and daemon with real repositories: its commits, its work tree, and the
//! messages that are typed while it lasts (spec FILES-4, FILES-11, TURN-14).

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::git::{commit_all, git};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::{program, run, text, wait_until};

/// Longer than the resolution of file times.
pub(super) const TICK: Duration = Duration::from_millis(100);

pub(super) struct Scene {
    pub(super) daemon: Daemon,
    pub(super) project: PathBuf,
    /// The session that calls.
    pub(super) session: Cell<&'static str>,
}

impl Scene {
    pub(super) const SESSION: &'static str = "5f1c9f0e-0d7c-4a51-8f0e-3f1f0c7d2a12";

    /// A repository with a committed program, and a daemon with these settings besides those of every test.
    pub(super) fn new(settings: &str) -> Self {
        let daemon = Daemon::with(&format!("{EVERY_STOP}{settings}"));
        let scene = Self {
            project: daemon.home.path().join("project"),
            daemon,
            session: Cell::new(Self::SESSION),
        };
        scene.repository("project");
        scene
    }

    fn repository(&self, name: &str) -> PathBuf {
        let folder = self.daemon.home.path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("stock.py"), "count = 1\n").expect("writes");
        commit_all(&folder);
        folder
    }

    pub(super) fn call(&self, event: &str, turn: &str, cwd: &Path, more: Value) -> String {
        let mut payload = json!({
            "session_id": self.session.get(),
            "transcript_path": "",
            "cwd": cwd,
            "hook_event_name": event,
        });
        let fields = payload.as_object_mut().expect("an object");
        fields.extend((!turn.is_empty()).then(|| ("prompt_id".to_owned(), turn.into())));
        fields.extend(more.as_object().expect("an object").clone());
        self.daemon
            .hook(&["claude", event], payload.to_string().as_bytes())
    }

    fn heads(&self) -> usize {
        self.daemon
            .ask(&["journal", "tail", "--json", "--kind", "head_seen"])
            .len()
    }

    /// A prompt; returns once the beginning of its turn was looked at, if it is to be.
    pub(super) fn prompt(&self, turn: &str, is_looked_at: bool) {
        let heads = self.heads();
        std::thread::sleep(TICK);
        self.call(
            "UserPromptSubmit",
            turn,
            &self.project,
            json!({ "prompt": format!("go on, {turn}") }),
        );
        if is_looked_at {
            wait_until(|| self.heads() > heads);
        }
        std::thread::sleep(TICK);
    }

    /// A call of a tool around the agent's work.
    pub(super) fn tool(&self, turn: &str, tool: &str, input: Value, work: impl FnOnce()) {
        self.tool_with(turn, tool, input, Value::Null, work);
    }

    /// The same, with a result.
    pub(super) fn tool_with(
        &self,
        turn: &str,
        tool: &str,
        input: Value,
        result: Value,
        work: impl FnOnce(),
    ) {
        let number = self.daemon.ask(&["journal", "export"]).len();
        let mut fields =
            json!({ "tool_name": tool, "tool_input": input, "tool_use_id": format!("t{number}") });
        self.call("PreToolUse", turn, &self.project, fields.clone());
        work();
        if !result.is_null() {
            fields["tool_response"] = result;
        }
        self.call("PostToolUse", turn, &self.project, fields);
    }

    pub(super) fn write(&self, turn: &str, file: &Path, text: &str) {
        let put = || std::fs::write(file, text).expect("writes");
        self.tool(
            turn,
            "Write",
            json!({ "file_path": file, "content": text }),
            put,
        );
    }

    /// A stop in a folder: the reason of its decision, and the decision explained.
    pub(super) fn stop_in(&self, turn: &str, cwd: &Path) -> (String, Value) {
        // Two calls that are the same are one.
        let number = self.daemon.ask(&["audit", "--json"]).len();
        self.call(
            "Stop",
            turn,
            cwd,
            json!({ "stop_hook_active": false, "last_assistant_message": format!("done {number}") }),
        );
        let explained = self.daemon.ask(&["explain", "--json"]).remove(0);
        let decisions = self.daemon.ask(&["audit", "--json"]);
        let reason = decisions.last().expect("a decision")["reason"].as_str();
        (reason.expect("a word").to_owned(), explained)
    }

    pub(super) fn stop(&self, turn: &str) -> String {
        self.stop_in(turn, &self.project).0
    }
}

/// Commits everything, by a clock that is ahead of this one.
fn commit(folder: &Path) {
    git(folder, &["add", "-A"]);
    let ahead = jiff::Timestamp::now().as_second() + 5;
    let status = Command::new("git")
        .args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@x",
            "commit",
            "-qm",
            "next",
        ])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_COMMITTER_DATE", format!("@{ahead} +0000"))
        .status();
    assert!(status.expect("git").success());
}

fn put(scene: &Scene, text: &str) {
    std::fs::write(scene.project.join("stock.py"), text).expect("writes");
}

#[test]
fn commits_are_the_turns_if_head_did_not_have_them() {
    for (settings, expected) in [
        ("", "silent_unchanged"),
        ("judgment: letter\n", "actions_due"),
    ] {
        let scene = Scene::new(settings);
        let by_head = settings.is_empty();
        put(&scene, "count = 2\n");
        commit(&scene.project);
        scene.prompt("one", by_head);
        assert_eq!(scene.stop("one"), expected, "{settings}");
        if !by_head {
            assert_eq!(scene.heads(), 0);
            continue;
        }
        scene.prompt("two", true);
        let line = json!({ "command": "git commit -am next" });
        scene.tool("two", "Bash", line, || {
            put(&scene, "count = 3\n");
            commit(&scene.project);
        });
        let (reason, explained) = scene.stop_in("two", &scene.project);
        assert_eq!(reason, "actions_due");
        assert!(
            !explained["evidence"]["notes"].to_string().contains("HEAD"),
            "{explained}"
        );
        // Nothing is committed; only the branch is another one.
        git(&scene.project, &["branch", "-q", "old", "HEAD~1"]);
        scene.prompt("three", true);
        let line = json!({ "command": "git checkout old" });
        scene.tool("three", "Bash", line, || {
            git(&scene.project, &["checkout", "-q", "old"])
        });
        assert_eq!(scene.stop("three"), "silent_unchanged");
        scene.daemon.verify();
    }
}

#[test]
fn without_a_look_at_head_commits_count_by_their_time_and_explain_says_so() {
    let scene = Scene::new("");
    std::fs::remove_dir_all(scene.project.join(".git")).expect("removes");
    scene.prompt("one", false);
    let line = json!({ "command": "git init" });
    scene.tool("one", "Bash", line, || {
        put(&scene, "count = 2\n");
        git(&scene.project, &["init", "-q"]);
        commit(&scene.project);
    });
    let (reason, explained) = scene.stop_in("one", &scene.project);
    assert_eq!(reason, "actions_due");
    let notes = explained["evidence"]["notes"].to_string();
    assert!(notes.contains("commits count by their time"), "{notes}");
    scene.daemon.verify();
}

/// Git says since 2.42 what the kept answers depend on; before that, no private folder is kept.
#[test]
fn a_private_folder_of_git_is_gone_when_the_daemon_ended_or_starts_again() {
    let mut scene = Scene::new("");
    let folder = scene.daemon.home.path().join("run/git");
    let left = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    let asks = ["var", "GIT_CONFIG_SYSTEM"];
    let asked = Command::new("git").args(asks).output().expect("git");
    let kept = usize::from(asked.status.success());
    scene.prompt("one", true);
    scene.stop("one");
    assert_eq!(left(), kept);
    scene.daemon.kill();
    assert_eq!(left(), kept);
    scene.daemon.start();
    assert_eq!(left(), 0);
    scene.prompt("two", true);
    scene.stop("two");
    assert_eq!(left(), kept);
    super::stop(&mut scene.daemon);
    assert_eq!(left(), 0);
}

fn changed(explained: &Value) -> String {
    let changes = explained["evidence"]["changes"].to_string();
    ["stock.py", "other.py", "linked.py"]
        .into_iter()
        .filter(|name| changes.contains(name))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn another_working_directory_does_not_change_whose_files_are_judged() {
    for (settings, expected) in [("", "stock.py"), ("judgment: letter\n", "other.py")] {
        let scene = Scene::new(settings);
        let other = scene.repository("other");
        std::fs::write(other.join("other.py"), "dirty = 1\n").expect("writes");
        scene.call(
            "SessionStart",
            "none",
            &scene.project,
            json!({ "source": "startup" }),
        );
        scene.prompt("one", settings.is_empty());
        scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
        let (_, explained) = scene.stop_in("one", &other);
        assert_eq!(changed(&explained), expected, "{settings}");
        scene.daemon.verify();
    }
}

#[test]
fn a_turn_that_edits_another_work_tree_is_judged_by_that_one() {
    let scene = Scene::new("");
    std::fs::write(scene.project.join("other.py"), "dirty = 1\n").expect("writes");
    let linked = scene.daemon.home.path().join("linked");
    let add = [
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        linked.to_str().expect("text"),
    ];
    git(&scene.project, &add);
    scene.call(
        "SessionStart",
        "none",
        &scene.project,
        json!({ "source": "startup" }),
    );
    scene.prompt("one", true);
    scene.write("one", &linked.join("linked.py"), "a = 1\n");
    let (reason, explained) = scene.stop_in("one", &scene.project);
    assert_eq!(
        (reason.as_str(), changed(&explained).as_str()),
        ("actions_due", "linked.py")
    );
    let notes = explained["evidence"]["notes"].to_string();
    assert!(notes.contains("the turn edited only"), "{notes}");
    // A project that is switched off stays off, also if it is worked on from another one.
    std::fs::write(linked.join(".checkpointd.yml"), "enabled: false\n").expect("writes");
    scene.prompt("two", true);
    scene.write("two", &linked.join("linked.py"), "a = 2\n");
    assert_eq!(scene.stop("two"), "project_off");
    scene.daemon.verify();
}

#[test]
fn a_message_typed_while_the_agent_works_belongs_to_the_turn() {
    for (settings, expected) in [
        ("", ["actions_due", "block_budget", "actions_due"]),
        (
            "judgment: letter\nunchanged: silent\n",
            ["silent_unchanged", "silent_unchanged", "actions_due"],
        ),
    ] {
        let scene = Scene::new(settings);
        let file = scene.project.join("stock.py");
        let more = |text: &str| {
            std::thread::sleep(TICK);
            scene.call(
                "UserPromptSubmit",
                "one",
                &scene.project,
                json!({ "prompt": text }),
            );
        };
        scene.prompt("one", settings.is_empty());
        scene.write("one", &file, "count = 2\n");
        more("and then");
        scene.tool("one", "Bash", json!({ "command": "ls" }), || ());
        let first = scene.stop("one");
        more("one thing more");
        let second = scene.stop("one");
        // It was taken up after the stop only, under an id of its own.
        scene.write("two", &file, "count = 3\n");
        let third = scene.stop("two");
        assert_eq!([first, second, third], expected, "{settings}");
        scene.daemon.verify();
    }
}

#[test]
fn what_each_subagent_did_is_told_by_its_name() {
    let scene = Scene::new("");
    scene.prompt("one", true);
    for id in ["a1", "a2"] {
        let of = json!({ "agent_id": id, "agent_type": "Explore" });
        scene.call("SubagentStart", "one", &scene.project, of);
    }
    for (id, command) in [("a2", "git log"), ("a1", "git status")] {
        let call = json!({
            "agent_id": id, "agent_type": "Explore", "tool_name": "Bash", "tool_use_id": format!("call-{id}"),
            "tool_input": { "command": command }, "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
        });
        scene.call("PostToolUse", "one", &scene.project, call);
    }
    scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
    let (_, explained) = scene.stop_in("one", &scene.project);
    assert_eq!(
        explained["subagents"],
        json!({ "call-a1": "Explore", "call-a2": "Explore 2" })
    );
    for arguments in [&["timeline", "last"][..], &["explain", "--verbose"]] {
        let mut command = scene.daemon.home.command(program("checkpointd"), arguments);
        let said = text(&run(&mut command, b"").stdout);
        for line in ["  Explore 2: Bash git log", "  Explore: Bash git status"] {
            assert!(said.contains(line), "{said}");
        }
    }
}
