//! Commands by which work leaves, through the real client and daemon with a real repository (spec DECIDE-25).

use std::path::PathBuf;

use journal::Agent;
use serde_json::{Value, json};
use testkit::dialect::Dialect;
use testkit::git::{commit_all, git};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::run;

const HOLD: &str = "hooks: {exits: hold}\n";
const PUSH: &str = "git add -A && git commit -qm work && git push";

/// An agent that works in a repository.
struct Work {
    daemon: Daemon,
    agent: Agent,
    project: PathBuf,
    turn: u32,
    calls: u32,
}

impl Work {
    fn with(agent: Agent, config: &str) -> Self {
        let daemon = Daemon::with(&format!("{EVERY_STOP}{config}"));
        let project = daemon.home.path().join("project");
        std::fs::create_dir_all(&project).expect("a folder");
        git(&project, &["init", "--quiet"]);
        std::fs::write(project.join("stock.py"), "count = 0\n").expect("writes");
        commit_all(&project);
        Self {
            daemon,
            agent,
            project,
            turn: 0,
            calls: 0,
        }
    }

    fn call(&self, usual: &str, more: Value) -> String {
        let dialect = Dialect::of(self.agent);
        let event = dialect.hook(usual);
        let mut payload = json!({
            "session_id": "5f1c9f0e-0d7c-4a51-8f0e-3f1f0c7d2a11",
            "transcript_path": "",
            "cwd": self.project,
            "hook_event_name": event,
        });
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        if let Some(turn) = dialect.turn {
            payload[turn] = json!(self.turn.to_string());
        }
        (dialect.rewrite)(&mut payload);
        self.daemon
            .hook(&[self.agent.word(), event], payload.to_string().as_bytes())
    }

    fn prompt(&mut self, text: &str) {
        self.turn += 1;
        self.call("UserPromptSubmit", json!({ "prompt": text }));
    }

    /// Writes a file and tells of it.
    fn edit(&mut self, text: &str) {
        self.calls += 1;
        let path = self.project.join("stock.py");
        let input = json!({ "file_path": path, "content": text });
        let tool = if self.agent == Agent::Gemini {
            "write_file"
        } else {
            "Write"
        };
        std::fs::write(&path, text).expect("writes");
        let id = format!("e{}", self.calls);
        self.call(
            "PostToolUse",
            json!({ "tool_name": tool, "tool_use_id": id, "tool_input": input, "tool_response": {} }),
        );
    }

    /// Begins to run a command; returns what the agent reads.
    fn begin(&mut self, command: &str) -> String {
        self.calls += 1;
        let tool = Dialect::of(self.agent).shell;
        let id = format!("r{}", self.calls);
        let call =
            json!({ "tool_name": tool, "tool_use_id": id, "tool_input": { "command": command } });
        self.call("PreToolUse", call)
    }

    fn stop(&self) -> String {
        self.call("Stop", json!({ "stop_hook_active": false }))
    }

    fn reasons(&self) -> Vec<String> {
        let decisions = self.daemon.ask(&["audit", "--json"]);
        let reason = |line: &Value| line["reason"].as_str().expect("a word").to_owned();
        decisions.iter().map(reason).collect()
    }
}

#[test]
fn a_push_of_open_work_is_held_once_in_the_form_of_each_host() {
    for agent in [Agent::Claude, Agent::Codex, Agent::Gemini] {
        let mut work = Work::with(agent, HOLD);
        work.prompt("count to one");
        work.edit("count = 1\n");
        assert_eq!(
            work.begin("git status"),
            "",
            "no command by which work leaves"
        );
        let held: Value = serde_json::from_str(&work.begin(PUSH)).expect("one JSON object");
        let (decision, reason) = match agent {
            Agent::Gemini => (&held["decision"], &held["reason"]),
            _ => {
                let own = &held["hookSpecificOutput"];
                assert_eq!(own["hookEventName"], "PreToolUse");
                (&own["permissionDecision"], &own["permissionDecisionReason"])
            }
        };
        assert_eq!(decision, "deny", "{held}");
        let reason = reason.as_str().expect("a text");
        assert!(
            reason.starts_with("[checkpointd] `git push` was held, because"),
            "{reason}"
        );
        assert!(reason.contains("`stock.py`"), "{reason}");
        assert_eq!(work.begin(PUSH), "", "the second try passes");
        assert_eq!(work.stop(), "", "it counts as the turn's checkpoint");

        work.prompt("now push it");
        work.edit("count = 2\n");
        assert_eq!(work.begin(PUSH), "", "the person asked for it");
        let expected = [
            "leaves_open",
            "block_budget",
            "block_budget",
            "leaves_asked",
        ];
        assert_eq!(work.reasons(), expected, "{agent:?}");
        let audit = work.daemon.ask(&["audit", "--json"]);
        assert_eq!(audit[0]["delivery"], "confirmed", "{:?}", audit[0]);
        work.daemon.verify();
    }
}

