//! Our hook entries in an agent's settings, in the shape that several agents share:
//! `{"hooks": {EVENT: [{"matcher"?, "hooks": [{"type": "command", "command", "timeout"}]}]}}`. Others leave out the groups:
//! `{"hooks": {EVENT: [{"type": "command", "command", "timeout"}]}}`. Antigravity has sets of hooks by name, and groups for
//! tools only: `{"checkpointd": {EVENT: [..]}}`.

use std::cmp::Reverse;
use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use serde_json::{Value as Json, json};

use super::change::{Entry, Status};
use super::hooks::{self, HookEntry};
use crate::edit::json::{self, Container};

type Result<T> = std::result::Result<T, String>;

/// How hooks are written below their event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Groups of hooks, each with a matcher.
    Groups,
    /// A flat list of hooks.
    Flat,
    /// In a set of our own; groups if there is a matcher.
    Named,
}

/// The keys of a settings file that hold hooks of ours.
const KEYS: [&str; 2] = ["hooks", "checkpointd"];

impl Shape {
    const fn key(self) -> &'static str {
        match self {
            Self::Groups | Self::Flat => KEYS[0],
            Self::Named => KEYS[1],
        }
    }
}

/// A hook in a settings file, ours or the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handler {
    pub(crate) event: String,
    /// The index of its group within the event.
    pub(crate) group: usize,
    /// The index within the group.
    pub(crate) index: usize,
    /// The command; empty for another type of hook.
    pub(crate) command: String,
    /// The time limit in the agent's unit.
    pub(crate) timeout: Option<u64>,
    /// The group's matcher.
    pub(crate) matcher: Option<String>,
    /// The text that the agent shows while it runs.
    pub(crate) status_message: Option<String>,
    /// Whether the agent runs it without waiting.
    pub(crate) is_async: bool,
    /// The client's path, if the entry is ours.
    pub(crate) client: Option<String>,
    /// The key of the file that holds it.
    key: &'static str,
    /// What it is in, from the inside out up to the file's object, with the place of each in the next.
    within: Vec<(Container, usize)>,
    hook: Container,
    /// Where its command and its time limit are written.
    values: [Option<Range<usize>>; 2],
}

/// Lists all hooks of a settings file in order.
pub(crate) fn handlers(text: &str) -> Result<Vec<Handler>> {
    let root = json::parse(text)?;
    let mut all = Vec::new();
    for key in KEYS {
        if let Some((hooks, root)) = hooks_of(text, root.as_ref(), key)? {
            list(key, hooks, &root, &mut all);
        }
    }
    Ok(all)
}

/// Adds the hooks of one object, which is at a place in the file's.
fn list(key: &'static str, hooks: &Object<'_>, root: &(Container, usize), all: &mut Vec<Handler>) {
    for (place, property) in hooks.properties.iter().enumerate() {
        // Older Gemini settings have switches beside the events.
        let Value::Array(groups) = &property.value else {
            continue;
        };
        let event = (Container::of_object(hooks), place);
        for (group, around) in groups.elements.iter().enumerate() {
            let Some(around) = around.as_object() else {
                continue;
            };
            let groups = (Container::of_array(groups), group);
            let list = around.get_array("hooks");
            let inside: Vec<(usize, &Object<'_>)> = match list {
                Some(list) => {
                    let hooks = list.elements.iter().enumerate();
                    let hooks = hooks.filter_map(|(at, hook)| Some((at, hook.as_object()?)));
                    hooks.collect()
                }
                None => Vec::from_iter(around.get_string("command").map(|_| (0, around))),
            };
            for (index, hook) in inside {
                let list = list.map(|list| (Container::of_array(list), index));
                let outer = [groups.clone(), event.clone(), root.clone()];
                let within = list.into_iter().chain(outer).collect();
                let (group, hook) = ((group, around), (index, hook));
                let event = property.name.as_str();
                all.push(Handler::new(key, event, group, hook, within));
            }
        }
    }
}

