//! The web page: served by the daemon on a loopback port after a request on the socket.
//!
//! It runs on a thread of its own, so that no page can slow a hook call down. It reads, and may do what `top` does to one
//! session: mute it, let its next stop pass, mark a demand wrong.
//! `connections.rs` accepts connections, `guard.rs` admits requests, `routes.rs` defines the routes.

mod access;
mod assets;
mod connections;
mod guard;
mod page;
mod routes;
mod saved;
mod stream;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::Arbiter;
use actix_web::middleware::from_fn;
use actix_web::{App, web};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::ops::wire::Opened;
use access::AccessTokens;

pub(crate) use page::Page;

/// Threads that read the journal for pages.
const READERS: usize = 4;
/// The longest wait for the end of the page's thread.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// A page that is being served.
struct Open {
    port: u16,
    thread: Arbiter,
    /// Ends when the port is free again.
    ended: oneshot::Receiver<()>,
}

pub(crate) struct Server {
    page: Arc<Page>,
    open: Mutex<Option<Open>>,
}

impl Server {
    pub(crate) fn new(page: Arc<Page>) -> Arc<Self> {
        Arc::new(Self {
            page,
            open: Mutex::default(),
        })
    }

    /// Opens the page on a loopback port, 0 for any, unless it is open; returns an address that
    /// works once.
    pub(crate) fn open(&self, port: u16) -> Result<Opened, String> {
        let mut open = self.open.lock();
        let port = match &*open {
            Some(open) if port != 0 && port != open.port => {
                return Err(format!(
                    "the page is open on port {}; close it first with `checkpointd web --stop`",
                    open.port
                ));
            }
            Some(open) => open.port,
            None => {
                let served = self.serve(port).map_err(|error| no_port(port, &error))?;
                let port = open.insert(served).port;
                self.page.is_on(Some(port));
                port
            }
        };
        let token = self.page.tokens().issue(Instant::now());
        Ok(Opened {
            // A browser leaves the usual port out, and so out of the page's origin.
            url: match port {
                80 => format!("http://127.0.0.1/#token={token}"),
                _ => format!("http://127.0.0.1:{port}/#token={token}"),
            },
            token,
            port,
        })
    }

    /// Opens the page again as the last daemon had it, if a tab of it is still open.
    pub(crate) fn reopen(&self) {
        let Some(kept) = saved::read(&self.page.shared.home.run) else {
            return;
        };
        let mut open = self.open.lock();
        if open.is_some() {
            return;
        }
        match self.serve(kept.port) {
            Ok(served) => {
                *self.page.tokens() = AccessTokens::with_tabs(kept.tabs);
                self.page.is_on(Some(served.port));
                *open = Some(served);
            }
            Err(error) => {
                tracing::warn!(%error, port = kept.port, "Cannot open the page again.");
            }
        }
    }

    /// Closes the page for good; every tab must be admitted again. Returns whether it was open.
    pub(crate) async fn close(&self) -> bool {
        *self.page.tokens() = AccessTokens::default();
        self.page.is_on(None);
        saved::forget(&self.page.shared.home.run);
        self.end().await
    }

    /// Stops serving the page, which the next daemon opens again. Returns whether it was open.
    pub(crate) async fn end(&self) -> bool {
        let open = self.open.lock().take();
        match open {
            Some(open) => {
                open.thread.stop();
                let _ = tokio::time::timeout(CLOSE_WITHIN, open.ended).await;
                true
            }
            None => false,
        }
    }

    fn serve(&self, port: u16) -> std::io::Result<Open> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let page = web::Data::from(Arc::clone(&self.page));
        let app = {
            let page = page.clone();
            move || {
                App::new()
                    .app_data(page.clone())
                    .wrap(from_fn(guard::check))
                    .configure(routes::routes)
            }
        };
        let thread = Arbiter::with_tokio_rt(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .max_blocking_threads(READERS)
                .build()
                .expect("the system has threads")
        });
        let (runs, ended) = oneshot::channel();
        thread.spawn_fn(move || {
            actix::spawn(async move {
                let _runs: oneshot::Sender<()> = runs;
                if let Err(error) = connections::serve(listener, page, app).await {
                    tracing::warn!(%error, "The web server ended unexpectedly.");
                }
            });
        });
        Ok(Open {
            port,
            thread,
            ended,
        })
    }

    /// Returns whether a token is still unused.
    pub(crate) fn waits(&self, token: &str) -> bool {
        self.page.tokens().waits(token)
    }
}

/// Says why the page is not on a port, and what to do.
fn no_port(port: u16, error: &std::io::Error) -> String {
    let hint = match error.kind() {
        ErrorKind::PermissionDenied => {
            "; ports below 1024 belong to the system: use a higher one, or 0 for any"
        }
        ErrorKind::AddrInUse => "; another program uses it: use another one, or 0 for any",
        _ => "",
    };
    format!("cannot listen on 127.0.0.1:{port}: {error}{hint}")
}
