//! Notifications for the user's own commands: what is announced, and what is not announced twice.
//!
//! A stop that was held back is not news (spec LISTEN-3), and neither is an output that was announced last (spec LISTEN-4). What
//! was announced is journaled, so that a restart of the daemon does not announce it again.

use journal::{Envelope, Event, Notification, Verdict};

use crate::state::{AGENT_FINISHED, SessionState};
use crate::{agents, digest};

/// Set for a listener, and so for an agent that a listener runs: its news would start the listener again and again.
const LISTENER_VARIABLE: &str = "CHECKPOINTD_LISTENER";

/// An announcement to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The kind of news.
    pub news: Notification,
    /// One machine word more: the reason of a decision, or what the agent waits for.
    pub reason: String,
    /// What the agent says about it, or asks for; may be empty.
    pub message: String,
    /// The agent's last output; empty if it is not known.
    pub output: String,
    /// Hash of the output, if this announces it.
    pub digest: Option<u64>,
}

/// Returns the kind of news that an event may be, by itself.
pub fn news_of(event: &Event) -> Option<Notification> {
    match event {
        Event::Decided(decision) if decision.verdict == Verdict::Pass => {
            Some(Notification::AgentFinished)
        }
        Event::DeliveryFailed { .. } | Event::DeliveryExpired { .. } => {
            Some(Notification::AgentFinished)
        }
        Event::PermissionAsked { .. } | Event::Notified { .. } => {
            Some(Notification::NeedsAttention)
        }
        Event::Interrupted { cause, .. } if cause != "user" => Some(Notification::NeedsAttention),
        Event::DeliveryAttempted { attempt: 1, .. } => Some(Notification::CheckpointSent),
        _ => None,
    }
}

/// Returns what to announce of an event, in the session's present state: what a person has answered already is not news,
/// and a muted session announces nothing.
pub fn announce(state: &SessionState, envelope: &Envelope) -> Option<Announcement> {
    let news = news_of(&envelope.event)?;
    let (reason, message) = words(&envelope.event);
    let idle = agents::adapter(state.stream.agent).and_then(|agent| agent.notifications.idle);
    let is_idle = idle == Some(reason.as_str());
    let known = state.last_output.is_some();
    let output = state.last_output.clone().unwrap_or_default();
    let digest = known.then(|| digest::of_prompt(&output));
    let repeated = digest.is_some() && digest == state.announced;
    let due = match news {
        Notification::CheckpointSent => true,
        Notification::AgentFinished => {
            state.notification.as_deref() == Some(AGENT_FINISHED)
                && !(if known { repeated } else { state.told })
        }
        Notification::NeedsAttention => {
            state.notification.is_some() && !state.told && !(is_idle && repeated)
        }
    };
    let silent = state.is_muted(envelope.at) || state.place.env(LISTENER_VARIABLE).is_some();
    let digest = digest.filter(|_| news == Notification::AgentFinished || is_idle);
    (due && !silent).then_some(Announcement {
        news,
        reason,
        message,
        output,
        digest,
    })
}

/// Returns the machine word and the text of an event that is news.
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