#[test]
fn a_subagent_that_leaves_its_own_work_open_goes_on_once() {
    for (config, is_held) in [("hooks: {exits: parts}\n", true), (HOLD, false)] {
        let mut work = Work::with(Agent::Claude, config);
        work.prompt("count to one");
        let path = work.project.join("stock.py");
        std::fs::write(&path, "count = 1\n").expect("writes");
        let of = |id: &str, more: Value| {
            let mut fields = json!({ "agent_id": id, "agent_type": "worker" });
            let own = fields.as_object_mut().expect("an object");
            own.extend(more.as_object().expect("an object").clone());
            fields
        };
        let edit = json!({ "tool_name": "Write", "tool_use_id": "e", "tool_input": { "file_path": path, "content": "count = 1\n" }, "tool_response": {} });
        work.call("PostToolUse", of("a1", edit));
        let ends = |id: &str, again: bool| {
            let stop =
                json!({ "stop_hook_active": again, "last_assistant_message": "All tests pass." });
            work.call("SubagentStop", of(id, stop))
        };
        assert_eq!(ends("a2", false), "", "it changed nothing");
        let said = ends("a1", false);
        assert_eq!(said.contains(r#""decision":"block""#), is_held, "{said}");
        assert_eq!(ends("a1", true), "", "it is held once");
        work.daemon.verify();
    }
}

#[test]
fn work_that_may_be_verified_leaves() {
    let mut work = Work::with(Agent::Claude, HOLD);
    work.prompt("count to one");
    work.edit("count = 1\n");
    // Nobody knows what this does, so it may be a test.
    let run = json!({ "tool_name": "Bash", "tool_use_id": "x", "tool_input": { "command": "./try-it" }, "tool_response": {} });
    work.call("PostToolUse", run);
    assert_eq!(work.begin(PUSH), "");
    assert_eq!(work.reasons(), ["leaves_clear"]);
    work.daemon.verify();
}

#[test]
fn what_carries_none_of_the_work_is_not_held() {
    let mut work = Work::with(Agent::Claude, HOLD);
    let other = work.daemon.home.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("stock.py"), "count = 0\n").expect("writes");
    commit_all(&other);
    git(&work.project, &["worktree", "add", "-q", "../side"]);
    work.prompt("count to one");
    work.edit("count = 1\n");
    for line in [
        "git push origin --delete old",
        "git push origin refs/notes/checkpointd",
        "git -C ../other push",
        "cd ../other && git push",
    ] {
        assert_eq!(work.begin(line), "", "{line}");
    }
    assert_eq!(work.reasons(), ["leaves_clear", "leaves_clear"]);
    // Another work tree is of the same repository.
    let said = work.begin("git -C ../other push && git -C ../side push");
    assert!(said.contains("`git push` was held"), "{said}");
    work.daemon.verify();
}

#[test]
fn nothing_is_held_unless_it_was_switched_on_or_without_a_daemon() {
    let mut work = Work::with(Agent::Claude, "");
    work.prompt("count to one");
    work.edit("count = 1\n");
    assert_eq!(work.begin(PUSH), "");
    work.stop();
    assert_eq!(work.reasons(), ["exits_off", "actions_due"]);
    let stats = work.daemon.ask(&["stats", "--json"]);
    assert_eq!(stats[0]["stops"], 1, "a push is no stop: {stats:?}");
    // What the other setting would have done is known.
    let other = work.daemon.home.path().join("other.yml");
    std::fs::write(&other, format!("{EVERY_STOP}{HOLD}")).expect("writes");
    let path = other.to_str().expect("a plain path");
    let changed = work.daemon.ask(&["replay", "--policy", path, "--json"]);
    let text = Value::from(changed).to_string();
    assert!(
        text.contains("exits_off") && text.contains("leaves_open"),
        "{text}"
    );
    work.daemon.verify();
    assert!(!work.daemon.home.path().join("run/exits").exists());

    let mut work = Work::with(Agent::Claude, HOLD);
    work.prompt("count to one");
    work.edit("count = 1\n");
    work.daemon.kill();
    // The real client, as the agent runs it; nothing may start a daemon here.
    let payload = json!({ "session_id": "5f1c9f0e-0d7c-4a51-8f0e-3f1f0c7d2a11", "cwd": work.project,
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "p", "tool_input": { "command": PUSH } });
    let mut client = work.daemon.home.client(&["claude", "PreToolUse"]);
    let output = run(&mut client, payload.to_string().as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "the call runs");
    work.daemon.start();
    assert_eq!(work.begin("ls"), "");
    assert!(work.reasons().is_empty(), "a call that ran is not decided");
    work.daemon.verify();
}

#[test]
fn explain_and_another_policy_know_what_was_held() {
    let mut work = Work::with(Agent::Claude, HOLD);
    work.prompt("count to one");
    work.edit("count = 1\n");
    assert_ne!(work.begin(PUSH), "");
    let audit = work.daemon.ask(&["audit", "--json"]);
    let number = audit[0]["seq"].to_string();
    let explained = &work.daemon.ask(&["explain", &number, "--json"])[0];
    assert_eq!(explained["event"]["kind"], "work_leaves", "{explained}");
    assert_eq!(explained["event"]["command"], PUSH);
    let considered = explained["considered"].as_array().expect("a list");
    let taken = considered.last().expect("one was taken");
    assert_eq!(taken["reason"], "leaves_open", "{taken}");

    let other = work.daemon.home.path().join("other.yml");
    std::fs::write(&other, format!("{EVERY_STOP}hooks: {{exits: off}}\n")).expect("writes");
    let path = other.to_str().expect("a plain path");
    let changed = work.daemon.ask(&["replay", "--policy", path, "--json"]);
    let text = Value::from(changed).to_string();
    assert!(
        text.contains("leaves_open") && text.contains("exits_off"),
        "{text}"
    );
}
