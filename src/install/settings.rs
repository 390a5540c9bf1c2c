//! Our hook entries in an agent's settings, in the shape that several agents share:
//! `{"hooks": {EVENT: [{"matcher"?, "hooks": [{"type": "command", "command", "timeout"}]}]}}`. Others leave out the groups:
//! `{"hooks": {EVENT: [{"type": "command", "command", "timeout"}]}}`. Antigravity has sets of hooks by name, and groups for
//! tools only: `{"checkpointd": {EVENT: [..]}}`.

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
    /// The number of hooks in the group.
    siblings: usize,
    shape: Shape,
    /// The key of the file that holds it.
    key: &'static str,
}

/// Lists all hooks of a settings file in order.
pub(crate) fn handlers(text: &str) -> Result<Vec<Handler>> {
    let root = json::parse(text)?;
    let mut all = Vec::new();
    for key in KEYS {
        let known = all.len();
        if let Some(hooks) = hooks_of(text, root.as_ref(), key)? {
            list(hooks, &mut all);
        }
        all[known..]
            .iter_mut()
            .for_each(|handler| handler.key = key);
    }
    Ok(all)
}

/// Adds the hooks of one object.
fn list(hooks: &Object<'_>, all: &mut Vec<Handler>) {
    for property in &hooks.properties {
        let event = property.name.as_str();
        // Older Gemini settings have switches beside the events.
        let Value::Array(groups) = &property.value else {
            continue;
        };
        for (group, value) in groups.elements.iter().enumerate() {
            let Some(value) = value.as_object() else {
                continue;
            };
            let Some(list) = value.get_array("hooks") else {
                if value.get_string("command").is_some() {
                    all.push(handler(event, (group, value), (0, value), 1, Shape::Flat));
                }
                continue;
            };
            for (index, hook) in list.elements.iter().enumerate() {
                let Some(hook) = hook.as_object() else {
                    continue;
                };
                let siblings = list.elements.len();
                all.push(handler(
                    event,
                    (group, value),
                    (index, hook),
                    siblings,
                    Shape::Groups,
                ));
            }
        }
    }
}

