//! Snapshots: compressed, and lost at any time.

use uuid::Uuid;

use super::Store;
use super::trees::guarded;
use crate::error::{Error, Result};

/// A larger snapshot is not kept.
const SNAPSHOT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Snapshots are written often, so zstd tries least.
const SNAPSHOT_LEVEL: i32 = 1;

impl Store {
    pub(crate) fn snapshot(&self, session: Uuid) -> Result<Option<(u64, Vec<u8>)>> {
        let trees = self.trees()?;
        let Some(value) = guarded("read a snapshot", || {
            trees.snapshots.get(session.as_bytes())
        })?
        else {
            return Ok(None);
        };
        // What cannot be read may be of another version, and is made again.
        Ok(value.split_first_chunk::<8>().and_then(|(seq, packed)| {
            let (length, packed) = packed.split_first_chunk::<4>()?;
            let length = u32::from_le_bytes(*length) as usize;
            let length = (length <= SNAPSHOT_BYTES_MAX).then_some(length)?;
            let bytes = zstd::bulk::decompress(packed, length).ok()?;
            Some((u64::from_be_bytes(*seq), bytes))
        }))
    }

    pub(crate) fn put_snapshot(&self, session: Uuid, seq: u64, bytes: &[u8]) -> Result<()> {
        let trees = self.trees()?;
        if bytes.len() > SNAPSHOT_BYTES_MAX {
            return Ok(());
        }
        let packed = zstd::bulk::compress(bytes, SNAPSHOT_LEVEL);
        let packed = packed.map_err(|error| Error::damaged("a snapshot", error.to_string()))?;
        let length = (bytes.len() as u32).to_le_bytes();
        let value = [&seq.to_be_bytes()[..], &length, &packed].concat();
        let key = session.as_bytes();
        guarded("write a snapshot", || trees.snapshots.insert(key, value)).map(drop)
    }

    pub(crate) fn clear_snapshots(&self) -> Result<()> {
        let _removing = self.removing.lock();
        let trees = self.trees()?;
        guarded("drop snapshots", || trees.snapshots.clear())
    }
}
