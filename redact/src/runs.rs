//! Secrets that no literal tells: base64 of a secret, random strings of a known length, phrases of a wallet.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::base64::decoded;
use super::chars::{Look, boundary};
use super::scan::{Found, Scan};
use super::value::says_nothing;

/// The shortest base64 that is decoded, in bytes.
const BASE64_BYTES_MIN: usize = 16;
/// The shortest random part of a token, in bytes, and the longest prefix.
const TOKEN_BYTES_MIN: usize = 30;
const PREFIX_BYTES_MAX: usize = 16;
/// How often base64 of base64 is decoded.
const DEPTH_MAX: u8 = 2;
/// The length of a secret access key of AWS.
const AWS_SECRET_BYTES: usize = 40;
/// The fewest words of a phrase of a wallet, and the most.
const PHRASE_WORDS_MIN: usize = 12;
const PHRASE_WORDS_MAX: usize = 24;
/// How far before a phrase its name is searched for, in bytes.
const ANNOUNCED_BYTES_MAX: usize = 48;
/// The longest gap between two words of a phrase, in bytes.
const GAP_BYTES_MAX: usize = 6;
/// The words that phrases of wallets consist of (BIP 39), in order.
static PHRASE_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    include_str!("phrase_words.txt")
        .split_whitespace()
        .collect()
});

/// Finds the secrets in a text that was decoded so often.
type Find = fn(&str, u8) -> Vec<Found>;

/// Kinds of bytes that runs consist of.
const SMALL: u8 = 1;
const DIGIT: u8 = 2;
const OTHER: u8 = 4;

/// The kind of each byte; 0 for those that separate runs.
const KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends at 256")]
        let it = byte as u8;
        table[byte] = match it {
            b'a'..=b'z' => SMALL,
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' | b'+' | b'/' | b'_' | b'-' => OTHER,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// Looks at all runs of a text; `find` searches what they stand for.
pub(super) fn read(scan: &mut Scan<'_>, find: Find) {
    let mut words = Words::default();
    let bytes = scan.bytes;
    let mut at = 0;
    while at < bytes.len() {
        let (start, mut kinds) = (at, 0);
        while let Some(kind) = bytes.get(at).map(|byte| KINDS[usize::from(*byte)])
            && kind != 0
        {
            kinds |= kind;
            at += 1;
        }
        let run = start..at;
        if run.is_empty() {
            at += 1;
            continue;
        }
        words.next(scan, &run, kinds);
        if run.len() >= BASE64_BYTES_MIN {
            look(scan, run, find);
        }
    }
    words.end(scan);
}

fn is_run(byte: u8) -> bool {
    KINDS[usize::from(byte)] != 0
}

/// Examines one run.
fn look(scan: &mut Scan<'_>, run: Range<usize>, find: Find) {
    let bytes = &scan.bytes[run.clone()];
    let padding = scan.bytes[run.end..]
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'=')
        .count();
    if scan.depth < DEPTH_MAX
        && let Some(text) = decoded(bytes)
        && !find(&text, scan.depth + 1).is_empty()
    {
        let end = wrapped_end(scan, run.end + padding, run.len());
        return scan.take(run.start..end, "encoded_secret");
    }
    let text = &scan.text[run.clone()];
    if run.len() == AWS_SECRET_BYTES && is_aws_secret(text) {
        scan.take(run, "aws_secret");
    } else if is_token(text) {
        scan.take(run, "token");
    }
}

/// Returns whether a string is a token of any issuer: a short word or two, and a long random part.
fn is_token(text: &str) -> bool {
    let signs = text.match_indices(['_', '-']).map(|(at, _)| at + 1);
    let Some(prefix) = signs.take_while(|at| *at <= PREFIX_BYTES_MAX).last() else {
        return false;
    };
    let look = Look::at(&text[prefix..]);
    let is_random = look.upper >= 4 && look.lower >= 4 && look.digits >= 3 && look.distinct() >= 16;
    let is_bare = !says_nothing(text) && !text.contains(['/', '+']);
    look.bytes >= TOKEN_BYTES_MIN && is_random && is_bare && look.turns() * 9 >= look.looked() * 4
}

/// Base64 is often written in lines of the same length.
fn wrapped_end(scan: &Scan<'_>, end: usize, width: usize) -> usize {
    let mut end = end;
    while width >= 60 && scan.at(end) == b'\n' {
        let next = scan.bytes[end + 1..]
            .iter()
            .take_while(|byte| is_run(**byte) || **byte == b'=')
            .count();
        if next == 0 {
            break;
        }
        end += 1 + next;
    }
    end
}

