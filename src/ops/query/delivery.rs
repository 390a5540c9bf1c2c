//! How a decision reached its agent, or why it did not.

use journal::{Envelope, Event, Journal, Outcome};

use super::question::Result;

/// How many events of a session after a decision are searched for the outcome of its delivery.
const DELIVERY_EVENTS_MAX: usize = 4_096;

/// Returns the word for what a checkpoint waits for, or for why it was not delivered.
pub(super) fn obstacle(
    journal: &Journal,
    decided: &Envelope,
    outcome: Outcome,
) -> Result<Option<String>> {
    let mut word = None;
    if matches!(outcome, Outcome::None | Outcome::Confirmed) {
        return Ok(word);
    }
    // Events about a delivery follow soon after its decision.
    for envelope in journal.stream(decided.stream.session, decided.seq, DELIVERY_EVENTS_MAX)? {
        match envelope.event {
            Event::DeliveryHeld { decision, obstacle } if decision == decided.seq => {
                word = Some(obstacle)
            }
            Event::DeliveryEntered { decision, .. } if decision == decided.seq => word = None,
            Event::DeliveryFailed { decision, reason }
            | Event::DeliveryExpired { decision, reason }
                if decision == decided.seq =>
            {
                return Ok(Some(reason));
            }
            _ => {}
        }
    }
    Ok(word)
}
