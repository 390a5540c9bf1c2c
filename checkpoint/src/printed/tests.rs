//! Lines, what they printed, and what follows.

use journal::{CommandEnd, SummaryVerdict};

use super::{Shown, ends, without_own};

/// Writes ends as the tables do: `+` passed, `-` failed, `0` not run, `?` not known, `.` silent.
fn shown(ends: &[CommandEnd]) -> String {
    let one = |end: &CommandEnd| {
        let verdict = match end.verdict {
            Some(SummaryVerdict::Passed) => "+",
            Some(SummaryVerdict::Failed) => "-",
            Some(SummaryVerdict::RanNothing) => "0",
            None => "?",
        };
        format!(
            "{verdict}{}{}",
            end.program,
            if end.silent { "." } else { "" }
        )
    };
    // What is only seen is no end.
    let is_end =
        |end: &&CommandEnd| end.verdict.is_some() || end.silent || !(end.unread || end.crashed);
    let ends = ends.iter().filter(is_end).map(one);
    ends.collect::<Vec<_>>().join(" ")
}

/// Lines, their outputs with ` / ` between lines, and what follows.
const WHOLE: &[(&str, &str, &str)] = &[
    // The status is printed.
    ("tsc; echo \"exit=$?\"", "exit=0", "+tsc."),
    (
        "tsc; echo \"exit=$?\"",
        "a.ts(1,2): error TS1 / exit=2",
        "-tsc",
    ),
    ("tsc; echo exit: $?", "exit: 0", "+tsc."),
    ("make > log 2>&1; echo $?", "0", "+make"),
    ("make > log 2>&1; echo $?", "2", "-make"),
    ("make; echo $?", "3 / 0", ""),
    ("make; printf '%s\\n' $?", "all done / 0", "+make"),
    ("make; printf 'rc=%d\\n' \"$?\"", "rc=1", "-make"),
    ("make; printf \"exit $?\"", "exit 0", "+make."),
    (
        "make; rc=$?; tail -3 log; echo \"rc=$rc\"; exit $rc",
        "x / rc=0",
        "+make",
    ),
    ("make; rc=$?; echo \"a $rc b\"", "a 1 b", "-make"),
    (
        "make; export CODE=$?; echo \"code ${CODE}\"",
        "code 7",
        "-make",
    ),
    ("make | tail -3; echo \"exit=$?\"", "x / exit=0", ""),
    (
        "make | tail -3; echo \"exit=${PIPESTATUS[0]}\"",
        "x / exit=0",
        "+make",
    ),
    (
        "make | tail -3; echo \"exit=${PIPESTATUS[0]}\"",
        "x / exit=2",
        "-make",
    ),
    (
        "make | tail -3; echo \"exit=$pipestatus[1]\"",
        "x / exit=2",
        "-make",
    ),
    ("make | tee log; echo ${PIPESTATUS[@]}", "x / 0 0", "+make"),
    ("make | tee log; echo ${PIPESTATUS[*]}", "x / 2 0", "-make"),
    (
        "set -o pipefail; make | tail -3; echo \"exit=$?\"",
        "x / exit=0",
        "+make",
    ),
    ("cd x && make; echo $?", "a / 0", "+make"),
    ("make; ls; echo \"exit=$?\"", "x / exit=0", "+ls"),
    ("make && ls; echo \"exit=$?\"", "x / exit=0", "+make +ls"),
    ("make && ls; echo \"exit=$?\"", "x / exit=2", "-ls"),
    ("(make; exit $?); echo \"exit=$?\"", "x / exit=2", "-make"),
    ("bash -c 'make; echo \"exit=$?\"'", "x / exit=0", "+make"),
    ("timeout 60 make; echo \"exit=$?\"", "x / exit=124", "-make"),
    ("make >& log & wait $!; echo \"exit=$?\"", "exit=1", "-make"),
    (
        "out=$(make 2>&1); echo \"exit=$?\"; echo \"$out\" | tail -3",
        "exit=0 / x",
        "+make",
    ),
    (
        "make; [ $? -eq 0 ] && echo OK || echo BAD",
        "x / BAD",
        "-make",
    ),
    (
        "make; if [ $? -ne 0 ]; then echo BAD; fi; ls",
        "x / BAD / y",
        "-make",
    ),
    // A text that is reached only if something passed.
    ("make && echo OK", "x / OK", "+make"),
    ("make && echo OK", "x", "-make"),
    ("make && echo OK || echo FAILED", "x / OK", "+make"),
    ("make && echo OK || echo FAILED", "x / FAILED", "-make"),
    ("make || echo FAILED; git status", "x / FAILED / y", "-make"),
    ("make || echo FAILED; git status", "x / y", "+make"),
    (
        "if make; then echo PASS; else echo FAIL; fi",
        "x / PASS",
        "+make",
    ),
    (
        "if ! make; then echo FAIL; exit 1; fi; echo GOOD",
        "GOOD",
        "+make.",
    ),
    (
        "tsc && eslint . && echo ALLOK; git status",
        "ALLOK / y",
        "+tsc. +eslint.",
    ),
    (
        "tsc && eslint . && echo ALLOK; git status",
        "y",
        "?tsc. -eslint",
    ),
    (
        "tsc && echo A && eslint . && echo B",
        "A / x",
        "+tsc -eslint",
    ),
    ("tsc && echo A && eslint . && echo B", "x", "-tsc 0eslint"),
    (
        "make || { echo BAD; exit 1; }; echo GOOD",
        "x / GOOD",
        "+make",
    ),
    ("set -e; make; echo GOOD", "x / GOOD", "+make"),
    ("set -e; make; echo GOOD", "x", "-make"),
    ("{ make && echo OK; } 2>&1 | tail -3", "x / OK", "+make"),
    // The filter may have dropped it.
    ("{ make && echo OK; } 2>&1 | tail -3", "x", ""),
    ("(cd x && make && echo OK)", "OK", "+make"),
    ("! make && echo BROKEN", "BROKEN", "-make"),
    // What is printed anyway proves nothing.
    ("make; echo done", "x / done", ""),
    ("make; echo OK", "OK", "?make."),
    ("make | tail -1 && echo OK", "OK", "?make."),
    ("make || true; echo OK", "x / OK", ""),
    ("make & echo OK", "OK", ""),
    // Not what echo would have printed, or printed by another command.
    ("make && echo OK", "x OK", ""),
    ("make && echo OK", "not OK here", "-make"),
    ("cat log && make && echo OK", "OK / x / OK", ""),
    ("for t in a b; do make $t && echo OK; done", "OK / OK", ""),
    ("f() { make && echo OK; }; f", "OK", ""),
    ("make && echo \"$(date)\"", "x", ""),
    ("make && echo OK > state", "x", ""),
    ("make && echo OK", "x / [3000 chars truncated] / y", ""),
    ("make && printf OK; ls", "x / OKa", ""),
    // Nothing was printed between two texts.
    ("tsc | tail -3", "", "?tsc."),
    ("tsc | wc -l", "0", ""),
    (
        "echo == types; tsc | tail -3; echo == state; git status",
        "== types / == state / M a",
        "?tsc.",
    ),
    (
        "echo == types; tsc | tail -3; echo == state; git status",
        "== types / a / == state / M a",
        "",
    ),
    (
        "tsc 2>/dev/null; go build ./... 2> /dev/null; echo x",
        "x",
        "",
    ),
    (
        "npm run typecheck 2>&1 | tail -5",
        "> a@1 typecheck / > tsc --noEmit",
        "?npm.",
    ),
    ("tsc > log 2>&1", "", ""),
    // A compiler whose failures have a known form.
    ("npx tsc --noEmit; git status --short", " M a.ts", "?tsc."),
    (
        "npx tsc --noEmit | tail -20; git status --short",
        " M a.ts",
        "?tsc.",
    ),
    (
        "npx tsc --noEmit | tail -2; git status --short",
        " M a.ts",
        "",
    ),
    (
        "npx tsc --noEmit | grep -i 'error TS'; git status --short",
        " M a.ts",
        "?tsc.",
    ),
    (
        "npx tsc --noEmit | grep a.ts; git status --short",
        " M a.ts",
        "",
    ),
    ("npx tsc --noEmit > log; git status --short", " M a.ts", ""),
    (
        "npx tsc --noEmit; git status --short",
        "a.ts(1,2): error TS2322: no / M a.ts",
        "",
    ),
    (
        "go vet ./... 2>/dev/null; git status --short",
        " M a.ts",
        "",
    ),
    // As agents write it.
    (
        "npx tsc --noEmit 2>&1 | head -20 && echo TSC_OK",
        "TSC_OK",
        "?tsc.",
    ),
    (
        "npx tsc --noEmit 2>&1 | head -20 && echo TYPECHECK_OK",
        "src/b.ts(109,49): error TS2344: Type 'Chain' does not satisfy the constraint. / TYPECHECK_OK",
        "",
    ),
    (
        "npm test 2>&1 | tail -6; npx tsc --noEmit 2>&1 | head -20 && echo \"=== exit: $? ===\"",
        "x / === exit: 0 ===",
        "?tsc.",
    ),
    (
        "npm run lint 2>&1 | tail -20 && npx tsc --noEmit 2>&1 | head -20 && echo \"TYPECHECK OK\"",
        "> pay@0.1.0 lint / > eslint /  / TYPECHECK OK",
        "?npm. ?tsc.",
    ),
    (
        "cd x || exit 1\necho \"== 1. TYPES ==\"\nnpx tsc --noEmit && echo \"  PASS\" || echo \"  FAIL\"\necho\necho \"== 2. TESTS ==\"\nnpx vitest run 2>&1 | tail -5",
        "== 1. TYPES == /   PASS /  / == 2. TESTS == / Tests 3 passed",
        "+tsc.",
    ),
    (
        "git rm -r -q old && echo \"files: $(git diff --cached | wc -l)\"; echo \"=== types ===\"; npx tsc --noEmit && echo \"✅ types\"",
        "files: 19 / === types === / npm notice / npm notice New minor version of npm available! / ✅ types",
        "+git. +tsc",
    ),
    (
        "npm run build >/tmp/build.log 2>&1; tail -5 /tmp/build.log; (npm run start >/tmp/start.log 2>&1 &) ; sleep 6; echo ready",
        "done / ready",
        "",
    ),
];

