//! The program `checkpointd-fleet`, which is beside the one that runs.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use crate::wire::{self, Ask};
use crate::{
    Authority, Batch, Credentials, Head, Issued, Look, Marks, Problem, Result, Source, Stored,
};

const NAME: &str = "checkpointd-fleet";

/// Returns where the program is.
fn program() -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(|error| Problem::Refused(error.to_string()))?;
    let path = own.with_file_name(NAME);
    if path.is_file() {
        return Ok(path);
    }
    Err(Problem::Refused(format!(
        "{} is missing: it comes with every package, and `cargo build -p {NAME}` builds it",
        path.display()
    )))
}

fn lost(error: &std::io::Error) -> Problem {
    Problem::Later(format!("{NAME}: {error}"))
}

/// A connection to the broker.
pub struct Broker(Mutex<Pipe>);

struct Pipe {
    /// Killed when this is dropped.
    _child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    /// A request was sent whose answer was not read.
    is_busy: bool,
}

impl Pipe {
    async fn ask<T: DeserializeOwned>(&mut self, ask: &Ask) -> Result<T> {
        if self.is_busy {
            return Err(Problem::Later("an earlier request was given up".into()));
        }
        self.is_busy = true;
        let exchange = async {
            self.stdin.write_all(&wire::frame(ask)).await?;
            let mut length = [0; 4];
            self.stdout.read_exact(&mut length).await?;
            Ok(length)
        };
        let length = exchange.await.map_err(|error| lost(&error))?;
        let mut bytes = vec![0; wire::length(length)?];
        let read = self.stdout.read_exact(&mut bytes).await;
        read.map_err(|error| lost(&error))?;
        self.is_busy = false;
        wire::read::<Result<T>>(&bytes)?
    }
}

impl Broker {
    /// Starts the program and connects to one of the servers, `nats://HOST:PORT` or `tls://HOST:PORT`, separated by
    /// commas. Answers come to an inbox of `name` alone.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the program is missing, or an address, the credentials or the server's certificate are not
    /// right, else [`Problem::Later`].
    pub async fn connect(servers: &str, name: &str, credentials: &Credentials) -> Result<Self> {
        let mut child = Command::new(program()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| lost(&error))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Problem::Later("no pipes".into()));
        };
        let broker = Self(Mutex::new(Pipe {
            _child: child,
            stdin,
            stdout,
            is_busy: false,
        }));
        let ask = Ask::Connect {
            servers: servers.to_owned(),
            name: name.to_owned(),
            credentials: credentials.clone(),
        };
        broker.ask::<()>(ask).await?;
        Ok(broker)
    }

    async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T> {
        self.0.lock().await.ask(&ask).await
    }

    /// Makes the streams that are missing. The stream of runs takes `bytes_max`, or half of that and so on if the servers
    /// do not have it.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn prepare(&self, bytes_max: i64) -> Result<()> {
        self.ask(Ask::Prepare(bytes_max)).await
    }

    /// Returns the journals that have runs in the stream.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn sources(&self) -> Result<Vec<Source>> {
        self.ask(Ask::Sources).await
    }

    /// Returns what the stream of runs says of itself.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn look(&self) -> Result<Look> {
        self.ask(Ask::Look).await
    }

    /// Removes all runs of a machine, or of one of its journals. Returns how many messages there were.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn purge(&self, machine: &str, journal: Option<&str>) -> Result<u64> {
        let (machine, journal) = (machine.to_owned(), journal.map(str::to_owned));
        self.ask(Ask::Purge { machine, journal }).await
    }

    /// Returns the number of the first run since a time, such as `2026-11-23T13:00:00` in UTC; if there is none, that of
    /// the next one.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn first_since(&self, time: &str) -> Result<u64> {
        self.ask(Ask::FirstSince(time.to_owned())).await
    }

    /// Removes a journal's runs before a number. Returns how many there were.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn purge_before(&self, source: &Source, sequence: u64) -> Result<u64> {
        self.ask(Ask::PurgeBefore(source.clone(), sequence)).await
    }

    /// Returns the runs from a number on, of one journal or of all; none if none comes `within` a time. Nothing is noted
    /// at the broker: what was read once can be read again.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn read(&self, from: u64, of: Option<&Source>, within: Duration) -> Result<Batch> {
        let of = of.cloned();
        self.ask(Ask::Read { from, of, within }).await
    }

    /// Returns the last run of a journal.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn last_run(&self, source: &Source) -> Result<Option<Stored>> {
        self.ask(Ask::LastRun(source.clone())).await
    }

    /// Returns what the collector has of a journal.
    ///
    /// # Errors
    ///
    /// As the broker answers.
    pub async fn head(&self, source: &Source) -> Result<Option<Head>> {
        self.ask(Ask::Head(source.clone())).await
    }

    /// Stores a run if the subject's last message has the number `expected`, 0 for none. Returns the run's number.
    ///
    /// # Errors
    ///
    /// [`Problem::Moved`] if it has another one. After any other error it is not known whether the run was stored.
    pub async fn publish(
        &self,
        source: &Source,
        expected: u64,
        marks: &Marks,
        body: Vec<u8>,
    ) -> Result<u64> {
        self.ask(Ask::Publish {
            source: source.clone(),
            expected,
            marks: marks.clone(),
            body,
        })
        .await
    }

    /// Publishes what the collector has of a journal. No acknowledgment is awaited: the next message repeats the
    /// figures.
    ///
    /// # Errors
    ///
    /// If there is no connection.
    pub async fn say_head(&self, source: &Source, head: &Head) -> Result<()> {
        self.ask(Ask::SayHead(source.clone(), head.clone())).await
    }
}

/// Starts the program for one answer that needs no broker.
fn once<T: DeserializeOwned>(ask: &Ask) -> Result<T> {
    let mut child = std::process::Command::new(program()?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| lost(&error))?;
    let mut bytes = Vec::new();
    // Its end closes the pipes, and the program ends.
    if let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) {
        let mut length = [0; 4];
        let exchange = stdin
            .write_all(&wire::frame(ask))
            .and_then(|()| stdout.read_exact(&mut length));
        exchange.map_err(|error| lost(&error))?;
        bytes.resize(wire::length(length)?, 0);
        stdout
            .read_exact(&mut bytes)
            .map_err(|error| lost(&error))?;
    }
    let _ = child.wait();
    wire::read::<Result<T>>(&bytes)?
}

/// Checks that TLS can be spoken with credentials.
///
/// # Errors
///
/// A sentence on what is wrong with them.
pub fn check(credentials: &Credentials) -> Result<()> {
    once(&Ask::Check(credentials.clone()))
}

/// Makes a certificate authority.
///
/// # Errors
///
/// If the program is missing, or the system has no random numbers.
pub fn new_authority() -> Result<Authority> {
    once(&Ask::NewAuthority)
}

/// Issues a certificate for these names, of hosts or of a user.
///
/// # Errors
///
/// If the program is missing, or the authority's key is not right.
pub fn issue(authority: &Authority, names: &[String]) -> Result<Issued> {
    once(&Ask::Issue(authority.clone(), names.to_vec()))
}