impl Handler {
    /// Returns a hook of an event. Each of group and hook comes with its index.
    fn new(
        key: &'static str,
        event: &str,
        (group, around): (usize, &Object<'_>),
        (index, hook): (usize, &Object<'_>),
        within: Vec<(Container, usize)>,
    ) -> Self {
        let text = |object: &Object<'_>, key: &str| {
            object.get_string(key).map(|text| text.value.to_string())
        };
        let place = |key| hook.get(key).map(|value| json::span(value.value.range()));
        let command = text(hook, "command").unwrap_or_default();
        let timeout = hook.get_number("timeout");
        Self {
            event: event.to_owned(),
            group,
            index,
            timeout: timeout.and_then(|number| number.value.parse().ok()),
            matcher: text(around, "matcher"),
            status_message: text(hook, "statusMessage"),
            is_async: hook.get_boolean("async").is_some_and(|flag| flag.value),
            client: hooks::client_of(&command),
            command,
            key,
            within,
            hook: Container::of_object(hook),
            values: [place("command"), place("timeout")],
        }
    }

    /// Returns a text with the wanted command and time limit.
    fn updated(&self, text: &str, wanted: &HookEntry) -> String {
        let mut text = match &self.values {
            [_, Some(_)] => text.to_owned(),
            // Behind the command, whose place stays valid.
            [_, None] => json::append(text, &self.hook, Some("timeout"), &json!(wanted.timeout)),
        };
        let values = [json!(wanted.command), json!(wanted.timeout)];
        let mut edits: Vec<_> = self.values.iter().flatten().zip(values).collect();
        // The later one first, so that the other's place stays valid.
        edits.sort_by_key(|(place, _)| Reverse(place.start));
        for (place, value) in edits {
            text = json::replace(&text, place.clone(), &value.to_string());
        }
        text
    }

    /// Returns a text without it, and without what would be left empty and was not there before us.
    fn removed(&self, text: &str, kept: &Kept) -> String {
        // From the outside in: the file's object, the one with the events, the lists of the event and of the group.
        let stay = [
            true,
            kept.keys.contains(&self.key),
            kept.has_event(self),
            false,
        ];
        let levels: Vec<_> = self.within.iter().rev().zip(stay).collect();
        let mut levels = levels.into_iter().rev();
        let left = levels.find(|((container, _), stays)| *stays || container.count() > 1);
        let ((container, place), _) = left.expect("the file's object stays");
        json::remove(text, container, *place)
    }
}

/// Adds, updates and removes our entries until each wanted event has one.
///
/// New entries go last: Codex identifies a trusted hook by its position.
pub(super) fn merge(
    text: &str,
    wanted: &[HookEntry],
    shape: Shape,
) -> Result<(String, Vec<Entry>)> {
    let mut text = if json::parse(text)?.is_none() {
        json::begin(text)
    } else {
        text.to_owned()
    };
    let mut entries = Vec::new();
    for stale in names_not_in(&handlers(&text)?, wanted) {
        while let Some(handler) = ours(&text, &stale)?.pop() {
            text = handler.removed(&text, &Kept::default());
        }
        entries.push(Entry::new(stale, Status::Removed));
    }
    for wanted in wanted {
        let mut there = ours(&text, wanted.event)?;
        let mut status = Status::AlreadyThere;
        while let [_, .., double] = there.as_slice() {
            text = double.removed(&text, &Kept::default());
            there = ours(&text, wanted.event)?;
            status = Status::Updated;
        }
        match there.first() {
            None => {
                text = with(&text, wanted, shape)?;
                status = Status::Added;
            }
            // If ours needs no matcher, the user's matcher for the group may stay.
            Some(handler)
                if wanted.matcher.is_some() && handler.matcher.as_deref() != wanted.matcher =>
            {
                text = with(&handler.removed(&text, &Kept::default()), wanted, shape)?;
                status = Status::Updated;
            }
            Some(handler)
                if handler.command != wanted.command || handler.timeout != Some(wanted.timeout) =>
            {
                text = handler.updated(&text, wanted);
                status = Status::Updated;
            }
            Some(_) => {}
        }
        entries.push(Entry::new(wanted.event, status));
    }
    Ok((text, entries))
}

/// Removes all our entries, and the containers that become empty and were not there `before`.
pub(super) fn strip(text: &str, before: Option<&str>) -> Result<(String, Vec<Entry>)> {
    let kept = before.map_or_else(|| Ok(Kept::default()), Kept::of)?;
    let mut text = text.to_owned();
    let mut entries = Vec::new();
    let is_ours = |handler: &Handler| handler.client.is_some();
    while let Some(handler) = handlers(&text)?.into_iter().rfind(is_ours) {
        text = handler.removed(&text, &kept);
        entries.insert(0, Entry::new(handler.event, Status::Removed));
    }
    Ok((text, entries))
}

/// Returns whether a document has no content, so that a file that we created can be removed.
pub(super) fn is_blank(text: &str) -> bool {
    match json::parse(text) {
        Ok(Some(Value::Object(root))) => root.properties.is_empty() && text.trim() == "{}",
        Ok(None) => text.trim().is_empty(),
        _ => false,
    }
}

/// The types of hooks that agents have.
const TYPES: [&str; 6] = ["agent", "command", "http", "mcp_tool", "plugin", "prompt"];

/// Names entries of hooks that the agent takes for a mistake, perhaps in the whole file, and says what is wrong. `events`
/// are those that are known: a name that is much like one of them is taken for it.
pub(super) fn malformed(text: &str, events: &[&str]) -> Vec<String> {
    let root: Json = serde_json::from_str(text).unwrap_or_default();
    let mut found = Vec::new();
    for (event, groups) in root["hooks"].as_object().into_iter().flatten() {
        let like = events.iter().find(|known| is_slip(event, known));
        let like = like.filter(|_| !events.contains(&event.as_str()));
        found.extend(like.map(|like| format!("hooks.{event} is no event; `{like}` is")));
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            let name = format!("hooks.{event}[{at}]");
            if !matches!(group["matcher"], Json::Null | Json::String(_)) {
                found.push(format!("{name} has a `matcher` that is no text"));
            }
            let Some(hooks) = group["hooks"].as_array() else {
                found.push(format!("{name} has no list `hooks`"));
                continue;
            };
            let hooks = hooks.iter().enumerate();
            found.extend(hooks.filter_map(|(hook_at, hook)| {
                Some(format!("{name}.hooks[{hook_at}] has {}", mistake(hook)?))
            }));
        }
    }
    found
}

