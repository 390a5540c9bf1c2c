//! `POST /v1/hooks/{agent}` and `POST /v1/append`: hook calls, one or many.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use actors::ingest::{self, AcceptHook, Accepted, Refusal};
use actors::spool;
use checkpoint::hooks::HookCall;
use journal::{Agent, Timestamp, request};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::state::Api;
use crate::daemon::answers::refuse;
use crate::ops::wire::HookLine;

/// The largest hook payload; the client cuts at 64 MB.
const BODY_BYTES_MAX: usize = 66 * 1024 * 1024;
/// Payloads larger than this are read on a thread of their own.
const INLINE_BYTES_MAX: usize = 256 * 1024;
/// A stop is answered this much earlier than its caller gives up.
const REPLY_MARGIN: Duration = Duration::from_millis(150);

/// Sets up the routes.
pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
        .route("/v1/hooks/{agent}", web::post().to(hook))
        .route("/v1/append", web::post().to(append));
}

async fn hook(
    api: web::Data<Api>,
    request: HttpRequest,
    agent: web::Path<String>,
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
    // What was spooled comes before anything newer. Who gives up meanwhile spools the same call, which changes nothing.
    let mut ready = api.ready.subscribe();
    if tokio::time::timeout(wait, ready.wait_for(|ready| *ready))
        .await
        .is_err()
    {
        return refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "the spool is being taken in: spool, or come again",
        );
    }
    let header = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let call = Call {
        agent: agent.into_inner(),
        event: header(request::EVENT),
        id: header(request::ID)
            .and_then(|id| id.parse().ok())
            .unwrap_or_else(Uuid::now_v7),
        at: header(request::AT)
            .and_then(|at| at.parse().ok())
            .unwrap_or_else(Timestamp::now),
        env: header(request::ENV)
            .map(|env| spool::read_env(&env))
            .unwrap_or_default(),
        truncated: header(request::TRUNCATED).is_some(),
        body,
    };
    match take(&api, call, Some(wait.saturating_sub(began.elapsed()))).await {
        Ok(taken) if taken.reply.is_empty() => HttpResponse::Ok().finish(),
        Ok(taken) => HttpResponse::Ok()
            .content_type("application/json")
            .body(taken.reply),
        Err(Refusal::Payload(reason)) => refuse(StatusCode::BAD_REQUEST, &reason),
        Err(Refusal::Overloaded) => refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many calls wait: spool, or come again",
        ),
    }
}

/// A hook call as it came over the socket.
struct Call {
    agent: String,
    event: Option<String>,
    id: Uuid,
    at: Timestamp,
    env: Vec<(String, String)>,
    truncated: bool,
    body: web::Bytes,
}

impl From<HookLine> for Call {
    fn from(line: HookLine) -> Self {
        let payload = line.payload.to_string();
        let env: Value = line.env.into();
        Self {
            id: line.id.unwrap_or_else(Uuid::now_v7),
            at: line.at.unwrap_or_else(Timestamp::now),
            env: spool::read_env(&env.to_string()),
            truncated: false,
            body: web::Bytes::from(payload),
            agent: line.agent,
            event: line.event,
        }
    }
}

async fn take(api: &Api, call: Call, waits: Option<Duration>) -> Result<Accepted, Refusal> {
    let Some(agent) = Agent::host(&call.agent) else {
        let problem = format!(
            "no agent is called `{}`: claude, gemini and codex are known",
            call.agent
        );
        ingest::reject(
            &api.shared,
            &call.agent,
            call.event.as_deref(),
            &call.body,
            call.id,
            &problem,
        )
        .await?;
        return Err(Refusal::Payload(problem));
    };
    let shared = Arc::clone(&api.shared);
    let large = call.body.len() > INLINE_BYTES_MAX;
    let read = async move {
        let hook = HookCall {
            agent,
            event: call.event.as_deref(),
            payload: &call.body,
            at: call.at,
            id: call.id,
            env: call.env,
            truncated: call.truncated,
        };
        ingest::normalise(&shared, &call.agent, &hook).await
    };
    let normal = if large {
        // A payload of many megabytes takes longer to read than others may wait.
        let handle = tokio::runtime::Handle::current();
        let read = tokio::task::spawn_blocking(move || handle.block_on(read));
        read.await.map_err(|_| Refusal::Overloaded)??
    } else {
        read.await?
    };
    let (outcome, taken) = oneshot::channel();
    api.ingest
        .try_send(AcceptHook {
            normal,
            waits,
            outcome,
        })
        .map_err(|_| Refusal::Overloaded)?;
    taken.await.map_err(|_| Refusal::Overloaded)?
}

/// Appends lines of hook calls, in order, and answers each with its outcome.
async fn append(api: web::Data<Api>, body: web::Bytes) -> HttpResponse {
    let text = String::from_utf8_lossy(&body);
    let mut answers = String::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let outcome = match HookLine::read(line) {
            Ok(line) => match take(&api, Call::from(line), None).await {
                Ok(taken) => {
                    json!({ "line": number + 1, "seq": taken.seq, "duplicate": taken.duplicate })
                }
                Err(Refusal::Payload(reason)) => json!({ "line": number + 1, "error": reason }),
                Err(Refusal::Overloaded) => {
                    json!({ "line": number + 1, "error": "the journal takes no more for now" })
                }
            },
            Err(reason) => json!({ "line": number + 1, "error": reason }),
        };
        answers.push_str(&outcome.to_string());
        answers.push('\n');
    }
    let _ = api.shared.sync().await;
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .body(answers)
}
