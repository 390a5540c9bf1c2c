//! Codex's config.toml: hooks that it trusts, and `notify` for versions without hooks.
//!
//! Codex runs a hook only if config.toml holds the hook's hash under a key made of the file, the
//! event and the hook's position in it; otherwise it asks, or in `codex exec` silently skips the
//! hook. As with JSON, the file is parsed only for positions and edited by splices.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use toml_edit::{Document, Item};

use super::toml::{Result, line_end, newline, parse, toml_string, valid};

use crate::install::change::{Entry, Status, hex};
use crate::install::hooks;
use crate::install::settings::Handler;

/// Codex's default time limit for a hook, in seconds.
const TIMEOUT_S: u64 = 600;
/// The default and maximum for hooks at the end of a turn or session.
const END_TIMEOUT_S: u64 = 1;
const END_TIMEOUT_MAX_S: u64 = 3;

/// Returns the hash with which Codex identifies a hook: SHA-256 over its normal form as compact
/// JSON with sorted keys.
pub(crate) fn hash(handler: &Handler) -> String {
    let event = handler.event.as_str();
    let (usual, most) = match event {
        "SessionEnd" | "Interrupt" => (END_TIMEOUT_S, END_TIMEOUT_MAX_S),
        _ => (TIMEOUT_S, u64::MAX),
    };
    let timeout = handler.timeout.unwrap_or(usual).min(most);
    let mut hook = json!({ "async": handler.is_async, "command": handler.command });
    if let Some(message) = &handler.status_message {
        hook["statusMessage"] = json!(message);
    }
    hook["timeout"] = json!(timeout);
    hook["type"] = json!("command");
    let mut normal = json!({ "event_name": snake_case(event), "hooks": [hook] });
    let has_matcher = !matches!(event, "UserPromptSubmit" | "Stop" | "Interrupt");
    if let Some(matcher) = handler.matcher.as_ref().filter(|_| has_matcher) {
        normal["matcher"] = json!(matcher);
    }
    format!("sha256:{}", hex(&Sha256::digest(normal.to_string())))
}

/// Returns the key under which Codex keeps a hook's state.
pub(crate) fn key(hooks_file: &Path, handler: &Handler) -> String {
    let event = snake_case(&handler.event);
    let Handler { group, index, .. } = handler;
    format!("{}:{event}:{group}:{index}", hooks_file.display())
}

fn snake_case(event: &str) -> String {
    let mut out = String::with_capacity(event.len() + 4);
    for (at, c) in event.chars().enumerate() {
        if c.is_ascii_uppercase() && at > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A hook's state in config.toml.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) trusted_hash: Option<String>,
    /// Whether the user has switched the hook off.
    pub(crate) is_disabled: bool,
}

pub(crate) fn states(text: &str) -> Result<BTreeMap<String, State>> {
    let document = parse(text)?;
    let mut all = BTreeMap::new();
    let table = state_table(&document).into_iter();
    for (key, item) in table.flat_map(|table| table.iter()) {
        let Some(item) = item.as_table_like() else {
            continue;
        };
        let hash = item.get("trusted_hash").and_then(Item::as_str);
        let state = State {
            trusted_hash: hash.map(str::to_owned),
            is_disabled: item.get("enabled").and_then(Item::as_bool) == Some(false),
        };
        all.insert(key.to_owned(), state);
    }
    Ok(all)
}

/// Returns whether all of Codex's hooks are disabled.
pub(crate) fn switched_off(text: &str) -> Option<&'static str> {
    let document = parse(text).ok()?;
    let root = document.as_table();
    let is = |table: Option<&dyn toml_edit::TableLike>, key: &str, off: bool| {
        table.and_then(|table| table.get(key)?.as_bool()) == Some(off)
    };
    let features = root.get("features").and_then(Item::as_table_like);
    if is(features, "hooks", false) {
        return Some("features.hooks");
    }
    is(Some(root), "allow_managed_hooks_only", true).then_some("allow_managed_hooks_only")
}

