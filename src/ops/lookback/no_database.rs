//! Takes the place of `database.rs` in a build without SQLite: no database can be read.

use std::io;
use std::path::Path;

use checkpoint::agents::adapter::Database;

use crate::error::not_built;

pub(super) fn sessions(_: &Path, _: Database) -> io::Result<Vec<(String, i64, u64)>> {
    Err(absent())
}

pub(super) fn lines(_: &Path, _: Database, _: &str, _: impl FnMut(&str) -> bool) -> io::Result<()> {
    Err(absent())
}

fn absent() -> io::Error {
    io::Error::other(not_built("the reader of this database", "sqlite"))
}
