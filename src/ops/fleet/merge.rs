//! Taking the events of other journals into a collector's journal: other ids, other numbers, everything else as it was
//! sent (spec FLEET-8).

use std::collections::HashMap;
use std::io::BufRead;

use journal::{Appending, Envelope, Event, Journal, Origin, Payload, Run, Stream};
use uuid::Uuid;

use super::lines::{Lines, read, read_run};
use super::message::unpack;
use super::places::{Source, sources};
use super::problem::{Problem, Result, refuse};
use super::send::RunHead;

const COMMIT_EVENTS: usize = 4_096;

/// The result of merging a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Merged {
    /// Events that were appended; withheld ones that are one event here count as one.
    pub(crate) merged: u64,
    /// Lines of events that were there already.
    pub(crate) known: u64,
}

/// Takes runs into a collector's journal.
pub(crate) struct Merge<'a> {
    journal: &'a Journal,
    sources: HashMap<Uuid, Source>,
    /// The journal that each session belongs to.
    sessions: HashMap<Uuid, Uuid>,
    /// The number of the next event.
    next: u64,
    /// The number of the message that is being taken in; 0 for a file.
    sequence: u64,
    waiting: Vec<(Envelope, Payload)>,
    /// What is being appended, and the number that its first event must get.
    appending: Option<(u64, Appending)>,
}

/// What runs as messages need.
impl Merge<'_> {
    /// Returns the last event here of a machine's journal, and the chain of its run; 0 and an empty one if there is none.
    pub(crate) fn known(&self, (machine, journal): (&str, Uuid)) -> (u64, String) {
        let source = self.sources.get(&journal);
        let source = source.filter(|source| source.machine == machine);
        source.map_or_else(Default::default, |source| {
            (source.last, source.chain().unwrap_or_default().to_owned())
        })
    }

    /// Returns the journals that have events here, each with its machine.
    pub(crate) fn journals(&self) -> impl Iterator<Item = (&str, Uuid)> {
        let sources = self.sources.iter();
        sources.map(|(journal, source)| (source.machine.as_str(), *journal))
    }

    /// Returns the number in the broker's stream of the last run that is here; 0 if there is none.
    pub(crate) fn sequence(&self) -> u64 {
        let sources = self.sources.values();
        sources.map(|source| source.sequence).max().unwrap_or(0)
    }

    /// Accepts the new events of a run that came as message `sequence` of a machine's journal. They are appended by the
    /// next [`Merge::begin`].
    ///
    /// # Errors
    ///
    /// As [`Merge::file`]; also when the run does not follow the last one that is here.
    pub(crate) fn message(
        &mut self,
        (machine, journal): (&str, Uuid),
        sequence: u64,
        body: &[u8],
    ) -> Result<Merged> {
        self.sequence = sequence;
        let text = unpack(body)?;
        let mut lines = Lines::new(text.as_bytes());
        let (head, texts) =
            read_run(&mut lines, None)?.ok_or_else(|| refuse("the message is empty"))?;
        if head.machine != machine || head.journal != journal {
            return Err(refuse("it is a run of another journal"));
        }
        if let Some(source) = self.sources.get(&journal)
            && head.first == source.last + 1
            && source.chain().is_some_and(|chain| chain != head.previous)
        {
            return Err(refuse(format!(
                "the run from {} does not follow the one before: the journal was copied, and both copies were used",
                head.first
            )));
        }
        let mut merged = Merged::default();
        self.run(&head, &texts, &mut lines, &mut merged)?;
        Ok(merged)
    }
}

impl<'a> Merge<'a> {
    /// Looks at what the journal has.
    ///
    /// # Errors
    ///
    /// When it has events of its own, or cannot be read.
    pub(crate) fn new(journal: &'a Journal) -> Result<Self> {
        let last = journal.settle()?;
        if last > 0 && !journal.is_collector() {
            return Err(refuse(
                "there is a journal with events of its own: name a folder that is empty or a collector's",
            ));
        }
        Ok(Self {
            journal,
            sources: sources(journal)?,
            sessions: HashMap::new(),
            next: last + 1,
            sequence: 0,
            waiting: Vec::new(),
            appending: None,
        })
    }

