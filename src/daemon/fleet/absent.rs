//! Takes the place of the publisher in a build without the broker's side of a fleet: it says that nothing is sent.

use std::sync::Arc;

use actors::Shared;
use journal::{Envelope, Home};

use super::state::State;
use crate::config;
use crate::error::{Failure, Result, not_built};

const WHAT: &str = "the connection to a fleet's broker";
const FEATURE: &str = "fleet";

/// Sends nothing.
pub(crate) struct Publisher {
    shared: Arc<Shared>,
    state: Arc<State>,
}

impl Publisher {
    pub(crate) fn new(shared: Arc<Shared>, state: Arc<State>) -> Arc<Self> {
        Arc::new(Self { shared, state })
    }

    pub(crate) fn tell(&self, _: &[Envelope]) {}

    pub(crate) fn start(&self) {
        self.settings_changed();
    }

    /// Says that nothing is sent, if something should be.
    pub(crate) fn settings_changed(&self) {
        let config = self.shared.config();
        let Some(servers) = &config.settings.fleet.url.0 else {
            return self.state.clear();
        };
        self.state
            .change(|line| line.url = servers.text().to_owned());
        self.state.trouble(Some(not_built(WHAT, FEATURE)));
    }

    pub(crate) async fn close(&self) {}
}

/// Fails if a broker is set, which may have messages.
pub(crate) fn purge(home: &Home, _: &[(String, uuid::Uuid)]) -> Result<Option<u64>> {
    match config::load(home)?.settings.fleet.url.0 {
        None => Ok(None),
        Some(_) => Err(Failure::not_built(WHAT, FEATURE)
            .hint("the broker still has its messages; the events here are already removed")),
    }
}
