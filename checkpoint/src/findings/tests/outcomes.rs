//! How commands ended, by their output (spec EVID-17).

use journal::{CallOutcome, SummaryVerdict};
use proptest::prelude::*;

use super::*;
use crate::outcome;
use crate::policy::Outcomes;
use crate::printed;

/// Reads a turn: as in `calls`, with the output of a command after ` => `, lines apart by ` / `.
fn turn(lines: &[&str]) -> Evidence {
    let split = |line: &&str| match line.split_once(" => ") {
        Some((call, output)) => (call.to_owned(), output.replace(" / ", "\n")),
        None => ((*line).to_owned(), String::new()),
    };
    let (commands, outputs): (Vec<String>, Vec<String>) = lines.iter().map(split).unzip();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let mut evidence = evidence("src/a.py", &commands);
    evidence.facts.outcomes = outputs
        .iter()
        .enumerate()
        .map(|(call, output)| CallOutcome {
            call,
            summaries: outcome::read(output),
            ..CallOutcome::default()
        })
        .collect();
    evidence
}

/// Reads a turn whose outputs are all that its lines printed.
fn whole(lines: &[&str]) -> Evidence {
    let mut evidence = turn(lines);
    for (outcome, line) in evidence.facts.outcomes.iter_mut().zip(lines) {
        let (command, output) = line.split_once(" => ").unwrap_or((line, ""));
        if !output.is_empty() {
            let command = command.trim_start_matches(['$', '!', ' ']);
            let output = output.replace(" / ", "\n");
            outcome.ends = printed::ends(command, &output, printed::Shown::Whole);
        }
    }
    evidence
}

fn python() -> Policy {
    policy("pyproject.toml")
}

/// Says whether the tests were done, else how the best of the calls ended; and whether failures remain.
fn said(evidence: &Evidence, policy: &Policy) -> String {
    let findings = find(evidence, None, PROJECT, policy);
    let actions = findings.trace.iter().flat_map(|rule| &rule.actions);
    let tests = actions
        .filter(|action| action.purpose == "tests")
        .find(|action| action.stands);
    let how = match tests {
        None => "done".to_owned(),
        Some(tests) => {
            let best = tests.found.iter().map(|seen| seen.outcome).max();
            best.map_or("not seen".to_owned(), |best| format!("{best:?}"))
        }
    };
    let remain = findings
        .observations
        .iter()
        .any(|line| line.starts_with("Test failures remain"));
    how + if remain { ", failures remain" } else { "" }
}

