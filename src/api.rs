//! The HTTP interface on the socket. Hooks come in here, and everything that the command line asks.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use actix::Addr;
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use actors::Shared;
use actors::ingest::{self, AcceptHook, Accepted, Ingest, Refusal};
use actors::registry::{CountAwake, SessionRegistry};
use actors::restart::Restarts;
use actors::spool;
use checkpoint::hooks::HookCall;
use journal::{Agent, Timestamp, request};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio_stream::wrappers::ReceiverStream;
use uuid::Uuid;

use crate::live::{self, Wanted};
use crate::otlp::Otlp;
use crate::query::{self, Query, Reader};
use crate::{control, metrics, phase, progress, settings, upkeep, web as page};

/// The largest hook payload; the client cuts at 64 MB.
const BODY_BYTES_MAX: usize = 66 * 1024 * 1024;
/// Payloads larger than this are read on a thread of their own.
const INLINE_BYTES_MAX: usize = 256 * 1024;
/// Lines of an answer go out together once they have so many bytes, or have waited so long.
const BLOCK_BYTES: usize = 32 * 1024;
const BLOCK_WAIT: Duration = Duration::from_millis(50);
/// Blocks of lines that wait for a slow reader.
const BLOCKS_MAX: usize = 16;
/// A stop is answered this much earlier than its caller gives up.
const REPLY_MARGIN: Duration = Duration::from_millis(150);

/// What the routes share.
pub(crate) struct Api {
    /// What the actors share.
    pub(crate) shared: Arc<Shared>,
    /// Who answers questions.
    pub(crate) reader: Arc<Reader>,
    /// The sessions.
    pub(crate) sessions: Addr<SessionRegistry>,
    /// Where hook calls go.
    pub(crate) ingest: Addr<Ingest>,
    /// Who restarts agents.
    pub(crate) restarts: Addr<Restarts>,
    /// The spool is empty and hooks are taken.
    pub(crate) ready: watch::Sender<bool>,
    /// Tells the daemon to stop.
    pub(crate) stop: Notify,
    /// When the daemon came up.
    pub(crate) began: Instant,
    /// What recovery found.
    pub(crate) recovery: Vec<String>,
    /// What is wrong with the configuration.
    pub(crate) config_error: RwLock<Option<String>>,
    /// Who tells a collector.
    pub(crate) otlp: Arc<Otlp>,
}

impl Api {
    /// Reads the configuration again.
    pub(crate) fn reload(&self) {
        let error = match settings::load(&self.shared.home.config) {
            Ok(config) if config == *self.shared.config() => None,
            Ok(config) => {
                self.shared.set_config(config);
                self.otlp.settings_changed();
                tracing::info!("The configuration was read again.");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "The configuration was not used; the one before holds.");
                Some(error.to_string())
            }
        };
        *self
            .config_error
            .write()
            .unwrap_or_else(PoisonError::into_inner) = error;
    }
}

/// Sets up the routes.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
        .route("/healthz", web::get().to(health))
        .route("/v1/hooks/{agent}", web::post().to(hook))
        .route("/v1/append", web::post().to(append))
        .route("/v1/query", web::post().to(ask))
        .route("/v1/sessions", web::get().to(sessions))
        .route("/v1/sessions/{id}", web::get().to(session))
        .route("/v1/decisions", web::get().to(decisions))
        .route("/v1/events", web::get().to(events))
        .route("/v1/now", web::get().to(now))
        .route("/v1/status", web::get().to(status))
        .route("/v1/shutdown", web::post().to(shutdown))
        .configure(upkeep::routes)
        .configure(metrics::routes)
        .configure(page::control::routes)
        .configure(control::routes)
        .configure(phase::routes)
        .configure(progress::routes);
}

pub(crate) fn refuse(status: StatusCode, reason: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "error": reason }))
}

