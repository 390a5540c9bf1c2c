//! YAML in, settings and policies out: the compiled-in `config.yml`, the user's file over it, a project's file over both.
//!
//! The texts are passed in; nothing here opens a file. A file with a mistake is refused as a whole, with the place and a
//! hint, and the caller chooses to go on with what it had. This is the one file that names the YAML crate.

use std::sync::LazyLock;

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_saphyr::{Error as YamlError, Spanned};

mod candidate;
mod endpoint;
mod error;
mod retention;
mod rule_entry;
mod settings;
#[cfg(test)]
mod tests;
mod units;
mod values;

pub use candidate::{Candidate, RuleFile};
pub use endpoint::{Endpoint, MaybeEndpoint};
pub use error::ConfigError;
pub use retention::{EventKind, Keep, Retention};
pub(crate) use rule_entry::PackFile;
pub use rule_entry::RuleEntry;
pub use settings::{
    AutoProgress, Codex, Daemon, EvidenceLimits, Hooks, Journal, Listeners, Logs, Otlp, Phase,
    Progress, Redact, Restart, Settings, Tmux, Web,
};
pub use units::{Interval, Size, Span, parse_duration, parse_size};
pub use values::{
    CodexDelivery, CompactWhen, Count, Fail, FileName, Glob, LogLevel, MaybePath, PackName, Packs,
    Pattern, Prefix, ProgressPlace, ProjectGlobs, ProjectPath, Projects, ResumeLine, Sync,
    UserCheck, UserCommand, UserPath,
};

use crate::policy::Policy;
use crate::redact::{self, Redactor};
use crate::rules::packs::{self, ProjectFacts};
use settings::{ProjectLayer, UserLayer};

/// The default layer, with every key and one line of why.
pub const DEFAULT_TEXT: &str = include_str!("../../config.yml");

static DEFAULTS: LazyLock<Settings> = LazyLock::new(|| {
    read("config.yml", DEFAULT_TEXT)
        .unwrap_or_else(|error| panic!("the default layer is broken: {error}"))
});

/// The settings of the daemon and what policies are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// All settings, the user's file laid over the defaults.
    pub settings: Settings,
    /// Takes secrets out, as the settings say.
    pub redactor: Redactor,
    /// The user's file, for telling where a value came from.
    user: Option<(String, UserLayer)>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            settings: DEFAULTS.clone(),
            redactor: redact::built_in().clone(),
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
            rule_entry::check(file, text, layer.rules.as_deref().unwrap_or_default(), &[])?;
            config.settings.lay(&layer);
            config.redactor = config.settings.redact.redactor();
            let may_hide_prefix = layer.redact.is_some() || layer.prefix.is_some();
            if may_hide_prefix
                && config.redactor.text(&config.settings.prefix.0) != config.settings.prefix.0
            {
                let message =
                    "the prefix would be redacted, and our own text not be recognised by it"
                        .to_owned();
                let hint = "change `prefix`, or the patterns of `redact.extra`".to_owned();
                return Err(ConfigError::whole(file, message).with_hint(Some(hint)));
            }
            config.user = Some((file.to_owned(), layer));
        }
        Ok(config)
    }

    /// Returns the policy of a project, its own file laid over the settings.
    pub fn policy_for(
        &self,
        project: &ProjectFacts,
        project_file: Option<(&str, &str)>,
    ) -> Result<Policy, ConfigError> {
        let mut layer = ProjectLayer::default();
        if let Some((file, text)) = project_file {
            layer = read(file, text)?;
            rule_entry::check(
                file,
                text,
                layer.rules.as_deref().unwrap_or_default(),
                &self.settings.rules,
            )?;
        }
        let project_rules = layer.rules.take().unwrap_or_default();
        let mut settings = self.settings.clone();
        settings.lay_project(&layer);
        let packs = match &settings.packs {
            Packs::Auto => packs::detect(project)
                .into_iter()
                .map(String::from)
                .collect(),
            Packs::Only(names) => in_order(names),
        };
        Ok(Policy {
            enabled: layer.enabled.unwrap_or(true) && settings.projects.take(&project.path),
            min_turn_ms: settings.min_turn.as_millis(),
            timer: settings.timer,
            max_blocks_per_turn: settings.max_blocks_per_turn,
            scope: settings.scope,
            repeat: settings.repeat,
            evidence: settings.evidence,
            all_clear: settings.all_clear,
            docs_only: settings.docs_only,
            reply: settings.reply,
            headless: settings.headless,
            restart_delay_ms: settings.restart_delay.as_millis(),
            prefix: settings.prefix.0,
            confirm_timeout_ms: settings.confirm_timeout.as_millis(),
            escape_marker: settings.hooks.escape_marker.0,
            working_slug: layer.working_slug.filter(|slug| !slug.trim().is_empty()),
            slug_from_branch: settings.slug_from_branch,
            rules: rule_entry::resolve(&packs, &[&settings.rules, &project_rules]),
            packs,
        })
    }

    /// Returns every key with its value and the file it came from, or `default`.
    pub fn show(&self) -> Vec<(String, String, String)> {
        let layer = self
            .user
            .as_ref()
            .map(|(_, layer)| to_json(layer))
            .unwrap_or_default();
        let file = self
            .user
            .as_ref()
            .map(|(file, _)| file.as_str())
            .unwrap_or_default();
        let mut rows = Vec::new();
        show_level(&to_json(&self.settings), &layer, "", file, &mut rows);
        rows
    }
}