    /// Accepts the new events of a file. Those before a mistake stay.
    ///
    /// # Errors
    ///
    /// When a line is not right, its number; when events are missing; when the journal cannot be written.
    pub(crate) fn file(&mut self, file: impl BufRead) -> Result<Merged> {
        let mut merged = Merged::default();
        let mut lines = Lines::new(file);
        let taken = self.runs(&mut lines, &mut merged);
        let stored = self.commit();
        let numbered = |error| match error {
            missing @ Problem::Missing(..) => refuse(format!(
                "line {}: {missing}: merge an export that has them first",
                lines.number
            )),
            Problem::Refused(text) => refuse(format!("line {}: {text}", lines.number)),
            other => other,
        };
        taken.map_err(numbered)?;
        stored?;
        Ok(merged)
    }

    fn runs(&mut self, lines: &mut Lines<impl BufRead>, merged: &mut Merged) -> Result<()> {
        let mut previous: Option<RunHead> = None;
        while let Some((head, texts)) = read_run(lines, previous.as_ref())? {
            self.run(&head, &texts, lines, merged)?;
            self.begin_if_many()?;
            previous = Some(head);
        }
        Ok(())
    }

    /// Appends the new events of a run.
    fn run(
        &mut self,
        head: &RunHead,
        texts: &[String],
        lines: &mut Lines<impl BufRead>,
        merged: &mut Merged,
    ) -> Result<()> {
        let source = self.sources.entry(head.journal).or_default();
        if !source.machine.is_empty() && source.machine != head.machine {
            return Err(refuse(format!(
                "journal {} belongs to {}: if {} is its new name, stop the daemon there and remove the journal's file `identity`",
                head.journal, source.machine, head.machine
            )));
        }
        if source.has(head.first, head.last, &head.chain) {
            merged.known += head.lines;
            lines.number += head.lines;
            return Ok(());
        }
        let known = source.last;
        if head.first > known + 1 {
            return Err(Problem::Missing(known + 1, head.first - 1));
        }
        let mut begun = false;
        let mut expected = head.first;
        for text in texts {
            lines.number += 1;
            let (mut envelope, payload) = read(text, head)?;
            let (first, count) = span(&envelope);
            if first != expected || count == 0 || count > head.last + 1 - first {
                return Err(refuse(format!(
                    "it has seq {first}, and {expected} is next"
                )));
            }
            expected = first + count;
            if expected <= known + 1 {
                self.compare(head, &envelope)?;
                merged.known += 1;
                continue;
            }
            // The first of several that are one event may be known.
            let first = first.max(known + 1);
            if let Event::Withheld { count } = &mut envelope.event {
                *count = expected - first;
            }
            if !begun {
                self.begin_run(head, first);
                begun = true;
            }
            self.take(head, envelope, payload, first, expected - first)?;
            merged.merged += 1;
        }
        if expected != head.last + 1 {
            return Err(refuse(format!(
                "the run ends at {}, not at {}",
                expected - 1,
                head.last
            )));
        }
        Ok(())
    }

    /// Checks that an event that is known is the one that is here.
    fn compare(&mut self, head: &RunHead, envelope: &Envelope) -> Result<()> {
        let Some(source) = self.sources.get_mut(&head.journal) else {
            return Ok(());
        };
        let Some(here) = source.place(self.journal, envelope.seq)? else {
            return Ok(());
        };
        // What still waits came from this file.
        let Some(known) = self.journal.event(here)? else {
            return Ok(());
        };
        // Of what was withheld, then or now, there is nothing to compare.
        let is_cut = |event: &Event| matches!(event, Event::Withheld { .. });
        if is_cut(&known.event) || is_cut(&envelope.event) {
            return Ok(());
        }
        let same = |event: &Envelope| (event.event.kind(), event.at, event.stream.native());
        if same(&known) != same(envelope) {
            return Err(refuse(format!(
                "event {} of {} is a different one here: the journal was copied, and both copies were used",
                envelope.seq, head.machine
            )));
        }
        Ok(())
    }

    fn begin_run(&mut self, head: &RunHead, first: u64) {
        let run = Run {
            machine: head.machine.clone(),
            journal: head.journal.to_string(),
            first,
            last: head.last,
            level: head.level.clone(),
            chain: head.chain.clone(),
            sequence: self.sequence,
        };
        let here = self.push_run(head, &run);
        let source = self.sources.entry(head.journal).or_default();
        source.begin(&run, here);
    }

    fn push_run(&mut self, head: &RunHead, run: &Run) -> u64 {
        let at = journal::Timestamp::now();
        let name = format!("run:{}:{}", run.first, run.last);
        self.push(
            Envelope {
                seq: 0,
                stream: Stream::fleet(),
                at,
                recorded_at: at,
                id: Uuid::new_v5(&head.journal, name.as_bytes()),
                late: false,
                event: Event::RunReceived {
                    run: Box::new(run.clone()),
                },
                origin: Some(Box::new(Origin {
                    machine: head.machine.clone(),
                    journal: head.journal,
                    seq: run.first,
                    withheld: Vec::new(),
                })),
            },
            Payload::None,
        )
    }

