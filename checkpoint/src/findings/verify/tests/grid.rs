//! Tools, what hides how they ended, and what is printed about it: each with each.

use journal::CallOutcome;

use super::*;
use crate::outcome;
use crate::printed::{self, Shown};

/// A changed file, what verifies it, and what that prints when all is well and when it is not.
const TOOLS: &[(&str, &str, &str, &str)] = &[
    // Tests.
    (
        "tax.py",
        "pytest -q",
        "5 passed in 0.12s",
        "1 failed, 4 passed in 0.12s",
    ),
    (
        "tax.py",
        "python -m unittest",
        "Ran 5 tests in 0.001s\n\nOK",
        "Ran 5 tests in 0.001s\n\nFAILED (failures=1)",
    ),
    (
        "tax.py",
        "tox -e py312",
        "  congratulations :) (2.31 seconds)",
        "  evaluation failed :( (2.31 seconds)",
    ),
    (
        "cart.ts",
        "npx jest",
        "Tests:       5 passed, 5 total",
        "Tests:       1 failed, 4 passed, 5 total",
    ),
    (
        "cart.ts",
        "npx vitest run",
        "      Tests  5 passed (5)",
        "      Tests  1 failed | 4 passed (5)",
    ),
    (
        "cart.ts",
        "npx mocha",
        "  5 passing (12ms)",
        "  4 passing (12ms)\n  1 failing",
    ),
    (
        "cart.ts",
        "node --test",
        "ℹ tests 5\nℹ pass 5\nℹ fail 0",
        "ℹ tests 5\nℹ pass 4\nℹ fail 1",
    ),
    (
        "cart.ts",
        "npx playwright test",
        "  5 passed (3.1s)",
        "  1 failed\n  4 passed (3.1s)",
    ),
    (
        "cart.ts",
        "bun test",
        " 5 pass\n 0 fail\nRan 5 tests across 1 files. [12.00ms]",
        " 4 pass\n 1 fail\nRan 5 tests across 1 files. [12.00ms]",
    ),
    (
        "cart.ts",
        "deno test",
        "ok | 5 passed | 0 failed (12ms)",
        "FAILED | 4 passed | 1 failed (12ms)",
    ),
    (
        "lib.rs",
        "cargo test",
        "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        "test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
    ),
    (
        "lib.rs",
        "cargo nextest run",
        "     Summary [   0.123s] 5 tests run: 5 passed, 0 skipped",
        "     Summary [   0.123s] 5 tests run: 4 passed, 1 failed, 0 skipped\nerror: test run failed",
    ),
    (
        "pay.go",
        "go test ./...",
        "ok  \texample.org/pay\t0.012s",
        "FAIL\texample.org/pay\t0.012s",
    ),
    (
        "pay.go",
        "gotestsum ./...",
        "DONE 5 tests in 0.5s",
        "DONE 5 tests, 1 failure in 0.5s",
    ),
    (
        "tax.rb",
        "bundle exec rspec",
        "5 examples, 0 failures",
        "5 examples, 1 failure",
    ),
    (
        "tax.rb",
        "bin/rails test",
        "5 runs, 9 assertions, 0 failures, 0 errors, 0 skips",
        "5 runs, 9 assertions, 1 failures, 0 errors, 0 skips",
    ),
    (
        "tax.php",
        "vendor/bin/phpunit",
        "OK (5 tests, 9 assertions)",
        "Tests: 5, Assertions: 9, Failures: 1.",
    ),
    (
        "Tax.java",
        "mvn test",
        "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
        "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
    ),
    (
        "Tax.cs",
        "dotnet test",
        "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 12 ms - T.dll (net8.0)",
        "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5, Duration: 12 ms - T.dll (net8.0)",
    ),
    (
        "Tax.swift",
        "swift test",
        "\t Executed 5 tests, with 0 failures (0 unexpected) in 0.004 (0.005) seconds",
        "\t Executed 5 tests, with 1 failure (0 unexpected) in 0.004 (0.005) seconds",
    ),
    (
        "tax.ex",
        "mix test",
        "5 tests, 0 failures",
        "5 tests, 1 failure",
    ),
    (
        "tax.dart",
        "flutter test",
        "00:02 +5: All tests passed!",
        "00:02 +4 -1: Some tests failed.",
    ),
    (
        "tax.c",
        "ctest",
        "100% tests passed, 0 tests failed out of 5",
        "80% tests passed, 1 tests failed out of 5",
    ),
    (
        "tax.zig",
        "zig build test --summary all",
        "Build Summary: 3/3 steps succeeded; 5/5 tests passed",
        "Build Summary: 1/3 steps succeeded; 1 failed; 4/5 tests passed; 1 failed",
    ),
    // Builds and type checks.
    (
        "page.ts",
        "npx tsc --noEmit",
        "",
        "page.ts(1,2): error TS2322: Type 'a' is not assignable to type 'b'.",
    ),
    (
        "page.ts",
        "npx vue-tsc -b",
        "",
        "page.ts(1,2): error TS2322: Type 'a' is not assignable to type 'b'.",
    ),
    (
        "page.ts",
        "npx vite build",
        "✓ built in 1.2s",
        "error during build:",
    ),
    (
        "page.ts",
        "npx next build",
        " ✓ Compiled successfully in 2.1s",
        "Failed to compile.",
    ),
    (
        "page.ts",
        "npx webpack",
        "webpack 5.90.0 compiled successfully in 900 ms",
        "webpack 5.90.0 compiled with 1 error in 900 ms",
    ),
    (
        "page.ts",
        "npx tsup",
        "ESM ⚡️ Build success in 12ms",
        "ESM Build failed",
    ),
    (
        "page.ts",
        "npx svelte-check",
        "svelte-check found 0 errors and 0 warnings",
        "svelte-check found 2 errors and 0 warnings in 1 file",
    ),
    (
        "page.ts",
        "npx astro build",
        "12:00:01 [build] Complete!",
        "[ERROR] x",
    ),
    (
        "page.py",
        "mypy .",
        "Success: no issues found in 3 source files",
        "Found 2 errors in 1 file (checked 3 source files)",
    ),
    (
        "page.py",
        "pyright",
        "0 errors, 0 warnings, 0 informations ",
        "2 errors, 0 warnings, 0 informations ",
    ),
    (
        "page.rs",
        "cargo check",
        "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.52s",
        "error: could not compile `shop` (lib) due to 1 previous error",
    ),
    (
        "page.rs",
        "cargo clippy --all-targets",
        "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.52s",
        "error: could not compile `shop` (lib) due to 1 previous error",
    ),
    (
        "page.go",
        "go build ./...",
        "",
        "./page.go:3:2: undefined: x",
    ),
    (
        "page.go",
        "go vet ./...",
        "",
        "vet: ./page.go:3:2: undefined: x",
    ),
    ("Page.java", "mvn -q compile", "", "[ERROR] BUILD FAILURE"),
    (
        "Page.cs",
        "dotnet build",
        "Build succeeded.\n    0 Warning(s)\n    0 Error(s)",
        "Build FAILED.\n    0 Warning(s)\n    2 Error(s)",
    ),
    (
        "page.swift",
        "swift build",
        "Build complete! (1.20s)",
        "error: fatalError",
    ),
    (
        "page.c",
        "ninja",
        "[100%] Built target page",
        "ninja: build stopped: subcommand failed.",
    ),
    (
        "page.c",
        "gcc -Wall -o page page.c",
        "",
        "page.c:1:2: error: expected ';'",
    ),
    (
        "page.ts",
        "docker build -t shop .",
        "#12 naming to docker.io/library/shop done",
        "ERROR: failed to solve: process did not complete",
    ),
    (
        "page.ts",
        "./scripts/build.sh",
        "bundle built with 0 errors",
        "bundle built with 2 errors",
    ),
    ("page.ts", "node scripts/build.mjs", "Build OK", "Errors: 2"),
];

