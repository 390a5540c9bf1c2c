//! What checkpoints do, from turns that got one and turns that were held back (spec DECIDE-24).

use std::collections::{BTreeMap, BTreeSet};

use checkpoint::effect::{self, Effect};
use journal::Journal;

use super::audit::walk;
use super::policies::policies;
use super::question::{Audit, Result};

/// Compares the wanted decisions that were part of an experiment.
pub(super) fn effect(journal: &Journal, filter: &Audit) -> Result<Effect> {
    let policies = policies(journal)?;
    let mut wanted = BTreeMap::<_, BTreeSet<u64>>::new();
    walk(journal, filter, |envelope, _, _, _| {
        let of_session = wanted.entry(envelope.stream.session).or_default();
        of_session.insert(envelope.seq);
        Ok(())
    })?;
    let mut observed = Vec::new();
    for (session, decisions) in wanted {
        let events = journal.stream(session, 0, usize::MAX)?;
        let found = effect::observe(&events, &policies).into_iter();
        observed.extend(found.filter(|one| decisions.contains(&one.decision)));
    }
    Ok(effect::compare(&observed))
}
