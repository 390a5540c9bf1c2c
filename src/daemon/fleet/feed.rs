//! Takes the runs of all machines from the broker into the collector's journal.
//!
//! The journal says where to read on: each run is stored with its number in the broker's stream, and nothing is
//! acknowledged. A run that does not fit is refused and its machine is named; all others continue. What is missing is read
//! again from the broker; for what the broker lacks, the machine is asked (spec FLEET-13).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::Shared;
use broker::{Broker, Head, Look, Problem, Received, Source};
use journal::{Journal, Timestamp};
use tokio::time::sleep;
use uuid::Uuid;

use super::address::Address;
use super::state::State;
use crate::daemon::worker::Worker;
use crate::ops::fleet::{self, Merge, Merged};

/// The size that the stream gets when the collector makes it.
const STREAM_BYTES_MAX: i64 = 50_000_000_000;
/// Time between two heads of one journal.
const HEADS_EVERY: Duration = Duration::from_secs(1);
/// Time between two looks at the stream and its servers.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Time between two readings of what a journal lacks.
const AGAIN_EVERY: Duration = Duration::from_secs(60);
/// Time between two requests to send again.
const ASK_EVERY_MICROS: u64 = 600_000_000;
/// Time between two removals of stored events from the broker.
const PURGE_EVERY: Duration = Duration::from_secs(3_600);
/// Pauses between connections are short: there is one collector, and one server of three may be cut off.
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(5);
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// A journal whose runs are refused, or of which some are missing.
struct Parked {
    why: String,
    /// The first and the last event that must come first.
    missing: Option<(u64, u64)>,
    /// When the broker was read for it last.
    read: Option<Instant>,
    /// When the machine was asked last, in microseconds; 0 if never.
    asked: u64,
}

/// Returns the machine and the id of a journal.
fn key(source: &Source) -> (&str, Uuid) {
    let id = Uuid::parse_str(&source.journal).unwrap_or_default();
    (&source.machine, id)
}

/// Receives what machines send.
pub(crate) struct Intake {
    shared: Arc<Shared>,
    state: Arc<State>,
    worker: Arc<Worker>,
}

impl Intake {
    pub(crate) fn new(shared: Arc<Shared>, state: Arc<State>) -> Arc<Self> {
        Arc::new(Self {
            shared,
            state,
            worker: Arc::default(),
        })
    }

