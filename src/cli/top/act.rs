//! What keys do to a session: the acts that the page offers too. Each order is journaled with `top` as its author.

use std::io::Write as _;

use journal::Home;
use uuid::Uuid;

use crate::cli::connection;
use crate::cli::text::short;
use crate::error::{Failure, Result};
use crate::ops::orders::{MUTE_FOR, Mark, Order, Ordered};
use crate::ops::query::Query;
use crate::ops::views::Explanation;
use crate::render;
use checkpoint::record::dsse;

/// The most of a text that is copied; terminals ignore longer ones.
const COPIED_BYTES_MAX: usize = 64 * 1024;

/// An action of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Give an order for the session.
    Order(Uuid, Order),
    /// Mark the demands of a decision wrong with a reason, or without one take that back.
    Wrong(u64, Option<String>),
    /// Copy the message of a decision.
    Message(u64),
    /// Copy the command that resumes a session.
    Command(String),
}

/// A question at the foot of the screen, to which the next keys are the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// For how long a session is to be muted.
    Mute(Uuid),
    /// Why a decision was wrong, as far as it is typed.
    Why(u64, String),
}

impl Asking {
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Mute(_) => {
                let periods = MUTE_FOR.iter().zip(1..);
                let periods: Vec<_> = periods
                    .map(|(period, key)| format!("{key} for {period}"))
                    .collect();
                format!("mute: {}, m until unmuted, Esc not", periods.join(", "))
            }
            Self::Why(decision, text) => format!(
                "why is {decision} wrong (Enter marks it, Esc not): {}_",
                render::printable(text)
            ),
        }
    }
}

/// What was done: a sentence, and a text for the clipboard.
pub(super) type Done = (String, Option<String>);

impl Act {
    /// Does it.
    ///
    /// # Errors
    ///
    /// When the daemon or tmux does not do it.
    pub(super) fn carry_out(&self, home: &Home) -> Result<Done> {
        match self {
            Self::Order(session, wanted) => {
                let shown = order(home, *session, wanted)?.shown.unwrap_or_default();
                let of = short(*session);
                let said = match wanted {
                    Order::Mute(None) => format!("{of} is muted, m unmutes it"),
                    Order::Mute(Some(period)) => {
                        let period = render::duration_ms(period.as_millis() as u64);
                        format!("{of} is muted for {period}, m unmutes it")
                    }
                    Order::Unmute => format!("{of} is no longer muted"),
                    Order::Clear => format!("the next stop of {of} passes"),
                    Order::Pane | Order::Wrong(_) => shown,
                };
                Ok((said, None))
            }
            Self::Wrong(decision, reason) => {
                let session = explain(home, *decision)?.decision.session;
                let mark = Mark {
                    decision: *decision,
                    item: None,
                    note: reason.clone().unwrap_or_default(),
                    wrong: reason.is_some(),
                };
                order(home, session, &Order::Wrong(mark))?;
                let said = match reason {
                    Some(_) => format!("decision {decision} is marked wrong, W undoes it"),
                    None => format!("decision {decision} is no longer marked wrong"),
                };
                Ok((said, None))
            }
            Self::Message(decision) => {
                let message = explain(home, *decision)?.decision.message;
                let message = message
                    .ok_or_else(|| Failure::failed(format!("decision {decision} sent nothing")))?;
                Ok((
                    format!("copied the message of decision {decision}"),
                    Some(message),
                ))
            }
            Self::Command(line) => Ok((
                "copied the command that resumes it".into(),
                Some(line.clone()),
            )),
        }
    }
}

fn order(home: &Home, session: Uuid, order: &Order) -> Result<Ordered> {
    let path = format!("/sessions/{session}/{}?by=top", order.word());
    connection::post_for(home, &path, order.body().to_string().as_bytes())
}

pub(super) fn explain(home: &Home, seq: u64) -> Result<Explanation> {
    let mut answer: Option<Explanation> = None;
    let query = Query::Explain {
        seq: Some(seq),
        session: None,
        machine: None,
    };
    connection::ask_daemon(home, &query, |line| answer = Some(line))?;
    answer.ok_or_else(|| Failure::failed("the daemon does not know it"))
}

/// Puts a text into the clipboard of the terminal, by OSC 52, and inside tmux also into its paste buffer. What is pasted
/// has nothing unseen in it.
///
/// # Errors
///
/// When the terminal is gone.
pub(super) fn copy(text: &str) -> std::io::Result<()> {
    let lines: Vec<_> = text.lines().map(render::printable).collect();
    let text = lines.join("\n");
    let text = &text[..text.floor_char_boundary(COPIED_BYTES_MAX)];
    let variable = |name| std::env::var(name).ok();
    // A tmux that is too old for it still passes on what follows.
    let _ = actors::tmux::copy(
        variable("TMUX").as_deref(),
        variable("TMUX_PANE").as_deref(),
        text,
    );
    let mut terminal = std::io::stdout().lock();
    write!(terminal, "\x1b]52;c;{}\x07", dsse::encode(text.as_bytes()))?;
    terminal.flush()
}
