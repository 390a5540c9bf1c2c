//! What differs between agents when hooks are installed into their settings.

use std::path::{Path, PathBuf};

use journal::Agent;

use super::change::{AgentPlan, Change, Entry, Kind};
use super::check::Check;
use super::edits::{self, Edit, Result};
use super::found::Found;
use super::hooks::{Row, Wanted, command};
use super::prompt::Prompt;
use super::settings::{self, Shape};
use super::version::Version;
use crate::edit::files;

/// How to install into one agent. The defaults fit Claude Code, whose conventions most agents
/// share.
pub(crate) trait Installer: Sync {
    fn agent(&self) -> Agent;

    /// The folder of the user's settings, from the environment.
    fn user_folder(&self) -> Result<PathBuf>;

    /// The variable that sets the settings folder, if there is one.
    fn folder_variable(&self) -> Option<&'static str>;

    /// Whether what is installed depends on the agent's version.
    fn depends_on_version(&self) -> bool {
        true
    }

    /// The first version that calls hooks, if there are older ones and `init` does not depend on the version.
    fn hooks_since(&self) -> Option<Version> {
        None
    }

    /// Whether it gets hooks only if it is named.
    fn is_on_request(&self) -> bool {
        false
    }

    /// The file with hooks in a folder of settings.
    fn hooks_file(&self) -> &'static str {
        "settings.json"
    }

    /// The folder of the agent's settings in a project.
    fn project_folder(&self, project: &Path) -> PathBuf {
        project.join(format!(".{}", self.agent().word()))
    }

    /// The events that hooks are installed for.
    fn rows(&self) -> &'static [Row];

    /// The event at which a turn ends.
    fn stop_event(&self) -> &'static str {
        "Stop"
    }

    /// The client's arguments.
    fn arguments(&self, _event: &str) -> String {
        self.agent().word().to_owned()
    }

    /// The command line that calls the client.
    fn command(&self, client: &Path, arguments: &str) -> String {
        command(client, arguments)
    }

    /// A time limit in the host's unit.
    fn timeout(&self, seconds: u64) -> u64 {
        seconds
    }

    /// The host's matcher for an event.
    fn matcher(&self, _event: &str) -> Option<&'static str> {
        None
    }

    /// How hooks are written in the file.
    fn shape(&self) -> Shape {
        Shape::Groups
    }

    /// The shell that the host runs hook commands with.
    fn shell(&self) -> &'static str {
        "sh"
    }

    /// Returns the entries to install. An unknown version counts as current. `stop_wait_ms` is the
    /// daemon's longest wait for a reply.
    fn wanted(&self, version: Option<Version>, client: &Path, stop_wait_ms: u64) -> Vec<Wanted> {
        let rows = self.rows().iter();
        let known = rows.filter(|(_, _, since)| version.is_none_or(|version| version >= *since));
        let entry = |(event, limit, _): &Row| Wanted {
            event,
            matcher: self.matcher(event),
            command: self.command(client, &self.arguments(event)),
            timeout: self.timeout(limit.seconds(stop_wait_ms)),
        };
        known.map(entry).collect()
    }

    /// A file with hooks before the first one is added.
    fn empty_file(&self) -> &'static str {
        ""
    }

    /// Plans the edits of the files with hooks, and notes for the user.
    fn edits(
        &self,
        _found: &Found,
        file: &Path,
        wanted: &[Wanted],
        _client: &Path,
        _notes: &mut Vec<String>,
    ) -> Result<Vec<Edit>> {
        Ok(vec![edits::settings(
            file,
            wanted,
            self.shape(),
            self.empty_file(),
        )?])
    }

    /// Files in the user's settings, other than the hooks file, that may have entries of ours.
    fn other_files(&self, _folder: &Path) -> Vec<(PathBuf, Kind)> {
        Vec::new()
    }

    /// Removes our entries from a file of kind [`Kind::Trust`]. `hooks_files` are the files whose
    /// hooks it trusts.
    fn strip_trust(&self, text: &str, _hooks_files: &[PathBuf]) -> Result<(String, Vec<Entry>)> {
        Ok((text.to_owned(), Vec::new()))
    }

    /// Returns whether a file of kind [`Kind::Own`] has nothing but entries of ours.
    fn is_ours(&self, _text: &str) -> bool {
        false
    }

    /// Returns our command for an event in a file with hooks.
    fn command_at(&self, text: &str, event: &str) -> Result<Option<String>> {
        let handlers = settings::handlers(text)?;
        let ours = handlers
            .into_iter()
            .find(|handler| handler.client.is_some() && handler.event == event);
        Ok(ours.map(|handler| handler.command))
    }

    /// Whether the agent has slash commands that are files.
    fn has_prompts(&self) -> bool {
        true
    }

    /// The folder of slash commands within the settings folder.
    fn prompts_folder(&self) -> &'static str {
        "commands"
    }

    /// The name and the text of a slash command's file.
    fn prompt_file(&self, prompt: &Prompt) -> (String, String) {
        prompt.markdown("$ARGUMENTS")
    }

    /// Whether a project can have its own slash commands.
    fn has_project_prompts(&self) -> bool {
        true
    }

    /// Whether a project can have its own hooks.
    fn has_project_hooks(&self) -> bool {
        true
    }

    /// A note on when the agent runs hooks of a project's settings.
    fn project_note(&self, project: &Path) -> String;

    /// The kind of the file that calls the client.
    fn hooks_kind(&self, _found: &Found) -> Kind {
        Kind::Settings
    }

    /// Names the setting that disables all hooks, if one does.
    fn switched_off(&self, _found: &Found, change: &Change) -> Option<&'static str> {
        let text = files::text(files::read(&change.path).ok().flatten().as_deref());
        settings::switched_off(&text)
    }

    /// Names our hooks outside the hooks file, which call twice.
    fn misplaced(&self, _found: &Found) -> Vec<String> {
        Vec::new()
    }

    /// `doctor`'s checks for this agent only.
    fn checks(&self, _found: &Found, _plan: &AgentPlan) -> Vec<Check> {
        Vec::new()
    }
}

/// Returns the folder in a variable, if it is set.
pub(super) fn folder_in(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// Returns the folder in a variable, if it is set, else `below` the user's home folder.
pub(super) fn folder_or(variable: &str, agent: Agent, below: &str) -> Result<PathBuf> {
    folder_in(variable).map_or_else(|| home_for(agent.name()).map(|home| home.join(below)), Ok)
}

/// Returns the user's home folder, which contains `name`'s settings.
pub(super) fn home_for(name: &str) -> Result<PathBuf> {
    folder_in("HOME")
        .ok_or_else(|| format!("HOME is not set, so {name}'s settings cannot be found"))
}
