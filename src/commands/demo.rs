//! `demo`: recorded sessions of the three agents through the real client, daemon and actors.

use crate::cli::Output;
use crate::failure::{Failure, Result};

/// Plays the recordings.
pub(super) fn run(_keep: bool, _output: Output) -> Result<u8> {
    Err(Failure::failed("not there yet"))
}
