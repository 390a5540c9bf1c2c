//! Progress documents: `POST /v1/progress/{write,show,validate,rebuild}`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};

use super::state::Api;
use crate::daemon::http::answers::refuse;
use crate::ops::progress::{Refused, Request, answer};

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config.route("/v1/progress/{word}", web::post().to(take));
}

async fn take(api: web::Data<Api>, word: web::Path<String>, body: web::Bytes) -> HttpResponse {
    let shared = Arc::clone(&api.shared);
    let work = web::block(move || {
        let request: Request =
            serde_json::from_slice(&body).map_err(|error| (Refused::Request, error.to_string()))?;
        answer(
            &word,
            &request,
            &shared.journal,
            &shared.home,
            &shared.config(),
        )
    });
    match work.await {
        Ok(Ok(answer)) => HttpResponse::Ok().json(answer),
        Ok(Err((kind, error))) => refuse(status(kind), &error),
        Err(_) => refuse(StatusCode::SERVICE_UNAVAILABLE, "the daemon is stopping"),
    }
}

const fn status(kind: Refused) -> StatusCode {
    match kind {
        Refused::Request => StatusCode::BAD_REQUEST,
        Refused::NotFound => StatusCode::NOT_FOUND,
        Refused::Journal => StatusCode::SERVICE_UNAVAILABLE,
    }
}
