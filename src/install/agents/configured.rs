//! Agents that the user's configuration describes; and those that it described when their hooks were installed.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use checkpoint::config::{Config, DescribedAgent, HooksFormat};
use journal::{Agent, Home};

use crate::config;
use crate::install::change::Kind;
use crate::install::hooks::{ANY, Limit, Row};
use crate::install::installer::Installer;
use crate::install::record::Record;
use crate::install::settings::Shape;

/// How to install into a described agent.
pub(super) struct Configured {
    agent: Agent,
    word: &'static str,
    /// The file with the user's hooks; none if it is below a home folder that is not known.
    settings: Option<PathBuf>,
    project: Option<&'static str>,
    file: &'static str,
    rows: &'static [Row],
    shape: Shape,
    variables: Vec<String>,
    /// Whether the configuration still describes the agent.
    is_described: bool,
}

/// The agents, once for each process: a command looks at one configuration.
static ALL: LazyLock<Vec<Configured>> = LazyLock::new(|| {
    let Some(home) = Home::from_env() else {
        return Vec::new();
    };
    // As in the daemon: an invalid configuration is not used.
    let config = config::load(&home).unwrap_or_default();
    let mut all = described(&config);
    let record = Record::load(&home).ok();
    for (path, written) in record.iter().flat_map(|record| &record.files) {
        let is_gone =
            matches!(written.agent, Agent::Configured(_)) && written.kind == Kind::Settings;
        if is_gone && all.iter().all(|one| one.agent != written.agent) {
            all.push(Configured::gone(written.agent, path));
        }
    }
    all
});

fn described(config: &Config) -> Vec<Configured> {
    let agents = config.settings.agents.iter();
    agents
        .map(|(agent, described)| Configured::new(agent, described))
        .collect()
}

/// Returns the installer of an agent that is or was described.
pub(super) fn installer(agent: Agent) -> Option<&'static dyn Installer> {
    let found = ALL.iter().find(|one| one.agent == agent);
    found.map(|one| one as &dyn Installer)
}

/// Returns the agents that the configuration describes.
pub(super) fn agents() -> impl Iterator<Item = Agent> {
    ALL.iter()
        .filter(|one| one.is_described)
        .map(|one| one.agent)
}

/// Returns the agents that it does not describe any more, and that have hooks.
pub(super) fn gone() -> impl Iterator<Item = Agent> {
    ALL.iter()
        .filter(|one| !one.is_described)
        .map(|one| one.agent)
}

/// Returns the names of all described agents.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|one| one.word)
}

/// Returns the client's arguments that tell calls of these agents from those of the agent whose settings they read.
pub(super) fn marks() -> String {
    let marks = ALL.iter().filter(|one| one.is_described).flat_map(|one| {
        let variables = one.variables.iter();
        variables.map(|variable| format!(" --as={variable}:{}", one.word))
    });
    marks.collect()
}

impl Configured {
    fn new(agent: Agent, described: &DescribedAgent) -> Self {
        let user = std::env::var("HOME").ok();
        let settings = described
            .settings
            .resolve(user.as_deref())
            .map(PathBuf::from);
        let limit = |event: &str| match event {
            "Stop" | "SessionStart" => Limit::Reply,
            _ => Limit::Plain,
        };
        let rows = described.events.iter();
        let rows = rows.map(|event| (kept(&event.0), limit(&event.0), ANY));
        Self {
            agent,
            word: kept(agent.word()),
            file: file_name(settings.as_deref()),
            settings,
            project: described.project.as_ref().map(|folder| kept(&folder.0)),
            rows: Vec::leak(rows.collect()),
            shape: match described.format {
                HooksFormat::Groups => Shape::Groups,
                HooksFormat::Flat => Shape::Flat,
            },
            variables: described
                .variables
                .iter()
                .map(|name| name.0.clone())
                .collect(),
            is_described: true,
        }
    }

    fn gone(agent: Agent, settings: &Path) -> Self {
        Self {
            agent,
            word: kept(agent.word()),
            settings: Some(settings.to_owned()),
            project: None,
            file: file_name(Some(settings)),
            rows: &[],
            shape: Shape::Groups,
            variables: Vec::new(),
            is_described: false,
        }
    }
}

/// Keeps a text for the life of the process, as the other installers have theirs.
fn kept(text: &str) -> &'static str {
    String::leak(text.to_owned())
}

fn file_name(path: Option<&Path>) -> &'static str {
    let name = path.and_then(Path::file_name).unwrap_or_default();
    kept(&name.to_string_lossy())
}

impl Installer for Configured {
    fn agent(&self) -> Agent {
        self.agent
    }

    fn user_folder(&self) -> Result<PathBuf, String> {
        let folder = self.settings.as_deref().and_then(Path::parent);
        folder.map(Path::to_owned).ok_or_else(|| {
            format!(
                "HOME is not set, so {}'s settings cannot be found",
                self.word
            )
        })
    }

    fn folder_variable(&self) -> Option<&'static str> {
        None
    }

    fn depends_on_version(&self) -> bool {
        false
    }

    fn hooks_file(&self) -> &'static str {
        self.file
    }

    fn project_folder(&self, project: &Path) -> PathBuf {
        project.join(self.project.unwrap_or_default())
    }

    fn rows(&self) -> &'static [Row] {
        self.rows
    }

    /// Some payloads do not name their event.
    fn arguments(&self, event: &str) -> String {
        format!("{} {event}", self.word)
    }

    fn shape(&self) -> Shape {
        self.shape
    }

    fn has_prompts(&self) -> bool {
        false
    }

    fn has_project_hooks(&self) -> bool {
        self.project.is_some()
    }

    fn project_note(&self, project: &Path) -> String {
        let (project, word) = (project.display(), self.word);
        format!("whether {word} asks before it runs the hooks of {project} is not known here")
    }
}
