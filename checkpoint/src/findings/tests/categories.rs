//! Which files ask for what (spec RULE-3).

use super::*;

#[test]
fn code_of_the_daemon_and_setup() {
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
    ");
}

#[test]
fn tests_artifacts_and_settings() {
    let policy = teleclaude();
    let table = [
        "tests/unit/test_a.py",
        "tests/unit/test_a.py teleclaude/a.py",
        "agents/prepare.md",
        ".agents/skills/x.md",
        "sub/dir/AGENTS.master.md",
        "config.yml",
        "pyproject.toml",
        "requirements-dev.txt",
    ]
    .map(|changed| asked(changed, &policy));
    insta::assert_snapshot!(table.join("\n"), @r"
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
    ");
}

#[test]
fn documents_scripts_and_everything_at_once() {
    let policy = teleclaude();
    let table = [
"docs/a.md todos/x/state.json ideas/y README.md",
"",
"scripts/tool.py",
"scripts/tool.sh",
"config.yml teleclaude/a.py teleclaude/cli/tui/b.py agents/c.md pyproject.toml .gitattributes docs/d.md",
]
    .map(|changed| asked(changed, &policy));
    insta::assert_snapshot!(table.join("\n"), @r"
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
