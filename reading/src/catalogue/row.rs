//! One row of the catalogue.

use std::collections::BTreeMap;

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::written::text_or;

/// What a program does, the least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// It shows something, or asks a question. It changes nothing and runs nothing of the project.
    Show,
    /// It prepares for others: folders, variables, processes, version control.
    SetUp,
    /// It installs dependencies.
    Install,
    /// It formats code.
    Format,
    /// It checks style or form.
    Lint,
    /// It starts a server.
    Serve,
    /// It runs the program.
    Run,
    /// It checks types.
    Types,
    /// It compiles or bundles.
    Build,
    /// It runs tests.
    Tests,
}

/// What the operands of a program are, so that its scope is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operands {
    /// Files and folders.
    Paths,
    /// Parts of the paths of files.
    Substrings,
    /// Patterns of paths.
    Patterns,
    /// Names of tests.
    Names,
    /// Packages.
    Packages,
    /// Not known: the scope is not known either, if there are any.
    #[default]
    Unknown,
}

/// Whether the operands of a program name tasks that the project defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tasks {
    /// They do not.
    #[default]
    None,
    /// The first does; the others are for the task.
    One,
    /// All do.
    Many,
}

/// A program, or a subcommand of one. In YAML it may be written as the word of what it does. Options and `operands` of a
/// program hold for its subcommands too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Row {
    /// Other names of it.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub also: Vec<String>,
    /// What it does; none if only its subcommands do something. What a runner of tasks does without a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does: Option<Purpose>,
    /// What its operands are.
    pub operands: Operands,
    /// Options that take the next word as their value.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub values: Vec<String>,
    /// Options that choose a part of what it would run.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub chooses: Vec<String>,
    /// Options and operands with which it only lists or pretends.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub dry: Vec<String>,
    /// Options with which it ends well if there is nothing to do.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub may_do_nothing: Vec<String>,
    /// Options with which it builds, but runs no tests.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub without_tests: Vec<String>,
    /// Options with which it writes files of the project.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub writes: Vec<String>,
    /// Options whose value is the folder in which it runs.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub dirs: Vec<String>,
    /// Options whose value is a program text.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub inline: Vec<String>,
    /// Options whose value names tasks, separated by commas.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub targets: Vec<String>,
    /// Whether its first operand is a script.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub script: bool,
    /// Whether its operands are tasks.
    pub tasks: Tasks,
    /// How it runs another command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wraps: Option<Wraps>,
    /// Whether work leaves the machine by it, or reaches others: a push, a release, a deployment.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub leaves: bool,
    /// Its subcommands, and options that are like ones. A key names one or more, separated by spaces; `*` matches any
    /// beginning or end. Boxed: a map keeps room for eleven values at a time, and a row is large.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verbs: BTreeMap<String, Box<Row>>,
}

/// How a program runs another command: after its options, and what is said here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wraps {
    /// Operands before the command.
    pub operands: usize,
    /// Whether `NAME=value` may stand before the command.
    pub assigns: bool,
    /// Whether the command begins only behind `--` or one of `begins`.
    pub dashes: bool,
    /// Options behind which the command begins.
    #[serde(deserialize_with = "words")]
    pub begins: Vec<String>,
    /// Options whose value is a command line.
    #[serde(deserialize_with = "words")]
    pub script: Vec<String>,
    /// Whether each operand with a blank is a command line.
    pub lines: bool,
    /// Whether it may end well without having run the command.
    pub uncertain: bool,
    /// Options with which it does not run the command.
    #[serde(deserialize_with = "words")]
    pub inert: Vec<String>,
}

/// How a language writes comments, and text that fills whole lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Comments {
    /// Endings of the files that are written so; all of the language if empty.
    pub only: Vec<String>,
    /// Start of a comment that ends with the line.
    pub line: String,
    /// Whether the language has `/* .. */` comments.
    pub blocks: bool,
    /// How a string begins and ends that may continue over several lines.
    pub strings: Vec<String>,
    /// What begins texts over lines that cannot be followed.
    pub unknown: Vec<String>,
    /// Whether a string that is a statement of its own at the beginning of a block is documentation.
    pub docstrings: bool,
    /// What white space between tokens means; it is code if nothing is said.
    pub layout: Option<Layout>,
}

/// What white space between the tokens of a language means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Nothing.
    Free,
    /// Nothing, and `'` may stand alone.
    Ticks,
    /// The end of a line may end a statement.
    Lines,
    /// The end of a line may end a statement, and `/` may begin a pattern.
    Script,
}

/// What a number of a summary counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Tests that passed.
    Passed,
    /// Tests that failed.
    Failed,
    /// Tests that did not run.
    Skipped,
    /// All of them.
    Total,
}

/// A manifest, and which parts of it name dependencies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Globs of its path, relative to any folder.
    pub files: Vec<String>,
    /// How it is read.
    pub form: Form,
    /// The parts that name dependencies, as the form says; all of it if empty.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Beginnings of lines that name none.
    #[serde(default)]
    pub without: Vec<String>,
}

/// How a manifest is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// JSON: a part is a path of keys, separated by `/`; `*` matches any key.
    Json,
    /// TOML, with the same parts.
    Toml,
    /// YAML, with the same parts.
    Yaml,
    /// Line by line, with comments behind `#`.
    Lines,
    /// Lines and blocks as in a `go.mod`: a part is the word before them.
    Blocks,
    /// XML: a part is the name of an element. Properties that hold versions are parts too.
    Elements,
}

impl Row {
    /// Returns the subcommand, or the task that is known, of a name: one that is written so, else one whose pattern fits.
    pub fn verb(&self, word: &str) -> Option<(&str, &Self)> {
        let mut all = self.verbs.iter().map(|(key, row)| (key.as_str(), &**row));
        let named = |(key, row): &(&str, &Self)| {
            key.split(' ').any(|name| name == word) || row.also.iter().any(|name| name == word)
        };
        let fits = |(key, _): &(&str, &Self)| key.split(' ').any(|name| is_like(name, word));
        all.clone().find(named).or_else(|| all.find(fits))
    }
}

/// Returns whether a word fits a pattern with `*` at its beginning or its end.
fn is_like(pattern: &str, word: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => word.ends_with(end),
        (_, Some(begin)) => word.starts_with(begin),
        _ => false,
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// A row that is written as a table.
#[derive(Deserialize)]
#[serde(transparent)]
struct Table(#[serde(with = "Row")] Row);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match text_or(deserializer, "what it does, or a table", true)? {
            Ok(Table(row)) => Ok(row),
            Err(word) => Ok(Self {
                does: Some(Purpose::deserialize(word.into_deserializer())?),
                ..Self::default()
            }),
        }
    }
}

/// Reads a list of words, or words in one text.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let split = |text: String| text.split_whitespace().map(str::to_owned).collect();
    text_or(deserializer, "words", false).map(|read| read.unwrap_or_else(split))
}
