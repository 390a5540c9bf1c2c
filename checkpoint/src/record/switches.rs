//! What kept checkpoints of a session from being sent, and who did that (spec EVID-23).

use agents::adapter;
use journal::{Agent, Envelope, Event, PromptOrigin, Reason, ToolCall, ToolKind};

use super::statement::Switch;
use crate::shell;

/// Returns what kept checkpoints of a session from being sent, and whether a call of the agent did it. `daemons` are the
/// events of the daemon's own stream.
pub fn switches(events: &[Envelope], daemons: &[Envelope]) -> Vec<Switch> {
    let mut found = uninstalled(events, daemons);
    for (at, envelope) in events.iter().enumerate() {
        let what = match &envelope.event {
            Event::Muted { .. } => "muted",
            Event::CheckpointCleared {} => "cleared",
            Event::EscapeHatchUsed { by } if by == "marker" => "marker",
            Event::Decided(decision) => match decision.reason {
                Reason::ProjectOff => "project_off",
                Reason::NobodyWaiting if came_later(events, decision.trigger, daemons) => {
                    "daemon_away"
                }
                _ => continue,
            },
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } if !call.refused => {
                let agent = &envelope.stream.agent;
                match ends_guard(call).or_else(|| edits_guard(call, agent)) {
                    Some(what) => what,
                    None => continue,
                }
            }
            _ => continue,
        };
        let is_own = matches!(
            what,
            "marker" | "uninstalled" | "daemon_stopped" | "settings"
        );
        let is_agent = is_own || is_by_agent(events, at, what);
        found.push(Switch {
            seq: envelope.seq,
            at: envelope.at,
            what: what.to_owned(),
            by: if is_agent { "agent" } else { "person" }.to_owned(),
        });
    }
    found.sort_by_key(|switch| switch.seq);
    found
}

/// Returns the uninstallations by a person while a session was going on.
fn uninstalled(events: &[Envelope], daemons: &[Envelope]) -> Vec<Switch> {
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Vec::new();
    };
    let has_ended = matches!(last.event, Event::SessionEnded { .. });
    let during = daemons.iter().filter(|one| {
        matches!(&one.event, Event::EscapeHatchUsed { by } if by == UNINSTALL)
            && one.at >= first.at
            && (one.at <= last.at || !has_ended)
    });
    let switch = |one: &Envelope| Switch {
        seq: one.seq,
        at: one.at,
        what: "uninstalled".to_owned(),
        by: "person".to_owned(),
    };
    during.map(switch).collect()
}

/// Returns whether a daemon started between a stop and its record: none ran when the agent stopped.
fn came_later(events: &[Envelope], stop: u64, daemons: &[Envelope]) -> bool {
    let stop = events.iter().find(|envelope| envelope.seq == stop);
    stop.is_some_and(|stop| {
        daemons.iter().any(|one| {
            matches!(one.event, Event::DaemonStarted { .. })
                && one.at > stop.at
                && one.at <= stop.recorded_at
        })
    })
}

/// Returns the word for a call that wrote a file with its agent's hooks, or one with settings of checkpointd.
fn edits_guard(call: &ToolCall, agent: &Agent) -> Option<&'static str> {
    let hooks = adapter(*agent).map(|adapter| (adapter.tools.known)().hooks.as_slice());
    let is_guards = |path: &String| {
        let mut names = hooks.unwrap_or_default().iter().map(String::as_str);
        names.any(|name| path.ends_with(name))
            || OWN_SETTINGS.iter().any(|name| path.ends_with(name))
    };
    let line = call.command.as_deref().unwrap_or_default();
    let wrote = match call.kind {
        ToolKind::Edit | ToolKind::Write => call.paths.iter().any(is_guards),
        ToolKind::Shell => {
            let read = shell::read(line);
            let takes = |simple: &&shell::Simple| {
                matches!(simple.words.first().map(String::as_str), Some("rm" | "mv"))
            };
            let mut taken = read
                .commands
                .iter()
                .filter(takes)
                .flat_map(|simple| &simple.words);
            let mut ours = read.commands.iter();
            let sets = |simple: &shell::Simple| {
                runs_us(&simple.words, &["config"]) && runs_us(&simple.words, &["set", "edit"])
            };
            read.writes.iter().any(is_guards) || taken.any(is_guards) || ours.any(sets)
        }
        _ => false,
    };
    wrote.then_some("settings")
}

