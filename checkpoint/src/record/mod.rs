//! The verification record: an in-toto Statement about a commit, made from the answer table of the stops (spec EVID-18).
//! What it says, how its bytes are made, and what has to hold for it to be accepted. No clock, no I/O.
//!
//! `table` finds the answers by the contents of files, over all sessions. `dsse` is the envelope around a statement, and
//! `verify` is a function from an envelope and the facts of a repository to the reasons why it is refused.

pub mod dsse;
mod statement;
mod switches;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use statement::{
    Demand, Digest, Found, Head, Home, LIMITS, Level, PREDICATE, Predicate, Producer, Run,
    STATEMENT, Statement, Subject, Switch, Totals, Unit,
};
pub use switches::{UNINSTALL, switches};
pub use table::{Content, Table};
pub use verify::{Again, Claims, Refusal, Repository, Signature, verify};

/// Returns the statement about a range.
pub fn statement(repository: &Repository, found: Found, level: Level, version: &str) -> Statement {
    let totals = found.totals();
    let Found {
        mut units,
        mut runs,
        mut demands,
        switches,
        journal,
    } = found;
    let is_summary = level == Level::Summary;
    let hides = |unit: &mut Unit| {
        unit.file.take_if(|_| is_summary);
        unit.doubts.retain(|_| !is_summary);
        unit.why.take_if(|_| level != Level::Full);
    };
    units.iter_mut().for_each(hides);
    for run in runs.iter_mut().filter(|_| is_summary) {
        (run.session, run.command) = (None, None);
    }
    for demand in demands.iter_mut().filter(|_| level != Level::Full) {
        demand.asked.clear();
    }
    Statement {
        kind: STATEMENT.to_owned(),
        subject: repository.subjects(),
        predicate_type: PREDICATE.to_owned(),
        predicate: Predicate {
            level,
            base: repository.base.as_deref().map(Digest::commit),
            repository: Home {
                remote: repository.remote.clone().filter(|_| !is_summary),
            },
            totals,
            units,
            runs,
            demands,
            switches,
            journal,
            producer: Producer {
                version: version.to_owned(),
                judgment: journal::DECISION_VERSION,
            },
        },
    }
}
