//! How runs ended, one after the other.

use journal::CallOutcome;

use super::*;
use crate::outcome;
use crate::printed::{self, Shown};

/// A turn, each call with ` => ` and what it printed, and whether something is asked for.
const TURNS: &[(&[&str], bool)] = &[
    // Tests that failed after some passed, which only their output says.
    (
        &[
            "edit a.ts",
            "$ npx vitest run a.test.ts =>  Tests  2 passed (2)",
            "$ npx vitest run | tail -3 =>  Tests  1 failed | 4 passed (5)",
        ],
        true,
    ),
    (
        &[
            "edit a.ts",
            "$ npx vitest run | tail -3 =>  Tests  1 failed | 4 passed (5)",
            "$ npx vitest run a.test.ts =>  Tests  2 passed (2)",
        ],
        false,
    ),
    // Two runs in one line, the second of which is meant to fail: each has its part of the output.
    (
        &[
            "edit a.ts",
            "$ npx vitest run | tail -3; echo --- OLD; git stash -q && npx vitest run | tail -3; git stash pop -q =>  Tests  5 passed (5)\n--- OLD\n Tests  1 failed | 4 passed (5)",
        ],
        false,
    ),
    (
        &[
            "edit a.ts",
            "$ echo --- ONE; npx vitest run | tail -3; echo --- TWO; npx vitest run | tail -3 => --- ONE\n Tests  1 failed | 4 passed (5)\n--- TWO\n Tests  1 failed | 4 passed (5)",
        ],
        true,
    ),
    // Of another language, or another package.
    (
        &[
            "edit a.ts",
            "$ npx vitest run =>  Tests  2 passed (2)",
            "$ pytest | tail -1 => 1 failed in 0.1s",
        ],
        false,
    ),
    (
        &[
            "edit b.ts",
            "$ npx vite build => ✓ built in 1.2s",
            "$ npx vitest run | tail -3 =>  Tests  1 failed | 4 passed (5)",
        ],
        true,
    ),
    // Checks of the project's own, by their words.
    (
        &[
            "edit b.ts",
            "$ npm run check | tail -3 => Checked 12 files: 0 errors",
        ],
        false,
    ),
    (
        &[
            "edit b.ts",
            "$ npm run check | tail -3 => Checked 12 files: 2 errors",
        ],
        true,
    ),
    (
        &["edit b.ts", "$ npm run check | tail -3 => Checked 12 files"],
        false,
    ),
    (
        &[
            "edit b.ts",
            "$ ./verify.sh; git status => ✓ All checks passed\nM a",
        ],
        false,
    ),
    (
        &["edit b.ts", "$ cat verify.log => ✓ All checks passed"],
        true,
    ),
    (
        &["edit b.ts", "$ echo check; ls => ✓ All checks passed"],
        true,
    ),
    (&["edit a.ts", "$ ./verify.sh => ✓ All checks passed"], true),
    (
        &[
            "edit a.ts",
            "$ ./verify.sh | tail -2 => 12 checks, 0 failed",
        ],
        false,
    ),
    (
        &[
            "edit a.ts",
            "$ ./verify.sh | tail -2 => 12 checks, 1 failed",
        ],
        true,
    ),
    // What the line says itself is no word of its commands.
    (
        &[
            "edit b.ts",
            "$ npx vite build | tail -1; echo 'Build complete' => Build complete",
        ],
        true,
    ),
    (
        &[
            "edit a.ts",
            "$ ./t.sh; echo '5 passed in 1s' => 5 passed in 1s",
        ],
        true,
    ),
    // The changed program ran, or did not.
    (
        &[
            "edit tool.py",
            "$ python tool.py > out; echo \"rc=$?\" => rc=0",
        ],
        false,
    ),
    (
        &[
            "edit tool.py",
            "$ python tool.py > out; echo \"rc=$?\" => rc=1",
        ],
        true,
    ),
    (
        &[
            "edit tool.py",
            "$ python tool.py && echo FINE; ls => Traceback\nout",
        ],
        true,
    ),
    (
        &[
            "edit tool.py",
            "! python tool.py && echo FINE && nope => FINE\nnope: not found",
        ],
        false,
    ),
];

#[test]
fn turns_are_judged_by_how_their_runs_ended() {
    let workspace = project("a.ts < a.test.ts");
    let mut wrong = Vec::new();
    for (lines, due) in TURNS {
        let (calls, outputs): (Vec<&str>, Vec<&str>) = lines
            .iter()
            .map(|line| line.split_once(" => ").unwrap_or((line, "")))
            .unzip();
        let mut evidence = turn(&workspace, &calls);
        let printed = outputs
            .iter()
            .enumerate()
            .filter(|(_, output)| !output.is_empty());
        evidence.facts.outcomes = printed
            .map(|(call, output)| {
                let line = calls[call].trim_start_matches(['$', '!', ' ']);
                CallOutcome {
                    call,
                    summaries: outcome::read(&printed::without_own(line, output)),
                    ends: printed::ends(line, output, Shown::Whole),
                    ..CallOutcome::default()
                }
            })
            .collect();
        let findings = find(&evidence, Some(95_000), PROJECT, &policy());
        let asked = findings
            .actions
            .iter()
            .any(|action| !action.text.is_empty());
        if asked != *due {
            wrong.push(format!("{lines:?}: {:?}", findings.actions));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
