//! What people read: each kind of message, the lists, and the explanation, of turns that were really played.

use std::fmt::Write as _;
use std::path::PathBuf;

use regex::Regex;
use serde_json::{Value, json};
use testkit::git::commit_all;

use super::turns::Scene;
use crate::support::run;

/// The most words of a message of which half of the kinds must have no more (spec MSG-4).
const MEDIAN_WORDS_MAX: usize = 60;

const SESSIONS: [&str; 8] = [
    "a0000000-0000-4000-8000-000000000001",
    "a0000000-0000-4000-8000-000000000002",
    "b0000000-0000-4000-8000-000000000003",
    "c0000000-0000-4000-8000-000000000004",
    "d0000000-0000-4000-8000-000000000005",
    "e0000000-0000-4000-8000-000000000006",
    "f0000000-0000-4000-8000-000000000007",
    "f1000000-0000-4000-8000-000000000008",
];

/// Returns what a command prints on a terminal of 80 columns.
fn say(scene: &Scene, arguments: &[&str]) -> String {
    let mut command = scene
        .daemon
        .home
        .command(env!("CARGO_BIN_EXE_checkpointd"), arguments);
    let output = run(
        command.env("COLUMNS", "80").current_dir(&scene.project),
        b"",
    );
    [output.stdout, output.stderr]
        .map(|text| String::from_utf8(text).expect("text"))
        .concat()
}

/// Stops, and returns the message that the agent gets.
fn told(scene: &Scene, turn: &str) -> String {
    // Two calls that are the same are one.
    let number = scene.daemon.ask(&["audit", "--json"]).len();
    let said = format!("Finished {number}.");
    let stop = json!({ "stop_hook_active": false, "last_assistant_message": said });
    let reply = scene.call("Stop", turn, &scene.project, stop);
    let reply: Value = serde_json::from_str(&reply).unwrap_or_default();
    let context = reply.pointer("/hookSpecificOutput/additionalContext");
    let message = context
        .or_else(|| reply.get("reason"))
        .and_then(Value::as_str);
    message.unwrap_or_default().to_owned()
}

fn write(scene: &Scene, name: &str, text: &str) -> PathBuf {
    let file = scene.project.join(name);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    scene.write("one", &file, text);
    file
}

fn bash(scene: &Scene, command: &str, said: &str) {
    let ran = json!({ "stdout": said, "stderr": "", "interrupted": false });
    scene.tool_with("one", "Bash", json!({ "command": command }), ran, || ());
}

fn begin(scene: &Scene, session: &'static str) {
    std::fs::write(scene.project.join("notes.txt"), session).expect("writes");
    commit_all(&scene.project);
    scene.session.set(session);
    scene.prompt("one", true);
}

fn of_tests(scene: &Scene) {
    write(scene, "src/cart.py", "total = 1\n");
}

fn of_a_failure(scene: &Scene) {
    write(scene, "src/tax.py", "rate = 2\n");
    let mut call = json!({ "tool_name": "Bash", "tool_input": { "command": "pytest -q" }, "tool_use_id": "failing" });
    scene.call("PreToolUse", "one", &scene.project, call.clone());
    call["error"] = "Exit code 1\nE   assert 3 == 4\nFAILED tests/test_tax.py::test_rate - assert 3 == 4\n1 failed in 0.10s".into();
    scene.call("PostToolUseFailure", "one", &scene.project, call);
}

fn of_dependencies(scene: &Scene) {
    write(scene, "requirements.txt", "requests==2.31\n");
}

fn of_an_image(scene: &Scene) {
    write(scene, "Dockerfile", "FROM python:3.12\n");
}

fn of_many_files(scene: &Scene) {
    let session = scene.session.get();
    for number in 0..12 {
        write(
            scene,
            &format!("src/part{number}.py"),
            &format!("part = '{session}'\n"),
        );
    }
}

fn of_all(scene: &Scene) {
    of_many_files(scene);
    write(scene, "Dockerfile", "FROM python:3.13\n");
    write(scene, "requirements.txt", "requests==2.32\n");
}

fn of_a_rule(scene: &Scene) {
    write(
        scene,
        "schema/orders.sql",
        "create table orders (id int);\n",
    );
}

/// The part of a turn that is of one kind.
type Play = fn(&Scene);

/// The kinds of messages, by what the turn did.
const KINDS: [(&str, Play); 7] = [
    ("tests not run", of_tests),
    ("tests failed", of_a_failure),
    ("dependencies", of_dependencies),
    ("an image", of_an_image),
    ("many files", of_many_files),
    ("several demands", of_all),
    ("a rule of the user's own", of_a_rule),
];

const RULE: &str = "rules: [{name: schema, include: ['schema/**'], actions: [{text: 'Check the migration (`make schema-check`)', \
                    evidence: [make schema-check]}]}]\n";

