//! The page's routes. Every answer comes from `query.rs` or `stream.rs`. One route carries out an order for one session,
//! which is journaled with the page as its author; nothing else here changes any state.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::named_file;
use journal::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::page::Page;
use super::{assets, guard, stream};
use crate::config;
use crate::daemon::http::answers::{
    NowQuery, answer, answer_now, ask_whole, refuse, stream_answer,
};
use crate::daemon::http::orders;
use crate::ops::lookback::{self, Rules, Scope};
use crate::ops::orders::{Author, View};
use crate::ops::query::{Audit, Query};
use crate::ops::wire::Token;

/// The largest configuration accepted for a trial.
const CONFIG_BYTES_MAX: usize = 256 * 1024;

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .app_data(web::JsonConfig::default().limit(CONFIG_BYTES_MAX))
        .route("/", web::get().to(assets::index))
        .route("/favicon.ico", web::get().to(assets::icon))
        .route("/assets/{name}", web::get().to(assets::file))
        .route(guard::ENTER, web::post().to(enter))
        .route(guard::RESUME, web::post().to(resume))
        .route("/api/now", web::get().to(now))
        .route("/api/live", web::get().to(stream::follow))
        .route("/api/sessions/{id}/timeline", web::get().to(timeline))
        .route("/api/sessions/{id}/open", web::get().to(open))
        .route("/api/events/{seq}", web::get().to(event))
        .route("/api/decisions", web::get().to(decisions))
        .route("/api/decisions/{seq}", web::get().to(decision))
        .route("/api/trends", web::get().to(trends))
        .route("/api/lookback", web::get().to(look_back))
        .route("/api/config", web::get().to(configuration))
        .route(
            "/api/sessions/{id}/{word:clear|mute|unmute|wrong|pane}",
            web::post().to(give),
        )
        .route("/api/what-if", web::post().to(what_if))
        .default_service(web::to(|| async {
            refuse(StatusCode::NOT_FOUND, "not found")
        }));
}

/// Exchanges a token for a key.
async fn enter(page: web::Data<Page>, token: web::Json<Token>) -> HttpResponse {
    let entry = page.tokens().exchange(&token.token, Instant::now());
    match entry {
        Some(entry) => {
            page.keep();
            HttpResponse::Ok().json(entry)
        }
        None => guard::forbidden("this address has been used or has expired"),
    }
}

/// A tab that wants to come back: first with a number, to which the daemon proves itself, then with its own proof.
#[derive(Deserialize)]
struct Resume {
    id: String,
    number: Option<String>,
    proof: Option<String>,
}

async fn resume(page: web::Data<Page>, tab: web::Json<Resume>) -> HttpResponse {
    let refused = || guard::forbidden("this browser tab has no access");
    let (number, proof) = (tab.number.as_deref(), tab.proof.as_deref());
    match (number, proof) {
        (Some(number), None) => {
            let proof = page.tokens().prove(&tab.id, number);
            proof.map_or_else(refused, |proof| HttpResponse::Ok().json(proof))
        }
        (None, Some(proof)) => {
            let entry = page.tokens().come_back(&tab.id, proof);
            entry.map_or_else(refused, |entry| {
                page.keep();
                HttpResponse::Ok().json(entry)
            })
        }
        _ => refused(),
    }
}

async fn now(page: web::Data<Page>, wanted: web::Query<NowQuery>) -> HttpResponse {
    answer_now(&page.shared, &page.reader, &wanted).await
}

#[derive(Deserialize)]
struct From {
    #[serde(default)]
    from: u64,
}

async fn timeline(
    page: web::Data<Page>,
    id: web::Path<String>,
    from: web::Query<From>,
) -> HttpResponse {
    walk(
        &page,
        Query::Lanes {
            session: id.into_inner(),
            from: from.from,
        },
    )
    .await
}

async fn open(page: web::Data<Page>, id: web::Path<String>) -> HttpResponse {
    let query = Query::Open {
        session: id.into_inner(),
        machine: None,
    };
    ask_whole(&page.reader, query, true).await
}

