//! Progress documents that checkpointd writes automatically (spec PROG-8): after events that may
//! end a context, one at a time, without delaying an agent.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use checkpoint::agents::adapter;
use checkpoint::config::AutoProgress;
use checkpoint::judging;
use checkpoint::progress::Judgments;
use checkpoint::shell;
use checkpoint::state::{SessionState, Written};
use journal::{Envelope, Event, ProgressKind, Stream, Timestamp, ToolCall};
use uuid::Uuid;

use super::documents::Error;
use super::write::{Order, write};
use crate::shared::Shared;

/// Older events cause no document: they were spooled, or come from a recording.
const NOTIFY_WITHIN: Duration = Duration::from_secs(60);
/// The shortest time between two documents of a session about errors.
const ERROR_EVERY: Duration = Duration::from_secs(60);
/// Documents that wait to be written; if there are more, the oldest are dropped.
const WAITING_MAX: usize = 32;
/// The longest pause between two checks how long agents have worked.
const CHECK_EVERY_MAX: Duration = Duration::from_secs(60);
/// The shortest pause between two such checks.
const CHECK_EVERY_MIN: Duration = Duration::from_millis(250);

/// A document that is due. `name` distinguishes its event id from those of other documents with the same cause.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Due {
    stream: Stream,
    kind: ProgressKind,
    cause: &'static str,
    name: String,
}

/// The actor that writes documents when an event or the interval asks for one.
pub struct Automatic {
    shared: Arc<Shared>,
    waiting: VecDeque<Due>,
    busy: bool,
    /// Until when a session gets no further document about an error, by session.
    errors: HashMap<Uuid, Instant>,
    /// The journal's last event when the interval was last checked, and since when that is the last one.
    last: (u64, Instant),
}

/// How long a document has to wait.
enum Pause {
    None,
    For(Duration),
    /// Another one waits for the same pause.
    IsRunning,
}

impl Automatic {
    /// Creates the actor; no document is due.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            waiting: VecDeque::new(),
            busy: false,
            errors: HashMap::new(),
            last: (0, Instant::now()),
        }
    }

    /// Returns whether no event was appended for as long as [`overdue`] looks back.
    fn is_quiet(&mut self, recent: Duration) -> bool {
        let seq = self.shared.journal.last_seq();
        if self.last.0 != seq {
            self.last = (seq, Instant::now());
        }
        self.last.1.elapsed() > recent
    }

    fn push(&mut self, due: Due, ctx: &mut Context<Self>) {
        if self.waiting.contains(&due) {
            return;
        }
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(due);
        self.start_next(ctx);
    }

    /// Returns when a document with this cause may be written. Calls that fail one after the other cause one document
    /// at once and one after a pause, which covers all of them.
    fn pause(&mut self, stream: &Stream, cause: &str) -> Pause {
        if cause != "error" {
            return Pause::None;
        }
        let now = Instant::now();
        self.errors.retain(|_, until| *until > now);
        match self.errors.entry(stream.session) {
            Entry::Vacant(free) => {
                free.insert(now + ERROR_EVERY);
                Pause::None
            }
            Entry::Occupied(mut taken) => {
                let left = *taken.get() - now;
                if left > ERROR_EVERY {
                    return Pause::IsRunning;
                }
                taken.insert(now + left + ERROR_EVERY);
                Pause::For(left)
            }
        }
    }

    fn start_next(&mut self, ctx: &mut Context<Self>) {
        if self.busy {
            return;
        }
        let Some(due) = self.waiting.pop_front() else {
            return;
        };
        self.busy = true;
        let shared = Arc::clone(&self.shared);
        let work = tokio::task::spawn_blocking(move || {
            let session = due.stream.session;
            let cause = due.cause;
            match write_due(&shared, due) {
                Ok(true) => tracing::info!(%session, cause, "Wrote a progress document."),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%session, cause, %error, "Could not write a progress document.")
                }
            }
        });
        ctx.spawn(work.into_actor(self).map(|_, actor, ctx| {
            actor.busy = false;
            actor.start_next(ctx);
        }));
    }

    /// Queues documents of agents that have worked for the configured interval, and schedules the next check.
    fn check_interval(&mut self, ctx: &mut Context<Self>) {
        let interval = self.shared.config().settings.progress.auto.interval.0;
        if interval.is_zero() {
            ctx.run_later(CHECK_EVERY_MAX, Self::check_interval);
            return;
        }
        let pause = (interval / 10).clamp(CHECK_EVERY_MIN, CHECK_EVERY_MAX);
        let recent = NOTIFY_WITHIN.max(pause * 2);
        if self.is_quiet(recent) {
            ctx.run_later(pause, Self::check_interval);
            return;
        }
        let shared = Arc::clone(&self.shared);
        let check = tokio::task::spawn_blocking(move || overdue(&shared, interval, recent));
        ctx.spawn(check.into_actor(self).map(move |found, actor, ctx| {
            found
                .unwrap_or_default()
                .into_iter()
                .for_each(|due| actor.push(due, ctx));
            ctx.run_later(pause, Self::check_interval);
        }));
    }
}

impl Actor for Automatic {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
        self.check_interval(ctx);
    }
}

/// An event was appended after which a document may be due.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Notify(Envelope);

/// Passes on the events after which a document may be due. Never waits: events beyond the mailbox are dropped.
pub fn notify(automatic: &Addr<Automatic>, events: &[Envelope]) {
    for envelope in events
        .iter()
        .filter(|envelope| due_after(envelope).is_some())
    {
        let _ = automatic.try_send(Notify(envelope.clone()));
    }
}

/// Returns whether a call failed that could have verified something.
fn is_breakage(call: &ToolCall) -> bool {
    let line = call
        .command
        .as_deref()
        .filter(|_| call.is_error && !call.refused);
    line.is_some_and(|line| judging::could_verify(&shell::read(line)))
}

