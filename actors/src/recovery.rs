//! Recovery at start: settles every stop and every delivery that the last run left open (spec JRNL-16).

use std::sync::Arc;

use actix::prelude::*;
use journal::{Event, Timestamp};

use crate::Shared;
use crate::registry::{DecideIn, EventsAppended, SessionRegistry};
use crate::session::Decide;

/// Settles the stops and deliveries that the last run left open; returns their number. A stop whose hook call may still
/// be repeated is decided only after the time for that.
///
/// # Errors
///
/// When the journal cannot be read.
pub async fn settle(
    shared: &Arc<Shared>,
    sessions: &Addr<SessionRegistry>,
) -> journal::Result<usize> {
    let mut open = shared.journal.unsettled()?;
    // The daemon must not type or decide what another machine or an import left open.
    open.retain(|(_, seq)| !shared.journal.is_imported(*seq));
    let grace = shared.config().settings.hooks.stop_wait.0;
    for (session, seq) in open.iter().copied() {
        match shared.journal.event(seq)? {
            Some(envelope)
                if matches!(
                    envelope.event,
                    Event::AgentStopped { .. } | Event::WorkLeaves { .. }
                ) =>
            {
                let left = grace.saturating_sub(Timestamp::now().since(envelope.at));
                let decide = Decide {
                    seq,
                    answered: false,
                };
                let sessions = sessions.clone();
                actix::spawn(async move {
                    tokio::time::sleep(left).await;
                    let _ = sessions.send(DecideIn { session, decide }).await;
                });
            }
            // A session that is awake confirms or expires its deliveries itself.
            _ => {
                let _ = sessions.send(EventsAppended(vec![session])).await;
            }
        }
    }
    Ok(open.len())
}
