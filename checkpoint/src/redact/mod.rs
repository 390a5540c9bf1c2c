//! Redacts secrets in the texts of agents before they are journaled: `[redacted: KIND]` replaces a
//! secret (spec JRNL-20).
//!
//! One pass looks for a set of hints; only texts with a hint are searched with the patterns of the
//! rules. All of it is linear in the text. Redacting twice equals redacting once, so journaled
//! texts can be compared: hashes of prompts are hashes of redacted prompts.

mod rules;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex, RegexBuilder};
use serde_json::{Map, Value};

use rules::RULES;
use value::Style;

/// The beginning of every marker.
const MARKER: &str = "[redacted: ";
/// The kind of matches of the user's own patterns.
const EXTRA: &str = "extra";
/// The most passes. A redaction may join parts into another secret; texts settle long before this.
const ROUNDS_MAX: usize = 16;
/// The longest kind, with its bracket.
const KIND_BYTES_MAX: usize = 32;
/// The memory that one pattern of the user may take, in bytes.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Fields of a hook payload that identify the session and its place; they are not redacted.
const ADDRESS: [&str; 11] = [
    "session_id",
    "thread-id",
    "hook_event_name",
    "cwd",
    "transcript_path",
    "tool_name",
    "tool_use_id",
    "prompt_id",
    "turn_id",
    "turn-id",
    "agent_id",
];

/// Redacts secrets in texts.
#[derive(Clone, Debug)]
pub struct Redactor {
    enabled: bool,
    extra: Arc<[Regex]>,
}

impl PartialEq for Redactor {
    fn eq(&self, other: &Self) -> bool {
        let texts = |redactor: &Self| {
            redactor
                .extra
                .iter()
                .map(|regex| regex.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        self.enabled == other.enabled && texts(self) == texts(other)
    }
}

static BUILT_IN: LazyLock<Redactor> = LazyLock::new(|| Redactor {
    enabled: true,
    extra: Arc::new([]),
});

/// Returns the redactor that has the built-in rules only.
pub fn built_in() -> &'static Redactor {
    &BUILT_IN
}

/// Reads a pattern of the user's.
///
/// # Errors
///
/// Returns the problem in one line.
pub fn pattern(text: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(text)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| {
            let last = error
                .to_string()
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned();
            format!("`{text}` is not a valid pattern: {last}")
        })?;
    match regex.is_match("") {
        true => Err(format!("`{text}` matches an empty text, and so everything")),
        false => Ok(regex),
    }
}

impl Redactor {
    /// Creates a redactor of the built-in rules and the user's patterns; one that is not enabled
    /// changes nothing.
    pub fn new(enabled: bool, extra: Vec<Regex>) -> Self {
        Self {
            enabled,
            extra: extra.into(),
        }
    }