/// Each turn, how the output says it ended, and how the status does.
const TURNS: &[(&[&str], &str, &str)] = &[
    // What the line hides, the output says.
    (&["$ pytest"], "done", "done"),
    (&["$ pytest => 5 passed in 1s"], "done", "done"),
    (
        &["$ pytest -q || true => 3 failed, 2 passed in 1s"],
        "Failed, failures remain",
        "done",
    ),
    (
        &["$ pytest -q | tail -3 => 3 failed in 1s"],
        "Failed, failures remain",
        "done",
    ),
    (&["$ pytest -q | tail -3 => 5 passed in 1s"], "done", "done"),
    (&["$ pytest -q | tail -1 => see the log"], "Unclear", "done"),
    (&["$ pytest -q | grep test_a"], "Unclear", "done"),
    (
        &["$ ! pytest => 3 failed in 1s"],
        "Failed, failures remain",
        "done",
    ),
    (&["$ pytest; ls => a.py"], "Unclear", "done"),
    (&["$ pytest || true"], "Unclear", "done"),
    (&["$ pytest & wait => 5 passed in 1s"], "done", "done"),
    (&["$ set -o pipefail; pytest | tail -1"], "done", "done"),
    (&["$ pytest | tee out.log"], "Unclear", "done"),
    (
        &["$ pytest -k nothing => no tests ran in 0.1s"],
        "NotRun",
        "done",
    ),
    (
        &["$ make test | tail => make: *** [Makefile:3: test] Error 1"],
        "Failed",
        "done",
    ),
    // What the line prints about it.
    (
        &["$ pytest > log 2>&1; echo \"exit=$?\" => exit=0"],
        "done",
        "done",
    ),
    (
        &["$ pytest > log 2>&1; echo \"exit=$?\" => exit=1"],
        "Failed",
        "done",
    ),
    (
        &["$ pytest -q | tail -1; echo ${PIPESTATUS[0]} => see the log / 0"],
        "done",
        "done",
    ),
    (
        &["$ pytest -q | tail -1; echo $? => see the log / 0"],
        "Unclear",
        "done",
    ),
    (
        &["$ pytest -q > log && echo GREEN; git status => GREEN / M a.py"],
        "done",
        "done",
    ),
    (
        &["$ pytest -q > log && echo GREEN; git status => M a.py"],
        "Failed",
        "done",
    ),
    (
        &["$ pytest -q > log || true; echo GREEN => GREEN"],
        "Unclear",
        "done",
    ),
    (
        &["! pytest -q > log && echo GREEN && rg x => GREEN"],
        "done, failures remain",
        "Failed, failures remain",
    ),
    // Whatever started the tests.
    (&["$ mise run t => [t] 5 passed in 1s"], "done", "not seen"),
    (
        &["$ just t || true => 1 failed in 1s"],
        "Failed, failures remain",
        "not seen",
    ),
    (&["$ git push => 5 passed in 1s"], "done", "not seen"),
    (
        &["! git push => 5 passed in 1s / error: failed to push some refs to 'x'"],
        "done",
        "not seen",
    ),
    (
        &["$ ssh ci 'cd x && ./t' => 5 passed in 1s"],
        "done",
        "not seen",
    ),
    (
        &["$ nix develop -c ./t => 5 passed in 1s"],
        "done",
        "not seen",
    ),
    (
        &["$ docker compose exec web ./t => 5 passed in 1s"],
        "done",
        "not seen",
    ),
    (
        &["$ ./t | tail -2 => Ran 3 tests in 0.1s / OK"],
        "done",
        "not seen",
    ),
    // Something must have run.
    (
        &["$ echo '5 passed in 1s' => 5 passed in 1s"],
        "not seen",
        "not seen",
    ),
    (&["$ cat old.log => 5 passed in 1s"], "not seen", "not seen"),
    (
        &["$ make build; cat old.log => 5 passed in 1s"],
        "not seen",
        "not seen",
    ),
    (&["$ git log -3 => 5 passed in 1s"], "not seen", "not seen"),
    (
        &["$ ssh ci 'tail t.log' => 5 passed in 1s"],
        "not seen",
        "not seen",
    ),
    (
        &["$ docker compose logs web => 5 passed in 1s"],
        "not seen",
        "not seen",
    ),
    (
        &["$ python -c 'print(1)' => 5 passed in 1s"],
        "not seen",
        "not seen",
    ),
    // The tests of another language are about other code.
    (&["$ mise run t => ok x/y 0.1s"], "not seen", "not seen"),
    // An output that is read later belongs to the call that wrote it.
    (
        &["$ ./t > out.log; tail -3 out.log => 5 passed in 1s"],
        "done",
        "not seen",
    ),
    (
        &["$ ./t > out.log", "$ tail -3 out.log => 5 passed in 1s"],
        "done",
        "not seen",
    ),
    (
        &["$ ./t > out.log", "$ tail -3 out.log => 1 failed in 1s"],
        "Failed, failures remain",
        "not seen",
    ),
    (
        &[
            "$ ./t > out.log",
            "edit src/a.py",
            "$ tail -3 out.log => 5 passed in 1s",
        ],
        "BeforeEdit",
        "not seen",
    ),
    // Of a line that failed, another command may have.
    (
        &["! pytest && npm run deploy => 5 passed in 1s"],
        "done",
        "Failed, failures remain",
    ),
    (
        &["! pytest => 5 passed in 1s"],
        "Failed",
        "Failed, failures remain",
    ),
    (
        &["! pytest && npm run deploy"],
        "Failed, failures remain",
        "Failed, failures remain",
    ),
    // A later run settles it, whatever started it.
    (
        &[
            "$ pytest | tail => 1 failed in 1s",
            "edit src/a.py",
            "$ mise run t => 5 passed in 1s",
        ],
        "done",
        "BeforeEdit",
    ),
    (
        &["$ mise run t => 5 passed in 1s", "edit src/a.py"],
        "BeforeEdit",
        "not seen",
    ),
];

