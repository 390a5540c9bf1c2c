//! `POST /v1/web/open`, `/v1/web/waits` and `/v1/web/close` on the daemon's socket: only who owns the socket can open the
//! page.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Page;
use crate::api::{Api, refuse};

/// How the page is to be opened.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ask {
    /// The port; none is the configured one.
    pub(crate) port: Option<u16>,
}

/// Which token is asked about.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// All of it.
    pub(crate) token: String,
}

/// Sets up the routes.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/v1/web/open", web::post().to(open))
        .route("/v1/web/waits", web::post().to(waits))
        .route("/v1/web/close", web::post().to(close));
}

/// Tells whether nobody has come with a token yet.
async fn waits(page: web::Data<Page>, token: web::Json<Token>) -> HttpResponse {
    HttpResponse::Ok().json(json!({ "waits": page.doors().waits(&token.token) }))
}

async fn open(api: web::Data<Api>, page: web::Data<Page>, ask: web::Json<Ask>) -> HttpResponse {
    let port = ask.port.unwrap_or(api.shared.config().settings.web.port);
    match Arc::clone(&page).open(port) {
        Ok(opened) => HttpResponse::Ok().json(opened),
        Err(error) => refuse(StatusCode::CONFLICT, &error),
    }
}

async fn close(page: web::Data<Page>) -> HttpResponse {
    HttpResponse::Ok().json(json!({ "closed": page.close().await }))
}
