//! The terminal of one delivery: observing the agent's pane and typing into it. Blocks.

use std::time::Duration;

use checkpoint::terminal::{self, Seen};
use journal::Agent;

use super::{Pane, PaneSnapshot, Tmux, TmuxError, agent_among, processes};

/// The agent's terminal, and the text for it.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    pub(super) agent: Agent,
    /// `None` if the agent does not run in tmux.
    pub(super) pane: Option<Pane>,
    pub(super) text: String,
}

/// The state of the terminal at one moment.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    pub(super) seen: Seen,
    pub(super) pane: Option<PaneSnapshot>,
    pub(super) pid: Option<u32>,
    /// Whether the text is on the screen.
    pub(super) shows_text: bool,
}

impl Observation {
    /// The terminal could not be read.
    pub(super) const fn nothing() -> Self {
        Self::only(Seen::Nothing)
    }

    const fn only(seen: Seen) -> Self {
        Self {
            seen,
            pane: None,
            pid: None,
            shows_text: false,
        }
    }
}

impl Terminal {
    /// Observes the pane. `known` is the agent's process, if it is known.
    pub(super) fn observe(&self, known: Option<u32>, within: Duration) -> Observation {
        let Some(pane) = &self.pane else {
            return Observation::only(Seen::Gone);
        };
        let observed = self.try_observe(Tmux { pane, within }, known);
        observed.unwrap_or_else(|error| match error {
            TmuxError::PaneGone(_) => Observation::only(Seen::Gone),
            error => {
                tracing::warn!(pane = pane.id, %error, "Could not read an agent's terminal.");
                Observation::nothing()
            }
        })
    }

    fn try_observe(&self, tmux: Tmux<'_>, known: Option<u32>) -> Result<Observation, TmuxError> {
        let pane = tmux.snapshot()?;
        let pid = agent_among(&processes(&pane.tty, tmux.within)?, self.agent, known);
        let seen = match pid {
            None => Seen::Other,
            Some(_) if pane.in_mode => Seen::CopyMode,
            Some(_) => Seen::Composer(terminal::read(self.agent, &pane.view, &self.text)),
        };
        let shows_text = terminal::shows(&pane.view, &self.text);
        Ok(Observation {
            seen,
            pane: Some(pane),
            pid,
            shows_text,
        })
    }

    /// Pastes the text if the pane has not changed since `seen`. Returns whether the text was certainly pasted.
    pub(super) fn paste(
        &self,
        seen: Option<&PaneSnapshot>,
        decision: u64,
        attempt: u32,
        within: Duration,
    ) -> bool {
        let (Some(pane), Some(seen)) = (&self.pane, seen) else {
            return false;
        };
        let tmux = Tmux { pane, within };
        if attempt > 1 {
            // If tmux has not carried out the earlier paste yet, it finds nothing to paste.
            let _ = tmux.delete_buffer(&buffer(decision, attempt - 1));
        }
        let pasted = tmux.paste(&seen.unchanged(), &buffer(decision, attempt), &self.text);
        pasted.unwrap_or_else(|error| {
            tracing::warn!(pane = pane.id, decision, %error, "A paste was not acknowledged.");
            false
        })
    }

    /// Presses a key if the pane has not changed since `seen`.
    pub(super) fn press(&self, seen: Option<&PaneSnapshot>, key: &str, within: Duration) {
        let (Some(pane), Some(seen)) = (&self.pane, seen) else {
            return;
        };
        match (Tmux { pane, within }).press(&seen.unchanged(), key) {
            Ok(true) => {}
            Ok(false) => tracing::debug!(
                pane = pane.id,
                key,
                "Did not press a key: the screen changed."
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
