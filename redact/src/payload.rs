//! Redacts JSON, whose keys name values, and whose strings are texts.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::judge::judge;
use super::names::is;
use super::names::{Class, Name};
use super::odd::{Odd, odd};
use super::scan::Found;
use super::secret::Style;
use super::words::WORDS;
use super::{MARKER, Redactor, marker, replace, search};

/// The longest text that can name the value beside it, in bytes.
const NAME_BYTES_MAX: usize = 96;

impl Redactor {
    /// Redacts a hook payload. Returns its JSON text if that differs from `raw`.
    pub fn payload(&self, payload: &mut Value, raw: &str) -> Option<String> {
        if !self.enabled {
            return None;
        }
        let is_all = serde_json::to_string(payload).is_ok_and(|own| own == raw.trim());
        let mut changed = payload
            .as_object_mut()
            .is_some_and(|members| self.named(members));
        for (key, value) in payload.as_object_mut().into_iter().flatten() {
            if !WORDS.payload.address.contains(key) {
                changed |= self.member(key, value);
            }
        }
        // Of a duplicate key, only the text has both values.
        let has_more = || !is_all && matches!(self.text(raw), Cow::Owned(_));
        (changed || has_more()).then(|| payload.to_string())
    }

    /// Returns a value without the secrets in any of its texts, whatever the field, but for the fields in `places`.
    pub fn clean<T: Serialize + DeserializeOwned>(&self, value: T, places: &[&str]) -> T {
        let json = serde_json::to_value(&value).ok().filter(|_| self.enabled);
        let clean = json.and_then(|mut json| {
            let changed = self.texts(&mut json, places);
            changed.then(|| serde_json::from_value(json).ok()).flatten()
        });
        clean.unwrap_or(value)
    }

