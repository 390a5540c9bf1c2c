//! The agents: a room for each, with everything that is particular to it, behind one [`Adapter`].
//!
//! To add an agent: a row of `journal::agents!`, a room here with a line in [`ALL`], a room in the installer with a
//! line in its list, and the line that resumes its sessions in `config.yml`. Recordings of its calls and screens are
//! beside their tests.

pub mod adapter;
mod claude;
mod codex;
pub(crate) mod configured;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod kimi;
mod opencode;
mod pi;
mod qwen;
#[cfg(test)]
mod tests;
mod vibe;

use journal::Agent;

use crate::prompts::Authors;
use adapter::Adapter;

/// All adapters. An agent that also sets variables of another one comes after it.
pub const ALL: [(Agent, &dyn Adapter); Agent::HOSTS.len()] = [
    (Agent::Claude, &claude::Claude),
    (Agent::Gemini, &gemini::Gemini),
    (Agent::Codex, &codex::Codex),
    (Agent::Qwen, &qwen::Qwen),
    (Agent::Copilot, &copilot::Copilot),
    (Agent::OpenCode, &opencode::OpenCode),
    (Agent::Droid, &droid::Droid),
    (Agent::Pi, &pi::Pi),
    (Agent::Kimi, &kimi::Kimi),
    (Agent::Vibe, &vibe::Vibe),
    (Agent::Cursor, &cursor::Cursor),
];

/// Returns the adapter of an agent; none for the daemon. All agents that a configuration describes have one adapter, so
/// that a journal is read, and its decisions are made again, without the configuration.
pub fn adapter(agent: Agent) -> Option<&'static dyn Adapter> {
    if let Agent::Configured(_) = agent {
        return Some(&configured::Configured);
    }
    let found = ALL.into_iter().find(|(one, _)| *one == agent);
    found.map(|(_, adapter)| adapter)
}

/// Returns the name of an agent's program, or of its script; none for the daemon.
pub fn program(agent: &Agent) -> Option<&str> {
    match agent {
        Agent::Configured(name) => Some(name.as_str()),
        other => adapter(*other).map(Adapter::program),
    }
}

/// Returns the judge of who wrote a prompt. `prefix` is the canonical prefix of this product's own texts.
pub fn authors(prefix: &str) -> Authors<'_> {
    Authors::new(prefix, ALL.map(|(_, adapter)| adapter.texts()).to_vec())
}

/// Returns the variables in which agents give their tools the session's id, the most particular first.
pub fn session_variables() -> impl Iterator<Item = &'static str> {
    ALL.into_iter()
        .rev()
        .filter_map(|(_, adapter)| adapter.variables().session)
}
