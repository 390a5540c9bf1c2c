//! Phase records and progress documents: `POST /v1/phase/{create,show,list,detect,complete,cleanup,rebuild}` and
//! `POST /v1/progress/{write,show,validate,rebuild}` on the daemon's socket.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use super::state::Api;
use crate::ops::refusal::{Refused, Result};
use crate::ops::{phase, progress};

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/v1/phase/{word}", web::post().to(of_phase))
        .route("/v1/progress/{word}", web::post().to(of_progress));
}

async fn of_phase(api: web::Data<Api>, word: web::Path<String>, body: web::Bytes) -> HttpResponse {
    let shared = Arc::clone(&api.shared);
    let work = move || {
        let request = phase::Request::parse(&word, &body)?;
        let places = phase::Places::of(&shared.home, &shared.config())?;
        phase::answer(&request, &shared.journal, &places)
    };
    answer(work, |error| json!({ "ok": false, "error": error })).await
}

async fn of_progress(
    api: web::Data<Api>,
    word: web::Path<String>,
    body: web::Bytes,
) -> HttpResponse {
    let shared = Arc::clone(&api.shared);
    let work = move || {
        let request =
            serde_json::from_slice(&body).map_err(|error| (Refused::Request, error.to_string()))?;
        let (journal, home) = (&shared.journal, &shared.home);
        progress::answer(&word, &request, journal, home, &shared.config())
    };
    answer(work, |error| json!({ "error": error })).await
}

/// Answers with what blocking work finds, or with why it was refused.
async fn answer(
    work: impl FnOnce() -> Result<Value> + Send + 'static,
    refused: fn(String) -> Value,
) -> HttpResponse {
    let stops = |_| Err((Refused::Journal, "the daemon is stopping".to_owned()));
    let (kind, error) = match web::block(work).await.unwrap_or_else(stops) {
        Ok(answer) => return HttpResponse::Ok().json(answer),
        Err(refusal) => refusal,
    };
    let status = match kind {
        Refused::Request => StatusCode::BAD_REQUEST,
        Refused::NotFound => StatusCode::NOT_FOUND,
        Refused::Files => StatusCode::CONFLICT,
        Refused::Journal => StatusCode::SERVICE_UNAVAILABLE,
    };
    HttpResponse::build(status).json(refused(error))
}
