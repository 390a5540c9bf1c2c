//! The lines of an output as a person would see them, without what terminals and task runners add.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// How much of an output's beginning is read.
pub const HEAD_BYTES: usize = 16 * 1024;
/// How much of an output's end is read.
pub const TAIL_BYTES: usize = 64 * 1024;
/// Longer lines are not read; no summary is that long.
const LINE_BYTES_MAX: usize = 2_000;
/// How many prefixes are taken off one line.
const PREFIXES_MAX: usize = 3;

/// What task runners and containers put before the lines of what they run: `[test] `, `web:test: `, `packages/a test: `,
/// `db-1  | `, a time, the step of a container's build, `remote: `; what `uniq -c` puts
/// there; and how some agents begin the output of a command: `Output: `.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"^(?:\[[A-Za-z0-9_@/.:-]{1,80}\][ \t]+",
        r"|[@A-Za-z0-9_./-]{1,80}:[A-Za-z][A-Za-z0-9_./-]{0,79}:[ \t]+",
        r"|[@A-Za-z0-9_./-]{1,80} [A-Za-z0-9_:.-]{1,40}:[ \t]+",
        r"|[A-Za-z0-9_.-]{1,60}[ \t]*\|[ \t]+",
        r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z[ \t]+",
        r"|#[0-9]{1,4} [0-9]+\.[0-9]+[ \t]+",
        r"|[0-9]{1,6} ",
        r"|(?:Output|Stdout|Stderr|remote):[ \t]+)",
    );
    let built = RegexBuilder::new(pattern).unicode(false).build();
    built.expect("a constant that a test compiles")
});

/// Calls `known` with each line, and with the rest of it without a prefix as long as `known` does not know it.
pub(super) fn each(output: &str, mut known: impl FnMut(&str) -> bool) {
    let mut diff = Diff::default();
    for part in bounded(output) {
        let plain = plain(part);
        let lines = plain.split('\n').map(seen).filter(|line| !diff.holds(line));
        let lines = lines.flat_map(tags);
        for line in lines.filter(|line| line.len() <= LINE_BYTES_MAX) {
            let mut line = trim(line);
            for _ in 0..=PREFIXES_MAX {
                if line.is_empty() || known(line) {
                    break;
                }
                let Some(prefix) = PREFIX.find(line.as_bytes()) else {
                    break;
                };
                line = trim(line.get(prefix.end()..).unwrap_or_default());
            }
        }
    }
}

/// Returns the parts of a text that are read, in whole lines.
fn bounded(text: &str) -> impl Iterator<Item = &str> {
    let cut = text.len() > HEAD_BYTES + TAIL_BYTES;
    let (head, tail) = if cut {
        let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
        let tail = &text[text.ceil_char_boundary(text.len() - TAIL_BYTES)..];
        (
            head.rfind('\n').map_or("", |end| &head[..end]),
            tail.find('\n').map_or("", |start| &tail[start + 1..]),
        )
    } else {
        (text, "")
    };
    [head, tail].into_iter()
}

/// Removes colors and other control sequences; also those whose escape character was lost on the way (`[32m`).
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\u{9b}', '\u{8}'])
        && !text.contains("[0m")
        && !text.contains("[39m")
    {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{1b}', '\u{9b}', '[', '\u{8}']) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = control(rest);
        if length == 0 {
            // A bracket of the text itself.
            kept.push('[');
            rest = &rest[1..];
        } else {
            rest = &rest[length..];
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Returns the length of the control sequence at the beginning of a text; 0 if there is none.
fn control(text: &str) -> usize {
    let parameters = |from: usize| {
        let inside = |c: char| ('\u{20}'..='\u{3f}').contains(&c);
        text[from..].find(|c| !inside(c)).map(|end| from + end)
    };
    let sequence = |from: usize| {
        let last = parameters(from).filter(|end| text.is_char_boundary(end + 1));
        last.map_or(from, |end| end + 1)
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('\u{9b}'), _) => sequence('\u{9b}'.len_utf8()),
        (Some('\u{1b}'), Some('[')) => sequence(2),
        // A title or a link: up to the bell, or to the string terminator.
        (Some('\u{1b}'), Some(']')) => {
            let line = text.find('\n').unwrap_or(text.len());
            let end = text[..line].find(['\u{7}', '\\']).map(|end| end + 1);
            end.unwrap_or(2)
        }
        (Some('\u{1b}'), Some(next)) => 1 + next.len_utf8(),
        (Some('\u{1b}' | '\u{8}'), _) => 1,
        (Some('['), Some('0'..='9')) => {
            let end = text[1..].find(|c: char| !c.is_ascii_digit() && c != ';');
            let end = end.filter(|end| text[1 + end..].starts_with('m'));
            end.map_or(0, |end| end + 2)
        }
        _ => 0,
    }
}

/// Returns the rest of a line that overwrote itself.
fn seen(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

/// Returns each tag of a report in XML, which may all be in one line, or the line.
fn tags(line: &str) -> impl Iterator<Item = &str> {
    let is_report = ["<testsuite", "<?xml"].iter().any(|tag| line.contains(tag));
    line.split(if is_report { "><" } else { "\n" })
}

/// Takes off blanks, and the sides of a drawn table.
fn trim(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '│' | '┃' | '║' | '\u{feff}'))
}

/// Lines of a diff's hunk are no output of their own.
#[derive(Debug, Default)]
struct Diff {
    /// The numbers of lines of the old and the new file that are still to come.
    left: (u64, u64),
}

impl Diff {
    fn holds(&mut self, line: &str) -> bool {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            self.left = hunk_lengths(hunk).unwrap_or_default();
            return self.left != (0, 0);
        }
        if self.left == (0, 0) {
            return false;
        }
        let (old, new) = match line.bytes().next() {
            Some(b' ') | None => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            Some(_) => {
                self.left = (0, 0);
                return false;
            }
        };
        self.left = (
            self.left.0.saturating_sub(old),
            self.left.1.saturating_sub(new),
        );
        true
    }
}

/// Reads `1,5 +1,6 @@`.
fn hunk_lengths(hunk: &str) -> Option<(u64, u64)> {
    let (ranges, _) = hunk.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    };
    Some((length(old)?, length(new)?))
}