    fn texts(&self, value: &mut Value, places: &[&str]) -> bool {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |changed, item| self.texts(item, places) | changed),
            Value::Object(members) => members
                .iter_mut()
                .filter(|(key, _)| !places.contains(&key.as_str()))
                .fold(false, |changed, (_, member)| {
                    self.texts(member, places) | changed
                }),
            _ => false,
        }
    }

    fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let changed = self.arguments(items);
                items
                    .iter_mut()
                    .fold(changed, |changed, item| self.value(item) | changed)
            }
            Value::Object(members) => self.members(members),
            _ => false,
        }
    }

    fn string(&self, text: &mut String) -> bool {
        match self.text(text) {
            Cow::Owned(redacted) => {
                *text = redacted;
                true
            }
            Cow::Borrowed(_) => false,
        }
    }

    /// Redacts strings that belong together, as the arguments of a command.
    fn arguments(&self, items: &mut [Value]) -> bool {
        let texts: Vec<_> = items.iter().filter_map(Value::as_str).collect();
        let has_marker = texts.iter().any(|text| text.contains(MARKER));
        if texts.len() < 2 || texts.len() < items.len() || has_marker {
            return false;
        }
        let found = search(&texts.join(" "));
        let mut changed = false;
        let mut start = 0;
        for item in items {
            let Value::String(text) = item else { continue };
            let end = start + text.len();
            let within = found
                .iter()
                .filter(|(span, _)| span.start < end && span.end > start);
            let mut within: Vec<Found> = within
                .map(|(span, kind)| {
                    (
                        span.start.max(start) - start..span.end.min(end) - start,
                        *kind,
                    )
                })
                .collect();
            if !within.is_empty() {
                *text = replace(text, &mut within);
                changed = true;
            }
            start = end + 1;
        }
        changed
    }

    fn members(&self, members: &mut Map<String, Value>) -> bool {
        let mut changed = self.named(members);
        for (key, value) in members.iter_mut() {
            changed |= self.member(key, value);
        }
        if members
            .keys()
            .any(|key| matches!(self.text(key), Cow::Owned(_)))
        {
            let old = std::mem::take(members);
            members.extend(
                old.into_iter()
                    .map(|(key, value)| (self.text(&key).into_owned(), value)),
            );
            changed = true;
        }
        changed
    }

    /// Redacts a value whose name is a value too: `{"name": "TOKEN", "value": "..."}`.
    fn named(&self, members: &mut Map<String, Value>) -> bool {
        let names = members
            .iter()
            .filter(|(key, _)| is(&WORDS.payload.names, key));
        let tells = |name: &&str| name.len() <= NAME_BYTES_MAX && name_at_end(name).is_some();
        let name = names.filter_map(|(_, name)| name.as_str()).find(tells);
        let Some(name) = name.map(str::to_owned) else {
            return members.contains_key("kty") && numbers(members);
        };
        let values = members
            .iter_mut()
            .filter(|(key, _)| is(&WORDS.payload.values, key));
        values.fold(false, |changed, (_, value)| {
            assign(&name, value) || self.header(&name, value) || changed
        })
    }

    /// Redacts the value of a key, whose name may show that it is a secret.
    fn member(&self, key: &str, value: &mut Value) -> bool {
        // `{"TOKEN": {"value": "..."}}`
        if let Value::Object(members) = value {
            let inner = WORDS
                .payload
                .values
                .first()
                .and_then(|name| members.get_mut(name));
            let changed = inner.is_some_and(|inner| assign(key, inner));
            return self.members(members) | changed;
        }
        let listed = self.listed(key, value);
        assign(key, value) || self.header(key, value) || self.value(value) || listed
    }

    /// Redacts the texts of a list whose key is telling, as if they were written in a line.
    fn listed(&self, key: &str, value: &mut Value) -> bool {
        let Value::Array(items) = value else {
            return false;
        };
        let least = match name_at_end(key).map(|name| name.class) {
            Some(Class::Password | Class::Login | Class::Auth) => Odd::Numbered,
            Some(Class::Secret) => Odd::Made,
            _ => return false,
        };
        items.iter_mut().fold(false, |changed, item| {
            let Value::String(text) = item else {
                return changed;
            };
            let is_secret = odd(text) >= least;
            if is_secret {
                *text = marker("secret");
            }
            changed | is_secret
        })
    }

    /// Redacts the value of a header.
    fn header(&self, key: &str, value: &mut Value) -> bool {
        let Value::String(text) = value else {
            return false;
        };
        let is_header = Name::read(key, "").is_some_and(|name| {
            matches!(
                name.class,
                Class::Authorization | Class::Cookie | Class::SetCookie
            )
        });
        if !is_header {
            return false;
        }
        let line = format!("{key}: {text}");
        match self.text(&line) {
            Cow::Owned(redacted) => {
                *text = redacted.get(key.len() + 2..).unwrap_or_default().to_owned();
                true
            }
            Cow::Borrowed(_) => false,
        }
    }
}

/// Redacts the private numbers of a key.
fn numbers(members: &mut Map<String, Value>) -> bool {
    let private = members
        .iter_mut()
        .filter(|(key, _)| WORDS.names.numbers.contains(key));
    private.fold(false, |changed, (_, value)| match value {
        Value::String(text) if !text.contains(MARKER) => {
            *text = marker("private_key");
            true
        }
        _ => changed,
    })
}

/// Reads the name that a key, a path, a selector or a question ends with.
fn name_at_end(key: &str) -> Option<Name> {
    let key = key.trim_end_matches(|c: char| !c.is_alphanumeric());
    if key.contains(MARKER) {
        return None;
    }
    let last =
        key.rfind(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)) && c.is_ascii());
    let at = last.map_or(0, |at| at + 1);
    Name::read(&key[at..], &key[..at]).or_else(|| {
        // A label has other words behind it: `Password field`.
        let label = key.rsplit_once(' ').filter(|_| key.len() <= NAME_BYTES_MAX);
        let name = name_at_end(label?.0)?;
        (name.class == Class::Password).then_some(Name {
            is_part: true,
            ..name
        })
    })
}

/// Redacts a string that is assigned to a telling name; returns whether it did.
fn assign(key: &str, value: &mut Value) -> bool {
    let Value::String(text) = value else {
        return false;
    };
    let is_secret = name_at_end(key).is_some_and(|name| judge(name, Style::Quoted, text));
    if is_secret && !text.contains(MARKER) {
        *text = marker("secret");
        return true;
    }
    false
}
