//! One event as one line, for `timeline` and `tail`.

use journal::{Decision, Envelope, Event, ToolCall, Verdict};

use super::{short, spaced, word};
use crate::render::{self, Color};

/// Maximum length of an event's text, in characters.
const TEXT_CHARS_MAX: usize = 90;

fn quoted(text: &str) -> String {
    let text = render::cut(&render::printable(text), TEXT_CHARS_MAX);
    format!("\"{text}\"")
}

/// Returns the text of an event for a line of `timeline`, or `None` if it is not shown there. Paths in `folder` are
/// relative to it.
pub(crate) fn in_timeline(event: &Event, folder: &str) -> Option<String> {
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
        Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => {
            Some(tool(call, folder))
        }
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
        render::time_of_day(envelope.at),
        envelope.seq,
        envelope.stream.agent,
        short(envelope.stream.session),
        words.trim_end()
    )
}

/// Returns what an event says beside its kind.
pub(crate) fn said(event: &Event) -> String {
    let due = |due: &journal::Timestamp| render::local_time(*due);
    match event {
        Event::SessionStarted { source, .. } => spaced(source),
        Event::SessionEnded { reason, .. } => spaced(reason),
        Event::PromptSubmitted { origin, text, .. } | Event::PromptFound { origin, text, .. } => {
            format!("{} {}", spaced(&word(origin)), quoted(text))
        }
        Event::ToolStarted { call, .. }
        | Event::ToolFinished { call, .. }
        | Event::ToolFailed { call, .. }
        | Event::PermissionAsked { call, .. } => tool(call, folder_of(event).unwrap_or_default()),
        Event::AgentStopped { reentry: true, .. } => "again".to_owned(),
        Event::WorkLeaves { command, .. } => command
            .as_deref()
            .map_or_else(|| "a part".to_owned(), quoted),
        Event::Interrupted { cause, .. } => spaced(cause),
        Event::Notified {
            notification,
            message,
            ..
        } => format!("{}: {}", spaced(notification), quoted(message)),
        Event::Decided(decision) => decided(decision),
        Event::DeliveryAttempted {
            decision, route, ..
        } => format!("{} of {decision}", spaced(route.word())),
        Event::DeliveryConfirmed { decision, by } => format!("{decision} by {}", spaced(by)),
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
        } => format!("{decision} {}", spaced(why)),
        Event::DeliveryPasted { decision: seq, .. }
        | Event::DeliveryEntered { decision: seq, .. } => seq.to_string(),
        Event::MarkedWrong { .. } => marked(event),
        Event::EscapeHatchUsed { by } => format!("by {by}"),
        Event::TurnJoined { turn_at } => format!("with {}", due(turn_at)),
        Event::Muted { until: Some(until) } => format!("until {}", due(until)),
        Event::Announced { news, about, .. } => format!("{} of {about}", spaced(&word(news))),
        Event::RestartRequested { due: at } | Event::AgentRestarted { due: at } => {
            format!("checkpoint due {}", due(at))
        }
        Event::RestartClosed { restart, reason } => format!("{restart} {}", spaced(reason)),
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

/// Returns the folder in which an event's agent works, if the event says it.
pub(crate) fn folder_of(event: &Event) -> Option<&str> {
    let place = event.host()?.place.as_ref()?;
    Some(&place.cwd)
}

/// Says what a tool call did, how long it took and how it ended. Paths in `folder` are relative to it.
pub(crate) fn tool(call: &ToolCall, folder: &str) -> String {
    let about = match &call.command {
        Some(command) => render::cut(&render::printable(command), TEXT_CHARS_MAX),
        None => {
            let paths = call.paths.iter().map(|path| render::path_in(folder, path));
            render::cut_path(&Vec::from_iter(paths).join(" "), TEXT_CHARS_MAX)
        }
    };
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
        .map(|ms| format!("after {}", render::duration_ms(ms)));
    let route = decision
        .route
        .map(|route| format!("by {}", spaced(route.word())));
    let how = Vec::from_iter(elapsed.into_iter().chain(route)).join(" ");
    let words = decision.reason.words();
    if how.is_empty() {
        format!("{verdict}: {words}")
    } else {
        format!("{verdict}: {words} ({how})")
    }
}
