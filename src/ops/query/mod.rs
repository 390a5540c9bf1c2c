//! Questions to the journal and their answers: one function, asked in the daemon through its socket and without a
//! daemon on the journal itself, so that both give the same.

mod audit;
mod benefit;
mod cursor;
mod events;
mod explain;
mod filter;
mod guard;
mod history;
mod marks;
mod open;
mod overview;
mod own_runs;
mod question;
mod range;
mod reader;
mod redecide;
mod seen;
mod sessions;
mod status_line;
mod summary;
mod trends;
mod whatif;

use actors::session_state;
use journal::{Journal, Timestamp};

use crate::ops::views::StateView;
use question::send;
use sessions::{find_session_on, state_at};

pub(crate) use guard::Unguarded;
pub(crate) use open::Finder;
pub(crate) use overview::{HookTime, hook_time};
pub(crate) use question::{
    Again, Audit, Emit, Error, Events, Outgoing, Progress, Query, Range, Remade, Result, Sessions,
};
pub(crate) use reader::Reader;
pub(crate) use seen::{Known, Seen};
pub(crate) use sessions::{FIRED_PREFIX, find_session, of_agents, source};
pub(crate) use status_line::LineOf;

impl Reader {
    /// Answers a question, line by line. `{"progress":[done,all]}` lines may come between them.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub(crate) fn answer(&self, query: &Query, emit: &mut Emit<'_>) -> Result<()> {
        self.journal.settle()?;
        answer(query, self, emit)
    }
}

fn answer(query: &Query, reader: &Reader, emit: &mut Emit<'_>) -> Result<()> {
    let journal = &reader.journal;
    match query {
        Query::Sessions(wanted) => sessions::list(journal, wanted, emit),
        Query::State {
            session,
            seq,
            time,
            machine,
        } => {
            let entry = find_session_on(journal, session, machine.as_deref())?;
            let state = state_at(journal, &entry, *seq, *time)?;
            send(emit, &StateView::new(&state))
        }
        Query::Open { session, machine } => {
            let entry = find_session_on(journal, session, machine.as_deref())?;
            open::table(journal, &entry, emit)
        }
        Query::Range(wanted) => send(emit, &range::range(journal, wanted)?),
        Query::Unguarded { since } => guard::unguarded(journal, *since, emit),
        Query::Again(wanted) => send(emit, &range::again(journal, wanted)?),
        Query::Folded { session } => {
            let state = session_state::load(journal, &find_session(journal, session)?.stream)?;
            send(emit, &state)
        }
        Query::Events(wanted) => events::list(journal, wanted, emit),
        Query::Timeline {
            session,
            turn,
            from,
            machine,
        } => {
            let entry = find_session_on(journal, session, machine.as_deref())?;
            history::timeline(journal, &reader.walks, &entry, *turn, *from, emit)
        }
        Query::Lanes { session, from } => {
            let entry = find_session(journal, session)?;
            history::lanes(journal, &reader.walks, &entry, *from, emit)
        }
        Query::Audit(filter) => audit::list(journal, filter, emit),
        Query::Summary(filter) => send(emit, &summary::summary(journal, filter)?),
        Query::Effect(filter) => send(emit, &summary::compare(journal, filter)?),
        Query::Explain {
            seq,
            session,
            machine,
        } => explain::explain(
            journal,
            *seq,
            (session.as_deref(), machine.as_deref()),
            emit,
        ),
        Query::Verify { session, machine } => {
            let whose = (session.as_deref(), machine.as_deref());
            redecide::verify(journal, whose, emit)
        }
        Query::WhatIf {
            session,
            machine,
            name,
            text,
        } => {
            let whose = (session.as_deref(), machine.as_deref());
            whatif::what_if(journal, &reader.trust, whose, (name, text), emit)
        }
        Query::Event { seq } => send(emit, &events::one(journal, *seq)?),
        Query::Trends { days, machine } => {
            let trends = trends::trends(journal, *days, machine.as_deref(), Timestamp::now())?;
            send(emit, &trends)
        }
        Query::Outgoing(wanted) => events::outgoing(journal, wanted, emit),
        Query::Stats => send(emit, &overview::stats(journal)?),
        Query::Overview => send(emit, &overview::overview(journal)?),
        Query::VerifyJournal => verify(journal, emit),
    }
}

/// Compares intake log and store, with lines of progress.
fn verify(journal: &Journal, emit: &mut Emit<'_>) -> Result<()> {
    let verified = journal.verify(|done, all| {
        let progress = (done, all);
        let _ = send(emit, &Progress { progress });
    })?;
    send(emit, &verified)
}
