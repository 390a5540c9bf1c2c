//! The network side of a fleet: the publisher of a machine's daemon, and the collector.

mod address;
mod collector;
mod feed;
mod proof;
mod publisher;
mod purge;
mod state;

pub(crate) use {collector::run as collect, publisher::Publisher, purge::purge};

pub(super) use state::State;
