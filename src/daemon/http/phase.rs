//! `POST /v1/phase/{create,show,list,detect,complete,cleanup,rebuild}` on the daemon's socket.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use super::state::Api;
use crate::ops::phase::{PhaseError, Places, Refusal, RefusedAnswer, Request, answer};

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config.route("/v1/phase/{word}", web::post().to(take));
}

async fn take(api: web::Data<Api>, word: web::Path<String>, body: web::Bytes) -> HttpResponse {
    let shared = Arc::clone(&api.shared);
    let work = web::block(move || {
        let fields = if body.is_empty() {
            Ok(json!({}))
        } else {
            serde_json::from_slice::<Value>(&body)
        };
        let fields = fields.map_err(|error| {
            (
                PhaseError::Request,
                format!("the body is not JSON: {error}"),
            )
        })?;
        let request = Request::read(&word, fields)?;
        let places = Places::of(&shared.home, &shared.config())?;
        answer(&request, &shared.journal, &places)
    });
    match work.await {
        Ok(Ok(answer)) => HttpResponse::Ok().json(answer),
        Ok(Err(refusal)) => refuse(refusal),
        Err(_) => refuse((PhaseError::Journal, "the daemon is stopping".to_owned())),
    }
}

fn refuse((kind, error): Refusal) -> HttpResponse {
    let status = match kind {
        PhaseError::Request => StatusCode::BAD_REQUEST,
        PhaseError::Unknown => StatusCode::NOT_FOUND,
        PhaseError::Files => StatusCode::CONFLICT,
        PhaseError::Journal => StatusCode::SERVICE_UNAVAILABLE,
    };
    HttpResponse::build(status).json(RefusedAnswer { ok: false, error })
}
