//! What a status bar shows in one line.

use checkpoint::state::SessionStatus;
use serde_json::{Value, json};

/// Returns the answer about one session: its line, of words of the program only, and the values that the line shows.
///
/// `open` are the actions that this turn's last checkpoint asked for and that have no proof so far, `blocked` the stops of
/// this turn that got a checkpoint, `turn_ms` how long the turn has lasted, while it lasts.
pub(crate) fn of_one(
    session: uuid::Uuid,
    (status, muted): (SessionStatus, bool),
    (open, blocked): (usize, u32),
    turn_ms: Option<u64>,
) -> Value {
    let parts = [
        muted.then(|| "muted".to_owned()),
        (status != SessionStatus::Running).then(|| status.words().to_owned()),
        (open > 0).then(|| format!("{open} open")),
        (blocked > 0).then(|| format!("{blocked} sent")),
        turn_ms.map(clock),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    json!({
        "text": line(&parts),
        "session": {
            "session": session,
            "status": status,
            "muted": muted,
            "open": open,
            "blocked": blocked,
            "turn_ms": turn_ms,
        },
        "sessions": null,
    })
}

/// Returns the answer about many sessions: how many need their person, wait, and run.
pub(crate) fn of_many(needs_you: usize, waiting: usize, running: usize) -> Value {
    let all = [
        (needs_you, SessionStatus::NeedsYou),
        (waiting, SessionStatus::Waiting),
        (running, SessionStatus::Running),
    ];
    let some = all.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<_> = some
        .map(|(count, status)| match (count, status) {
            (2.., SessionStatus::NeedsYou) => format!("{count} need you"),
            _ => format!("{count} {}", status.words()),
        })
        .collect();
    if parts.is_empty() {
        parts.push("idle".to_owned());
    }
    json!({
        "text": line(&parts),
        "session": null,
        "sessions": { "needs_you": needs_you, "waiting": waiting, "running": running },
    })
}

/// Returns the answer if there is nothing to show.
pub(crate) fn of_none() -> Value {
    json!({ "text": "", "session": null, "sessions": null })
}

fn line(parts: &[String]) -> String {
    format!("cp: {}", parts.join(" · "))
}

/// Returns a time as a status bar shows it: without seconds, which would change at every look.
fn clock(ms: u64) -> String {
    match ms / 60_000 {
        0 => "<1m".to_owned(),
        minutes @ 1..60 => format!("{minutes}m"),
        minutes => format!("{}h{:02}m", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_only_what_there_is_to_say() {
        let one = |status, open, blocked, minutes: Option<u64>| {
            let ms = minutes.map(|minutes| minutes * 60_000);
            of_one(uuid::Uuid::nil(), (status, false), (open, blocked), ms)["text"].clone()
        };
        use SessionStatus::{Running, Waiting};
        assert_eq!(one(Running, 2, 1, Some(3)), "cp: 2 open · 1 sent · 3m");
        assert_eq!(one(Running, 0, 0, Some(0)), "cp: <1m");
        assert_eq!(one(Waiting, 0, 0, None), "cp: waiting");
        assert_eq!(one(Running, 0, 0, Some(125)), "cp: 2h05m");
        let many =
            |needs_you, waiting, running| of_many(needs_you, waiting, running)["text"].clone();
        assert_eq!(many(1, 2, 3), "cp: 1 needs you · 2 waiting · 3 running");
        assert_eq!(many(2, 0, 0), "cp: 2 need you");
        assert_eq!(many(0, 0, 0), "cp: idle");
    }
}
