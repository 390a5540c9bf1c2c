//! What is specific to one agent: the table of all, and the forms of files that one agent alone has.

pub(super) mod codex;
mod configured;
pub(super) mod copilot;
pub(super) mod dsh;
mod openhands;
mod table;

use std::path::{Path, PathBuf};

use checkpoint::agents::adapter;
use journal::Agent;

use super::check::Check;
use super::found::{Found, on_path, version_of};
use super::installer::Installer;
use super::version::Version;
use table::INSTALLERS;

/// Returns how to install into an agent. Panics for one that is neither known nor described, as [`named`] finds none.
pub(crate) fn installer(agent: Agent) -> &'static Installer {
    let known = INSTALLERS.iter().find(|one| one.agent == agent);
    let installer = known.or_else(|| configured::installer(agent));
    installer.expect("every agent has an installer")
}

/// Returns all agents, those last that the configuration describes.
pub(crate) fn all() -> impl Iterator<Item = Agent> {
    Agent::HOSTS.into_iter().chain(configured::agents())
}

/// Returns all agents that may have hooks of ours: also those that the configuration does not describe any more.
pub(crate) fn all_with_hooks() -> impl Iterator<Item = Agent> {
    all().chain(configured::gone())
}

/// Returns the agent with a name of [`all_with_hooks`].
pub(crate) fn named(word: &str) -> Option<Agent> {
    all_with_hooks().find(|agent| agent.word() == word)
}

/// Returns the names of the agents that are or were described.
pub(crate) fn described_words() -> impl Iterator<Item = &'static str> {
    configured::words()
}

/// Looks for an agent on this machine, without its version.
pub(crate) fn find(agent: Agent) -> Result<Found, String> {
    let folder = installer(agent).user_folder()?;
    let folder = std::path::absolute(&folder)
        .map_err(|error| format!("{} cannot be found: {error}", folder.display()))?;
    Ok(Found {
        agent,
        program: on_path(agent.word()),
        folder,
        version: None,
    })
}

/// Asks an agent for its version if the installation depends on it.
pub(crate) fn with_version(mut found: Found) -> Found {
    let installer = installer(found.agent);
    if installer.depends_on_version {
        let program = found.program.as_deref();
        found.version =
            program.and_then(|program| version_of(program, installer.folder_variable()));
    }
    found
}

/// Checks that an agent is not too old to call hooks, and says if its version is newer than the tested one.
pub(crate) fn age(found: &Found) -> Option<Check> {
    let installer = installer(found.agent);
    let ask = || version_of(found.program.as_deref()?, installer.folder_variable());
    let version = found.version.or_else(ask)?;
    let (name, agent) = (format!("{}.version", found.agent), found.agent.name());
    if let Some(since) = installer.hooks_since.filter(|since| version < *since) {
        let detail = format!("{agent} {version} does not call the hooks that are needed");
        let fix = format!("update {agent} to {since} or newer");
        return Some(Check::fail(name, detail, fix));
    }
    let known = (adapter(found.agent)?.tools.known)();
    let tried = known.tried().and_then(|(_, tried)| Version::find(tried));
    let detail = match tried {
        Some(tried) if version > tried => {
            format!("{agent} {version} is newer than {tried}, with which all was tested")
        }
        _ => format!("{agent} {version} calls hooks"),
    };
    Some(Check::pass(name, detail))
}

pub(crate) fn hooks_file(agent: Agent, folder: &Path) -> PathBuf {
    folder.join(installer(agent).file)
}