#[test]
fn outputs_say_how_tests_ended() {
    let by_status = Policy {
        verify: crate::policy::Verify {
            outcomes: Outcomes::Status,
            ..python().verify
        },
        ..python()
    };
    let mut wrong = Vec::new();
    for (lines, by_output, status) in TURNS {
        let evidence = whole(lines);
        let seen = (said(&evidence, &python()), said(&evidence, &by_status));
        if seen != ((*by_output).to_owned(), (*status).to_owned()) {
            wrong.push(format!(
                "{lines:?}\n  {seen:?} instead of {by_output:?}, {status:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_in_the_background_counts_when_its_end_was_seen() {
    use SummaryVerdict::{Failed, Passed};
    for (command, output, ended, expected) in [
        ("$ pytest", "", None, "NotRun"),
        ("$ pytest", "", Some(Passed), "done"),
        ("$ pytest", "", Some(Failed), "Failed"),
        ("$ pytest | tail", "", Some(Passed), "Unclear"),
        ("$ pytest | tail", "5 passed in 1s", Some(Passed), "done"),
        (
            "$ pytest",
            "3 failed in 1s",
            Some(Passed),
            "Failed, failures remain",
        ),
        (
            "$ pytest",
            "3 failed in 1s",
            None,
            "Failed, failures remain",
        ),
        ("$ ./t", "5 passed in 1s", None, "done"),
    ] {
        let mut evidence = turn(&[&format!("{command} => {output}")]);
        evidence.timeline.calls[0].finished = false;
        evidence.facts.outcomes[0].ended = ended;
        assert_eq!(
            said(&evidence, &python()),
            expected,
            "{command} {output} {ended:?}"
        );
    }
}

/// Ways to run a command line `{}` that hide how it ended, or that put something around it.
const AROUND: [&str; 16] = [
    "{}",
    "{} || true",
    "{} | tail -20",
    "{} 2>&1 | tee out.txt | tail -5",
    "{}; echo done",
    "{}; true",
    "! {}",
    "{} & wait",
    "cd sub && {}",
    "bash -c '{}'",
    "timeout 60 {}",
    "ssh ci '{}'",
    "nix develop -c {}",
    "docker compose exec web {}",
    "mise exec -- {} | cat",
    "if {}; then echo yes; fi",
];
const RUNS: [&str; 5] = [
    "pytest -q",
    "mise run t",
    "make check",
    "./run-tests",
    "tox -q",
];
const PASSES: [&str; 4] = [
    "5 passed in 1s",
    "Ran 5 tests in 1s / OK",
    "12 passed, 0 failed",
    "5/5 tests passed",
];
const FAILS: [&str; 4] = [
    "1 failed, 4 passed in 1s",
    "Ran 5 tests in 1s / FAILED (errors=1)",
    "11 passed, 1 failed",
    "Tests failed.",
];
/// Calls that have nothing to do with the tests.
const OTHERS: [&str; 8] = [
    "$ ls",
    "$ git status --short => M src/a.py",
    "$ git diff => +5 passed in 1s",
    "$ cat notes.txt => 5 passed in 1s / 1 failed in 1s",
    "$ echo '1 failed in 1s' => 1 failed in 1s",
    "read src/b.py",
    "$ npm run build => ✓ built in 624ms",
    "$ cargo test => test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn masks_wrappers_and_other_calls_change_no_verdict(
        around in proptest::sample::select(&AROUND),
        run in proptest::sample::select(&RUNS),
        (output, passes) in prop_oneof![
            proptest::sample::select(&PASSES).prop_map(|output| (output, true)),
            proptest::sample::select(&FAILS).prop_map(|output| (output, false)),
        ],
        others in proptest::sample::subsequence(&OTHERS, 0..=7).prop_shuffle(),
        at in any::<proptest::sample::Index>(),
    ) {
        let call = format!("$ {} => {output}", around.replace("{}", run));
        let mut lines = others;
        let place = at.index(lines.len() + 1);
        lines.insert(place, &call);
        let seen = said(&turn(&lines), &python());
        prop_assert_eq!(seen.starts_with("done"), passes, "{} {:?}", seen, lines);
    }
}
