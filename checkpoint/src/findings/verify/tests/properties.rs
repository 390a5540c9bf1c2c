//! What must not change a verdict, and what must: masks, wrappers, and calls that have nothing to do with it.

use journal::CallOutcome;
use proptest::prelude::*;

use super::*;
use crate::outcome;

/// A changed file, a command that verifies it, and what that prints when all is well and when it is not.
const RUNS: [(&str, &str, &str, &str); 7] = [
    (
        "tax.py",
        "pytest -q",
        "5 passed in 0.12s",
        "1 failed, 4 passed in 0.12s",
    ),
    (
        "cart.ts",
        "npx vitest run",
        " Tests  5 passed (5)",
        " Tests  1 failed | 4 passed (5)",
    ),
    (
        "cart.ts",
        "npm run verify",
        " Tests  5 passed (5)",
        " Tests  1 failed | 4 passed (5)",
    ),
    (
        "lib.rs",
        "cargo test",
        "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        "test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
    ),
    (
        "pay.go",
        "go test ./...",
        "ok  \texample.org/pay\t0.012s",
        "FAIL\texample.org/pay\t0.012s",
    ),
    (
        "pay.go",
        "make ci",
        "ok  \texample.org/pay\t0.012s",
        "FAIL\texample.org/pay\t0.012s",
    ),
    (
        "tax.py",
        "just t",
        "5 passed in 0.12s",
        "1 failed, 4 passed in 0.12s",
    ),
];

/// Lines that hide how their command ended.
const MASKS: [&str; 9] = [
    "{} || true",
    "{}; true",
    "{} | tail -3",
    "! {}",
    "{} &",
    "{} || echo failed",
    "({}) || :",
    "{} 2>&1 | cat",
    "{}; echo done",
];

/// Lines that run their command as it is.
const WRAPPERS: [&str; 18] = [
    "timeout 60 {}",
    "env CI=1 {}",
    "CI=1 {}",
    "time {}",
    "nohup {}",
    "nice -n 5 {}",
    "stdbuf -oL {}",
    "sudo -u me {}",
    "rtk {}",
    "mise exec -- {}",
    "direnv exec . {}",
    "nix develop -c {}",
    "docker compose exec web {}",
    "docker exec -it app {}",
    "docker run --rm -v .:/w -w /w image {}",
    "kubectl exec pod -- {}",
    "bash -c \"{}\"",
    "set -e; {}",
];

/// Calls that neither change nor verify anything.
const OTHERS: [&str; 12] = [
    "$ ls -la",
    "$ git status --short",
    "$ git diff --stat",
    "$ cat README.md",
    "$ sed -n 1,20p notes.txt",
    "! grep -rn x src",
    "$ echo done",
    "$ cargo --version",
    "$ pytest --collect-only -q",
    "$ npm run lint",
    "$ docker ps",
    "tool mcp__search__find",
];

fn shop() -> Workspace {
    project(
        ". npm verify: npm run lint && npm run unit
         . npm lint: eslint .
         . npm unit: vitest run
         . make ci: go vet ./... ;; go test ./...
         . just t: pytest -q
         cart.ts < cart.test.ts
         pay.go < pay_test.go
         lib.rs < lib.rs
         tax.py < test_tax.py",
    )
}

/// Returns what is asked for; `-` if nothing is. Calls have the outputs that are given for them.
fn verdict(lines: &[String], outputs: &[(usize, &str)]) -> String {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let shop = shop();
    let mut evidence = turn(&shop, &lines);
    evidence.facts.outcomes = outputs
        .iter()
        .map(|(call, output)| CallOutcome {
            call: *call,
            summaries: outcome::read(output),
            ..CallOutcome::default()
        })
        .collect();
    let findings = find(&evidence, Some(95_000), PROJECT, &policy());
    let texts: Vec<&str> = findings
        .actions
        .iter()
        .map(|action| action.text.as_str())
        .collect();
    if texts.is_empty() {
        "-".into()
    } else {
        texts.join(" | ")
    }
}

fn wrapped(command: &str, by: &[&str]) -> String {
    // A script in double quotes can hold no other one.
    let is_script = |form: &str| form.contains('"');
    let mut line = command.to_owned();
    for form in by {
        let is_unfit =
            line.contains(';') || line.starts_with("CI=") || is_script(form) && line.contains('"');
        if !is_unfit {
            line = form.replace("{}", &line);
        }
    }
    line
}

fn run() -> impl Strategy<Value = (&'static str, &'static str, &'static str, &'static str)> {
    proptest::sample::select(RUNS.to_vec())
}

