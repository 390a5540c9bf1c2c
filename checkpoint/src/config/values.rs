//! Types of values in configuration files: each refuses a wrong value at its place.

use reading::written::text_or;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use super::text::from_text;
use crate::policy::Policy;
use crate::redact;
use crate::rules::pack_names;

/// When an ack waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// Tool events are acked before their fsync, all others after it.
    Mixed,
    /// Every ack waits for the fsync.
    Always,
}

/// When payloads that are old enough are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactWhen {
    /// Once a day, by the daemon.
    Daily,
    /// Only by `checkpointd compact`.
    Off,
}

journal::words! {
    /// The least severe level that is logged.
    pub enum LogLevel {
        /// Failures that need a person.
        Error = "error",
        /// Also failures that may need a person.
        Warn = "warn",
        /// Also notable events.
        Info = "info",
        /// Also every step.
        Debug = "debug",
        /// Also every detail.
        Trace = "trace",
    }
}

/// A count of at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Count(pub u32);

impl Count {
    /// Returns the number.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            0 => Err(D::Error::custom("expected at least 1")),
            number => Ok(Self(number)),
        }
    }
}

/// A part of 100, at most a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Percent(pub u32);

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            51.. => Err(D::Error::custom("expected at most 50")),
            number => Ok(Self(number)),
        }
    }
}

/// What happens on any failure. The only value states a guarantee (spec DECIDE-14); files that name
/// it stay valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fail {
    /// The agent stops normally.
    Open,
}

/// Delivery to Codex CLI when its hook cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodexDelivery {
    /// Typed into its terminal.
    Tmux,
    /// Handed over by `codex queue`.
    Queue,
}

/// The beginning of every checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prefix(pub String);

impl Prefix {
    /// The longest prefix.
    pub const BYTES_MAX: usize = 200;
}

from_text!(
    Prefix,
    "the first words of every checkpoint",
    |text: String| {
        let problem = if text.trim().is_empty() {
            "a prefix may not be empty: checkpointd recognizes its own text by it"
        } else if text.trim_start().starts_with(['!', '/']) {
            "a prefix may not begin with `!` or `/`: agents take such text as a command"
        } else if text.len() > Self::BYTES_MAX || text.chars().any(char::is_control) {
            "a prefix is one line of at most 200 bytes"
        } else {
            return Ok(Self(text));
        };
        Err(problem)
    }
);

/// The words of a checkpoint below its first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Template(pub String);

impl Template {
    /// The longest template.
    pub const BYTES_MAX: usize = 1024;
}

from_text!(Template, "the words of a checkpoint", |text: String| {
    let problem = if text.len() > Self::BYTES_MAX {
        "a message has at most 1024 bytes"
    } else if text.chars().any(|c| c.is_control() && c != '\n') {
        "a message has no control characters besides line breaks"
    } else if !text.is_empty() && !text.contains(Policy::OPEN) {
        "a message says with `{open}` where the list of what is open stands"
    } else {
        return Ok(Self(text));
    };
    Err(problem)
});

/// Where the daemon puts documents that it writes without an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressPlace {
    /// In the daemon's data folder.
    Data,
    /// In the project.
    Project,
}

/// A check of the user's own: it passes with exit code 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserCheck {
    /// The name of what is checked.
    pub name: String,
    /// The command.
    pub run: UserCommand,
    /// The timeout.
    #[serde(default = "UserCheck::default_timeout")]
    pub timeout: super::units::Span,
}

impl UserCheck {
    fn default_timeout() -> super::units::Span {
        super::units::Span(std::time::Duration::from_secs(10))
    }
}

/// A regular expression for texts to redact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pattern(pub String);

from_text!(Pattern, "a regular expression", |text: String| {
    redact::pattern(&text).map(|_| Self(text))
});

/// What a deserializer of [`PackName`] expects.
pub(super) const PACK_NAME: &str = "the name of a rule pack";

/// The name of a rule pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PackName(pub String);

from_text!(PackName, PACK_NAME, |text: String| {
    if pack_names::NAMES.contains(&text.as_str()) {
        return Ok(Self(text));
    }
    Err(format!(
        "unknown pack `{text}`; the packs are {}",
        pack_names::NAMES.join(", ")
    ))
});

/// The rule packs that are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packs {
    /// The packs that the project's files detect.
    Auto,
    /// These, and `generic`.
    Only(Vec<PackName>),
}

impl Serialize for Packs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Only(names) => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Packs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "`auto` or a list of rule packs";
        match text_or(deserializer, expected, false)? {
            Ok(names) => Ok(Self::Only(names)),
            Err(word) if word == "auto" => Ok(Self::Auto),
            Err(word) => {
                let problem = format!("expected {expected}, found `{word}`");
                Err(D::Error::custom(problem))
            }
        }
    }
}

/// A command of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum UserCommand {
    /// A line for the shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

impl<'de> Deserialize<'de> for UserCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a line for the shell, or `[program, argument]`";
        let command = text_or(deserializer, expected, false)?.map_or_else(Self::Line, Self::Words);
        let (program, texts) = match &command {
            Self::Line(line) => (Some(line), std::slice::from_ref(line)),
            Self::Words(words) => (words.first(), words.as_slice()),
        };
        if program.is_none_or(|program| program.trim().is_empty()) {
            return Err(D::Error::custom(
                "an empty command: write a line for the shell, or `[program, argument]`",
            ));
        }
        if texts.iter().any(|text| text.contains('\0')) {
            return Err(D::Error::custom("a command cannot hold a NUL character"));
        }
        Ok(command)
    }
}

/// The name of an environment variable that the user's own commands get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableName(pub String);

impl VariableName {
    /// Variables that decide which program or library is loaded.
    const LOADING: [&str; 3] = ["PATH", "LD_", "DYLD_"];
}

from_text!(
    VariableName,
    "the name of an environment variable",
    |text: String| {
        let plain = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_'));
        if !plain || text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!(
                "`{text}` is not the name of an environment variable"
            ));
        }
        let loads = Self::LOADING
            .iter()
            .any(|name| match name.strip_suffix('_') {
                Some(_) => text.starts_with(name),
                None => text == *name,
            });
        if loads {
            return Err(format!(
                "`{text}` may not come from whoever starts the daemon; `daemon.path` names folders of programs"
            ));
        }
        Ok(Self(text))
    }
);

/// A line that is typed into a shell, with `{session}` for the host's id of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResumeLine(pub String);

impl ResumeLine {
    /// The longest line in bytes.
    pub const BYTES_MAX: usize = 1000;
    /// The longest session id that is inserted.
    pub const ID_BYTES_MAX: usize = 128;

    /// Returns the line for a session, its id in quotes; `None` for an id with other characters
    /// than letters, digits, `_`, `-` and `.`, or that looks like an option: no id from a hook may
    /// mean anything else to a shell.
    pub fn for_session(&self, native: &str) -> Option<String> {
        let plain = native
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let is_id = plain && native.starts_with(|c: char| c.is_ascii_alphanumeric());
        (is_id && native.len() <= Self::ID_BYTES_MAX)
            .then(|| self.0.replace("{session}", &format!("'{native}'")))
    }
}

from_text!(
    ResumeLine,
    "a line for the shell such as `claude --resume {session}`",
    |text: String| {
        if text.trim().is_empty()
            || text.len() > Self::BYTES_MAX
            || text.chars().any(char::is_control)
        {
            return Err("a resume command is one line of at most 1000 bytes");
        }
        Ok(Self(text))
    }
);
