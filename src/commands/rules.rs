//! `rules`: which there are, which match, and whether a file of them is right.

use std::path::Path;

use journal::Home;

use crate::cli::{Output, RulesAction};
use crate::failure::{Failure, Result};

/// Shows or checks rules.
pub(super) fn run(_home: &Home, _action: Option<RulesAction>, _project: &Path, _output: Output) -> Result<u8> {
    Err(Failure::failed("not there yet"))
}
