//! The daily compaction of the journal.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use actors::Shared;
use checkpoint::config::CompactWhen;
use journal::Compacted;
use tokio::sync::oneshot;

use crate::ops::retention::{compact, marker};

/// Time between two automatic compactions.
const COMPACT_EVERY: Duration = Duration::from_secs(86_400);
/// Time between two checks whether one is due: the machine may sleep, and the configuration may
/// change.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);

/// Compacts once a day while the configuration enables it.
pub(crate) async fn compact_daily(shared: Arc<Shared>) {
    loop {
        let own = Arc::clone(&shared);
        let (said, outcome) = oneshot::channel();
        // On a thread of its own, which a stopping daemon need not wait for: compaction may be
        // interrupted anywhere.
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
                tracing::warn!(%error, "Cannot drop old payloads; will retry.")
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
    // A time in the future means that the clock was set back.
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
    for repaired in &done.repaired {
        tracing::warn!(repaired, "Repaired a segment of the intake log.");
    }
    for skipped in &done.skipped {
        tracing::warn!(skipped, "Skipped a segment of the intake log.");
    }
    Ok(Some(done))
}
