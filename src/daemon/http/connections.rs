//! Accepts connections on the daemon's socket and serves them on the same thread, which also runs the actors and commits
//! most tool calls: between request and answer, such a call waits for no other thread. With a pool of workers it would be
//! six hops. Slow work leaves this thread by itself.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_http::{Extensions, HttpService};
use actix_service::{
    IntoServiceFactory as _, Service, ServiceFactory, ServiceFactoryExt as _, fn_factory,
    fn_service, map_config,
};
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::{App, Error};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::SocketAddr;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;

/// The most concurrent connections; more wait in the socket's queue.
const CONNECTIONS_MAX: usize = 4_096;
/// Pause after a failed accept, for example for lack of descriptors.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);
/// How long after the last connection the HTTP service is kept. It has a clock that wakes the processor twice a second.
const REST_AFTER: Duration = Duration::from_secs(10);

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

/// Whether the peer of a connection has gone. A host that no longer waits for its hook ends the client, and so its
/// connection.
#[derive(Default)]
pub(crate) struct Peer {
    has_gone: Cell<bool>,
    goes: Notify,
}

impl Peer {
    /// Waits until the peer has gone.
    pub(crate) async fn gone(&self) {
        while !self.has_gone.get() {
            self.goes.notified().await;
        }
    }
}

/// A connection whose end is noticed while a request on it is being answered.
struct Watched {
    stream: UnixStream,
    peer: Rc<Peer>,
}

impl Watched {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            peer: Rc::default(),
        }
    }

    /// Notes that the peer has closed the connection, unless it only stopped sending and still reads.
    fn at_end(&self) {
        let mut hangs_up = [PollFd::new(&self.stream, PollFlags::empty())];
        let now = Timespec::default();
        let is_hung_up = poll(&mut hangs_up, Some(&now)).is_ok_and(|ready| ready > 0)
            && hangs_up[0].revents().contains(PollFlags::HUP);
        if is_hung_up {
            self.peer.has_gone.set(true);
            self.peer.goes.notify_waiters();
            self.peer.goes.notify_one();
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let is_end = match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_end {
            self.at_end();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
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
    let not_started = |_| "the application does not start".to_owned();
    let app = Rc::new(app.new_service(()).await.map_err(not_started)?);
    let http = || {
        let app = Rc::clone(&app);
        let app = fn_factory(move || std::future::ready(Ok::<_, ()>(Rc::clone(&app))));
        let service = HttpService::build()
            .on_connect_ext(|stream: &Watched, data: &mut Extensions| {
                data.insert(Rc::clone(&stream.peer));
            })
            .finish(app);
        fn_service(|stream: UnixStream| async {
            let stream = Watched::new(stream);
            Ok((stream, actix_http::Protocol::Http1, None))
        })
        .and_then(service)
        .new_service(())
    };
    let mut service = None;
    let open = Rc::new(Open::default());
    loop {
        open.at_most(CONNECTIONS_MAX - 1).await;
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.notified() => break,
            () = tokio::time::sleep(REST_AFTER), if service.is_some() => {
                if open.count.get() == 0 {
                    service = None;
                }
                continue;
            }
        };
        let Some(stream) = taken(accepted).await else {
            continue;
        };
        let connection = Connection::open(&open);
        let service = match &service {
            Some(known) => Rc::clone(known),
            None => {
                let new = Rc::new(http().await.map_err(not_started)?);
                Rc::clone(service.insert(new))
            }
        };
        actix::spawn(answered(service, stream, connection));
    }
    drop(listener);
    let _ = tokio::time::timeout(grace, open.at_most(0)).await;
    Ok(())
}

/// Returns the connection if it is of this user.
async fn taken(accepted: io::Result<(UnixStream, SocketAddr)>) -> Option<UnixStream> {
    let stream = match accepted {
        Ok((stream, _)) => stream,
        Err(error) => {
            tracing::warn!(%error, "Cannot accept a connection.");
            tokio::time::sleep(REFUSED_PAUSE).await;
            return None;
        }
    };
    let me = rustix::process::geteuid().as_raw();
    if stream.peer_cred().is_ok_and(|peer| peer.uid() != me) {
        tracing::warn!("Closed a connection of another user.");
        return None;
    }
    Some(stream)
}

/// Serves a connection to its end. A broken one concerns only its caller.
async fn answered<S: Service<UnixStream>>(service: Rc<S>, stream: UnixStream, open: Connection) {
    let _open = open;
    let _ = service.call(stream).await;
}
