//! The words of a demand: only plain names, never a task's text.

use super::*;

#[test]
fn the_demand_names_the_projects_command() {
    let of = |lines: &str, file: &str| asked(&project(lines), &[file]);
    let table = [
        of(
            ". mise test: go test ./... ;; x\n . mise test:e2e: go test -tags=e2e ./...\n a.go < a_test.go",
            "edit a.go",
        ),
        of(
            "web: @acme/web\n web pnpm test: vitest\n web/a.ts < web/a.test.ts",
            "edit web/a.ts",
        ),
        of(
            "web: web\n web npm test:unit: vitest\n web/a.ts < web/a.test.ts",
            "edit web/a.ts",
        ),
        of(
            ". make check: make unit lint\n . make unit: cargo nextest run\n . make lint: cargo clippy\n a.rs < a.rs",
            "edit a.rs",
        ),
        of(
            ". just ci: pytest && ruff check\n a.py < test_a.py",
            "edit a.py",
        ),
        of(
            "api: api\n api make test: go test ./...\n api/a.go < api/a_test.go",
            "edit api/a.go",
        ),
        of(
            ". npm build: tsc && vite build\n . npm test: vitest",
            "edit src/a.ts",
        ),
        of(". npm test`rm: vitest\n a.ts < a.test.ts", "edit a.ts"),
        of(". npm $(reboot): vitest\n a.ts < a.test.ts", "edit a.ts"),
        of(". npm test: pytest\n a.rs < a.rs", "edit a.rs"),
        of(". npm -x: vitest\n a.ts < a.test.ts", "edit a.ts"),
        of("x: x", "edit src/main.rs"),
        of("x: x", "edit run.rb"),
    ];
    insta::assert_snapshot!(table.join("\n"), @r#"
    edit a.go
        Run the tests that cover the changed Go code (`mise run test`)
    edit web/a.ts
        Run the tests that cover the changed code (`cd web && pnpm test`)
    edit web/a.ts
        Run the tests that cover the changed code (`cd web && npm run test:unit`)
    edit a.rs
        Run the tests that cover the changed Rust code (`make unit`)
    edit a.py
        Run the tests that cover the changed Python code (`just ci`)
    edit api/a.go
        Run the tests that cover the changed Go code (`make -C api test`)
    edit src/a.ts
        Build or run the changed code: no test covers it (`npm run build`)
    edit a.ts
        Run the tests that cover the changed code (`npm test` or the project's own runner)
    edit a.ts
        Run the tests that cover the changed code (`npm test` or the project's own runner)
    edit a.rs
        Run the tests that cover the changed Rust code (`cargo test`)
    edit a.ts
        Run the tests that cover the changed code (`npm test` or the project's own runner)
    edit src/main.rs
        Build or run the changed code: no test covers it (`cargo build`)
    edit run.rb
        Build or run the changed code: no test covers it
    "#);
}
