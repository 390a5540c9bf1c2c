//! State shared by the routes.

use std::sync::Arc;
use std::time::Instant;

use actix::Addr;
use actors::Shared;
use actors::ingest::Ingest;
use actors::registry::SessionRegistry;
use actors::restart::Restarts;
use parking_lot::RwLock;
use tokio::sync::{Notify, watch};

use crate::config;
use crate::daemon::fleet::{Publisher, State};
use crate::daemon::telemetry::otlp::Otlp;
use crate::ops::query::Reader;

/// The daemon's actors, and its publisher.
pub(crate) struct Actors {
    pub(crate) sessions: Addr<SessionRegistry>,
    /// Accepts hook calls.
    pub(crate) ingest: Addr<Ingest>,
    pub(crate) restarts: Addr<Restarts>,
    /// Sends events to a fleet's broker.
    pub(crate) publisher: Arc<Publisher>,
}

pub(crate) struct Api {
    pub(crate) shared: Arc<Shared>,
    pub(crate) reader: Arc<Reader>,
    /// What acts; nothing at a collector.
    pub(crate) actors: Option<Actors>,
    /// What goes to a fleet's broker, or comes from it.
    pub(crate) fleet: Arc<State>,
    /// Whether the spool is empty and hooks are accepted.
    pub(crate) ready: watch::Sender<bool>,
    /// Signals that the daemon is to stop.
    pub(crate) stop: Notify,
    pub(crate) began: Instant,
    /// What recovery found, one line each.
    pub(crate) recovery: Vec<String>,
    /// The error in the configuration, if any.
    pub(crate) config_error: RwLock<Option<String>>,
    pub(crate) otlp: Arc<Otlp>,
}

impl Api {
    pub(crate) fn reload(&self) {
        let error = match config::load(&self.shared.home) {
            Ok(config) if config == *self.shared.config() => None,
            Ok(config) => {
                self.shared.set_config(config);
                self.shared.mark_exits();
                self.otlp.settings_changed();
                if let Some(actors) = &self.actors {
                    actors.publisher.settings_changed();
                }
                tracing::info!("Reloaded the configuration.");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "Invalid configuration; the previous one still applies.");
                Some(error.to_string())
            }
        };
        *self.config_error.write() = error;
    }
}
