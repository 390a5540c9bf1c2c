//! A hash over a history: equal for two journals up to an event exactly if their events up to it are equal.
//!
//! ```text
//! chain(0)  SHA-256 of the journal's id
//! chain(n)  SHA-256 of chain(n-1) and the event value of event n (codec.rs); payloads are not in it, because retention
//!           drops them
//! ```

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::hex::hex;

/// The chain of a journal up to one of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The last event that is in it.
    pub seq: u64,
    hash: [u8; 32],
}

impl Chain {
    /// Begins the chain of a journal.
    pub fn new(journal: Uuid) -> Self {
        Self {
            seq: 0,
            hash: Sha256::digest(journal.as_bytes()).into(),
        }
    }

    /// Returns the hash as text.
    pub fn text(&self) -> String {
        hex(&self.hash)
    }

    /// Takes the next event's value.
    pub(crate) fn take(&mut self, event: &[u8]) {
        let hash = Sha256::new().chain_update(self.hash).chain_update(event);
        self.hash = hash.finalize().into();
        self.seq += 1;
    }
}
