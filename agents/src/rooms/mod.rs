//! The agents: a file for each, with everything that is particular to it, as an [`Adapter`].
//!
//! To add an agent: a row of `journal::agents!`, a file here with a row in [`ALL`], a row in the installer's table, and
//! the line that resumes its sessions in `config.yml`. Its recordings are in `tests/data/fixtures/AGENT`.

mod antigravity;
mod claude;
mod codex;
mod configured;
mod copilot;
mod cursor;
mod droid;
mod dsh;
mod gemini;
mod grok;
mod kilo;
mod kimi;
mod opencode;
mod openhands;
mod pi;
mod qwen;
#[cfg(test)]
mod tests;
mod vibe;

use journal::Agent;

use crate::adapter::Adapter;
use crate::prompts::Authors;

/// All adapters, in the order of names. An agent that also sets variables of another one has to come after it.
pub const ALL: [&Adapter; Agent::HOSTS.len()] = [
    &antigravity::ANTIGRAVITY,
    &claude::CLAUDE,
    &codex::CODEX,
    &copilot::COPILOT,
    &cursor::CURSOR,
    &droid::DROID,
    &dsh::DSH,
    &gemini::GEMINI,
    &grok::GROK,
    &kilo::KILO,
    &kimi::KIMI,
    &opencode::OPENCODE,
    &openhands::OPENHANDS,
    &pi::PI,
    &qwen::QWEN,
    &vibe::VIBE,
];

/// Returns the adapter of an agent; none for the daemon. All agents that a configuration describes have one adapter, so
/// that a journal is read, and its decisions are made again, without the configuration.
pub fn adapter(agent: Agent) -> Option<&'static Adapter> {
    if let Agent::Configured(_) = agent {
        return Some(match agent.is_agent() {
            true => &configured::CONFIGURED,
            false => &configured::PERSON,
        });
    }
    ALL.into_iter().find(|adapter| adapter.agent == agent)
}

/// Returns the name of an agent's program, or of its script; none for the daemon.
pub fn program(agent: &Agent) -> Option<&str> {
    match agent {
        Agent::Configured(name) => Some(name.as_str()),
        other => adapter(*other).map(|adapter| adapter.program),
    }
}

/// Returns the judge of who wrote a prompt. `prefix` is the canonical prefix of this product's own texts.
pub fn authors(prefix: &str) -> Authors<'_> {
    Authors::new(prefix, ALL.map(|it| (it.peel, (it.tools.known)())).to_vec())
}

/// Returns the variables in which agents give their tools the session's id, the most particular first.
pub fn session_variables() -> impl Iterator<Item = &'static str> {
    let agents = ALL.into_iter().rev();
    agents.filter_map(|adapter| adapter.variables.session)
}
