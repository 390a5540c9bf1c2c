//! What people order of one session: let its next stop pass, switch it off, switch it on, restart its agent. An order is an
//! event like any other; the daemon journals it, and without a daemon the command does. Only a restart needs the daemon.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::restart::{Refusal, RestartAgent, Restarted};
use checkpoint::config::parse_duration;
use journal::{Draft, Event, Journal, SessionEntry, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::{Api, refuse};
use crate::failure::{Failure, Result};
use crate::query;

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Let the next stop pass (001 inv 9).
    Clear,
    /// Switch it off: for so long, or for good.
    Mute(Option<Duration>),
    /// Switch it on again.
    Unmute,
}

impl Order {
    /// Reads how long a mute is to last.
    ///
    /// # Errors
    ///
    /// When that is no duration, or none at all.
    pub(crate) fn mute(period: Option<&str>) -> Result<Self> {
        let Some(period) = period else {
            return Ok(Self::Mute(None));
        };
        match parse_duration(period) {
            Ok(Duration::ZERO) => Err(Failure::usage("a mute of no length changes nothing")
                .hint("end one with `checkpointd unmute`")),
            Ok(period) => Ok(Self::Mute(Some(period))),
            Err(problem) => Err(Failure::usage(problem)),
        }
    }

    /// Returns the word of the path that takes the order.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Mute(_) => "mute",
            Self::Unmute => "unmute",
        }
    }

    /// Returns what the path takes.
    pub(crate) fn body(&self) -> Vec<u8> {
        let period = if let Self::Mute(Some(period)) = self {
            Some(format!("{}ms", period.as_millis()))
        } else {
            None
        };
        serde_json::to_vec(&MuteBody { period }).expect("plain data")
    }

    fn event(&self, now: Timestamp) -> Event {
        match self {
            Self::Clear => Event::CheckpointCleared {},
            Self::Mute(period) => Event::Muted {
                until: period.map(|period| now.plus(period)),
            },
            Self::Unmute => Event::Unmuted {},
        }
    }
}

/// Returns the event that an order makes. Two orders are two events, however alike they are.
fn draft(entry: &SessionEntry, order: &Order) -> Draft {
    let at = Timestamp::now();
    Draft {
        stream: entry.stream.clone(),
        at,
        id: Uuid::now_v7(),
        event: order.event(at),
        payload: None,
    }
}

/// Says what was done, as the machine interface does.
fn answer(entry: &SessionEntry, event: &Event, seq: u64) -> Value {
    let until = if let Event::Muted { until } = event {
        *until
    } else {
        None
    };
    json!({
        "session": entry.stream.session,
        "native_session": entry.stream.native(),
        "agent": entry.stream.agent,
        "did": event.kind(),
        "until": until,
        "seq": seq,
    })
}

/// Carries an order out on the journal itself, where no daemon runs.
///
/// # Errors
///
/// When there is no such session, or the journal cannot be written.
pub(crate) fn carry_out(journal: &Journal, session: &str, order: &Order) -> query::Result<Value> {
    let entry = query::find_session(journal, session)?;
    let draft = draft(&entry, order);
    let event = draft.event.clone();
    let appended = journal.append_wait(vec![draft])?;
    Ok(answer(
        &entry,
        &event,
        appended.first().map_or(0, |own| own.seq),
    ))
}

/// Sets up the routes.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/sessions/{id}/clear", web::post().to(clear))
        .route("/sessions/{id}/mute", web::post().to(mute))
        .route("/sessions/{id}/unmute", web::post().to(unmute))
        .route("/sessions/{id}/agent-restart", web::post().to(restart));
}

/// How long a session is to be muted.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MuteBody {
    /// A duration; none is for good.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    period: Option<String>,
}

async fn clear(api: web::Data<Api>, id: web::Path<String>) -> HttpResponse {
    order(&api, &id, &Order::Clear).await
}

async fn unmute(api: web::Data<Api>, id: web::Path<String>) -> HttpResponse {
    order(&api, &id, &Order::Unmute).await
}

async fn mute(api: web::Data<Api>, id: web::Path<String>, body: web::Bytes) -> HttpResponse {
    let body = if body.is_empty() {
        Ok(MuteBody::default())
    } else {
        serde_json::from_slice(&body)
    };
    let read = body
        .map_err(Failure::usage)
        .and_then(|body: MuteBody| Order::mute(body.period.as_deref()));
    match read {
        Ok(mute) => order(&api, &id, &mute).await,
        Err(failure) => refuse(StatusCode::BAD_REQUEST, failure.text().as_str()),
    }
}

async fn order(api: &Api, session: &str, order: &Order) -> HttpResponse {
    let entry = match find(api, session).await {
        Ok(entry) => entry,
        Err(refusal) => return refusal,
    };
    let draft = draft(&entry, order);
    let event = draft.event.clone();
    match api.shared.append_and_settle(vec![draft]).await {
        Ok(appended) => HttpResponse::Ok().json(answer(
            &entry,
            &event,
            appended.first().map_or(0, |own| own.seq),
        )),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

/// Restarts an agent. 200 once its resume command runs, 409 with a word where it was not restarted.
async fn restart(api: web::Data<Api>, id: web::Path<String>) -> HttpResponse {
    let entry = match find(&api, &id).await {
        Ok(entry) => entry,
        Err(refusal) => return refusal,
    };
    let mut answer = json!({
        "session": entry.stream.session,
        "native_session": entry.stream.native(),
        "agent": entry.stream.agent,
    });
    match api
        .restarts
        .send(RestartAgent(entry.stream))
        .await
        .unwrap_or(Err(Refusal::Failed))
    {
        Ok(Restarted { seq, due }) => {
            answer["did"] = "agent_restarted".into();
            answer["due"] = json!(due);
            answer["seq"] = seq.into();
            HttpResponse::Ok().json(answer)
        }
        Err(refusal) => {
            answer["error"] = refusal.to_string().into();
            answer["reason"] = refusal.word().into();
            HttpResponse::Conflict().json(answer)
        }
    }
}

/// Finds the session that a path names.
async fn find(api: &Api, session: &str) -> std::result::Result<SessionEntry, HttpResponse> {
    // What was acknowledged a moment ago can be named.
    if let Err(error) = api.shared.settle().await {
        return Err(refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()));
    }
    query::find_session(&api.shared.journal, session)
        .map_err(|error| refuse(StatusCode::NOT_FOUND, &error.to_string()))
}
