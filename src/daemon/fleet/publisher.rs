//! Sends the journal's events to the fleet's broker, in order, each exactly once.
//!
//! It reads only the journal, on a thread of its own, so no hook waits for it. It keeps no cursor: the broker's last
//! message of this journal says where to continue, and the next run is stored only after exactly that message. So a run
//! whose acknowledgment was lost is found, and nothing is sent twice, left out, or out of order (spec FLEET-11).

use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::Shared;
use broker::{Broker, Marks, Problem, Source};
use journal::{Envelope, Event, Timestamp};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::address::Address;
use super::proof::proof;
use super::state::State;
use crate::daemon::worker::Worker;
use crate::ops::fleet::{Level, next_run};

/// How long events wait for others that go in the same run. A decision goes at once, with all before it.
const GATHER: Duration = Duration::from_secs(5);
/// With this many events, the publisher does not wait for more.
const BACKLOG: u64 = 64;
/// Time between two looks at what the broker and the collector have.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// The first and the longest pause after a failure.
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The longest wait for the last run when the daemon stops.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// Why publishing ended.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(transparent)]
    Failed(#[from] Problem),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    #[error("the settings have changed")]
    Changed,
}

/// What to send, and where.
#[derive(Clone, PartialEq, Eq)]
struct Plan {
    address: Address,
    level: Level,
}

/// What the broker has of this journal.
struct Sent {
    /// The number of the last message.
    sequence: u64,
    /// Of the last event.
    marks: Marks,
}

/// Sends the journal's events.
pub(crate) struct Publisher {
    shared: Arc<Shared>,
    state: Arc<State>,
    /// Signals new events.
    grown: Notify,
    /// Signals a new decision.
    urgent: Notify,
    changed: Notify,
    worker: Arc<Worker>,
}

impl Publisher {
    /// Makes one that does nothing yet.
    pub(crate) fn new(shared: Arc<Shared>, state: Arc<State>) -> Arc<Self> {
        Arc::new(Self {
            shared,
            state,
            grown: Notify::new(),
            urgent: Notify::new(),
            changed: Notify::new(),
            worker: Arc::default(),
        })
    }

    /// Learns about appended events. Never waits.
    pub(crate) fn tell(&self, events: &[Envelope]) {
        self.grown.notify_one();
        if events
            .iter()
            .any(|envelope| matches!(envelope.event, Event::Decided(_)))
        {
            self.urgent.notify_one();
        }
    }

    /// Applies changed settings.
    pub(crate) fn settings_changed(&self) {
        self.changed.notify_one();
    }

    /// Begins, on a thread of its own. If the system refuses the thread, only the sending is lost.
    pub(crate) fn start(self: &Arc<Self>) {
        let own = Arc::clone(self);
        let work = move || async move {
            tokio::select! {
                () = own.send_for_ever() => {}
                () = own.worker.asked_to_stop() => {}
            }
        };
        if let Err(error) = self.worker.start("fleet", work) {
            self.state.trouble(Some(error.to_string()));
        }
    }

    /// Stops publishing.
    pub(crate) async fn close(&self) {
        self.worker.close(CLOSE_WITHIN).await;
    }

    fn plan(&self) -> Option<Plan> {
        let config = self.shared.config();
        let settings = &config.settings.fleet;
        let address = Address::of(settings, &self.shared.home)
            .filter(|address| !address.machine.is_empty())?;
        let level = settings.level;
        Some(Plan { address, level })
    }

