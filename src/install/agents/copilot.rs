//! GitHub Copilot CLI: a file of ours among its hooks, `hooks/checkpointd.json`.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::install::change::{Entry, Kind, Status};
use crate::install::edits::{Edit, Result};
use crate::install::hooks::{HookEntry, client_of};

/// Plans the file.
pub(in crate::install) fn edit(file: &Path, wanted: &[HookEntry]) -> Result<Edit> {
    Edit::new(Kind::Own, file, |text| {
        let after = hooks(wanted);
        let known = commands(text);
        let entry = |wanted: &HookEntry| {
            let is_known = known.iter().any(|(event, _)| event == wanted.event);
            Entry::new(wanted.event, Status::written(is_known, text == after))
        };
        let entries = wanted.iter().map(entry).collect();
        Ok((after, entries))
    })
}

/// Returns whether a file has nothing but hooks of ours.
pub(in crate::install) fn is_ours(text: &str) -> bool {
    let commands = commands(text);
    !commands.is_empty() && commands.iter().all(|(_, it)| client_of(it).is_some())
}

/// Returns the command for an event.
pub(in crate::install) fn command_at(text: &str, event: &str) -> Option<String> {
    let found = commands(text).into_iter().find(|(name, _)| name == event);
    found.map(|(_, command)| command)
}

fn hooks(wanted: &[HookEntry]) -> String {
    let entry = |wanted: &HookEntry| {
        let HookEntry {
            command, timeout, ..
        } = wanted;
        let entry = json!({ "type": "command", "bash": command, "timeoutSec": timeout });
        (wanted.event.to_owned(), json!([entry]))
    };
    let hooks: Map<String, Value> = wanted.iter().map(entry).collect();
    let root = json!({ "version": 1, "hooks": hooks });
    format!("{root:#}\n")
}

/// Returns the events of a file with their commands.
fn commands(text: &str) -> Vec<(String, String)> {
    let root: Value = serde_json::from_str(text).unwrap_or_default();
    let events = root["hooks"].as_object().into_iter().flatten();
    let commands = events.flat_map(|(event, entries)| {
        let entries = entries.as_array().into_iter().flatten();
        entries.filter_map(|entry| Some((event.clone(), entry["bash"].as_str()?.to_owned())))
    });
    commands.collect()
}
