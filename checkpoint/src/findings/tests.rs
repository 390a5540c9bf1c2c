//! Every row of the tables of 002 R2, R4, R5, R6 and R7, and the success criteria that are about findings.

use journal::{ChangedFile, Changes, Evidence, Timeline, TimelineSource, ToolCall, ToolKind};
use proptest::prelude::*;

use super::*;
use crate::config::Config;
use crate::message::compose;
use crate::policy::EvidenceRule;
use crate::rules::ProjectFacts;

const PROJECT: &str = "/home/me/app";

fn policy(top: &str) -> Policy {
    let files = top.split_whitespace().map(String::from).collect();
    Config::default().policy_for(&ProjectFacts { path: PROJECT.into(), files }, None).unwrap()
}

fn teleclaude() -> Policy {
    policy("teleclaude/ pyproject.toml tests/")
}

/// Reads a turn: `$ command`, `! command -> output` for a failed one, `read PATH`, `edit PATH`, `write PATH`.
fn calls(lines: &[&str]) -> Vec<ToolCall> {
    let call = |line: &&str| {
        let (word, rest) = line.split_once(' ').unwrap();
        let (rest, output) = rest.split_once(" -> ").unwrap_or((rest, ""));
        let (tool, kind) = match word {
            "$" | "!" => ("Bash", ToolKind::Shell),
            "read" | "!read" => ("Read", ToolKind::Read),
            "edit" | "!edit" => ("Edit", ToolKind::Edit),
            "write" => ("Write", ToolKind::Write),
            other => panic!("{other}"),
        };
        let is_shell = kind == ToolKind::Shell;
        ToolCall {
            tool: tool.into(),
            kind,
            command: is_shell.then(|| rest.to_owned()),
            paths: if is_shell { Vec::new() } else { vec![rest.to_owned()] },
            is_error: word.starts_with('!'),
            finished: true,
            output: output.to_owned(),
            ..ToolCall::default()
        }
    };
    lines.iter().map(call).collect()
}

fn evidence(changed: &str, lines: &[&str]) -> Evidence {
    let mut files: Vec<_> =
        changed.split_whitespace().map(|path| ChangedFile { path: path.into(), hash: Some(1) }).collect();
    files.sort();
    Evidence {
        changes: Changes::Known(files),
        timeline: Timeline { source: TimelineSource::Transcript, calls: calls(lines) },
        ..Evidence::default()
    }
}

fn found(changed: &str, lines: &[&str], policy: &Policy) -> Findings {
    find(&evidence(changed, lines), Some(95_000), PROJECT, policy)
}

/// Shows what is asked for and noticed.
fn show(findings: &Findings) -> String {
    let mut lines = vec![format!("[{}]", findings.categories.join(", "))];
    lines.extend(
        findings.actions.iter().map(|action| format!("  {:?}: {} ({})", action.step, action.text, action.category)),
    );
    lines.extend(findings.observations.iter().map(|line| format!("  - {line}")));
    let flags = [(findings.all_clear, "all clear"), (findings.docs_only, "docs only"), (findings.generic, "generic")];
    lines.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| format!("  = {word}")));
    lines.join("\n")
}

/// Without a timeline: what the changed files alone ask for.
fn asked(changed: &str, policy: &Policy) -> String {
    let mut evidence = evidence(changed, &[]);
    evidence.timeline.source = TimelineSource::None;
    format!("{changed}\n{}", show(&find(&evidence, None, PROJECT, policy)))
}

