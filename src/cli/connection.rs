//! Answers queries: through the running daemon's socket, or from the journal itself if no daemon
//! runs. The answers are the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use actors::draft;
use actors::trust::Trust;
use checkpoint::config::Config;
use journal::reply::Response;
use journal::socket::{check_owner, with_short_path};
use journal::{Home, Journal, Options};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config;
use crate::error::{Failure, Result};
use crate::ops::query::{self, Progress, Query, Reader};
use crate::ops::refusal::{Refusal, Refused};
use crate::ops::views::Health;
use crate::render;

/// The longest wait for the daemon's health.
const HEALTH_WAIT: Duration = Duration::from_millis(500);
/// The longest wait for a journal that another process holds: usually a daemon that is starting and
/// then answers itself.
const JOURNAL_WAIT: Duration = Duration::from_secs(10);
/// Pause between two tries.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// The longest silence within the daemon's answer.
const ANSWER_WAIT: Duration = Duration::from_secs(120);

/// What to do on a machine that has no data yet.
const FIRST_STEP: &str =
    "`checkpointd init` adds the hooks to your agents; `checkpointd demo` shows what they do";

/// Returns the daemon's health, or `None` if no daemon accepts hooks.
pub(crate) fn health(home: &Home) -> Option<Health> {
    let response = request(home, "GET", "/healthz", b"", HEALTH_WAIT).ok()?;
    if response.status() != 200 {
        return None;
    }
    serde_json::from_slice(&whole(response).ok()?).ok()
}

/// Reads one JSON document from the daemon.
pub(crate) fn get<T: DeserializeOwned>(home: &Home, path: &str) -> Result<T> {
    let response = request(home, "GET", path, b"", ANSWER_WAIT)?;
    serde_json::from_slice(&whole(response)?).map_err(not_understood)
}

fn not_understood(error: serde_json::Error) -> Failure {
    Failure::failed(format!("invalid answer from the daemon: {error}"))
        .hint("restart a daemon of another version: `checkpointd daemon restart`")
}

/// Posts a body to the daemon and returns the status and body of any answer.
pub(crate) fn exchange(home: &Home, path: &str, body: &[u8]) -> Result<(u16, Vec<u8>)> {
    let response = request(home, "POST", path, body, ANSWER_WAIT)?;
    Ok((response.status(), whole(response)?))
}

/// Posts a body to the daemon and returns its answer.
pub(crate) fn post(home: &Home, path: &str, body: &[u8]) -> Result<Vec<u8>> {
    let (status, body) = exchange(home, path, body)?;
    if status == 200 {
        return Ok(body);
    }
    Err(refusal(&body))
}

/// Posts a body to the daemon and reads its answer. A daemon that cannot answer now counts as unreachable.
pub(crate) fn post_for<T: DeserializeOwned>(home: &Home, path: &str, body: &[u8]) -> Result<T> {
    match exchange(home, path, body)? {
        (200, body) => serde_json::from_slice(&body).map_err(not_understood),
        (503, body) => Err(Failure::unreachable(refusal(&body).text())),
        (_, body) => Err(refusal(&body)),
    }
}

/// Returns the daemon's error for a refused request.
pub(crate) fn refusal(body: &[u8]) -> Failure {
    let refused: Value = serde_json::from_slice(body).unwrap_or_default();
    match refused["error"].as_str() {
        Some(error) => Failure::failed(error),
        None => Failure::failed(String::from_utf8_lossy(body).trim()),
    }
}

/// Posts a request to the daemon, or where `journal` is given carries it out on that one, and closes it.
pub(crate) fn keep(
    home: &Home,
    journal: Option<Journal>,
    (path, body): (&str, &Value),
    here: impl FnOnce(&Journal, &Config) -> std::result::Result<Value, Refusal>,
) -> Result<Value> {
    let Some(journal) = journal else {
        return post_for(home, path, body.to_string().as_bytes());
    };
    let answered = config::load(home).map(|config| here(&journal, &config));
    journal.close();
    answered?.map_err(|(kind, error)| match kind {
        Refused::Journal => Failure::unreachable(error),
        _ => Failure::failed(error),
    })
}

/// Runs a query whose lines have one type.
pub(crate) fn ask<T: DeserializeOwned>(
    home: &Home,
    query: &Query,
    each: impl FnMut(T),
) -> Result<()> {
    read_by(each, |lines| ask_json(home, query, lines))
}

