//! Takes secrets out of what agents tell, before any of it is journaled: `[redacted: KIND]` stands where one was
//! (spec JRNL-20).
//!
//! A set of hints is looked for first, in one pass; only what they find is searched with the rules' own patterns. All of
//! it is linear in the text. To redact twice is to redact once, so what is journaled can be read and compared like any
//! text: hashes of prompts are those of the redacted ones.

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

/// What every marker begins with.
const MARKER: &str = "[redacted: ";
/// The kind of what the user's own patterns find.
const EXTRA: &str = "extra";
/// A redaction may bring parts together that make another; texts come to rest long before this.
const ROUNDS_MAX: usize = 16;
/// The longest kind, and the bracket behind it.
const KIND_BYTES_MAX: usize = 32;
/// The memory that one pattern of the user may take, in bytes.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Fields of a hook payload that say whose it is and where; they are no texts.
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

/// Takes secrets out of texts.
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
/// One line that says what is wrong with it.
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
            format!("`{text}` is no pattern: {last}")
        })?;
    match regex.is_match("") {
        true => Err(format!("`{text}` matches an empty text, and so everything")),
        false => Ok(regex),
    }
}

impl Redactor {
    /// Makes a redactor of the built-in rules and the user's patterns; one that is not enabled changes nothing.
    pub fn new(enabled: bool, extra: Vec<Regex>) -> Self {
        Self {
            enabled,
            extra: extra.into(),
        }
    }

    /// Returns a text without secrets; the text itself where it has none.
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

    /// Takes secrets out of a hook payload. Returns its JSON text where that is not `raw` any more.
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
        // Of a key that is there twice only the text has both.
        (changed || matches!(self.text(raw), Cow::Owned(_))).then(|| payload.to_string())
    }

    /// Returns whether a text may hold a secret. JSON may hold it in escapes.
    fn suspects(&self, text: &str) -> bool {
        // An extra pattern may be anchored, or mean what JSON escapes.
        self.enabled && (!self.extra.is_empty() || RULES.0.is_match(text) || text.contains("\\u00"))
    }

    /// Redacts a value within; returns whether it changed.
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

    /// Redacts the value of a key, which may say what it is.
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

    /// Redacts once; none where there is nothing to redact.
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

/// Returns the first group that took part and is not named for something else; without one, all that was found.
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
        // Anybody may write brackets around a secret; a marker has nothing but a kind in it.
        let is_kind = kind[..end] == *EXTRA || RULES.1.iter().any(|rule| rule.kind == &kind[..end]);
        is_kind.then_some(start..start + MARKER.len() + end + 1)
    };
    starts.filter_map(whole).collect()
}

/// Returns what of a span lies before the first marker in it; none where that is nothing.
fn outside(span: Range<usize>, markers: &[Range<usize>]) -> Option<Range<usize>> {
    let next = markers.partition_point(|marker| marker.end <= span.start);
    let end = markers
        .get(next)
        .map_or(span.end, |marker| marker.start.min(span.end));
    (span.start < end).then_some(span.start..end)
}

/// Puts markers in the place of what was found, one for what overlaps.
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