/// Returns whether a string of the right length can be a secret access key: no hash, no path, no name.
fn is_aws_secret(text: &str) -> bool {
    let look = Look::at(text);
    let signs = text.bytes().filter(|byte| b"+/".contains(byte)).count();
    let is_alphabet = !text.contains(['-', '_']);
    let is_mixed = look.upper >= 5 && look.lower >= 5 && look.digits >= 2;
    is_alphabet
        && is_mixed
        && look.turns() >= 16
        && look.distinct() >= 20
        && signs <= 6
        && !look.is_words()
}

/// Words in a row that a phrase of a wallet could have.
#[derive(Default)]
struct Words {
    first: usize,
    last: usize,
    count: usize,
}

impl Words {
    /// Takes the next run, which has bytes of these kinds.
    fn next(&mut self, scan: &mut Scan<'_>, run: &Range<usize>, kinds: u8) {
        let is_number = run.len() <= 2 && kinds == DIGIT;
        let is_word = (3..=8).contains(&run.len()) && kinds == SMALL;
        if self.count > 0 {
            let gap = &scan.bytes[self.last..run.start];
            let is_gap =
                gap.len() <= GAP_BYTES_MAX && gap.iter().all(|byte| b" ,.\n\t\"')|".contains(byte));
            // Phrases are written with numbers too: `1. abandon 2. ability`.
            if is_number && is_gap {
                self.last = run.end;
                return;
            }
            if !is_word || !is_gap {
                self.end(scan);
            }
        }
        if is_word {
            if self.count == 0 {
                self.first = run.start;
            }
            self.last = run.end;
            self.count += 1;
        }
    }

    /// Examines the words that came in a row.
    fn end(&mut self, scan: &mut Scan<'_>) {
        if self.count >= PHRASE_WORDS_MIN {
            phrases(scan, self.first..self.last);
        }
        self.count = 0;
    }
}

/// Takes every row of twelve words or more that are all in the list.
fn phrases(scan: &mut Scan<'_>, row: Range<usize>) {
    let text = &scan.text[row.clone()];
    // Other words count where the text says that this is one.
    let before = boundary(scan.text, row.start.saturating_sub(ANNOUNCED_BYTES_MAX));
    let before = scan.text[before..row.start].to_ascii_lowercase();
    let is_announced = ["phrase", "mnemonic", "seed"]
        .iter()
        .any(|word| before.contains(word));
    let mut phrase: Option<Range<usize>> = None;
    let mut count = 0;
    let mut gap = String::new();
    let mut found = Vec::new();
    for word in text
        .split(|c: char| !c.is_ascii_lowercase())
        .filter(|word| !word.is_empty())
    {
        let start = row.start + (word.as_ptr() as usize - text.as_ptr() as usize);
        let end = start + word.len();
        // All words are separated in the same way.
        let before = phrase
            .as_ref()
            .map_or("", |phrase| &scan.text[phrase.end..start]);
        let is_sign = |c: &char| !c.is_ascii_digit() && !c.is_whitespace();
        let this: String = before.chars().filter(is_sign).collect();
        if count == 1 {
            gap.clone_from(&this);
        }
        if count > 1 && this != gap {
            found.extend(phrase.take().filter(|_| count >= PHRASE_WORDS_MIN));
            count = 0;
        }
        if is_announced || PHRASE_WORDS.binary_search(&word).is_ok() {
            phrase = Some(phrase.map_or(start, |phrase| phrase.start)..end);
            count += 1;
        } else {
            found.extend(phrase.take().filter(|_| count >= PHRASE_WORDS_MIN));
            count = 0;
        }
    }
    found.extend(phrase.filter(|_| count >= PHRASE_WORDS_MIN));
    for phrase in found {
        // More words than one phrase has are several only if they differ, as words do that are drawn.
        let words = scan.text[phrase.clone()].split(|c: char| !c.is_ascii_lowercase());
        let words = words.filter(|word| !word.is_empty());
        if words.clone().count() <= PHRASE_WORDS_MAX
            || words.collect::<HashSet<_>>().len() >= PHRASE_WORDS_MIN
        {
            scan.take(phrase, "seed_phrase");
        }
    }
}
