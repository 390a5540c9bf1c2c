//! How one thing is printed: an event, a plan, a timeline, an explanation.

pub(crate) mod event_line;
pub(crate) mod explanation;
pub(crate) mod plan;
pub(crate) mod progress_bar;
pub(crate) mod rule_trace;
pub(crate) mod session;
pub(crate) mod timeline;
