//! The policies that decisions were made under.

use std::collections::HashMap;

use checkpoint::Policy;
use journal::{Event, Journal, Stream};

use super::question::Result;

/// Returns all policies of the journal, by fingerprint.
pub(super) fn policies(journal: &Journal) -> Result<HashMap<u64, Policy>> {
    let mut policies = HashMap::new();
    for envelope in journal.stream(Stream::daemon().session, 0, usize::MAX)? {
        if let Event::PolicyAdopted { fingerprint, text } = &envelope.event
            && let Ok(policy) = Policy::from_text(text)
        {
            policies.insert(*fingerprint, policy);
        }
    }
    Ok(policies)
}
