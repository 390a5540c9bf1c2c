//! Delivery by an agent's own command that puts a message into a session's queue. It needs no terminal, keeps the user's
//! draft, and waits while a dialog is open.

use std::time::{Duration, Instant};

use checkpoint::agents::adapter::HandOver;
use uuid::Uuid;

use crate::environment;
use crate::process::{self, Failure};

/// The longest that the command may take.
const WITHIN: Duration = Duration::from_secs(15);

/// Runs the command. Returns the reason word if that failed.
pub(super) fn hand_over(session: Uuid, by: HandOver) -> Option<&'static str> {
    let HandOver {
        program, missing, ..
    } = by;
    let Some(mut command) = environment::tool(program) else {
        return Some(missing);
    };
    command.args(by.arguments).envs(by.env);
    match process::run(vec![command], Instant::now() + WITHIN) {
        Ok(outputs) if outputs.iter().all(process::Output::is_good) => None,
        Ok(outputs) => {
            let complaint = outputs
                .first()
                .map(process::Output::complaint)
                .unwrap_or_default();
            tracing::warn!(%session, program, complaint, "The agent's command refused a checkpoint.");
            Some("queue_refused")
        }
        Err(Failure::Missing) => Some(missing),
        // The message may be in the queue all the same.
        Err(Failure::Timeout) => None,
        Err(Failure::System(error)) => {
            tracing::warn!(%session, program, %error, "Could not run the agent's command.");
            Some("queue_failed")
        }
    }
}
