//! The daemon: journal, actors, socket, signals, and the order in which they start and stop.

mod base;
mod compaction;
mod config_watch;
mod environment;
mod fleet;
mod http;
pub(crate) mod instance;
pub(crate) mod log_file;
mod telemetry;
mod web;
mod worker;

use std::fs::{self, File};
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, Arbiter};
use actix_web::App;
use actix_web::web::Data;
use actors::draft::daemon_draft;
use actors::hook_reply::HookReply;
use actors::ingest::Ingest;
use actors::listener::{self, Listener};
use actors::progress;
use actors::registry::{EventsAppended, SessionRegistry};
use actors::restart::Restarts;
use actors::session::Routes;
use actors::tmux::TmuxDelivery;
use actors::trust::Trust;
use actors::{Shared, recovery, spool};
use checkpoint::config::Config;
use journal::recovery::Recovered;
use journal::{Agent, Envelope, Event, Home, Journal, named_file};
use parking_lot::RwLock;
use tokio::sync::{Notify, watch};

use crate::error::{Failure, Result};
use crate::ops::phase;
use crate::ops::query::Reader;
use base::{Prepared, asked_to_stop, open_journal, prepare};
use fleet::{Intake, Publisher, State};
use http::{Actors, Api};
use instance::{Socket, listen};
use telemetry::figures::Metrics;
use telemetry::otlp::Otlp;
use web::{Page, Server};

/// The longest wait for open requests when the daemon stops.
const GRACE: Duration = Duration::from_millis(500);

pub(crate) use fleet::purge;

/// Runs the daemon until it is asked to stop, or with `collects` a collector: a journal of many machines that is queried
/// like any other, and the messages of the broker. It has no actors, so nothing is decided, typed or run because of what
/// is in it (spec FLEET-9).
pub(crate) fn run(home: Home, collects: bool) -> Result<()> {
    let Prepared {
        config,
        config_error,
        pid_file,
    } = prepare(&home)?;
    if !collects {
        actors::git::keep_private_folders();
        // Both take long to read, and the spooled calls need them; the journal is opened meanwhile.
        std::thread::spawn(checkpoint::catalogue::Catalogue::built_in);
        std::thread::spawn(checkpoint::redact::prepare);
    }
    // Never dropped: that would wait for threads that hang in a project's file system, and the process ends anyway.
    let system = ManuallyDrop::new(actix::System::new());
    system.block_on(async {
        let daemon = Daemon::start(home, config, config_error, collects)?;
        daemon.serve(pid_file).await
    })
}

/// Refuses a journal of the other kind: a daemon would act on the events of other machines.
fn check_kind(journal: &Journal, home: &Home, collects: bool) -> Result<()> {
    let there = home.journal.display();
    let (what, hint) = match (collects, journal.is_collector()) {
        (true, false) if journal.last_seq() > 0 => (
            format!("{there} has events of its own"),
            "a collector needs a folder of its own: set CHECKPOINTD_HOME to it",
        ),
        (false, true) => (
            format!("{there} holds the events of other machines; a daemon would act on them"),
            "ask it without a daemon: `checkpointd audit`, `checkpointd sessions`, `checkpointd journal sql`; this machine's own daemon needs a home of its own",
        ),
        _ => return Ok(()),
    };
    journal.close();
    Err(Failure::failed(what).hint(hint))
}

/// A daemon with its journal open, its socket bound and its actors running.
struct Daemon {
    shared: Arc<Shared>,
    recovered: Recovered,
    socket: Socket,
    api: Data<Api>,
    page: Arc<Page>,
    metrics: Arc<Metrics>,
    /// Only of a collector.
    intake: Option<Arc<Intake>>,
}

