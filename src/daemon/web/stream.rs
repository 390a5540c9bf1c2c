//! What the page is pushed, one JSON object a line: the changed sessions and their current state.
//!
//! A slow page blocks only its own task. Missed changes are not queued: it gets the current state
//! when it reads again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::{HttpResponse, web};
use actors::Shared;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use uuid::Uuid;

use super::page::Page;
use crate::ops::query::{self, Known};
use crate::ops::sessions_now::{self, SessionsNow, Which};

/// The shortest time between two messages; changes within it share one.
const PAUSE: Duration = Duration::from_millis(200);
/// The pause after a message is at least this many times as long as making it took.
const REST: u32 = 4;
/// The keep-alive interval, so that no proxy or browser times out.
const SIGN_EVERY: Duration = Duration::from_secs(15);
/// Messages that may wait for a slow reader.
const MESSAGES_MAX: usize = 2;
/// The most events read for one message; beyond that the page reloads everything.
const EVENTS_MAX: u64 = 2_000;
/// The most sessions in one message; beyond that the page reloads everything.
const SESSIONS_MAX: usize = 64;

#[derive(Deserialize)]
pub(super) struct After {
    /// The last event that the page knows of.
    #[serde(default)]
    after: u64,
}

/// Follows the journal for as long as the page listens.
pub(super) async fn follow(page: web::Data<Page>, after: web::Query<After>) -> HttpResponse {
    let (messages, body) = mpsc::channel::<Result<web::Bytes, Infallible>>(MESSAGES_MAX);
    actix_web::rt::spawn(send_changes(page, after.after, messages));
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(ReceiverStream::new(body))
}

async fn send_changes(
    page: web::Data<Page>,
    mut known: u64,
    messages: mpsc::Sender<Result<web::Bytes, Infallible>>,
) {
    let mut grown = page.grown.subscribe();
    loop {
        let mut pause = PAUSE;
        // The borrow ends at once: while it lasts, the journal cannot report new events.
        let changed = tokio::time::timeout(SIGN_EVERY, async {
            grown.wait_for(|last| *last > known).await.map(drop)
        })
        .await;
        let message = match changed {
            Ok(Ok(())) => {
                let (shared, reader) = (Arc::clone(&page.shared), Arc::clone(&page.reader));
                let began = Instant::now();
                let changes = web::block(move || changes(&shared, &reader.known, known)).await;
                pause = pause.max(began.elapsed() * REST);
                match changes {
                    Ok(Ok((seq, message))) => {
                        known = seq;
                        message + "\n"
                    }
                    _ => return,
                }
            }
            Ok(Err(_)) => return,
            Err(_) => "\n".to_owned(),
        };
        if messages.send(Ok(web::Bytes::from(message))).await.is_err() {
            return;
        }
        page.hears();
        tokio::time::sleep(pause).await;
    }
}

/// Returns the journal's last event, and the sessions changed since `known`.
fn changes(shared: &Shared, looked: &Known, known: u64) -> query::Result<(u64, String)> {
    let last = shared.journal.settle()?;
    let mut sessions: Vec<Uuid> = Vec::new();
    let mut is_whole = last.saturating_sub(known) <= EVENTS_MAX;
    if is_whole {
        for envelope in shared.journal.events_from(known + 1) {
            let stream = envelope?.stream;
            if stream.agent.is_agent() && !sessions.contains(&stream.session) {
                sessions.push(stream.session);
            }
        }
        is_whole = sessions.len() <= SESSIONS_MAX;
    }
    if !is_whole {
        return Ok((last, json!({ "seq": last, "everything": true }).to_string()));
    }
    let now = sessions_now::now(
        &shared.journal,
        &shared.config(),
        &shared.trust(),
        looked,
        &Which::These(sessions),
    )?;
    let message = SessionsNow { seq: last, ..now };
    let message = serde_json::to_string(&message).expect("rows are plain data");
    Ok((last, message))
}
