//! Events of many machines in one place: what leaves a machine, and how a collector takes it in.

mod folder;
mod levels;
mod lines;
mod merge;
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
pub(crate) use {
    folder::{Folder, Ticket, quoted, write_private},
    message::next_run,
    problem::Result,
};
