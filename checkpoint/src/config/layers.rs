//! The effective settings: the compiled-in `config.yml`, the user's file over it, a project's file over both.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value;

use super::error::ConfigError;
use super::paths::FileName;
use super::project_file::ProjectFile;
use super::rule_layers;
use super::settings::{ProjectLayer, Settings, UserLayer};
use super::values::{PackName, Packs, Prefix};
use super::yaml::{DEFAULT_TEXT, read};
use crate::policy::{Background, Edition, Policy, Quiet, Scope};
use crate::redact::{self, Redactor};
use crate::rules::pack_names::{self, ProjectFacts};
use crate::rules::packs;

/// The beginning of every checkpoint by the rules of TeleClaude (spec LETTER-1).
const TELECLAUDE: &str = "[TeleClaude Checkpoint] - ";
const TELECLAUDE_MARKER: &str = "teleclaude_checkpoint_clear";

pub(super) static DEFAULTS: LazyLock<Settings> = LazyLock::new(|| {
    // As a layer like the user's file: reading one type takes half of the code that reading two takes.
    let layer: UserLayer = read("config.yml", DEFAULT_TEXT)
        .unwrap_or_else(|error| panic!("the default layer is broken: {error}"));
    layer
        .complete()
        .unwrap_or_else(|key| panic!("the default layer lacks `{key}`"))
});

/// The settings of the daemon, from which the policies of projects are derived.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// All settings, the user's file laid over the defaults.
    pub settings: Settings,
    /// Removes secrets as the settings say.
    pub redactor: Redactor,
    /// The folder of the files by which agents ask that a stop passes (spec DECIDE-4), if there is one.
    pub clear_folder: Option<String>,
    /// Name and content of the user's file, for the origin of each value.
    pub(super) user: Option<(String, UserLayer)>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            settings: DEFAULTS.clone(),
            redactor: redact::built_in().clone(),
            clear_folder: None,
            user: None,
        }
    }
}

impl Config {
    /// Lays the user's file, given by name and text, over the defaults.
    pub fn load(user: Option<(&str, &str)>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some((file, text)) = user {
            let layer: UserLayer = read(file, text)?;
            rule_layers::check(file, text, layer.rules.as_deref().unwrap_or_default(), &[])?;
            if let Some(agents) = &layer.agents {
                agents.check(file, text)?;
            }
            config.settings = Settings::judging_by(layer.judgment.unwrap_or(DEFAULTS.judgment));
            config.settings.lay(&layer);
            config.redactor = config.settings.redact.redactor();
            let may_hide_prefix = layer.redact.is_some() || layer.prefix.is_some();
            if may_hide_prefix
                && config.redactor.text(&config.settings.prefix.0) != config.settings.prefix.0
            {
                let message =
                    "the prefix would be redacted, so checkpointd could not recognize its own text"
                        .to_owned();
                let hint = "change `prefix`, or the patterns of `redact.extra`".to_owned();
                return Err(ConfigError::whole(file, message).with_hint(Some(hint)));
            }
            config.user = Some((file.to_owned(), layer));
        }
        Ok(config)
    }

    /// Reads a project's own file, given by name and text.
    ///
    /// # Errors
    ///
    /// Returns the first mistake with its place.
    pub fn project_file(&self, file: &str, text: &str) -> Result<ProjectFile, ConfigError> {
        let mut layer: ProjectLayer = read(file, text)?;
        let notes = layer.drop_users_own().collect();
        let rules = layer.rules.as_deref().unwrap_or_default();
        rule_layers::check(file, text, rules, &self.settings.rules)?;
        Ok(ProjectFile { layer, notes })
    }

    /// Returns the policy of a project, its own file, which is trusted, laid over the settings.
    pub fn policy_for(
        &self,
        project: &ProjectFacts,
        project_file: Option<(&str, &str)>,
    ) -> Result<Policy, ConfigError> {
        let file = project_file
            .map(|(file, text)| self.project_file(file, text))
            .transpose()?;
        Ok(self.policy_with(project, file.as_ref(), true))
    }

