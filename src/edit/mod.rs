//! Edits of files that belong to others: they keep every byte that is not changed.

pub(crate) mod files;
pub(crate) mod json;
