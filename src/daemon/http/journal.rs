//! Backup and compaction: `POST /v1/journal/{backup,compact}`.

use std::io::{self, Write};
use std::sync::Arc;

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::state::Api;
use crate::ops::query;
use crate::ops::retention::compact;
use crate::ops::wire::CompactBody;

/// Pieces of a backup that may wait for a slow reader.
const PIECES_MAX: usize = 16;
/// Size of one piece of a streamed answer.
const PIECE_BYTES: usize = 256 * 1024;

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/v1/journal/backup", web::post().to(send_backup))
        .route("/v1/journal/compact", web::post().to(compact_now));
}

/// Streams a backup. A failed one ends without HTTP's end of a complete answer.
async fn send_backup(api: web::Data<Api>) -> HttpResponse {
    let (pieces, answer) = mpsc::channel::<io::Result<web::Bytes>>(PIECES_MAX);
    let journal = api.shared.journal.clone();
    std::thread::spawn(move || {
        let out = io::BufWriter::with_capacity(PIECE_BYTES, Pieces(pieces.clone()));
        if let Err(error) = journal.backup(out, |_, _| ()) {
            tracing::warn!(%error, "A backup failed.");
            let _ = pieces.blocking_send(Err(io::Error::other(error.to_string())));
        }
    });
    HttpResponse::Ok()
        .content_type("application/octet-stream")
        .streaming(ReceiverStream::new(answer))
}

/// Writes to the body of an answer.
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

/// Compacts the journal. The answer has one JSON object a line: progress, then the result.
async fn compact_now(api: web::Data<Api>, body: web::Json<CompactBody>) -> HttpResponse {
    let (lines, answer) = mpsc::channel::<io::Result<web::Bytes>>(PIECES_MAX);
    let shared = Arc::clone(&api.shared);
    std::thread::spawn(move || {
        // The compaction continues if the client disconnects.
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
            Err(error) => say(query::Error::from(error).line()),
        }
    });
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(ReceiverStream::new(answer))
}
