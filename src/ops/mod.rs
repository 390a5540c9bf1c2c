//! What can be done on a journal, by the daemon for a client or by a command itself. No HTTP here.

pub(crate) mod branches;
pub(crate) mod fleet;
pub(crate) mod lookback;
pub(crate) mod orders;
pub(crate) mod phase;
pub(crate) mod progress;
pub(crate) mod query;
pub(crate) mod refusal;
pub(crate) mod retention;
pub(crate) mod sessions_now;
pub(crate) mod views;
pub(crate) mod wire;