fn wrappers() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(WRAPPERS.to_vec()), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn wrappers_change_no_verdict((file, command, passed, failed) in run(), by in wrappers()) {
        let line = wrapped(command, &by);
        let edit = format!("edit {file}");
        let ran = [edit.clone(), format!("$ {line}")];
        prop_assert_eq!(verdict(&ran, &[]), "-", "{}", line);
        prop_assert_eq!(verdict(&ran, &[(1, passed)]), "-", "{}", line);
        let due = verdict(std::slice::from_ref(&edit), &[]);
        prop_assert_ne!(&due, "-");
        prop_assert_eq!(verdict(&[edit.clone(), format!("! {line}")], &[]), due.clone(), "{}", line);
        prop_assert_eq!(verdict(&ran, &[(1, failed)]), due.clone(), "{}", line);
        // Before the edit it tested something else.
        prop_assert_eq!(verdict(&[format!("$ {line}"), edit], &[(0, passed)]), due, "{}", line);
    }

    #[test]
    fn a_masked_run_is_what_its_output_says(
        (file, command, passed, failed) in run(),
        by in wrappers(),
        mask in proptest::sample::select(MASKS.to_vec()),
    ) {
        let inner = wrapped(command, &by);
        // `set -e` ends the line before the mask.
        prop_assume!(!inner.starts_with("set -e"));
        let line = mask.replace("{}", &inner);
        let ran = [format!("edit {file}"), format!("$ {line}")];
        let due = verdict(&ran[..1], &[]);
        prop_assert_eq!(verdict(&ran, &[]), due.clone(), "{}", line);
        prop_assert_eq!(verdict(&ran, &[(1, failed)]), due, "{}", line);
        prop_assert_eq!(verdict(&ran, &[(1, passed)]), "-", "{}", line);
    }

    #[test]
    fn another_machine_is_believed_like_this_one((file, command, passed, failed) in run()) {
        let ran = [format!("edit {file}"), format!("$ ssh ci 'cd shop && {command}'")];
        let due = verdict(&ran[..1], &[]);
        prop_assert_eq!(verdict(&ran, &[]), "-");
        prop_assert_eq!(verdict(&ran, &[(1, failed)]), due.clone());
        prop_assert_eq!(verdict(&ran, &[(1, passed)]), "-");
        let fails = [ran[0].clone(), ran[1].replacen('$', "!", 1)];
        prop_assert_eq!(verdict(&fails, &[]), due.clone());
        // There, too, a line hides how its commands ended.
        let hides = [ran[0].clone(), ran[1].replace('\'', "").replacen("cd shop", "'cd shop", 1) + "; true'"];
        prop_assert_eq!(verdict(&hides, &[]), due.clone(), "{}", hides[1]);
        let away = [ran[0].clone(), format!("$ ssh ci '{command}' | head -1")];
        prop_assert_eq!(verdict(&away, &[]), due);
    }

    #[test]
    fn calls_that_verify_nothing_change_no_verdict(
        (file, command, _, _) in run(),
        others in proptest::sample::subsequence(OTHERS.to_vec(), 0..=OTHERS.len()).prop_shuffle(),
        places in proptest::collection::vec(0..3usize, OTHERS.len()),
        has_run in any::<bool>(),
    ) {
        let mut own = vec![format!("edit {file}")];
        own.extend(has_run.then(|| format!("$ {command}")));
        let alone = verdict(&own, &[]);
        let mut parts: [Vec<String>; 3] = Default::default();
        for (other, place) in others.iter().zip(places) {
            parts[place].push((*other).to_owned());
        }
        let [before, between, after] = parts;
        let mut lines = before;
        lines.extend(own.drain(..1));
        lines.extend(between);
        lines.extend(own);
        lines.extend(after);
        prop_assert_eq!(verdict(&lines, &[]), alone, "{:?}", lines);
    }

    #[test]
    fn independent_calls_may_come_in_any_order(
        runs in proptest::sample::subsequence(RUNS.to_vec(), 1..=RUNS.len()),
        seed in proptest::collection::vec(any::<u32>(), RUNS.len()),
    ) {
        let edits: Vec<String> = runs.iter().map(|(file, ..)| format!("edit {file}")).collect();
        let calls: Vec<String> = runs.iter().map(|(_, command, ..)| format!("$ {command}")).collect();
        let mut keyed: Vec<(u32, String)> = seed.iter().copied().zip(calls).collect();
        keyed.sort_by_key(|(key, _)| *key);
        let mut lines = edits;
        lines.extend(keyed.into_iter().map(|(_, line)| line));
        prop_assert_eq!(verdict(&lines, &[]), "-", "{:?}", lines);
    }
}
