//! Paths, globs and the projects that take part: each type refuses a wrong value at its place in the file.

use std::path::Path;

use reading::written::text_or;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use super::text::{from_text, or_word};

/// The name of a file without a folder. It is part of a shell command in messages, so it needs no
/// quoting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileName(pub String);

impl FileName {
    /// The longest name in bytes.
    pub const BYTES_MAX: usize = 100;
}

from_text!(FileName, "the name of a file", |text: String| {
    let plain = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if plain
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= Self::BYTES_MAX
    {
        return Ok(Self(text));
    }
    Err(format!(
        "`{text}` is not a plain file name: use at most 100 letters, digits, `_`, `-` and `.`"
    ))
});

/// A path that is absolute or begins with `~/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UserPath(pub String);

impl UserPath {
    /// Replaces `~` by the home folder; returns `None` when that is needed but not known.
    pub fn resolve(&self, home: Option<&str>) -> Option<String> {
        match self.0.strip_prefix("~/") {
            Some(rest) => home.map(|home| format!("{}/{rest}", home.trim_end_matches('/'))),
            None => Some(self.0.clone()),
        }
    }
}

from_text!(
    UserPath,
    "a path such as `~/notes/checkpoints`",
    |text: String| {
        if text.starts_with('/') || text.starts_with("~/") {
            return Ok(Self(text));
        }
        Err(format!(
            "`{text}` must begin with `/` or `~/`: the daemon has no working folder"
        ))
    }
);

/// A Markdown file, relative to any project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectPath(pub String);

from_text!(
    ProjectPath,
    "a path such as `docs/progress.md`",
    |text: String| {
        let plain =
            |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
        if text.ends_with(".md")
            && text.split('/').all(plain)
            && text.split('/').next_back() != Some(".md")
        {
            return Ok(Self(text));
        }
        Err(format!(
            "`{text}` must name a .md file within the project, without `..`"
        ))
    }
);

/// A path, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaybePath(pub Option<UserPath>);

or_word!(MaybePath, UserPath, "none", "a path, or `none`");

/// A path, or `auto`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoPath(pub Option<UserPath>);

or_word!(AutoPath, UserPath, "auto", "a path, or `auto`");

/// A glob over paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Glob(pub String);

from_text!(Glob, "a glob such as `src/**/*.rs`", |text: String| {
    if text.starts_with("~/") {
        return Err(format!(
            "`{text}` begins with `~`, which is not expanded; write an absolute path"
        ));
    }
    match crate::rules::glob(&text) {
        Ok(_) => Ok(Self(text)),
        Err(problem) => Err(format!("bad glob `{text}`: {}", problem.kind())),
    }
});

/// The projects that take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projects {
    /// Every project.
    All,
    /// Projects in a folder that matches.
    Some(ProjectGlobs),
}

/// Globs over absolute paths of projects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectGlobs {
    /// Projects that take part; empty means all.
    pub include: Vec<Glob>,
    /// Projects that do not take part; these win over `include`.
    pub exclude: Vec<Glob>,
}

impl Projects {
    /// Returns whether the project at `path` takes part.
    pub fn take(&self, path: &str) -> bool {
        let Self::Some(globs) = self else { return true };
        // A glob matches a folder and everything below it.
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
        let expected = "`all`, or `include` and `exclude` with globs";
        match text_or(deserializer, expected, true)? {
            Ok(globs) => Ok(Self::Some(globs)),
            Err(word) if word == "all" => Ok(Self::All),
            Err(word) => {
                let problem = format!("expected {expected}, found `{word}`");
                Err(D::Error::custom(problem))
            }
        }
    }
}