    /// Begins, on a thread of its own.
    pub(crate) fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let own = Arc::clone(self);
        let work = move || async move {
            tokio::select! {
                () = own.take_for_ever() => {}
                () = own.worker.asked_to_stop() => {}
            }
        };
        self.worker.start("fleet", work)
    }

    pub(crate) async fn close(&self) {
        self.worker.close(CLOSE_WITHIN).await;
    }

    async fn take_for_ever(&self) {
        self.state
            .change(|line| line.collects = Some(Default::default()));
        let mut pause = PAUSE;
        let mut poisoned = BTreeSet::new();
        loop {
            let settings = self.shared.config();
            let Some(address) = Address::of(&settings.settings.fleet, &self.shared.home) else {
                self.state
                    .trouble(Some("`fleet.url` is not set in config.yml".into()));
                sleep(PAUSE_MAX).await;
                continue;
            };
            self.state
                .change(|line| line.url.clone_from(&address.servers));
            let began = Instant::now();
            let Err(ended) = self.taking(&address, &mut poisoned).await;
            if began.elapsed() > PAUSE_MAX {
                pause = PAUSE;
            }
            self.state.trouble(Some(ended.to_string()));
            sleep(pause).await;
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }

    async fn taking(
        &self,
        address: &Address,
        poisoned: &mut BTreeSet<String>,
    ) -> anyhow::Result<std::convert::Infallible> {
        let journal = &self.shared.journal;
        self.state.change(|line| line.until = address.until());
        let broker = address.connect("collector").await?;
        broker.prepare(STREAM_BYTES_MAX).await?;
        let mut taker = Taker::new(journal, poisoned)?;
        let mut look = broker.look().await?;
        let mut from = taker.merge.sequence();
        taker.compare(&broker, from).await?;
        self.state.trouble(None);
        let mut looked = Instant::now();
        let mut purged = Instant::now();
        // Runs on their way to the disk, while the next ones come.
        let mut begun: Vec<Received> = Vec::new();
        loop {
            // The stream was made again, or a power cut took its end.
            if look.last + 1 < from {
                from = look.first;
            }
            let wait = match (begun.is_empty(), taker.changed.is_empty()) {
                (false, _) => Duration::ZERO,
                (true, false) => HEADS_EVERY,
                (true, true) => LOOK_EVERY,
            };
            let batch = broker.read(from, None, wait).await?;
            taker.finish(&begun)?;
            // What heads say and what is purged must survive a power cut.
            self.shared.sync().await?;
            taker.read_again(&broker).await?;
            taker.put_heads(&broker).await?;
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                look = broker.look().await?;
                let keep = self.shared.config().settings.fleet.keep.0;
                if look.is_nearly_full || purged.elapsed() > keep.min(PURGE_EVERY) {
                    purged = Instant::now();
                    taker.purge(&broker, keep, look.is_nearly_full).await?;
                }
            }
            self.note(&taker, begun.len() as u64, batch.behind, &look);
            taker.begin(&batch.runs)?;
            from = batch.next;
            look.last = look.last.max(from.saturating_sub(1));
            begun = batch.runs;
        }
    }

    fn note(&self, taker: &Taker<'_>, runs: u64, behind: u64, look: &Look) {
        self.state.change(|line| {
            let collects = line.collects.get_or_insert_default();
            let journals: Vec<_> = taker.merge.journals().collect();
            collects.journals = journals.len() as u64;
            collects.runs += runs;
            collects.behind = behind;
            if runs > 0 {
                collects.taken_at = Some(Timestamp::now());
            }
            let parked = taker.parked.iter();
            collects.parked = parked
                .map(|(source, parked)| format!("{}: {}", source.machine, parked.why))
                .collect();
            collects.notes = look.notes.iter().cloned().chain(twice(&journals)).collect();
        });
    }
}

/// Names machines with more than one journal: one of them may be a copy.
fn twice(journals: &[(&str, Uuid)]) -> impl Iterator<Item = String> {
    let mut count = BTreeMap::new();
    for (machine, _) in journals {
        *count.entry(*machine).or_insert(0_u32) += 1;
    }
    let several = count.into_iter().filter(|(_, count)| *count > 1);
    several.map(|(machine, count)| {
        format!("{machine} has sent {count} journals: it was restored or copied, or its .join file is used twice")
    })
}

/// Appends received runs to a journal.
struct Taker<'a> {
    journal: &'a Journal,
    merge: Merge<'a>,
    /// Journals whose head has changed, with the machine's proof.
    changed: BTreeMap<Source, String>,
    parked: BTreeMap<Source, Parked>,
    /// Machines that sent what the journal does not take.
    poisoned: &'a mut BTreeSet<String>,
    put: Option<Instant>,
}

impl<'a> Taker<'a> {
    fn new(journal: &'a Journal, poisoned: &'a mut BTreeSet<String>) -> fleet::Result<Self> {
        Ok(Self {
            journal,
            merge: Merge::new(journal)?,
            changed: BTreeMap::new(),
            parked: BTreeMap::new(),
            poisoned,
            put: None,
        })
    }

    /// Starts to append the runs that fit.
    fn begin(&mut self, runs: &[Received]) -> fleet::Result<()> {
        let mut all = || {
            for run in runs {
                self.take(run)?;
                self.merge.begin_if_many()?;
            }
            self.merge.begin()
        };
        let begun = all();
        self.unless_poisoned(begun, runs)
    }

    /// Waits until the runs that were begun are in the journal.
    fn finish(&mut self, begun: &[Received]) -> fleet::Result<()> {
        let finished = self.merge.finish();
        self.unless_poisoned(finished, begun)
    }

