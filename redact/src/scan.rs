//! A text that is being searched: what was found, and what the rules know of it already. Each part of the text is
//! examined a bounded number of times, so the work is linear.

use std::ops::Range;

use super::chars::{Look, boundary};
use super::line::Line;
use super::names::Name;
use super::secret::Style;
use super::shapes::{Set, Shape, Sign};

/// A secret, with the kind that its marker gets.
pub(super) type Found = (Range<usize>, &'static str);

/// The most bytes between the two halves of a token that was broken over two lines.
const BREAK_BYTES_MAX: usize = 24;
/// The most lines that one token is broken over.
const BREAKS_MAX: usize = 8;

/// How far the parts of a token are searched for, in bytes.
const TOKEN_HEAD_BYTES: usize = 1024;
/// The most bytes of a token before the literal that tells it.
const INNER_BYTES_MAX: usize = 64;

/// A text that is being searched.
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) found: Vec<Found>,
    /// How often the text around this one was decoded from base64.
    pub(super) depth: u8,
    /// The end of the last name that was read.
    pub(super) name_until: usize,
    /// The last beginning of a private key whose end was not found yet.
    pub(super) key_begin: Option<Range<usize>>,
    /// The end of the last header with cookies.
    pub(super) header_until: usize,
    /// The end of the last document with a secret of Kubernetes.
    pub(super) document_until: usize,
    /// Where the rows of the last table begin and end, or the line that is no head.
    pub(super) table_head: usize,
    pub(super) table_until: usize,
    /// The end of the last line whose lines below were read.
    pub(super) below_until: usize,
    /// What was judged last: whether such a value is a secret. Logs and long lists repeat themselves.
    pub(super) judged: Option<(Name, Style, Range<usize>, bool)>,
    /// The values of the last line with a telling name.
    pub(super) line: Line,
    /// The last value without quotes.
    pub(super) bare: Range<usize>,
    /// Stretches of characters of a set that were measured already.
    stretches: [Range<usize>; Set::COUNT],
}

impl<'t> Scan<'t> {
    /// Begins to search a text that was decoded from base64 `depth` times.
    pub(super) fn new(text: &'t str, depth: u8) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            found: Vec::new(),
            depth,
            name_until: 0,
            key_begin: None,
            header_until: 0,
            document_until: 0,
            table_head: 0,
            table_until: 0,
            below_until: 0,
            judged: None,
            line: Line::default(),
            bare: 0..0,
            stretches: [const { 0..0 }; Set::COUNT],
        }
    }

    /// Takes what a span has of the text, in whole characters.
    pub(super) fn take(&mut self, span: Range<usize>, kind: &'static str) {
        let start = boundary(self.text, span.start);
        let mut end = span.end.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        if start < end {
            self.found.push((start..end, kind));
        }
    }

    /// Returns whether an offset is inside the secret that was found last.
    pub(super) fn is_taken(&self, at: usize) -> bool {
        self.found
            .last()
            .is_some_and(|(span, _)| span.contains(&at))
    }

    /// Returns the byte before an offset; 0 at the start.
    pub(super) fn before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |last| self.bytes[last])
    }

    /// Returns the byte at an offset; 0 at the end.
    pub(super) fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Returns the offset after blanks, at most `bytes_max` of them.
    pub(super) fn after_blanks(&self, at: usize, bytes_max: usize) -> usize {
        let blanks = self.bytes[at.min(self.bytes.len())..]
            .iter()
            .take(bytes_max);
        at + blanks.take_while(|byte| b" \t".contains(byte)).count()
    }

    /// Returns the end of the characters of a set from `at` on.
    pub(super) fn set_end(&mut self, set: Set, at: usize) -> usize {
        let known = &mut self.stretches[set as usize];
        if !known.contains(&at) {
            let length = self.bytes[at..]
                .iter()
                .take_while(|byte| set.has(**byte))
                .count();
            *known = at..at + length;
        }
        known.end
    }

    /// Notes a token whose prefix is at `prefix`.
    pub(super) fn shape(&mut self, shape: &'static Shape, prefix: Range<usize>) {
        let end = self.set_end(shape.set, prefix.end);
        let is_glued = self.before(prefix.start).is_ascii_alphanumeric();
        let body = &self.text[prefix.end..end];
        let mut until = end;
        if shape.sign != Sign::Exact && (shape.whole == 0 || body.len() < shape.whole) {
            until = self.over_breaks(shape, prefix.end, end);
        }
        let length = body.len() + until.saturating_sub(end);
        let look = Look::at(if until > end {
            &self.text[prefix.end..until]
        } else {
            body
        });
        let is_long = match shape.sign {
            Sign::Exact => body.len() == shape.least,
            _ => length >= shape.least,
        };
        let is_token = match shape.sign {
            Sign::Sure | Sign::Inner => look.digits > 0,
            Sign::Exact => !is_glued && look.is_mixed(),
            Sign::Vague => !is_glued && look.is_mixed(),
        };
        // Other base64 of JSON is no token: those have parts.
        let head = &body[..body.len().min(TOKEN_HEAD_BYTES)];
        let has_parts = shape.prefixes != ["eyJ"] || head.matches('.').count() >= 2;
        if is_long && is_token && has_parts {
            let word = |byte: &&u8| shape.set.has(**byte);
            let inside = if shape.sign == Sign::Inner {
                INNER_BYTES_MAX
            } else {
                0
            };
            let before = self.bytes[..prefix.start]
                .iter()
                .rev()
                .take(inside)
                .take_while(word);
            let from = prefix.start - before.count();
            let kind = match shape.kind.as_str() {
                "" => "token",
                kind => kind,
            };
            self.take(from..until, kind);
        }
    }

    /// Returns the end of a token that is broken over lines; `end` if it is not.
    fn over_breaks(&self, shape: &Shape, start: usize, end: usize) -> usize {
        let mut end = end;
        for _ in 0..BREAKS_MAX {
            let Some(next) = self.next_line(end) else {
                break;
            };
            let more = self.bytes[next..]
                .iter()
                .take(256)
                .take_while(|byte| shape.set.has(**byte))
                .count();
            let piece = &self.text[next..next + more];
            let look = Look::at(piece);
            let missing = shape.whole.saturating_sub(end - start);
            let fits =
                shape.whole == 0 && (end - start >= 16 || look.bytes >= 16) || more <= missing;
            if !(fits && more >= 2 && look.digits > 0 && !look.is_words()) {
                break;
            }
            end = next + more;
            if more >= missing && shape.whole > 0 {
                break;
            }
        }
        end
    }

    /// Returns where a text continues that ends with its line: after the line break, and what joins lines in code.
    fn next_line(&self, at: usize) -> Option<usize> {
        let window = &self.bytes[at..self.bytes.len().min(at + BREAK_BYTES_MAX)];
        let length = window
            .iter()
            .take_while(|byte| b" \t\r\n\\\"'+>|.".contains(byte))
            .count();
        let has_break = window[..length].contains(&b'\n');
        (has_break && length < window.len()).then_some(at + length)
    }
}
