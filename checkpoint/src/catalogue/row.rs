//! One row of the catalogue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a program does, the least telling first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
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

/// A program, or a subcommand of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Row {
    /// What it does; none if only its subcommands do something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does: Option<Purpose>,
    /// What its operands are.
    pub operands: Operands,
    /// Options that take the next word as their value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// Options that choose a part of what it would run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chooses: Vec<String>,
    /// Options and operands with which it only lists or pretends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dry: Vec<String>,
    /// Options with which it ends well if there is nothing to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_do_nothing: Vec<String>,
    /// Options with which it writes files of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Options whose value is the folder in which it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<String>,
    /// Options whose value is a program text or a module.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inline: Vec<String>,
    /// Whether its first operand is a script.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub script: bool,
    /// Whether its operands are tasks that the project defines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tasks: bool,
    /// How it runs another command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wraps: Option<Wraps>,
    /// Forms of what it prints at its end: kind, what that says, pattern (see `outcome`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<String>,
    /// Its subcommands. A key names one or more, separated by spaces.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verbs: BTreeMap<String, Verb>,
}

/// How a program runs another command: after its options and some operands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wraps {
    /// Operands before the command.
    pub operands: usize,
    /// Options with which it does not run the command.
    pub inert: Vec<String>,
}

/// A subcommand: what it does, or a row of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Verb {
    /// Only what it does.
    Does(Purpose),
    /// More than that.
    Row(Box<Row>),
}

/// How a language writes comments, and text that fills whole lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Comments {
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
}
