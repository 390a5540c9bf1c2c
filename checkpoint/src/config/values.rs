//! Types of the values in the files: each refuses what it cannot be, at its place in the file.

use std::fmt;
use std::path::Path;

use serde::de::{self, Deserializer, Error as _, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::units::TextVisitor;
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
    /// Only when a person says so.
    Off,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Only what needs somebody.
    Error,
    /// And what may.
    Warn,
    /// And what is worth knowing.
    Info,
    /// And every step.
    Debug,
    /// And every detail.
    Trace,
}

impl LogLevel {
    /// Returns the word that log filters take.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// A number of things, at least one.
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

/// What happens in any trouble. There is one answer; the key is there so that it can be read (001 inv 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fail {
    /// The agent stops normally.
    Open,
}

/// How Codex CLI is reached when its hook cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodexDelivery {
    /// Typed into its terminal.
    Tmux,
    /// Handed over by `codex queue`.
    Queue,
}

/// First words of every checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prefix(pub String);

impl Prefix {
    /// The longest prefix.
    pub const BYTES_MAX: usize = 200;
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text =
            deserializer.deserialize_str(TextVisitor("the first words of every checkpoint"))?;
        let problem = if text.trim().is_empty() {
            "a prefix may not be empty: our own text is recognised by it"
        } else if text.trim_start().starts_with(['!', '/']) {
            "a prefix may not begin with `!` or `/`: agents take such text as a command"
        } else if text.len() > Self::BYTES_MAX || text.chars().any(char::is_control) {
            "a prefix is one line of at most 200 bytes"
        } else {
            return Ok(Self(text));
        };
        Err(D::Error::custom(problem))
    }
}

/// The name of a file, without a folder. It stands in a shell command that agents are told, so it is plain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileName(pub String);

impl FileName {
    /// The longest name.
    pub const BYTES_MAX: usize = 100;
}

impl<'de> Deserialize<'de> for FileName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor("the name of a file"))?;
        let plain = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if plain
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.len() <= Self::BYTES_MAX
        {
            return Ok(Self(text));
        }
        Err(D::Error::custom(format!(
            "`{text}` is no plain file name: at most 100 letters, digits, `_`, `-` and `.`"
        )))
    }
}

/// A path of the user's: absolute, or from `~/` on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UserPath(pub String);

impl UserPath {
    /// Returns the path, with the user's home folder in the place of `~`; none where that is needed and not known.
    pub fn resolve(&self, home: Option<&str>) -> Option<String> {
        match self.0.strip_prefix("~/") {
            Some(rest) => home.map(|home| format!("{}/{rest}", home.trim_end_matches('/'))),
            None => Some(self.0.clone()),
        }
    }
}

impl<'de> Deserialize<'de> for UserPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text =
            deserializer.deserialize_str(TextVisitor("a path such as `~/.pai/checkpoints`"))?;
        if text.starts_with('/') || text.starts_with("~/") {
            return Ok(Self(text));
        }
        Err(D::Error::custom(format!(
            "`{text}` must begin with `/` or `~/`: the daemon has no folder of its own"
        )))
    }
}

/// A file within whatever project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectPath(pub String);

impl<'de> Deserialize<'de> for ProjectPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text =
            deserializer.deserialize_str(TextVisitor("a path such as `docs/progress.md`"))?;
        let plain =
            |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
        if text.ends_with(".md")
            && text.split('/').all(plain)
            && text.split('/').next_back() != Some(".md")
        {
            return Ok(Self(text));
        }
        Err(D::Error::custom(format!(
            "`{text}` must name a .md file within the project, without `..`"
        )))
    }
}

/// Where documents go that nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressPlace {
    /// Below our own data folder.
    Data,
    /// Into the project.
    Project,
}

/// A check of the user's own: good where it exits with 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserCheck {
    /// What is checked.
    pub name: String,
    /// The command.
    pub run: UserCommand,
    /// The longest that it may take.
    #[serde(default = "UserCheck::default_timeout")]
    pub timeout: super::units::Span,
}

impl UserCheck {
    fn default_timeout() -> super::units::Span {
        super::units::Span(std::time::Duration::from_secs(10))
    }
}

/// A path of the user's, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaybePath(pub Option<UserPath>);

impl Serialize for MaybePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_ref().map_or("none", |path| path.0.as_str()))
    }
}

impl<'de> Deserialize<'de> for MaybePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor("a path, or `none`"))?;
        if text == "none" {
            return Ok(Self(None));
        }
        UserPath::deserialize(serde::de::value::StringDeserializer::new(text))
            .map(|path| Self(Some(path)))
    }
}

/// A glob over paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Glob(pub String);

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor("a glob such as `src/**/*.rs`"))?;
        if text.starts_with("~/") {
            return Err(D::Error::custom(format!(
                "`{text}` begins with `~`, which is not resolved; write the whole path"
            )));
        }
        match crate::rules::glob(&text) {
            Ok(_) => Ok(Self(text)),
            Err(problem) => Err(D::Error::custom(format!(
                "bad glob `{text}`: {}",
                problem.kind()
            ))),
        }
    }
}

