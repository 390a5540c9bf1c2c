//! Turns that changed nothing, and background tasks, through the real client and daemon with a real repository
//! (spec DECIDE-5, DECIDE-20).

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::git::{commit_all, git};

use crate::support::daemon::{Daemon, EVERY_STOP};

/// Longer than the resolution of file times.
const TICK: Duration = Duration::from_millis(100);

/// One turn: a prompt, the agent's work, a stop. Returns the reason of the decision.
fn turn(daemon: &Daemon, project: &Path, work: impl FnOnce(), tasks: Value) -> String {
    let call = |event: &str, more: Value| {
        let mut payload = json!({
            "session_id": "5f1c9f0e-0d7c-4a51-8f0e-3f1f0c7d2a11",
            "transcript_path": "",
            "cwd": project,
            "hook_event_name": event,
        });
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        daemon.hook(&["claude", event], payload.to_string().as_bytes())
    };
    std::thread::sleep(TICK);
    let number = daemon.ask(&["audit", "--json"]).len();
    call(
        "UserPromptSubmit",
        json!({ "prompt": format!("go on, {number}"), "prompt_id": number.to_string() }),
    );
    std::thread::sleep(TICK);
    work();
    call(
        "Stop",
        json!({ "stop_hook_active": false, "prompt_id": number.to_string(), "last_assistant_message": "done", "background_tasks": tasks }),
    );
    let decisions = daemon.ask(&["audit", "--json"]);
    assert_eq!(decisions.len(), number + 1, "the stop was decided");
    decisions[number]["reason"]
        .as_str()
        .expect("a word")
        .to_owned()
}

#[test]
fn only_what_the_turn_changed_makes_a_stop_due() {
    let daemon = Daemon::with(EVERY_STOP);
    let project = daemon.home.path().join("project");
    std::fs::create_dir_all(&project).expect("a folder");
    git(&project, &["init", "--quiet"]);
    let put = |text: &str| std::fs::write(project.join("stock.py"), text).expect("writes");
    put("count = 1\n");
    commit_all(&project);
    let task = |kind: &str| json!([{ "id": "b1", "type": kind, "status": "running", "description": "", "command": "npm run dev" }]);
    let none = || json!([]);

    assert_eq!(turn(&daemon, &project, || (), none()), "silent_unchanged");
    assert_eq!(
        turn(&daemon, &project, || put("count = 2\n"), none()),
        "actions_due"
    );
    // The work tree is as dirty as before, but by an earlier turn.
    assert_eq!(turn(&daemon, &project, || (), none()), "silent_unchanged");
    // A server goes on for ever; a subagent's end brings another stop.
    assert_eq!(
        turn(&daemon, &project, || put("count = 3\n"), task("shell")),
        "actions_due"
    );
    assert_eq!(
        turn(&daemon, &project, || put("count = 4\n"), task("subagent")),
        "background_tasks"
    );
    // A deleted file is a change of the turn.
    let delete = || std::fs::remove_file(project.join("stock.py")).expect("deletes");
    assert_ne!(turn(&daemon, &project, delete, none()), "silent_unchanged");
    daemon.verify();
}
