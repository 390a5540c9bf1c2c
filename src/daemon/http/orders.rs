//! Orders for one session: `POST /sessions/{id}/{clear,mute,unmute,wrong,pane,agent-restart}`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::Shared;
use actors::restart::{Refusal, RestartAgent, Restarted};
use journal::SessionEntry;
use serde::Deserialize;
use serde_json::{Value, json};

use super::state::Api;
use crate::daemon::http::answers::refuse;
use crate::ops::orders::{Author, Order, View, carry_out};
use crate::ops::query;

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route(
            "/sessions/{id}/{word:clear|mute|unmute|wrong|pane}",
            web::post().to(give),
        )
        .route("/sessions/{id}/agent-restart", web::post().to(restart));
}

/// The view that an order came from; none for a command.
#[derive(Deserialize)]
struct From {
    by: Option<View>,
}

async fn give(
    api: web::Data<Api>,
    path: web::Path<(String, String)>,
    from: web::Query<From>,
    body: web::Bytes,
) -> HttpResponse {
    let body = match &body[..] {
        [] => Ok(json!({})),
        body => serde_json::from_slice(body),
    };
    match body {
        Ok(body) => order(&api.shared, &path, body, from.by.map(|by| Author { by })).await,
        Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

/// Carries an order for a session out, and answers with the event that it made. `by` is journaled with it.
pub(crate) async fn order(
    shared: &Arc<Shared>,
    (session, word): &(String, String),
    body: Value,
    by: Option<Author>,
) -> HttpResponse {
    let order = match Order::read(word, body) {
        Ok(order) => order,
        Err(failure) => return refuse(StatusCode::BAD_REQUEST, &failure.text()),
    };
    let (journal, session) = (shared.journal.clone(), session.clone());
    match web::block(move || carry_out(&journal, &session, &order, by)).await {
        Ok(Ok(Ok(done))) => HttpResponse::Ok().json(done),
        Ok(Ok(Err(why))) => refuse(StatusCode::CONFLICT, &why),
        Ok(Err(error @ query::Error::NotFound(_))) => {
            refuse(StatusCode::NOT_FOUND, &error.to_string())
        }
        Ok(Err(error)) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

/// Restarts an agent. 200 once its resume command runs, otherwise 409 with a reason word.
async fn restart(api: web::Data<Api>, id: web::Path<String>) -> HttpResponse {
    let entry = match find(&api.shared, &id).await {
        Ok(entry) => entry,
        Err(refusal) => return refusal,
    };
    let answer = |own: Value| {
        let mut answer = json!({
            "session": entry.stream.session,
            "native_session": entry.stream.native(),
            "agent": entry.stream.agent,
        });
        for (name, value) in own.as_object().into_iter().flatten() {
            answer[name] = value.clone();
        }
        answer
    };
    let restarted = match &api.actors {
        Some(actors) => {
            let asked = actors.restarts.send(RestartAgent(entry.stream.clone()));
            asked.await.unwrap_or(Err(Refusal::Failed))
        }
        None => Err(Refusal::Failed),
    };
    match restarted {
        Ok(Restarted { seq, due }) => HttpResponse::Ok().json(answer(
            json!({ "did": "agent_restarted", "due": due, "seq": seq }),
        )),
        Err(refusal) => HttpResponse::Conflict().json(answer(
            json!({ "error": refusal.to_string(), "reason": refusal.word() }),
        )),
    }
}

/// Resolves the session in a path.
async fn find(shared: &Shared, session: &str) -> std::result::Result<SessionEntry, HttpResponse> {
    // Includes events acknowledged a moment ago.
    if let Err(error) = shared.settle().await {
        return Err(refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()));
    }
    query::find_session(&shared.journal, session)
        .map_err(|error| refuse(StatusCode::NOT_FOUND, &error.to_string()))
}