/// The keys of a set of hooks in [`Shape::Named`].
const SET_KEYS: [&str; 6] = [
    "enabled",
    "PreToolUse",
    "PostToolUse",
    "PreInvocation",
    "PostInvocation",
    "Stop",
];

/// Like [`malformed`], of a file with sets of hooks.
pub(super) fn malformed_sets(text: &str) -> Vec<String> {
    let root: Json = serde_json::from_str(text).unwrap_or_default();
    let sets = root.as_object().into_iter().flatten();
    let wrong = sets.flat_map(|(name, set)| {
        let Some(set) = set.as_object() else {
            return vec![format!("{name} is no object")];
        };
        let wrong = set.iter().filter_map(|(key, value)| match key.as_str() {
            "enabled" if value.is_boolean() => None,
            key if key != "enabled" && SET_KEYS.contains(&key) && value.is_array() => None,
            key => Some(format!("{name}.{key} is not of the known form")),
        });
        wrong.collect()
    });
    wrong.collect()
}

/// Returns whether a name is another one but for one letter and for capitals.
fn is_slip(name: &str, known: &str) -> bool {
    let (name, known) = (name.to_lowercase(), known.to_lowercase());
    let same =
        |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let begin = same(&mut name.bytes().zip(known.bytes()));
    let (name, known) = (&name.as_bytes()[begin..], &known.as_bytes()[begin..]);
    let end = same(&mut name.iter().rev().copied().zip(known.iter().rev().copied()));
    name.len().max(known.len()) - end <= 1
}

/// Returns what is wrong with one hook.
fn mistake(hook: &Json) -> Option<&'static str> {
    let kind = hook["type"].as_str().unwrap_or_default();
    let command = hook["command"].as_str().unwrap_or_default();
    match kind {
        _ if !TYPES.contains(&kind) => Some("no `type` that is known"),
        "command" if command.trim().is_empty() => Some("no `command`"),
        _ if !matches!(hook["timeout"], Json::Null | Json::Number(_)) => {
            Some("a `timeout` that is no number")
        }
        _ => None,
    }
}

/// Settings that disable all hooks, and with which value. A dot stands before a key of an object.
const SWITCHES: [(&str, bool); 5] = [
    ("disableAllHooks", true),
    (MANAGED_ONLY, true),
    ("hooksConfig.enabled", false),
    ("checkpointd.enabled", false),
    ("tools.enableHooks", false),
];
/// The one that counts in files of the administrator only.
const MANAGED_ONLY: &str = "allowManagedHooksOnly";

/// Returns the name of a setting that disables all hooks, if there is one; `is_managed` for a file of the administrator.
pub(crate) fn switched_off(text: &str, is_managed: bool) -> Option<&'static str> {
    let root = json::parse(text).ok()??;
    let root = root.as_object()?;
    let flag = |name: &str| match name.split_once('.') {
        Some((object, key)) => root.get_object(object)?.get_boolean(key),
        None => root.get_boolean(name),
    };
    let is_off = |(name, off): &(&str, bool)| flag(name).is_some_and(|flag| flag.value == *off);
    let counts = |(name, _): &(&str, bool)| is_managed || *name != MANAGED_ONLY;
    let mut counting = SWITCHES.into_iter().filter(counts);
    counting.find(is_off).map(|(name, _)| name)
}