/// Returns the named packs and the general one, the most specific first.
fn in_order(names: &[PackName]) -> Vec<String> {
    let wanted = |name: &str| name == packs::GENERIC || names.iter().any(|wanted| wanted.0 == name);
    packs::NAMES
        .into_iter()
        .filter(|name| wanted(name))
        .map(String::from)
        .collect()
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("settings have only string keys and finite numbers")
}

/// Groups that `config show` spells out key by key.
const GROUPS: [&str; 15] = [
    "journal",
    "hooks",
    "daemon",
    "evidence_limits",
    "tmux",
    "codex",
    "listeners",
    "restart",
    "phase",
    "redact",
    "progress",
    "web",
    "metrics",
    "otlp",
    "logs",
];

fn show_level(
    values: &Value,
    layer: &Value,
    above: &str,
    file: &str,
    rows: &mut Vec<(String, String, String)>,
) {
    for (key, value) in values.as_object().into_iter().flatten() {
        let set = layer.get(key);
        if above.is_empty() && GROUPS.contains(&key.as_str()) {
            show_level(
                value,
                set.unwrap_or(&Value::Null),
                &format!("{key}."),
                file,
                rows,
            );
            continue;
        }
        let text = match (key.as_str(), value) {
            ("rules", Value::Array(rules)) => {
                let names: Vec<_> = rules
                    .iter()
                    .filter_map(|rule| rule["name"].as_str())
                    .collect();
                format!("[{}]", names.join(", "))
            }
            (_, Value::String(text)) => text.clone(),
            (_, value) => value.to_string(),
        };
        rows.push((
            format!("{above}{key}"),
            text,
            if set.is_some() { file } else { "default" }.to_owned(),
        ));
    }
}

/// A name in a file, with its place for errors that show only later.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned {
            value, referenced, ..
        } = Spanned::<String>::deserialize(deserializer)?;
        let text = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || text.len() > 100 {
            return Err(serde::de::Error::custom("a name has 1 to 100 bytes"));
        }
        Ok(Self {
            text,
            line: referenced.line(),
            column: referenced.column(),
        })
    }
}

/// Reads a YAML text, or says where it is wrong.
fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, ConfigError> {
    serde_saphyr::from_str(text).map_err(|error| explain(file, text, error.without_snippet()))
}

/// Turns what the YAML crate says into our own words.
fn explain(file: &str, text: &str, error: &YamlError) -> ConfigError {
    let mut hint = None;
    let message = match error {
        YamlError::SerdeUnknownField {
            field, expected, ..
        } => {
            hint = hint_for_key(field, expected);
            format!("unknown key `{field}`")
        }
        YamlError::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            hint = error::did_you_mean(variant, expected.iter().copied());
            format!("`{variant}` is not one of {}", expected.join(", "))
        }
        YamlError::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        YamlError::SerdeMissingField { field, .. } => format!("missing key `{field}`"),
        YamlError::SerdeInvalidType {
            unexpected,
            expected,
            ..
        }
        | YamlError::SerdeInvalidValue {
            unexpected,
            expected,
            ..
        } => {
            format!("expected {expected}, found {unexpected}")
        }
        YamlError::InvalidScalar { ty, .. } if ty.starts_with(['u', 'i']) => {
            "expected a whole number".to_owned()
        }
        YamlError::InvalidScalar { ty, .. } => format!("expected a value of type {ty}"),
        YamlError::Unexpected {
            expected: "mapping start",
            ..
        } => "expected keys with values (`key: value`)".to_owned(),
        YamlError::Unexpected {
            expected: "sequence start",
            ..
        } => "expected a list (`[a, b]`)".to_owned(),
        YamlError::Unexpected {
            expected: "string scalar",
            ..
        } => "expected a text".to_owned(),
        YamlError::Message { msg, .. } => {
            hint = hint_for_pack(msg);
            msg.clone()
        }
        other => {
            let text = other.to_string();
            text.split(" at line ").next().unwrap_or(&text).to_owned()
        }
    };
    match error.location() {
        Some(place) => {
            ConfigError::at(file, text, place.line(), place.column(), message).with_hint(hint)
        }
        None => ConfigError::whole(file, message).with_hint(hint),
    }
}

/// Returns what an unknown key may have meant, here or in the other file.
fn hint_for_key(key: &str, expected: &[&'static str]) -> Option<String> {
    if (GROUPS.contains(&key) || key == "projects") && expected.contains(&"enabled") {
        return Some(format!("`{key}` belongs into config.yml"));
    }
    if ["enabled", "working_slug"].contains(&key) && expected.contains(&"projects") {
        return Some(format!(
            "`{key}` belongs into the project's .checkpointd.yml"
        ));
    }
    error::did_you_mean(key, expected.iter().copied())
        .or_else(|| Some(format!("the keys here are {}", expected.join(", "))))
}

/// Returns what an unknown pack may have meant.
fn hint_for_pack(message: &str) -> Option<String> {
    let name = message.strip_prefix("unknown pack `")?.split('`').next()?;
    error::did_you_mean(name, packs::NAMES)
}
