//! The network side of a fleet: the publisher of a machine's daemon, and the collector.

#[cfg(not(feature = "fleet"))]
mod absent;
#[cfg(feature = "fleet")]
mod address;
#[cfg(feature = "fleet")]
mod collector;
#[cfg(feature = "fleet")]
mod feed;
#[cfg(feature = "fleet")]
mod proof;
#[cfg(feature = "fleet")]
mod publisher;
#[cfg(feature = "fleet")]
mod purge;
mod state;

#[cfg(not(feature = "fleet"))]
pub(crate) use absent::{Publisher, purge};
#[cfg(feature = "fleet")]
pub(crate) use {collector::run as collect, publisher::Publisher, purge::purge};

pub(super) use state::State;
