//! What happened: the event vocabulary, the durable intake log and the ordered store.
//!
//! Read [`event`] first. An [`Envelope`] is an event with its address. Bytes on disk are frames ([`frame`]) in the
//! intake log and in the hook client's spool, and encoded envelopes in the store. Invariant: only `store.rs` names
//! sled, only `codec.rs` knows old shapes.

pub mod envelope;
pub mod event;
pub mod frame;
pub mod home;
pub mod request;
pub mod time;

pub use envelope::{Draft, Envelope, Stream};
pub use event::{
    Action, Agent, ChangedFile, Changes, Decision, Event, Evidence, Host, Place, PromptOrigin, Reason, ReplyForm,
    Route, Step, Timeline, TimelineSource, ToolCall, ToolKind, Verdict,
};
pub use home::Home;
pub use time::Timestamp;

/// Version of the deciding code: raised by every wanted change of what `decide` answers to equal inputs.
pub const DECISION_VERSION: u32 = 1;