/// A regular expression for what is to be redacted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pattern(pub String);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor("a regular expression"))?;
        redact::pattern(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

/// The name of a rule pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PackName(pub String);

impl<'de> Deserialize<'de> for PackName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor("the name of a rule pack"))?;
        if pack_names::NAMES.contains(&text.as_str()) {
            return Ok(Self(text));
        }
        Err(D::Error::custom(format!(
            "unknown pack `{text}`; the packs are {}",
            pack_names::NAMES.join(", ")
        )))
    }
}

/// The rule packs that are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packs {
    /// Those that the project's files speak for.
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
        // Refused out here and not in the visitor: only so does the error know its place.
        deserializer.deserialize_any(PacksVisitor)?.map_err(|word| {
            D::Error::custom(format!(
                "expected `auto` or a list of rule packs, found `{word}`"
            ))
        })
    }
}

struct PacksVisitor;

impl<'de> Visitor<'de> for PacksVisitor {
    type Value = Result<Packs, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`auto` or a list of rule packs")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(if text == "auto" {
            Ok(Packs::Auto)
        } else {
            Err(text.to_owned())
        })
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Deserialize::deserialize(de::value::SeqAccessDeserializer::new(list))
            .map(|names| Ok(Packs::Only(names)))
    }
}

/// The projects that take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projects {
    /// Every project.
    All,
    /// Those whose folder is in a matching one.
    Some(ProjectGlobs),
}

/// Globs over absolute paths of projects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectGlobs {
    /// Projects that take part; empty means all.
    pub include: Vec<Glob>,
    /// Projects that do not.
    pub exclude: Vec<Glob>,
}

impl Projects {
    /// Returns whether the project at `path` takes part.
    pub fn take(&self, path: &str) -> bool {
        let Self::Some(globs) = self else { return true };
        // A glob speaks for a folder and for all below it.
        let within = |globs: &[Glob]| {
            globs
                .iter()
                .filter_map(|glob| crate::rules::glob(glob.0.trim_end_matches('/')).ok())
                .any(|glob| {
                    let matcher = glob.compile_matcher();
                    Path::new(path)
                        .ancestors()
                        .any(|folder| matcher.is_match(folder))
                })
        };
        (globs.include.is_empty() || within(&globs.include)) && !within(&globs.exclude)
    }
}

impl Serialize for Projects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str("all"),
            Self::Some(globs) => globs.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Projects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(ProjectsVisitor)?
            .map_err(|word| {
                D::Error::custom(format!(
                    "expected `all`, or `include` and `exclude` with globs, found `{word}`"
                ))
            })
    }
}

struct ProjectsVisitor;

impl<'de> Visitor<'de> for ProjectsVisitor {
    type Value = Result<Projects, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`all`, or `include` and `exclude` with globs")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(if text == "all" {
            Ok(Projects::All)
        } else {
            Err(text.to_owned())
        })
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Deserialize::deserialize(de::value::MapAccessDeserializer::new(map))
            .map(|globs| Ok(Projects::Some(globs)))
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
        let command = deserializer.deserialize_any(UserCommandVisitor)?;
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

struct UserCommandVisitor;

impl<'de> Visitor<'de> for UserCommandVisitor {
    type Value = UserCommand;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line for the shell, or `[program, argument]`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(UserCommand::Line(text.to_owned()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Deserialize::deserialize(de::value::SeqAccessDeserializer::new(list))
            .map(UserCommand::Words)
    }
}

/// A line that is typed into an agent's shell, `{session}` standing for the host's id of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResumeLine(pub String);

impl ResumeLine {
    /// The longest line.
    pub const BYTES_MAX: usize = 1000;
    /// The longest id of a session that is put into one.
    pub const ID_BYTES_MAX: usize = 128;

    /// Returns the line for a session, its id in quotes. None where the id is not made of letters, digits, `_`, `-`, `.`,
    /// or could be taken for an option: no id that comes from a hook may say anything else to a shell.
    pub fn for_session(&self, native: &str) -> Option<String> {
        let plain = native
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let is_id = plain && native.starts_with(|c: char| c.is_ascii_alphanumeric());
        (is_id && native.len() <= Self::ID_BYTES_MAX)
            .then(|| self.0.replace("{session}", &format!("'{native}'")))
    }
}

impl<'de> Deserialize<'de> for ResumeLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor(
            "a line for the shell such as `claude --resume {session}`",
        ))?;
        if text.trim().is_empty()
            || text.len() > Self::BYTES_MAX
            || text.chars().any(char::is_control)
        {
            return Err(D::Error::custom(
                "a resume command is one line of at most 1000 bytes",
            ));
        }
        Ok(Self(text))
    }
}
