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
    insta::assert_snapshot!(table.join("\n"), @r#"
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
    [no code changes]
      = docs only
    LICENSE docs/logo.svg notes.txt
    [no code changes]
      = docs only
    CMakeLists.txt
    [code]
      Validate: Run the tests that cover the changed code (code)
    "#);
}

/// Returns the purposes that a change asks for in a project with the packs of such files at its top.
fn purposes(changed: &str, lines: &[&str], facts: &FileFacts, policy: &Policy) -> String {
    let mut evidence = evidence(changed, lines);
    evidence.facts.files = facts.clone();
    let findings = find(&evidence, None, PROJECT, policy);
    let traced = findings.trace.iter().flat_map(|rule| &rule.actions);
    let due: Vec<_> = traced
        .filter(|action| action.stands)
        .map(|action| action.purpose.as_str())
        .collect();
    format!("{changed}: {}", due.join(" "))
}

#[test]
fn what_is_no_code() {
    let policy = policy("package.json Cargo.toml go.mod");
    let table = [
        // Settings, workflows, data.
        ".github/workflows/build.yml .entire/trace.log config/app.toml",
        "messages/ca.json locale/de.po data/dump.sql assets/a.mp3",
        ".claude/settings.json .cursor-plugin/plugin.json .agents/plugins/marketplace.json gemini-extension.json",
        ".superpowers/brainstorm/x.html .palette-preview.html tsconfig.json .eslintrc.cjs eslint.config.mjs .nvmrc",
        "tests/fixtures/users.yml api/testdata/in.golden src/__snapshots__/a.snap",
        // Generated.
        "api/v1/x.pb.go dist/index.js static/app.min.js lib/a_generated.go",
        // Code in unusual places and names.
        ".claude/skills/test-repo/test-harness.sh",
        ".opencode/plugins/entire.js",
        "supabase/schema.sql",
        "db/migrations/0001_init.sql",
        "Makefile",
        "bin/deploy",
        "Jenkinsfile",
        "vite.config.js",
        "web/index.html",
        "src/style.css",
        "api/openapi.yaml",
        "schema.graphql",
        "main.tf",
        "agent/Package.swift",
        "src/build.rs",
        "spec/fixtures/builder.rb",
        ".bashrc",
        "roles/web/tasks/main.yml",
        // Files that rules of packs are about.
        "Dockerfile docker-compose.yml",
        "package.json",
        "web/package-lock.json",
        "Gemfile",
        "Gemfile.lock",
    ]
    .map(|changed| purposes(changed, &[], &FileFacts::default(), &policy));
    insta::assert_snapshot!(table.join("\n"), @r#"
    .github/workflows/build.yml .entire/trace.log config/app.toml: 
    messages/ca.json locale/de.po data/dump.sql assets/a.mp3: 
    .claude/settings.json .cursor-plugin/plugin.json .agents/plugins/marketplace.json gemini-extension.json: 
    .superpowers/brainstorm/x.html .palette-preview.html tsconfig.json .eslintrc.cjs eslint.config.mjs .nvmrc: 
    tests/fixtures/users.yml api/testdata/in.golden src/__snapshots__/a.snap: 
    api/v1/x.pb.go dist/index.js static/app.min.js lib/a_generated.go: 
    .claude/skills/test-repo/test-harness.sh: tests
    .opencode/plugins/entire.js: tests
    supabase/schema.sql: tests
    db/migrations/0001_init.sql: tests
    Makefile: tests
    bin/deploy: tests
    Jenkinsfile: tests
    vite.config.js: tests
    web/index.html: tests
    src/style.css: tests
    api/openapi.yaml: tests
    schema.graphql: tests
    main.tf: tests
    agent/Package.swift: tests
    src/build.rs: tests
    spec/fixtures/builder.rb: tests
    .bashrc: tests
    roles/web/tasks/main.yml: tests
    Dockerfile docker-compose.yml: image compose
    package.json: install
    web/package-lock.json: install
    Gemfile: install
    Gemfile.lock:
    "#);
}

#[test]
fn what_files_hold_decides_whether_they_count() {
    let policy = policy("package.json go.mod");
    let facts = FileFacts {
        empty: vec!["src/empty.ts".into()],
        generated: vec!["src/types.ts".into()],
        restored: vec!["src/same.go".into()],
        same_dependencies: vec!["package.json".into(), "web/package.json".into()],
        comments_only: vec!["src/said.go".into()],
    };
    let table: [(&str, &[&str]); 14] = [
        ("src/empty.ts", &[]),
        ("src/same.go", &[]),
        ("src/said.go", &[]),
        ("src/types.ts", &["$ make types"]),
        ("src/types.ts", &["edit src/types.ts"]),
        ("dist/a.js", &["$ npm run build"]),
        ("dist/a.js", &["write /home/me/app/dist/a.js"]),
        ("package.json", &[]),
        ("web/package.json src/a.ts", &[]),
        ("other/package.json", &[]),
        ("package-lock.json package.json", &["$ npm version 2"]),
        ("package-lock.json", &["edit package-lock.json", "$ ls"]),
        ("package-lock.json other/package.json", &["$ ls"]),
        ("go.sum", &["$ go mod tidy"]),
    ];
    let table = table.map(|(changed, lines)| {
        let purposes = purposes(changed, lines, &facts, &policy);
        format!("{purposes} <- {}", lines.join("; "))
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    src/empty.ts:  <- 
    src/same.go:  <- 
    src/said.go:  <- 
    src/types.ts:  <- $ make types
    src/types.ts: tests <- edit src/types.ts
    dist/a.js:  <- $ npm run build
    dist/a.js: tests <- write /home/me/app/dist/a.js
    package.json:  <- 
    web/package.json src/a.ts: tests <- 
    other/package.json: install <- 
    package-lock.json package.json:  <- $ npm version 2
    package-lock.json: install <- edit package-lock.json; $ ls
    package-lock.json other/package.json: install <- $ ls
    go.sum:  <- $ go mod tidy
    "#);
    // Before the keys existed, names were all that counted.
    let teleclaude = teleclaude();
    let named = purposes(
        "src/empty.ts pyproject.toml a.json",
        &[],
        &facts,
        &teleclaude,
    );
    insta::assert_snapshot!(named, @"src/empty.ts pyproject.toml a.json: install logs tests");
}

#[test]
fn own_rules_about_data_go_first_and_others_before_generated_files() {
    let facts = ProjectFacts {
        path: PROJECT.into(),
        files: vec!["go.mod".into()],
    };
    let rules = "rules:\n- {name: vendored, kind: data, include: ['third_party/**']}\n\
                 - {name: bundle, include: ['dist/**'], needs: [tests]}\n";
    let policy = Config::default()
        .policy_for(&facts, Some((".checkpointd.yml", rules)))
        .unwrap();
    let table = ["third_party/a.go", "dist/a.js", "dist/b.go", "a.go"]
        .map(|changed| purposes(changed, &[], &FileFacts::default(), &policy));
    insta::assert_snapshot!(table.join("\n"), @r#"
    third_party/a.go: 
    dist/a.js: tests
    dist/b.go: tests
    a.go: tests
    "#);
}