#[test]
fn a_message_of_each_kind_is_short_and_names_what_it_is_about() {
    let scene = Scene::new(RULE);
    let mut page = String::new();
    let mut lengths = Vec::new();
    for ((kind, play), session) in KINDS.into_iter().zip(SESSIONS) {
        begin(&scene, session);
        play(&scene);
        let message = told(&scene, "one");
        let words = message.split_whitespace().count();
        assert!(words > 0, "{kind}: no message");
        lengths.push(words);
        let _ = write!(page, "== {kind}, {words} words\n{message}\n\n");
        for word in ["Capture", "housekeeping", "silently", "touch "] {
            assert!(!message.contains(word), "{kind}: {message}");
        }
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= MEDIAN_WORDS_MAX, "{median} words: {page}");
    insta::assert_snapshot!(page, @"
    == tests not run, 43 words
    [checkpointd] Not verified yet

    Run the tests of `src/cart.py` (`pytest`): nothing that could show a mistake ran after the last change.

    Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

    == tests failed, 45 words
    [checkpointd] Not verified yet

    Run the tests of `src/tax.py` (`pytest`): the last run of it failed (`FAILED tests/test_tax.py::test_rate - assert 3 == 4`).

    Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

    == dependencies, 33 words
    [checkpointd] Not verified yet

    Install updated dependencies (`pip install -e .`).

    Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

    == an image, 33 words
    [checkpointd] Not verified yet

    Build the changed container image (`docker build`).

    Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

    == many files, 50 words
    [checkpointd] Not verified yet

    Run the tests of `src/part0.py`, `src/part1.py`, `src/part10.py`, `src/part11.py`, `src/part2.py` and 7 more (`pytest`): nothing that could show a mistake ran after the last change.

    Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

    == several demands, 67 words
    [checkpointd] Not verified yet

    1. Install updated dependencies (`pip install -e .`)
    2. Build the changed container image (`docker build`)
    3. Run the tests of `src/part0.py`, `src/part1.py`, `src/part10.py`, `src/part11.py`, `src/part2.py` and 7 more (`pytest`): nothing that could show a mistake ran after the last change

    Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

    == a rule of the user's own, 31 words
    [checkpointd] Not verified yet

    Check the migration (`make schema-check`).

    Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.
    ");
}

#[test]
fn lists_keep_their_columns_whatever_is_open() {
    let scene = Scene::new("");
    begin(&scene, SESSIONS[0]);
    of_all(&scene);
    told(&scene, "one");
    for list in ["open", "sessions"] {
        let said = say(&scene, &[list]);
        let row = said
            .lines()
            .find(|line| line.starts_with("a0000000"))
            .expect("a row");
        assert!(row.contains("2 more") && row.contains("go on"), "{said}");
    }
    let status = say(&scene, &["status"]);
    assert!(
        status.contains("1 session left something unverified: `checkpointd open`")
            && status.contains("\n           a0000000 claude Install updated dependencies"),
        "{status}"
    );
}

#[test]
fn an_explanation_says_why_in_the_table_s_words_and_by_which_call_it_was_done() {
    let scene = Scene::new("");
    begin(&scene, SESSIONS[0]);
    of_many_files(&scene);
    told(&scene, "one");
    let said = say(&scene, &["explain"]);
    let whys: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("why"))
        .collect();
    assert_eq!(whys.len(), 1, "one reason, one line: {said}");
    assert!(whys[0].starts_with("why     nothing ran: "), "{said}");
    assert!(said.contains("and 9 more)"), "{said}");

    bash(&scene, "pytest -q", "12 passed in 0.10s\n");
    told(&scene, "one");
    let said = say(&scene, &["explain"]);
    let done = said
        .lines()
        .find(|line| line.starts_with("then"))
        .expect("a line");
    assert!(
        done.starts_with("then    done: ") && said.contains("`pytest -q`"),
        "{said}"
    );

    // What is named as the way to change a decision would change it.
    begin(&scene, SESSIONS[1]);
    write(&scene, "README.md", "# Cart\n");
    assert_eq!(told(&scene, "one"), "");
    let said = say(&scene, &["explain", SESSIONS[1]]);
    assert!(
        said.contains("`checkpointd config set docs_only message`"),
        "{said}"
    );

    // Ids that begin alike are named in full, so that one can be chosen.
    let said = say(&scene, &["mute", "a0000000"]);
    for session in &SESSIONS[..2] {
        assert!(said.contains(&format!("`{session}`")), "{said}");
    }
}

/// Whatever there is one of has no plural.
#[test]
fn one_of_something_is_said_in_the_singular() {
    let scene = Scene::new("");
    begin(&scene, SESSIONS[0]);
    of_tests(&scene);
    told(&scene, "one");
    let plural = Regex::new(r"\b1 (?:more )?(\w+s)\b(?: of)?").expect("a pattern");
    for arguments in [
        &["status"][..],
        &["sessions"],
        &["open"],
        &["audit"],
        &["stats"],
        &["explain", "-v"],
        &["timeline"],
        &["journal", "stats"],
        &["journal", "verify"],
        &["replay", "--verify"],
        &["rules", "preview"],
        &["progress", "show"],
        &["doctor"],
        &["lookback"],
    ] {
        let said = say(&scene, arguments);
        let wrong = plural.captures_iter(&said).map(|found| found[1].to_owned());
        // "1 needs you" and the like are no plurals, nor are units.
        let wrong: Vec<String> = wrong
            .filter(|word| !["needs", "waits", "this", "is", "was", "ms"].contains(&word.as_str()))
            .collect();
        assert!(wrong.is_empty(), "{arguments:?}: {wrong:?} in {said}");
    }
}
