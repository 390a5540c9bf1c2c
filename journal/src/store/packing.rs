//! Packing: all entries are copied into a new store, which takes the place of the old one.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::Store;
use super::trees::{Trees, guarded, wait_closed};
use crate::error::Result;

/// How long packing waits for readers.
const READERS_WAIT: Duration = Duration::from_millis(100);
/// Pause between two looks at them.
const READERS_PAUSE: Duration = Duration::from_millis(1);

impl Store {
    /// Counts the entries of all trees.
    pub(crate) fn counts(&self) -> Result<Vec<usize>> {
        let trees = self.trees()?;
        guarded("count", || {
            Ok(trees.all().into_iter().map(|tree| tree.len()).collect())
        })
    }

    /// Copies all entries into an empty store. `progress` gets the number of entries copied.
    pub(crate) fn copy_to(&self, empty: &Self, progress: impl FnMut(u64)) -> Result<()> {
        self.trees()?.copy_to(&*empty.trees()?, progress)
    }

    /// Copies all entries into a new store in `fresh`, closes both, calls `put`, and opens the store in `path`. Only the
    /// calling thread may write events meanwhile. Readers wait while the stores are exchanged, and appends never. Returns
    /// false, and changes nothing, if one is in the middle of reading.
    ///
    /// # Errors
    ///
    /// After an error the store may refuse all calls until it is reopened.
    pub(crate) fn repack(
        &self,
        fresh: &Path,
        path: &Path,
        put: impl FnOnce() -> Result<()>,
    ) -> Result<bool> {
        let _removing = self.removing.lock();
        let trees = self.trees()?;
        let ids = trees.ids()?;
        trees.copy_to(&Trees::open(fresh)?, |_| ())?;
        drop(trees);
        wait_closed(fresh)?;
        self.set_packed_ids(Some(ids));
        let exchanged = self.exchange(path, put);
        self.set_packed_ids(None);
        exchanged
    }

    fn set_packed_ids(&self, ids: Option<HashMap<Uuid, u64>>) {
        *self.packed_ids.write() = ids;
    }

    /// Closes the store, calls `put`, and opens the store in `path`.
    fn exchange(&self, path: &Path, put: impl FnOnce() -> Result<()>) -> Result<bool> {
        let mut slot = self.trees.write();
        let Some(trees) = slot.take() else {
            return Ok(false);
        };
        // No new reader can begin; most that have begun end at once.
        let began = Instant::now();
        while Arc::strong_count(&trees) > 1 && began.elapsed() < READERS_WAIT {
            std::thread::sleep(READERS_PAUSE);
        }
        let trees = match Arc::try_unwrap(trees) {
            Ok(trees) => trees,
            Err(used) => {
                *slot = Some(used);
                return Ok(false);
            }
        };
        drop(trees);
        put()?;
        *slot = Some(Arc::new(Trees::open(path)?));
        Ok(true)
    }
}