/// Returns whether a call of the turn that had begun ran checkpointd, or one before it touched the project's settings.
fn is_by_agent(events: &[Envelope], at: usize, what: &str) -> bool {
    let begins = |envelope: &Envelope| {
        let Event::PromptSubmitted { origin, .. } = &envelope.event else {
            return false;
        };
        *origin == PromptOrigin::User
    };
    let first = events[..at].iter().rposition(begins).unwrap_or_default();
    let turn = events[first..].iter().enumerate();
    let mut turn = turn.take_while(|(place, one)| *place == 0 || !begins(one));
    turn.any(|(place, one)| {
        let (Event::ToolStarted { call, .. }
        | Event::ToolFinished { call, .. }
        | Event::ToolFailed { call, .. }) = &one.event
        else {
            return false;
        };
        // Some agents report a call only when it ended.
        let has_begun = first + place < at || call.at <= events[at].at;
        let line = call.command.as_deref().unwrap_or_default();
        let is_ours = match what {
            "project_off" => {
                let names = |text: &str| text.contains(".checkpointd.yml");
                call.kind != ToolKind::Read
                    && (names(line) || call.paths.iter().any(|path| names(path)))
            }
            "daemon_away" => ends_guard(call).is_some(),
            _ => shell::read(line)
                .commands
                .iter()
                .any(|simple| runs_us(&simple.words, &["mute", "clear"])),
        };
        has_begun && is_ours
    })
}

/// Returns whether a command is one of `checkpointd`.
fn runs_us(words: &[String], commands: &[&str]) -> bool {
    let program = words.first().and_then(|word| word.rsplit('/').next());
    let is_meant = |word: &String| commands.contains(&word.as_str());
    program == Some(US) && words.iter().any(is_meant)
}

const US: &str = "checkpointd";
const OWN_SETTINGS: [&str; 2] = [".checkpointd.yml", "checkpointd/config.yml"];
/// How the daemon's own stream calls an uninstallation by a person. That of an agent is one of its calls.
pub const UNINSTALL: &str = "uninstall";

/// Returns what a call does to the daemon or the hooks, if it takes them away.
fn ends_guard(call: &ToolCall) -> Option<&'static str> {
    let line = call.command.as_deref().filter(|line| line.contains(US))?;
    let commands = shell::read(line).commands;
    let names_us = |words: &[String]| words.iter().skip(1).any(|word| word.contains(US));
    let looks_up = commands.iter().any(|simple| {
        let program = simple.words.first().map(String::as_str);
        matches!(program, Some("pgrep" | "pidof")) && names_us(&simple.words)
    });
    commands.iter().find_map(|simple| {
        let words = &simple.words;
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        match words.first().map(String::as_str)? {
            US if has(&["--dry-run", "--help", "-h"]) => None,
            US if has(&["uninstall"]) && !has(&["service"]) => Some("uninstalled"),
            US if has(&["daemon", "service"]) && has(&["stop", "uninstall"]) => {
                Some("daemon_stopped")
            }
            "kill" if looks_up || names_us(words) => Some("daemon_stopped"),
            "pkill" | "killall" if names_us(words) => Some("daemon_stopped"),
            "systemctl" | "launchctl"
                if names_us(words)
                    && has(&[
                        "stop", "disable", "mask", "kill", "bootout", "unload", "remove",
                    ]) =>
            {
                Some("daemon_stopped")
            }
            _ => None,
        }
    })
}
