//! `POST /v1/hooks/{agent}` and `POST /v1/append`: hook calls, one or many.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use actors::hook_headers::HookHeaders;
use actors::ingest::{self, AcceptHook, Accepted, Refusal};
use actors::spool;
use checkpoint::hooks::Normal;
use journal::{Agent, Event, Timestamp};
use tokio::sync::oneshot;

use super::connections::Peer;
use super::state::Api;
use crate::daemon::http::answers::refuse;
use crate::ops::wire::{self, HookLine};

/// The largest hook payload; the client cuts at 64 MB.
const BODY_BYTES_MAX: usize = 66 * 1024 * 1024;
/// How much earlier than the caller's deadline a stop is answered.
const REPLY_MARGIN: Duration = Duration::from_millis(150);

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config.app_data(web::PayloadConfig::new(BODY_BYTES_MAX));
    // A fixed path is compared; one with a part that varies is matched by a regular expression, which takes longer than
    // reading the request.
    for agent in Agent::HOSTS {
        let known = move |api, request, body| take(api, request, agent.word().to_owned(), body);
        let path = format!("/v1/hooks/{}", agent.word());
        config.service(web::resource(path).post(known));
    }
    config
        .route("/v1/hooks/{agent}", web::post().to(hook))
        .route("/v1/append", web::post().to(append));
}

/// A hook call of an agent that the configuration describes, or of none.
async fn hook(
    api: web::Data<Api>,
    request: HttpRequest,
    agent: web::Path<String>,
    body: Result<web::Bytes, actix_web::Error>,
) -> HttpResponse {
    take(api, request, agent.into_inner(), body).await
}

async fn take(
    api: web::Data<Api>,
    request: HttpRequest,
    agent: String,
    body: Result<web::Bytes, actix_web::Error>,
) -> HttpResponse {
    let body = match body {
        Ok(body) => body,
        Err(error) if error.as_response_error().status_code() == StatusCode::PAYLOAD_TOO_LARGE => {
            return refuse(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the payload is over {BODY_BYTES_MAX} bytes"),
            );
        }
        Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let wait = Duration::from_millis(api.shared.config().settings.hooks.stop_wait.as_millis())
        .saturating_sub(REPLY_MARGIN);
    let began = Instant::now();
    // Spooled calls come before newer ones. A client that gives up meanwhile spools the same call,
    // which is deduplicated.
    if !*api.ready.borrow() {
        let mut ready = api.ready.subscribe();
        let ready = tokio::time::timeout(wait, ready.wait_for(|ready| *ready));
        if ready.await.is_err() {
            return refuse(
                StatusCode::SERVICE_UNAVAILABLE,
                "the spool is being imported: spool the call, or retry",
            );
        }
    }
    let header = |name: &str| request.headers().get(name)?.to_str().ok();
    let headers = HookHeaders::read(&agent, header);
    // A client that missed the daemon may have spooled since then.
    if let Some(actors) = &api.actors {
        let (ingest, until) = (&actors.ingest, began + wait);
        if !spool::catch_up(&api.shared, ingest, headers.at, until).await {
            return overloaded();
        }
    }
    let waits = Some(wait.saturating_sub(began.elapsed()));
    let peer = request.conn_data::<Rc<Peer>>().cloned();
    let gone = async move {
        match peer {
            Some(peer) => peer.gone().await,
            None => std::future::pending().await,
        }
    };
    match accept_hook(&api, headers, body, waits, gone).await {
        Ok(accepted) if accepted.reply.is_empty() => HttpResponse::Ok().finish(),
        Ok(accepted) => HttpResponse::Ok()
            .content_type("application/json")
            .body(accepted.reply),
        Err(Refusal::Payload(reason)) => refuse(StatusCode::BAD_REQUEST, &reason),
        Err(Refusal::Overloaded) => overloaded(),
    }
}

fn overloaded() -> HttpResponse {
    refuse(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many calls wait: spool the call, or retry",
    )
}

/// Parses and appends a hook call, and returns the reply. `waits` is how long the caller waits for
/// a stop's reply, and `gone` ends when it no longer waits.
async fn accept_hook(
    api: &Api,
    headers: HookHeaders,
    payload: web::Bytes,
    waits: Option<Duration>,
    gone: impl Future<Output = ()>,
) -> Result<Accepted, Refusal> {
    let normal = ingest::read_call(&api.shared, headers, payload).await?;
    let outcome = hand_over(api, normal, waits)?;
    // The call is on its way into the journal, even if its caller has gone.
    tokio::select! {
        accepted = outcome_of(outcome) => accepted,
        () = gone => Err(Refusal::Overloaded),
    }
}

/// The outcome of a call that was handed over.
type Outcome = oneshot::Receiver<Result<Accepted, Refusal>>;

/// Hands a call over to be appended. Calls are appended in the order in which they are handed over.
fn hand_over(api: &Api, normal: Normal, waits: Option<Duration>) -> Result<Outcome, Refusal> {
    let (outcome, accepted) = oneshot::channel();
    let call = AcceptHook {
        normal,
        waits,
        outcome,
    };
    let actors = api.actors.as_ref().ok_or(Refusal::Overloaded)?;
    let handed = actors.ingest.try_send(call);
    handed.map_err(|_| Refusal::Overloaded)?;
    Ok(accepted)
}

async fn outcome_of(outcome: Outcome) -> Result<Accepted, Refusal> {
    outcome.await.map_err(|_| Refusal::Overloaded)?
}

/// Lines that are appended at the same time. Fewer than may wait for the journal.
const LINES_AT_ONCE: usize = 64;

/// Appends lines of hook calls in order, and returns one outcome a line.
async fn append(api: web::Data<Api>, body: web::Bytes) -> HttpResponse {
    let body = String::from_utf8_lossy(&body);
    let mut answers = String::new();
    let mut answer = |line, end| answers += &format!("{}\n", wire::appended(line, end));
    let mut waiting = VecDeque::new();
    for (number, text) in body
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let read = read_line(&api, text).await;
        // What is decided about a stop must not know what came after it.
        let is_stop = |normal: &Normal| matches!(normal.draft.event, Event::AgentStopped { .. });
        let is_alone = read.as_ref().is_ok_and(is_stop);
        let at_once = if is_alone { 1 } else { LINES_AT_ONCE };
        while waiting.len() >= at_once
            && let Some((line, outcome)) = waiting.pop_front()
        {
            answer(line, appended(outcome).await);
        }
        let handed = read.and_then(|normal| hand_over(&api, normal, None).map_err(said));
        waiting.push_back((number + 1, handed));
        while is_alone && let Some((line, outcome)) = waiting.pop_front() {
            answer(line, appended(outcome).await);
        }
    }
    for (line, outcome) in waiting {
        answer(line, appended(outcome).await);
    }
    let _ = api.shared.sync().await;
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .body(answers)
}

async fn read_line(api: &Api, text: &str) -> Result<Normal, String> {
    let line = HookLine::read(text)?;
    let payload = line.payload.get().to_owned();
    let read = ingest::read_call(&api.shared, line.headers(Timestamp::now()), payload);
    read.await.map_err(said)
}

async fn appended(outcome: Result<Outcome, String>) -> Result<(u64, bool), String> {
    let accepted = outcome_of(outcome?).await.map_err(said)?;
    Ok((accepted.seq, accepted.duplicate))
}

fn said(refusal: Refusal) -> String {
    match refusal {
        Refusal::Payload(reason) => reason,
        Refusal::Overloaded => "the journal is overloaded".to_owned(),
    }
}
