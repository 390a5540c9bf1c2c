//! Server-sent events: which sessions have changed, and how they stand now.
//!
//! A page that reads slowly makes only its own task wait. What happens meanwhile is not kept for it: it gets the state
//! that holds once it reads again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::{HttpRequest, HttpResponse, web};
use actors::Shared;
use journal::Agent;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use uuid::Uuid;

use super::page::Page;
use crate::ops::query;
use crate::ops::sessions_now::{self, SessionsNow, Wanted};

/// The shortest time between two messages; what happens within it shares one.
const PAUSE: Duration = Duration::from_millis(200);
/// So many times as long as it took to make a message, before the next one: most of the time belongs to others.
const REST: u32 = 4;
/// A sign of life for whoever else would take the silence for an end.
const SIGN_EVERY: Duration = Duration::from_secs(15);
/// Messages that wait for a slow reader.
const MESSAGES_MAX: usize = 2;
/// Events that are looked at for one message; after more, the page reads everything anew.
const EVENTS_MAX: u64 = 2_000;
/// Sessions in one message; of more, the page reads everything anew.
const SESSIONS_MAX: usize = 64;

#[derive(Deserialize)]
pub(super) struct After {
    /// The last event that the page knows of.
    #[serde(default)]
    after: u64,
}

/// Follows the journal for as long as the page listens.
pub(super) async fn follow(
    page: web::Data<Page>,
    request: HttpRequest,
    after: web::Query<After>,
) -> HttpResponse {
    // A browser that connects again says what it got last.
    let last = request
        .headers()
        .get("last-event-id")
        .and_then(|id| id.to_str().ok()?.parse().ok());
    let (messages, body) = mpsc::channel::<Result<web::Bytes, Infallible>>(MESSAGES_MAX);
    actix_web::rt::spawn(send_changes(page, last.unwrap_or(after.after), messages));
    HttpResponse::Ok()
        .content_type("text/event-stream")
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
        // What is waited for is let go of at once: while somebody holds it, the journal cannot tell of more.
        let changed = tokio::time::timeout(SIGN_EVERY, async {
            grown.wait_for(|last| *last > known).await.map(drop)
        })
        .await;
        let message = match changed {
            Ok(Ok(())) => {
                let (shared, began) = (Arc::clone(&page.shared), Instant::now());
                let changes = web::block(move || changes(&shared, known)).await;
                pause = pause.max(began.elapsed() * REST);
                match changes {
                    Ok(Ok((seq, message))) => {
                        known = seq;
                        format!("id: {seq}\ndata: {message}\n\n")
                    }
                    _ => return,
                }
            }
            Ok(Err(_)) => return,
            Err(_) => ":\n\n".to_owned(),
        };
        if messages.send(Ok(web::Bytes::from(message))).await.is_err() {
            return;
        }
        tokio::time::sleep(pause).await;
    }
}

/// Returns the journal's last event, and what has changed since another one.
fn changes(shared: &Shared, known: u64) -> query::Result<(u64, String)> {
    let last = shared.journal.settle()?;
    let mut sessions: Vec<Uuid> = Vec::new();
    let mut is_whole = last.saturating_sub(known) <= EVENTS_MAX;
    if is_whole {
        for envelope in shared.journal.events_from(known + 1) {
            let stream = envelope?.stream;
            if stream.agent != Agent::Daemon && !sessions.contains(&stream.session) {
                sessions.push(stream.session);
            }
        }
        is_whole = sessions.len() <= SESSIONS_MAX;
    }
    if !is_whole {
        return Ok((last, json!({ "seq": last, "everything": true }).to_string()));
    }
    let now = sessions_now::now(&shared.journal, &shared.config(), &Wanted::These(sessions))?;
    let message = SessionsNow { seq: last, ..now };
    let message = serde_json::to_string(&message).expect("rows are plain data");
    Ok((last, message))
}
