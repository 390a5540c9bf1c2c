//! The shapes of everything that the machine interface promises: the CLI, the page, `top` and the API read and write
//! these types, and each is serialized by its own definition only. The order of fields is the order in JSON.

mod benefit;
mod daemon;
mod decision;
mod event_line;
mod explanation;
mod lane;
mod lookback;
mod open;
mod overview;
mod redecided;
mod session;
mod source;
mod state;
pub(crate) mod status_line;
mod subagents;
mod timeline;
mod totals;
mod trace;

pub(crate) use benefit::{Benefit, Mistake};
pub(crate) use daemon::{DaemonStatus, FleetLine, Health};
pub(crate) use decision::{DecisionRow, DemandEnd};
pub(crate) use event_line::EventLine;
pub(crate) use explanation::{Demand, Explanation, MarkView, OtherStop, TimeAfter};
pub(crate) use lane::lane;
pub(crate) use lookback::{
    DayCount, FileProblem, Imported, LookBack, LookBackGroup, PastTurnRow, RuleCount, TurnTotals,
};
pub(crate) use open::OpenView;
pub(crate) use overview::{AgentLine, HookFigures, JournalLine, Overview, Stats};
pub(crate) use redecided::{ChangedDecision, Mismatch, ReadAs, Reproved, Side, WhatIf};
pub(crate) use session::{Need, SessionRow, SessionTitle, tmux_server};
pub(crate) use source::SessionSource;
#[cfg(feature = "sqlite")]
pub(crate) use source::Source;
pub(crate) use state::{Changed, StateView};
pub(crate) use subagents::Subagents;
pub(crate) use timeline::{Place, TimelineLine};
pub(crate) use totals::{Group, RuleTotals, Summary, Totals};
pub(crate) use trace::{ActionTrace, RuleTrace, RulesView};

/// Returns whether a count is left out of an answer, as most journals never have one.
fn is_zero(count: &u64) -> bool {
    *count == 0
}
