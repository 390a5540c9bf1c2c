//! What differs between agents when hooks are installed into their settings, as data, and the one way to install by it.

use std::path::{Path, PathBuf};

use journal::Agent;
use serde_json::Value;

use super::agents::{codex, copilot, dsh};
use super::change::{AgentPlan, Change, Entry, Kind};
use super::check::Check;
use super::edits::{self, Edit, Result};
use super::found::{Found, on_path};
use super::hooks::{HookEntry, Row, command};
use super::plugin::Plugin;
use super::prompt::Prompt;
use super::settings::{self, Shape};
use super::tables::{self, Table};
use super::version::Version;
use crate::edit::files;

/// How to install into one agent. [`DEFAULT`] fits Claude Code, whose conventions most agents share.
pub(crate) struct Installer {
    pub(super) agent: Agent,
    /// Where the user's settings are.
    pub(super) folder: Folder,
    /// The folder of the agent's settings in a project; none if a project can have no hooks.
    pub(crate) project: Option<&'static str>,
    /// When the agent runs hooks of a project's settings, with `{project}` for the project.
    pub(super) note: &'static str,
    /// What is installed depends on the agent's version. Asking for it takes seconds.
    pub(super) depends_on_version: bool,
    /// The first version that calls hooks, if there are older ones and `init` does not depend on the version.
    pub(super) hooks_since: Option<Version>,
    /// It gets hooks only if it is named.
    pub(crate) is_on_request: bool,
    /// The file with hooks in a folder of settings.
    pub(super) file: &'static str,
    /// How hooks are written in that file.
    pub(super) format: Format,
    /// Settings of the machine's administrator, which can switch hooks off; those of a folder end with `/`.
    pub(super) managed: &'static [&'static str],
    /// Says why hooks cannot be added to a file of settings.
    pub(super) refuses: fn(&Path) -> Option<String>,
    /// The events that hooks are installed for.
    pub(super) rows: &'static [Row],
    /// The event at which a turn ends.
    pub(crate) stop_event: &'static str,
    /// The client is told the event, because payloads do not name it, or are read after the command line.
    pub(super) tells_event: bool,
    /// Further arguments of the client.
    pub(super) arguments: fn() -> String,
    /// The command line that calls the client.
    pub(super) command: fn(&Path, &str) -> String,
    /// A second in the agent's unit of time limits.
    pub(super) second: u64,
    /// An event with a matcher.
    pub(super) matcher: Option<(&'static str, &'static str)>,
    /// The agent runs hook commands with `bash`, if there is one; otherwise with `sh`.
    pub(super) prefers_bash: bool,
    /// Slash commands that are files.
    pub(super) prompts: Option<Prompts>,
    /// A file that says that our plugin is installed, and what it contains then.
    pub(super) plugin: Option<(&'static str, &'static str)>,
    /// `doctor`'s checks for this agent only.
    pub(crate) checks: fn(&Found, &AgentPlan) -> Vec<Check>,
}

/// What most agents share.
pub(super) const DEFAULT: Installer = Installer {
    agent: Agent::Daemon,
    folder: Folder::At(None),
    project: None,
    note: "",
    depends_on_version: false,
    hooks_since: None,
    is_on_request: false,
    file: "settings.json",
    format: Format::Settings(Shape::Groups, ""),
    managed: &[],
    refuses: |_| None,
    rows: &[],
    stop_event: "Stop",
    tells_event: false,
    arguments: String::new,
    command,
    second: 1,
    matcher: None,
    prefers_bash: false,
    prompts: None,
    plugin: None,
    checks: |_, _| Vec::new(),
};

