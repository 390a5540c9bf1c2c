//! Codex CLI's own queue: `codex queue` hands a message to the terminal program of a thread, which takes it up when it
//! is idle. It needs no terminal, leaves drafts alone, and waits while a question is up.

use std::process::Command;
use std::time::{Duration, Instant};

use checkpoint::state::SessionState;

use crate::process::{self, Failure};

/// The longest that handing over may take.
const WITHIN: Duration = Duration::from_secs(15);

/// Hands a message over. Returns the word for why that failed, if it did.
pub(super) fn hand_over(state: &SessionState, text: &str) -> Option<&'static str> {
    let mut command = Command::new("codex");
    command
        .arg("queue")
        .arg("--thread")
        .arg(state.stream.native())
        .arg("--message")
        .arg(text);
    if let Some(home) = state.place.env("CODEX_HOME") {
        command.env("CODEX_HOME", home);
    }
    match process::run(vec![command], Instant::now() + WITHIN) {
        Ok(outputs) if outputs.iter().all(process::Output::is_good) => None,
        Ok(outputs) => {
            let complaint = outputs
                .first()
                .map(process::Output::complaint)
                .unwrap_or_default();
            tracing::warn!(session = %state.session(), complaint, "`codex queue` refused a checkpoint.");
            Some("queue_refused")
        }
        Err(Failure::Missing) => Some("no_codex"),
        // It may have been handed over all the same.
        Err(Failure::Timeout) => None,
        Err(Failure::System(error)) => {
            tracing::warn!(session = %state.session(), %error, "`codex queue` could not be run.");
            Some("queue_failed")
        }
    }
}