async fn health(api: web::Data<Api>) -> HttpResponse {
    let ready = *api.ready.borrow();
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    HttpResponse::build(status).json(json!({
        "ok": ready,
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "uptime_ms": u64::try_from(api.began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
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

/// One line of `journal append`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    /// The agent's word.
    pub(crate) agent: String,
    /// The payload.
    pub(crate) payload: Value,
    /// The event's name, where the payload has none.
    #[serde(default)]
    pub(crate) event: Option<String>,
    /// When it happened.
    #[serde(default)]
    pub(crate) at: Option<Timestamp>,
    /// The call's id.
    #[serde(default)]
    pub(crate) id: Option<Uuid>,
    /// Hook-relevant environment variables.
    #[serde(default)]
    pub(crate) env: serde_json::Map<String, Value>,
    /// What a recording hook answered; of no use here.
    #[serde(default, rename = "hook_replied")]
    _hook_replied: Option<Value>,
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// A sentence on what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("not a line of hook calls: {error}"))
    }

    fn into_call(self) -> Call {
        let payload = self.payload.to_string();
        let env: Value = self.env.into();
        Call {
            id: self.id.unwrap_or_else(Uuid::now_v7),
            at: self.at.unwrap_or_else(Timestamp::now),
            env: spool::read_env(&env.to_string()),
            truncated: false,
            body: web::Bytes::from(payload),
            agent: self.agent,
            event: self.event,
        }
    }
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
        let outcome = match Line::read(line) {
            Ok(line) => match take(&api, line.into_call(), None).await {
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

/// Answers a question line by line, as fast as the asker reads.
async fn ask(api: web::Data<Api>, query: web::Json<Query>) -> HttpResponse {
    stream_answer(&api.reader, query.into_inner(), ())
}

/// Answers a question as [`ask`] does, and holds on to `permit` until it is answered.
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
            let kind = if matches!(error, query::Error::NotFound(_)) {
                "not_found"
            } else {
                "journal"
            };
            add(
                &mut block,
                &json!({ "error": { "kind": kind, "text": error.to_string() } }),
            );
        }
        if !block.is_empty() {
            send(&mut block);
        }
    });
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(ReceiverStream::new(answer))
}

fn add(block: &mut Vec<u8>, line: &Value) {
    serde_json::to_writer(&mut *block, line).expect("memory takes all that is written");
    block.push(b'\n');
}

/// Answers a question as one JSON document: an array, or the one object there is.
pub(crate) async fn ask_whole(reader: &Arc<Reader>, query: Query, one: bool) -> HttpResponse {
    let reader = Arc::clone(reader);
    let answered = web::block(move || {
        let mut lines = Vec::new();
        let result = reader.answer(&query, &mut |line| {
            lines.push(line);
            true
        });
        result.map(|()| lines)
    });
    match answered.await {
        Ok(Ok(lines)) if one => HttpResponse::Ok().json(lines.into_iter().next()),
        Ok(Ok(lines)) => HttpResponse::Ok().json(lines),
        Ok(Err(error @ query::Error::NotFound(_))) => {
            refuse(StatusCode::NOT_FOUND, &error.to_string())
        }
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

async fn sessions(api: web::Data<Api>) -> HttpResponse {
    ask_whole(&api.reader, Query::Sessions, false).await
}

async fn session(api: web::Data<Api>, id: web::Path<String>) -> HttpResponse {
    ask_whole(
        &api.reader,
        Query::State {
            session: id.into_inner(),
            seq: None,
            time: None,
        },
        true,
    )
    .await
}

async fn decisions(api: web::Data<Api>, filter: web::Query<query::Audit>) -> HttpResponse {
    ask_whole(&api.reader, Query::Audit(filter.into_inner()), false).await
}

async fn events(api: web::Data<Api>, wanted: web::Query<query::Events>) -> HttpResponse {
    ask_whole(&api.reader, Query::Events(wanted.into_inner()), false).await
}

/// How many sessions are wanted.
#[derive(Deserialize)]
pub(crate) struct Shown {
    /// All of them, not only those heard of last.
    #[serde(default)]
    all: bool,
    /// The last event that the asker knows of.
    known: Option<u64>,
}

async fn now(api: web::Data<Api>, shown: web::Query<Shown>) -> HttpResponse {
    answer_now(&api.shared, &shown).await
}

/// Says how sessions stand, what waits for a person first; `null` where nothing has happened since the event that the
/// asker knows of.
pub(crate) async fn answer_now(shared: &Arc<Shared>, shown: &Shown) -> HttpResponse {
    if shown
        .known
        .is_some_and(|known| known == shared.journal.last_seq())
    {
        return HttpResponse::Ok().json(Value::Null);
    }
    let wanted = Wanted::Newest(if shown.all { usize::MAX } else { live::SHOWN });
    let shared = Arc::clone(shared);
    match web::block(move || live::now(&shared.journal, &shared.config(), &wanted)).await {
        Ok(Ok(now)) => HttpResponse::Ok().json(now),
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

/// What only a running daemon can tell.
async fn status(api: web::Data<Api>) -> HttpResponse {
    let counters = &api.shared.counters;
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let config_error = api
        .config_error
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    HttpResponse::Ok().json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "uptime_ms": u64::try_from(api.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "ready": *api.ready.borrow(),
        "awake": api.sessions.send(CountAwake).await.unwrap_or(0),
        "rejected": count(&counters.rejected),
        "overloaded": count(&counters.overloaded),
        "unspooled": count(&counters.unspooled),
        "duplicates": count(&counters.duplicates),
        "restarted": count(&counters.restarted),
        "recovery": api.recovery,
        "config_error": config_error,
        "otlp_error": api.otlp.trouble(),
        "degraded": api.shared.troubles(),
    }))
}

async fn shutdown(api: web::Data<Api>) -> HttpResponse {
    api.stop.notify_one();
    HttpResponse::Ok().json(json!({ "ok": true }))
}
