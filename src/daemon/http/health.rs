//! The daemon's own routes: `/healthz`, `/v1/status`, `/v1/shutdown`.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::registry::CountAwake;
use serde_json::json;

use super::state::Api;
use crate::ops::views::{DaemonStatus, Health};

/// Sets up the routes.
pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/healthz", web::get().to(health))
        .route("/v1/status", web::get().to(status))
        .route("/v1/shutdown", web::post().to(shutdown));
}

async fn health(api: web::Data<Api>) -> HttpResponse {
    let ready = *api.ready.borrow();
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    HttpResponse::build(status).json(Health {
        ok: ready,
        version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        uptime_ms: uptime_ms(&api),
    })
}

fn uptime_ms(api: &Api) -> u64 {
    u64::try_from(api.began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The part of the status that only a running daemon knows.
async fn status(api: web::Data<Api>) -> HttpResponse {
    let counters = &api.shared.counters;
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let config_error = api
        .config_error
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    HttpResponse::Ok().json(DaemonStatus {
        version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        uptime_ms: uptime_ms(&api),
        ready: *api.ready.borrow(),
        awake: api.sessions.send(CountAwake).await.unwrap_or(0),
        rejected: count(&counters.rejected),
        overloaded: count(&counters.overloaded),
        unspooled: count(&counters.unspooled),
        duplicates: count(&counters.duplicates),
        restarted: count(&counters.restarted),
        recovery: api.recovery.clone(),
        config_error,
        otlp_error: api.otlp.trouble(),
        degraded: api.shared.health_issues(),
    })
}

async fn shutdown(api: web::Data<Api>) -> HttpResponse {
    api.stop.notify_one();
    HttpResponse::Ok().json(json!({ "ok": true }))
}
