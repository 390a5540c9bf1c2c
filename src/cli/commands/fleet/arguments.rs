//! Arguments of several commands of a fleet.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use crate::ops::fleet::{self, Level};

/// The name of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// Decisions and deliveries, without texts, commands and paths
    Decisions,
    /// All events, without texts, commands and paths
    Skeleton,
    /// Everything, with prompts and payloads
    All,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Decisions => Self::Decisions,
            LevelName::Skeleton => Self::Skeleton,
            LevelName::All => Self::All,
        }
    }
}

/// The operator's folder.
#[derive(Args, Debug)]
pub(crate) struct Operator {
    /// The operator's folder with the keys of the fleet
    #[arg(long, value_name = "FOLDER", default_value = "fleet", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
}

pub(super) fn machine(name: &str) -> std::result::Result<String, String> {
    if fleet::is_machine(name) {
        return Ok(name.to_owned());
    }
    Err("use 1 to 40 lower-case letters, digits and `-`, and no name of a person".into())
}
