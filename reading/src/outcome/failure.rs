//! Whether an output reports a failure, in any words (spec EVID-11).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::lines;

/// Words for things that went wrong, or never ran.
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    matching(concat!(
        r"(?i)\b(?:err|errors?|fail\w*|exceptions?|traceback|panic\w*|fatal|cannot|can['’]t|could ?n['’]t|could not|unable|undefined|",
        r"unresolved|denied|refused|abort\w*|killed|terminated|timed? ?out|not found|no such|no tests?|segmentation|assert(?:ion)?|",
        r"invalid|broken|conflicts?|undeclared|unexpected|mismatch|missing)\b|\w(?:Error|Exception)\b|[✗✘✖❌×🔴]",
    ))
});
/// How outputs say that there were no failures.
static NONE: LazyLock<Regex> = LazyLock::new(|| {
    matching(concat!(
        r"(?i)\b(?:0|no|none|nothing|zero|without(?: any)?)\s+(?:\w+\s+)?(?:errors?|fail\w*|exceptions?|issues?|problems?|conflicts?)\b|",
        r"\b(?:errors?|fail\w*|exceptions?)\s*[:=]\s*0\b",
    ))
});

pub(super) fn matching(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant that a test compiles")
}

/// Returns whether a line reports a failure.
pub(super) fn is_failure(line: &str) -> bool {
    FAILURE.is_match(line) && FAILURE.is_match(&without_denials(line))
}

/// Returns a text without the words that say that there were no failures.
pub fn without_denials(text: &str) -> Cow<'_, str> {
    NONE.replace_all(text, "")
}

/// Returns whether any line of an output reports a failure.
pub fn speaks_of_failure(output: &str) -> bool {
    let mut found = false;
    lines::each(output, |line| {
        found = found || is_failure(line);
        found
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_known_by_their_words_unless_there_were_none() {
        for line in [
            "2 failed",
            "\u{1b}[31mError\u{1b}[0m: no module",
            "TypeError: x is undefined",
            "✗ adds",
            "could not compile `a`",
            "no tests ran",
            "Checked with 0 warnings and 2 errors",
            "0 passed, 1 failed",
        ] {
            assert!(speaks_of_failure(line), "{line}");
        }
        for line in [
            "",
            "Checked 12 files",
            "12 checks, 0 failed",
            "bundle written without errors",
            "errors: 0, warnings: 3",
            "no type errors",
            "> vite build",
        ] {
            assert!(!speaks_of_failure(line), "{line}");
        }
    }
}
