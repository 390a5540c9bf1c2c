//! One event as one line, for `timeline` and `tail`.

use journal::{Decision, Envelope, Event, ToolCall, Verdict};

use super::{short, word};
use crate::render::{self, Color};

/// Maximum length of an event's text, in characters.
const TEXT_CHARS_MAX: usize = 90;

fn quoted(text: &str) -> String {
    let text = render::cut(&render::printable(text), TEXT_CHARS_MAX);
    format!("\"{text}\"")
}

/// Returns the text of an event for a line of `timeline`, or `None` if it is not shown there.
pub(crate) fn in_timeline(event: &Event) -> Option<String> {
    match event {
        Event::ModelStepped { .. }
        | Event::OtherHook { .. }
        | Event::ToolStarted { .. }
        | Event::EvidenceGathered { .. }
        | Event::FactsGathered { .. }
        | Event::HeadSeen { .. }
        | Event::CallExamined { .. }
        | Event::Announced { .. } => None,
        // The line already shows that it is a tool call.
        Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => Some(tool(call)),
        event => {
            let words = format!("{} {}", event.kind().replace('_', " "), said(event));
            Some(words.trim_end().to_owned())
        }
    }
}

/// Returns an event as a line of `tail`, cut to the terminal's width.
pub(crate) fn in_tail(event: &Envelope) -> String {
    render::fit(&whole(event), render::width())
}

/// Returns an event as one line of any length.
pub(crate) fn whole(envelope: &Envelope) -> String {
    let late = if envelope.late { " (late)" } else { "" };
    let kind = envelope.event.kind().replace('_', " ");
    let words = format!("{kind:<20} {}", said(&envelope.event));
    format!(
        "{}  {:>6}  {:6} {}  {}{late}",
        render::time_of_day(&envelope.at.to_string()),
        envelope.seq,
        envelope.stream.agent,
        short(envelope.stream.session),
        words.trim_end()
    )
}

/// Returns what an event says beside its kind.
pub(crate) fn said(event: &Event) -> String {
    let due = |due: &journal::Timestamp| render::local_time(&due.to_string());
    match event {
        Event::SessionStarted { source, .. } => source.clone(),
        Event::SessionEnded { reason, .. } => reason.clone(),
        Event::PromptSubmitted { origin, text, .. } | Event::PromptFound { origin, text, .. } => {
            format!("{} {}", word(origin), quoted(text))
        }
        Event::ToolStarted { call, .. }
        | Event::ToolFinished { call, .. }
        | Event::ToolFailed { call, .. }
        | Event::PermissionAsked { call, .. } => tool(call),
        Event::AgentStopped { reentry: true, .. } => "again".to_owned(),
        Event::Interrupted { cause, .. } => cause.clone(),
        Event::Notified {
            notification,
            message,
            ..
        } => format!("{} {}", render::printable(notification), quoted(message)),
        Event::Decided(decision) => decided(decision),
        Event::DeliveryAttempted {
            decision, route, ..
        } => format!("{} of {decision}", route.word()),
        Event::DeliveryConfirmed { decision, by } => format!("{decision} by {by}"),
        Event::DeliveryHeld {
            decision,
            obstacle: why,
        }
        | Event::DeliveryFailed {
            decision,
            reason: why,
        }
        | Event::DeliveryExpired {
            decision,
            reason: why,
        } => format!("{decision} {why}"),
        Event::DeliveryPasted { decision: seq, .. }
        | Event::DeliveryEntered { decision: seq, .. } => seq.to_string(),
        Event::MarkedWrong { .. } => marked(event),
        Event::EscapeHatchUsed { by } => format!("by {by}"),
        Event::TurnJoined { turn_at } => format!("with {}", due(turn_at)),
        Event::Muted { until: Some(until) } => format!("until {}", due(until)),
        Event::Announced { news, about, .. } => format!("{} of {about}", word(news)),
        Event::RestartRequested { due: at } | Event::AgentRestarted { due: at } => {
            format!("checkpoint due {}", due(at))
        }
        Event::RestartClosed { restart, reason } => format!("{restart} {reason}"),
        Event::PhaseCreated {
            checkpoint, file, ..
        } => format!("{} {}", quoted(&checkpoint.phase), render::printable(file)),
        Event::PhaseCompleted { checkpoint } | Event::PhaseDeleted { checkpoint } => {
            render::printable(checkpoint)
        }
        Event::ProgressWritten { progress, file, .. } => {
            format!("{} {}", word(progress), render::printable(file))
        }
        Event::ProgressValidated {
            document, holds, ..
        } => format!("{document} {}", holding(*holds)),
        Event::ResumeOffered { text, .. } => format!("{} bytes", text.len()),
        Event::PayloadRejected {
            claimed_agent,
            problem,
            ..
        } => format!("{} {}", render::printable(claimed_agent), quoted(problem)),
        Event::ModelStepped { host } | Event::OtherHook { host } => render::printable(&host.hook),
        _ => String::new(),
    }
}

const fn holding(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}

/// Says which demand a person marked.
fn marked(event: &Event) -> String {
    let Event::MarkedWrong {
        decision,
        item,
        note,
        wrong,
    } = event
    else {
        return String::new();
    };
    let item = item.map(|item| format!(" demand {item}"));
    let back = if *wrong { "" } else { " taken back" };
    let note = Some(note).filter(|note| !note.is_empty());
    let note = note.map(|note| format!(" {}", quoted(note)));
    format!(
        "{decision}{}{back}{}",
        item.unwrap_or_default(),
        note.unwrap_or_default()
    )
}

/// Says what a tool call did, how long it took and how it ended.
pub(crate) fn tool(call: &ToolCall) -> String {
    let about = call.command.clone().unwrap_or_else(|| call.paths.join(" "));
    let about = render::cut(&render::printable(&about), TEXT_CHARS_MAX);
    let took = call
        .duration_ms
        .map(|ms| format!(" {}", render::duration_ms(ms)))
        .unwrap_or_default();
    let outcome = match (call.is_error, call.refused) {
        (true, _) => render::paint(Color::Red, " failed"),
        (_, true) => render::paint(Color::Yellow, " refused"),
        _ => String::new(),
    };
    format!("{} {about}{took}{outcome}", render::printable(&call.tool))
}

fn decided(decision: &Decision) -> String {
    let color = match decision.verdict {
        Verdict::Inject => Color::Green,
        Verdict::Pass => Color::Dim,
    };
    let verdict = render::paint(color, &decision.verdict.to_string());
    let elapsed = decision
        .elapsed_ms
        .map(|ms| format!(" after {}", render::duration_ms(ms)));
    let route = decision.route.map(|route| format!(" by {}", route.word()));
    format!(
        "{verdict} {}{}{}",
        decision.reason,
        elapsed.unwrap_or_default(),
        route.unwrap_or_default()
    )
}
