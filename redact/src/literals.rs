//! Finds many short literals in one pass. Whether one can begin at a byte is looked up by three bytes in a table of four
//! kilobytes; nothing waits for what came before, as the next state of an automaton does, and the automaton of the same
//! literals takes a megabyte.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// Bits of a class.
const CLASS_BITS: usize = 7;
/// Entries of the table of three bytes.
const GRAMS: usize = 1 << (CLASS_BITS + 8);

/// Literals of two bytes and more, found in any case of ASCII's letters.
pub(super) struct Literals {
    /// The class of each byte: both cases of a letter have the same, and all bytes that no literal has have 0.
    classes: [u8; 256],
    /// A bit for each place of [`gram`] that the beginning of a literal has.
    grams: Box<[u64; GRAMS / 64]>,
    /// For each pair of classes, which part of `literals` begins with it.
    begin: Vec<(u16, u16)>,
    literals: Vec<Literal>,
}

struct Literal {
    /// Its place in the list that was given.
    index: usize,
    /// The classes behind the first two.
    rest: Box<[u8]>,
}

impl Literals {
    /// # Panics
    ///
    /// If a literal is shorter than two bytes, or there are too many: the lists are constants.
    pub(super) fn new<'l>(literals: impl IntoIterator<Item = &'l str>) -> Self {
        let literals: Vec<&[u8]> = literals.into_iter().map(str::as_bytes).collect();
        let mut classes = [0; 256];
        let mut count = 1;
        for byte in literals.iter().copied().flatten() {
            let small = byte.to_ascii_lowercase();
            if classes[usize::from(small)] == 0 {
                classes[usize::from(small)] = count;
                classes[usize::from(small.to_ascii_uppercase())] = count;
                count += 1;
            }
        }
        let count = usize::from(count);
        assert!(count < 1 << CLASS_BITS, "the literals have too many bytes");
        let mut by_pair: BTreeMap<usize, Vec<Literal>> = BTreeMap::new();
        let mut grams = Box::new([0; GRAMS / 64]);
        for (index, bytes) in literals.into_iter().enumerate() {
            let classes: Vec<u8> = bytes
                .iter()
                .map(|byte| classes[usize::from(*byte)])
                .collect();
            let (first, second) = (usize::from(classes[0]), usize::from(classes[1]));
            let third = classes.get(2).map(|third| usize::from(*third));
            for third in third.map_or(0..count, |third| third..third + 1) {
                let gram = gram(first, second, third);
                grams[gram / 64] |= 1 << (gram % 64);
            }
            let rest = classes[2..].into();
            let pair = by_pair.entry(pair(first, second)).or_default();
            pair.push(Literal { index, rest });
        }
        let mut begin = vec![(0, 0); pair(count, 0)];
        let mut literals = Vec::new();
        let end = |literals: &[Literal]| u16::try_from(literals.len()).expect("they are few");
        for (pair, of_pair) in by_pair {
            let from = end(&literals);
            literals.extend(of_pair);
            begin[pair] = (from, end(&literals));
        }
        Self {
            classes,
            grams,
            begin,
            literals,
        }
    }

    /// Calls `found` with the number and the place of each literal in a text, ordered by their ends, the longest first.
    pub(super) fn each(&self, text: &[u8], mut found: impl FnMut(usize, Range<usize>)) {
        // Those that a later one may come before.
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        let _ = self.walk(text, |index, place| {
            // What begins here or later ends two bytes later at least.
            let closed = open.partition_point(|(end, ..)| *end < place.start + 2);
            for (end, start, index) in open.drain(..closed) {
                found(index, start..end);
            }
            let key = (place.end, place.start, index);
            open.insert(open.partition_point(|other| *other < key), key);
            ControlFlow::<()>::Continue(())
        });
        for (end, start, index) in open {
            found(index, start..end);
        }
    }

    /// Returns whether a text has a literal whose place passes a test.
    pub(super) fn any(&self, text: &str, test: impl Fn(Range<usize>) -> bool) -> bool {
        let found = self.walk(text.as_bytes(), |_, place| match test(place) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        found.is_break()
    }

    /// Visits the literals of a text in the order in which they begin.
    fn walk<B>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(usize, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let (mut first, mut second) = (0, 0);
        for (end, byte) in text.iter().enumerate() {
            let third = usize::from(self.classes[usize::from(*byte)]);
            if self.may_begin(first, second, third) {
                self.begin(text, end, pair(first, second), &mut visit)?;
            }
            (first, second) = (second, third);
        }
        // The last one may end with the text.
        match self.may_begin(first, second, 0) {
            true => self.begin(text, text.len(), pair(first, second), &mut visit),
            false => ControlFlow::Continue(()),
        }
    }

    fn may_begin(&self, first: usize, second: usize, third: usize) -> bool {
        let gram = gram(first, second, third);
        self.grams[gram / 64] >> (gram % 64) & 1 == 1
    }

    /// Visits the literals whose first two bytes, a pair of classes, end before `at`.
    #[inline(never)]
    fn begin<B>(
        &self,
        text: &[u8],
        at: usize,
        pair: usize,
        visit: &mut impl FnMut(usize, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Some(start) = at.checked_sub(2) else {
            return ControlFlow::Continue(());
        };
        let (from, to) = self.begin[pair];
        for Literal { index, rest } in &self.literals[usize::from(from)..usize::from(to)] {
            let end = at + rest.len();
            let here = text.get(at..end);
            let is_class = |(byte, class): (&u8, &u8)| self.classes[usize::from(*byte)] == *class;
            if here.is_some_and(|here| here.iter().zip(rest).all(is_class)) {
                visit(*index, start..end)?;
            }
        }
        ControlFlow::Continue(())
    }
}

const fn pair(first: usize, second: usize) -> usize {
    first << CLASS_BITS | second
}

/// Returns the place of three classes. Others may have the same.
const fn gram(first: usize, second: usize, third: usize) -> usize {
    (first << 8 ^ second << 4 ^ third) & (GRAMS - 1)
}

#[cfg(test)]
mod tests {
    use aho_corasick::{AhoCorasick, MatchKind};
    use proptest::prelude::*;

    use super::*;

    fn found(literals: &Literals, text: &str) -> Vec<(usize, Range<usize>)> {
        let mut all = Vec::new();
        literals.each(text.as_bytes(), |index, place| all.push((index, place)));
        all
    }

    proptest! {
        /// The rules were written for the order of an automaton.
        #[test]
        fn an_automaton_finds_the_same_in_the_same_order(
            literals in prop::collection::vec("[aB-]{2,4}|\u{e9}a|[ab]{6}", 1..12),
            text in "[abAB\u{e9} -]{0,60}",
        ) {
            let automaton = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .build(&literals)
                .expect("an automaton");
            let expected: Vec<_> = automaton
                .find_overlapping_iter(&text)
                .map(|hit| (hit.pattern().as_usize(), hit.range()))
                .collect();
            let literals = Literals::new(literals.iter().map(String::as_str));
            prop_assert_eq!(found(&literals, &text), expected.clone());
            prop_assert_eq!(literals.any(&text, |_| true), !expected.is_empty());
            prop_assert!(!literals.any(&text, |_| false));
        }
    }
}