/// Like [`ask`], but never opens the journal.
#[cfg(feature = "top")]
pub(crate) fn ask_daemon<T: DeserializeOwned>(
    home: &Home,
    query: &Query,
    each: impl FnMut(T),
) -> Result<()> {
    let body = serde_json::to_vec(query).expect("a question is plain data");
    read_by(each, |lines| post_lines(home, "/v1/query", &body, lines))
}

/// Parses the lines of an answer, up to the first of another type.
fn read_by<T: DeserializeOwned>(
    mut each: impl FnMut(T),
    ask: impl FnOnce(&mut dyn FnMut(Value)) -> Result<()>,
) -> Result<()> {
    let mut read = Ok(());
    ask(&mut |line| {
        if read.is_ok() {
            read = serde_json::from_value(line).map(&mut each);
        }
    })?;
    read.map_err(not_understood)
}

/// Runs a query and returns all lines of the answer.
pub(crate) fn ask_all<T: DeserializeOwned>(home: &Home, query: &Query) -> Result<Vec<T>> {
    let mut lines = Vec::new();
    ask(home, query, |line| lines.push(line))?;
    Ok(lines)
}

/// Runs a query and passes on the lines of the answer as JSON.
///
/// A daemon that ends before it answers is not an error: the next one answers, or the journal itself.
pub(crate) fn ask_json(home: &Home, query: &Query, mut each: impl FnMut(Value)) -> Result<()> {
    let began = Instant::now();
    let journal = loop {
        if let Some(journal) = reach(home)? {
            break journal;
        }
        let body = serde_json::to_vec(query).expect("a question is plain data");
        match request(home, "POST", "/v1/query", &body, ANSWER_WAIT) {
            Ok(response) => return pass_lines(response, &mut each),
            Err(_) if began.elapsed() < JOURNAL_WAIT => std::thread::sleep(RETRY_PAUSE),
            Err(error) => return Err(error),
        }
    };
    let answered = Reader::new(journal.clone(), Trust::of(home)).answer(query, &mut |line| {
        each(line);
        true
    });
    journal.close();
    Ok(answered?)
}

/// Opens the journal, or returns `None` if a daemon has it and can be asked.
pub(crate) fn reach(home: &Home) -> Result<Option<Journal>> {
    unless_asked(home, || {
        has_journal(home)?;
        Ok(Journal::open(&home.journal, Options::default()).map(|(journal, _)| journal))
    })
}

/// Opens the journal with `open`, unless a daemon answers. Waits up to [`JOURNAL_WAIT`] for another process to release it.
fn unless_asked(
    home: &Home,
    open: impl Fn() -> Result<journal::Result<Journal>>,
) -> Result<Option<Journal>> {
    let began = Instant::now();
    while health(home).is_none() {
        match open()? {
            Err(journal::Error::Locked { .. }) if began.elapsed() < JOURNAL_WAIT => {
                std::thread::sleep(RETRY_PAUSE)
            }
            opened => return Ok(Some(opened?)),
        }
    }
    Ok(None)
}

/// Fails while a daemon runs.
pub(crate) fn refuse_daemon(home: &Home) -> Result<()> {
    health(home).map_or(Ok(()), |_| Err(daemon_runs()))
}

/// Says that a daemon is in the way.
pub(crate) fn daemon_runs() -> Failure {
    Failure::failed("a daemon is running")
        .hint("stop it first: `checkpointd daemon stop`; hook calls wait in the spool meanwhile")
}

/// Runs a query with a one-line answer.
pub(crate) fn ask_one<T: DeserializeOwned>(home: &Home, query: &Query) -> Result<T> {
    ask_one_with(home, query, |_, _| ())
}

/// Like [`ask_one`]. `progress` gets the done and the total amount.
pub(crate) fn ask_one_with<T: DeserializeOwned>(
    home: &Home,
    query: &Query,
    mut progress: impl FnMut(u64, u64),
) -> Result<T> {
    let mut answer = Value::Null;
    ask_json(home, query, |line| match progress_of(&line) {
        Some((done, all)) => progress(done, all),
        None => answer = line,
    })?;
    serde_json::from_value(answer).map_err(not_understood)
}

