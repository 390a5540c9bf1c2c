//! Whole lines of a transcript's end, given part by part, the last part first. A first line that may be torn and empty
//! lines are left out.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::fmt;

/// A part of a transcript that ends where the part given before begins, or at the transcript's end.
#[derive(Clone, Debug, Default)]
pub struct Part<'t> {
    /// Whole lines.
    pub text: Cow<'t, str>,
    /// Whether the transcript begins with it.
    pub from_start: bool,
}

impl<'t> Part<'t> {
    /// Returns the part that `bytes` are; without their first line, which may be torn, if they begin in the midst.
    pub fn of(bytes: &'t [u8], from_start: bool) -> Self {
        let whole = match bytes.iter().position(|byte| *byte == b'\n') {
            _ if from_start => bytes,
            Some(end) => bytes.get(end + 1..).unwrap_or_default(),
            None => &[],
        };
        Self {
            text: String::from_utf8_lossy(whole),
            from_start,
        }
    }
}

/// Reads the part before the last returned one; `None` if there is none, or no more may be read.
pub type ReadBefore<'r, 't> = &'r mut dyn FnMut() -> Option<Part<'t>>;

/// The parts of a transcript that were read. Each is read when it is needed, and kept.
pub(crate) struct Parts<'r, 't> {
    read: RefCell<ReadBefore<'r, 't>>,
    last: Place<'t>,
}

type Place<'t> = OnceCell<Option<Box<Kept<'t>>>>;

struct Kept<'t> {
    part: Part<'t>,
    before: Place<'t>,
}

impl<'r, 't> Parts<'r, 't> {
    pub(crate) fn new(read: ReadBefore<'r, 't>) -> Self {
        Self {
            read: RefCell::new(read),
            last: OnceCell::new(),
        }
    }

    /// Returns the place of a part, counted from the end, if all after it were read.
    fn place(&self, number: usize) -> Option<&Place<'t>> {
        (0..number).try_fold(&self.last, |place, _| {
            Some(&place.get()?.as_deref()?.before)
        })
    }
}

/// Parts by their number, counted from the end.
trait Numbered {
    /// Returns a part, read now if it was not yet. The parts after it were asked for before.
    fn part(&self, number: usize) -> Option<&Part<'_>>;
    /// Returns a part if it was read.
    fn known(&self, number: usize) -> Option<&Part<'_>>;
}

impl Numbered for Parts<'_, '_> {
    fn part(&self, number: usize) -> Option<&Part<'_>> {
        let kept = self.place(number)?.get_or_init(|| {
            let part = (self.read.borrow_mut())()?;
            let before = OnceCell::new();
            if part.from_start {
                let _ = before.set(None);
            }
            Some(Box::new(Kept { part, before }))
        });
        kept.as_deref().map(|kept| &kept.part)
    }

    fn known(&self, number: usize) -> Option<&Part<'_>> {
        let kept = self.place(number)?.get()?.as_deref()?;
        Some(&kept.part)
    }
}

/// The end of a transcript.
#[derive(Clone, Copy)]
pub(crate) struct Tail<'a> {
    parts: &'a dyn Numbered,
    /// Whether to read all turns, not only the current one.
    pub(crate) all_turns: bool,
}

impl fmt::Debug for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = (0..).map_while(|number| self.parts.known(number));
        f.debug_list().entries(known).finish()
    }
}

impl<'a> Tail<'a> {
    pub(crate) fn new(parts: &'a Parts<'_, '_>, all_turns: bool) -> Self {
        Self { parts, all_turns }
    }

    /// Returns the lines, last one first. Reads only as many as are consumed.
    pub(crate) fn lines_backward(self) -> impl Iterator<Item = &'a str> {
        self.parts_backward().flatten()
    }

    /// Returns the lines of each part, last ones first.
    pub(crate) fn parts_backward(self) -> impl Iterator<Item = impl Iterator<Item = &'a str>> {
        let parts = (0..).map_while(move |number| self.parts.part(number));
        parts.map(|part| backward(&part.text))
    }

    /// Returns the first line of the transcript if it was read.
    pub(crate) fn first_line(self) -> Option<&'a str> {
        let mut known = (0..).map_while(|number| self.parts.known(number));
        let first = known.find(|part| part.from_start)?;
        lines(first.text.split('\n')).next()
    }

    /// Returns the whole text if its last part is all of it.
    pub(crate) fn whole(self) -> Option<&'a str> {
        let only = self.parts.part(0)?;
        only.from_start.then_some(&*only.text)
    }
}

/// Returns the lines of a text, last one first.
pub(crate) fn backward(text: &str) -> impl Iterator<Item = &str> {
    lines(text.rsplit('\n'))
}

fn lines<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let lines = lines.map(|line| line.trim_end_matches('\r'));
    lines.filter(|line| line.starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives the texts, the last one first.
    fn with<T>(texts: &[&str], from_start: bool, read: impl FnOnce(Tail<'_>) -> T) -> (T, usize) {
        let mut left = texts.len();
        let mut before = || {
            left = left.checked_sub(1)?;
            Some(Part::of(texts[left].as_bytes(), from_start && left == 0))
        };
        let parts = Parts::new(&mut before);
        let answer = read(Tail::new(&parts, false));
        drop(parts);
        (answer, left)
    }

    fn all(texts: &[&str], from_start: bool) -> Vec<String> {
        let read = |tail: Tail<'_>| tail.lines_backward().map(str::to_owned).collect();
        with(texts, from_start, read).0
    }

    #[test]
    fn a_torn_first_line_is_left_out() {
        let text = "{1}\n{2}\r\n\n{3}\nrest";
        assert_eq!(all(&[text], true), ["{3}", "{2}", "{1}"]);
        assert_eq!(all(&[text], false), ["{3}", "{2}"]);
        assert_eq!(all(&["{torn"], false), [""; 0]);
    }

    #[test]
    fn parts_are_read_as_far_as_lines_are_taken() {
        let texts = ["{1}\n{2}\n", "\n{3}\n{4}\n", "\n", "\n{5}"];
        assert_eq!(all(&texts, true), ["{5}", "{4}", "{3}", "{2}", "{1}"]);
        let third = |tail: Tail<'_>| {
            let third = tail.lines_backward().nth(2).map(str::to_owned);
            (third, tail.first_line().is_some(), tail.whole().is_some())
        };
        assert_eq!(
            with(&texts, true, third),
            ((Some("{3}".into()), false, false), 1)
        );
        let first = |tail: Tail<'_>| {
            let count = tail.lines_backward().count();
            (count, tail.first_line().map(str::to_owned))
        };
        assert_eq!(with(&texts, true, first), ((5, Some("{1}".into())), 0));
        assert_eq!(with(&texts, false, first), ((4, None), 0));
        let whole = |tail: Tail<'_>| tail.whole().map(str::to_owned);
        assert_eq!(with(&["{1}"], true, whole), (Some("{1}".into()), 0));
    }
}