    fn push(&mut self, envelope: Envelope, payload: Payload) -> u64 {
        let here = self.next;
        self.next += 1;
        self.waiting.push((envelope, payload));
        here
    }

    /// Accepts an event, with the numbers, the id and the session that it has here.
    fn take(
        &mut self,
        head: &RunHead,
        mut envelope: Envelope,
        payload: Payload,
        first: u64,
        count: u64,
    ) -> Result<()> {
        let is_one = matches!(envelope.event, Event::Withheld { .. });
        let source = self.sources.entry(head.journal).or_default();
        source.add(first, count, self.next, is_one);
        let journal = self.journal;
        envelope.event.each_number(|number| {
            // Some have none yet.
            if *number == 0 {
                return Ok::<_, Problem>(());
            }
            let place = source.place(journal, *number)?;
            *number = place
                .ok_or_else(|| refuse(format!("it is about event {number}, which comes later")))?;
            Ok(())
        })?;
        let name = if is_one {
            format!("withheld:{first}")
        } else {
            envelope.id.to_string()
        };
        envelope.id = Uuid::new_v5(&head.journal, name.as_bytes());
        let session = self.session(head.journal, &envelope.stream)?;
        if session != envelope.stream.session {
            // People and messages name it as its agent does.
            envelope.stream.native = Some(envelope.stream.native());
            envelope.stream.session = session;
        }
        if let Some(origin) = &mut envelope.origin {
            origin.seq = first;
        }
        self.push(envelope, payload);
        Ok(())
    }

    /// Returns the session's id here: its own, unless another journal has a session of that id, as copies of a machine do.
    fn session(&mut self, journal: Uuid, stream: &Stream) -> Result<Uuid> {
        let own = stream.session;
        if own == Stream::daemon().session || own == Stream::phases().session {
            return Ok(own);
        }
        if own == Stream::fleet().session {
            return Err(refuse("no machine has such a session"));
        }
        let owner = match self.sessions.get(&own) {
            Some(owner) => *owner,
            None => {
                let entry = self.journal.session(own);
                let first = entry.map(|entry| self.journal.event(entry.first_seq));
                let first = first.transpose()?.flatten();
                let origin = first.and_then(|first| first.origin);
                let owner = origin.map_or(journal, |origin| origin.journal);
                self.sessions.insert(own, owner);
                owner
            }
        };
        Ok(if owner == journal {
            own
        } else {
            Uuid::new_v5(&journal, own.as_bytes())
        })
    }

    /// Appends what waits.
    ///
    /// # Errors
    ///
    /// As [`Merge::finish`].
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.begin()?;
        self.finish()
    }

    /// Begins to append what waits if it is much.
    ///
    /// # Errors
    ///
    /// As [`Merge::finish`].
    pub(crate) fn begin_if_many(&mut self) -> Result<()> {
        if self.waiting.len() < COMMIT_EVENTS {
            return Ok(());
        }
        self.begin()
    }

    /// Begins to append what waits, once what was begun before is there: what comes next is read meanwhile.
    ///
    /// # Errors
    ///
    /// As [`Merge::finish`].
    pub(crate) fn begin(&mut self) -> Result<()> {
        let events = std::mem::take(&mut self.waiting);
        if events.is_empty() {
            return Ok(());
        }
        let first = self.next - events.len() as u64;
        self.finish()?;
        self.appending = Some((first, self.journal.import_begin(events)?));
        Ok(())
    }

    /// Waits for what is being appended.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written, or has an event of one of these ids: then some were not appended.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let Some((first, appending)) = self.appending.take() else {
            return Ok(());
        };
        let appended = appending.wait()?;
        let mut places = appended.iter().zip(first..);
        match places.find(|(appended, seq)| appended.duplicate || appended.seq != *seq) {
            None => Ok(()),
            Some((_, seq)) => Err(refuse(format!(
                "event {seq} of the collector has the id of another one; nothing more can be merged"
            ))),
        }
    }
}

/// Returns the number of the first event of a line, and how many events it represents.
fn span(envelope: &Envelope) -> (u64, u64) {
    match envelope.event {
        Event::Withheld { count } => (envelope.seq, count),
        _ => (envelope.seq, 1),
    }
}
