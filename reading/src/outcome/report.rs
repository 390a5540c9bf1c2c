//! What others report in their own words: subagents, and tools that test or build by themselves (spec EVID-13).

use std::sync::LazyLock;

use journal::{Summary, SummaryKind, SummaryVerdict};
use regex::Regex;

use super::failure::{is_failure, matching};

static TESTS: LazyLock<Regex> =
    LazyLock::new(|| matching(r"(?i)\b(?:tests?|specs?|suites?)\b|测试|テスト|테스트"));
static BUILD: LazyLock<Regex> = LazyLock::new(|| {
    matching(r"(?i)\b(?:builds?|built|compil\w+|type-?checks?|typechecking|tsc|bundles?)\b")
});
static WELL: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?i)\b(?:pass(?:ed|es|ing)?|green|clean(?:ly)?|succe(?:ss|ssful|ssfully|eds?|eded)|no errors|0 errors|without errors)\b|通过|成功|✅|✓",
    )
});
/// A sentence about the future says nothing about the past.
static TO_COME: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?i)\b(?:should|would|will|must|needs?|to|not|never|if|once|until|when|ensure|please|expect\w*|before|todo|next)\b|n['’]t\b",
    )
});
/// Returns whether a tool hands work to a subagent, and returns what it says.
pub fn is_subagent(tool: &str) -> bool {
    let name = tool.to_lowercase();
    name == "task" || name.contains("agent")
}

/// Returns what a subagent says of the tests and builds that it ran; of each, its last word counts.
pub fn of_subagent(text: &str) -> Vec<Summary> {
    let mut found = Vec::new();
    for (subject, kind) in [(&TESTS, SummaryKind::Tests), (&BUILD, SummaryKind::Build)] {
        let sentences = text.lines().flat_map(|line| line.split(". "));
        let about = sentences.filter(|sentence| subject.is_match(sentence));
        let verdicts = about.filter_map(|sentence| {
            if is_failure(sentence) {
                return Some(SummaryVerdict::Failed);
            }
            let is_well = WELL.is_match(sentence) && !TO_COME.is_match(sentence);
            is_well.then_some(SummaryVerdict::Passed)
        });
        found.extend(verdicts.last().map(|verdict| summary(kind, verdict)));
    }
    found
}

/// Returns what a tool ran by itself, as its name says, by its output: a summary of a known form, or none of the words for
/// failures.
pub fn of_tool(tool: &str, output: &str) -> Vec<Summary> {
    let Some(kind) = runs(tool) else {
        return Vec::new();
    };
    let said = super::read(output);
    let is_well = said.is_empty() && !super::speaks_of_failure(output);
    let well = is_well.then(|| summary(kind, SummaryVerdict::Passed));
    said.into_iter().chain(well).collect()
}

/// Returns what a tool ran by itself, as its name says, by the exit code that it answers with.
pub fn by_code(tool: &str, code: i64) -> Option<Summary> {
    let verdict = if code == 0 {
        SummaryVerdict::Passed
    } else {
        SummaryVerdict::Failed
    };
    runs(tool).map(|kind| summary(kind, verdict))
}

/// Returns the kind of the runs that a tool makes, by its name.
fn runs(tool: &str) -> Option<SummaryKind> {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    let mut parts = words.split(['_', '-', '.']).filter(|part| !part.is_empty());
    let first = parts.clone().next()?;
    let kind = |part: &str| match part {
        "test" | "tests" => Some(SummaryKind::Tests),
        "build" | "compile" | "typecheck" => Some(SummaryKind::Build),
        _ => None,
    };
    let runs = matches!(first, "run" | "execute") || kind(first).is_some();
    parts.find_map(kind).filter(|_| runs)
}

fn summary(kind: SummaryKind, verdict: SummaryVerdict) -> Summary {
    Summary {
        kind,
        verdict,
        ..Summary::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let said = of_subagent(text);
        let said = said
            .iter()
            .map(|one| format!("{:?} {:?}", one.kind, one.verdict));
        said.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_subagent_is_believed_about_what_it_ran() {
        for (text, expected) in [
            ("Fixed the parser. All 14 tests pass.", "Tests Passed"),
            (
                "## Result\n- Test suite: 212 passed, 0 failed",
                "Tests Passed",
            ),
            (
                "Two tests failed at first. After the fix all tests pass.",
                "Tests Passed",
            ),
            ("The tests pass, but then one test failed.", "Tests Failed"),
            ("Added tests for the parser.", ""),
            ("Once deployed, the tests should pass.", ""),
            ("I could not run the tests.", "Tests Failed"),
            ("`tsc` is clean and the build succeeds.", "Build Passed"),
            ("全部测试通过", "Tests Passed"),
            ("Here is how the retry works.", ""),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn a_tool_says_by_its_name_what_it_runs() {
        let kind = |tool: &str| of_tool(tool, "done").first().map(|said| said.kind);
        assert_eq!(kind("mcp__ide__run_tests"), Some(SummaryKind::Tests));
        assert_eq!(kind("runTests"), Some(SummaryKind::Tests));
        assert_eq!(kind("mcp__xcode__build_sim"), Some(SummaryKind::Build));
        for other in [
            "mcp__ci__list_tests",
            "generate_tests",
            "get_build_status",
            "Grep",
            "TestNotes",
        ] {
            let is_run = kind(other).is_some();
            assert_eq!(is_run, other == "TestNotes", "{other}");
        }
        assert!(of_tool("run_tests", "an error was met").is_empty());
        let counted = of_tool("run_tests", "2 failed, 1 passed in 0.1s");
        assert_eq!((counted.len(), counted[0].failed), (1, Some(2)));
        let failed = by_code("run_tests", 2).map(|said| said.verdict);
        assert_eq!(failed, Some(SummaryVerdict::Failed));
    }
}
