//! A recorded session of each agent: one checkpoint in the agent's own dialect, confirmed, and then the stop is let through.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::daemon::Daemon;
use testkit::recordings::{CONFIG, Folders, Reply};

/// Each agent, with the fields of its reply.
const AGENTS: [(&str, &[&str]); 14] = [
    ("claude", &["hookSpecificOutput"]),
    ("gemini", &["decision", "reason"]),
    ("codex", &["decision", "reason"]),
    ("qwen", &["decision", "reason"]),
    ("copilot", &["decision", "reason"]),
    ("opencode", &["decision", "reason"]),
    ("droid", &["decision", "reason"]),
    ("pi", &["decision", "reason"]),
    ("kimi", &["hookSpecificOutput"]),
    ("vibe", &["decision", "reason"]),
    ("grok", &["decision", "reason"]),
    ("kilo", &["decision", "reason"]),
    ("openhands", &["decision", "reason"]),
    ("dsh", &["decision", "reason"]),
];

#[test]
fn each_agent_gets_one_checkpoint_in_its_own_dialect() {
    let agents = AGENTS.map(|(agent, _)| agent);
    let mut daemon = Daemon::prepared(CONFIG);
    let folders = Folders::new(daemon.home.path(), &agents);
    folders.start(&mut daemon);
    let replies = folders.play(&daemon.home, &agents);
    let decisions = confirmed(&daemon);
    let sessions = daemon.ask(&["sessions", "--json"]);
    for (agent, fields) in AGENTS {
        let own = Vec::from_iter(replies.iter().filter(|reply| reply.agent == agent));
        let [reply] = own[..] else {
            panic!("{agent} got {} replies", own.len());
        };
        check_reply(reply, fields);
        let is_own = |row: &&Value| row["native_session"] == *reply.session;
        let session = sessions.iter().find(is_own).expect(agent);
        let decided = Vec::from_iter(decisions.iter().filter(is_own));
        let made = Vec::from_iter(
            decided
                .iter()
                .map(|row| (row["verdict"].clone(), row["reason"].clone())),
        );
        assert_eq!(made[0], (json!("inject"), json!("actions_due")), "{agent}");
        for later in &made[1..] {
            assert_eq!(*later, (json!("pass"), json!("block_budget")), "{agent}");
        }
        assert!(session["ended"].is_boolean(), "{session}");
        assert_eq!(decided[0]["delivery"], "confirmed", "{agent}");
        assert_eq!(json!(reply.message()), decided[0]["message"], "{agent}");
        assert!(
            !decided[0]["actions"]
                .as_array()
                .expect("actions")
                .is_empty()
        );
    }
    let stats = &daemon.ask(&["stats", "--json"])[0];
    assert_eq!(stats["kinds"]["payload_rejected"], Value::Null, "{stats}");
    daemon.verify();
}

fn check_reply(reply: &Reply, fields: &[&str]) {
    let said: Value = serde_json::from_str(&reply.text).expect("JSON");
    let keys = Vec::from_iter(said.as_object().expect("an object").keys());
    assert_eq!(keys, fields, "{}: {}", reply.agent, reply.text);
    let decision = match reply.agent {
        "claude" | "kimi" => Value::Null,
        "gemini" | "vibe" | "openhands" => json!("deny"),
        _ => json!("block"),
    };
    assert_eq!(said["decision"], decision, "{}", reply.agent);
}

/// Returns the decisions when the last delivery is confirmed, or after some time.
fn confirmed(daemon: &Daemon) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let decisions = daemon.ask(&["audit", "--json"]);
        let is_open = decisions.iter().any(|row| row["delivery"] == "pending");
        if !is_open || began.elapsed() > Duration::from_secs(20) {
            return decisions;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
