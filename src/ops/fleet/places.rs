//! Which events of other journals a collector has, and under which numbers.

use std::collections::{BTreeMap, HashMap};

use journal::{Event, Journal, Run, Stream};
use uuid::Uuid;

use super::problem::Result;

/// Consecutive events of a journal: one for each number, or one for all of them.
#[derive(Clone, Copy, Debug)]
struct Piece {
    first: u64,
    last: u64,
    /// The number of the first event in this journal.
    here: u64,
    /// All of them are one event here, because their machine withholds them.
    is_one: bool,
}

impl Piece {
    fn place(&self, seq: u64) -> Option<u64> {
        if seq > self.last {
            return None;
        }
        Some(self.here + if self.is_one { 0 } else { seq - self.first })
    }
}

/// A run that was received.
#[derive(Clone, Debug)]
struct Known {
    last: u64,
    chain: String,
    /// The number of its own event here; its events follow.
    here: u64,
    /// `None` until a number in it is needed.
    pieces: Option<Vec<Piece>>,
}

/// What a collector knows of one journal.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// The machine that it belongs to.
    pub(super) machine: String,
    /// The last event that was received.
    pub(super) last: u64,
    /// The highest number that one of its runs had in the broker's stream.
    pub(super) sequence: u64,
    runs: BTreeMap<u64, Known>,
}

impl Source {
    /// Returns whether the same run was received before.
    pub(super) fn has(&self, first: u64, last: u64, chain: &str) -> bool {
        let known = self.runs.get(&first);
        last <= self.last && known.is_some_and(|run| run.last == last && run.chain == chain)
    }

    /// Returns the chain of the run that ends at the last event.
    pub(super) fn chain(&self) -> Option<&str> {
        let (_, run) = self.runs.last_key_value()?;
        (run.last == self.last).then_some(run.chain.as_str())
    }

    /// Notes that a run begins whose own event has the number `here`.
    pub(super) fn begin(&mut self, run: &Run, here: u64) {
        let known = Known {
            last: run.last,
            chain: run.chain.clone(),
            here,
            pieces: Some(Vec::new()),
        };
        self.runs.insert(run.first, known);
        self.machine.clone_from(&run.machine);
        self.sequence = self.sequence.max(run.sequence);
    }

    /// Notes `count` events from `first` on, all of them in one event here if they are withheld.
    pub(super) fn add(&mut self, first: u64, count: u64, here: u64, is_one: bool) {
        let last = first + count - 1;
        self.last = last;
        let run = self.runs.range_mut(..=first).next_back();
        let Some(pieces) = run.and_then(|(_, run)| run.pieces.as_mut()) else {
            return;
        };
        match pieces.last_mut() {
            Some(piece)
                if !is_one && !piece.is_one && piece.here + (first - piece.first) == here =>
            {
                piece.last = last;
            }
            _ => pieces.push(Piece {
                first,
                last,
                here,
                is_one,
            }),
        }
    }

    /// Returns the number that an event has in this journal.
    pub(super) fn place(&mut self, journal: &Journal, seq: u64) -> Result<Option<u64>> {
        if seq > self.last {
            return Ok(None);
        }
        let Some((_, run)) = self.runs.range_mut(..=seq).next_back() else {
            return Ok(None);
        };
        if run.pieces.is_none() {
            run.pieces = Some(read(journal, run)?);
        }
        let pieces = run.pieces.as_deref().unwrap_or_default();
        let after = pieces.partition_point(|piece| piece.first <= seq);
        Ok(after
            .checked_sub(1)
            .and_then(|piece| pieces[piece].place(seq)))
    }
}

fn read(journal: &Journal, run: &Known) -> Result<Vec<Piece>> {
    let mut source = Source::default();
    source.runs.insert(
        0,
        Known {
            pieces: Some(Vec::new()),
            ..run.clone()
        },
    );
    for envelope in journal.events_from(run.here + 1) {
        let envelope = envelope?;
        let Some(origin) = envelope.origin.as_deref() else {
            break;
        };
        if matches!(envelope.event, Event::RunReceived { .. }) {
            break;
        }
        let (count, is_one) = match envelope.event {
            Event::Withheld { count } => (count, true),
            _ => (1, false),
        };
        source.add(origin.seq, count, envelope.seq, is_one);
    }
    let run = source.runs.remove(&0);
    Ok(run.and_then(|run| run.pieces).unwrap_or_default())
}

/// Reads what a collector's journal has of each journal, with no more than its runs' own events and the last run.
pub(super) fn sources(journal: &Journal) -> Result<HashMap<Uuid, Source>> {
    let mut sources: HashMap<Uuid, Source> = HashMap::new();
    let mut newest = None;
    for envelope in journal.stream(Stream::fleet().session, 0, usize::MAX)? {
        let Event::RunReceived { run } = &envelope.event else {
            continue;
        };
        let Ok(id) = run.journal.parse() else {
            continue;
        };
        let source = sources.entry(id).or_default();
        source.begin(run, envelope.seq);
        source.last = run.last;
        if let Some(run) = source.runs.get_mut(&run.first) {
            run.pieces = None;
        }
        newest = Some((id, run.first));
    }
    // A crash may have cut the last one short.
    if let Some((id, first)) = newest
        && let Some(source) = sources.get_mut(&id)
        && let Some(run) = source.runs.get_mut(&first)
    {
        let pieces = read(journal, run)?;
        source.last = pieces.last().map_or(first - 1, |piece| piece.last);
        run.pieces = Some(pieces);
    }
    Ok(sources)
}
