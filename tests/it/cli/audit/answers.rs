//! What people see: proofs, what-if, numbers and kept work, at 80 and at 140 columns, with and without colors.

use std::path::Path;

use serde_json::json;

use super::screens::{screen, screen_by, show, without_ages};
use super::{CHECKPOINTD, Home, ask, command, home_with, lines, recorded, recording, run};
use crate::support::git::{commit_all, git};

pub(super) fn write(home: &Home, name: &str, text: &str) -> String {
    let path = home.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
    std::fs::write(&path, text).expect("writes");
    name.to_owned()
}

/// Hides what differs from run to run, at the same width.
fn hide(text: &str, secrets: &[&str]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| {
        text.replace(secret, &"#".repeat(secret.chars().count()))
    })
}

/// Cuts lines after the words that every machine says differently.
fn up_to(text: &str, begins: &[&str]) -> String {
    let cut = |line: &str| {
        begins
            .iter()
            .find(|begin| line.starts_with(**begin))
            .map_or(line.to_owned(), |begin| (*begin).to_owned())
    };
    text.split('\n').map(cut).collect::<Vec<_>>().join("\n")
}

#[test]
fn status() {
    let home = home_with(&recording().replace("2026-11-20T", "1990-11-20T"));
    // How long ago something was and how much of the disk is free may change between two looks.
    let look = |columns: &str, colors: &str| {
        without_ages(&up_to(
            &show(&home, &["status"], columns, colors),
            &["journal    47 events,", "identity"],
        ))
    };
    insta::assert_snapshot!(screen_by(&["status"], look), @"
    daemon     not running
    agents     claude 1 session, last event #####d ago; gemini 1 session, last event
               #####d ago; codex 1 session, last event #####d ago
    sessions   3 known, 0 running, 2 waiting for you
               8c4e2d10 gemini finished in ~/inventory: Round the quantities up
               3f0a6c1e claude finished in ~/inventory: Reorder points are off by o…
    hooks      2 ms until an event is safe on disk, usually
    journal    47 events,

    Last stops
    SEQ  AT                   AGENT   CHECKPOINT      WHY
    22   1990-11-20 09:01:50  claude  let through     already asked in this turn
    26   1990-11-20 09:05:08  claude  let through     the turn was short
    33   1990-11-20 09:07:30  gemini  sent, not done  work is open
    37   1990-11-20 09:07:50  gemini  let through     already asked in this turn
    45   1990-11-20 09:09:20  codex   sent            only documentation changed
    == at 140 columns
    agents     claude 1 session, last event #####d ago; gemini 1 session, last event #####d ago; codex 1 session, last event #####d ago
               3f0a6c1e claude finished in ~/inventory: Reorder points are off by one; please fix them
    SEQ  AT                   AGENT   SESSION        TURN  AFTER  PROJECT      CHECKPOINT      DELIVERY  WHY
    22   1990-11-20 09:01:50  claude  3f0a6c1e       1     35.0s  ~/inventory  let through     none      already asked in this turn
    26   1990-11-20 09:05:08  claude  3f0a6c1e       2     8.0s   ~/inventory  let through     none      the turn was short
    33   1990-11-20 09:07:30  gemini  8c4e2d10       1     49.0s  ~/inventory  sent, not done  pending   work is open
    37   1990-11-20 09:07:50  gemini  8c4e2d10       1     20.0s  ~/inventory  let through     none      already asked in this turn
    45   1990-11-20 09:09:20  codex   01a1ffea-5aaf  1     58.0s  ~/handbook   sent            pending   only documentation changed
    == colors
    ^1mLast stops^0m
    ^1mSEQ  AT                   AGENT   CHECKPOINT      WHY^0m
    22   1990-11-20 09:01:50  claude  ^2mlet through^0m     already asked in this turn
    26   1990-11-20 09:05:08  claude  ^2mlet through^0m     the turn was short
    33   1990-11-20 09:07:30  gemini  ^31msent, not done^0m  work is open
    37   1990-11-20 09:07:50  gemini  ^2mlet through^0m     already asked in this turn
    45   1990-11-20 09:09:20  codex   ^32msent^0m            only documentation changed
    ");
}

#[test]
fn verify() {
    insta::assert_snapshot!(screen(&recorded(), &["replay", "--verify"]), @r#"
    6 decisions, 0 decided the same again
    6 were decided by an earlier version of checkpointd
    == at 140 columns

    == colors
    "#);
    // Somebody changed what was decided.
    let changed = recording().replace("\"elapsed_ms\":74000", "\"elapsed_ms\":75000");
    insta::assert_snapshot!(screen(&home_with(&changed), &["replay", "--verify"]), @r#"
    6 decisions, 0 decided the same again
    6 were decided by an earlier version of checkpointd
    == at 140 columns

    == colors
    "#);
}

#[test]
fn what_if() {
    let home = recorded();
    write(&home, "new.yml", "min_turn: 60s\n");
    insta::assert_snapshot!(screen(&home, &["replay", "--policy", "new.yml"]), @"
    new.yml is a config.yml that replaces yours; projects' own files still apply

    SEQ  AT                   AGENT   WAS   NOW          WHAT IS ASKED
    13   2026-11-20 09:01:15  claude  sent  sent         + Run the tests of `stock/…
    33   2026-11-20 09:07:30  gemini  sent  let through  - Run the tests that cover…
    45   2026-11-20 09:09:20  codex   sent  let through  - (the turn was short; was…

    3 of 6 decisions would change: 0 more checkpoints, 2 fewer
    6 were decided by an earlier version of checkpointd, and may change for that
    reason alone
    == at 140 columns
    SEQ  AT                   AGENT   SESSION        WAS   NOW          WHAT IS ASKED
    13   2026-11-20 09:01:15  claude  3f0a6c1e       sent  sent         + Run the tests of `stock/reorder.py` (`pytest`): the last run of it fa…
    33   2026-11-20 09:07:30  gemini  8c4e2d10       sent  let through  - Run the tests that cover the changed Python code (`pytest`)
    45   2026-11-20 09:09:20  codex   01a1ffea-5aaf  sent  let through  - (the turn was short; was: only documentation changed)
    6 were decided by an earlier version of checkpointd, and may change for that reason alone
    == colors
    ^1mSEQ  AT                   AGENT   WAS   NOW          WHAT IS ASKED^0m
    13   2026-11-20 09:01:15  claude  ^32msent^0m  ^32msent^0m         + Run the tests of `stock/…^0m
    33   2026-11-20 09:07:30  gemini  ^32msent^0m  ^2mlet through^0m  - Run the tests that cover…^0m
    45   2026-11-20 09:09:20  codex   ^32msent^0m  ^2mlet through^0m  - (the turn was short; was…^0m
    ");
    let rule = "rules:\n  - name: stock\n    include: ['stock/**']\n    actions: [{text: Count the stock by hand, evidence: [count]}]\n";
    write(&home, "rules.yml", rule);
    insta::assert_snapshot!(screen(&home, &["replay", "--policy", "rules.yml"]), @"
    rules.yml is a file of rules; they are merged into the policy of each decision

    SEQ  AT                   AGENT   SESSION   WAS   NOW   WHAT IS ASKED
    13   2026-11-20 09:01:15  claude  3f0a6c1e  sent  sent  + Count the stock by ha…
    33   2026-11-20 09:07:30  gemini  8c4e2d10  sent  sent  + Count the stock by ha…

    2 of 6 decisions would change: 0 more checkpoints, 0 fewer
    6 were decided by an earlier version of checkpointd, and may change for that
    reason alone
    == at 140 columns
    13   2026-11-20 09:01:15  claude  3f0a6c1e  sent  sent  + Count the stock by hand (asked for by the project's .checkpointd.yml)
    33   2026-11-20 09:07:30  gemini  8c4e2d10  sent  sent  + Count the stock by hand (asked for by the project's .checkpointd.yml)
    6 were decided by an earlier version of checkpointd, and may change for that reason alone
    == colors
    ^1mSEQ  AT                   AGENT   SESSION   WAS   NOW   WHAT IS ASKED^0m
    13   2026-11-20 09:01:15  claude  3f0a6c1e  ^32msent^0m  ^32msent^0m  + Count the stock by ha…^0m
    33   2026-11-20 09:07:30  gemini  8c4e2d10  ^32msent^0m  ^32msent^0m  + Count the stock by ha…^0m
    ");
}

#[test]
fn sql() {
    let query = "select seq, tool, command, paths, is_error, duration_ms, session from tools order by seq limit 3";
    insta::assert_snapshot!(screen(&recorded(), &["journal", "sql", query]), @r#"
    seq  tool  command    paths                                     is_error  durat…
    5    Read             ["/home/ada/inventory/stock/reorder.py"]  0         50   …
    7    Edit             ["/home/ada/inventory/stock/reorder.py"]  0         120  …
    9    Bash  pytest -q  []                                        1         12500…
    == at 140 columns
    seq  tool  command    paths                                     is_error  duration_ms  session
    5    Read             ["/home/ada/inventory/stock/reorder.py"]  0         50           3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d
    7    Edit             ["/home/ada/inventory/stock/reorder.py"]  0         120          3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d
    9    Bash  pytest -q  []                                        1         12500        3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d
    == colors
    ^1mseq  tool  command    paths                                     is_error  durat…^0m
    "#);
    let schema = screen(&recorded(), &["journal", "sql", "--schema"]);
    insta::assert_snapshot!(schema.lines().take(12).collect::<Vec<_>>().join("\n"), @r#"
    events all that happened
      seq              INTEGER  place in the journal, from 1
      at               TEXT     when it happened (RFC 3339, UTC; julianday() and
                                date() read it)
      recorded_at      TEXT     when the journal recorded it
      session          TEXT     the session's id here
      native_session   TEXT     the session's id at its agent
      agent            TEXT     the agent's name, such as claude; daemon for its own
                                events
      turn             INTEGER  the session's turn, from 1; 0 before the first
                                prompt
      id               TEXT     identity
    "#);
}

#[test]
fn numbers_and_checks_of_the_journal() {
    let home = recorded();
    let stats = screen(&home, &["journal", "stats"]);
    let sizes = stats.lines().nth(1).expect("a line");
    assert!(
        sizes.contains(" store, ") && sizes.ends_with(" intake log"),
        "{sizes}"
    );
    insta::assert_snapshot!(stats.replace(sizes, "##"), @r#"
    47 events of 3 sessions
    ##

    KIND                EVENTS
    agent_stopped       6
    daemon_started      1
    decided             6
    delivery_attempted  3
    delivery_confirmed  1
    evidence_gathered   6
    policy_adopted      2
    prompt_submitted    4
    session_ended       1
    session_started     3
    tool_failed         1
    tool_finished       6
    tool_started        7
    == at 140 columns

    == colors
    ^1mKIND                EVENTS^0m
    "#);
    insta::assert_snapshot!(screen(&home, &["journal", "verify"]), @r#"
    whole: 47 events in the store, 47 in the intake log
    == at 140 columns

    == colors
    "#);
}

/// Runs a command on a terminal of its own: phase records are shown to people only there.
fn on_a_terminal(home: &Home, arguments: &[&str], columns: &str, colors: &str) -> String {
    let line: Vec<_> = [CHECKPOINTD]
        .iter()
        .chain(arguments)
        .map(|word| format!("'{word}'"))
        .collect();
    let mut terminal = home.command("script", &["-qec", &line.join(" "), "/dev/null"]);
    terminal
        .env("TZ", "UTC")
        .env("HOME", home.path())
        .env("COLUMNS", columns);
    let output = run(
        terminal.env("NO_COLOR", if colors == "1" { "" } else { "1" }),
        b"",
    );
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout)
        .expect("text")
        .replace('\r', "")
}

#[test]
fn phases() {
    let home = recorded();
    write(
        &home,
        "config.yml",
        &format!(
            "phase: {{folder: '{}'}}\n",
            home.path().join("phases").display()
        ),
    );
    let criteria = json!([{ "id": "one", "subject": "the parser reads every case that the old one did", "status": "completed" }]);
    write(&home, "criteria.json", &criteria.to_string());
    let summary = "The parser is done and reads all cases; the printer is next, and its tests are not written yet";
    let create = [
        "progress",
        "phase",
        "create",
        "--phase",
        "build",
        "--number",
        "4",
        "--summary",
        summary,
        "--criteria",
        "criteria.json",
        "--session",
        "3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d",
    ];
    let id = lines(&home, &create).remove(0)["checkpointId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let made = lines(&home, &["progress", "phase", "show", &id]).remove(0);
    let made = &made["checkpoint"]["createdAt"].as_str().expect("a time")[..19];
    let (shown_at, named_at) = (made.replace('T', " "), made.replace(':', "-"));
    let folder = home.path().display().to_string();
    let shown = |arguments: &[&str]| {
        let text = screen_by(arguments, |columns, colors| {
            on_a_terminal(&home, arguments, columns, colors)
        });
        hide(&text, &[&id, &shown_at, &named_at, &folder])
    };
    insta::assert_snapshot!(shown(&["progress", "phase", "list"]), @r#"
    ID                                    PHASE  STATE  SUMMARY
    ####################################  build  open   The parser is done and read…
    == at 140 columns
    ID                                    MADE                 PHASE  NUMBER  STATE  SESSION   SUMMARY
    ####################################  ###################  build  4       open   3f0a6c1e  The parser is done and reads all cases; the prin…
    == colors
    ^1mID                                    PHASE  STATE  SUMMARY^0m
    "#);
    insta::assert_snapshot!(shown(&["progress", "phase", "show", &id]), @r#"
    id             ####################################
    sessionId      3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d
    phase          build
    phaseNumber    4
    createdAt      ###################
    completed      false
    taskSummary    The parser is done and reads all cases; the printer is next, and
                   its tests are not written yet
    criterion      completed one the parser reads every case that the old one did
    metadata       {}
    project        /home/ada/inventory
    file           ###############/phases/ckpt-###################-build.json
    == at 140 columns
    taskSummary    The parser is done and reads all cases; the printer is next, and its tests are not written yet
    == colors
    "#);
    assert!(
        shown(&["progress", "phase", "list", "--completed"])
            .starts_with("There are no phase records.")
    );
}

/// The abbreviated commit that is checked out.
fn head_commit(folder: &Path) -> String {
    let head = std::process::Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(folder)
        .output()
        .expect("git");
    String::from_utf8(head.stdout).expect("text")[..10].to_owned()
}

/// A home with the repository `shop`, in which a session has begun.
fn home_with_shop() -> Home {
    let home = Home::new();
    write(&home, "shop/app.py", "one\n");
    let project = home.path().join("shop");
    commit_all(&project);
    let payload = json!({
        "session_id": "s", "cwd": project, "hook_event_name": "UserPromptSubmit", "prompt": "go", "prompt_id": "p",
    });
    let call = json!({ "agent": "claude", "at": "2026-11-20T09:00:00Z", "payload": payload });
    let appended = run(
        &mut command(&home, &["journal", "append"]),
        call.to_string().as_bytes(),
    );
    assert!(appended.status.success());
    home
}

const SHOW: [&str; 4] = ["progress", "show", "--project", "shop"];
const VALIDATE: [&str; 4] = ["progress", "validate", "--project", "shop"];

/// Writes a progress document of the shop by command.
fn write_progress(home: &Home) {
    write(
        home,
        "notes.md",
        "## Goal\nA parser\n\n## Must Read\n- app.py - goes on here\n",
    );
    let mut arguments = vec!["progress", "write", "--project", "shop"];
    arguments.extend(["--from", "notes.md"]);
    let (code, _, error) = ask(home, &arguments);
    assert_eq!(code, 0, "{error}");
}

#[test]
fn progress_documents_are_shown_as_they_are_at_any_width() {
    let home = home_with_shop();
    write_progress(&home);
    let document = lines(&home, &SHOW).remove(0)["markdown"]
        .as_str()
        .expect("a text")
        .to_owned();
    for (columns, colors) in [("80", "0"), ("140", "1")] {
        let mut show = command(&home, &SHOW);
        let shown = run(
            show.env("COLUMNS", columns).env("CLICOLOR_FORCE", colors),
            b"",
        )
        .stdout;
        assert_eq!(
            String::from_utf8(shown).expect("text").trim_end(),
            document.trim_end()
        );
    }
    assert!(document.contains("A parser"));
}

#[test]
fn progress_validation() {
    let home = home_with_shop();
    write_progress(&home);
    let project = home.path().join("shop");
    let first = head_commit(&project);
    insta::assert_snapshot!(hide(&screen(&home, &VALIDATE), &[&first]), @r#"
    ok    document      the file is as the journal has it
    ok    git           on branch `main`
    ok    git           last commit is ##########
    ok    git           uncommitted as then: 0 files
    ok    files         as the session left them: 0 files
    ok    sessions      no other session changed files here since
    ok    dependencies  there are no lock files
    It is valid.
    == at 140 columns

    == colors
    ^32mok  ^0m  document      the file is as the journal has it
    ^32mok  ^0m  git           on branch `main`
    ^32mok  ^0m  git           last commit is ##########
    ^32mok  ^0m  git           uncommitted as then: 0 files
    ^32mok  ^0m  files         as the session left them: 0 files
    ^32mok  ^0m  sessions      no other session changed files here since
    ^32mok  ^0m  dependencies  there are no lock files
    ^32mIt is valid.^0m
    "#);
    write(&home, "shop/app.py", "two\n");
    git(&project, &["commit", "-qam", "second"]);
    insta::assert_snapshot!(hide(&screen(&home, &VALIDATE), &[&first, &head_commit(&project)]), @"
    ok    document      the file is as the journal has it
    ok    git           on branch `main`
    FAIL  git           last commit was ########## and is ##########
          expected      last commit ##########
          repair        read `git log ##########..HEAD`
    ok    git           uncommitted as then: 0 files
    ok    files         as the session left them: 0 files
    ok    sessions      no other session changed files here since
    ok    dependencies  there are no lock files
    It is no longer valid. Fix the lines above, or write a new document:
    `checkpointd progress write`.
    == at 140 columns
    It is no longer valid. Fix the lines above, or write a new document: `checkpointd progress write`.
    == colors
    ^32mok  ^0m  document      the file is as the journal has it
    ^32mok  ^0m  git           on branch `main`
    ^31mFAIL^0m  git           last commit was ########## and is ##########
    ^32mok  ^0m  git           uncommitted as then: 0 files
    ^32mok  ^0m  files         as the session left them: 0 files
    ^32mok  ^0m  sessions      no other session changed files here since
    ^32mok  ^0m  dependencies  there are no lock files
    ^31mIt is no longer valid. Fix the lines above, or write a new document:^0m
    ^31m`checkpointd progress write`.^0m
    ");
}
