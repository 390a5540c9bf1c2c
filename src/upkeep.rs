//! The daemon's part in keeping the journal: backups through the socket, compaction when asked, and once a day by itself.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use actix_web::{HttpResponse, web};
use actors::Shared;
use checkpoint::config::{CompactWhen, Config};
use journal::{Compacted, Journal, Retention, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use crate::api::Api;

/// Pieces of a backup that wait for a slow reader.
const PIECES_MAX: usize = 16;
/// Bytes of a piece.
const PIECE_BYTES: usize = 256 * 1024;
/// Time between two compactions by the daemon itself.
const COMPACT_EVERY: Duration = Duration::from_secs(86_400);
/// Time between two looks whether one is due: the machine may sleep, and the configuration change.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);

/// What a compaction is asked for with.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompactBody {
    /// Change nothing.
    pub(crate) dry_run: bool,
}

/// Returns how long payloads are kept.
pub(crate) fn retention(config: &Config) -> Retention {
    let retention = &config.settings.journal.retention;
    Retention {
        payloads: retention.payloads.period(),
        kinds: retention
            .kinds
            .iter()
            .map(|(kind, keep)| (kind.0.clone(), keep.period()))
            .collect(),
    }
}

/// Compacts a journal as the configuration says, and remembers when.
///
/// # Errors
///
/// As [`Journal::compact`].
pub(crate) fn compact(
    journal: &Journal,
    folder: &Path,
    config: &Config,
    dry_run: bool,
    progress: impl FnMut(u64, u64),
) -> journal::Result<Compacted> {
    let done = journal.compact(&retention(config), Timestamp::now(), dry_run, progress)?;
    if !dry_run {
        // Its time is the time of the last compaction. Without it the next one merely comes sooner.
        let _ = fs::write(marker(folder), b"");
    }
    Ok(done)
}

fn marker(journal: &Path) -> PathBuf {
    journal.join("compacted")
}

/// Sets up the routes.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/v1/journal/backup", web::post().to(send_backup))
        .route("/v1/journal/compact", web::post().to(compact_now));
}

/// Sends a backup as it is made. One that fails ends without the end that HTTP gives to a whole answer.
async fn send_backup(api: web::Data<Api>) -> HttpResponse {
    let (pieces, answer) = mpsc::channel::<io::Result<web::Bytes>>(PIECES_MAX);
    let journal = api.shared.journal.clone();
    std::thread::spawn(move || {
        let out = io::BufWriter::with_capacity(PIECE_BYTES, Pieces(pieces.clone()));
        if let Err(error) = journal.backup(out, |_, _| ()) {
            tracing::warn!(%error, "A backup was not finished.");
            let _ = pieces.blocking_send(Err(io::Error::other(error.to_string())));
        }
    });
    HttpResponse::Ok()
        .content_type("application/octet-stream")
        .streaming(ReceiverStream::new(answer))
}

/// Writes into an answer.
struct Pieces(mpsc::Sender<io::Result<web::Bytes>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Ok(web::Bytes::copy_from_slice(bytes));
        self.0
            .blocking_send(piece)
            .map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compacts, and says how far it is and what it did, one JSON object a line.
async fn compact_now(api: web::Data<Api>, body: web::Json<CompactBody>) -> HttpResponse {
    let (lines, answer) = mpsc::channel::<io::Result<web::Bytes>>(PIECES_MAX);
    let shared = Arc::clone(&api.shared);
    std::thread::spawn(move || {
        // Nobody needs to listen: what was begun is ended.
        let say =
            |line: Value| drop(lines.blocking_send(Ok(web::Bytes::from(format!("{line}\n")))));
        let progress = |done: u64, all: u64| say(json!({ "progress": [done, all] }));
        match compact(
            &shared.journal,
            &shared.home.journal,
            &shared.config(),
            body.dry_run,
            progress,
        ) {
            Ok(done) => say(serde_json::to_value(done).expect("plain data")),
            Err(error) => say(json!({ "error": { "kind": "journal", "text": error.to_string() } })),
        }
    });
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(ReceiverStream::new(answer))
}

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