/// Returns the events for which config.toml itself has a hook: one of ours, which would call twice, or another one.
pub(crate) fn events_with(text: &str, ours: bool) -> Vec<String> {
    let Ok(document) = parse(text) else {
        return Vec::new();
    };
    let hooks = document.as_table().get("hooks");
    let hooks = hooks.and_then(Item::as_table_like).into_iter();
    let is_such = |hook: &toml_edit::Table| {
        hook.get("command")
            .and_then(Item::as_str)
            .is_some_and(|command| hooks::client_of(command).is_some() == ours)
    };
    let has_such = |event: &Item| {
        let groups = event.as_array_of_tables().into_iter().flatten();
        let lists =
            groups.filter_map(|group| group.get("hooks").and_then(Item::as_array_of_tables));
        lists.flatten().any(is_such)
    };
    let such = hooks.flat_map(|hooks| hooks.iter().filter(|(_, event)| has_such(event)));
    such.map(|(event, _)| event.to_owned()).collect()
}

/// Records hooks as trusted.
pub(crate) fn trust(text: &str, wanted: &[(String, String)]) -> Result<(String, Vec<Entry>)> {
    let mut text = text.to_owned();
    let mut entries = Vec::new();
    for (key, hash) in wanted {
        let known = states(&text)?.remove(key);
        let status = match known {
            Some(state) if state.trusted_hash.as_ref() == Some(hash) => Status::AlreadyThere,
            Some(_) => {
                text = updated(&text, key, hash)?;
                Status::Updated
            }
            None => {
                text = with(&text, key, hash)?;
                Status::Added
            }
        };
        entries.push(Entry::new(format!("trust {}", short(key)), status));
    }
    Ok((text, entries))
}

/// Removes the state of these hooks.
pub(crate) fn forget(text: &str, keys: &[String]) -> Result<(String, Vec<Entry>)> {
    let mut text = text.to_owned();
    let mut entries = Vec::new();
    // From the end, so that a text with several additions gets its original end back.
    let mut there = Vec::new();
    for key in keys {
        there.extend(table_place(&text, key)?.map(|place| (place.start, key)));
    }
    there.sort_by_key(|(start, _)| std::cmp::Reverse(*start));
    for (_, key) in there {
        text = without(&text, key)?;
        let name = format!("trust {}", short(key));
        entries.insert(0, Entry::new(name, Status::Removed));
    }
    Ok((text, entries))
}

/// Moves the state of hooks to their new keys: a user's hook whose position we changed stays
/// trusted.
pub(super) fn rename(text: &str, moved: &[(String, String)]) -> Result<String> {
    let document = parse(text)?;
    let Some(table) = state_table(&document) else {
        return Ok(text.to_owned());
    };
    let mut places: Vec<(Range<usize>, String)> = Vec::new();
    for (old, new) in moved {
        let Some(place) = table.get(old).and_then(Item::span) else {
            continue;
        };
        // Codex writes the key as a string in a table's header; other forms are left alone.
        for quoted in [toml_string(old), format!("'{old}'")] {
            if let Some(at) = text[place.clone()].find(&quoted) {
                let start = place.start + at;
                places.push((start..start + quoted.len(), toml_string(new)));
                break;
            }
        }
    }
    places.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut out = text.to_owned();
    for (place, with) in places {
        out.replace_range(place, &with);
    }
    valid(out)
}

/// Returns the former keys of our hooks that no longer exist.
pub(super) fn keys_gone(
    hooks_file: &Path,
    old: &[Handler],
    wanted: &[(String, String)],
) -> Vec<String> {
    let wanted: BTreeSet<&String> = wanted.iter().map(|(key, _)| key).collect();
    let ours = old.iter().filter(|handler| handler.client.is_some());
    let keys = ours.map(|handler| key(hooks_file, handler));
    keys.filter(|key| !wanted.contains(key)).collect()
}

/// Returns the keys of the user's hooks whose position has changed, old and new.
pub(super) fn moved(hooks_file: &Path, old: &[Handler], new: &[Handler]) -> Vec<(String, String)> {
    let foreign = |all: &[Handler]| -> Vec<String> {
        let others = all.iter().filter(|handler| handler.client.is_none());
        others.map(|handler| key(hooks_file, handler)).collect()
    };
    let pairs = foreign(old).into_iter().zip(foreign(new));
    pairs.filter(|(old, new)| old != new).collect()
}

fn state_table<'a>(document: &'a Document<&str>) -> Option<&'a dyn toml_edit::TableLike> {
    document
        .as_table()
        .get("hooks")?
        .as_table_like()?
        .get("state")?
        .as_table_like()
}