impl Daemon {
    /// Opens the journal, binds the socket and starts the actors. Does not serve yet.
    fn start(
        home: Home,
        config: Config,
        config_error: Option<String>,
        collects: bool,
    ) -> Result<Self> {
        let (journal, recovered) = open_journal(&home, &config)?;
        check_kind(&journal, &home, collects)?;
        for note in &recovered.notes {
            tracing::warn!(note, "Recovery of the journal.");
        }
        let shared = Arc::new(Shared::new(journal.clone(), home.clone(), config)?);
        if !collects {
            note_stop_wait(&shared)?;
            shared.mark_exits();
        }
        // Before any actor starts: an actor that never ran panics when it is dropped.
        let socket = listen(&home)?;
        let fleet = Arc::new(State::default());
        let actors = (!collects).then(|| start_actors(&shared, &fleet));
        let intake = collects.then(|| Intake::new(Arc::clone(&shared), Arc::clone(&fleet)));
        let reader = Arc::new(Reader::new(journal, Trust::of(&home)));
        let page = Page::new(Arc::clone(&shared), Arc::clone(&reader));
        let metrics = Arc::new(Metrics::new(Arc::clone(&fleet)));
        let otlp = Otlp::new(Arc::clone(&shared), Arc::clone(&metrics));
        let acts = actors.as_ref().map(|actors| acts(&shared, &otlp, actors));
        let (shown, counted) = (Arc::clone(&page), Arc::clone(&metrics));
        shared.journal.observe(move |events| {
            shown.notify(events);
            counted.count(events);
            if let Some(acts) = &acts {
                acts(events);
            }
        });
        let api = Data::new(Api {
            shared: Arc::clone(&shared),
            reader,
            actors,
            fleet,
            ready: watch::Sender::new(false),
            stop: Notify::new(),
            began: Instant::now(),
            recovery: recovered.notes.clone(),
            config_error: RwLock::new(config_error),
            otlp,
        });
        Ok(Self {
            shared,
            recovered,
            socket,
            api,
            page,
            metrics,
            intake,
        })
    }

    /// Serves until the daemon is stopped, then closes everything in order.
    async fn serve(self, pid_file: File) -> Result<()> {
        let Self {
            shared,
            recovered,
            socket,
            api,
            page,
            metrics,
            intake,
        } = self;
        let server = Data::from(Server::new(page));
        server.reopen();
        let stop = Rc::new(Notify::new());
        let routes = match &api.actors {
            Some(_) => http::routes,
            None => http::questions,
        };
        let app = App::new()
            .app_data(api.clone())
            .app_data(server.clone())
            .app_data(Data::from(metrics))
            .configure(routes);
        let connections = http::connections::serve(socket.listener, app, Rc::clone(&stop), GRACE);
        let mut serving = actix::spawn(connections);
        // Before the daemon reports that it is ready: later changes must not be missed.
        let _watcher = config_watch::watch_config(&api.clone().into_inner());
        if let Some(actors) = &api.actors {
            come_up(&shared, &actors.ingest, &actors.sessions, &recovered).await?;
        }
        if let Some(intake) = &intake {
            intake.start()?;
        }
        start_upkeep(&api);
        tokio::select! {
            () = asked_to_stop(&api) => {}
            ended = &mut serving => {
                return Err(Failure::unreachable(format!("the server ended unexpectedly: {ended:?}")));
            }
        }
        tracing::info!("Stopping.");
        if !socket.is_handed_over {
            let _ = fs::remove_file(&shared.home.socket);
        }
        stop.notify_one();
        server.end().await;
        let close = async {
            if let Some(actors) = &api.actors {
                actors.publisher.close().await;
            }
            if let Some(intake) = &intake {
                intake.close().await;
            }
        };
        let _ = tokio::join!(serving, api.otlp.close(), close);
        let journal = shared.journal.clone();
        let _ = tokio::task::spawn_blocking(move || journal.close()).await;
        actors::git::remove_private_folders();
        drop(pid_file);
        Ok(())
    }
}

