//! Arguments of several commands of a fleet.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, ValueHint};

use crate::cli::shared::one_of;
use crate::ops::fleet::{self, Level};

/// Parses the word of a level.
pub(super) fn level() -> impl TypedValueParser<Value = Level> {
    one_of(Level::ALL, Level::word)
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