/// Containers that existed before us and stay, empty or not.
#[derive(Debug, Default)]
struct Kept {
    keys: Vec<&'static str>,
    events: Vec<(&'static str, String)>,
}

impl Kept {
    fn of(before: &str) -> Result<Self> {
        let root = json::parse(before)?;
        let mut kept = Self::default();
        for key in KEYS {
            if let Some((hooks, _)) = hooks_of(before, root.as_ref(), key)? {
                kept.keys.push(key);
                let names = hooks.properties.iter().map(|event| event.name.as_str());
                kept.events.extend(names.map(|name| (key, name.to_owned())));
            }
        }
        Ok(kept)
    }

    fn has_event(&self, handler: &Handler) -> bool {
        let mut events = self.events.iter();
        events.any(|(key, event)| *key == handler.key && *event == handler.event)
    }
}

fn ours(text: &str, event: &str) -> Result<Vec<Handler>> {
    let mut all = handlers(text)?;
    all.retain(|handler| handler.client.is_some() && handler.event == event);
    Ok(all)
}

fn names_not_in(handlers: &[Handler], wanted: &[HookEntry]) -> Vec<String> {
    let stale = |handler: &&Handler| {
        handler.client.is_some() && wanted.iter().all(|wanted| wanted.event != handler.event)
    };
    let stale = handlers.iter().filter(stale);
    let mut names: Vec<String> = stale.map(|handler| handler.event.clone()).collect();
    names.dedup();
    names
}

/// Returns the object with the hooks of a key, and its place in the file's, if it exists.
fn hooks_of<'a, 'b>(
    text: &str,
    root: Option<&'b Value<'a>>,
    key: &str,
) -> Result<Option<(&'b Object<'a>, (Container, usize))>> {
    let Some(root) = root else { return Ok(None) };
    let root = root.as_object();
    let root = root.ok_or("expected a settings file with a JSON object")?;
    once(text, root)?;
    let mut properties = root.properties.iter().enumerate();
    let Some((place, property)) = properties.find(|(_, one)| one.name.as_str() == key) else {
        return Ok(None);
    };
    let hooks = property.value.as_object().ok_or_else(|| {
        format!(
            "line {}: `{key}` is not an object; fix it by hand",
            line(text, property.range.start)
        )
    })?;
    once(text, hooks)?;
    Ok(Some((hooks, (Container::of_object(root), place))))
}

/// Some readers take the last of two equal keys, others the first.
fn once(text: &str, object: &Object<'_>) -> Result<()> {
    for (number, property) in object.properties.iter().enumerate() {
        let name = property.name.as_str();
        let mut earlier = object.properties[..number].iter();
        if earlier.any(|earlier| earlier.name.as_str() == name) {
            let line = line(text, property.range.start);
            let problem = format!("line {line}: `{name}` occurs twice; remove one by hand");
            return Err(problem);
        }
    }
    Ok(())
}

fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn with(text: &str, wanted: &HookEntry, shape: Shape) -> Result<String> {
    let root = json::parse(text)?;
    let hook = json!({ "type": "command", "command": wanted.command, "timeout": wanted.timeout });
    let key = shape.key();
    let group = match (shape, wanted.matcher) {
        (Shape::Flat, _) | (Shape::Named, None) => hook,
        (Shape::Groups | Shape::Named, Some(matcher)) => {
            json!({ "matcher": matcher, "hooks": [hook] })
        }
        (Shape::Groups, None) => json!({ "hooks": [hook] }),
    };
    let Some((hooks, _)) = hooks_of(text, root.as_ref(), key)? else {
        let root = root.as_ref().and_then(Value::as_object);
        let root = root.ok_or("the file does not hold an object")?;
        let into = Container::of_object(root);
        let first = json!({ wanted.event: [group] });
        return Ok(json::append(text, &into, Some(key), &first));
    };
    Ok(match hooks.get(wanted.event) {
        None => {
            let into = Container::of_object(hooks);
            json::append(text, &into, Some(wanted.event), &json!([group]))
        }
        Some(event) => {
            let groups = event.value.as_array().ok_or_else(|| {
                let line = line(text, event.range.start);
                let event = wanted.event;
                format!("line {line}: `{key}.{event}` is not a list; fix it by hand")
            })?;
            json::append(text, &Container::of_array(groups), None, &group)
        }
    })
}
