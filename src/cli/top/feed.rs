//! Polls the daemon on a thread of its own, so that no key waits for an answer.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use journal::Home;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::act::explain;
use super::model::{Effect, Input};
use super::page::{News, Subject};
use crate::cli::connection;
use crate::cli::text::timeline::{Drawn, Growing};
use crate::cli::text::{event_line, explanation};
use crate::error::{Failure, Result};
use crate::ops::query::{Events, Query};
use crate::ops::sessions_now::SessionsNow;
use crate::ops::views::{EventLine, TimelineLine};
use crate::render;

/// Pause between two looks. A look at which nothing has happened costs the daemon next to nothing.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Events that are shown at first, and at most of each look.
const EVENTS: u64 = 50;

/// Reads requested pages and, in between, new events, until the view ends.
pub(super) fn follow(home: &Home, asks: &Receiver<Effect>, tell: &Sender<Input>) {
    let mut feed = Feed {
        home,
        known: None,
        is_lost: false,
        open: None,
    };
    loop {
        if feed
            .look()
            .into_iter()
            .any(|input| tell.send(input).is_err())
        {
            return;
        }
        match asks.recv_timeout(LOOK_EVERY) {
            Ok(ask) => {
                let mut answers = feed.answer(&ask).into_iter();
                if answers.any(|input| tell.send(input).is_err()) {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Feed<'a> {
    home: &'a Home,
    /// The last event that was passed on.
    known: Option<u64>,
    is_lost: bool,
    /// The timeline on the screen.
    open: Option<Open>,
}

/// A timeline as far as it was read.
struct Open {
    session: Uuid,
    timeline: Growing,
    /// The first event that was not read.
    next: u64,
}

impl Feed<'_> {
    /// Reads news.
    fn look(&mut self) -> Vec<Input> {
        match self.changes() {
            Ok(inputs) => {
                let is_back = std::mem::take(&mut self.is_lost) && inputs.is_empty();
                if is_back { vec![Input::Back] } else { inputs }
            }
            Err(failure) => {
                self.is_lost = true;
                vec![Input::Lost(failure.text())]
            }
        }
    }

    fn changes(&mut self) -> Result<Vec<Input>> {
        let known = self
            .known
            .map(|known| format!("?known={known}"))
            .unwrap_or_default();
        let path = format!("/v1/now{known}");
        let Some(now) = connection::get::<Option<SessionsNow>>(self.home, &path)? else {
            return Ok(Vec::new());
        };
        let from = self.known.map_or(1, |known| known + 1);
        let mut lines = Vec::new();
        self.ask(
            &Query::Events(Events {
                from,
                last: Some(EVENTS),
                ..Events::default()
            }),
            |line: EventLine| {
                if line.event.seq <= now.seq {
                    lines.push((line.event.stream.session, event_line::whole(&line.event)));
                }
            },
        )?;
        self.known = Some(now.seq);
        Ok(vec![Input::Events(lines), Input::Now(Box::new(now))])
    }

    fn answer(&mut self, ask: &Effect) -> Vec<Input> {
        match ask {
            Effect::Read(subject) => vec![Input::Read(*subject, self.read(*subject, false))],
            Effect::ReadOn(subject) => vec![Input::Read(*subject, self.read(*subject, true))],
            Effect::Act(act, subject) => {
                let done = act.carry_out(self.home);
                let (said, copied) = done.unwrap_or_else(|failure| (failure.text(), None));
                let page = subject.map(|subject| Input::Read(subject, self.read(subject, false)));
                page.into_iter()
                    .chain([Input::Said(said, copied)])
                    .collect()
            }
            Effect::Nothing | Effect::Copy(_) | Effect::Quit => Vec::new(),
        }
    }

    fn read(&mut self, subject: Subject, is_open: bool) -> News {
        let news = match subject {
            Subject::Timeline(session) => self.timeline(session, is_open),
            Subject::Decision(seq) => self.decision(seq).map(|lines| (0, lines)),
            Subject::Stats => self.printed(&["stats".as_ref()]),
            Subject::Replay => self.printed(&[
                "replay".as_ref(),
                "--policy".as_ref(),
                self.home.config.as_os_str(),
            ]),
        };
        news.map_err(|failure| failure.text())
    }

    /// Reads new lines of a timeline, or all lines if it is not on the screen.
    fn timeline(&mut self, session: Uuid, is_open: bool) -> Result<(usize, Vec<Drawn>)> {
        let known = self
            .open
            .take()
            .filter(|open| is_open && open.session == session);
        let mut open = known.unwrap_or_else(|| Open {
            session,
            timeline: Growing::default(),
            next: 1,
        });
        let mut lines: Vec<TimelineLine> = Vec::new();
        let query = Query::Timeline {
            session: session.to_string(),
            turn: None,
            from: open.next,
            machine: None,
        };
        self.ask(&query, |line| lines.push(line))?;
        open.next = lines.last().map_or(open.next, |last| last.event.seq + 1);
        let news = open.timeline.take(&lines);
        self.open = Some(open);
        Ok(news)
    }

    fn decision(&self, seq: u64) -> Result<Vec<Drawn>> {
        let answer = explain(self.home, seq)?;
        // What a person asks first comes first.
        let parts = [
            explanation::summary(&answer),
            explanation::explanation(&answer),
        ];
        Ok(plain(parts.join(&String::new())))
    }

    /// Returns what a command prints; it finds the daemon as this one does.
    fn printed(&self, arguments: &[&OsStr]) -> Result<(usize, Vec<Drawn>)> {
        let run = |program: PathBuf| {
            Command::new(program)
                .args(arguments)
                .stdin(Stdio::null())
                .output()
        };
        let failed = |error| Failure::failed(format!("it cannot be started: {error}"));
        let output = std::env::current_exe().and_then(run).map_err(failed)?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        Ok((0, plain(said.lines().map(render::printable).collect())))
    }

    /// Asks the daemon, never the journal itself, whose lock must stay free for a starting daemon.
    fn ask<T: DeserializeOwned>(&self, query: &Query, each: impl FnMut(T)) -> Result<()> {
        connection::ask_daemon(self.home, query, each)
    }
}

/// Returns lines that lead nowhere.
fn plain(lines: Vec<String>) -> Vec<Drawn> {
    let lines = lines.into_iter().map(|text| Drawn {
        text,
        decision: None,
    });
    lines.collect()
}
