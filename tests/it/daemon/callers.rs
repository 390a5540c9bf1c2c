//! Agents that set the variables of other agents, and run their hooks: a call is journaled once, for the agent that made it.

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::run;

/// The variables in a hook of an agent, those of others among them, as the real ones were seen to set them.
const HOSTS: [(&str, &[(&str, &str)]); 3] = [
    (
        "qwen",
        &[
            ("QWEN_PROJECT_DIR", "/own"),
            ("GEMINI_PROJECT_DIR", "/other"),
            ("CLAUDE_PROJECT_DIR", "/other"),
        ],
    ),
    (
        "droid",
        &[
            ("FACTORY_PROJECT_DIR", "/own"),
            ("DROID_PROJECT_DIR", "/own"),
            ("CLAUDE_PROJECT_DIR", "/other"),
        ],
    ),
    (
        "copilot",
        &[
            ("COPILOT_CLI", "1"),
            ("COPILOT_PROJECT_DIR", "/own"),
            ("CLAUDE_PROJECT_DIR", "/other"),
        ],
    ),
];

/// What Copilot tells the hooks of Claude Code's settings at a stop. The time comes before the folder.
const FOR_CLAUDE: &[u8] = br#"{"hook_event_name":"Stop","session_id":"one","timestamp":"2026-11-22T18:28:10.062Z","cwd":"/cwd","stop_reason":"end_turn","stop_hook_active":false}"#;

/// Calls a hook with these variables, and returns the reply.
fn call(daemon: &Daemon, arguments: &[&str], env: &[(&str, &str)], payload: &Value) -> String {
    let mut client = daemon.home.client(arguments);
    client.envs(env.iter().copied());
    let output = run(&mut client, payload.to_string().as_bytes());
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Returns a session's start as an agent tells it.
fn start(agent: &str) -> (&'static str, Value) {
    let cwd = "/cwd";
    if agent == "copilot" {
        return (
            "sessionStart",
            json!({ "sessionId": "one", "timestamp": 1_795_372_090_062_u64, "cwd": cwd, "source": "new" }),
        );
    }
    (
        "SessionStart",
        json!({ "session_id": "one", "cwd": cwd, "hook_event_name": "SessionStart", "source": "startup" }),
    )
}

#[test]
fn a_host_that_sets_claude_codes_variables_is_itself() {
    for (agent, env) in HOSTS {
        let daemon = Daemon::with(EVERY_STOP);
        let (event, payload) = start(agent);
        call(&daemon, &[agent, event], env, &payload);
        let sessions = daemon.ask(&["sessions", "--json"]);
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        assert_eq!(sessions[0]["agent"], agent);
        assert_eq!(sessions[0]["project"], "/own", "{sessions:?}");
        daemon.verify();
    }
}

/// Copilot runs the hooks of a project's `.claude/settings.json` beside its own. It tells them the same with other names of
/// fields, and the time.
#[test]
fn a_stop_that_copilot_tells_to_its_own_hooks_and_to_claude_codes_is_journaled_and_answered_once() {
    let daemon = Daemon::with(&format!("{EVERY_STOP}unchanged: message\n"));
    let (_, env) = HOSTS[2];
    let own = json!({
        "sessionId": "one", "timestamp": 1_795_372_090_062_u64, "cwd": "/cwd", "stopReason": "end_turn",
        "stop_hook_active": false,
    });
    let prompt = json!({ "sessionId": "one", "timestamp": 1_795_372_090_000_u64, "cwd": "/cwd", "prompt": "go" });
    call(&daemon, &["copilot", "userPromptSubmitted"], env, &prompt);
    let mut client = daemon.home.client(&["claude"]);
    client.envs(env.iter().copied());
    let output = run(&mut client, FOR_CLAUDE);
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), &b""[..])
    );
    let reply = call(&daemon, &["copilot", "agentStop"], env, &own);
    assert!(reply.contains("\"decision\":\"block\""), "{reply}");
    let sessions = daemon.ask(&["sessions", "--json"]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0]["agent"], "copilot");
    daemon.verify();
}

/// Claude Code that was started by a tool of another agent inherits that agent's variables.
#[test]
fn claude_code_within_another_agent_is_itself() {
    for (agent, env) in HOSTS {
        let daemon = Daemon::with(EVERY_STOP);
        let (_, payload) = start("claude");
        let env = [env, &[("CLAUDE_PROJECT_DIR", "/own")]].concat();
        call(&daemon, &["claude"], &env, &payload);
        let sessions = daemon.ask(&["sessions", "--json"]);
        assert_eq!(sessions.len(), 1, "{agent}: {sessions:?}");
        assert_eq!(sessions[0]["agent"], "claude", "{agent}");
        assert_eq!(sessions[0]["project"], "/own", "{agent}");
    }
}
