//! What people are told of by their own commands, and what they are not told of twice.
//!
//! A stop that was held back is no news (001 inv 10), and neither is an output that was announced last (001 inv 6). What
//! was announced is journaled, so that a restart of the daemon does not announce it again.

use journal::{Envelope, Event, News, Verdict};

use crate::digest;
use crate::state::{AGENT_FINISHED, SessionState};

/// The host's word for: the agent has been waiting for a while. It is said of a finish that was announced, too.
const IDLE: &str = "idle_prompt";
/// Set for a listener, and so for an agent that a listener runs: its news would be told for ever.
const LISTENER_VARIABLE: &str = "CHECKPOINTD_LISTENER";

/// Something to tell people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// What it is.
    pub news: News,
    /// One machine word more: the reason of a decision, or what the agent waits for.
    pub reason: String,
    /// What the host says about it, or what the agent asks for; empty where there is nothing.
    pub message: String,
    /// The agent's last output; empty where it is not known.
    pub output: String,
    /// Hash of the output, where it counts as announced by this.
    pub digest: Option<u64>,
}

/// Returns what an event may be news of, by itself.
pub fn news_of(event: &Event) -> Option<News> {
    match event {
        Event::Decided(decision) if decision.verdict == Verdict::Pass => Some(News::AgentFinished),
        Event::DeliveryFailed { .. } | Event::DeliveryExpired { .. } => Some(News::AgentFinished),
        Event::PermissionAsked { .. } | Event::Notified { .. } => Some(News::NeedsAttention),
        Event::Interrupted { cause, .. } if cause != "user" => Some(News::NeedsAttention),
        Event::DeliveryAttempted { attempt: 1, .. } => Some(News::CheckpointSent),
        _ => None,
    }
}

/// Returns what to tell of an event, by how the session stands now: what a person has answered already is no news, and
/// a muted session tells nothing.
pub fn announce(state: &SessionState, envelope: &Envelope) -> Option<Announcement> {
    let news = news_of(&envelope.event)?;
    let (reason, message) = words(&envelope.event);
    let (output, known) = (
        state.last_output.clone().unwrap_or_default(),
        state.last_output.is_some(),
    );
    let digest = known.then(|| digest::of_prompt(&output));
    let repeated = digest.is_some() && digest == state.announced;
    let due = match news {
        News::CheckpointSent => true,
        News::AgentFinished => {
            state.notification.as_deref() == Some(AGENT_FINISHED)
                && !(if known { repeated } else { state.told })
        }
        News::NeedsAttention => {
            state.notification.is_some() && !state.told && !(reason == IDLE && repeated)
        }
    };
    let silent = state.is_muted(envelope.at) || state.place.env(LISTENER_VARIABLE).is_some();
    let digest = digest.filter(|_| news == News::AgentFinished || reason == IDLE);
    (due && !silent).then_some(Announcement {
        news,
        reason,
        message,
        output,
        digest,
    })
}

/// Returns the machine word of an event that is news, and its text.
fn words(event: &Event) -> (String, String) {
    match event {
        Event::Decided(decision) => (decision.reason.word().to_owned(), String::new()),
        Event::DeliveryFailed { reason, .. } | Event::DeliveryExpired { reason, .. } => {
            (reason.clone(), String::new())
        }
        Event::DeliveryAttempted { route, .. } => (route.word().to_owned(), String::new()),
        Event::Notified {
            notification,
            message,
            ..
        } => (notification.clone(), message.clone()),
        Event::PermissionAsked { call, .. } => {
            let about = call.command.clone().unwrap_or_else(|| call.paths.join(" "));
            (
                "permission".to_owned(),
                format!("{} {about}", call.tool).trim_end().to_owned(),
            )
        }
        Event::Interrupted { cause, .. } => (cause.clone(), String::new()),
        _ => (String::new(), String::new()),
    }
}
