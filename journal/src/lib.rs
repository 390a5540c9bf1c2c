//! What happened: the event vocabulary, the durable intake log and the ordered store.
//!
//! Read [`event`] first. An [`Envelope`] is an event with its address. Bytes on disk are frames ([`frame`]) in the
//! intake log and in the hook client's spool, and encoded envelopes in the store. Invariant: only `store.rs` names
//! sled, only `codec.rs` knows old shapes.

#[cfg(feature = "store")]
mod backup;
#[cfg(feature = "store")]
pub mod codec;
#[cfg(feature = "store")]
mod compact;
#[cfg(feature = "store")]
pub mod entry;
pub mod envelope;
#[cfg(feature = "store")]
pub mod error;
pub mod event;
pub mod frame;
#[cfg(feature = "store")]
mod history;
pub mod home;
#[cfg(feature = "store")]
mod intake;
mod kinds;
#[cfg(feature = "store")]
pub mod log;
#[cfg(feature = "store")]
mod mover;
mod payload;
#[cfg(feature = "store")]
mod read;
#[cfg(feature = "store")]
pub mod recovery;
pub mod reply;
pub mod request;
#[cfg(feature = "store")]
mod store;
pub mod time;
#[cfg(feature = "store")]
pub mod upkeep;
#[cfg(feature = "store")]
pub mod verify;

#[cfg(feature = "store")]
pub use compact::{Compacted, Retention};
#[cfg(feature = "store")]
pub use entry::{Outcome, SessionEntry};
pub use envelope::{Draft, Envelope, Stream};
#[cfg(feature = "store")]
pub use error::{Error, Result};
pub use event::{
    Action, Agent, ChangedFile, Changes, Criterion, CriterionStatus, Decision, Event, Evidence,
    Host, News, PhaseCheckpoint, Place, ProgressKind, PromptOrigin, Reason, ReplyForm, Route, Step,
    Timeline, TimelineSource, ToolCall, ToolKind, Verdict,
};
pub use home::Home;
#[cfg(feature = "store")]
pub use log::{Appended, Journal, Options, Sync};
pub use payload::Payload;
pub use time::Timestamp;

/// Version of the deciding code: raised by every wanted change of what `decide` answers to equal inputs.
pub const DECISION_VERSION: u32 = 1;
