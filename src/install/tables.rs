//! Hooks in TOML, each a `[[hooks]]` table of its own at the end of the file.

use toml_edit::Document;

use super::change::{Entry, Kind, Status};
use super::edits::{Edit, Result};
use super::hooks::{HookEntry, client_of};

const HEADER: &str = "[[hooks]]";

/// The keys of a table, with their values as TOML.
pub(super) type Table = Vec<(&'static str, String)>;

/// Formats a TOML string. All of JSON's escapes are valid TOML.
pub(super) fn string(text: &str) -> String {
    serde_json::json!(text).to_string()
}

/// Plans a file that has a table for each wanted entry. `event` is the key that names the event.
pub(super) fn edit(
    path: &std::path::Path,
    event: &str,
    wanted: &[HookEntry],
    table: impl Fn(&HookEntry) -> Table,
) -> Result<Edit> {
    Edit::new(Kind::Tables, path, |text| merge(text, event, wanted, table))
}

fn merge(
    text: &str,
    event: &str,
    wanted: &[HookEntry],
    table: impl Fn(&HookEntry) -> Table,
) -> Result<(String, Vec<Entry>)> {
    parse(text)?;
    let known = ours(text);
    let mut after = without(text, &known);
    let end = if after.contains("\r\n") { "\r\n" } else { "\n" };
    if !after.is_empty() && !after.ends_with('\n') {
        after.push_str(end);
    }
    for wanted in wanted {
        if !after.is_empty() {
            after.push_str(end);
        }
        after.push_str(&format!("{HEADER}{end}"));
        for (key, value) in table(wanted) {
            after.push_str(&format!("{key} = {value}{end}"));
        }
    }
    let is_same = after == text;
    let has = |wanted: &HookEntry| {
        let mut events = known.iter().map(|one| one.value(event));
        events.any(|known| known.as_deref() == Some(wanted.event))
    };
    let status = |wanted: &HookEntry| Status::written(has(wanted), is_same);
    let entry = |wanted: &HookEntry| Entry::new(wanted.event, status(wanted));
    let entries = wanted.iter().map(entry).collect();
    match parse(&after) {
        Ok(()) => Ok((after, entries)),
        Err(error) => Err(format!(
            "`hooks` is written in a way that cannot be added to ({error}); write it as {HEADER} tables"
        )),
    }
}

/// Removes our tables.
pub(super) fn strip(text: &str) -> (String, Vec<Entry>) {
    let known = ours(text);
    let entries = known.iter().map(|_| Entry::new("hooks", Status::Removed));
    (without(text, &known), entries.take(1).collect())
}

/// Returns our command in the table for an event.
pub(super) fn command_at(text: &str, key: &str, event: &str) -> Option<String> {
    let mut ours = ours(text).into_iter();
    let table = ours.find(|table| table.value(key).as_deref() == Some(event))?;
    table.value("command")
}

fn parse(text: &str) -> Result<()> {
    let parsed = Document::parse(text);
    parsed.map(drop).map_err(|error| error.message().to_owned())
}

/// A table of ours: where it is, with the blank line before it, and its lines.
struct Ours<'a> {
    start: usize,
    end: usize,
    lines: Vec<&'a str>,
}

impl Ours<'_> {
    fn value(&self, key: &str) -> Option<String> {
        let mut lines = self.lines.iter().filter_map(|line| line.split_once('='));
        let (_, value) = lines.find(|(name, _)| name.trim() == key)?;
        serde_json::from_str(value.trim()).ok()
    }
}

/// Finds the tables that call our client. A table ends with its last key.
fn ours(text: &str) -> Vec<Ours<'_>> {
    let mut found: Vec<Ours<'_>> = Vec::new();
    let mut current: Option<Ours<'_>> = None;
    let (mut at, mut blank_at) = (0, None);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let is_key = !bare.starts_with(['[', '#']) && bare.contains('=');
        if bare == HEADER {
            found.extend(current.replace(Ours {
                start: blank_at.unwrap_or(at),
                end: at + line.len(),
                lines: Vec::new(),
            }));
        } else if let (true, Some(table)) = (is_key, &mut current) {
            table.lines.push(bare);
            table.end = at + line.len();
        } else {
            found.extend(current.take());
        }
        blank_at = bare.is_empty().then_some(at);
        at += line.len();
    }
    found.extend(current);
    let calls_client = |table: &Ours<'_>| {
        let command = table.value("command");
        command.is_some_and(|command| client_of(&command).is_some())
    };
    found.retain(calls_client);
    found
}

fn without(text: &str, tables: &[Ours<'_>]) -> String {
    let (mut rest, mut from) = (String::with_capacity(text.len()), 0);
    for table in tables {
        rest.push_str(&text[from..table.start]);
        from = table.end;
    }
    rest.push_str(&text[from..]);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(client: &str) -> Vec<HookEntry> {
        let entry = |event| HookEntry {
            event,
            matcher: None,
            command: format!("[ -x {client} ] && exec {client} kimi; exit 0"),
            timeout: 7,
        };
        ["Stop", "PreToolUse"].map(entry).into()
    }

    fn with(text: &str, client: &str) -> (String, Vec<Status>) {
        let table = |wanted: &HookEntry| {
            vec![
                ("event", string(wanted.event)),
                ("command", string(&wanted.command)),
                ("timeout", wanted.timeout.to_string()),
            ]
        };
        let (after, entries) = merge(text, "event", &wanted(client), table).expect("TOML");
        (after, entries.iter().map(|entry| entry.status).collect())
    }

    #[test]
    fn tables_come_last_and_go_without_a_trace() {
        let own = "[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n";
        for text in [
            "",
            "# A comment.\nmodel = \"x\"\n",
            "a = 1\r\n[b]\r\nc = 2\r\n",
            own,
        ] {
            let (once, status) = with(text, "/a/checkpointd-hook");
            assert!(once.starts_with(text) && once != text);
            assert_eq!(status, [Status::Added; 2]);
            assert_eq!(
                with(&once, "/a/checkpointd-hook"),
                (once.clone(), vec![Status::AlreadyThere; 2])
            );
            let (moved, status) = with(&once, "/b/checkpointd-hook");
            assert_eq!(status, [Status::Updated; 2]);
            assert_eq!(moved.matches("/a/").count(), 0);
            let command = command_at(&moved, "event", "PreToolUse").expect("it is there");
            assert_eq!(client_of(&command).as_deref(), Some("/b/checkpointd-hook"));
            assert_eq!(strip(&moved).0, text);
        }
    }

    #[test]
    fn what_was_written_behind_ours_stays() {
        let (once, _) = with("a = 1\n", "/a/checkpointd-hook");
        let more = format!("{once}\n[b]\nc = \"[[hooks]]\"\n");
        let (stripped, entries) = strip(&more);
        assert_eq!(stripped, "a = 1\n\n[b]\nc = \"[[hooks]]\"\n");
        assert_eq!(entries.len(), 1);
    }

    #[test]
    fn other_forms_are_refused() {
        for text in ["hooks = []\n", "[hooks]\nx = 1\n", "a = \n"] {
            let merged = merge(text, "event", &wanted("/a/checkpointd-hook"), |_| {
                vec![("event", string("Stop"))]
            });
            assert!(merged.is_err(), "{text}");
        }
    }
}
