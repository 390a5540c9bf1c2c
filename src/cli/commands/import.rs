//! `journal import`: an export, back into a journal.

use std::io::{BufRead, Read as _};

use journal::{Envelope, Home, Journal, Options, Payload, Renewal, codec};
use serde_json::json;

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::error::{Failure, Result, exit};
use crate::render;

const COMMIT_EVENTS: usize = 4_096;
/// The longest line: a payload with what JSON makes of it.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) fn run(home: &Home, own: bool, output: Output) -> Result<u8> {
    connection::refuse_daemon(home)?;
    let (journal, recovered) = Journal::open(&home.journal, Options::default())?;
    let had = recovered.last_seq;
    if !own {
        journal.mark_imported_from(had + 1)?;
    }
    let mut import = Import {
        journal: &journal,
        had,
        imported: 0,
        known: 0,
        waiting: Vec::new(),
    };
    let taken = import.lines(std::io::stdin().lock());
    let stored = import.commit();
    let (imported, known) = (import.imported, import.known);
    taken.and(stored).map_err(|wrong| wrong.failure(imported))?;
    journal.close();
    output.print(&json!({ "imported": imported, "known": known }), |_| {
        println!("{imported} imported, {known} already known");
    });
    Ok(exit::OK)
}

/// A line that is not right, by its number, or a journal that cannot be written.
enum Wrong {
    Line(usize, String),
    Failed(Failure),
}

impl Wrong {
    fn failure(self, imported: u64) -> Failure {
        let (number, what) = match self {
            Self::Line(number, what) => (number, what),
            Self::Failed(failure) => return failure,
        };
        Failure::failed(format!("line {number}: {what}")).hint(format!(
            "{} imported before it; fix the line and import the file again",
            render::count(imported, "event was", "events were")
        ))
    }
}

impl<T: Into<Failure>> From<T> for Wrong {
    fn from(error: T) -> Self {
        Self::Failed(error.into())
    }
}

struct Import<'a> {
    journal: &'a Journal,
    /// The last event before the import.
    had: u64,
    imported: u64,
    known: u64,
    /// Events to commit, each with the number of its line.
    waiting: Vec<(usize, Envelope, Payload)>,
}

impl Import<'_> {
    fn lines(&mut self, mut input: impl BufRead) -> std::result::Result<(), Wrong> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let mut bounded = input.by_ref().take(LINE_BYTES_MAX + 1);
            if bounded.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if line.len() as u64 > LINE_BYTES_MAX {
                let what = format!("it is longer than {LINE_BYTES_MAX} bytes");
                return Err(Wrong::Line(number, what));
            }
            let text = std::str::from_utf8(&line)
                .map_err(|error| Wrong::Line(number, format!("not UTF-8: {error}")))?;
            if !text.trim().is_empty() {
                self.line(number, text)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, number: usize, line: &str) -> std::result::Result<(), Wrong> {
        let wrong = |what: String| Wrong::Line(number, what);
        let value =
            serde_json::from_str(line).map_err(|error| wrong(format!("not JSON: {error}")))?;
        let (envelope, payload) = codec::from_json(value).map_err(wrong)?;
        let seq = envelope.seq;
        let expected = self.imported + self.known + self.waiting.len() as u64 + 1;
        if seq != expected {
            return Err(wrong(format!(
                "it has seq {seq}, and {expected} is next: import a complete export, from event 1"
            )));
        }
        if seq <= self.had {
            let there = self.journal.event(seq)?;
            if there.is_none_or(|there| there.id != envelope.id) {
                let what = format!("line {number}: event {seq} of this journal is a different one");
                let empty = "import into an empty journal: set CHECKPOINTD_HOME to a new folder";
                return Err(Failure::failed(what).hint(empty).into());
            }
            self.known += 1;
            return Ok(());
        }
        self.waiting.push((number, envelope, payload));
        if self.waiting.len() >= COMMIT_EVENTS {
            self.commit()?;
        }
        Ok(())
    }

    /// Appends the collected events.
    fn commit(&mut self) -> std::result::Result<(), Wrong> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        if self.imported == 0 {
            self.journal.renew_identity(Renewal::Imported)?;
        }
        let lines: Vec<_> = waiting.iter().map(|(number, ..)| *number).collect();
        let events = waiting.into_iter();
        let events = events.map(|(_, envelope, payload)| (envelope, payload));
        let appended = self.journal.import_all(events.collect())?;
        for (appended, number) in appended.into_iter().zip(lines) {
            let expected = self.imported + self.known + 1;
            if appended.duplicate || appended.seq != expected {
                return Err(Wrong::Line(
                    number,
                    format!("its id is that of event {} already", appended.seq),
                ));
            }
            self.imported += 1;
        }
        Ok(())
    }
}
