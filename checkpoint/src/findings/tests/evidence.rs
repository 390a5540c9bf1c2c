//! What counts as having done an action (spec EVID-6).

use super::*;
use crate::policy::EvidenceRule;

#[test]
fn the_daemon_is_restarted_and_tested() {
    let policy = teleclaude();
    let table: [(&str, &[&str]); 5] = [
        (
            "teleclaude/a.py",
            &[
                "$ make restart",
                "$ make status",
                "$ pytest -q",
                "$ instrukt-ai-logs teleclaude --since 2m",
            ],
        ),
        ("teleclaude/a.py", &["$ make restart"]),
        ("teleclaude/a.py", &["$ make status", "$ make restart"]),
        ("teleclaude/a.py", &["! make restart"]),
        (
            "teleclaude/a.py",
            &[
                "$ make restart && make status",
                "$ make test | tail -3",
                "$ instrukt-ai-logs x | tail",
            ],
        ),
    ];
    let table = table.map(|(changed, lines)| {
        format!(
            "{changed} after {lines:?}\n{}",
            show(&found(changed, lines, &policy))
        )
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    teleclaude/a.py after ["$ make restart", "$ make status", "$ pytest -q", "$ instrukt-ai-logs teleclaude --since 2m"]
    [daemon code]
      = all clear
    teleclaude/a.py after ["$ make restart"]
    [daemon code]
      Runtime: Run `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
      - Daemon code was modified but `make status` after the restart was not observed this turn
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn
    teleclaude/a.py after ["$ make status", "$ make restart"]
    [daemon code]
      Runtime: Run `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
      - Daemon code was modified but `make status` after the restart was not observed this turn
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn
    teleclaude/a.py after ["! make restart"]
    [daemon code]
      Runtime: Run `make restart` then `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
      - Daemon code was modified but `make restart` was not observed to succeed this turn
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn
      - A command returned errors — verify the issue is resolved
    teleclaude/a.py after ["$ make restart && make status", "$ make test | tail -3", "$ instrukt-ai-logs x | tail"]
    [daemon code]
      = all clear
    "#);
}

#[test]
fn every_other_row_is_suppressed_by_its_evidence() {
    let policy = teleclaude();
    let table: [(&str, &[&str]); 7] = [
        (
            "teleclaude/cli/tui/a.py",
            &["$ pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'"],
        ),
        ("teleclaude/cli/tui/a.py", &["$ kill -USR2 4711"]),
        ("agents/a.md", &["$ telec agent-restart"]),
        (
            "agents/a.md",
            &["$ curl -X POST http://localhost/sessions/1/agent-restart"],
        ),
        (".gitattributes", &["$ telec init"]),
        ("config.yml", &["$ make restart", "$ make status"]),
        ("pyproject.toml", &["$ pip install -e ."]),
    ];
    let table = table.map(|(changed, lines)| {
        format!(
            "{changed} after {lines:?}\n{}",
            show(&found(changed, lines, &policy))
        )
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    teleclaude/cli/tui/a.py after ["$ pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'"]
    [TUI code]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (TUI code)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - TUI code was modified but a test run (`pytest` or `make test`) was not observed this turn
    teleclaude/cli/tui/a.py after ["$ kill -USR2 4711"]
    [TUI code]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (TUI code)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - TUI code was modified but a test run (`pytest` or `make test`) was not observed this turn
    agents/a.md after ["$ telec agent-restart"]
    [agent artifacts]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
    agents/a.md after ["$ curl -X POST http://localhost/sessions/1/agent-restart"]
    [agent artifacts]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
    .gitattributes after ["$ telec init"]
    [telec setup]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
    config.yml after ["$ make restart", "$ make status"]
    [config]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
    pyproject.toml after ["$ pip install -e ."]
    [dependencies]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
    "#);
}

#[test]
fn a_command_counts_only_after_the_last_edit() {
    let policy = policy("Cargo.toml");
    let table: [&[&str]; 6] = [
        &["read src/a.rs", "edit src/a.rs", "$ cargo test"],
        &[
            "$ cargo test",
            "read src/a.rs",
            "edit /home/me/app/src/a.rs",
        ],
        &["$ cargo test", "$ echo fn > src/a.rs"],
        &["$ echo fn > src/a.rs && cargo test src/a.rs"],
        &["$ cargo test && echo fn > src/a.rs"],
        &["$ cargo test", "write README.md"],
    ];
    let table = table.map(|lines| {
        format!(
            "{lines:?}\n{}",
            show(&found("src/a.rs README.md", lines, &policy))
        )
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    ["read src/a.rs", "edit src/a.rs", "$ cargo test"]
    [Rust code]
      = all clear
    ["$ cargo test", "read src/a.rs", "edit /home/me/app/src/a.rs"]
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed this turn after the last edit
    ["$ cargo test", "$ echo fn > src/a.rs"]
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed this turn after the last edit
    ["$ echo fn > src/a.rs && cargo test src/a.rs"]
    [Rust code]
      = all clear
    ["$ cargo test && echo fn > src/a.rs"]
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed this turn after the last edit
    ["$ cargo test", "write README.md"]
    [Rust code]
      = all clear
    "#);
}

#[test]
fn a_command_counts_only_when_it_ran() {
    let policy = policy("Cargo.toml");
    let table: [&[&str]; 8] = [
        &["$ echo cargo test"],
        &["$ cargo test --help"],
        &["$ true || cargo test"],
        &["! cargo test -> 1 failed"],
        &["! cargo test -> 1 failed", "$ cargo test"],
        &["$ cargo nextest run"],
        &["$ make test"],
        &[],
    ];
    let table = table.map(|lines| {
        format!(
            "{lines:?}\n{}",
            show(&found("src/a.rs README.md", lines, &policy))
        )
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    ["$ echo cargo test"]
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed this turn
    ["$ cargo test --help"]
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed this turn
    ["$ true || cargo test"]
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed this turn
    ["! cargo test -> 1 failed"]
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed to succeed this turn
      - Test failures remain — re-run tests after fixes
    ["! cargo test -> 1 failed", "$ cargo test"]
    [Rust code]
      = all clear
    ["$ cargo nextest run"]
    [Rust code]
      = all clear
    ["$ make test"]
    [Rust code]
      = all clear
    []
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      - Rust code was modified but a test run (`cargo test`) was not observed this turn
    "#);
}

#[test]
fn refused_and_unfinished_calls_show_nothing() {
    for change in [
        |call: &mut ToolCall| call.refused = true,
        |call: &mut ToolCall| call.finished = false,
    ] {
        let mut evidence = evidence("src/a.rs", &["$ cargo test"]);
        change(&mut evidence.timeline.calls[0]);
        assert_eq!(
            find(&evidence, None, PROJECT, &policy("Cargo.toml"))
                .actions
                .len(),
            1
        );
    }
}

#[test]
fn in_substring_mode_a_mention_counts() {
    let policy = Policy {
        evidence: EvidenceRule::Substring,
        ..teleclaude()
    };
    let table: [&[&str]; 5] = [
        &[
            "$ echo make restart; echo make status",
            "! pytest",
            "$ echo instrukt-ai-logs",
            "write teleclaude/a.py",
        ],
        &["! make restart", "$ make status"],
        &["$ make restart", "! make status"],
        &["$ make status && make restart"],
        &["$ run-pytest-later"],
    ];
    let table = table.map(|lines| {
        format!(
            "{lines:?}\n{}",
            show(&found("teleclaude/a.py", lines, &policy))
        )
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    ["$ echo make restart; echo make status", "! pytest", "$ echo instrukt-ai-logs", "write teleclaude/a.py"]
    [daemon code]
      - Test failures remain — re-run tests after fixes
    ["! make restart", "$ make status"]
    [daemon code]
      Runtime: Run `make restart` then `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
      - Daemon code was modified but `make restart` was not observed to succeed this turn
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn
      - A command returned errors — verify the issue is resolved
    ["$ make restart", "! make status"]
    [daemon code]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn
      - A command returned errors — verify the issue is resolved
    ["$ make status && make restart"]
    [daemon code]
      Runtime: Run `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
      - Daemon code was modified but `make status` after the restart was not observed this turn
      - The turn ends but `instrukt-ai-logs` was not observed this turn
      - Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn
    ["$ run-pytest-later"]
    [daemon code]
      Runtime: Run `make restart` then `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      - Daemon code was modified but `make restart` was not observed this turn
      - The turn ends but `instrukt-ai-logs` was not observed this turn
    "#);
}
