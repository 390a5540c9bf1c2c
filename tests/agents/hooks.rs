//! Puts hooks into an agent's settings by hand, as the README says.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agent::Agent;

const CLAUDE: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
];
const GEMINI: &[&str] =
    &["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "Notification", "SessionEnd"];
const CODEX: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "Interrupt",
    "SessionEnd",
];

pub(crate) fn install(agent: Agent, home: &Path, client: &Path) {
    let client = client.display();
    let (events, file) = match agent {
        Agent::Claude => (CLAUDE, agent.settings(home)),
        Agent::Gemini => (GEMINI, agent.settings(home)),
        Agent::Codex => (CODEX, home.join(".codex/hooks.json")),
    };
    let mut hooks = Map::new();
    for event in events {
        let seconds = match *event {
            "SessionStart" | "Stop" | "AfterAgent" => 7,
            "Interrupt" => 1,
            "SessionEnd" if agent != Agent::Gemini => 1,
            _ => 2,
        };
        let (command, timeout) = match agent {
            Agent::Gemini => (format!("[ -x {client} ] && exec {client} gemini {event}; exit 0"), seconds * 1000),
            _ => (format!("{client} {}", agent.name()), seconds),
        };
        let hook = json!({ "type": "command", "command": command, "timeout": timeout });
        hooks.insert((*event).to_owned(), json!([{ "hooks": [hook] }]));
    }
    let before = fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
    let mut settings: Value = serde_json::from_str(&before).expect("JSON");
    settings["hooks"] = Value::Object(hooks);
    fs::write(file, settings.to_string()).expect("writes");
}

pub(crate) fn uninstall(agent: Agent, home: &Path) {
    if agent == Agent::Codex {
        return fs::remove_file(home.join(".codex/hooks.json")).unwrap();
    }
    let file = agent.settings(home);
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    settings.as_object_mut().unwrap().remove("hooks");
    fs::write(file, settings.to_string()).unwrap();
}
