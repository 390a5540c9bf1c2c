//! Whether an output reports a failure, in any words (spec EVID-11).

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
        r"(?i)\b(?:0|no|zero|without(?: any)?)\s+(?:\w+\s+)?(?:errors?|fail\w*|exceptions?|issues?|problems?|conflicts?)\b|",
        r"\b(?:errors?|fail\w*|exceptions?)\s*[:=]\s*0\b",
    ))
});
/// What the end of a program by a failure looks like.
static CRASH: LazyLock<Regex> = LazyLock::new(|| {
    matching(concat!(
        r"^\s*(?:Traceback \(most recent call last\)|panic: |fatal error: |Unhandled|Uncaught|(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?: |",
        r"Error: )|panicked at|Segmentation fault|core dumped|EADDRINUSE|command not found",
    ))
});

pub(super) fn matching(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant that a test compiles")
}

/// Returns whether a line reports a failure.
pub(super) fn is_failure(line: &str) -> bool {
    FAILURE.is_match(line) && FAILURE.is_match(&NONE.replace_all(line, ""))
}

/// Returns whether any line of an output reports a failure.
pub fn speaks_of_failure(output: &str) -> bool {
    any(output, is_failure)
}

/// Returns whether an output shows that a program ended by a failure of its own.
pub fn shows_crash(output: &str) -> bool {
    any(output, |line| CRASH.is_match(line))
}

fn any(output: &str, is_it: impl Fn(&str) -> bool) -> bool {
    let mut found = false;
    lines::each(output, |line| {
        found = found || is_it(line);
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

    #[test]
    fn a_crash_is_more_than_a_word() {
        assert!(shows_crash("x\nTraceback (most recent call last):\n  File"));
        assert!(shows_crash(
            "Error: listen EADDRINUSE: address already in use"
        ));
        assert!(shows_crash("thread 'main' panicked at src/main.rs:2"));
        assert!(!shows_crash("12 errors were handled\nGET /error 404"));
    }
}
