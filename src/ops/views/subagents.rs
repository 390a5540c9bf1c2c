//! Who did what: the names of a session's subagents.

use std::collections::BTreeMap;

use journal::{Envelope, Event};

/// The subagents that have been seen, with the kind of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subagents(Vec<(String, String)>);

impl Subagents {
    /// Takes in an event, and returns the name of the subagent that it is of: its kind, with a number from the second of a
    /// kind on. None for what the agent itself did.
    pub(crate) fn of(&mut self, event: &Event) -> Option<String> {
        let id = event.host()?.subagent.as_deref()?;
        let kind = match event {
            Event::SubagentStarted { subagent_type, .. }
            | Event::SubagentStopped { subagent_type, .. } => subagent_type.as_str(),
            _ => "",
        };
        let place = self.0.iter().position(|(known, _)| known == id);
        let place = place.unwrap_or_else(|| {
            let kind = if kind.is_empty() { "subagent" } else { kind };
            self.0.push((id.to_owned(), kind.to_owned()));
            self.0.len() - 1
        });
        let kind = &self.0[place].1;
        let same = self.0[..place].iter().filter(|(_, other)| other == kind);
        Some(match same.count() {
            0 => kind.clone(),
            before => format!("{kind} {}", before + 1),
        })
    }

    /// Returns the names of those that made calls, by the ids of the calls.
    pub(crate) fn by_call(events: &[Envelope]) -> BTreeMap<String, String> {
        let mut seen = Self::default();
        let mut names = BTreeMap::new();
        for envelope in events {
            let name = seen.of(&envelope.event);
            if let Event::ToolStarted { call, .. }
            | Event::ToolFinished { call, .. }
            | Event::ToolFailed { call, .. } = &envelope.event
                && let Some((name, id)) = name.zip(call.id.clone())
            {
                names.insert(id, name);
            }
        }
        names
    }
}
