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
use journal::{Agent, Envelope, Event, Home, named_file};
use parking_lot::RwLock;
use tokio::sync::{Notify, watch};

use crate::error::{Failure, Result};
use crate::ops::phase;
use crate::ops::query::{Lines, Reader};
use base::{Prepared, asked_to_stop, open_journal, prepare};
use fleet::{Publisher, State};
use http::{Actors, Api};
use instance::{Socket, listen};
use telemetry::figures::Metrics;
use telemetry::otlp::Otlp;
use web::{Page, Server};

/// The longest wait for open requests when the daemon stops.
const GRACE: Duration = Duration::from_millis(500);

pub(crate) use fleet::{collect, purge};

/// Runs the daemon until it is asked to stop.
pub(crate) fn run(home: Home) -> Result<()> {
    let Prepared {
        config,
        config_error,
        pid_file,
    } = prepare(&home)?;
    actors::git::keep_private_folders();
    // Both take long to read, and the spooled calls need them; the journal is opened meanwhile.
    std::thread::spawn(checkpoint::catalogue::Catalogue::built_in);
    std::thread::spawn(checkpoint::redact::prepare);
    // Never dropped: that would wait for threads that hang in a project's file system, and the process ends anyway.
    let system = ManuallyDrop::new(actix::System::new());
    system.block_on(async {
        let daemon = Daemon::start(home, config, config_error)?;
        daemon.serve(pid_file).await
    })
}

/// A daemon with its journal open, its socket bound and its actors running.
struct Daemon {
    shared: Arc<Shared>,
    recovered: Recovered,
    socket: Socket,
    api: Data<Api>,
    page: Arc<Page>,
    metrics: Arc<Metrics>,
}

impl Daemon {
    /// Opens the journal, binds the socket and starts the actors. Does not serve yet.
    fn start(home: Home, config: Config, config_error: Option<String>) -> Result<Self> {
        let (journal, recovered) = open_journal(&home, &config)?;
        if journal.is_collector() {
            journal.close();
            return Err(Failure::failed(format!(
                "{} holds the events of other machines; a daemon would act on them",
                home.journal.display()
            ))
            .hint("ask it without a daemon: `checkpointd audit`, `checkpointd sessions`, `checkpointd journal sql`; this machine's own daemon needs a home of its own"));
        }
        for note in &recovered.notes {
            tracing::warn!(note, "Recovery of the journal.");
        }
        let shared = Arc::new(Shared::new(journal.clone(), home.clone(), config)?);
        let stop_wait = shared.config().settings.hooks.stop_wait.as_millis();
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        named_file::open_own(&home.stop_wait_file(), &mut options)?
            .write_all(stop_wait.to_string().as_bytes())?;
        shared.mark_exits();
        // Before any actor starts: an actor that never ran panics when it is dropped.
        let socket = listen(&home)?;
        let (sessions, ingest) = start_actors(&shared);
        let reader = Arc::new(Reader::new(journal, Trust::of(&home)));
        let page = Page::new(Arc::clone(&shared), Arc::clone(&reader));
        let fleet = Arc::new(State::default());
        let metrics = Arc::new(Metrics::new(Arc::clone(&fleet)));
        let otlp = Otlp::new(Arc::clone(&shared), Arc::clone(&metrics));
        let publisher = Publisher::new(Arc::clone(&shared), Arc::clone(&fleet));
        observe_journal(&shared, &page, &metrics, (&otlp, &publisher), &sessions);
        let api = Data::new(Api {
            shared: Arc::clone(&shared),
            reader,
            lines: Lines::default(),
            actors: Some(Actors {
                sessions,
                ingest,
                restarts: Restarts::new(Arc::clone(&shared)).start(),
                publisher,
            }),
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
        } = self;
        let server = Data::from(Server::new(Arc::clone(&page)));
        server.reopen();
        let stop = Rc::new(Notify::new());
        let app = App::new()
            .app_data(api.clone())
            .app_data(server.clone())
            .app_data(Data::from(metrics))
            .configure(http::routes);
        let connections = http::connections::serve(socket.listener, app, Rc::clone(&stop), GRACE);
        let mut serving = actix::spawn(connections);

        // Before the daemon reports that it is ready: later changes must not be missed.
        let _watcher = config_watch::watch_config(&api.clone().into_inner());
        if let Some(actors) = &api.actors {
            come_up(&shared, &actors.ingest, &actors.sessions, &recovered).await?;
            start_upkeep(&api, actors);
        }

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
        let publisher = api
            .actors
            .as_ref()
            .map(|actors| Arc::clone(&actors.publisher));
        let close = async {
            if let Some(publisher) = publisher {
                publisher.close().await;
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

fn start_actors(shared: &Arc<Shared>) -> (Addr<SessionRegistry>, Addr<Ingest>) {
    let replies = HookReply::new(Arc::clone(shared)).start();
    let typist = TmuxDelivery::new(Arc::clone(shared));
    // On a thread of its own: it reads the journal while it types.
    let tmux = TmuxDelivery::start_in_arbiter(&Arbiter::new().handle(), move |_| typist);
    let routes = Routes {
        replies: replies.clone(),
        tmux,
    };
    let sessions = SessionRegistry::new(Arc::clone(shared), routes).start();
    let ingest = Ingest::new(Arc::clone(shared), sessions.clone(), replies).start();
    (sessions, ingest)
}

/// Passes appended events on to the page, figures, collector, listeners, documents and sessions.
fn observe_journal(
    shared: &Arc<Shared>,
    page: &Arc<Page>,
    metrics: &Arc<Metrics>,
    (otlp, publisher): (&Arc<Otlp>, &Arc<Publisher>),
    sessions: &Addr<SessionRegistry>,
) {
    let page = Arc::clone(page);
    let metrics = Arc::clone(metrics);
    let otlp = Arc::clone(otlp);
    let publisher = Arc::clone(publisher);
    let sessions = sessions.clone();
    let listener = Listener::new(Arc::clone(shared)).start();
    let automatic = progress::Automatic::new(Arc::clone(shared)).start();
    shared.journal.observe(move |events| {
        page.notify(events);
        metrics.count(events);
        otlp.tell(events);
        publisher.tell(events);
        listener::notify(&listener, events);
        progress::notify(&automatic, events);
        // If the registry's mailbox is full, its sessions catch up later.
        let _ = sessions.try_send(EventsAppended(changed_sessions(events)));
    });
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
fn start_upkeep(api: &Data<Api>, actors: &Actors) {
    let shared = Arc::clone(&api.shared);
    drop(actix_web::rt::task::spawn_blocking(move || {
        phase::check_files(&shared)
    }));
    api.otlp.start();
    actors.publisher.start();
    api.ready.send_replace(true);
    actix::spawn(spool::watch(Arc::clone(&api.shared), actors.ingest.clone()));
    actix::spawn(compaction::compact_daily(Arc::clone(&api.shared)));
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        "Ready."
    );
}
