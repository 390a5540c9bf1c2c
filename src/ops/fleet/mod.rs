//! Events of many machines in one place: what leaves a machine, and how a collector takes it in.

#[cfg(feature = "fleet")]
mod folder;
mod levels;
mod lines;
mod merge;
#[cfg(feature = "fleet")]
mod message;
mod places;
mod problem;
mod send;
#[cfg(test)]
mod tests;

pub(crate) use levels::Level;
pub(crate) use merge::{Merge, Merged};
pub(crate) use problem::Problem;
pub(crate) use send::{export, is_machine, preview};
#[cfg(feature = "fleet")]
pub(crate) use {
    folder::{Folder, Ticket, quoted, write_private},
    message::next_run,
    problem::Result,
};
