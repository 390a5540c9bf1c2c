//! A connection to the broker, and one request on it.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{
    Client, ConnectOptions, Event, HeaderMap, Message, Request, RequestErrorKind, ServerAddr,
};
use broker::{Credentials, Problem, Result};
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Notify;

use crate::answer::ApiError;
use crate::tls;

/// The longest wait for an answer. A cluster that has lost its leader answers after four to eight seconds.
pub(crate) const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// The longest wait for a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// What the server last refused. It says so beside the answers, and the request itself is never answered.
#[derive(Default)]
struct Denied {
    text: Mutex<Option<String>>,
    said: Notify,
}

impl Denied {
    fn take(&self) -> Option<String> {
        self.text.lock().take()
    }

    fn say(&self, text: String) {
        *self.text.lock() = Some(text);
        self.said.notify_one();
    }
}

/// A connection to the broker.
pub(crate) struct Link {
    pub(crate) client: Client,
    denied: Arc<Denied>,
}

impl Link {
    /// Connects to one of the servers by chance, `nats://HOST:PORT` or `tls://HOST:PORT`, separated by commas. Answers come
    /// to an inbox of `name` alone.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if an address, the credentials or the server's certificate are not right, else
    /// [`Problem::Later`].
    pub(crate) async fn connect(
        servers: &str,
        name: &str,
        credentials: &Credentials,
    ) -> Result<Self> {
        let refused = |error: &dyn std::fmt::Display| Problem::Refused(error.to_string());
        let servers: Vec<ServerAddr> = servers
            .split(',')
            .map(|server| server.trim().parse())
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| refused(&error))?;
        let denied = Arc::new(Denied::default());
        let heard = Arc::clone(&denied);
        let mut options = ConnectOptions::new()
            .name(format!("checkpointd {name}"))
            .custom_inbox_prefix(format!("_INBOX.{name}"))
            .connection_timeout(CONNECT_WAIT)
            .event_callback(move |event| {
                let heard = Arc::clone(&heard);
                async move {
                    if let Event::ServerError(error) = event {
                        heard.say(error.to_string());
                    }
                }
            });
        options = match credentials {
            Credentials::None => options,
            Credentials::Password(user, password) => {
                options.user_and_password(user.clone(), password.clone())
            }
            Credentials::Certificate(_) => {
                let tls = tls::tls(credentials).map_err(|error| refused(&error))?;
                let tls = tls.ok_or_else(|| refused(&"no certificate"))?;
                options.tls_client_config(tls).require_tls(true)
            }
        };
        let connected = tokio::time::timeout(2 * CONNECT_WAIT, options.connect(servers)).await;
        let connected =
            connected.map_err(|_| Problem::Later("no server accepts connections".into()))?;
        match connected {
            Ok(client) => Ok(Self { client, denied }),
            Err(error) => {
                let text = full(&error);
                let words = ["uthorization", "certificate", "uthentication"];
                Err(if words.iter().any(|word| text.contains(word)) {
                    Problem::Refused(text)
                } else {
                    Problem::Later(text)
                })
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &self,
        subject: String,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Message> {
        self.denied.take();
        let mut request = Request::new()
            .payload(body.into())
            .timeout(Some(ANSWER_WAIT));
        if !headers.is_empty() {
            request = request.headers(headers);
        }
        let asked = self.client.send_request(subject, request);
        tokio::pin!(asked);
        loop {
            tokio::select! {
                answered = &mut asked => {
                    return answered.map_err(|error| match error.kind() {
                        RequestErrorKind::TimedOut => Problem::Later("no answer".into()),
                        RequestErrorKind::NoResponders => {
                            Problem::Later("no stream answers".into())
                        }
                        _ => Problem::Later(full(&error)),
                    });
                }
                () = self.denied.said.notified() => {
                    // An earlier request's, if it was taken since.
                    if let Some(text) = self.denied.take() {
                        return Err(Problem::Refused(text));
                    }
                }
            }
        }
    }

    /// Asks JetStream's own interface.
    pub(crate) async fn api<T: DeserializeOwned>(&self, name: &str, ask: &Value) -> Result<T> {
        let body = if ask.is_null() {
            Vec::new()
        } else {
            ask.to_string().into_bytes()
        };
        let subject = format!("$JS.API.{name}");
        let answer = self.request(subject, HeaderMap::new(), body).await?;
        read(&answer)
    }
}

#[derive(Deserialize)]
struct Answer {
    error: Option<ApiError>,
}

/// Reads an answer of JetStream's.
pub(crate) fn read<T: DeserializeOwned>(answer: &Message) -> Result<T> {
    let wrong = |error: serde_json::Error| Problem::Later(format!("invalid answer: {error}"));
    let either: Answer = serde_json::from_slice(&answer.payload).map_err(wrong)?;
    match either.error {
        Some(error) => Err(error.into()),
        None => serde_json::from_slice(&answer.payload).map_err(wrong),
    }
}

/// Returns an error with its causes.
fn full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = cause.source();
    }
    text
}
