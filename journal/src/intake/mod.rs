//! The intake log: append-only segment files of frames. An event is acknowledged once it is here.
//!
//! A segment is named after its first sequence number: `<20 digits>.log` while it is written, `<20 digits>.zst` once it is
//! sealed (`sealed.rs`). Sealed segments are kept: most events are only there.
//! Each has parity, from which damage is repaired.
//! Never overwrites an acknowledged byte and never hides damage.

mod files;
mod lookup;
mod parity;
mod reading;
mod records;
mod repair;
mod salvage;
mod sealed;
mod sealing;
mod writer;

pub(crate) use files::{
    Form, SEGMENT_BYTES, Segment, remove_superseded, replace, segments, sync_dir,
};
pub(crate) use lookup::{Found, Lookup};
pub(crate) use records::{Record, event_value_from, records};
pub(crate) use repair::repaired;
pub(crate) use sealing::{replace_frames, seal};
pub(crate) use writer::{Unsealed, Writer};
