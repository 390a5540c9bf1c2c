//! Edits of other programs' files: every byte that does not change is kept.

pub(crate) mod files;
pub(crate) mod json;
pub(crate) mod yaml;
