//! The daemon's own routes: `/healthz`, `/v1/status`, `/v1/shutdown`.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use actors::registry::CountAwake;
use journal::socket::with_short_path;
use journal::{Journal, Timestamp};
use serde_json::json;

use super::state::Api;
use crate::ops::views::{DaemonStatus, Health};

/// How long it is said that something was repaired.
const REPAIRED_FOR: Duration = Duration::from_secs(30 * 86_400);
/// The longest wait for a sign of life.
const SIGN_WAIT: Duration = Duration::from_millis(200);

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/healthz", web::get().to(health))
        .route("/v1/status", web::get().to(status))
        .route("/v1/shutdown", web::post().to(shutdown));
}

/// Returns whether a daemon answers on a socket, whatever it answers. Its process id says less: a daemon that is being
/// killed still has one, and another process may have it by now.
pub(in crate::daemon) fn answers(socket: &Path) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = with_short_path(socket, |path| UnixStream::connect(path))?;
        stream.set_read_timeout(Some(SIGN_WAIT))?;
        stream.set_write_timeout(Some(SIGN_WAIT))?;
        stream.write_all(
            b"GET /healthz HTTP/1.1\r\nHost: checkpointd\r\nConnection: close\r\n\r\n",
        )?;
        Ok(stream.read(&mut [0])? > 0)
    };
    ask().unwrap_or(false)
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
    let awake = match &api.actors {
        Some(actors) => actors.sessions.send(CountAwake).await.unwrap_or(0),
        None => 0,
    };
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let config_error = api.config_error.read().clone();
    HttpResponse::Ok().json(DaemonStatus {
        version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        uptime_ms: uptime_ms(&api),
        ready: *api.ready.borrow(),
        awake,
        rejected: count(&counters.rejected),
        overloaded: count(&counters.overloaded),
        unspooled: count(&counters.unspooled),
        duplicates: count(&counters.duplicates),
        restarted: count(&counters.restarted),
        recovery: api.recovery.clone(),
        repaired: repaired(&api.shared.journal),
        config_error,
        otlp_error: api.otlp.trouble(),
        fleet: api.fleet.line(),
        degraded: api.shared.health_issues(),
    })
}

/// Returns the recent repairs, one line each.
fn repaired(journal: &Journal) -> Vec<String> {
    let since = Timestamp::now().minus(REPAIRED_FOR);
    let lately = journal
        .repaired()
        .into_iter()
        .filter(|(at, _)| *at >= since);
    lately.map(|(at, said)| format!("{at}: {said}")).collect()
}

async fn shutdown(api: web::Data<Api>) -> HttpResponse {
    api.stop.notify_one();
    HttpResponse::Ok().json(json!({ "ok": true }))
}
