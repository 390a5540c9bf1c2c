//! Takes the runs of all machines from the broker into the collector's journal.
//!
//! A run is acknowledged once it is on the disk. A run that does not fit is refused, its machine is named, and the
//! machine is asked to send again from where its part of the journal ends; all others continue (spec FLEET-13).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::Shared;
use broker::{Broker, Head, Problem, Received, Source};
use journal::{Journal, Timestamp};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::address::Address;
use super::state::State;
use crate::ops::fleet::{self, Merge, Merged};

/// The size that the stream gets when the collector makes it.
const STREAM_BYTES_MAX: i64 = 50_000_000_000;
/// Time between two heads of one journal.
const HEADS_EVERY: Duration = Duration::from_secs(1);
/// Silence after which the broker is asked again.
const QUIET: Duration = Duration::from_secs(10);
/// How long the next runs may take while others are on their way to the disk.
const GLANCE: Duration = Duration::from_millis(5);
/// Time between two requests to send again.
const ASK_EVERY: Duration = Duration::from_secs(600);
/// Time between two removals of stored events from the broker.
const PURGE_EVERY: Duration = Duration::from_secs(3_600);
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// Why it begins again.
enum Ended {
    Broker(Problem),
    Journal(String),
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Self {
        Self::Broker(problem)
    }
}

impl From<journal::Error> for Ended {
    fn from(error: journal::Error) -> Self {
        Self::Journal(error.to_string())
    }
}

impl From<fleet::Problem> for Ended {
    fn from(problem: fleet::Problem) -> Self {
        Self::Journal(problem.to_string())
    }
}

/// A journal whose runs are refused.
struct Parked {
    why: String,
    asked: Option<Instant>,
}

/// Receives what machines send.
pub(super) struct Intake {
    shared: Arc<Shared>,
    state: Arc<State>,
    stop: Notify,
    ended: Notify,
}

impl Intake {
    pub(super) fn new(shared: Arc<Shared>, state: Arc<State>) -> Arc<Self> {
        Arc::new(Self {
            shared,
            state,
            stop: Notify::new(),
            ended: Notify::new(),
        })
    }

