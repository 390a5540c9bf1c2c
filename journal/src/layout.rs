//! The folders inside a journal's folder.

use std::path::{Path, PathBuf};

/// The folder of the intake log.
pub(crate) fn intake_dir(dir: &Path) -> PathBuf {
    dir.join("intake")
}

/// The folder of the store.
pub(crate) fn store_dir(dir: &Path) -> PathBuf {
    dir.join("store")
}

/// The copy that `journal pack` writes, and the store that the copy is about to replace.
pub(crate) fn passing_stores(dir: &Path) -> [PathBuf; 2] {
    ["store.packing", "store.packed"].map(|name| dir.join(name))
}
