//! GitHub Copilot CLI: a file of ours among its hooks, `hooks/checkpointd.json`.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::install::change::{Entry, Kind, Status};
use crate::install::edits::{Edit, Result, read};
use crate::install::hooks::{HookEntry, client_of};

/// Plans the file.
pub(in crate::install) fn edit(file: &Path, wanted: &[HookEntry]) -> Result<Edit> {
    let (before, text) = read(file)?;
    let after = hooks(wanted);
    let known = commands(&text.text);
    let entry = |wanted: &HookEntry| {
        let status = match known.iter().find(|(event, _)| event == wanted.event) {
            None => Status::Added,
            Some(_) if text.text == after => Status::AlreadyThere,
            Some(_) => Status::Updated,
        };
        Entry::new(wanted.event, status)
    };
    let entries = wanted.iter().map(entry).collect();
    Ok(Edit {
        kind: Kind::Own,
        path: file.to_owned(),
        before,
        text,
        after,
        entries,
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
    let hooks: Map<String, Value> = wanted
        .iter()
        .map(|wanted| {
            let entry =
                json!({ "type": "command", "bash": wanted.command, "timeoutSec": wanted.timeout });
            (wanted.event.to_owned(), json!([entry]))
        })
        .collect();
    let root = json!({ "version": 1, "hooks": hooks });
    format!("{root:#}\n")
}

/// Returns the events of a file with their commands.
fn commands(text: &str) -> Vec<(String, String)> {
    let root: Value = serde_json::from_str(text).unwrap_or_default();
    let events = root["hooks"].as_object().into_iter().flatten();
    events
        .flat_map(|(event, entries)| {
            let entries = entries.as_array().into_iter().flatten();
            entries.filter_map(|entry| Some((event.clone(), entry["bash"].as_str()?.to_owned())))
        })
        .collect()
}