#[test]
fn what_a_line_prints_says_how_its_commands_ended() {
    let mut wrong = Vec::new();
    for (line, output, expected) in WHOLE {
        let found = shown(&ends(line, &output.replace(" / ", "\n"), Shown::Whole));
        if found != *expected {
            wrong.push(format!(
                "{line} => {output}\n  expected {expected:?}, got {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for a part of an output, or for a file that the line wrote.
#[test]
fn a_part_of_an_output_says_only_what_is_there() {
    let log = Shown::File("/tmp/b.log");
    let cases: [(&str, Shown<'_>, &str, &str); 9] = [
        ("make; echo \"exit=$?\"", Shown::Part, "x\nexit=0", "+make"),
        ("make; echo \"exit=$?\"", Shown::Part, "x", ""),
        ("make && echo OK", Shown::Part, "x", ""),
        ("make && echo OK", Shown::Part, "x\nOK", "+make"),
        (
            "make > /tmp/b.log 2>&1; echo \"EXIT $?\" >> /tmp/b.log",
            log,
            "x\nEXIT 2",
            "-make",
        ),
        (
            "(make; echo \"EXIT $?\") > /tmp/b.log 2>&1 &",
            log,
            "x\nEXIT 0",
            "+make",
        ),
        (
            "nohup bash -c 'make; echo EXIT $?' > /tmp/b.log 2>&1 &",
            log,
            "x\nEXIT 0",
            "+make",
        ),
        (
            "make > /tmp/b.log 2>&1; echo \"EXIT $?\"",
            log,
            "x\nEXIT 0",
            "",
        ),
        (
            "make > /tmp/a.log; echo \"EXIT $?\" >> /tmp/a.log",
            log,
            "EXIT 0",
            "",
        ),
    ];
    for (line, part, output, expected) in cases {
        assert_eq!(
            shown(&ends(line, output, part)),
            expected,
            "{line} => {output}"
        );
    }
}

/// Any line and any output give an answer, in time.
#[test]
fn long_lines_are_not_followed_for_long() {
    let checks = "a && echo A || b; ".repeat(80);
    let output = "A\n".repeat(80);
    assert!(ends(&checks, &output, Shown::Whole).len() <= 32);
    let nested = format!("{}a{}", "(".repeat(60), ")".repeat(60));
    let found = ends(
        &format!("{nested}; echo \"exit=$?\""),
        "exit=0",
        Shown::Whole,
    );
    assert!(
        found
            .iter()
            .all(|end| end.verdict != Some(SummaryVerdict::Failed))
    );
}

#[test]
fn what_a_line_says_itself_is_taken_off() {
    for (line, output, rest) in [
        ("pytest | tail -1; echo \"5 passed\"", "x\n5 passed", "x\n"),
        ("make; echo \"Build OK ($?)\"", "x\nBuild OK (2)\n", "x\n"),
        (
            "make; echo \"$(pytest -q | tail -1)\"",
            "5 passed",
            "5 passed",
        ),
        ("pytest -q", "echo\n5 passed", "echo\n5 passed"),
    ] {
        assert_eq!(without_own(line, output), rest, "{line}");
    }
}