#[test]
fn r2_every_category() {
    let policy = teleclaude();
    let table = [
        "teleclaude/daemon.py",
        "teleclaude/core/deep/er.py",
        "teleclaude/hooks/receiver.py",
        "teleclaude/cli/tui/app.py",
        "teleclaude/project_setup/hooks.py",
        "templates/teleclaude-docs-watch.service",
        "templates/ai.instrukt.teleclaude.docs-watch.plist",
        "templates/teleclaude-docs-watch.path",
        ".pre-commit-config.yaml",
        ".gitattributes",
        ".husky/pre-commit",
        "tests/unit/test_a.py",
        "tests/unit/test_a.py teleclaude/a.py",
        "agents/prepare.md",
        ".agents/skills/x.md",
        "sub/dir/AGENTS.master.md",
        "config.yml",
        "pyproject.toml",
        "requirements-dev.txt",
        "docs/a.md todos/x/state.json ideas/y README.md",
        "",
        "scripts/tool.py",
        "scripts/tool.sh",
        "config.yml teleclaude/a.py teleclaude/cli/tui/b.py agents/c.md pyproject.toml .gitattributes docs/d.md",
    ]
    .map(|changed| asked(changed, &policy));
    insta::assert_snapshot!(table.join("\n"), @r"
    teleclaude/daemon.py
    [daemon code]
      Runtime: Run `make restart` then `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
    teleclaude/core/deep/er.py
    [daemon code]
      Runtime: Run `make restart` then `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
    teleclaude/hooks/receiver.py
    [hook runtime code]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (hook runtime code)
    teleclaude/cli/tui/app.py
    [TUI code]
      Runtime: Run `pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'` (TUI code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (TUI code)
    teleclaude/project_setup/hooks.py
    [daemon code, telec setup]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Runtime: Run `make restart` then `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
    templates/teleclaude-docs-watch.service
    [telec setup]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    templates/ai.instrukt.teleclaude.docs-watch.plist
    [telec setup]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    templates/teleclaude-docs-watch.path
    [telec setup]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    .pre-commit-config.yaml
    [telec setup]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    .gitattributes
    [telec setup]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    .husky/pre-commit
    [telec setup]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    tests/unit/test_a.py
    [tests only]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for changed test files (tests only)
    tests/unit/test_a.py teleclaude/a.py
    [daemon code]
      Runtime: Run `make restart` then `make status` (daemon code)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
    agents/prepare.md
    [agent artifacts]
      Runtime: Run agent-restart to reload artifacts (agent artifacts)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    .agents/skills/x.md
    [agent artifacts]
      Runtime: Run agent-restart to reload artifacts (agent artifacts)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    sub/dir/AGENTS.master.md
    [agent artifacts]
      Runtime: Run agent-restart to reload artifacts (agent artifacts)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    config.yml
    [config]
      Runtime: Run `make restart` + `make status` (config)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    pyproject.toml
    [dependencies]
      Runtime: Install updated dependencies: `pip install -e .` (dependencies)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    requirements-dev.txt
    [dependencies]
      Runtime: Install updated dependencies: `pip install -e .` (dependencies)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
    docs/a.md todos/x/state.json ideas/y README.md
    [no code changes]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      = docs only

    [no code changes]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      = docs only
    scripts/tool.py
    [Python code]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run the tests that cover the changed Python code (`pytest`) (Python code)
    scripts/tool.sh
    [code]
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run the tests that cover the changed code (code)
    config.yml teleclaude/a.py teleclaude/cli/tui/b.py agents/c.md pyproject.toml .gitattributes docs/d.md
    [daemon code, TUI code, telec setup, agent artifacts, config, dependencies]
      Runtime: Run `telec init` (setup changed: watchers, hook installers, or git filters) (telec setup)
      Runtime: Install updated dependencies: `pip install -e .` (dependencies)
      Runtime: Run `make restart` then `make status` (daemon code)
      Runtime: Run `pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'` (TUI code)
      Runtime: Run agent-restart to reload artifacts (agent artifacts)
      Observe: Check the logs with `instrukt-ai-logs teleclaude --since 2m` (log check)
      Validate: Run targeted tests for the changed behavior (daemon code)
    ");
}

#[test]
fn packs_of_other_projects() {
    let table = [
        ("Cargo.toml", "src/main.rs README.md"),
        ("Cargo.toml", "Cargo.lock tests/it.rs"),
        ("Cargo.toml", "src/main.rs build.sh"),
        ("package.json", "src/app.tsx src/app.test.tsx package.json"),
        ("go.mod", "cmd/a.go go.sum"),
        ("setup.py", "pkg/a.py tests/test_a.py requirements/dev.txt"),
        ("Cargo.toml package.json", "src/a.rs web/b.ts"),
        ("", "a.rb Dockerfile docker-compose.yml"),
        ("", "spec/a_spec.rb"),
        ("", "data/x.json"),
        ("", "LICENSE docs/logo.svg notes.txt"),
        ("", "CMakeLists.txt"),
    ]
    .map(|(top, changed)| asked(changed, &policy(top)));
    insta::assert_snapshot!(table.join("\n"), @r"
    src/main.rs README.md
    [Rust code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
    Cargo.lock tests/it.rs
    [tests only, dependencies]
      Runtime: Build with the changed manifest (`cargo build`) (dependencies)
      Validate: Run targeted tests for changed test files (`cargo test`) (tests only)
    src/main.rs build.sh
    [Rust code, code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
    src/app.tsx src/app.test.tsx package.json
    [JavaScript/TypeScript code, dependencies]
      Runtime: Install updated dependencies: `npm install` (or `pnpm install`, `yarn`, `bun install`) (dependencies)
      Validate: Run the tests that cover the changed code (`npm test` or the project's own runner) (JavaScript/TypeScript code)
    cmd/a.go go.sum
    [Go code, dependencies]
      Runtime: Build with the changed modules (`go build ./...`) (dependencies)
      Validate: Run the tests that cover the changed Go code (`go test ./...`) (Go code)
    pkg/a.py tests/test_a.py requirements/dev.txt
    [Python code, dependencies]
      Runtime: Install updated dependencies (`pip install -e .`, `uv sync`, or the project's own command) (dependencies)
      Validate: Run the tests that cover the changed Python code (`pytest`) (Python code)
    src/a.rs web/b.ts
    [Rust code, JavaScript/TypeScript code]
      Validate: Run the tests that cover the changed Rust code (`cargo test`) (Rust code)
      Validate: Run the tests that cover the changed code (`npm test` or the project's own runner) (JavaScript/TypeScript code)
    a.rb Dockerfile docker-compose.yml
    [container image, compose file, code]
      Runtime: Build the changed container image (`docker build`) (container image)
      Runtime: Check the changed compose file (`docker compose config`) (compose file)
      Validate: Run the tests that cover the changed code (code)
    spec/a_spec.rb
    [tests only]
      Validate: Run targeted tests for changed test files (tests only)
    data/x.json
    [code]
      Validate: Run the tests that cover the changed code (code)
    LICENSE docs/logo.svg notes.txt
    [no code changes]
      = docs only
    CMakeLists.txt
    [code]
      Validate: Run the tests that cover the changed code (code)
    ");
}

#[test]
fn r4_every_row_is_suppressed_by_its_evidence() {
    let policy = teleclaude();
    let table: [(&str, &[&str]); 12] = [
        (
            "teleclaude/a.py",
            &["$ make restart", "$ make status", "$ pytest -q", "$ instrukt-ai-logs teleclaude --since 2m"],
        ),
        ("teleclaude/a.py", &["$ make restart"]),
        ("teleclaude/a.py", &["$ make status", "$ make restart"]),
        ("teleclaude/a.py", &["! make restart"]),
        ("teleclaude/a.py", &["$ make restart && make status", "$ make test | tail -3", "$ instrukt-ai-logs x | tail"]),
        ("teleclaude/cli/tui/a.py", &["$ pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'"]),
        ("teleclaude/cli/tui/a.py", &["$ kill -USR2 4711"]),
        ("agents/a.md", &["$ telec agent-restart"]),
        ("agents/a.md", &["$ curl -X POST http://localhost/sessions/1/agent-restart"]),
        (".gitattributes", &["$ telec init"]),
        ("config.yml", &["$ make restart", "$ make status"]),
        ("pyproject.toml", &["$ pip install -e ."]),
    ];
    let table =
        table.map(|(changed, lines)| format!("{changed} after {lines:?}\n{}", show(&found(changed, lines, &policy))));
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
fn a_command_counts_only_when_it_ran_in_time() {
    let policy = policy("Cargo.toml");
    let table: [&[&str]; 14] = [
        &["read src/a.rs", "edit src/a.rs", "$ cargo test"],
        &["$ cargo test", "read src/a.rs", "edit /home/me/app/src/a.rs"],
        &["$ cargo test", "$ echo fn > src/a.rs"],
        &["$ echo fn > src/a.rs && cargo test src/a.rs"],
        &["$ cargo test && echo fn > src/a.rs"],
        &["$ cargo test", "write README.md"],
        &["$ echo cargo test"],
        &["$ cargo test --help"],
        &["$ true || cargo test"],
        &["! cargo test -> 1 failed"],
        &["! cargo test -> 1 failed", "$ cargo test"],
        &["$ cargo nextest run"],
        &["$ make test"],
        &[],
    ];
    let table = table.map(|lines| format!("{lines:?}\n{}", show(&found("src/a.rs README.md", lines, &policy))));
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
    for change in [|call: &mut ToolCall| call.refused = true, |call: &mut ToolCall| call.finished = false] {
        let mut evidence = evidence("src/a.rs", &["$ cargo test"]);
        change(&mut evidence.timeline.calls[0]);
        assert_eq!(find(&evidence, None, PROJECT, &policy("Cargo.toml")).actions.len(), 1);
    }
}

#[test]
fn substring_is_r4_to_the_letter() {
    let policy = Policy { evidence: EvidenceRule::Substring, ..teleclaude() };
    let table: [&[&str]; 5] = [
        &["$ echo make restart; echo make status", "! pytest", "$ echo instrukt-ai-logs", "write teleclaude/a.py"],
        &["! make restart", "$ make status"],
        &["$ make restart", "! make status"],
        &["$ make status && make restart"],
        &["$ run-pytest-later"],
    ];
    let table = table.map(|lines| format!("{lines:?}\n{}", show(&found("teleclaude/a.py", lines, &policy))));
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

#[test]
fn r5_errors_and_what_resolves_them() {
    let policy = policy("setup.py");
    let table: [&[&str]; 21] = [
        &["! python run.py -> Traceback (most recent call last)\nValueError"],
        &["! python run.py -> SyntaxError: invalid syntax"],
        &["! python run.py -> ModuleNotFoundError: No module named 'x'"],
        &["! python run.py -> ImportError: cannot import name"],
        &["! pytest -> 1 failed"],
        &["! make test -> 1 failed"],
        &["! cargo test -> 1 failed"],
        &["! make lint -> E501"],
        &["! pytest -> Traceback (most recent call last)\nModuleNotFoundError", "! make lint -> E501"],
        // Addressed.
        &["! pytest -> 1 failed", "$ pytest -q tests/unit"],
        &["! pytest -> 1 failed", "! pytest -> 1 failed"],
        &["! python scripts/run.py -> boom", "$ cat scripts/run.py"],
        &["! python -c 'import app.core.x' -> File \"/home/me/app/app/core/x.py\", line 3", "$ ls app.core.x"],
        &["! pytest -> File \"/home/me/app/pkg/a.py\", line 3", "read pkg/a.py", "edit /home/me/app/pkg/a.py"],
        &["!edit pkg/a.py -> String not found", "read pkg/a.py", "edit pkg/a.py"],
        &["!read src/missing.py -> File does not exist", "read lib/missing.py"],
        &["! cd app && npm run build -> error", "$ npm run build"],
        // Not addressed.
        &["! make lint -> error", "$ make build"],
        &["! make lint -> error", "$ cd /tmp"],
        &["!read src/missing.py -> File does not exist", "read lib/other.py"],
        &["$ instrukt-ai-logs -> Traceback (most recent call last)"],
    ];
    let table = table.map(|lines| format!("{lines:?}\n{}", show(&found("notes.md", lines, &policy))));
    insta::assert_snapshot!(table.join("\n"), @r#"
    ["! python run.py -> Traceback (most recent call last)\nValueError"]
    [no code changes]
      - Python errors remain unresolved — verify they are fixed
      = docs only
    ["! python run.py -> SyntaxError: invalid syntax"]
    [no code changes]
      - Syntax errors remain — verify the code is valid
      = docs only
    ["! python run.py -> ModuleNotFoundError: No module named 'x'"]
    [no code changes]
      - Import errors remain — check dependencies or module paths
      = docs only
    ["! python run.py -> ImportError: cannot import name"]
    [no code changes]
      - Import errors remain — check dependencies or module paths
      = docs only
    ["! pytest -> 1 failed"]
    [no code changes]
      - Test failures remain — re-run tests after fixes
      = docs only
    ["! make test -> 1 failed"]
    [no code changes]
      - Test failures remain — re-run tests after fixes
      = docs only
    ["! cargo test -> 1 failed"]
    [no code changes]
      - Test failures remain — re-run tests after fixes
      = docs only
    ["! make lint -> E501"]
    [no code changes]
      - A command returned errors — verify the issue is resolved
      = docs only
    ["! pytest -> Traceback (most recent call last)\nModuleNotFoundError", "! make lint -> E501"]
    [no code changes]
      - Python errors remain unresolved — verify they are fixed
      - Import errors remain — check dependencies or module paths
      - Test failures remain — re-run tests after fixes
      - A command returned errors — verify the issue is resolved
      = docs only
    ["! pytest -> 1 failed", "$ pytest -q tests/unit"]
    [no code changes]
      = docs only
    ["! pytest -> 1 failed", "! pytest -> 1 failed"]
    [no code changes]
      - Test failures remain — re-run tests after fixes
      = docs only
    ["! python scripts/run.py -> boom", "$ cat scripts/run.py"]
    [no code changes]
      = docs only
    ["! python -c 'import app.core.x' -> File \"/home/me/app/app/core/x.py\", line 3", "$ ls app.core.x"]
    [no code changes]
      = docs only
    ["! pytest -> File \"/home/me/app/pkg/a.py\", line 3", "read pkg/a.py", "edit /home/me/app/pkg/a.py"]
    [no code changes]
      = docs only
    ["!edit pkg/a.py -> String not found", "read pkg/a.py", "edit pkg/a.py"]
    [no code changes]
      = docs only
    ["!read src/missing.py -> File does not exist", "read lib/missing.py"]
    [no code changes]
      = docs only
    ["! cd app && npm run build -> error", "$ npm run build"]
    [no code changes]
      = docs only
    ["! make lint -> error", "$ make build"]
    [no code changes]
      - A command returned errors — verify the issue is resolved
      = docs only
    ["! make lint -> error", "$ cd /tmp"]
    [no code changes]
      - A command returned errors — verify the issue is resolved
      = docs only
    ["!read src/missing.py -> File does not exist", "read lib/other.py"]
    [no code changes]
      - A command returned errors — verify the issue is resolved
      = docs only
    ["$ instrukt-ai-logs -> Traceback (most recent call last)"]
    [no code changes]
      = docs only
    "#);
}

#[test]
fn a_refused_call_is_no_error() {
    let mut evidence = evidence("notes.md", &["! rm -rf / -> refused"]);
    evidence.timeline.calls[0].refused = true;
    assert!(find(&evidence, None, PROJECT, &policy("")).observations.is_empty());
}

#[test]
fn r6_edits_without_read_and_wide_changes() {
    let fires = |lines: &[&str]| !found("notes.md", lines, &policy("")).observations.is_empty();
    let table: [(&[&str], bool); 12] = [
        (&["edit src/a.rs"], true),
        (&["edit src/a.rs", "read src/a.rs"], true),
        (&["read src/b.rs", "edit src/a.rs"], true),
        (&["read /home/me/app/a/mod.rs", "edit /home/me/app/b/mod.rs"], true),
        (&["read src/a.rs", "edit src/a.rs"], false),
        (&["read /home/me/app/src/a.rs", "edit ./src/a.rs", "edit src/a.rs"], false),
        (&["write src/a.rs"], false),
        (&["write src/a.rs", "edit src/a.rs"], false),
        (&["$ cat src/a.rs", "edit src/a.rs"], false),
        (&["$ echo x > src/a.rs", "edit src/a.rs"], false),
        (&["$ ls src", "edit src/a.rs"], true),
        (&["read src/a.rs"], false),
    ];
    for (lines, expected) in table {
        assert_eq!(fires(lines), expected, "{lines:?}");
    }
    insta::assert_snapshot!(show(&found("notes.md", &["edit src/a.rs"], &policy(""))), @r"
    [no code changes]
      - Files were edited without being read first this turn — verify changes are correct
      = docs only
    ");
    insta::assert_snapshot!(show(&found("a/x.md b/x.md c/x.md README.md", &[], &policy(""))), @r"
    [no code changes]
      = docs only
    ");
    insta::assert_snapshot!(show(&found("a/x.md b/x.md c/x.md d/x.md", &[], &policy(""))), @r"
    [no code changes]
      - Changes span multiple subsystems — verify each of them on its own
      = docs only
    ");
}

#[test]
fn r7_drift_from_the_work_item() {
    let drifts = |slug: Option<&str>, plan: Option<&[&str]>, changed: &str| {
        let mut evidence = evidence(changed, &[]);
        evidence.working_slug = slug.map(String::from);
        evidence.plan_files = plan.map(|plan| plan.iter().map(|path| (*path).into()).collect());
        let observations = find(&evidence, None, PROJECT, &policy("")).observations;
        observations.into_iter().find(|line| line.contains("work item"))
    };
    insta::assert_snapshot!(drifts(Some("login"), Some(&["src/a.rs"]), "src/b.rs").unwrap(), @"Active work item `login` expects changes in different files — verify you are working on the right task");
    let quiet: [(Option<&str>, Option<&[&str]>, &str); 9] = [
        (Some("login"), Some(&["src/a.rs", "src/c.rs"]), "src/a.rs src/b.rs"),
        (Some("login"), Some(&["./src/"]), "src/deep/b.rs"),
        (Some("login"), Some(&["src/**/*.rs"]), "src/deep/b.rs"),
        (Some("login"), Some(&["/home/me/app/src/b.rs"]), "src/b.rs"),
        (Some("login"), Some(&["src/a.rs"]), "todos/login/state.json"),
        (Some("login"), Some(&["src/a.rs"]), ""),
        (Some("login"), Some(&[]), "src/b.rs"),
        (Some("login"), None, "src/b.rs"),
        (None, Some(&["src/a.rs"]), "src/b.rs"),
    ];
    for (slug, plan, changed) in quiet {
        assert_eq!(drifts(slug, plan, changed), None, "{slug:?} {plan:?} {changed}");
    }
}

#[test]
fn r7_the_table_of_a_plan() {
    let plan = "# Plan\n\n| File | Why |\n|--|--|\n| other.rs | not ours |\n\n## Files to Change\n\n\
        | File | Change |\n| --- | :-: |\n| `src/a.rs` | see `b.rs` |\n| src/c.rs:10-20 (new) | x |\n| [d](src/d.rs) | |\n\
        | `e.py`, `f.py` | |\n\n### Tests\n\n| # | Path |\n|-|-|\n| 1 | tests/g.rs |\n\n## Risks\n\n| File |\n|-|\n| h.rs |\n";
    insta::assert_snapshot!(plan_files(plan).unwrap().join(" "), @"src/a.rs src/c.rs src/d.rs e.py f.py tests/g.rs");
    for plan in ["", "# Plan\nno table", "## Files to Change\n\n- src/a.rs\n", "| File |\n|-|\n| a.rs |\n"] {
        assert_eq!(plan_files(plan), None, "{plan:?}");
    }
}

#[test]
fn criterion_5_only_documents() {
    let policy = teleclaude();
    insta::assert_snapshot!(compose(&found("docs/a.md todos/b.md", &[], &policy), &policy), @r#"
    [TeleClaude Checkpoint] - Context-aware checkpoint

    No code changes were found.

    Required actions, in this order:
    1. Check the logs with `instrukt-ai-logs teleclaude --since 2m`

    Observations:
    - The turn ends but `instrukt-ai-logs` was not observed this turn

    Capture memories/bugs/ideas worth keeping.

    Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

    Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
    "#);
}

#[test]
fn criterion_13_all_done() {
    let policy = teleclaude();
    let lines = [
        "read teleclaude/a.py",
        "edit teleclaude/a.py",
        "$ make restart; make status",
        "$ uv sync; tox",
        "$ instrukt-ai-logs",
    ];
    insta::assert_snapshot!(compose(&found("teleclaude/a.py", &lines, &policy), &policy), @"[TeleClaude Checkpoint] - All expected validations were observed.");
}

#[test]
fn criterion_14_no_transcript() {
    let policy = teleclaude();
    let mut evidence = evidence("teleclaude/a.py", &[]);
    evidence.timeline.source = TimelineSource::None;
    insta::assert_snapshot!(compose(&find(&evidence, Some(130_000), PROJECT, &policy), &policy), @r#"
    [TeleClaude Checkpoint] - Context-aware checkpoint

    Changed: daemon code

    Required actions, in this order:
    1. Run `make restart` then `make status`
    2. Check the logs with `instrukt-ai-logs teleclaude --since 3m`
    3. Run targeted tests for the changed behavior

    Capture memories/bugs/ideas worth keeping.

    Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

    Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
    "#);
}

#[test]
fn unknown_changes_give_the_general_message() {
    for changes in [Changes::Unknown("git_missing".into()), Changes::NotAsked] {
        let findings = find(&Evidence { changes, ..Evidence::default() }, None, PROJECT, &teleclaude());
        assert_eq!(findings, Findings { generic: true, ..Findings::default() });
    }
}

#[test]
fn the_log_window_follows_the_turn() {
    let window = |elapsed_ms| {
        let findings = find(&evidence("docs/a.md", &[]), elapsed_ms, PROJECT, &teleclaude());
        findings.actions[0].text.rsplit(' ').next().unwrap().to_owned()
    };
    let table = [None, Some(0), Some(120_000), Some(120_001), Some(3_600_000)].map(window);
    insta::assert_snapshot!(table.join(" "), @"2m` 2m` 2m` 3m` 60m`");
}

#[test]
fn a_demand_is_its_actions_and_contents() {
    let policy = teleclaude();
    let demand = |changed: &str, lines: &[&str], elapsed| {
        find(&evidence(changed, lines), Some(elapsed), PROJECT, &policy).demand
    };
    let base = demand("teleclaude/a.py", &[], 60_000);
    assert!(base.is_some());
    assert_eq!(base, demand("teleclaude/a.py", &["$ ls"], 600_000));
    assert_ne!(base, demand("teleclaude/a.py", &["$ make restart"], 60_000));
    assert_ne!(base, demand("teleclaude/a.py teleclaude/b.py", &[], 60_000));
    let mut edited = evidence("teleclaude/a.py", &[]);
    edited.changes = Changes::Known(vec![ChangedFile { path: "teleclaude/a.py".into(), hash: Some(2) }]);
    assert_ne!(base, find(&edited, Some(60_000), PROJECT, &policy).demand);
    let done = ["$ make restart; make status", "$ pytest", "$ instrukt-ai-logs"];
    assert_eq!(demand("teleclaude/a.py", &done, 60_000), None);
}

#[test]
fn a_trace_says_what_was_found() {
    let findings =
        found("src/a.rs", &["$ cargo test", "write src/a.rs", "! cargo nextest run -> failed"], &policy("Cargo.toml"));
    insta::assert_json_snapshot!(findings.trace, @r#"
    [
      {
        "rule": "Rust code",
        "pack": "rust",
        "files": [
          "src/a.rs"
        ],
        "actions": [
          {
            "purpose": "tests",
            "text": "Run the tests that cover the changed Rust code (`cargo test`)",
            "stands": true,
            "looked_for": [
              "cargo test",
              "cargo nextest",
              "cargo t",
              "cargo llvm-cov",
              "cargo tarpaulin",
              "cargo insta test",
              "cargo miri test",
              "make test",
              "make check",
              "just test",
              "just check"
            ],
            "found": [
              {
                "call": 0,
                "command": "cargo test",
                "outcome": "before_edit"
              },
              {
                "call": 2,
                "command": "cargo nextest run",
                "outcome": "failed"
              }
            ]
          }
        ]
      }
    ]
    "#);
}

/// Everything that an agent may have done in a turn of the property tests.
const MOVES: [&str; 16] = [
    "$ make restart",
    "! make restart -> failed",
    "$ make status",
    "$ pytest",
    "! pytest -> 1 failed",
    "$ telec init",
    "$ pip install -e .",
    "$ kill -USR2 1",
    "$ telec agent-restart",
    "$ instrukt-ai-logs",
    "$ echo make restart",
    "read teleclaude/a.py",
    "edit teleclaude/a.py",
    "write config.yml",
    "$ ls",
    "$ make restart && make status",
];
const FILES: [&str; 10] = [
    "teleclaude/a.py",
    "teleclaude/hooks/b.py",
    "teleclaude/cli/tui/c.py",
    ".gitattributes",
    "tests/test_a.py",
    "agents/d.md",
    "config.yml",
    "pyproject.toml",
    "docs/e.md",
    "src/f.sh",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn calls_only_take_away(
        moves in proptest::sample::subsequence(&MOVES, 0..=MOVES.len()).prop_shuffle(),
        files in proptest::sample::subsequence(&FILES, 0..=FILES.len()),
        substring in any::<bool>(),
    ) {
        let mut policy = teleclaude();
        if substring {
            policy.evidence = EvidenceRule::Substring;
        }
        let files = files.join(" ");
        let mut blind = evidence(&files, &[]);
        blind.timeline.source = TimelineSource::None;
        let all = find(&blind, None, PROJECT, &policy);
        let some = find(&evidence(&files, &moves), None, PROJECT, &policy);
        // 002 R8: what was seen only suppresses. A status that stands alone was part of the restart's text before.
        let texts = |findings: &Findings| findings.actions.iter().map(|action| action.text.clone()).collect::<Vec<_>>();
        for text in texts(&some) {
            let status = text == "Run `make status`" && texts(&all).iter().any(|text| text.contains("make restart"));
            prop_assert!(status || texts(&all).contains(&text), "{}", text);
        }
        let order: Vec<_> = some.actions.iter().map(|action| action.step).collect();
        prop_assert!(order.is_sorted());
        prop_assert_eq!(&some.categories, &all.categories);
        // One more sign of success at the end never asks for more.
        let mut more = moves.clone();
        more.push("$ make restart; make status; pytest; telec init; pip install -e .; instrukt-ai-logs");
        let after = find(&evidence(&files, &more), None, PROJECT, &policy);
        prop_assert!(after.actions.len() <= some.actions.len());
        let again = find(&evidence(&files, &moves), None, PROJECT, &policy);
        prop_assert_eq!(compose(&again, &policy), compose(&some, &policy));
        prop_assert_eq!(again, some);
    }

    #[test]
    fn any_plan_is_answered(text in "[-|#`a-z./: \n]{0,200}") {
        let _ = plan_files(&text);
    }
}
