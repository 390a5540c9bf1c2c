//! Accepts connections on the daemon's socket and serves them on the same thread, which also runs
//! the actors: a hook call then crosses two threads, the journal's and this one; with a pool of
//! workers it would be six hops. Slow work leaves this thread by itself.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use actix_http::HttpService;
use actix_service::{
    IntoServiceFactory as _, Service as _, ServiceFactory, ServiceFactoryExt as _, fn_service,
    map_config,
};
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::{App, Error};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;

/// The most concurrent connections; more wait in the socket's queue.
const CONNECTIONS_MAX: usize = 4_096;
/// Pause after a failed accept, for example for lack of descriptors.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);

/// Counts open connections, and reports each close.
#[derive(Default)]
struct Open {
    count: Cell<usize>,
    closed: Notify,
}

impl Open {
    async fn at_most(&self, count: usize) {
        while self.count.get() > count {
            self.closed.notified().await;
        }
    }
}

/// One connection, counted until it is dropped.
struct Connection(Rc<Open>);

impl Connection {
    fn open(open: &Rc<Open>) -> Self {
        open.count.set(open.count.get() + 1);
        Self(Rc::clone(open))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        self.0.closed.notify_one();
    }
}

/// Serves an application until `stop` is notified, then waits up to `grace` for open requests.
///
/// Callers of other users are rejected, whatever the socket's mode is.
pub(crate) async fn serve<T, B>(
    listener: UnixListener,
    app: App<T>,
    stop: Rc<Notify>,
    grace: Duration,
) -> Result<(), String>
where
    T: ServiceFactory<
            actix_web::dev::ServiceRequest,
            Config = (),
            Response = ServiceResponse<B>,
            Error = Error,
            InitError = (),
        > + 'static,
    B: MessageBody + 'static,
{
    let app = map_config(
        app.into_factory()
            .map_err(|error: Error| error.error_response()),
        |()| AppConfig::default(),
    );
    let service = HttpService::build().finish(app);
    let factory =
        fn_service(|stream: UnixStream| async { Ok((stream, actix_http::Protocol::Http1, None)) })
            .and_then(service);
    let service = Rc::new(
        factory
            .new_service(())
            .await
            .map_err(|_| "the application does not start".to_owned())?,
    );
    let open = Rc::new(Open::default());
    let me = rustix::process::geteuid().as_raw();
    loop {
        open.at_most(CONNECTIONS_MAX - 1).await;
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.notified() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "Cannot accept a connection.");
                tokio::time::sleep(REFUSED_PAUSE).await;
                continue;
            }
        };
        if stream.peer_cred().is_ok_and(|peer| peer.uid() != me) {
            tracing::warn!("Closed a connection of another user.");
            continue;
        }
        let connection = Connection::open(&open);
        let service = Rc::clone(&service);
        actix::spawn(async move {
            let _connection = connection;
            // A broken connection concerns only its caller.
            let _ = service.call(stream).await;
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(grace, open.at_most(0)).await;
    Ok(())
}
