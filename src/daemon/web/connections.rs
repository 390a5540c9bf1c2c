//! Accepts the page's connections, so that a client without the key cannot keep its owner waiting.
//!
//! The head of the first request is read here. A connection whose first request has the key stays as long as it wants to,
//! up to [`OWN_MAX`]. One without it, or one that says nothing, gets one answer, a deadline, and one of [`OTHERS_MAX`]
//! places: a newer one takes the place of the oldest. The browser's own first requests have no key either, and are over
//! within milliseconds.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use actix_http::{HttpService, KeepAlive, Protocol};
use actix_service::{
    IntoServiceFactory as _, Service, ServiceFactory, ServiceFactoryExt as _, map_config,
};
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, ServiceRequest, ServiceResponse};
use actix_web::{App, Error, web};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use super::guard;
use super::page::Page;

/// The most connections that have the key; a browser opens six.
const OWN_MAX: usize = 64;
/// Maximum number of other connections.
const OTHERS_MAX: usize = 64;
/// A connection without the key is closed after this time.
const OTHERS_LIFE: Duration = Duration::from_secs(10);
/// The largest head of a connection's first request, in bytes.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Pause after a failed accept, for example for lack of descriptors.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);

/// What a connection's service reads and writes: the head again, then what follows it.
type Stream = tokio::io::Join<
    tokio::io::Chain<Cursor<Vec<u8>>, tokio::net::tcp::OwnedReadHalf>,
    tokio::net::tcp::OwnedWriteHalf,
>;

/// Open connections of one kind, oldest first.
#[derive(Default)]
struct Open(RefCell<VecDeque<AbortHandle>>);

impl Open {
    /// Adds one, and closes the oldest one if there are more than `max`.
    fn add(&self, connection: AbortHandle, max: usize) {
        let mut open = self.0.borrow_mut();
        open.retain(|connection| !connection.is_finished());
        open.push_back(connection);
        if open.len() > max
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
    }
}

/// Serves an application until the task is aborted, and then closes every connection.
pub(super) async fn serve<T, B>(
    listener: std::net::TcpListener,
    page: web::Data<Page>,
    app: impl Fn() -> App<T>,
) -> io::Result<()>
where
    T: ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<B>,
            Error = Error,
            InitError = (),
        > + 'static,
    B: MessageBody + 'static,
{
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let own = Rc::new(service(app(), KeepAlive::default()).await?);
    let other = Rc::new(service(app(), KeepAlive::Disabled).await?);
    let (owns, others) = (Rc::new(Open::default()), Open::default());
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(REFUSED_PAUSE).await;
            continue;
        };
        let (page, owns) = (page.clone(), Rc::clone(&owns));
        let (own, other) = (Rc::clone(&own), Rc::clone(&other));
        let connection = actix::spawn(async move {
            let served = async {
                let (head, stream) = first_head(stream).await?;
                if guard::has_key(&head, &page) {
                    let served =
                        async move { drop(own.call((stream, Protocol::Http1, Some(peer))).await) };
                    owns.add(actix::spawn(served).abort_handle(), OWN_MAX);
                } else {
                    // A broken connection concerns only its caller.
                    let _ = other.call((stream, Protocol::Http1, Some(peer))).await;
                }
                io::Result::Ok(())
            };
            let _ = tokio::time::timeout(OTHERS_LIFE, served).await;
        });
        others.add(connection.abort_handle(), OTHERS_MAX);
    }
}

/// Creates the service of a connection.
async fn service<T, B>(
    app: App<T>,
    keep_alive: KeepAlive,
) -> io::Result<impl Service<(Stream, Protocol, Option<SocketAddr>), Response = ()>>
where
    T: ServiceFactory<
            ServiceRequest,
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
    HttpService::build()
        .keep_alive(keep_alive)
        .finish(app)
        .new_service(())
        .await
        .map_err(|_| io::Error::other("the application does not start"))
}

/// Reads up to the end of the first request's head, and returns what was read, and the whole stream.
async fn first_head(stream: TcpStream) -> io::Result<(Vec<u8>, Stream)> {
    let (mut reader, writer) = stream.into_split();
    let mut head = Vec::with_capacity(1024);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
        if reader.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    let whole = Cursor::new(head.clone()).chain(reader);
    Ok((head, tokio::io::join(whole, writer)))
}