    /// Returns a text without secrets; borrows a text that has none.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..ROUNDS_MAX {
            match self.round(&text) {
                Some(redacted) => text = Cow::Owned(redacted),
                None => break,
            }
        }
        text
    }

    /// Redacts a hook payload. Returns its JSON text if that differs from `raw`.
    pub fn payload(&self, payload: &mut Value, raw: &str) -> Option<String> {
        if !self.suspects(raw) {
            return None;
        }
        let mut changed = false;
        for (key, value) in payload.as_object_mut().into_iter().flatten() {
            if !ADDRESS.contains(&key.as_str()) {
                changed |= self.member(key, value);
            }
        }
        // Of a duplicate key, only the text has both values.
        (changed || matches!(self.text(raw), Cow::Owned(_))).then(|| payload.to_string())
    }

    /// Returns whether a text may hold a secret. JSON may hold it in escapes.
    fn suspects(&self, text: &str) -> bool {
        // An extra pattern may be anchored, or mean what JSON escapes.
        self.enabled && (!self.extra.is_empty() || RULES.0.is_match(text) || text.contains("\\u00"))
    }

    /// Redacts the strings of a value; returns whether it changed.
    fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Owned(redacted) => {
                    *text = redacted;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |changed, item| self.value(item) | changed),
            Value::Object(members) => self.members(members),
            _ => false,
        }
    }

    fn members(&self, members: &mut Map<String, Value>) -> bool {
        let mut changed = members.iter_mut().fold(false, |changed, (key, value)| {
            self.member(key, value) | changed
        });
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

    /// Redacts the value of a key, whose name may show that it is a secret.
    fn member(&self, key: &str, value: &mut Value) -> bool {
        match value {
            Value::String(text)
                if *text != marker("secret") && value::is_secret_name(key, text, Style::Quoted) =>
            {
                *text = marker("secret");
                true
            }
            value => self.value(value),
        }
    }

    /// Redacts once; `None` when there is nothing to redact.
    fn round(&self, text: &str) -> Option<String> {
        if !self.enabled {
            return None;
        }
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        let markers = markers(text);
        for index in RULES.0.matches(text) {
            let rule = &RULES.1[index];
            for captures in rule.pattern.captures_iter(text) {
                let Some(secret) = outside(secret_of(&captures), &markers) else {
                    continue;
                };
                let name = captures.name("name").map(|name| name.as_str());
                if rule.holds(name, style_of(&captures), &text[secret.clone()]) {
                    found.push((secret, rule.kind));
                }
            }
        }
        for extra in self.extra.iter() {
            let spans = extra
                .captures_iter(text)
                .map(|captures| secret_of(&captures));
            found.extend(spans.filter_map(|span| Some((outside(span, &markers)?, EXTRA))));
        }
        if found.is_empty() {
            return None;
        }
        found.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        Some(replace(text, &found))
    }
}

fn marker(kind: &str) -> String {
    format!("{MARKER}{kind}]")
}

/// Returns the first unnamed group that matched, or else the whole match.
fn secret_of(captures: &Captures<'_>) -> Range<usize> {
    let besides = [captures.name("name"), captures.name("sign")];
    let group = captures
        .iter()
        .skip(1)
        .flatten()
        .find(|group| !besides.contains(&Some(*group)));
    group
        .or_else(|| captures.get(0))
        .map_or(0..0, |found| found.range())
}

fn style_of(captures: &Captures<'_>) -> Style {
    let sign = captures.name("sign").map(|sign| sign.as_str());
    let is_bare = captures.name("bare").is_some();
    match sign {
        Some("=") if is_bare => Style::Tight,
        Some(_) if is_bare => Style::Loose,
        Some(_) => Style::Quoted,
        None => Style::Flag,
    }
}

/// Returns the markers that a text has already.
fn markers(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices(MARKER).map(|(start, _)| start);
    let whole = |start: usize| {
        let kind = &text[start + MARKER.len()..];
        let end = kind
            .bytes()
            .take(KIND_BYTES_MAX)
            .position(|byte| byte == b']')?;
        // Brackets around a secret are not a marker; a marker contains only a kind.
        let is_kind = kind[..end] == *EXTRA || RULES.1.iter().any(|rule| rule.kind == &kind[..end]);
        is_kind.then_some(start..start + MARKER.len() + end + 1)
    };
    starts.filter_map(whole).collect()
}

/// Returns the part of a span before its first marker; `None` if that is empty.
fn outside(span: Range<usize>, markers: &[Range<usize>]) -> Option<Range<usize>> {
    let next = markers.partition_point(|marker| marker.end <= span.start);
    let end = markers
        .get(next)
        .map_or(span.end, |marker| marker.start.min(span.end));
    (span.start < end).then_some(span.start..end)
}

/// Replaces the spans by markers; overlapping spans get one marker.
fn replace(text: &str, found: &[(Range<usize>, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + found.len() * 16);
    let mut at = 0;
    for (span, kind) in found {
        if span.start >= at {
            out.push_str(&text[at..span.start]);
            out.push_str(&marker(kind));
        }
        at = at.max(span.end);
    }
    out.push_str(&text[at..]);
    out
}
