//! What happened: the event vocabulary, the durable intake log and the ordered store.
//!
//! Read [`event`] first. An [`Envelope`] is an event with its session, sequence number and times. On disk, the intake log
//! and the hook client's spool consist of frames ([`frame`]), the store of encoded envelopes. Only `store/trees.rs` names
//! sled, and only `codec.rs` knows old formats.

#[cfg(feature = "store")]
pub mod chain;
#[cfg(feature = "store")]
pub mod codec;
pub mod envelope;
#[cfg(feature = "store")]
pub mod error;
pub mod event;
pub mod frame;
#[cfg(feature = "store")]
mod hex;
pub mod home;
mod hook_call;
#[cfg(feature = "store")]
mod identity;
#[cfg(feature = "store")]
mod imported;
#[cfg(feature = "store")]
mod intake;
#[cfg(feature = "store")]
mod layout;
#[cfg(feature = "store")]
pub mod line;
#[cfg(feature = "store")]
pub mod log;
#[cfg(feature = "store")]
pub mod maintenance;
pub mod named_file;
pub mod payload;
pub mod reach;
#[cfg(feature = "store")]
pub mod recovery;
pub mod socket;
#[cfg(feature = "store")]
mod store;
pub mod time;
mod words;

pub use envelope::{Draft, Envelope, Origin, Stream};
#[cfg(feature = "store")]
pub use error::{Error, Result};
pub use event::{
    Action, Agent, AgentName, BadName, CallOutcome, ChangedFile, Changes, Criterion,
    CriterionStatus, Decision, Event, Evidence, Examined, Facts, FileFacts, Host, Notification,
    Package, PhaseRecord, Place, ProgressKind, PromptOrigin, Reason, ReplyForm, Route, Run, Seen,
    Step, Summary, SummaryKind, SummaryVerdict, Task, Timeline, TimelineSource, ToolCall, ToolKind,
    Verdict, Workspace, as_json,
};
#[cfg(feature = "store")]
pub use hex::hex;
pub use home::Home;
pub use hook_call::{reply, request};
#[cfg(feature = "store")]
pub use identity::{Identity, Renewal};
#[cfg(feature = "store")]
pub use log::{Appended, Appending, Done, Journal, Options, Sync};
#[cfg(feature = "store")]
pub use maintenance::{Compacted, Forgotten, Retention};
pub use payload::Payload;
#[cfg(feature = "store")]
pub use store::{Outcome, SessionEntry};
pub use time::Timestamp;

/// Version of the deciding code. Raise it with every intended change of what `decide` returns for equal inputs.
pub const DECISION_VERSION: u32 = 2;
