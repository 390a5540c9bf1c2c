//! The collector: a journal of many machines that is queried like any other, and the messages of the broker. It has no
//! actors, so nothing is decided, typed or run because of what is in it (spec FLEET-9).

use std::fs;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::App;
use actix_web::web::Data;
use actors::Shared;
use actors::trust::Trust;
use journal::Home;
use parking_lot::RwLock;
use tokio::sync::{Notify, watch};

use super::feed::Intake;
use super::state::State;
use crate::daemon::base::{Prepared, asked_to_stop, open_journal, prepare};
use crate::daemon::http::{self, Api};
use crate::daemon::instance::listen;
use crate::daemon::telemetry::figures::Metrics;
use crate::daemon::telemetry::otlp::Otlp;
use crate::daemon::web::{Page, Server};
use crate::daemon::{compaction, config_watch};
use crate::error::{Failure, Result};
use crate::ops::query::{Lines, Reader};

/// The longest wait for open requests when the collector stops.
const GRACE: Duration = Duration::from_millis(500);

/// Runs a collector in its home until it is asked to stop.
pub(crate) fn run(home: Home) -> Result<()> {
    let prepared = prepare(&home)?;
    // Never dropped, as the daemon's.
    let system = ManuallyDrop::new(actix::System::new());
    system.block_on(serve(home, prepared))
}

async fn serve(home: Home, prepared: Prepared) -> Result<()> {
    let Prepared {
        config,
        config_error,
        pid_file,
    } = prepared;
    let (journal, recovered) = open_journal(&home, &config)?;
    if journal.last_seq() > 0 && !journal.is_collector() {
        journal.close();
        return Err(
            Failure::failed(format!("{} has events of its own", home.journal.display()))
                .hint("a collector needs a folder of its own: set CHECKPOINTD_HOME to it"),
        );
    }
    let shared = Arc::new(Shared::new(journal.clone(), home.clone(), config)?);
    let socket = listen(&home)?;
    let reader = Arc::new(Reader::new(journal, Trust::of(&home)));
    let page = Page::new(Arc::clone(&shared), Arc::clone(&reader));
    let fleet = Arc::new(State::default());
    let metrics = Arc::new(Metrics::new(Arc::clone(&fleet)));
    let otlp = Otlp::new(Arc::clone(&shared), Arc::clone(&metrics));
    observe(&shared, &page, &metrics);
    let intake = Intake::new(Arc::clone(&shared), Arc::clone(&fleet));
    let api = Data::new(Api {
        shared: Arc::clone(&shared),
        reader,
        lines: Lines::default(),
        actors: None,
        fleet,
        ready: watch::Sender::new(true),
        stop: Notify::new(),
        began: Instant::now(),
        recovery: recovered.notes.clone(),
        config_error: RwLock::new(config_error),
        otlp,
    });
    let server = Data::from(Server::new(Arc::clone(&page)));
    server.reopen();
    let stop = Rc::new(Notify::new());
    let app = App::new()
        .app_data(api.clone())
        .app_data(server.clone())
        .app_data(Data::from(metrics))
        .configure(http::questions);
    let connections = http::connections::serve(socket.listener, app, Rc::clone(&stop), GRACE);
    let serving = actix::spawn(connections);
    let _watcher = config_watch::watch_config(&api.clone().into_inner());
    intake.start()?;
    api.otlp.start();
    actix::spawn(compaction::compact_daily(Arc::clone(&shared)));
    tracing::info!(pid = std::process::id(), "The collector is ready.");

    asked_to_stop(&api).await;
    tracing::info!("Stopping.");
    if !socket.is_handed_over {
        let _ = fs::remove_file(&shared.home.socket);
    }
    stop.notify_one();
    server.end().await;
    let _ = tokio::join!(serving, api.otlp.close(), intake.close());
    let journal = shared.journal.clone();
    let _ = tokio::task::spawn_blocking(move || journal.close()).await;
    drop(pid_file);
    Ok(())
}

/// Passes what came on to the page and the figures.
fn observe(shared: &Arc<Shared>, page: &Arc<Page>, metrics: &Arc<Metrics>) {
    let (page, metrics) = (Arc::clone(page), Arc::clone(metrics));
    shared.journal.observe(move |events| {
        page.notify(events);
        metrics.count(events);
    });
}
