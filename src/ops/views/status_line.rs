//! What a status bar shows in one line.

use checkpoint::state::SessionStatus;
use serde::Serialize;
use uuid::Uuid;

/// One line about a session, or about many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct StatusLine {
    /// The line, in words of the program only; empty if there is nothing to show.
    pub(crate) text: String,
    pub(crate) session: Option<LineSession>,
    /// Only if the line is about several sessions.
    pub(crate) sessions: Option<LineCounts>,
}

/// The values that the line of one session shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LineSession {
    pub(crate) session: Uuid,
    pub(crate) status: SessionStatus,
    pub(crate) muted: bool,
    /// Actions that this turn's last checkpoint asked for and that have no proof so far.
    pub(crate) open: usize,
    /// Stops of this turn that got a checkpoint.
    pub(crate) blocked: u32,
    /// How long the turn has lasted, while it lasts.
    pub(crate) turn_ms: Option<u64>,
}

/// Number of sessions in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LineCounts {
    pub(crate) needs_you: usize,
    pub(crate) waiting: usize,
    pub(crate) running: usize,
}

impl StatusLine {
    /// Makes the line of one session.
    pub(crate) fn of_one(one: LineSession) -> Self {
        let mut parts = Vec::new();
        if one.muted {
            parts.push("muted".to_owned());
        }
        if one.status != SessionStatus::Running {
            parts.push(one.status.words().to_owned());
        }
        if one.open > 0 {
            parts.push(format!("{} open", one.open));
        }
        if one.blocked > 0 {
            parts.push(format!("{} sent", one.blocked));
        }
        parts.extend(one.turn_ms.map(clock));
        Self {
            text: line(&parts),
            session: Some(one),
            sessions: None,
        }
    }

    /// Makes the line of many sessions.
    pub(crate) fn of_many(counts: LineCounts) -> Self {
        let all = [
            (counts.needs_you, SessionStatus::NeedsYou),
            (counts.waiting, SessionStatus::Waiting),
            (counts.running, SessionStatus::Running),
        ];
        let some = all.into_iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<_> = some
            .map(|(count, status)| match (count, status) {
                (1.., SessionStatus::NeedsYou) if count > 1 => format!("{count} need you"),
                _ => format!("{count} {}", status.words()),
            })
            .collect();
        if parts.is_empty() {
            parts.push("idle".to_owned());
        }
        Self {
            text: line(&parts),
            session: None,
            sessions: Some(counts),
        }
    }
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
            let one = LineSession {
                session: Uuid::nil(),
                status,
                muted: false,
                open,
                blocked,
                turn_ms: minutes.map(|minutes| minutes * 60_000),
            };
            StatusLine::of_one(one).text
        };
        use SessionStatus::{Running, Waiting};
        assert_eq!(one(Running, 2, 1, Some(3)), "cp: 2 open · 1 sent · 3m");
        assert_eq!(one(Running, 0, 0, Some(0)), "cp: <1m");
        assert_eq!(one(Waiting, 0, 0, None), "cp: waiting");
        assert_eq!(one(Running, 0, 0, Some(125)), "cp: 2h05m");
        let many = |needs_you, waiting, running| {
            let counts = LineCounts {
                needs_you,
                waiting,
                running,
            };
            StatusLine::of_many(counts).text
        };
        assert_eq!(many(1, 2, 3), "cp: 1 needs you · 2 waiting · 3 running");
        assert_eq!(many(2, 0, 0), "cp: 2 need you");
        assert_eq!(many(0, 0, 0), "cp: idle");
    }
}
