//! `POST /v1/web/open`, `/v1/web/waits` and `/v1/web/close` on the daemon's socket: only the
//! socket's owner can open the page.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde_json::json;

use super::state::Api;
use crate::daemon::http::answers::refuse;
use crate::daemon::web::Server;
use crate::ops::wire::{Ask, Token};

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/v1/web/open", web::post().to(open))
        .route("/v1/web/waits", web::post().to(waits))
        .route("/v1/web/close", web::post().to(close));
}

/// Returns whether a token is still unused.
async fn waits(server: web::Data<Server>, token: web::Json<Token>) -> HttpResponse {
    HttpResponse::Ok().json(json!({ "waits": server.waits(&token.token) }))
}

async fn open(api: web::Data<Api>, server: web::Data<Server>, ask: web::Json<Ask>) -> HttpResponse {
    let port = ask.port.unwrap_or(api.shared.config().settings.web.port);
    match server.open(port) {
        Ok(opened) => HttpResponse::Ok().json(opened),
        Err(error) => refuse(StatusCode::CONFLICT, &error),
    }
}

async fn close(server: web::Data<Server>) -> HttpResponse {
    HttpResponse::Ok().json(json!({ "closed": server.close().await }))
}