/// What hides how a command ended, and what is printed about it if it passed and if not; `_` is what it prints itself.
const MASKS: &[(&str, &str, &str)] = &[
    ("{} 2>&1 | tail -20", "_", "_"),
    ("{} || true", "_", "_"),
    ("{}; git status --short", "_\n M a", "_\n M a"),
    (
        "cd . && {} 2>&1 | tail -5; echo \"---\"; git log --oneline -3",
        "_\n---\n1234567 a",
        "_\n---\n1234567 a",
    ),
    (
        "{} > /tmp/run.log 2>&1; echo \"exit=$?\"",
        "exit=0",
        "exit=1",
    ),
    (
        "{} > /tmp/run.log 2>&1; rc=$?; tail -2 /tmp/run.log; echo \"rc: $rc\"",
        "x\nrc: 0",
        "x\nrc: 2",
    ),
    (
        "{} 2>&1 | tee run.log | tail -5; echo \"EXIT: ${PIPESTATUS[0]}\"",
        "_\nEXIT: 0",
        "_\nEXIT: 1",
    ),
    (
        "{} >/dev/null 2>&1 && echo GREEN || echo RED",
        "GREEN",
        "RED",
    ),
    (
        "{} 2>&1 | grep -v warn; printf '%s\\n' \"${PIPESTATUS[0]}\"",
        "_\n0",
        "_\n1",
    ),
    (
        "if {} > run.log 2>&1; then echo yes; else echo no; fi; ls",
        "yes\na",
        "no\na",
    ),
    (
        "{} > run.log 2>&1 || { echo broken; exit 1; }; echo fine; ls",
        "fine\na",
        "broken",
    ),
    (
        "set -o pipefail; {} 2>&1 | tail -3; echo status $?",
        "_\nstatus 0",
        "_\nstatus 1",
    ),
    (
        "bash -c '{} > run.log 2>&1; echo done $?'",
        "done 0",
        "done 3",
    ),
];