    fn unless_poisoned(
        &mut self,
        result: fleet::Result<()>,
        runs: &[Received],
    ) -> fleet::Result<()> {
        match result {
            Err(fleet::Problem::Refused(_) | fleet::Problem::Missing(..)) => self.find_poison(runs),
            other => other,
        }
    }

    /// Accepts a run that fits; parks the journal of one that does not.
    fn take(&mut self, run: &Received) -> fleet::Result<()> {
        let Some(source) = &run.source else {
            tracing::warn!(
                sequence = run.sequence,
                "A message that is not a run was skipped."
            );
            return Ok(());
        };
        if self.poisoned.contains(&source.machine) {
            return Ok(());
        }
        let of = key(source);
        match self.merge.message(of, run.sequence, &run.body) {
            Ok(Merged { merged: 0, .. }) => {}
            Ok(_) => {
                // What was refused before may fit now.
                if let Some(parked) = self.parked.get_mut(source) {
                    parked.read = None;
                }
                let last = self.merge.known(of).0;
                let marks = run.marks.as_ref().filter(|marks| marks.last == last);
                let proof = marks.map(|marks| marks.proof.clone());
                self.changed
                    .insert(source.clone(), proof.unwrap_or_default());
            }
            Err(fleet::Problem::Missing(first, last)) => self.misses(source, (first, last)),
            Err(fleet::Problem::Refused(why)) => self.park(source, why, None),
            Err(problem) => return Err(problem),
        }
        Ok(())
    }

    /// Parks a journal of which events are missing. The runs behind a hole are all refused; only its nearest end counts.
    fn misses(&mut self, source: &Source, (first, last): (u64, u64)) {
        let before = self.parked.get(source).and_then(|parked| parked.missing);
        let last = match before {
            Some((same, nearer)) if same == first => last.min(nearer),
            _ => last,
        };
        let why = fleet::Problem::Missing(first, last).to_string();
        self.park(source, why, Some((first, last)));
    }

    fn park(&mut self, source: &Source, why: String, missing: Option<(u64, u64)>) {
        let before = self.parked.get(source);
        if before.is_none_or(|before| before.why != why) {
            tracing::warn!(machine = source.machine, why, "A run was not accepted.");
        }
        let (read, asked) = before.map_or((None, 0), |before| (before.read, before.asked));
        self.parked.insert(
            source.clone(),
            Parked {
                why,
                missing,
                read,
                asked,
            },
        );
    }

    /// One run kept all others of its commit out. Finds it, and leaves out its machine until the collector starts again.
    fn find_poison(&mut self, runs: &[Received]) -> fleet::Result<()> {
        let _ = self.merge.finish();
        for run in runs {
            self.merge = Merge::new(self.journal)?;
            if let Err(problem) = self.take(run).and_then(|()| self.merge.commit()) {
                let fleet::Problem::Refused(why) = problem else {
                    return Err(problem);
                };
                if let Some(source) = &run.source {
                    self.park(source, why, None);
                    self.poisoned.insert(source.machine.clone());
                }
                self.merge = Merge::new(self.journal)?;
            }
        }
        Ok(())
    }

    /// Compares what the broker has before `from`, and what it says that is here, with what is here: they differ after a
    /// run was refused, and after the journal was set back.
    async fn compare(&mut self, broker: &Broker, from: u64) -> anyhow::Result<()> {
        let mut sources = broker.sources().await?;
        // Without heads, as after the loss of a stream, machines would send again what is here.
        let here = self.merge.journals();
        sources.extend(
            here.filter_map(|(machine, journal)| {
                Source::new(machine, &journal.simple().to_string())
            }),
        );
        sources.sort();
        sources.dedup();
        for source in sources {
            let head = broker.head(&source).await?.unwrap_or_default();
            let stored = broker.last_run(&source).await?;
            let read = stored.filter(|stored| stored.sequence < from);
            let read = read.and_then(|stored| stored.marks).unwrap_or_default();
            let had = head.last.max(head.missing).max(read.last);
            let here = self.here(&source);
            if had > here {
                self.misses(&source, (here + 1, had));
            } else if head.last < here {
                self.changed.insert(source, String::new());
            }
        }
        Ok(())
    }

