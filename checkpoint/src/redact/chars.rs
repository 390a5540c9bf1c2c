//! Measures of a value: whether it looks random, or is made of words.

/// How much of a value is looked at, in bytes.
pub(super) const LOOK_BYTES_MAX: usize = 96;

/// Counts of a value's characters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    pub(super) bytes: usize,
    pub(super) digits: usize,
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// Whether all of it is hexadecimal, with or without hyphens.
    pub(super) is_hex: bool,
    /// How many different characters it has.
    pub(super) distinct: usize,
    /// How often the class of the characters changes.
    pub(super) turns: usize,
    /// Letters that belong to pronounceable words.
    wordy: usize,
}

impl Look {
    /// Counts the first [`LOOK_BYTES_MAX`] bytes.
    pub(super) fn at(value: &str) -> Self {
        let bytes = &value.as_bytes()[..value.len().min(LOOK_BYTES_MAX)];
        let mut look = Self {
            bytes: value.len(),
            is_hex: !value.is_empty(),
            ..Self::default()
        };
        let mut seen = 0u128;
        let mut last = 0;
        for byte in bytes {
            let class = match byte {
                b'0'..=b'9' => 1,
                b'A'..=b'Z' => 2,
                b'a'..=b'z' => 3,
                _ => 4,
            };
            look.digits += usize::from(class == 1);
            look.upper += usize::from(class == 2);
            look.lower += usize::from(class == 3);
            look.turns += usize::from(last != 0 && class != last);
            look.is_hex &= byte.is_ascii_hexdigit() || *byte == b'-';
            seen |= 1 << (byte & 0x7f);
            last = class;
        }
        look.distinct = seen.count_ones() as usize;
        look.wordy = wordy(bytes);
        look
    }

    /// Letters and digits, not words.
    pub(super) fn is_mixed(&self) -> bool {
        let letters = self.upper + self.lower;
        self.digits >= 2 && letters >= 2 && self.distinct >= 6 && !self.is_words()
    }

    /// Capitals and small letters in disorder, as in no name.
    pub(super) fn is_scrambled(&self) -> bool {
        let looked = self.bytes.min(LOOK_BYTES_MAX);
        let is_mixed = self.upper >= 2 && self.lower >= 2 && self.turns * 9 >= looked * 4;
        let is_odd = looked >= 8
            && self.upper >= 1
            && self.lower >= 1
            && self.wordy * 3 < self.upper + self.lower;
        (is_mixed || is_odd) && self.distinct >= 6 && !self.is_words()
    }

    /// As keys look that nothing else tells apart: long, with many kinds of characters in turn.
    pub(super) fn is_key(&self) -> bool {
        let looked = self.bytes.min(LOOK_BYTES_MAX);
        let is_hex_key =
            self.is_hex && looked >= 24 && self.digits >= 4 && self.lower + self.upper >= 4;
        is_hex_key && self.distinct >= 8
            || self.is_mixed() && self.turns * 4 >= looked && self.distinct >= 8
    }

    /// Mostly words, as names in code are, whatever digits they end in.
    pub(super) fn is_words(&self) -> bool {
        let letters = self.upper + self.lower;
        let looked = self.bytes.min(LOOK_BYTES_MAX);
        self.wordy * 10 >= letters * 7 && self.digits * 10 <= looked * 3
    }
}

/// Counts the letters in stretches of four letters or more that have vowels.
fn wordy(bytes: &[u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let upper = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_uppercase())
            .count();
        at += upper;
        let lower = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        // The last of several capitals begins the next word.
        let begins = if upper > 1 && lower > 0 {
            at - 1
        } else {
            start
        };
        at += lower;
        for word in [&bytes[start..begins], &bytes[begins..at]] {
            let is_vowel = |byte: &&u8| b"aeiouyAEIOUY".contains(*byte);
            let vowels = word.iter().filter(is_vowel).count();
            let is_word =
                word.len() >= 4 && vowels * 5 >= word.len() && vowels * 5 <= word.len() * 4;
            count += if is_word { word.len() } else { 0 };
        }
        at += usize::from(at == start);
    }
    count
}

/// Returns the start of the line that an offset is in, at most `bytes_max` before it.
pub(super) fn line_start(text: &[u8], at: usize, bytes_max: usize) -> usize {
    let from = at.saturating_sub(bytes_max);
    text[from..at]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(from, |newline| from + newline + 1)
}

/// Returns the end of the line that an offset is in, at most `bytes_max` after it.
pub(super) fn line_end(text: &[u8], at: usize, bytes_max: usize) -> usize {
    let to = text.len().min(at + bytes_max);
    text[at..to]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(to, |newline| at + newline)
}

/// Returns the next offset at or below `at` where a character begins.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
