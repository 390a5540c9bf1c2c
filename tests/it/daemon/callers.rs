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

/// What Grok tells every hook at a stop.
const OF_GROK: &[u8] = br#"{"hookEventName":"stop","sessionId":"one","cwd":"/cwd","promptId":"p","reason":"end_turn","stopHookActive":false}"#;

/// Grok runs the hooks of Claude Code's settings and of Cursor's beside its own.
#[test]
fn a_stop_that_grok_tells_to_the_hooks_of_others_is_its_own() {
    let daemon = Daemon::with(&format!("{EVERY_STOP}unchanged: message\n"));
    let tell = |agent: &str, payload: &[u8]| {
        let mut client = daemon.home.client(&[agent]);
        client
            .env("GROK_SESSION_ID", "one")
            .env("GROK_HOME", daemon.home.path());
        String::from_utf8(run(&mut client, payload).stdout).expect("text")
    };
    let prompt = br#"{"hookEventName":"user_prompt_submit","sessionId":"one","cwd":"/cwd","promptId":"p","prompt":"<user_query>\ngo\n</user_query>"}"#;
    tell("cursor", prompt);
    // Without hooks of its own these are all that is known of it.
    let reply = tell("claude", OF_GROK);
    assert!(reply.contains("\"decision\":\"block\""), "{reply}");
    let hooks = daemon.home.path().join("hooks");
    std::fs::create_dir(&hooks).expect("a folder");
    std::fs::write(hooks.join("checkpointd.json"), "{}").expect("writes");
    let second = String::from_utf8_lossy(OF_GROK).replace("false", "true");
    assert_eq!(tell("claude", second.as_bytes()), "");
    let told = daemon.ask(&["journal", "export"]);
    let told = told.iter().filter(|line| line["host"].is_object());
    let told: Vec<_> = told
        .map(|line| (line["agent"].as_str(), line["kind"].as_str()))
        .collect();
    let expected = ["prompt_submitted", "agent_stopped"].map(|kind| (Some("grok"), Some(kind)));
    assert_eq!(told, expected);
    daemon.verify();
}

/// By its documentation, its source, or as it was seen: what each of these tells the hooks of Claude Code's settings.
#[test]
fn hosts_without_hooks_of_their_own_here_are_not_taken_for_claude_code() {
    let daemon = Daemon::with(EVERY_STOP);
    for (variable, payload) in [
        (
            "",
            r#"{"timestamp":"2026-11-27T07:00:00Z","hookEventName":"Stop","sessionId":"one","cwd":"/cwd","stop_hook_active":false}"#,
        ),
        (
            "",
            r#"{"session_id":"session-0b0d884b-4c9d-4448-804c-985d8f8a56e3","hook_event_name":"Stop","cwd":"/cwd","stop_hook_active":false}"#,
        ),
        (
            "CONTINUE_PROJECT_DIR",
            r#"{"session_id":"one","hook_event_name":"Stop","cwd":"/cwd"}"#,
        ),
        (
            "CURSOR_VERSION",
            r#"{"session_id":"one","hook_event_name":"Stop","cwd":"/cwd","cursor_version":"3.7.21"}"#,
        ),
    ] {
        let mut client = daemon.home.client(&["claude"]);
        client.env_remove("CLAUDECODE");
        if !variable.is_empty() {
            client.env(variable, "1");
        }
        let output = run(&mut client, payload.as_bytes());
        assert_eq!(
            (output.status.code(), output.stdout),
            (Some(0), Vec::new()),
            "{payload}"
        );
    }
    assert_eq!(daemon.ask(&["sessions", "--json"]), [Value::Null; 0]);
    daemon.verify();
}
