//! Servers that were stopped on purpose, and asked once more (spec HYG-10).

use std::sync::LazyLock;

use journal::{ToolCall, ToolKind};
use regex::Regex;

use super::questions;
use super::turn::Turn;
use super::verify;
use crate::shell::{self, CommandLine, Flow, Simple, Step};

static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)connection refused|ECONNREFUSED|(?:could ?n.t|could not|failed to|unable to) connect|empty reply|exit code:? (?:7|52|56)\b|^000$")
        .expect("a constant that a test compiles")
});
const STOPPING_TOOLS: [&str; 4] = ["KillShell", "KillBash", "TaskStop", "kill_shell"];

/// Words in commands that start servers.
const STARTING: [&str; 8] = [
    "start", "restart", "serve", "server", "dev", "up", "launch", "preview",
];

/// Returns whether a call asked a server of this machine that did not answer, because it had been stopped before.
pub(super) fn was_stopped(turn: &Turn<'_>, index: usize) -> bool {
    let call = &turn.evidence.timeline.calls[index];
    let commands = &turn.lines[index].commands;
    let Some(asked) = commands.iter().position(verify::asks_server) else {
        return false;
    };
    if call.kind != ToolKind::Shell || !REFUSED.is_match(&call.output) {
        return false;
    }
    if let Some(stops) = last_act(&commands[..asked]) {
        return stops;
    }
    let calls = &turn.evidence.timeline.calls[..index];
    let earlier = calls.iter().enumerate().rev();
    let mut acts = earlier.filter_map(|(at, call)| match call.kind {
        ToolKind::Shell => last_act(&turn.lines[at].commands),
        _ => stops_by_tool(call).then_some(true),
    });
    acts.next() == Some(true)
}

/// Returns whether a call was to start a server, and a server of this machine answered later.
pub(super) fn was_started_since(turn: &Turn<'_>, index: usize) -> bool {
    let answers = |at: usize| {
        let call = &turn.evidence.timeline.calls[at];
        !call.is_error && !call.refused && turn.lines[at].commands.iter().any(verify::asks_server)
    };
    starts_any(&turn.lines[index].commands) && (index + 1..turn.lines.len()).any(answers)
}

/// Returns whether any command starts a server, as its words say.
pub(super) fn starts_any(commands: &[Simple]) -> bool {
    commands.iter().any(|simple| {
        simple.words.iter().take(3).any(|word| {
            let mut parts = word.split([':', '-', '_', '.', '/']);
            parts.any(|part| STARTING.contains(&part))
        })
    })
}

/// Returns whether a line starts a program that runs on behind it: with `&`, or in another terminal.
pub(super) fn starts_behind(call: &ToolCall, line: &CommandLine) -> bool {
    let text = call.command.as_deref().unwrap_or_default();
    let has = |words: &[String], any: &[&str]| {
        words
            .iter()
            .any(|word| any.iter().any(|one| word.starts_with(one)))
    };
    let elsewhere = |simple: &Simple| match simple.words.first().map(String::as_str) {
        Some("tmux") => has(&simple.words, &["new", "send", "respawn", "split"]),
        Some("screen") => has(&simple.words, &["-d", "-S"]),
        Some("docker" | "docker-compose" | "podman") => has(&simple.words, &["up", "start", "run"]),
        Some("pm2" | "systemctl" | "launchctl" | "supervisorctl") => {
            has(&simple.words, &["start", "restart", "load"])
        }
        _ => false,
    };
    line.commands.iter().any(elsewhere) || holds_behind(&shell::read_flow(text))
}

fn holds_behind(flow: &Flow<Step>) -> bool {
    match flow {
        Flow::Behind(_) => true,
        Flow::Seq(parts) => parts.iter().any(holds_behind),
        Flow::Chain(first, rest) => {
            holds_behind(first) || rest.iter().any(|(_, part)| holds_behind(part))
        }
        Flow::Apart(inner) | Flow::Away(inner, _) => holds_behind(inner),
        _ => false,
    }
}

fn stops_by_tool(call: &ToolCall) -> bool {
    STOPPING_TOOLS.contains(&call.tool.as_str())
}

/// Returns whether the last command that does something stops a program; none if all of them only look or ask.
fn last_act(commands: &[Simple]) -> Option<bool> {
    commands.iter().rev().find_map(|simple| {
        let only_asks = || {
            questions::is_harmless(simple)
                || questions::is_question(simple, "")
                || verify::asks_server(simple)
        };
        if stops(simple) {
            Some(true)
        } else {
            (!only_asks()).then_some(false)
        }
    })
}

fn stops(simple: &Simple) -> bool {
    let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [
            "kill" | "pkill" | "killall" | "kill-port" | "taskkill" | "Stop-Process",
            ..,
        ] => true,
        ["fuser", rest @ ..] => rest.iter().any(|word| word.starts_with("-k")),
        [
            "docker" | "podman" | "docker-compose" | "systemctl" | "pm2" | "brew",
            rest @ ..,
        ] => rest
            .iter()
            .take(3)
            .any(|word| matches!(*word, "down" | "stop" | "kill" | "rm" | "delete")),
        _ => false,
    }
}
