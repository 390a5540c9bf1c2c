//! Measures of a value: whether it looks random, or is made of words.

/// How many bytes of a value are examined.
pub(super) const LOOK_BYTES_MAX: usize = 96;

/// The shortest key of hexadecimal digits, in bytes.
const HEX_KEY_BYTES_MIN: usize = 16;
/// So many consonants in a row are in no word.
const CONSONANTS_MIN: usize = 9;

/// What counts of characters a byte adds to: digits, capitals, small letters, and bytes that are not hexadecimal, 16 bits
/// each.
const COUNTS: [u64; 256] = counts();

const fn counts() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends at 256")]
        let it = byte as u8;
        table[byte] = (it.is_ascii_digit() as u64)
            | (it.is_ascii_uppercase() as u64) << 16
            | (it.is_ascii_lowercase() as u64) << 32
            | (!(it.is_ascii_hexdigit() || it == b'-') as u64) << 48;
        byte += 1;
    }
    table
}

/// Returns a table of bytes: far faster to ask than several comparisons.
pub(super) const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Counts of a value's characters. What most questions do not need is counted when it is asked for: values are looked
/// at wherever a literal stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'v> {
    /// The part that is examined.
    head: &'v [u8],
    pub(super) bytes: usize,
    pub(super) digits: usize,
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// Whether all of it is hexadecimal, with or without hyphens.
    pub(super) is_hex: bool,
}

impl<'v> Look<'v> {
    /// Counts the first [`LOOK_BYTES_MAX`] bytes.
    pub(super) fn at(value: &'v str) -> Self {
        let head = &value.as_bytes()[..value.len().min(LOOK_BYTES_MAX)];
        let counts: u64 = head.iter().map(|byte| COUNTS[usize::from(*byte)]).sum();
        let part = |shift: u32| usize::from((counts >> shift & 0xffff) as u16);
        Self {
            head,
            bytes: value.len(),
            digits: part(0),
            upper: part(16),
            lower: part(32),
            is_hex: part(48) == 0,
        }
    }

    /// How many bytes are examined.
    pub(super) fn looked(&self) -> usize {
        self.head.len()
    }

    /// How many different characters it has.
    pub(super) fn distinct(&self) -> usize {
        let seen = self
            .head
            .iter()
            .fold(0u128, |seen, byte| seen | 1 << (byte & 0x7f));
        seen.count_ones() as usize
    }

    /// How often the class of the characters changes.
    pub(super) fn turns(&self) -> usize {
        let class = |byte: &u8| COUNTS[usize::from(*byte)] & 0xffff_ffff_ffff;
        let pairs = self.head.windows(2);
        pairs
            .filter(|pair| class(&pair[0]) != class(&pair[1]))
            .count()
    }

    /// How many kinds of characters it has: capitals, small letters, digits and others.
    pub(super) fn kinds(&self) -> usize {
        let others = self.bytes > self.upper + self.lower + self.digits;
        let kinds = [self.upper > 0, self.lower > 0, self.digits > 0, others];
        kinds.into_iter().filter(|has| *has).count()
    }

    /// Two digits or more, and no words.
    pub(super) fn is_mixed(&self) -> bool {
        self.digits >= 2 && !self.is_words()
    }

    /// Long, and of hexadecimal digits in disorder: a key, or a hash.
    pub(super) fn is_hex_key(&self) -> bool {
        self.bytes >= HEX_KEY_BYTES_MIN && self.is_hex && self.digits >= 4 && self.distinct() >= 8
    }

    /// Mostly words, as names in code are, whatever digits they end in.
    pub(super) fn is_words(&self) -> bool {
        let letters = self.upper + self.lower;
        self.digits * 10 <= self.head.len() * 3 && wordy(self.head) * 10 >= letters * 7
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
            let mut consonants = word.split(|byte| b"aeiouAEIOU".contains(byte));
            let is_word = (4..=20).contains(&word.len())
                && consonants.all(|row| row.len() < CONSONANTS_MIN)
                && vowels * 6 >= word.len();
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