/// What shows nothing of how a command ended.
const BLIND: &[(&str, &str)] = &[
    ("{} > /tmp/run.log 2>&1; echo done", "done"),
    ("{} > /tmp/run.log 2>&1 || true; git status --short", " M a"),
    (
        "{} > /tmp/run.log 2>&1 | tail -3; echo \"exit=$?\"",
        "exit=0",
    ),
    ("{} > /tmp/run.log 2>&1 & echo started", "started"),
    ("{} 2>/dev/null | grep -c x; echo OK", "0\nOK"),
    ("cat old.log; {} > run.log 2>&1; git status", "GREEN\n M a"),
];

const WRAPPERS: &[&str] = &[
    "{}",
    "timeout 120 {}",
    "CI=1 {}",
    "time {}",
    "docker compose exec -T app {}",
    "mise exec -- {}",
];

fn shop() -> Workspace {
    let covered = [
        "tax.py",
        "cart.ts",
        "lib.rs",
        "pay.go",
        "tax.rb",
        "tax.php",
        "Tax.java",
        "Tax.cs",
        "Tax.swift",
        "tax.ex",
        "tax.dart",
        "tax.c",
        "tax.zig",
    ];
    let lines: Vec<String> = covered
        .iter()
        .map(|file| format!("{file} < {file}.test"))
        .collect();
    project(&lines.join("\n"))
}

/// Returns whether a turn that edits a file and runs a line is asked to verify it.
fn is_asked(shop: &Workspace, file: &str, line: &str, output: &str) -> bool {
    let mut evidence = turn(shop, &[&format!("edit {file}"), &format!("$ {line}")]);
    evidence.facts.outcomes = vec![CallOutcome {
        call: 1,
        summaries: outcome::read(&printed::without_own(line, output)),
        ends: printed::ends(line, output, Shown::Whole),
        ..CallOutcome::default()
    }];
    let findings = find(&evidence, Some(95_000), PROJECT, &policy());
    !findings.actions.is_empty()
}

#[test]
fn each_tool_behind_each_mask_is_seen_for_what_it_is() {
    let shop = shop();
    let mut wrong = Vec::new();
    let mut check = |file: &str, line: &str, output: &str, due: bool| {
        if is_asked(&shop, file, line, output) != due {
            wrong.push(format!(
                "{} {file}: {line} => {output:?}",
                if due { "missed" } else { "false" }
            ));
        }
    };
    for (number, (file, command, passed, failed)) in TOOLS.iter().enumerate() {
        for (at, (mask, good, bad)) in MASKS.iter().enumerate() {
            let wrapper = WRAPPERS[(number + at) % WRAPPERS.len()];
            let line = mask.replace("{}", &wrapper.replace("{}", command));
            check(file, &line, &good.replace('_', passed), false);
            check(file, &line, &bad.replace('_', failed), true);
        }
        for (mask, output) in BLIND {
            check(file, &mask.replace("{}", command), output, true);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of the grid:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