    /// Returns the policy of a project, laid over the settings what counts of its own file: all of it only if it is
    /// trusted (spec RULE-16).
    pub fn policy_with(
        &self,
        project: &ProjectFacts,
        project_file: Option<&ProjectFile>,
        trusted: bool,
    ) -> Policy {
        let mut layer =
            project_file.map_or_else(ProjectLayer::default, |file| file.counting(trusted));
        let project_rules = layer.rules.take().unwrap_or_default();
        let packs = self.packs_of(project, &layer);
        let settings = self.settings_with(&packs, &layer);
        Policy {
            enabled: layer.enabled.unwrap_or(true) && settings.projects.take(&project.path),
            min_turn_ms: settings.min_turn.as_millis(),
            timer: settings.timer,
            judgment: settings.judgment,
            ask: settings.ask,
            uncovered: settings.uncovered,
            comments: settings.comments,
            max_blocks_per_turn: settings.max_blocks_per_turn,
            scope: settings.scope,
            repeat: settings.repeat,
            evidence: settings.evidence,
            all_clear: settings.all_clear,
            docs_only: settings.docs_only,
            unchanged: settings.unchanged,
            background: settings.background,
            reply: settings.reply,
            headless: settings.headless,
            restart_delay_ms: settings.restart_delay.as_millis(),
            prefix: settings.prefix.0,
            message: settings.message.0,
            confirm_timeout_ms: settings.confirm_timeout.as_millis(),
            escape_marker: settings.hooks.escape_marker.0,
            clear_folder: self.clear_folder.clone(),
            working_slug: layer.working_slug.filter(|slug| !slug.trim().is_empty()),
            slug_from_branch: settings.slug_from_branch,
            programs: settings.programs,
            holdout: settings.experiment.holdout.0,
            exits: settings.hooks.exits,
            rules: rule_layers::resolve(&packs, &settings.rules, &project_rules),
            packs,
        }
    }

    /// Returns the packs of a project; `layer` is what counts of its own file.
    pub(super) fn packs_of(&self, project: &ProjectFacts, layer: &ProjectLayer) -> Vec<String> {
        match layer.packs.as_ref().unwrap_or(&self.settings.packs) {
            Packs::Auto => packs::detect(project)
                .into_iter()
                .map(String::from)
                .collect(),
            Packs::Only(names) => in_order(names),
        }
    }

    /// Returns the settings that hold in a project with these packs; `layer` is what counts of its own file.
    pub(super) fn settings_with(&self, packs: &[String], layer: &ProjectLayer) -> Settings {
        let mut settings = Settings::judging_by(
            self.written_judgment(layer)
                .unwrap_or_else(|| judgment_of(packs)),
        );
        if let Some((_, user)) = &self.user {
            settings.lay(user);
        }
        settings.lay_project(layer);
        settings
    }

    /// Returns the judgment that a person wrote; `layer` is what counts of the project's own file.
    pub(super) fn written_judgment(&self, layer: &ProjectLayer) -> Option<Edition> {
        let user = self.user.as_ref().and_then(|(_, user)| user.judgment);
        layer.judgment.or(user)
    }
}

impl Settings {
    /// Returns the defaults of a judgment (spec LETTER-1).
    pub(super) fn judging_by(judgment: Edition) -> Self {
        let mut settings = Self {
            judgment,
            ..DEFAULTS.clone()
        };
        if judgment == Edition::Letter {
            settings.scope = Scope::Worktree;
            settings.all_clear = Quiet::Message;
            settings.docs_only = Quiet::Message;
            settings.unchanged = Quiet::Message;
            settings.background = Background::Any;
            settings.prefix = Prefix(TELECLAUDE.to_owned());
            settings.hooks.escape_marker = FileName(TELECLAUDE_MARKER.to_owned());
        }
        settings
    }
}

/// Returns the judgment of projects with these packs, if a person wrote none (spec RULE-3).
pub(super) fn judgment_of(packs: &[String]) -> Edition {
    if packs.iter().any(|name| name == pack_names::TELECLAUDE) {
        Edition::Letter
    } else {
        DEFAULTS.judgment
    }
}

/// Returns the named packs and `generic`, the most specific first.
pub(super) fn in_order(names: &[PackName]) -> Vec<String> {
    let wanted =
        |name: &str| name == pack_names::GENERIC || names.iter().any(|wanted| wanted.0 == name);
    pack_names::NAMES
        .iter()
        .filter(|name| wanted(name))
        .map(|name| (*name).to_owned())
        .collect()
}

pub(super) fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("settings have only string keys and finite numbers")
}
