//! The daily compaction of the journal.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use actors::Shared;
use checkpoint::config::CompactWhen;
use journal::Compacted;
use tokio::sync::oneshot;

use crate::ops::retention::{compact, marker};

/// Time between two compactions by the daemon itself.
const COMPACT_EVERY: Duration = Duration::from_secs(86_400);
/// Time between two looks whether one is due: the machine may sleep, and the configuration change.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);

/// Compacts once a day, for as long as the daemon runs and the configuration says so.
pub(crate) async fn compact_daily(shared: Arc<Shared>) {
    loop {
        let own = Arc::clone(&shared);
        let (said, outcome) = oneshot::channel();
        // A thread of its own, which a daemon that is told to stop need not wait for: it may be cut short anywhere.
        std::thread::spawn(move || said.send(compact_if_due(&own)));
        match outcome.await {
            Ok(Ok(Some(done))) if done.payloads > 0 => {
                tracing::info!(
                    payloads = done.payloads,
                    bytes = done.payload_bytes,
                    "Dropped old payloads."
                );
            }
            Ok(Ok(_)) | Err(_) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "Old payloads could not be dropped; it is tried again.")
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn compact_if_due(shared: &Shared) -> journal::Result<Option<Compacted>> {
    let config = shared.config();
    let last = fs::metadata(marker(&shared.home.journal))
        .and_then(|meta| meta.modified())
        .ok();
    // A time in the future is a clock that was set back.
    let is_due = last
        .and_then(|last| SystemTime::now().duration_since(last).ok())
        .is_none_or(|age| age >= COMPACT_EVERY);
    if config.settings.journal.compact == CompactWhen::Off || !is_due {
        return Ok(None);
    }
    let done = compact(
        &shared.journal,
        &shared.home.journal,
        &config,
        false,
        |_, _| (),
    )?;
    for skipped in &done.skipped {
        tracing::warn!(skipped, "A segment of the intake log was left as it is.");
    }
    Ok(Some(done))
}