    /// Reads the runs of parked journals again from the broker. Of those that it does not have, their machine is asked.
    async fn read_again(&mut self, broker: &Broker) -> anyhow::Result<()> {
        let is_due = |parked: &Parked| parked.read.is_none_or(|read| read.elapsed() >= AGAIN_EVERY);
        let due = self.parked.iter().filter(|(_, parked)| is_due(parked));
        let due: Vec<Source> = due.map(|(source, _)| source.clone()).collect();
        for source in due {
            if self.poisoned.contains(&source.machine) {
                continue;
            }
            if let Some(parked) = self.parked.get_mut(&source) {
                parked.read = Some(Instant::now());
            }
            let (mut from, mut had) = (1, 0);
            loop {
                let batch = broker.read(from, Some(&source), Duration::ZERO).await?;
                let Some(last) = batch.runs.last() else {
                    break;
                };
                had = last.marks.as_ref().map_or(had, |marks| marks.last.max(had));
                self.begin(&batch.runs)?;
                self.finish(&batch.runs)?;
                from = batch.next;
            }
            let is_here = |parked: &Parked| {
                let wanted = parked.missing.map_or(had, |(_, last)| last.max(had));
                wanted > 0 && wanted <= self.merge.known(key(&source)).0
            };
            if self.parked.get(&source).is_some_and(is_here) {
                self.parked.remove(&source);
            }
        }
        Ok(())
    }

    /// Removes from the broker what is here and older than `keep`, or all that is here, except for each journal's last
    /// run. A journal that the broker has more events of is left unchanged.
    async fn purge(
        &self,
        broker: &Broker,
        keep: Duration,
        is_nearly_full: bool,
    ) -> Result<(), Problem> {
        let micros = i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
        let since = Timestamp::from_micros(Timestamp::now().as_micros().saturating_sub(micros));
        let since: String = since.to_string().chars().take(19).collect();
        let until = broker.first_since(&since).await?;
        for source in broker.sources().await? {
            let Some(stored) = broker.last_run(&source).await? else {
                continue;
            };
            if stored
                .marks
                .is_some_and(|marks| marks.last <= self.here(&source))
            {
                let until = if is_nearly_full {
                    stored.sequence
                } else {
                    until
                };
                broker
                    .purge_before(&source, until.min(stored.sequence))
                    .await?;
            }
        }
        Ok(())
    }

    fn here(&self, source: &Source) -> u64 {
        self.merge.known(key(source)).0
    }

    /// Says what is here of each journal that changed, and asks for what is missing.
    async fn put_heads(&mut self, broker: &Broker) -> Result<(), Problem> {
        if self.put.is_some_and(|put| put.elapsed() < HEADS_EVERY) {
            return Ok(());
        }
        self.put = Some(Instant::now());
        let now = u64::try_from(Timestamp::now().as_micros()).unwrap_or(1);
        for (source, parked) in &mut self.parked {
            // First the broker is read.
            if parked.read.is_some() && now.saturating_sub(parked.asked) >= ASK_EVERY_MICROS {
                parked.asked = now;
                self.changed.entry(source.clone()).or_default();
            }
        }
        for (source, proof) in std::mem::take(&mut self.changed) {
            let (last, chain) = self.merge.known(key(&source));
            let parked = self.parked.get(&source);
            let head = Head {
                last,
                chain,
                proof,
                // It stays until what is missing has come: the machine reads only the last head.
                ask: parked.map_or(0, |parked| parked.asked),
                missing: parked
                    .and_then(|parked| parked.missing)
                    .map_or(0, |(_, last)| last),
            };
            broker.say_head(&source, &head).await?;
        }
        Ok(())
    }
}
