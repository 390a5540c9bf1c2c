//! Agents that the user's configuration describes; and those that it described when their hooks were installed.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use checkpoint::config::{DescribedAgent, HooksFormat};
use journal::{Agent, Home};

use crate::config;
use crate::install::change::Kind;
use crate::install::hooks::{ANY, Limit};
use crate::install::installer::{DEFAULT, Folder, Format, Installer};
use crate::install::record::Record;
use crate::install::settings::Shape;

/// An agent that is or was described.
struct Configured {
    installer: Installer,
    /// Environment variables that only this agent sets for hooks.
    variables: Vec<String>,
    /// Whether the configuration still describes it.
    is_described: bool,
}

/// The agents, once for each process: a command looks at one configuration.
static ALL: LazyLock<Vec<Configured>> = LazyLock::new(|| {
    let Some(home) = Home::from_env() else {
        return Vec::new();
    };
    // As in the daemon: an invalid configuration is not used.
    let config = config::load(&home).unwrap_or_default();
    let described = config.settings.agents.iter();
    let described = described.map(|(agent, described)| Configured::new(agent, described));
    let mut all: Vec<Configured> = described.collect();
    let record = Record::load(&home).ok();
    for (path, written) in record.iter().flat_map(|record| &record.files) {
        let agent = written.agent;
        let is_gone = matches!(agent, Agent::Configured(_)) && written.kind == Kind::Settings;
        if is_gone && all.iter().all(|one| one.installer.agent != agent) {
            all.push(Configured {
                installer: at(agent, Some(path)),
                variables: Vec::new(),
                is_described: false,
            });
        }
    }
    all
});

/// Returns the installer of an agent that is or was described.
pub(super) fn installer(agent: Agent) -> Option<&'static Installer> {
    let mut all = ALL.iter().map(|one| &one.installer);
    all.find(|installer| installer.agent == agent)
}

/// Returns the agents that the configuration describes.
pub(super) fn agents() -> impl Iterator<Item = Agent> {
    let described = ALL.iter().filter(|one| one.is_described);
    described.map(|one| one.installer.agent)
}

/// Returns the agents that it does not describe any more, and that have hooks.
pub(super) fn gone() -> impl Iterator<Item = Agent> {
    let gone = ALL.iter().filter(|one| !one.is_described);
    gone.map(|one| one.installer.agent)
}

/// Returns the names of all described agents.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|one| one.installer.agent.word())
}

/// Returns the client's arguments that tell calls of these agents from those of the agent whose settings they read.
pub(super) fn marks() -> String {
    let marks = ALL.iter().filter(|one| one.is_described).flat_map(|one| {
        let (variables, word) = (one.variables.iter(), one.installer.agent.word());
        variables.map(move |variable| format!(" --as={variable}:{word}"))
    });
    marks.collect()
}

impl Configured {
    fn new(agent: Agent, described: &DescribedAgent) -> Self {
        let user = std::env::var("HOME").ok();
        let settings = described.settings.resolve(user.as_deref());
        let limit = |event: &str| match event {
            "Stop" | "SessionStart" => Limit::Reply,
            _ => Limit::Plain,
        };
        let rows = described.events.iter();
        let rows = rows.map(|event| (kept(&event.0), limit(&event.0), ANY));
        let (word, project) = (agent.word(), described.project.as_ref());
        let shape = match described.format {
            HooksFormat::Groups => Shape::Groups,
            HooksFormat::Flat => Shape::Flat,
        };
        let variables = described.variables.iter();
        Self {
            installer: Installer {
                project: project.map(|folder| kept(&folder.0)),
                note: kept(&format!(
                    "whether {word} asks before it runs the hooks of {{project}} is not known here"
                )),
                format: Format::Settings(shape, ""),
                rows: Vec::leak(rows.collect()),
                ..at(agent, settings.as_deref().map(Path::new))
            },
            variables: variables.map(|name| name.0.clone()).collect(),
            is_described: true,
        }
    }
}

/// Returns what is known of an agent by its settings file; none if that is below a home folder that is not known.
fn at(agent: Agent, settings: Option<&Path>) -> Installer {
    let name = settings.and_then(Path::file_name).unwrap_or_default();
    let folder = settings.and_then(Path::parent).map(Path::to_owned);
    Installer {
        agent,
        folder: Folder::At(folder.map(|folder: PathBuf| &*Box::leak(folder.into_boxed_path()))),
        file: kept(&name.to_string_lossy()),
        // Some payloads do not name their event.
        tells_event: true,
        ..DEFAULT
    }
}

/// Keeps a text for the life of the process, as the other installers have theirs.
fn kept(text: &str) -> &'static str {
    String::leak(text.to_owned())
}
