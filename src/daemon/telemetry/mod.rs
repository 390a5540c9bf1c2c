//! Figures about the daemon, for monitoring systems that scrape and for collectors that are sent them.

pub(crate) mod figures;
pub(crate) mod otlp;
