//! Restarting an agent: stops it in its terminal and starts it again with its resume command (spec RESTART-5, RESTART-6).
//!
//! The request is journaled before anything is done, with the latest time at which the checkpoint is due. The outcome is
//! journaled with the actual due time, or with a reason word. The session (`session/`) decides about the checkpoint.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::SessionState;
use checkpoint::agents;
use checkpoint::config::Config;
use journal::{Draft, Event, Place, Route, Stream, Timestamp};
use uuid::Uuid;

use crate::draft::derived;
use crate::shared::Shared;
use crate::tmux::Pane;

mod steps;

pub use steps::Refusal;
use steps::Target;

/// The longest time from the end of the old process to the start of the new one. If the daemon ends during a restart, the
/// checkpoint is due only after this time.
const REST_MAX: Duration = Duration::from_secs(30);

/// Returns the pane that an agent runs in, according to its hook calls.
pub(crate) fn pane_of(place: &Place) -> Option<Pane> {
    Pane::of_env(place.env("TMUX"), place.env("TMUX_PANE"))
}

/// The actor that restarts agents; it refuses a second restart of a session while the first is under way.
pub struct Restarts {
    shared: Arc<Shared>,
    under_way: HashSet<Uuid>,
}

impl Restarts {
    /// Creates the actor; no restart is under way.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            under_way: HashSet::new(),
        }
    }
}

impl Actor for Restarts {
    type Context = Context<Self>;
}

/// An agent that was restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restarted {
    /// Sequence number of the request.
    pub seq: u64,
    /// When its checkpoint is due.
    pub due: Timestamp,
}

/// Restarts the agent of a session.
#[derive(Message)]
#[rtype(result = "Result<Restarted, Refusal>")]
pub struct RestartAgent(pub Stream);

impl Handler<RestartAgent> for Restarts {
    type Result = ResponseActFuture<Self, Result<Restarted, Refusal>>;

    fn handle(
        &mut self,
        RestartAgent(stream): RestartAgent,
        _: &mut Self::Context,
    ) -> Self::Result {
        let session = stream.session;
        if !self.under_way.insert(session) {
            return Box::pin(async { Err(Refusal::UnderWay) }.into_actor(self));
        }
        let work = restart(Arc::clone(&self.shared), stream);
        Box::pin(work.into_actor(self).map(move |outcome, actor, _| {
            actor.under_way.remove(&session);
            outcome
        }))
    }
}

/// Journals the request, carries it out, and journals the outcome.
async fn restart(shared: Arc<Shared>, stream: Stream) -> Result<Restarted, Refusal> {
    let not_journaled = |_: journal::Error| Refusal::NotJournaled;
    let reader = Arc::clone(&shared);
    let about = stream.clone();
    let read = tokio::task::spawn_blocking(move || {
        let state = reader.load(&about)?;
        let is_pane_taken = is_pane_taken(&reader, &state)?;
        Ok((state, is_pane_taken))
    });
    let (state, is_pane_taken) = read
        .await
        .map_err(|_| Refusal::Failed)?
        .map_err(not_journaled)?;
    let folder = state.project().to_owned();
    let delay = move |shared: &Shared| shared.project(&folder).policy.restart_delay_ms;
    let delay = shared.look_at(state.project(), delay).await;
    let delay = Duration::from_millis(delay.ok_or(Refusal::Failed)?);
    let config = shared.config();
    let stop_within = config.settings.restart.stop_within.0;
    let now = Timestamp::now();

    let mut drafts = Vec::new();
    if let Some((earlier, _)) = state.restart {
        drafts.push(closed(&stream, earlier, "superseded"));
    }
    let due = now.plus(delay + stop_within + REST_MAX);
    let event = Event::RestartRequested { due };
    drafts.push(Draft {
        stream: stream.clone(),
        at: now,
        id: Uuid::now_v7(),
        event,
        payload: None,
    });
    let appended = shared
        .append_and_settle(drafts)
        .await
        .map_err(not_journaled)?;
    let seq = appended.last().ok_or(Refusal::NotJournaled)?.seq;

    let done = match target(&config, &state, is_pane_taken) {
        Ok(target) => {
            let work = tokio::task::spawn_blocking(move || steps::restart(&target, stop_within));
            work.await.unwrap_or(Err(Refusal::Failed))
        }
        Err(refusal) => Err(refusal),
    };
    let now = Timestamp::now();
    let due = now.plus(delay);
    let draft = match done {
        Ok(()) => derived(&stream, now, Event::AgentRestarted { due }, seq),
        Err(refusal) => {
            let reason = refusal.word();
            tracing::warn!(session = %stream.session, reason, "Could not restart an agent.");
            closed(&stream, seq, reason)
        }
    };
    shared
        .append_and_settle(vec![draft])
        .await
        .map_err(not_journaled)?;
    done.map(|()| Restarted { seq, due })
}

/// Returns whether a later event came from another session in the same pane, and that session has not ended.
fn is_pane_taken(shared: &Shared, state: &SessionState) -> journal::Result<bool> {
    let Some(pane) = pane_of(&state.place) else {
        return Ok(false);
    };
    for entry in shared.journal.sessions() {
        if entry.last_seq > state.last_seq && entry.stream.agent.is_agent() {
            let other = shared.load(&entry.stream)?;
            if other.ended_at.is_none() && pane_of(&other.place).as_ref() == Some(&pane) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn closed(stream: &Stream, restart: u64, reason: &str) -> Draft {
    let event = Event::RestartClosed {
        restart,
        reason: reason.to_owned(),
    };
    derived(stream, Timestamp::now(), event, restart)
}

fn target(config: &Config, state: &SessionState, is_pane_taken: bool) -> Result<Target, Refusal> {
    let agent = state.stream.agent;
    let pane = pane_of(&state.place).ok_or(Refusal::NoTerminal)?;
    if state
        .delivery
        .as_ref()
        .is_some_and(|delivery| delivery.route == Route::Tmux && delivery.seen_by.is_none())
    {
        return Err(Refusal::DeliveryUnderWay);
    }
    let adapter = agents::adapter(agent).ok_or(Refusal::BadSessionId)?;
    let line = config.settings.resume_line(agent);
    let resume = line.and_then(|line| line.for_session(&state.stream.native()));
    let resume = resume.ok_or(Refusal::BadSessionId)?;
    // An agent that does not report its process id is found by its name.
    let pid = adapter.variables.pid;
    let known = pid.and_then(|name| state.place.env(name)?.parse().ok());
    Ok(Target {
        agent,
        pane,
        known,
        is_pane_taken,
        resume,
    })
}