    async fn send_for_ever(&self) {
        let mut pause = PAUSE;
        loop {
            let Some(plan) = self.plan() else {
                self.state.clear();
                self.changed.notified().await;
                continue;
            };
            self.state.change(|line| {
                line.machine = Some(plan.address.machine.clone());
                line.url = plan.address.servers.clone();
                line.level = Some(plan.level.word().to_owned());
            });
            let began = Instant::now();
            let Err(ended) = self.sending(&plan, &mut pause).await;
            if began.elapsed() > PAUSE_MAX {
                pause = PAUSE;
            }
            match ended {
                Ended::Changed => {
                    self.state.clear();
                    continue;
                }
                Ended::Failed(Problem::Refused(_) | Problem::Missing(_)) => pause = PAUSE_MAX,
                _ => {}
            }
            self.state.trouble(Some(ended.to_string()));
            self.state.change(|line| {
                line.backlog = self.shared.journal.last_seq().saturating_sub(line.sent)
            });
            tokio::select! {
                () = sleep(jittered(pause)) => {}
                () = self.changed.notified() => {}
            }
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }

    /// Sends until something fails. The next pause is a short one once something was stored.
    async fn sending(
        &self,
        plan: &Plan,
        pause: &mut Duration,
    ) -> Result<std::convert::Infallible, Ended> {
        let journal = &self.shared.journal;
        let machine = plan.address.machine.as_str();
        let identity = journal.identity()?;
        let source = Source::new(machine, &identity.journal.simple().to_string());
        let source =
            source.ok_or_else(|| Problem::Refused("the machine's name is invalid".into()))?;
        self.state.change(|line| line.until = plan.address.until());
        let broker = plan.address.connect(machine).await?;
        let mut answered = 0;
        let mut sent = self.find(&broker, &source, &mut answered).await?;
        let mut looked = Instant::now();
        loop {
            if looked.elapsed() > LOOK_EVERY {
                sent = self.find(&broker, &source, &mut answered).await?;
                looked = Instant::now();
            }
            self.wait_for_events(plan, &sent).await?;
            let through = journal.last_seq();
            if through <= sent.marks.last {
                continue;
            }
            // What is not on the disk yet may get other numbers after a power cut.
            self.shared.sync().await?;
            let after = (sent.marks.last, sent.marks.chain.as_str());
            let Some(run) = next_run(journal, (plan.level, machine), after, through)? else {
                // It is not in the store yet.
                sleep(PAUSE).await;
                continue;
            };
            let marks = Marks {
                last: run.last,
                chain: run.chain,
                proof: proof(journal, run.last)?.unwrap_or_default(),
            };
            match broker
                .publish(&source, sent.sequence, &marks, run.body)
                .await
            {
                Ok(sequence) => {
                    *pause = PAUSE;
                    sent = Sent { sequence, marks };
                    self.note(&sent);
                }
                Err(Problem::Moved) => {
                    sent = self.find(&broker, &source, &mut answered).await?;
                }
                Err(problem) => return Err(problem.into()),
            }
        }
    }

    /// Returns when there is something to send, or it is time to look, or the settings have changed.
    async fn wait_for_events(&self, plan: &Plan, sent: &Sent) -> Result<(), Ended> {
        let backlog = || {
            self.shared
                .journal
                .last_seq()
                .saturating_sub(sent.marks.last)
        };
        let is_changed = || self.plan().as_ref() != Some(plan);
        if backlog() == 0 {
            tokio::select! {
                () = self.grown.notified() => {}
                () = sleep(LOOK_EVERY) => {}
                () = self.changed.notified() => {}
            }
        }
        if !is_changed() && (1..BACKLOG).contains(&backlog()) {
            tokio::select! {
                () = self.urgent.notified() => {}
                () = sleep(GATHER) => {}
                () = self.changed.notified() => {}
            }
        }
        if is_changed() {
            Err(Ended::Changed)
        } else {
            Ok(())
        }
    }

    /// Determines where to continue: after the last message, or after what the collector has.
    async fn find(
        &self,
        broker: &Broker,
        source: &Source,
        answered: &mut u64,
    ) -> Result<Sent, Ended> {
        let stored = broker.last_run(source).await?;
        let head = broker.head(source).await?.unwrap_or_default();
        let (sequence, marks) = match stored {
            None => (0, None),
            Some(stored) => {
                let unknown =
                    "the last message of this journal is not a run: the operator must remove it";
                let marks = stored
                    .marks
                    .ok_or_else(|| Problem::Refused(unknown.into()))?;
                (stored.sequence, Some(marks))
            }
        };
        let has = marks.as_ref().map_or(0, |marks| marks.last);
        let is_asked = head.ask > *answered && head.last < has;
        // The stream was purged or lost, or the collector lacks a part of it.
        let marks = match marks {
            Some(marks) if !is_asked && head.last <= has => marks,
            _ => Marks {
                last: head.last,
                chain: head.chain,
                proof: head.proof,
            },
        };
        // Not before: a replica that is behind may hide the messages in question.
        if is_asked {
            *answered = head.ask;
        }
        self.check(source, &marks)?;
        let sent = Sent { sequence, marks };
        self.note(&sent);
        self.state.change(|line| line.collected = Some(head.last));
        Ok(sent)
    }

    /// Checks that what was sent is this journal's own past.
    fn check(&self, source: &Source, marks: &Marks) -> Result<(), Ended> {
        let journal = &self.shared.journal;
        let is_own = if marks.last > journal.last_seq() {
            false
        } else if marks.last == 0 || marks.proof.is_empty() {
            true
        } else {
            let later = || Problem::Later("the journal is being read".into());
            proof(journal, marks.last)?.ok_or_else(later)? == marks.proof
        };
        if is_own {
            return Ok(());
        }
        let text = format!(
            "forked: event {} of journal {} differs from the one that was sent. The machine or its journal was copied or restored from a snapshot. To send this one as another journal, stop the daemon and remove {}",
            marks.last,
            source.journal,
            self.shared.home.journal.join("identity").display()
        );
        Err(Problem::Refused(text).into())
    }

    fn note(&self, sent: &Sent) {
        let backlog = self
            .shared
            .journal
            .last_seq()
            .saturating_sub(sent.marks.last);
        self.state.trouble(None);
        self.state.change(|line| {
            line.sent = sent.marks.last;
            line.backlog = backlog;
            line.sent_at = Some(Timestamp::now());
        });
    }
}

/// Returns a pause of about this length, so that not all machines come back at once.
fn jittered(pause: Duration) -> Duration {
    let part = u32::try_from(uuid::Uuid::new_v4().as_u128() % 512).unwrap_or(0);
    pause / 2 + pause * part / 512
}
