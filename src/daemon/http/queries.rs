//! Queries: `/v1/query`, `/v1/sessions`, `/v1/decisions`, `/v1/events`, `/v1/now`,
//! `/v1/status-line`.

use actix_web::{HttpResponse, web};
use actors::registry::ExamineOwnRuns;
use tokio::sync::oneshot;

use super::state::Api;
use crate::daemon::http::answers::{NowQuery, answer, answer_now, ask_whole, stream_answer};
use crate::ops::query::{self, Query, Sessions};

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/v1/query", web::post().to(ask))
        .route("/v1/sessions", web::get().to(sessions))
        .route("/v1/sessions/{id}", web::get().to(session))
        .route("/v1/decisions", web::get().to(decisions))
        .route("/v1/events", web::get().to(events))
        .route("/v1/now", web::get().to(now))
        .route("/v1/status-line", web::get().to(status_line));
}

/// Answers a query line by line, at the reader's pace.
async fn ask(api: web::Data<Api>, query: web::Json<Query>) -> HttpResponse {
    let query = query.into_inner();
    if query.is_about_open_work()
        && let Some(actors) = &api.actors
    {
        let (done, settled) = oneshot::channel();
        let journal = &api.shared.journal;
        journal.when_settled(move |result| drop(done.send(result)));
        let _ = settled.await;
        let _ = actors.sessions.send(ExamineOwnRuns).await;
    }
    stream_answer(&api.reader, query, ())
}

async fn sessions(api: web::Data<Api>) -> HttpResponse {
    ask_whole(&api.reader, Query::Sessions(Sessions::default()), false).await
}

async fn session(api: web::Data<Api>, id: web::Path<String>) -> HttpResponse {
    ask_whole(&api.reader, Query::state(id.into_inner()), true).await
}

async fn decisions(api: web::Data<Api>, filter: web::Query<query::Audit>) -> HttpResponse {
    ask_whole(&api.reader, Query::Audit(filter.into_inner()), false).await
}

async fn events(api: web::Data<Api>, wanted: web::Query<query::Events>) -> HttpResponse {
    ask_whole(&api.reader, Query::Events(wanted.into_inner()), false).await
}

async fn now(api: web::Data<Api>, wanted: web::Query<NowQuery>) -> HttpResponse {
    answer_now(&api.shared, &api.reader, &wanted).await
}

async fn status_line(api: web::Data<Api>, of: web::Query<query::LineOf>) -> HttpResponse {
    let api = api.into_inner();
    answer(move || {
        let config = api.shared.config();
        api.reader.line(&config, &of)
    })
    .await
}