/// Returns a hook of an event. Each of group and hook comes with its index.
fn handler(
    event: &str,
    (group, around): (usize, &Object<'_>),
    (index, hook): (usize, &Object<'_>),
    siblings: usize,
    shape: Shape,
) -> Handler {
    let text =
        |object: &Object<'_>, key: &str| object.get_string(key).map(|text| text.value.to_string());
    let command = text(hook, "command").unwrap_or_default();
    Handler {
        event: event.to_owned(),
        group,
        index,
        timeout: hook
            .get_number("timeout")
            .and_then(|number| number.value.parse().ok()),
        matcher: text(around, "matcher"),
        status_message: text(hook, "statusMessage"),
        is_async: hook.get_boolean("async").is_some_and(|flag| flag.value),
        client: hooks::client_of(&command),
        command,
        siblings,
        shape,
        key: KEYS[0],
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
            text = without(&text, &handler, &Kept::default())?;
        }
        entries.push(Entry::new(stale, Status::Removed));
    }
    for wanted in wanted {
        let mut there = ours(&text, wanted.event)?;
        let mut status = Status::AlreadyThere;
        while there.len() > 1 {
            text = without(
                &text,
                &there.pop().expect("there are two"),
                &Kept::default(),
            )?;
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
                text = with(&without(&text, handler, &Kept::default())?, wanted, shape)?;
                status = Status::Updated;
            }
            Some(handler)
                if handler.command != wanted.command || handler.timeout != Some(wanted.timeout) =>
            {
                text = updated(&text, handler, wanted)?;
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
    while let Some(handler) = handlers(&text)?
        .into_iter()
        .rfind(|handler| handler.client.is_some())
    {
        text = without(&text, &handler, &kept)?;
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
    sets.flat_map(|(name, set)| {
        let Some(set) = set.as_object() else {
            return vec![format!("{name} is no object")];
        };
        let wrong = set.iter().filter_map(|(key, value)| match key.as_str() {
            "enabled" if value.is_boolean() => None,
            key if key != "enabled" && SET_KEYS.contains(&key) && value.is_array() => None,
            key => Some(format!("{name}.{key} is not of the known form")),
        });
        wrong.collect()
    })
    .collect()
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
    let is_text = |key: &str| {
        hook[key]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty())
    };
    match kind {
        _ if !TYPES.contains(&kind) => Some("no `type` that is known"),
        "command" if !is_text("command") => Some("no `command`"),
        _ if !matches!(hook["timeout"], Json::Null | Json::Number(_)) => {
            Some("a `timeout` that is no number")
        }
        _ => None,
    }
}

/// Returns the name of a setting that disables all hooks, if there is one; `is_managed` for a file of the administrator.
pub(crate) fn switched_off(text: &str, is_managed: bool) -> Option<&'static str> {
    let root = json::parse(text).ok()??;
    let root = root.as_object()?;
    let is = |object: &Object<'_>, key: &str, off: bool| {
        object
            .get_boolean(key)
            .is_some_and(|flag| flag.value == off)
    };
    if is(root, "disableAllHooks", true) {
        return Some("disableAllHooks");
    }
    if is_managed && is(root, "allowManagedHooksOnly", true) {
        return Some("allowManagedHooksOnly");
    }
    if root
        .get_object("hooksConfig")
        .is_some_and(|config| is(config, "enabled", false))
    {
        return Some("hooksConfig.enabled");
    }
    if root
        .get_object(Shape::Named.key())
        .is_some_and(|set| is(set, "enabled", false))
    {
        return Some("checkpointd.enabled");
    }
    root.get_object("tools")
        .is_some_and(|tools| is(tools, "enableHooks", false))
        .then_some("tools.enableHooks")
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
            if let Some(hooks) = hooks_of(before, root.as_ref(), key)? {
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
    let mut names: Vec<String> = handlers
        .iter()
        .filter(stale)
        .map(|handler| handler.event.clone())
        .collect();
    names.dedup();
    names
}

/// Returns the object with the hooks of a key, if it exists.
fn hooks_of<'a, 'b>(
    text: &str,
    root: Option<&'b Value<'a>>,
    key: &str,
) -> Result<Option<&'b Object<'a>>> {
    let Some(root) = root else { return Ok(None) };
    let root = root
        .as_object()
        .ok_or("expected a settings file with a JSON object")?;
    once(text, root)?;
    let Some(property) = root.get(key) else {
        return Ok(None);
    };
    let hooks = property.value.as_object().ok_or_else(|| {
        format!(
            "line {}: `{key}` is not an object; fix it by hand",
            line(text, property.range.start)
        )
    })?;
    once(text, hooks)?;
    Ok(Some(hooks))
}

/// Some readers take the last of two equal keys, others the first.
fn once(text: &str, object: &Object<'_>) -> Result<()> {
    for (number, property) in object.properties.iter().enumerate() {
        let name = property.name.as_str();
        if object.properties[..number]
            .iter()
            .any(|earlier| earlier.name.as_str() == name)
        {
            let line = line(text, property.range.start);
            return Err(format!(
                "line {line}: `{name}` occurs twice; remove one by hand"
            ));
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
    let Some(hooks) = hooks_of(text, root.as_ref(), key)? else {
        let root = root
            .as_ref()
            .and_then(Container::of)
            .ok_or("the file does not hold an object")?;
        return Ok(json::append(
            text,
            &root,
            Some(key),
            &json!({ wanted.event: [group] }),
        ));
    };
    match hooks.get(wanted.event) {
        None => {
            let into = Container::of_object(hooks);
            Ok(json::append(
                text,
                &into,
                Some(wanted.event),
                &json!([group]),
            ))
        }
        Some(event) => {
            let into = event
                .value
                .as_array()
                .and_then(|_| Container::of(&event.value))
                .ok_or_else(|| {
                    let line = line(text, event.range.start);
                    format!(
                        "line {line}: `{key}.{}` is not a list; fix it by hand",
                        wanted.event
                    )
                })?;
            Ok(json::append(text, &into, None, &group))
        }
    }
}

/// Follows a path from [`handlers`].
fn find<'a, 'b>(
    hooks: &'b Object<'a>,
    handler: &Handler,
) -> (&'b Value<'a>, &'b Value<'a>, &'b Object<'a>) {
    let groups = hooks
        .get(&handler.event)
        .map(|event| &event.value)
        .expect("it was listed");
    let group = groups
        .as_array()
        .and_then(|groups| groups.elements.get(handler.group))
        .expect("it was listed");
    if handler.shape == Shape::Flat {
        return (groups, groups, group.as_object().expect("it was listed"));
    }
    let list = group
        .as_object()
        .and_then(|group| group.get("hooks"))
        .map(|hooks| &hooks.value)
        .expect("it was listed");
    let hook = list
        .as_array()
        .and_then(|list| list.elements.get(handler.index))
        .expect("it was listed");
    (groups, list, hook.as_object().expect("it was listed"))
}

fn updated(text: &str, handler: &Handler, wanted: &HookEntry) -> Result<String> {
    let root = json::parse(text)?;
    let hooks = hooks_of(text, root.as_ref(), handler.key)?.expect("it was listed");
    let (_, _, hook) = find(hooks, handler);
    let Some(timeout) = hook.get("timeout") else {
        let with_timeout = json::append(
            text,
            &Container::of_object(hook),
            Some("timeout"),
            &json!(wanted.timeout),
        );
        // Positions have moved: start again with the timeout in place.
        return updated(&with_timeout, handler, wanted);
    };
    let command = hook.get("command").expect("ours has one");
    let command = (command.value.range(), json!(wanted.command).to_string());
    let timeout = (timeout.value.range(), wanted.timeout.to_string());
    // The later one first, so that the other's position stays valid.
    let (first, last) = if command.0.start < timeout.0.start {
        (command, timeout)
    } else {
        (timeout, command)
    };
    let out = json::replace(text, last.0.start..last.0.end, &last.1);
    Ok(json::replace(&out, first.0.start..first.0.end, &first.1))
}

fn without(text: &str, handler: &Handler, kept: &Kept) -> Result<String> {
    let root = json::parse(text)?;
    let hooks = hooks_of(text, root.as_ref(), handler.key)?.expect("it was listed");
    let (groups, list, _) = find(hooks, handler);
    if handler.siblings > 1 {
        return Ok(json::remove(
            text,
            &Container::of(list).expect("a list"),
            handler.index,
        ));
    }
    let is_last_group = groups
        .as_array()
        .is_some_and(|groups| groups.elements.len() == 1);
    if !is_last_group || kept.has_event(handler) {
        return Ok(json::remove(
            text,
            &Container::of(groups).expect("a list"),
            handler.group,
        ));
    }
    if hooks.properties.len() > 1 || kept.keys.contains(&handler.key) {
        let place = hooks
            .properties
            .iter()
            .position(|event| event.name.as_str() == handler.event);
        let hooks = Container::of_object(hooks);
        return Ok(json::remove(text, &hooks, place.expect("it was listed")));
    }
    let root = root.as_ref().expect("it was listed");
    let place = root.as_object().and_then(|root| {
        root.properties
            .iter()
            .position(|one| one.name.as_str() == handler.key)
    });
    Ok(json::remove(
        text,
        &Container::of(root).expect("an object"),
        place.expect("it was listed"),
    ))
}
