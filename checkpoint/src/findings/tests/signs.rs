//! Errors, hygiene and drift (spec HYG-1 to HYG-8).

use super::*;

/// A policy by which each failed call is an error.
fn all_errors() -> Policy {
    let mut policy = policy("setup.py");
    policy.hygiene.errors = Errors::All;
    policy
}

#[test]
fn each_kind_of_error_is_named() {
    let policy = all_errors();
    let table: [&[&str]; 9] = [
        &["! python run.py -> Traceback (most recent call last)\nValueError"],
        &["! python run.py -> SyntaxError: invalid syntax"],
        &["! python run.py -> ModuleNotFoundError: No module named 'x'"],
        &["! python run.py -> ImportError: cannot import name"],
        &["! pytest -> 1 failed"],
        &["! make test -> 1 failed"],
        &["! cargo test -> 1 failed"],
        &["! make lint -> E501"],
        &[
            "! pytest -> Traceback (most recent call last)\nModuleNotFoundError",
            "! make lint -> E501",
        ],
    ];
    let table =
        table.map(|lines| format!("{lines:?}\n{}", show(&found("notes.md", lines, &policy))));
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
    "#);
}

#[test]
fn what_addresses_an_error() {
    let policy = all_errors();
    let table: [&[&str]; 8] = [
        // Addressed.
        &["! pytest -> 1 failed", "$ pytest -q tests/unit"],
        &["! pytest -> 1 failed", "! pytest -> 1 failed"],
        &["! python scripts/run.py -> boom", "$ cat scripts/run.py"],
        &[
            "! python -c 'import app.core.x' -> File \"/home/me/app/app/core/x.py\", line 3",
            "$ ls app.core.x",
        ],
        &[
            "! pytest -> File \"/home/me/app/pkg/a.py\", line 3",
            "read pkg/a.py",
            "edit /home/me/app/pkg/a.py",
        ],
        &[
            "!edit pkg/a.py -> String not found",
            "read pkg/a.py",
            "edit pkg/a.py",
        ],
        &[
            "!read src/missing.py -> File does not exist",
            "read lib/missing.py",
        ],
        &["! cd app && npm run build -> error", "$ npm run build"],
    ];
    let table =
        table.map(|lines| format!("{lines:?}\n{}", show(&found("notes.md", lines, &policy))));
    insta::assert_snapshot!(table.join("\n"), @r#"
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
    "#);
}

#[test]
fn what_does_not_address_an_error() {
    let policy = all_errors();
    let table: [&[&str]; 4] = [
        // Not addressed.
        &["! make lint -> error", "$ make build"],
        &["! make lint -> error", "$ cd /tmp"],
        &[
            "!read src/missing.py -> File does not exist",
            "read lib/other.py",
        ],
        &["$ instrukt-ai-logs -> Traceback (most recent call last)"],
    ];
    let table =
        table.map(|lines| format!("{lines:?}\n{}", show(&found("notes.md", lines, &policy))));
    insta::assert_snapshot!(table.join("\n"), @r#"
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
    assert!(
        find(&evidence, None, PROJECT, &policy(""))
            .observations
            .is_empty()
    );
}

#[test]
fn wide_changes() {
    let is_wide = |wide: Wide, changed: &str, packages: &str| {
        let mut policy = policy("");
        policy.hygiene.wide = wide;
        let mut evidence = evidence(changed, &[]);
        evidence.facts.packages = packages.split(' ').map(str::to_owned).collect();
        let observations = find(&evidence, None, PROJECT, &policy).observations;
        observations
            .iter()
            .any(|line| line.starts_with("Changes span"))
    };
    let folders = "a/x.md b/x.md c/x.md d/x.md";
    for (wide, changed, packages, expected) in [
        (Wide::Folders, folders, "a b c d", true),
        (
            Wide::Folders,
            "a/x.md b/x.md c/x.md README.md",
            "a b c d",
            false,
        ),
        (Wide::Packages, folders, "a b c d", true),
        (Wide::Packages, folders, "a b c", false),
        (Wide::Packages, "a/x.md", "a", false),
        (Wide::Off, folders, "a b c d", false),
    ] {
        assert_eq!(
            is_wide(wide, changed, packages),
            expected,
            "{wide:?} {changed} {packages}"
        );
    }
    assert!(
        !found(folders, &[], &policy(""))
            .observations
            .iter()
            .any(|line| line.starts_with("Changes"))
    );
}

#[test]
fn drift_from_the_work_item() {
    let drifts_if = |drift, slug: Option<&str>, plan: Option<&[&str]>, changed: &str| {
        let mut policy = policy("");
        policy.hygiene.drift = drift;
        let mut evidence = evidence(changed, &[]);
        evidence.working_slug = slug.map(String::from);
        evidence.plan_files = plan.map(|plan| plan.iter().map(|path| (*path).into()).collect());
        let observations = find(&evidence, None, PROJECT, &policy).observations;
        observations
            .into_iter()
            .find(|line| line.contains("work item"))
    };
    let drifts = |slug, plan, changed| drifts_if(Drift::Plan, slug, plan, changed);
    insta::assert_snapshot!(drifts(Some("login"), Some(&["src/a.rs"]), "src/b.rs").unwrap(), @"Active work item `login` expects changes in different files — verify you are working on the right task");
    type Case<'a> = (Option<&'a str>, Option<&'a [&'a str]>, &'a str);
    let quiet: [Case<'_>; 8] = [
        (
            Some("login"),
            Some(&["src/a.rs", "src/c.rs"]),
            "src/a.rs src/b.rs",
        ),
        (Some("login"), Some(&["./src/"]), "src/deep/b.rs"),
        (Some("login"), Some(&["src/**/*.rs"]), "src/deep/b.rs"),
        (Some("login"), Some(&["/home/me/app/src/b.rs"]), "src/b.rs"),
        (Some("login"), Some(&["src/a.rs"]), ""),
        (Some("login"), Some(&[]), "src/b.rs"),
        (Some("login"), None, "src/b.rs"),
        (None, Some(&["src/a.rs"]), "src/b.rs"),
    ];
    for (slug, plan, changed) in quiet {
        assert_eq!(
            drifts(slug, plan, changed),
            None,
            "{slug:?} {plan:?} {changed}"
        );
    }
    // Notes about the work item are not its work.
    for changed in [
        "todos/login/state.json",
        "todos/login/implementation-plan.md src/b.rs",
    ] {
        let drifts = |drift| drifts_if(drift, Some("login"), Some(&["src/a.rs"]), changed);
        assert!(drifts(Drift::Plan).is_some(), "{changed}");
        assert_eq!(drifts(Drift::PlanOrTodos), None, "{changed}");
    }
    let planned: &[&str] = &["src/a.rs", "todos/login/state.json"];
    assert_eq!(
        drifts(Some("login"), Some(planned), "todos/login/state.json"),
        None
    );
}

#[test]
fn the_table_of_a_plan() {
    let plan = "# Plan\n\n| File | Why |\n|--|--|\n| other.rs | not ours |\n\n## Files to Change\n\n\
        | File | Change |\n| --- | :-: |\n| `src/a.rs` | see `b.rs` |\n| src/c.rs:10-20 (new) | x |\n| [d](src/d.rs) | |\n\
        | `e.py`, `f.py` | |\n\n### Tests\n\n| # | Path |\n|-|-|\n| 1 | tests/g.rs |\n\n## Risks\n\n| File |\n|-|\n| h.rs |\n";
    insta::assert_snapshot!(plan_files(plan).unwrap().join(" "), @"src/a.rs src/c.rs src/d.rs e.py f.py tests/g.rs");
    for plan in [
        "",
        "# Plan\nno table",
        "## Files to Change\n\n- src/a.rs\n",
        "| File |\n|-|\n| a.rs |\n",
    ] {
        assert_eq!(plan_files(plan), None, "{plan:?}");
    }
}