fn with(text: &str, key: &str, hash: &str) -> Result<String> {
    let newline = newline(text);
    let has_end = text.is_empty() || text.ends_with('\n');
    let mut out = text.to_owned();
    if !has_end {
        out.push_str(newline);
    }
    if !text.is_empty() {
        out.push_str(newline);
    }
    let (key, hash) = (toml_string(key), toml_string(hash));
    let state = format!("[hooks.state.{key}]{newline}trusted_hash = {hash}");
    out.push_str(&state);
    // A file whose last line has no line end keeps that form, so that removal can restore it.
    if has_end {
        out.push_str(newline);
    }
    valid(out)
}

fn updated(text: &str, key: &str, hash: &str) -> Result<String> {
    let document = parse(text)?;
    let item = state_table(&document)
        .and_then(|table| table.get(key))
        .expect("it is known");
    if let Some(place) = item
        .as_table_like()
        .and_then(|item| item.get("trusted_hash"))
        .and_then(Item::span)
    {
        let mut out = text.to_owned();
        out.replace_range(place, &toml_string(hash));
        return valid(out);
    }
    let header = item
        .as_table()
        .and_then(toml_edit::Table::span)
        .ok_or("`hooks.state` is not written as tables")?;
    let at = line_end(text, header.end);
    let newline = newline(text);
    let (before, after) = text.split_at(at);
    let gap = match before.ends_with('\n') {
        true => "",
        false => newline,
    };
    let line = format!("trusted_hash = {}", toml_string(hash));
    valid([before, gap, &line, newline, after].concat())
}

/// Returns the range of a table, from its header to its last value.
fn table_place(text: &str, key: &str) -> Result<Option<Range<usize>>> {
    let document = parse(text)?;
    let table = state_table(&document)
        .and_then(|table| table.get(key))
        .and_then(Item::as_table);
    let Some((table, header)) = table.and_then(|table| Some((table, table.span()?))) else {
        return Ok(None);
    };
    let spans = table.iter().filter_map(|(_, value)| value.span());
    let end = spans.fold(header.end, |end, span| end.max(span.end));
    Ok(Some(header.start..line_end(text, end)))
}

fn without(text: &str, key: &str) -> Result<String> {
    let Some(place) = table_place(text, key)? else {
        return Ok(text.to_owned());
    };
    let behind = &text[place.end..];
    let mut before = &text[..place.start];
    let had_end = text[..place.end].ends_with('\n');
    // The blank line in front was added with it; if the last line had no line end, so was that.
    for _ in 0..if had_end { 1 } else { 2 } {
        let shorter = before
            .strip_suffix('\n')
            .map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
        before = match shorter {
            Some(rest) if rest.is_empty() || rest.ends_with('\n') || !had_end => rest,
            _ => before,
        };
    }
    valid([before, behind].concat())
}

