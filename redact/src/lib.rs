//! Redacts secrets in the texts of agents before they are journaled: `[redacted: KIND]` replaces a
//! secret (spec JRNL-20).
//!
//! The literals of all rules are found in one pass (`find.rs`, `literals.rs`), and a rule reads a text only
//! where one of its literals stands: tokens by their shape (`shapes.rs`), values by the name that they
//! are assigned to (`names.rs`, `assigned.rs`, `value.rs`), arguments of commands, addresses, headers,
//! blocks of lines and sentences. A text that hides something in escapes, colors or line numbers is
//! also searched decoded (`decode.rs`). All of it is linear in the text. Redacting twice equals redacting
//! once, so journaled texts can be compared: hashes of prompts are hashes of redacted prompts.

mod assigned;
mod base64;
mod blocks;
mod chars;
mod decode;
mod find;
mod headers;
mod judge;
mod line;
mod literals;
mod names;
mod near;
mod odd;
mod options;
mod payload;
mod runs;
mod scan;
mod secret;
mod shapes;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod urls;
mod value;
mod words;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex, RegexBuilder};

use scan::Found;
use words::WORDS;

const MARKER: &str = "[redacted: ";
/// The kind of matches of the user's own patterns.
const EXTRA: &str = "extra";
/// The most passes. A redaction may join parts into another secret; texts settle long before this.
const ROUNDS_MAX: usize = 16;
/// The longest kind, with its bracket.
const KIND_BYTES_MAX: usize = 32;
/// The memory that one pattern of the user may take, in bytes.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// The shortest text that can hold a secret, in bytes.
const TEXT_BYTES_MIN: usize = 6;

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

    /// Redacts once; `None` when there is nothing to redact.
    fn round(&self, text: &str) -> Option<String> {
        if !self.enabled {
            return None;
        }
        if text.len() < TEXT_BYTES_MIN && self.extra.is_empty() {
            return None;
        }
        let markers = markers(text);
        let mut found = Vec::new();
        let mut from = 0;
        let ends = markers.iter().map(|marker| (marker.start, marker.end));
        for (to, next) in ends.chain([(text.len(), text.len())]) {
            found.extend(
                search(&text[from..to])
                    .into_iter()
                    .map(|(span, kind)| (span.start + from..span.end + from, kind)),
            );
            from = next;
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
        Some(replace(text, &mut found))
    }
}

/// Compiles the rules, which the first hook call would wait for.
pub fn prepare() {
    find::prepare();
}

/// Finds the secrets in a text without markers, as it is and decoded.
fn search(text: &str) -> Vec<Found> {
    if text.len() < TEXT_BYTES_MIN {
        return Vec::new();
    }
    let mut found = find::find(text, 0);
    if let Some(decoded) = decode::decode(text) {
        let hidden = find::find(&decoded.text, 0);
        found.extend(
            hidden
                .into_iter()
                .map(|(span, kind)| (decoded.original(&span), kind)),
        );
    }
    found
}

fn marker(kind: &str) -> String {
    format!("{MARKER}{kind}]")
}

/// Returns the first unnamed group that matched, or else the whole match.
fn secret_of(captures: &Captures<'_>) -> Range<usize> {
    let group = captures.iter().skip(1).flatten().next();
    group
        .or_else(|| captures.get(0))
        .map_or(0..0, |found| found.range())
}

fn markers(text: &str) -> Vec<Range<usize>> {
    // Its first byte is far quicker to find.
    let starts = text.match_indices('[').map(|(start, _)| start);
    let whole = |start: usize| {
        let kind = text[start..].strip_prefix(MARKER)?;
        let end = kind
            .bytes()
            .take(KIND_BYTES_MAX)
            .position(|byte| byte == b']')?;
        // Brackets around a secret are not a marker; a marker contains only a kind.
        WORDS
            .kinds
            .iter()
            .any(|known| known == &kind[..end])
            .then_some(start..start + MARKER.len() + end + 1)
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

/// Replaces the spans by markers; overlapping spans get one marker, and of two that begin together the later kind in the
/// list names it.
fn replace(text: &str, found: &mut [Found]) -> String {
    let rank = |kind: &str| WORDS.kinds.iter().position(|known| known == kind);
    found.sort_by_cached_key(|(span, kind)| (span.start, Reverse(rank(kind))));
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
