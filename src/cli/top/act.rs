//! What keys do to a session: go to its tmux pane, mute it, let its next stop pass, mark a demand wrong.

use checkpoint::state::SessionState;
use journal::Home;
use uuid::Uuid;

use crate::cli::connection;
use crate::cli::text::short;
use crate::error::{Failure, Result};
use crate::ops::orders::{Mark, Order};
use crate::ops::query::Query;
use crate::ops::views::Explanation;

/// An action of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Show the session's tmux pane.
    Jump(Uuid),
    /// Mute the session, or unmute it.
    Mute(Uuid, bool),
    /// Let the session's next stop pass.
    Clear(Uuid),
    /// Mark the demands of a session's last checkpoint wrong, or take that back.
    WrongLast(Uuid),
    /// Mark the demands of a decision wrong, or take that back.
    Wrong(u64),
}

impl Act {
    /// Does it, and returns a sentence on what happened.
    ///
    /// # Errors
    ///
    /// When the daemon or tmux does not do it.
    pub(super) fn carry_out(&self, home: &Home) -> Result<String> {
        match *self {
            Self::Jump(session) => jump(home, session),
            Self::Mute(session, true) => {
                order(home, session, &Order::Mute(None))?;
                Ok(format!("{} is muted, m unmutes it", short(session)))
            }
            Self::Mute(session, false) => {
                order(home, session, &Order::Unmute)?;
                Ok(format!("{} is no longer muted", short(session)))
            }
            Self::Clear(session) => {
                order(home, session, &Order::Clear)?;
                Ok(format!("the next stop of {} passes", short(session)))
            }
            Self::WrongLast(session) => mark_wrong(home, None, Some(session)),
            Self::Wrong(decision) => mark_wrong(home, Some(decision), None),
        }
    }
}

fn order(home: &Home, session: Uuid, order: &Order) -> Result<()> {
    let path = format!("/sessions/{session}/{}", order.word());
    connection::post(home, &path, &order.body()).map(drop)
}

fn jump(home: &Home, session: Uuid) -> Result<String> {
    let mut state: Option<SessionState> = None;
    let query = Query::Folded {
        session: session.to_string(),
    };
    connection::ask_daemon(home, &query, |read| state = Some(read))?;
    let place = state.map(|state| state.place).unwrap_or_default();
    let pane = place.env("TMUX_PANE");
    let is_shown = actors::tmux::show_pane(place.env("TMUX"), pane).map_err(Failure::failed)?;
    let pane = pane.unwrap_or_default();
    Ok(if is_shown {
        format!("tmux shows pane {pane}")
    } else {
        format!("pane {pane} is selected, but no terminal is attached: `tmux attach` shows it")
    })
}

/// Marks all demands of a decision wrong, or takes that back.
fn mark_wrong(home: &Home, seq: Option<u64>, session: Option<Uuid>) -> Result<String> {
    let mut answer: Option<Explanation> = None;
    let query = Query::Explain {
        seq,
        session: session.map(|session| session.to_string()),
        machine: None,
    };
    connection::ask_daemon(home, &query, |line| answer = Some(line))?;
    let explained = answer.ok_or_else(|| Failure::failed("nothing was decided yet"))?;
    let decision = explained.decision.seq;
    let is_wrong = explained.marked_wrong.is_empty();
    let mark = Order::Wrong(Mark {
        decision,
        item: None,
        note: String::new(),
        wrong: is_wrong,
    });
    order(home, explained.decision.session, &mark)?;
    Ok(if is_wrong {
        format!("decision {decision} is marked wrong, w undoes it")
    } else {
        format!("decision {decision} is no longer marked wrong")
    })
}
