//! The web page: served by the daemon on a loopback port, once somebody has asked for it over the socket.
//!
//! It runs on a thread of its own, so that no page can slow a hook call down. It reads; nothing that it serves changes
//! anything. Who may look is settled in `guard.rs`, what there is to look at in `routes.rs`.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use actix_web::dev::ServerHandle;
use actix_web::middleware::from_fn;
use actix_web::{App, HttpServer, web};
use actors::Shared;
use journal::Envelope;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};

mod assets;
pub(crate) mod control;
mod doors;
mod guard;
mod routes;
mod stream;

use doors::Doors;

use crate::query::Reader;

/// Connections that are served at once; a browser opens six.
const CONNECTIONS_MAX: usize = 64;
/// Threads on which the journal is read for pages.
const READERS: usize = 4;
/// Walks over many events that may go on at once; more wait their turn.
const WALKS_MAX: usize = 4;
/// The longest that requests under way may take when the page is closed, in seconds.
const CLOSE_WITHIN_S: u64 = 1;

/// Where the page is, for `checkpointd web`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// The address with a token that opens it once.
    pub(crate) url: String,
    /// The token.
    pub(crate) token: String,
    /// The port.
    pub(crate) port: u16,
}

/// A page that is being served.
struct Open {
    port: u16,
    handle: ServerHandle,
}

/// The page, open or not.
pub(crate) struct Page {
    shared: Arc<Shared>,
    reader: Arc<Reader>,
    open: Mutex<Option<Open>>,
    doors: Mutex<Doors>,
    /// The journal's last event.
    grown: watch::Sender<u64>,
    walks: Arc<Semaphore>,
}

impl Page {
    /// Makes one that is not open.
    pub(crate) fn new(shared: Arc<Shared>, reader: Arc<Reader>) -> Arc<Self> {
        let grown = watch::Sender::new(shared.journal.last_seq());
        let walks = Arc::new(Semaphore::new(WALKS_MAX));
        Arc::new(Self {
            shared,
            reader,
            open: Mutex::default(),
            doors: Mutex::default(),
            grown,
            walks,
        })
    }

    /// Notes that the journal has grown. Never waits; who looks too rarely sees only the last state.
    pub(crate) fn tell(&self, events: &[Envelope]) {
        if let Some(last) = events.last() {
            self.grown.send_replace(last.seq);
        }
    }

    /// Opens the page on a loopback port, 0 for any, unless it is open there; returns an address that works once.
    ///
    /// # Errors
    ///
    /// A sentence, when the port cannot be had or the page is open on another one.
    pub(crate) fn open(self: &Arc<Self>, port: u16) -> Result<Opened, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let port = match &*open {
            Some(open) if port != 0 && port != open.port => {
                return Err(format!(
                    "the page is open on port {}; close it first with `checkpointd web --stop`",
                    open.port
                ));
            }
            Some(open) => open.port,
            None => {
                let served = self
                    .serve(port)
                    .map_err(|error| format!("cannot listen on 127.0.0.1:{port}: {error}"))?;
                open.insert(served).port
            }
        };
        let token = self.doors().mint(Instant::now());
        Ok(Opened {
            url: format!("http://127.0.0.1:{port}/?token={token}"),
            token,
            port,
        })
    }

    /// Closes the page; whoever looks at it has to be let in anew. Tells whether it was open.
    pub(crate) async fn close(&self) -> bool {
        let open = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        *self.doors() = Doors::default();
        match open {
            Some(open) => {
                open.handle.stop(false).await;
                true
            }
            None => false,
        }
    }

    fn serve(self: &Arc<Self>, port: u16) -> std::io::Result<Open> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let page = web::Data::from(Arc::clone(self));
        let own = web::Data::new(guard::Own { port });
        let app = move || {
            App::new()
                .app_data(page.clone())
                .app_data(own.clone())
                .wrap(from_fn(guard::check))
                .configure(routes::routes)
        };
        let server = HttpServer::new(app)
            .workers(1)
            .worker_max_blocking_threads(READERS)
            .max_connections(CONNECTIONS_MAX)
            .shutdown_timeout(CLOSE_WITHIN_S)
            .disable_signals()
            .listen(listener)?
            .run();
        let handle = server.handle();
        actix::spawn(async move {
            if let Err(error) = server.await {
                tracing::warn!(%error, "The web page ended by itself.");
            }
        });
        Ok(Open { port, handle })
    }

    fn doors(&self) -> std::sync::MutexGuard<'_, Doors> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
