//! After coming up: every stop and every delivery that no later event settled is settled on purpose.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use journal::{Event, Timestamp};

use crate::Shared;
use crate::registry::{DecideIn, EventsAppended, SessionRegistry};
use crate::session::Decide;

/// Settles what the last run left open. A stop whose hook call may still come again gets the time for it first.
///
/// # Errors
///
/// When the journal cannot be read.
pub async fn settle(
    shared: &Arc<Shared>,
    sessions: &Addr<SessionRegistry>,
) -> journal::Result<usize> {
    let open = shared.journal.unsettled()?;
    let grace = Duration::from_millis(shared.config().settings.hooks.stop_wait.as_millis());
    for (session, seq) in &open {
        let (session, seq) = (*session, *seq);
        match shared.journal.event(seq)? {
            Some(envelope) if matches!(envelope.event, Event::AgentStopped { .. }) => {
                let left = grace.saturating_sub(Timestamp::now().since(envelope.at));
                let sessions = sessions.clone();
                actix::spawn(async move {
                    tokio::time::sleep(left).await;
                    let _ = sessions
                        .send(DecideIn {
                            session,
                            decide: Decide {
                                seq,
                                answered: false,
                            },
                        })
                        .await;
                });
            }
            // A session that is awake confirms or expires its deliveries by itself.
            _ => {
                let _ = sessions.send(EventsAppended(vec![session])).await;
            }
        }
    }
    Ok(open.len())
}
