//! The evidence of a decision, joined from the events that hold its parts.

use journal::{Event, Evidence, Facts};

/// The evidence that was gathered for a session's next decision, as its events arrive.
#[derive(Debug, Default)]
pub struct Gathered {
    evidence: Option<(u64, Box<Evidence>)>,
    facts: Option<(u64, Box<Facts>)>,
}

impl Gathered {
    /// Moves an event's part of the evidence out of the event, and leaves an empty part.
    pub fn feed(&mut self, event: &mut Event) {
        match event {
            Event::FactsGathered { trigger, facts } => {
                self.facts = Some((*trigger, std::mem::take(facts)));
            }
            Event::EvidenceGathered { trigger, evidence } => {
                self.evidence = Some((*trigger, std::mem::take(evidence)));
            }
            _ => {}
        }
    }

    /// Returns the evidence that was gathered for the stop with the sequence number `trigger`, if any, and starts over.
    pub fn take(&mut self, trigger: u64) -> Option<Evidence> {
        let facts = self.facts.take().filter(|(of, _)| *of == trigger);
        let (_, mut evidence) = self.evidence.take().filter(|(of, _)| *of == trigger)?;
        evidence.facts = facts.map(|(_, facts)| *facts).unwrap_or_default();
        Some(*evidence)
    }
}