/// Returns the content of a progress line. An answer may have a field of that name beside others.
pub(crate) fn progress_of(line: &Value) -> Option<(u64, u64)> {
    let sign = Progress::deserialize(line).ok()?;
    Some(sign.progress)
}

/// Opens the journal in this process, as commands do when no daemon runs.
pub(crate) fn open_journal(home: &Home) -> Result<Journal> {
    has_journal(home)?;
    Ok(opened(home)?)
}

/// Opens a journal to append to: what is appended passes the redactor (spec JRNL-20). Settings that cannot be read leave
/// the built-in rules.
pub(crate) fn opened(home: &Home) -> journal::Result<Journal> {
    let options = Options {
        sync: journal::Sync::Always,
        ..Options::default()
    };
    let (journal, _) = Journal::open(&home.journal, options)?;
    let config = config::load(home).unwrap_or_default();
    draft::guard(&journal, &config.redactor);
    Ok(journal)
}

/// Opens or creates the journal in this process. Returns `None` if a daemon answers.
pub(crate) fn own_journal(home: &Home) -> Result<Option<Journal>> {
    unless_asked(home, || Ok(opened(home)))
}

/// Returns whether there is a journal. Fails if there could be none, or the user may not look.
pub(crate) fn is_journal_there(home: &Home) -> Result<bool> {
    let is_there = home.journal.join("intake").is_dir();
    if !is_there {
        config::refuse_unusable_home(home)?;
    }
    Ok(is_there)
}

/// Fails if there is no journal.
pub(crate) fn has_journal(home: &Home) -> Result<()> {
    if is_journal_there(home)? {
        return Ok(());
    }
    Err(Failure::unreachable(format!(
        "there is no journal in {} yet",
        render::path(&home.journal)
    ))
    .hint(first_step(home)))
}

/// Says how to begin, which differs once the hooks are installed.
pub(crate) fn first_step(home: &Home) -> &'static str {
    if home.installed.exists() {
        "Restart your agents: the hooks are installed, and agents load them when they start"
    } else {
        FIRST_STEP
    }
}

/// Posts a body to the daemon and returns its answer as a stream of bytes.
pub(crate) fn post_stream(home: &Home, path: &str, body: &[u8]) -> Result<impl Read> {
    streamed(request(home, "POST", path, body, ANSWER_WAIT)?)
}

/// Posts a body to the daemon and passes on its answer line by line.
pub(crate) fn post_lines(
    home: &Home,
    path: &str,
    body: &[u8],
    each: &mut dyn FnMut(Value),
) -> Result<()> {
    pass_lines(request(home, "POST", path, body, ANSWER_WAIT)?, each)
}

/// Returns an answer, unless it is a refusal.
fn streamed(response: Response<UnixStream>) -> Result<Response<UnixStream>> {
    if response.status() != 200 {
        return Err(Failure::failed(
            String::from_utf8_lossy(&whole(response)?).trim(),
        ));
    }
    Ok(response)
}

fn pass_lines(response: Response<UnixStream>, each: &mut dyn FnMut(Value)) -> Result<()> {
    for line in BufReader::new(streamed(response)?).lines() {
        let line: Value = serde_json::from_str(&line?).map_err(Failure::failed)?;
        if let Some(failure) = query::Error::read(&line) {
            return Err(failure);
        }
        each(line);
    }
    Ok(())
}

/// Reads the rest of a response.
fn whole(mut response: Response<UnixStream>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    response.read_to_end(&mut body)?;
    Ok(body)
}

fn request(
    home: &Home,
    method: &str,
    path: &str,
    body: &[u8],
    wait: Duration,
) -> Result<Response<UnixStream>> {
    let no_daemon = |error: std::io::Error| {
        Failure::unreachable(format!(
            "no daemon answers on {}: {error}",
            home.socket.display()
        ))
        .hint("start it with `checkpointd daemon --detach`")
    };
    check_owner(&home.socket, rustix::process::geteuid().as_raw()).map_err(no_daemon)?;
    let mut stream =
        with_short_path(&home.socket, |path| UnixStream::connect(path)).map_err(no_daemon)?;
    stream.set_read_timeout(Some(wait)).map_err(no_daemon)?;
    stream.set_write_timeout(Some(wait)).map_err(no_daemon)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: checkpointd\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body))
        .map_err(no_daemon)?;
    Response::receive(stream).map_err(no_daemon)
}
