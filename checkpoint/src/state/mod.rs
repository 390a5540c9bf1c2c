//! The state of a session: one value, folded from its events by one function.
//!
//! [`SessionState::apply`] is total and takes its times from the envelope, so that live handling and replay are the same
//! code. Events may come late: whatever a fact is about, its `at` decides, not its place in the journal.

mod apply;
mod attention;
mod baseline;
mod delivery;
mod ended;
mod examined;
mod joined;
mod model;
mod open;
mod status;
mod stop;
mod turn;

pub use attention::AGENT_FINISHED;
pub use ended::{Ended, ExaminedCall};
pub use examined::WAITING_MAX;
pub use model::{
    Block, Counts, Delivery, Head, Leaving, Mute, Open, SNAPSHOT_VERSION, SessionState, Stop, Turn,
    Written,
};
pub use status::SessionStatus;
pub use stop::{DEMANDS_MAX, PENDING_MAX};
pub use turn::CALLS_MAX;
