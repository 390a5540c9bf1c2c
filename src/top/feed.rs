//! What the daemon tells: looked for again and again on a thread of its own, so that no key waits for an answer.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use journal::Home;
use serde_json::Value;

use super::model::Input;
use super::page::{Content, Subject};
use crate::commands::read::{self, Drawn};
use crate::failure::{Failure, Result};
use crate::live::Now;
use crate::query::{Events, Query};
use crate::source;

/// Pause between two looks. A look at which nothing has happened costs the daemon next to nothing.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Events that are shown at first, and at most of each look.
const EVENTS: u64 = 50;

/// Reads the pages that are asked for, and in between what is new, until nobody asks any more.
pub(super) fn follow(home: &Home, asks: &Receiver<Subject>, tell: &Sender<Input>) {
    let mut feed = Feed { home, known: None, is_lost: false };
    loop {
        if feed.look().into_iter().any(|input| tell.send(input).is_err()) {
            return;
        }
        match asks.recv_timeout(LOOK_EVERY) {
            Ok(subject) => {
                if tell.send(Input::Read(subject, feed.read(subject))).is_err() {
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
    /// The last event that was told of.
    known: Option<u64>,
    is_lost: bool,
}

impl Feed<'_> {
    /// Returns what is new.
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
        let known = self.known.map(|known| format!("?known={known}")).unwrap_or_default();
        let answer = source::get(self.home, &format!("/v1/now{known}"))?;
        let Some(now) = serde_json::from_value::<Option<Now>>(answer).map_err(Failure::failed)? else {
            return Ok(Vec::new());
        };
        let from = self.known.map_or(1, |known| known + 1);
        let mut lines = Vec::new();
        self.ask(&Query::Events(Events { from, last: Some(EVENTS), ..Events::default() }), |line| {
            if line["seq"].as_u64().is_some_and(|seq| seq <= now.seq) {
                lines.push(read::whole(&line));
            }
        })?;
        self.known = Some(now.seq);
        Ok(vec![Input::Events(lines), Input::Now(Box::new(now))])
    }

    fn read(&self, subject: Subject) -> Content {
        self.page(subject).map_err(|failure| failure.text())
    }

    fn page(&self, subject: Subject) -> Result<Vec<Drawn>> {
        let query = match subject {
            Subject::Timeline(session) => Query::Timeline { session: session.to_string(), turn: None, from: 1 },
            Subject::Decision(seq) => Query::Explain { seq: Some(seq), session: None },
        };
        let mut lines = Vec::new();
        self.ask(&query, |line| lines.push(line))?;
        Ok(match subject {
            Subject::Timeline(_) => read::drawn(&lines),
            Subject::Decision(_) => {
                let text = lines.last().map(read::explanation).unwrap_or_default().into_iter();
                text.map(|text| Drawn { text, decision: None }).collect()
            }
        })
    }

    /// Asks the daemon, and never the journal itself: it must stay free for a daemon that comes up.
    fn ask(&self, query: &Query, mut each: impl FnMut(Value)) -> Result<()> {
        let body = serde_json::to_vec(query).expect("a question is plain data");
        source::post_lines(self.home, "/v1/query", &body, &mut each)
    }
}
