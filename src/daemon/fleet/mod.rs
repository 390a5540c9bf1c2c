//! The network side of a fleet: the publisher of a machine's daemon, and the collector.

mod address;
mod feed;
mod proof;
mod publisher;
mod purge;
mod state;

pub(crate) use purge::purge;
pub(super) use {feed::Intake, publisher::Publisher, state::State};
