//! `preview`: what a stop would get now.

use journal::Home;

use crate::cli::PreviewArgs;
use crate::failure::{Failure, Result};

/// Decides now and sends nothing.
pub(super) fn run(_home: &Home, _arguments: &PreviewArgs) -> Result<u8> {
    Err(Failure::failed("not there yet"))
}
