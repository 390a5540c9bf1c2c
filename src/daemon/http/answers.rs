//! Answers one query over HTTP, for the socket and the page.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::Shared;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use uuid::Uuid;

use crate::ops::query::{self, Query, Reader};
use crate::ops::sessions_now::{self, Which};

/// Lines of an answer are sent together once they reach this size or age.
const BLOCK_BYTES: usize = 32 * 1024;
const BLOCK_WAIT: Duration = Duration::from_millis(50);
/// Blocks that may wait for a slow reader.
const BLOCKS_MAX: usize = 16;

pub(crate) fn refuse(status: StatusCode, reason: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "error": reason }))
}

/// Answers a question line by line, and holds `permit` until it is answered.
pub(crate) fn stream_answer(
    reader: &Arc<Reader>,
    query: Query,
    permit: impl Send + 'static,
) -> HttpResponse {
    let (blocks, answer) = mpsc::channel::<Result<web::Bytes, std::io::Error>>(BLOCKS_MAX);
    let reader = Arc::clone(reader);
    std::thread::spawn(move || {
        let _permit = permit;
        let mut block = Vec::new();
        let send = |block: &mut Vec<u8>| {
            blocks
                .blocking_send(Ok(std::mem::take(block).into()))
                .is_ok()
        };
        let mut sent = Instant::now();
        let answered = reader.answer(&query, &mut |line| {
            add(&mut block, &line);
            if block.len() < BLOCK_BYTES && sent.elapsed() < BLOCK_WAIT {
                return true;
            }
            sent = Instant::now();
            send(&mut block)
        });
        if let Err(error) = answered
            && !matches!(error, query::Error::Gone)
        {
            add(&mut block, &error.line());
        }
        if !block.is_empty() {
            send(&mut block);
        }
    });
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(ReceiverStream::new(answer))
}

fn add(block: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *block, line).expect("memory takes all that is written");
    block.push(b'\n');
}

/// Answers with what blocking work finds.
pub(crate) async fn answer<T: Serialize + Send + 'static>(
    work: impl FnOnce() -> query::Result<T> + Send + 'static,
) -> HttpResponse {
    match web::block(work).await {
        Ok(Ok(found)) => HttpResponse::Ok().json(found),
        Ok(Err(error @ query::Error::NotFound(_))) => {
            refuse(StatusCode::NOT_FOUND, &error.to_string())
        }
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

/// Answers a question as one JSON document: an array, or the one object there is.
pub(crate) async fn ask_whole(reader: &Arc<Reader>, query: Query, one: bool) -> HttpResponse {
    let reader = Arc::clone(reader);
    answer(move || {
        let mut lines = Vec::new();
        reader.answer(&query, &mut |line| {
            lines.push(line);
            true
        })?;
        Ok(match one {
            true => lines.into_iter().next().unwrap_or_default(),
            false => Value::Array(lines),
        })
    })
    .await
}

/// How many sessions are wanted.
#[derive(Deserialize)]
pub(crate) struct NowQuery {
    /// All sessions, not only the latest.
    #[serde(default)]
    all: bool,
    /// Only so many of the latest, without a look at the others.
    first: Option<usize>,
    /// Only this session.
    session: Option<Uuid>,
    /// The last event that the client knows.
    known: Option<u64>,
}

/// Returns the sessions' states, those that wait for a person first; `null` if there is no event
/// after `known`.
pub(crate) async fn answer_now(
    shared: &Arc<Shared>,
    reader: &Arc<Reader>,
    wanted: &NowQuery,
) -> HttpResponse {
    if wanted
        .known
        .is_some_and(|known| known == shared.journal.last_seq())
    {
        return HttpResponse::Ok().json(Value::Null);
    }
    let wanted = match *wanted {
        NowQuery {
            session: Some(session),
            ..
        } => Which::One(session),
        NowQuery {
            first: Some(count), ..
        } => Which::First(count),
        NowQuery { all: true, .. } => Which::Newest(usize::MAX),
        NowQuery { .. } => Which::Newest(sessions_now::SHOWN),
    };
    let (shared, reader) = (Arc::clone(shared), Arc::clone(reader));
    answer(move || {
        sessions_now::now(
            &shared.journal,
            &shared.config(),
            &shared.trust(),
            &reader.known,
            &wanted,
        )
    })
    .await
}
