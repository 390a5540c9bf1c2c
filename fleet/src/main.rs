//! `checkpointd-fleet`: the network side of a fleet, which `checkpointd` starts. It reads requests from stdin, one at a
//! time, and writes their answers to stdout ([`broker::wire`]). It keeps nothing on the disk.

mod answer;
mod authority;
mod collecting;
mod link;
mod publishing;
mod tls;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use broker::wire::{self, Ask};
use broker::{Problem, Result};
use link::Link;
use serde::Serialize;
use tokio::sync::mpsc;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("checkpointd-fleet {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    if std::env::args().len() > 1 || std::io::stdin().is_terminal() {
        eprintln!("checkpointd starts this program itself: see `checkpointd fleet --help`");
        return ExitCode::from(2);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(serve()),
        Err(error) => {
            eprintln!("checkpointd-fleet: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> ExitCode {
    let (asks, mut asked) = mpsc::channel(1);
    // A thread of its own: it sees that the other program has ended while an answer is awaited.
    std::thread::spawn(move || {
        while let Some(ask) = next_ask() {
            if asks.blocking_send(ask).is_err() {
                return;
            }
        }
        std::process::exit(0);
    });
    let mut connection = None;
    while let Some(ask) = asked.recv().await {
        let answer = answer(&mut connection, ask).await;
        let mut out = std::io::stdout().lock();
        if out.write_all(&answer).and_then(|()| out.flush()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Reads the next request; `None` at the end of the pipe.
fn next_ask() -> Option<Ask> {
    let mut stdin = std::io::stdin().lock();
    let mut length = [0; 4];
    stdin.read_exact(&mut length).ok()?;
    let mut bytes = vec![0; wire::length(length).ok()?];
    stdin.read_exact(&mut bytes).ok()?;
    wire::read(&bytes).ok()
}

async fn answer(connection: &mut Option<Link>, ask: Ask) -> Vec<u8> {
    let refused = |error: String| Problem::Refused(error);
    match ask {
        Ask::Check(credentials) => framed(tls::tls(&credentials).map(drop).map_err(refused)),
        Ask::NewAuthority => framed(authority::new().map_err(|error| refused(error.to_string()))),
        Ask::Issue(authority, names) => {
            let issued = authority::issue(&authority, &names);
            framed(issued.map_err(|error| refused(error.to_string())))
        }
        Ask::Connect {
            servers,
            name,
            credentials,
        } => {
            let linked = Link::connect(&servers, &name, &credentials).await;
            framed(linked.map(|link| *connection = Some(link)))
        }
        other => match connection {
            Some(link) => connected(link, other).await,
            None => framed::<()>(Err(Problem::Later("it is not connected".into()))),
        },
    }
}

async fn connected(link: &Link, ask: Ask) -> Vec<u8> {
    match ask {
        Ask::Prepare(bytes_max) => framed(link.prepare(bytes_max).await),
        Ask::Sources => framed(link.sources().await),
        Ask::Look => framed(link.look().await),
        Ask::Purge { machine, journal } => framed(link.purge(&machine, journal.as_deref()).await),
        Ask::FirstSince(time) => framed(link.first_since(&time).await),
        Ask::PurgeBefore(source, sequence) => framed(link.purge_before(&source, sequence).await),
        Ask::Read { from, of, within } => framed(link.read(from, of.as_ref(), within).await),
        Ask::LastRun(source) => framed(link.last_run(&source).await),
        Ask::Head(source) => framed(link.head(&source).await),
        Ask::Publish {
            source,
            expected,
            marks,
            body,
        } => framed(link.publish(&source, expected, &marks, body).await),
        Ask::SayHead(source, head) => framed(link.say_head(&source, &head).await),
        Ask::Check(_) | Ask::NewAuthority | Ask::Issue(..) | Ask::Connect { .. } => framed::<()>(
            Err(Problem::Later("it is asked before a connection".into())),
        ),
    }
}

fn framed<T: Serialize>(answer: Result<T>) -> Vec<u8> {
    wire::frame(&answer)
}
