//! Orders for one session: `POST /sessions/{id}/{clear,mute,unmute,wrong,pane,agent-restart}`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::restart::{Refusal, RestartAgent, Restarted};
use actors::{Shared, session_state};
use journal::SessionEntry;
use serde::Deserialize;

use super::state::Api;
use crate::daemon::http::answers::refuse;
use crate::ops::orders::{
    Author, MuteBody, Order, Ordered, RestartAnswer, RestartOutcome, View, answer, draft,
};
use crate::ops::query;

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/sessions/{id}/clear", web::post().to(clear))
        .route("/sessions/{id}/mute", web::post().to(mute))
        .route("/sessions/{id}/wrong", web::post().to(wrong))
        .route("/sessions/{id}/unmute", web::post().to(unmute))
        .route("/sessions/{id}/pane", web::post().to(pane))
        .route("/sessions/{id}/agent-restart", web::post().to(restart));
}

/// The view that an order came from; none for a command.
#[derive(Deserialize)]
struct From {
    by: Option<View>,
}

impl From {
    fn author(&self) -> Option<Author> {
        self.by.map(|by| Author { by })
    }
}

type Asked = (web::Data<Api>, web::Path<String>, web::Query<From>);

async fn clear((api, id, from): Asked) -> HttpResponse {
    order(&api.shared, &id, &Order::Clear, from.author()).await
}

async fn unmute((api, id, from): Asked) -> HttpResponse {
    order(&api.shared, &id, &Order::Unmute, from.author()).await
}

async fn pane((api, id, from): Asked) -> HttpResponse {
    show_pane(&api.shared, &id, from.author()).await
}

async fn mute((api, id, from): Asked, body: web::Bytes) -> HttpResponse {
    let body = if body.is_empty() {
        Ok(MuteBody::default())
    } else {
        serde_json::from_slice(&body)
    };
    match body {
        Ok(body) => mute_for(&api.shared, &id, &body, from.author()).await,
        Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn wrong((api, id, from): Asked, body: web::Bytes) -> HttpResponse {
    match serde_json::from_slice(&body) {
        Ok(mark) => order(&api.shared, &id, &Order::Wrong(mark), from.author()).await,
        Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

/// Mutes a session for the period of a request.
pub(crate) async fn mute_for(
    shared: &Shared,
    session: &str,
    body: &MuteBody,
    by: Option<Author>,
) -> HttpResponse {
    match Order::mute(body.period.as_deref()) {
        Ok(mute) => order(shared, session, &mute, by).await,
        Err(failure) => refuse(StatusCode::BAD_REQUEST, failure.text().as_str()),
    }
}

/// Carries an order out, and answers with the event that it made. `by` is journaled with it.
pub(crate) async fn order(
    shared: &Shared,
    session: &str,
    order: &Order,
    by: Option<Author>,
) -> HttpResponse {
    let entry = match find(shared, session).await {
        Ok(entry) => entry,
        Err(refusal) => return refusal,
    };
    if let Order::Wrong(mark) = order
        && let Err(error) = mark.check(&shared.journal, &entry)
    {
        return refuse(StatusCode::NOT_FOUND, &error.to_string());
    }
    journal(shared, &entry, order, by, None).await
}

/// Has tmux show a session's pane. 409 with a sentence if it does not.
pub(crate) async fn show_pane(
    shared: &Arc<Shared>,
    session: &str,
    by: Option<Author>,
) -> HttpResponse {
    let entry = match find(shared, session).await {
        Ok(entry) => entry,
        Err(refusal) => return refusal,
    };
    let (looker, of) = (Arc::clone(shared), entry.clone());
    let shown = web::block(move || {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        if query::source(&looker.journal, &of)
            .map_err(|error| failed(&error))?
            .is_some()
        {
            return Err("the session is on another machine".to_owned());
        }
        let state =
            session_state::load(&looker.journal, &of.stream).map_err(|error| failed(&error))?;
        let pane = state.place.env("TMUX_PANE");
        let is_seen = actors::tmux::show_pane(state.place.env("TMUX"), pane)?;
        let pane = pane.unwrap_or_default();
        Ok(if is_seen {
            format!("tmux shows pane {pane}")
        } else {
            format!("pane {pane} is selected, but no terminal is attached: `tmux attach` shows it")
        })
    });
    match shown.await {
        Ok(Ok(shown)) => journal(shared, &entry, &Order::Pane, by, Some(shown)).await,
        Ok(Err(why)) => refuse(StatusCode::CONFLICT, &why),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

async fn journal(
    shared: &Shared,
    entry: &SessionEntry,
    order: &Order,
    by: Option<Author>,
    shown: Option<String>,
) -> HttpResponse {
    let mut draft = draft(entry, order);
    draft.payload = by.map(|by| serde_json::to_string(&by).expect("plain data"));
    let event = draft.event.clone();
    match shared.append_and_settle(vec![draft]).await {
        Ok(appended) => {
            let seq = appended.first().map_or(0, |own| own.seq);
            HttpResponse::Ok().json(Ordered {
                shown,
                ..answer(entry, &event, seq)
            })
        }
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

/// Restarts an agent. 200 once its resume command runs, otherwise 409 with a reason word.
async fn restart(api: web::Data<Api>, id: web::Path<String>) -> HttpResponse {
    let entry = match find(&api.shared, &id).await {
        Ok(entry) => entry,
        Err(refusal) => return refusal,
    };
    let answer = |outcome| RestartAnswer {
        session: entry.stream.session,
        native_session: entry.stream.native(),
        agent: entry.stream.agent,
        outcome,
    };
    let restarted = match &api.actors {
        Some(actors) => {
            let ask = RestartAgent(entry.stream.clone());
            actors
                .restarts
                .send(ask)
                .await
                .unwrap_or(Err(Refusal::Failed))
        }
        None => Err(Refusal::Failed),
    };
    match restarted {
        Ok(Restarted { seq, due }) => {
            let did = "agent_restarted".to_owned();
            HttpResponse::Ok().json(answer(RestartOutcome::Restarted { did, due, seq }))
        }
        Err(refusal) => HttpResponse::Conflict().json(answer(RestartOutcome::Refused {
            error: refusal.to_string(),
            reason: refusal.word().to_owned(),
        })),
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