/// Tells the hook client how long it waits for the answer to a stop.
fn note_stop_wait(shared: &Shared) -> Result<()> {
    let stop_wait = shared.config().settings.hooks.stop_wait.as_millis();
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    let mut file = named_file::open_own(&shared.home.stop_wait_file(), &mut options)?;
    Ok(file.write_all(stop_wait.to_string().as_bytes())?)
}

fn start_actors(shared: &Arc<Shared>, fleet: &Arc<State>) -> Actors {
    let replies = HookReply::new(Arc::clone(shared)).start();
    let typist = TmuxDelivery::new(Arc::clone(shared));
    // On a thread of its own: it reads the journal while it types.
    let tmux = TmuxDelivery::start_in_arbiter(&Arbiter::new().handle(), move |_| typist);
    let routes = Routes {
        replies: replies.clone(),
        tmux,
    };
    let sessions = SessionRegistry::new(Arc::clone(shared), routes).start();
    Actors {
        ingest: Ingest::new(Arc::clone(shared), sessions.clone(), replies).start(),
        sessions,
        restarts: Restarts::new(Arc::clone(shared)).start(),
        publisher: Publisher::new(Arc::clone(shared), Arc::clone(fleet)),
    }
}

/// Returns what passes appended events on to the collector, the publisher, listeners, documents and sessions.
fn acts(
    shared: &Arc<Shared>,
    otlp: &Arc<Otlp>,
    actors: &Actors,
) -> impl Fn(&[Envelope]) + Send + Sync + use<> {
    let otlp = Arc::clone(otlp);
    let publisher = Arc::clone(&actors.publisher);
    let sessions = actors.sessions.clone();
    let listener = Listener::new(Arc::clone(shared)).start();
    let automatic = progress::Automatic::new(Arc::clone(shared)).start();
    move |events| {
        otlp.tell(events);
        publisher.tell(events);
        listener::notify(&listener, events);
        progress::notify(&automatic, events);
        // If the registry's mailbox is full, its sessions catch up later.
        let _ = sessions.try_send(EventsAppended(changed_sessions(events)));
    }
}

fn changed_sessions(events: &[Envelope]) -> Vec<uuid::Uuid> {
    let mut changed: Vec<_> = events
        .iter()
        .filter(|envelope| envelope.stream.agent != Agent::Daemon)
        .map(|envelope| envelope.stream.session)
        .collect();
    changed.sort_unstable();
    changed.dedup();
    changed
}

/// Imports the spool and settles what the last run left open, before anything new.
async fn come_up(
    shared: &Arc<Shared>,
    ingest: &Addr<Ingest>,
    sessions: &Addr<SessionRegistry>,
    recovered: &Recovered,
) -> Result<()> {
    let event = Event::DaemonStarted {
        version: env!("CARGO_PKG_VERSION").into(),
        recovery: recovered.notes.clone(),
    };
    let name = format!(
        "{}:{}",
        std::process::id(),
        journal::Timestamp::now().as_micros()
    );
    shared.append(vec![daemon_draft(event, name)]).await?;
    match spool::drain(shared, ingest).await {
        Ok(0) => {}
        Ok(calls) => tracing::info!(calls, "Accepted spooled hook calls."),
        Err(error) => tracing::warn!(%error, "Cannot empty the spool; will retry."),
    }
    let open = recovery::settle(shared, sessions).await?;
    if open > 0 {
        tracing::info!(open, "Settling what the last run left open.");
    }
    Ok(())
}

/// Starts background work, and reports that the daemon is ready.
fn start_upkeep(api: &Data<Api>) {
    if let Some(actors) = &api.actors {
        let shared = Arc::clone(&api.shared);
        drop(actix_web::rt::task::spawn_blocking(move || {
            phase::check_files(&shared)
        }));
        actors.publisher.start();
        actix::spawn(spool::watch(Arc::clone(&api.shared), actors.ingest.clone()));
    }
    api.otlp.start();
    api.ready.send_replace(true);
    actix::spawn(compaction::compact_daily(Arc::clone(&api.shared)));
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        "Ready."
    );
}