fn short(key: &str) -> &str {
    let mut colons = key.rmatch_indices(':').map(|(at, _)| at);
    colons.nth(2).map_or(key, |at| &key[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::settings;

    fn hashes(text: &str) -> Vec<String> {
        settings::handlers(text)
            .expect("JSON")
            .iter()
            .map(hash)
            .collect()
    }

    /// The hashes are those that Codex 0.169.0 gives for these hooks in the answer to `hooks/list`.
    #[test]
    fn hashes_are_those_of_the_real_codex() {
        let text = r#"{"hooks": {
            "PreToolUse": [{"matcher": "^Bash$", "hooks": [
                {"type": "command", "command": "é \"q\"", "timeout": 5, "async": false, "statusMessage": "hm"}
            ]}],
            "Stop": [{"matcher": "x", "hooks": [
                {"type": "command", "command": "echo hi"}, {"type": "command", "command": "a", "async": true}
            ]}],
            "Interrupt": [{"matcher": "x", "hooks": [{"type": "command", "command": "a", "timeout": 9}]}],
            "SessionEnd": [{"matcher": "x", "hooks": [{"type": "command", "command": "a", "timeout": 9}]}],
            "UserPromptSubmit": [{"matcher": "x", "hooks": [{"type": "command", "command": "a", "timeout": 9}]}],
            "SubagentStop": [{"matcher": "x", "hooks": [{"type": "command", "command": "a", "timeout": 9}]}]
        }}"#;
        insta::assert_debug_snapshot!(hashes(text), @r#"
        [
            "sha256:3044ac9ed9926f755f0942da59787644d4ae7562e4cdd3834f1d553959084e11",
            "sha256:f2aa169c7a1cf9b7cc9b61ce5ecec0315e0f7d13ac35935b1aa74440f9a839f8",
            "sha256:89bc975d5f8e4733dcf0b3e2d2f087f2cd8e3746c4e0cd9e4835873beea554b3",
            "sha256:371fe7ccba440764807e7e9a8f2e604ec8a637b59ba9b8fbd94fe3e5ba8652ce",
            "sha256:1610f526fb201e13c1e35a0e3a70373236b872caf6c139e2ffad449991bbced4",
            "sha256:537ad548cecf24c6c5dde5134b1c4541ccb11e793bba10d2b916ec1601d83887",
            "sha256:f2a389fc534c7d4a28007e39f75d4ec82e33419a23e8fdfe3b58a7b58cbfd775",
        ]
        "#);
    }

    #[test]
    fn hooks_are_known_by_file_event_and_place() {
        let text = r#"{"hooks": {"SubagentStop": [{"hooks": []}, {"hooks": [{"command": "a"}, {"command": "b"}]}]}}"#;
        let handlers = settings::handlers(text).expect("JSON");
        assert_eq!(
            key(Path::new("/c/hooks.json"), &handlers[1]),
            "/c/hooks.json:subagent_stop:1:1"
        );
    }

    #[test]
    fn what_codex_or_the_user_added_to_a_hook_is_left_when_its_hash_changes() {
        let text = "[hooks.state.\"/h:stop:0:0\"] # mine\nenabled = false\n\n[other]\n";
        let (text, _) = trust(text, &[("/h:stop:0:0".into(), "sha256:1".into())]).expect("TOML");
        assert_eq!(
            text,
            "[hooks.state.\"/h:stop:0:0\"] # mine\ntrusted_hash = \"sha256:1\"\nenabled = false\n\n[other]\n"
        );
        let (text, entries) =
            trust(&text, &[("/h:stop:0:0".into(), "sha256:2".into())]).expect("TOML");
        assert!(text.contains("\"sha256:2\"\nenabled = false"), "{text}");
        assert_eq!(entries, [Entry::new("trust stop:0:0", Status::Updated)]);
    }

    #[test]
    fn a_moved_hook_keeps_its_trust() {
        let text = "[hooks.state.\"/h:stop:1:0\"]\ntrusted_hash = \"x\"\n[hooks.state.'/h:stop:2:0']\ntrusted_hash = \"y\"\n";
        let moved = [
            ("/h:stop:1:0".to_owned(), "/h:stop:0:0".to_owned()),
            ("/h:stop:2:0".into(), "/h:stop:1:0".into()),
        ];
        let states = states(&rename(text, &moved).expect("TOML")).expect("TOML");
        let hashes: Vec<_> = states
            .iter()
            .map(|(key, state)| (key.as_str(), state.trusted_hash.as_deref()))
            .collect();
        assert_eq!(
            hashes,
            [("/h:stop:0:0", Some("x")), ("/h:stop:1:0", Some("y"))]
        );
    }

    #[test]
    fn what_switches_hooks_off_is_named() {
        for (text, switch) in [
            ("[features]\nhooks = false\n", Some("features.hooks")),
            (
                "allow_managed_hooks_only = true\n",
                Some("allow_managed_hooks_only"),
            ),
            ("[features]\nhooks = true\n", None),
            ("allow_managed_hooks_only = false\n", None),
        ] {
            assert_eq!(switched_off(text), switch, "{text}");
        }
    }

    #[test]
    fn hooks_in_config_toml_are_seen() {
        let text = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"/x/checkpointd-hook codex\"\n\
            [[hooks.Interrupt]]\n[[hooks.Interrupt.hooks]]\ncommand = \"say\"\n";
        assert_eq!(events_with(text, true), ["Stop"]);
        assert_eq!(events_with(text, false), ["Interrupt"]);
    }

    #[test]
    fn a_table_in_one_line_is_refused_with_words() {
        let error =
            trust("hooks = {}\n", &[("k".into(), "h".into())]).expect_err("cannot be added to");
        assert!(error.contains("write it as [hooks] tables"), "{error}");
    }
}
