//! The proof that what was sent is this journal's own past: the chain of the journal, hashed with its secret.

use journal::chain::Chain;
use journal::{Identity, Journal};

/// Events that are hashed without a pause. Others on the thread must answer the broker meanwhile.
const AT_ONCE: u64 = 5_000;

/// The chain of a journal up to an event that was sent.
pub(super) struct OwnChain {
    identity: Identity,
    chain: Chain,
}

impl OwnChain {
    pub(super) fn new(identity: Identity) -> Self {
        let chain = Chain::new(identity.journal);
        Self { identity, chain }
    }

    /// Returns the proof for an event of the journal.
    pub(super) async fn proof(&mut self, journal: &Journal, seq: u64) -> journal::Result<String> {
        if self.chain.seq > seq {
            self.chain = Chain::new(self.identity.journal);
        }
        while self.chain.seq < seq {
            let next = seq.min(self.chain.seq + AT_ONCE);
            journal.extend(&mut self.chain, next)?;
            tokio::task::yield_now().await;
        }
        let hash = self.identity.keyed(self.chain.text().as_bytes());
        Ok(format!("{hash:016x}"))
    }
}