/// Returns the type of the document that is due after an event, and the reason word.
fn due_after(envelope: &Envelope) -> Option<(ProgressKind, &'static str)> {
    let known = adapter(envelope.stream.agent).map(|agent| (agent.tools.known)());
    let subagent = known.and_then(|known| known.subagent.as_deref());
    let is_subagent = |call: &ToolCall| subagent == Some(&call.tool);
    Some(match &envelope.event {
        Event::CompactionStarted { .. } => (ProgressKind::PreCompaction, "compaction"),
        Event::SubagentStarted { .. } => (ProgressKind::PreOperation, "subagent_start"),
        Event::SubagentStopped { .. } => (ProgressKind::Incremental, "subagent_stop"),
        Event::ToolStarted { call, .. } if is_subagent(call) => {
            (ProgressKind::PreOperation, "subagent_start")
        }
        Event::ToolFinished { call, .. } if is_subagent(call) => {
            (ProgressKind::Incremental, "subagent_stop")
        }
        Event::Interrupted { cause, .. } if cause != "user" => (ProgressKind::Error, "error"),
        Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } if is_breakage(call) => {
            (ProgressKind::Error, "error")
        }
        Event::SessionEnded { .. } => (ProgressKind::Full, "session_end"),
        Event::PhaseCreated {
            imported: false, ..
        }
        | Event::PhaseCompleted { .. } => (ProgressKind::Full, "phase"),
        _ => return None,
    })
}

fn is_wanted(auto: &AutoProgress, cause: &str) -> bool {
    match cause {
        "compaction" => auto.compaction,
        "subagent_start" | "subagent_stop" => auto.subagent,
        "error" => auto.error,
        "session_end" => auto.session_end,
        "phase" => auto.phase,
        _ => true,
    }
}

impl Handler<Notify> for Automatic {
    type Result = ();

    fn handle(&mut self, Notify(envelope): Notify, ctx: &mut Self::Context) {
        let Some((kind, cause)) = due_after(&envelope) else {
            return;
        };
        let config = self.shared.config();
        if !is_wanted(&config.settings.progress.auto, cause)
            || Timestamp::now().since(envelope.at) > NOTIFY_WITHIN
        {
            return;
        }
        let Some(stream) = stream_of(&self.shared, &envelope) else {
            return;
        };
        let pause = self.pause(&stream, cause);
        let due = Due {
            stream,
            kind,
            cause,
            name: envelope.seq.to_string(),
        };
        match pause {
            Pause::None => self.push(due, ctx),
            Pause::For(time) => drop(ctx.run_later(time, |actor, ctx| actor.push(due, ctx))),
            Pause::IsRunning => {}
        }
    }
}

/// Returns the session that an event belongs to. Phase records have a stream of their own and name their session.
fn stream_of(shared: &Shared, envelope: &Envelope) -> Option<Stream> {
    let native = match &envelope.event {
        Event::PhaseCreated { checkpoint, .. } => checkpoint.session.clone(),
        Event::PhaseCompleted { checkpoint } => {
            let phases = crate::phase::load(&shared.journal).ok()?;
            phases.get(checkpoint)?.checkpoint.session.clone()
        }
        _ => return Some(envelope.stream.clone()),
    };
    let known = shared
        .journal
        .sessions()
        .into_iter()
        .map(|entry| entry.stream);
    known
        .into_iter()
        .find(|stream| stream.agent.is_agent() && stream.native() == native)
}

/// Returns the documents of sessions with events in the last `recent`, whose agents have worked for `interval` since
/// their last document.
fn overdue(shared: &Shared, interval: Duration, recent: Duration) -> Vec<Due> {
    let since = Timestamp::now().minus(recent);
    let mut entries = shared.journal.sessions();
    entries.retain(|entry| entry.stream.agent.is_agent() && entry.last_at >= since);
    let due = |state: &SessionState| {
        let before = state
            .progress
            .as_ref()
            .map_or(0, |written| written.worked_ms);
        Duration::from_millis(state.worked.ms.saturating_sub(before)) >= interval
    };
    let states = entries
        .into_iter()
        .filter_map(|entry| shared.load(&entry.stream).ok());
    states
        .filter(due)
        .map(|state| Due {
            name: format!("{}", state.worked.ms),
            stream: state.stream,
            kind: ProgressKind::Incremental,
            cause: "interval",
        })
        .collect()
}

/// Writes a document, unless nothing changed since the last one, the session is muted, or the project is switched off.
fn write_due(shared: &Shared, due: Due) -> Result<bool, Error> {
    shared.journal.settle()?;
    let config = shared.config();
    let state = shared.load(&due.stream)?;
    let (tools, turns) = state
        .progress
        .as_ref()
        .map_or((0, 0), |Written { counts, turns, .. }| {
            (counts.tools, *turns)
        });
    // A changed phase record is a change by itself.
    let has_changed =
        state.counts.tools > tools || (state.turns > turns && tools > 0) || due.cause == "phase";
    let is_on = || {
        shared
            .project_in_time(state.project())
            .is_some_and(|it| it.policy.enabled)
    };
    if !has_changed || state.project().is_empty() || state.is_muted(Timestamp::now()) || !is_on() {
        return Ok(false);
    }
    let id = Uuid::new_v5(
        &due.stream.session,
        format!("progress_written:{}:{}", due.cause, due.name).as_bytes(),
    );
    let order = Order {
        stream: due.stream,
        kind: due.kind,
        cause: due.cause.into(),
        stated: Judgments::default(),
        place: config.settings.progress.auto.place,
        id,
    };
    write(&shared.journal, &shared.home, &config, order).map(|_| true)
}