    /// Begins, on a thread of its own.
    pub(super) fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let own = Arc::clone(self);
        let body = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = own.take_for_ever() => {}
                    () = own.stop.notified() => {}
                }
            });
            own.ended.notify_one();
        };
        std::thread::Builder::new()
            .name("fleet".into())
            .spawn(body)
            .map(drop)
    }

    pub(super) async fn close(&self) {
        self.stop.notify_one();
        let _ = timeout(CLOSE_WITHIN, self.ended.notified()).await;
    }

    async fn take_for_ever(&self) {
        self.state
            .change(|line| line.collects = Some(Default::default()));
        let mut pause = PAUSE;
        let mut poisoned = BTreeSet::new();
        loop {
            let settings = self.shared.config();
            let Some(address) = Address::of(&settings.settings.fleet) else {
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
            let why = match ended {
                Ended::Broker(problem) => problem.to_string(),
                Ended::Journal(error) => error,
            };
            self.state.trouble(Some(why));
            sleep(pause).await;
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }

    async fn taking(
        &self,
        address: &Address,
        poisoned: &mut BTreeSet<String>,
    ) -> Result<std::convert::Infallible, Ended> {
        let journal = &self.shared.journal;
        self.state.change(|line| line.until = address.until());
        let broker = address.connect("collector").await?;
        let notes = broker.prepare(STREAM_BYTES_MAX).await?;
        let mut taker = Taker::new(journal, poisoned)?;
        taker.compare_heads(&broker).await?;
        self.state.trouble(None);
        self.state.change(|line| {
            let collects = line.collects.get_or_insert_default();
            collects.notes = notes;
            collects.journals = taker.merge.journals().count() as u64;
        });
        let mut purged = Instant::now();
        let mut looked = Instant::now();
        let mut behind = broker.pending().await?;
        // Runs on their way to the disk, while the next ones come.
        let mut begun: Vec<Received> = Vec::new();
        loop {
            let wait = match (begun.is_empty(), taker.changed.is_empty()) {
                (false, _) => GLANCE,
                (true, false) => HEADS_EVERY,
                (true, true) => QUIET,
            };
            let runs = broker.next(wait).await?;
            match taker.merge.finish() {
                Err(fleet::Problem::Refused(_)) => taker.find_poison(&begun)?,
                other => other?,
            }
            // An acknowledgment says that the broker may forget.
            self.shared.sync().await?;
            if let Some(last) = begun.last() {
                broker.taken(last).await?;
            }
            taker.put_heads(&broker).await?;
            let keep = self.shared.config().settings.fleet.keep.0;
            if purged.elapsed() > keep.min(PURGE_EVERY) {
                purged = Instant::now();
                taker.purge(&broker, keep).await?;
            }
            behind = behind.saturating_sub(begun.len() as u64);
            if looked.elapsed() >= HEADS_EVERY {
                looked = Instant::now();
                behind = broker.pending().await?;
            }
            self.note(&taker, begun.len() as u64, behind);
            match taker.take_all(&runs) {
                Err(fleet::Problem::Refused(_)) => taker.find_poison(&runs)?,
                other => other?,
            }
            begun = runs;
        }
    }

    fn note(&self, taker: &Taker<'_>, runs: u64, behind: u64) {
        self.state.change(|line| {
            let collects = line.collects.get_or_insert_default();
            collects.journals = taker.merge.journals().count() as u64;
            collects.runs += runs;
            collects.behind = behind;
            if runs > 0 {
                collects.taken_at = Some(Timestamp::now());
            }
            let parked = taker.parked.iter();
            collects.parked = parked
                .map(|(source, parked)| format!("{}: {}", source.machine, parked.why))
                .collect();
        });
    }
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
    fn take_all(&mut self, runs: &[Received]) -> fleet::Result<()> {
        for run in runs {
            self.take(run)?;
            self.merge.begin_if_many()?;
        }
        self.merge.begin()
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
        let journal = Uuid::parse_str(&source.journal).unwrap_or_default();
        match self.merge.message(&source.machine, journal, &run.body) {
            Ok(Merged { merged: 0, .. }) => {}
            Ok(_) => {
                self.parked.remove(source);
                let last = self.merge.known(journal).0;
                let marks = run.marks.as_ref().filter(|marks| marks.last == last);
                let proof = marks.map(|marks| marks.proof.clone());
                self.changed
                    .insert(source.clone(), proof.unwrap_or_default());
            }
            Err(fleet::Problem::Refused(why)) => self.park(source, why),
            Err(problem) => return Err(problem),
        }
        Ok(())
    }

    fn park(&mut self, source: &Source, why: String) {
        let before = self.parked.get(source);
        if before.is_none_or(|before| before.why != why) {
            tracing::warn!(machine = source.machine, why, "A run was not accepted.");
        }
        let asked = before.and_then(|before| before.asked);
        self.parked.insert(source.clone(), Parked { why, asked });
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
                    self.park(source, why);
                    self.poisoned.insert(source.machine.clone());
                }
                self.merge = Merge::new(self.journal)?;
            }
        }
        Ok(())
    }

    /// Compares what the broker says that is here with what is here. They differ after the journal was set back.
    async fn compare_heads(&mut self, broker: &Broker) -> Result<(), Ended> {
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
            let here = self.here(&source);
            if head.last > here {
                let why = format!(
                    "events {} to {} were lost when this journal was restored; the machine is asked for them",
                    here + 1,
                    head.last
                );
                self.park(&source, why);
            } else if head.last < here {
                self.changed.insert(source, String::new());
            }
        }
        self.put_heads(broker).await?;
        Ok(())
    }

    /// Removes from the broker what is here and older than `keep`. A journal that the broker has more events of is left
    /// unchanged.
    async fn purge(&self, broker: &Broker, keep: Duration) -> Result<(), Problem> {
        let micros = i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
        let since = Timestamp::from_micros(Timestamp::now().as_micros().saturating_sub(micros));
        let since: String = since.to_string().chars().take(19).collect();
        let until = broker.first_since(&since).await?;
        for source in broker.sources().await? {
            let last = broker.last_run(&source).await?.and_then(|last| last.marks);
            if last.is_some_and(|last| last.last <= self.here(&source)) {
                broker.purge_before(&source, until).await?;
            }
        }
        Ok(())
    }

    fn here(&self, source: &Source) -> u64 {
        let journal = Uuid::parse_str(&source.journal).unwrap_or_default();
        self.merge.known(journal).0
    }

    async fn put_heads(&mut self, broker: &Broker) -> Result<(), Problem> {
        if self.put.is_some_and(|put| put.elapsed() < HEADS_EVERY) {
            return Ok(());
        }
        self.put = Some(Instant::now());
        let now = Timestamp::now();
        for (source, parked) in &mut self.parked {
            if parked
                .asked
                .is_none_or(|asked| asked.elapsed() >= ASK_EVERY)
            {
                parked.asked = Some(Instant::now());
                let (last, chain) = self
                    .merge
                    .known(Uuid::parse_str(&source.journal).unwrap_or_default());
                let ask = u64::try_from(now.as_micros()).unwrap_or(1);
                let head = Head {
                    last,
                    chain,
                    proof: String::new(),
                    ask,
                };
                broker.say_head(source, &head).await?;
            }
        }
        for (source, proof) in std::mem::take(&mut self.changed) {
            let (last, chain) = self
                .merge
                .known(Uuid::parse_str(&source.journal).unwrap_or_default());
            let head = Head {
                last,
                chain,
                proof,
                ask: 0,
            };
            broker.say_head(&source, &head).await?;
        }
        Ok(())
    }
}