/// Where the settings of a user are.
#[derive(Clone, Copy)]
pub(super) enum Folder {
    /// In the folder that a variable names, or in this one in the user's home.
    Named(&'static str, &'static str),
    /// The same, without links in the folder that the variable names.
    Resolved(&'static str, &'static str),
    /// The third in the folder that a variable names, or in this one in the user's home.
    Below(&'static str, &'static str, &'static str),
    /// In the user's home.
    Home(&'static str),
    /// There; none if it is below a home folder that is not known.
    At(Option<&'static Path>),
}

/// How hooks are written in their file.
pub(super) enum Format {
    /// JSON with hooks among other settings. The text is a file before its first hook.
    Settings(Shape, &'static str),
    /// A table of TOML for each hook: the key that names the event, and all keys.
    Tables(&'static str, fn(&HookEntry) -> Table),
    /// A program of ours that the agent loads.
    Plugin(Plugin),
    /// The DeepSeek Harness's: the same, mounted in another file.
    Harness(Plugin),
    /// Copilot's: a file that is all ours.
    Copilot,
    /// Codex's: like [`Self::Settings`], with the trust in these hooks in another file.
    Codex,
}

/// How an agent finds slash commands.
pub(super) struct Prompts {
    /// Their folder within the settings folder.
    pub(super) folder: &'static str,
    /// The name and the text of a command's file.
    pub(super) file: fn(&Prompt) -> (String, String),
    /// A project can have its own ones.
    pub(super) in_projects: bool,
}

/// Claude Code's commands.
pub(super) const COMMANDS: Prompts = Prompts {
    folder: "commands",
    file: |prompt| prompt.markdown("$ARGUMENTS"),
    in_projects: true,
};

impl Installer {
    /// Returns the file that says that our plugin is installed, which has the hooks too.
    pub(crate) fn plugin_file(&self, found: &Found) -> Option<PathBuf> {
        let (file, sign) = self.plugin?;
        let path = found.folder.join(file);
        let text = std::fs::read_to_string(&path).ok()?;
        text.contains(sign).then_some(path)
    }

    /// Returns the folder of the user's settings, by the environment.
    pub(super) fn user_folder(&self) -> Result<PathBuf> {
        let in_home = |folder: &str| match folder_in("HOME") {
            Some(home) => Ok(home.join(folder)),
            None => Err(self.unknown_home()),
        };
        let named = |variable, folder| folder_in(variable).map_or_else(|| in_home(folder), Ok);
        match self.folder {
            Folder::Named(variable, folder) => named(variable, folder),
            Folder::Resolved(variable, folder) => match folder_in(variable) {
                Some(named) => Ok(named.canonicalize().unwrap_or(named)),
                None => in_home(folder),
            },
            Folder::Below(variable, folder, below) => Ok(named(variable, folder)?.join(below)),
            Folder::Home(folder) => in_home(folder),
            Folder::At(known) => known.map(Path::to_owned).ok_or_else(|| self.unknown_home()),
        }
    }

    fn unknown_home(&self) -> String {
        let name = self.agent.name();
        format!("HOME is not set, so {name}'s settings cannot be found")
    }

    /// Returns the variable that sets the settings folder, if there is one.
    pub(super) const fn folder_variable(&self) -> Option<&'static str> {
        match self.folder {
            Folder::Named(variable, _) | Folder::Resolved(variable, _) => Some(variable),
            _ => None,
        }
    }

    /// Returns the shell that the agent runs hook commands with.
    pub(crate) fn shell(&self) -> &'static str {
        match self.prefers_bash && on_path("bash").is_some() {
            true => "bash",
            false => "sh",
        }
    }

    /// Returns the entries to install. An unknown version counts as current. `stop_wait_ms` is the
    /// daemon's longest wait for a reply.
    pub(super) fn wanted(
        &self,
        version: Option<Version>,
        client: &Path,
        stop_wait_ms: u64,
    ) -> Vec<HookEntry> {
        let rows = self.rows.iter();
        let known = rows.filter(|(_, _, since)| version.is_none_or(|version| version >= *since));
        let entry = |(event, limit, _): &Row| {
            let told = match self.tells_event {
                true => format!(" {event}"),
                false => String::new(),
            };
            let arguments = format!("{}{told}{}", self.agent.word(), (self.arguments)());
            let matcher = self.matcher.filter(|(of, _)| of == event);
            HookEntry {
                event,
                matcher: matcher.map(|(_, matcher)| matcher),
                command: (self.command)(client, &arguments),
                timeout: limit.seconds(stop_wait_ms) * self.second,
            }
        };
        known.map(entry).collect()
    }

    /// Plans the edits of the files with hooks, and notes for the user.
    pub(super) fn edits(
        &self,
        found: &Found,
        file: &Path,
        wanted: &[HookEntry],
        client: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Edit>> {
        match &self.format {
            Format::Settings(shape, empty) => match (self.refuses)(file) {
                None => edits::settings(file, wanted, *shape, empty),
                Some(reason) => Err(edits::in_file(file)(reason)),
            },
            Format::Tables(event, table) => tables::edit(file, event, wanted, table),
            Format::Plugin(plugin) => plugin.edit(self.agent, file, wanted, client),
            Format::Harness(plugin) => return dsh::edits(plugin, file, wanted, client),
            Format::Copilot => copilot::edit(file, wanted),
            Format::Codex => return codex::edits(found, file, wanted, client, notes),
        }
        .map(|edit| vec![edit])
    }

    /// Returns files in the user's settings, other than the hooks file, that may have entries of ours.
    pub(super) fn other_files(&self, folder: &Path) -> Vec<(PathBuf, Kind)> {
        match self.format {
            Format::Codex => vec![(folder.join(codex::CONFIG), Kind::Trust)],
            Format::Harness(_) => vec![(folder.join(dsh::PATCHES), Kind::Trust)],
            _ => Vec::new(),
        }
    }

    /// Removes our entries from a file of kind [`Kind::Trust`]. `hooks_files` are the files whose
    /// hooks it trusts.
    pub(super) fn strip_trust(
        &self,
        text: &str,
        hooks_files: &[PathBuf],
    ) -> Result<(String, Vec<Entry>)> {
        match self.format {
            Format::Codex => codex::strip_trust(text, hooks_files),
            Format::Harness(_) => Ok(dsh::strip(text)),
            _ => Ok((text.to_owned(), Vec::new())),
        }
    }

    /// Returns whether a file of kind [`Kind::Own`] has nothing but entries of ours.
    pub(super) fn is_ours(&self, text: &str) -> bool {
        match &self.format {
            Format::Plugin(plugin) | Format::Harness(plugin) => plugin.is_ours(text),
            Format::Copilot => copilot::is_ours(text),
            _ => false,
        }
    }

    /// Returns our command at the end of a turn, in a file with hooks.
    pub(crate) fn stop_command(&self, text: &str) -> Result<Option<String>> {
        let event = self.stop_event;
        Ok(match &self.format {
            Format::Settings(..) | Format::Codex => settings::handlers(text)?
                .into_iter()
                .find(|handler| handler.client.is_some() && handler.event == event)
                .map(|handler| handler.command),
            Format::Tables(key, _) => tables::command_at(text, key, event),
            Format::Plugin(_) | Format::Harness(_) => Plugin::command(text, self.agent.word()),
            Format::Copilot => copilot::command_at(text, event),
        })
    }

    /// Returns the note on when the agent runs hooks of a project's settings.
    pub(super) fn project_note(&self, project: &Path) -> String {
        self.note.replace("{project}", &project.to_string_lossy())
    }

    /// Returns the kind of the file that calls the client.
    pub(crate) fn hooks_kind(&self, found: &Found) -> Kind {
        match self.format {
            Format::Settings(..) => Kind::Settings,
            Format::Tables(..) => Kind::Tables,
            Format::Plugin(_) | Format::Harness(_) | Format::Copilot => Kind::Own,
            Format::Codex => codex::hooks_kind(found),
        }
    }

    /// Names the setting that disables all hooks and its file, if one does: of the user, of this folder's project, or of the
    /// machine.
    pub(crate) fn switched_off(
        &self,
        found: &Found,
        change: &Change,
    ) -> Option<(&'static str, PathBuf)> {
        let own = match self.format {
            Format::Settings(..) => settings::switched_off(&files::now(&change.path), false),
            // Neither has a switch.
            Format::Tables(..) | Format::Plugin(_) | Format::Harness(_) => None,
            Format::Copilot => {
                let root: Value = serde_json::from_str(&files::now(&change.path)).ok()?;
                (root["disableAllHooks"] == true).then_some("disableAllHooks")
            }
            Format::Codex => return codex::switched_off(found, change, &self.others()),
        };
        let own = own.map(|switch| (switch, change.path.clone()));
        own.or_else(|| {
            let is_managed = |path: &Path| self.managed.iter().any(|own| path.starts_with(own));
            self.others().into_iter().find_map(|path| {
                let switch = settings::switched_off(&files::now(&path), is_managed(&path))?;
                Some((switch, path))
            })
        })
    }

    /// Returns the other files that can switch hooks off: of this folder's project and of the machine.
    fn others(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        if let (Some(folder), Ok(here)) = (self.project, std::env::current_dir()) {
            let local = self.file.replace(".json", ".local.json");
            for top in here.ancestors() {
                files.push(top.join(folder).join(self.file));
                files.push(top.join(folder).join(&local));
                if top.join(".git").exists() {
                    break;
                }
            }
        }
        for path in self.managed {
            if path.ends_with('/') {
                let parts = std::fs::read_dir(path).into_iter().flatten().flatten();
                files.extend(parts.map(|part| part.path()));
            } else {
                files.push(path.into());
            }
        }
        files
    }

    /// Names entries beside ours that make the agent drop the whole file.
    pub(crate) fn malformed(&self, change: &Change) -> Vec<String> {
        let text = || files::now(&change.path);
        match self.format {
            Format::Settings(Shape::Groups, _) => {
                let events: Vec<_> = self.rows.iter().map(|(event, ..)| *event).collect();
                settings::malformed(&text(), &events)
            }
            Format::Settings(Shape::Named, _) => settings::malformed_sets(&text()),
            _ => Vec::new(),
        }
    }

    /// Names our hooks outside the hooks file, which call twice.
    pub(crate) fn misplaced(&self, found: &Found) -> Vec<String> {
        match self.format {
            Format::Codex => codex::misplaced(found),
            _ => Vec::new(),
        }
    }
}

/// Returns the folder in a variable, if it is set.
fn folder_in(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}