async fn event(page: web::Data<Page>, seq: web::Path<u64>) -> HttpResponse {
    ask_whole(&page.reader, Query::Event { seq: *seq }, true).await
}

async fn decisions(page: web::Data<Page>, filter: web::Query<Audit>) -> HttpResponse {
    ask_whole(&page.reader, Query::Audit(filter.into_inner()), false).await
}

async fn decision(page: web::Data<Page>, seq: web::Path<u64>) -> HttpResponse {
    ask_whole(
        &page.reader,
        Query::Explain {
            seq: Some(*seq),
            session: None,
            machine: None,
        },
        true,
    )
    .await
}

#[derive(Deserialize)]
struct Days {
    days: u32,
    machine: Option<String>,
}

async fn trends(page: web::Data<Page>, wanted: web::Query<Days>) -> HttpResponse {
    let Days { days, machine } = wanted.into_inner();
    walk(&page, Query::Trends { days, machine }).await
}

/// The longest that the page reads transcripts.
const LOOKBACK_WITHIN: Duration = Duration::from_secs(60);
/// The turns most worth reading that it shows.
const LOOKBACK_TURNS: usize = 10;

/// Totals of the agents' own transcripts of the last days. Nothing is kept.
async fn look_back(page: web::Data<Page>, days: web::Query<Days>) -> HttpResponse {
    let Ok(_permit) = Arc::clone(&page.walks).acquire_owned().await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "the page is being closed");
    };
    let shared = Arc::clone(&page.shared);
    let since = Duration::from_secs(u64::from(days.days) * 86_400);
    answer(move || {
        let wanted = Scope {
            since: Timestamp::now().minus(since),
            agent: None,
            project: None,
            limit: LOOKBACK_TURNS,
            within: Some(LOOKBACK_WITHIN),
        };
        let (config, trust) = (shared.config(), shared.trust());
        let rules = Rules {
            config: &config,
            trust: &trust,
        };
        Ok(lookback::look_back(rules, &wanted, &mut |_, _| ()).0)
    })
    .await
}

/// The user's configuration file and the effective settings.
async fn configuration(page: web::Data<Page>) -> HttpResponse {
    let shared = Arc::clone(&page.shared);
    let read = web::block(move || {
        let bytes = named_file::beginning(&shared.home.config, config::BYTES_MAX);
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    });
    let read = read.await;
    let settings: Vec<Value> = page
        .shared
        .config()
        .show()
        .into_iter()
        .map(|row| json!([row.key, row.value]))
        .collect();
    HttpResponse::Ok().json(json!({ "text": read.unwrap_or_default(), "settings": settings }))
}

#[derive(Deserialize)]
struct Tried {
    text: String,
}

async fn what_if(page: web::Data<Page>, tried: web::Json<Tried>) -> HttpResponse {
    walk(
        &page,
        Query::WhatIf {
            session: None,
            machine: None,
            name: "config.yml".into(),
            text: tried.into_inner().text,
        },
    )
    .await
}

/// The author of all that the page does.
const AUTHOR: Option<Author> = Some(Author { by: View::Page });
/// The longest note of a mark, in bytes.
const NOTE_BYTES_MAX: usize = 1_000;

/// Gives an order. A form of another site cannot send JSON.
async fn give(
    page: web::Data<Page>,
    path: web::Path<(String, String)>,
    body: web::Json<Value>,
) -> HttpResponse {
    let note = body["note"].as_str().unwrap_or_default();
    if note.len() > NOTE_BYTES_MAX {
        return refuse(StatusCode::BAD_REQUEST, "the note is too long");
    }
    orders::order(&page.shared, &path, body.into_inner(), AUTHOR).await
}

/// Streams the answer to a query that walks over many events; the number of such walks is limited.
async fn walk(page: &Page, query: Query) -> HttpResponse {
    match Arc::clone(&page.walks).acquire_owned().await {
        Ok(permit) => stream_answer(&page.reader, query, permit),
        Err(_) => refuse(StatusCode::SERVICE_UNAVAILABLE, "the page is being closed"),
    }
}
