//! Documents that nobody asks for (spec PROG-8): written when something happens that may end a
//! context, off every agent's way, one at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::agents::adapter;
use checkpoint::config::AutoProgress;
use checkpoint::progress::Judgements;
use checkpoint::state::{SessionState, Written};
use journal::{Agent, Envelope, Event, ProgressKind, Stream, Timestamp, ToolCall};
use uuid::Uuid;

use super::{Error, Order, write};
use crate::evidence;
use crate::shared::Shared;

/// What happened longer ago was spooled, or is somebody's recording.
const HEARD_WITHIN: Duration = Duration::from_secs(60);
/// Documents that wait for their turn; of more, the oldest are left out.
const WAITING_MAX: usize = 32;
/// The longest pause between two looks at how long agents have worked.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(30);
/// The shortest one.
const LOOK_EVERY_MIN: Duration = Duration::from_millis(250);

/// A document that is due: whose, which type, why, and the name of what it follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Due {
    stream: Stream,
    kind: ProgressKind,
    cause: &'static str,
    name: String,
}

/// The actor that writes them.
pub struct Automatic {
    shared: Arc<Shared>,
    waiting: VecDeque<Due>,
    busy: bool,
}

impl Automatic {
    /// Begins with nothing to write.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            waiting: VecDeque::new(),
            busy: false,
        }
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
            let (session, cause) = (due.stream.session, due.cause);
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

    /// Looks which agents have worked for so long, and looks again later.
    fn look(&mut self, ctx: &mut Context<Self>) {
        let interval = Duration::from_millis(
            self.shared
                .config()
                .settings
                .progress
                .auto
                .interval
                .as_millis(),
        );
        if interval.is_zero() {
            ctx.run_later(LOOK_EVERY_MAX, Self::look);
            return;
        }
        let pause = (interval / 10).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX);
        let shared = Arc::clone(&self.shared);
        let look = tokio::task::spawn_blocking(move || overdue(&shared, interval, pause * 2));
        ctx.spawn(look.into_actor(self).map(move |found, actor, ctx| {
            found
                .unwrap_or_default()
                .into_iter()
                .for_each(|due| actor.push(due, ctx));
            ctx.run_later(pause, Self::look);
        }));
    }
}

impl Actor for Automatic {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
        self.look(ctx);
    }
}

/// An event was appended after which a document may be due.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Heard(Envelope);

/// Tells of those of the events that matter. Never waits; what finds no room is left out.
pub fn notify(automatic: &Addr<Automatic>, events: &[Envelope]) {
    for envelope in events.iter().filter(|envelope| meaning(envelope).is_some()) {
        let _ = automatic.try_send(Heard(envelope.clone()));
    }
}

/// Returns the type of the document that an event asks for, and the word for why.
fn meaning(envelope: &Envelope) -> Option<(ProgressKind, &'static str)> {
    let subagent = adapter(envelope.stream.agent).and_then(|agent| agent.tools().subagent);
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

impl Handler<Heard> for Automatic {
    type Result = ();

    fn handle(&mut self, Heard(envelope): Heard, ctx: &mut Self::Context) {
        let Some((kind, cause)) = meaning(&envelope) else {
            return;
        };
        let config = self.shared.config();
        if !is_wanted(&config.settings.progress.auto, cause)
            || Timestamp::now().since(envelope.at) > HEARD_WITHIN
        {
            return;
        }
        let Some(stream) = stream_of(&self.shared, &envelope) else {
            return;
        };
        self.push(
            Due {
                stream,
                kind,
                cause,
                name: envelope.seq.to_string(),
            },
            ctx,
        );
    }
}

/// Returns the session that an event is about. Phases have a stream of their own and name their session.
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
        .find(|stream| stream.agent != Agent::Daemon && stream.native() == native)
}

/// Returns the sessions heard of lately whose agents have worked for `interval` since their last document.
fn overdue(shared: &Shared, interval: Duration, lately: Duration) -> Vec<Due> {
    let since = Timestamp::now().minus(lately.max(HEARD_WITHIN));
    let mut entries = shared.journal.sessions();
    entries.retain(|entry| entry.stream.agent != Agent::Daemon && entry.last_at >= since);
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

/// Writes a document, unless nothing was done since the last one, or the project or session is off.
fn write_due(shared: &Shared, due: Due) -> Result<bool, Error> {
    shared.journal.settle()?;
    let (config, state) = (shared.config(), shared.load(&due.stream)?);
    let (tools, turns) = state
        .progress
        .as_ref()
        .map_or((0, 0), |Written { counts, turns, .. }| {
            (counts.tools, *turns)
        });
    // A phase that changed is news by itself.
    let is_news =
        state.counts.tools > tools || (state.turns > turns && tools > 0) || due.cause == "phase";
    let is_on = || evidence::project_policy(&config, state.project(), &mut Vec::new()).enabled;
    if !is_news || state.project().is_empty() || state.is_muted(Timestamp::now()) || !is_on() {
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
        stated: Judgements::default(),
        place: config.settings.progress.auto.place,
        id,
    };
    write(&shared.journal, &shared.home, &config, order).map(|_| true)
}
