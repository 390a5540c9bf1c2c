//! What the routes share.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use actix::Addr;
use actors::Shared;
use actors::ingest::Ingest;
use actors::registry::SessionRegistry;
use actors::restart::Restarts;
use tokio::sync::{Notify, watch};

use crate::config;
use crate::daemon::telemetry::otlp::Otlp;
use crate::ops::query::Reader;

/// What the routes share.
pub(crate) struct Api {
    /// What the actors share.
    pub(crate) shared: Arc<Shared>,
    /// Who answers questions.
    pub(crate) reader: Arc<Reader>,
    /// The sessions.
    pub(crate) sessions: Addr<SessionRegistry>,
    /// Where hook calls go.
    pub(crate) ingest: Addr<Ingest>,
    /// Who restarts agents.
    pub(crate) restarts: Addr<Restarts>,
    /// The spool is empty and hooks are taken.
    pub(crate) ready: watch::Sender<bool>,
    /// Tells the daemon to stop.
    pub(crate) stop: Notify,
    /// When the daemon came up.
    pub(crate) began: Instant,
    /// What recovery found.
    pub(crate) recovery: Vec<String>,
    /// What is wrong with the configuration.
    pub(crate) config_error: RwLock<Option<String>>,
    /// Who tells a collector.
    pub(crate) otlp: Arc<Otlp>,
}

impl Api {
    /// Reads the configuration again.
    pub(crate) fn reload(&self) {
        let error = match config::load(&self.shared.home.config) {
            Ok(config) if config == *self.shared.config() => None,
            Ok(config) => {
                self.shared.set_config(config);
                self.otlp.settings_changed();
                tracing::info!("The configuration was read again.");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "The configuration was not used; the one before holds.");
                Some(error.to_string())
            }
        };
        *self
            .config_error
            .write()
            .unwrap_or_else(PoisonError::into_inner) = error;
    }
}
