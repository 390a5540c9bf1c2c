//! The agent in its pane, seen and touched: the blocking part of a delivery.

use std::time::Duration;

use checkpoint::terminal::{self, Seen};
use journal::Agent;

use super::{Look, Pane, Tmux, TmuxError, agent_among, processes};

/// Whom a delivery is for.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// The agent.
    pub(super) agent: Agent,
    /// Its terminal, where it has one.
    pub(super) pane: Option<Pane>,
    /// What is typed.
    pub(super) text: String,
}

/// What one look found.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// What stands there.
    pub(super) seen: Seen,
    /// The pane, as it was.
    pub(super) look: Option<Look>,
    /// The agent's process.
    pub(super) pid: Option<u32>,
    /// The text is in sight.
    pub(super) shows_text: bool,
}

impl Sight {
    /// Nobody could look.
    pub(super) const fn nothing() -> Self {
        Self::only(Seen::Nothing)
    }

    const fn only(seen: Seen) -> Self {
        Self {
            seen,
            look: None,
            pid: None,
            shows_text: false,
        }
    }
}

impl Subject {
    /// Looks at the pane. `known` is the agent's process, where that is known.
    pub(super) fn look(&self, known: Option<u32>, within: Duration) -> Sight {
        let Some(pane) = &self.pane else {
            return Sight::only(Seen::Gone);
        };
        self.try_look(Tmux { pane, within }, known).unwrap_or_else(|error| match error {
            TmuxError::PaneGone(_) => Sight::only(Seen::Gone),
            error => {
                tracing::warn!(pane = pane.id, %error, "Could not look at an agent's terminal.");
                Sight::nothing()
            }
        })
    }

    fn try_look(&self, tmux: Tmux<'_>, known: Option<u32>) -> Result<Sight, TmuxError> {
        let look = tmux.look()?;
        let pid = agent_among(&processes(&look.tty, tmux.within)?, self.agent, known);
        let seen = match pid {
            None => Seen::Other,
            Some(_) if look.in_mode => Seen::CopyMode,
            Some(_) => Seen::Composer(terminal::read(self.agent, &look.view, &self.text)),
        };
        let shows_text = terminal::shows(&look.view, &self.text);
        Ok(Sight {
            seen,
            look: Some(look),
            pid,
            shows_text,
        })
    }

    /// Pastes the text where nothing has changed since the look; tells whether it certainly did.
    pub(super) fn paste(
        &self,
        look: Option<&Look>,
        decision: u64,
        attempt: u32,
        within: Duration,
    ) -> bool {
        let (Some(pane), Some(look)) = (&self.pane, look) else {
            return false;
        };
        let tmux = Tmux { pane, within };
        if attempt > 1 {
            // Should the earlier paste be under way still, it finds nothing to paste.
            let _ = tmux.forget(&buffer(decision, attempt - 1));
        }
        let pasted = tmux.paste_if(look, &buffer(decision, attempt), &self.text);
        pasted.unwrap_or_else(|error| {
            tracing::warn!(pane = pane.id, decision, %error, "A paste was not acknowledged.");
            false
        })
    }

    /// Presses a key where nothing has changed since the look.
    pub(super) fn press(&self, look: Option<&Look>, key: &str, within: Duration) {
        let (Some(pane), Some(look)) = (&self.pane, look) else {
            return;
        };
        match (Tmux { pane, within }).press_if(look, key) {
            Ok(true) => {}
            Ok(false) => tracing::debug!(
                pane = pane.id,
                key,
                "A key was not pressed: the screen changed."
            ),
            Err(error) => {
                tracing::warn!(pane = pane.id, key, %error, "A key was not acknowledged.")
            }
        }
    }
}

fn buffer(decision: u64, attempt: u32) -> String {
    format!("checkpointd-{decision}-{attempt}")
}
