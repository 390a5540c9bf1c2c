//! What a document says of files: those that the shell changed, those that were there before, and those that are stated.

use super::*;

fn shown(home: &Home, project: &Path) -> String {
    let (_, shown) = ask(home, project, &["progress", "show", "--json"], "");
    shown["markdown"].as_str().expect("text").to_owned()
}

fn write(home: &Home, project: &Path, kind: &str, stated: &str) {
    let arguments = ["progress", "write", "--type", kind, "--from", "-", "--json"];
    assert_eq!(ask(home, project, &arguments, stated).0, 0);
}

fn shell(project: &Path, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(project);
    assert!(shell.status().expect("runs").success(), "{script}");
}

fn contains_all(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// A project in which five files are committed, and one was changed before the session.
fn begun() -> (Daemon, TempDir) {
    let (daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    for name in ["edited.rs", "removed.rs", "moved.rs", "kept.rs", "old.rs"] {
        fs::write(top.join(name), "one\n").expect("writes");
    }
    commit_all(top);
    fs::write(top.join("old.rs"), "two\n").expect("writes");
    // Times of files are no finer than a tick of the system.
    std::thread::sleep(Duration::from_millis(100));
    hook(
        &daemon.home,
        "claude",
        "s-one",
        top,
        "UserPromptSubmit",
        json!({ "prompt": "go on", "prompt_id": "p" }),
    );
    (daemon, project)
}

#[test]
fn what_the_shell_changed_and_committed_is_in_the_document() {
    let (daemon, project) = begun();
    let top = project.path();
    shell(
        top,
        "sed -i s/one/two/ edited.rs; rm removed.rs; mv moved.rs renamed.rs; echo x > made.rs",
    );
    write(
        &daemon.home,
        top,
        "full",
        "## Files\n- `far.rs` - is to come\n- edited.rs - a word\n",
    );
    let text = shown(&daemon.home, top);
    contains_all(
        &text,
        &[
            "| File | Changes | Status | Seen |",
            "| `edited.rs` | a word | modified | uncommitted, by git |",
            "| `removed.rs` | not stated | deleted | uncommitted, by git |",
            "| `moved.rs` | not stated | deleted | uncommitted, by git |",
            "| `renamed.rs` | not stated | created | uncommitted, by git |",
            "| `made.rs` | not stated | created | uncommitted, by git |",
            "| `far.rs` | is to come | stated | stated, and git says nothing |",
            "1 more file was uncommitted before the session, unchanged since.",
        ],
    );
    assert!(
        !text.contains("| `old.rs` |") && !text.contains("| `kept.rs` |"),
        "{text}"
    );

    // The document says the same of the agent's statements when an agent hands it in again.
    write(&daemon.home, top, "full", &text);
    assert!(shown(&daemon.home, top).contains("| `edited.rs` | a word | modified |"));

    shell(
        top,
        "git add -A && git -c user.name=u -c user.email=u@example.com commit -qm second",
    );
    write(&daemon.home, top, "full", "{\"files\": []}");
    contains_all(
        &shown(&daemon.home, top),
        &[
            "| File | Status | Seen |",
            "| `edited.rs` | modified | committed, by git |",
            "| `removed.rs` | deleted | committed, by git |",
            "| `made.rs` | created | committed, by git |",
        ],
    );
    daemon.verify();
}

#[test]
fn an_incremental_document_is_shown_with_all_that_it_knows() {
    let (daemon, project) = begun();
    let top = project.path();
    shell(top, "echo x > first.rs");
    write(
        &daemon.home,
        top,
        "full",
        "## Goal\nA parser\n\n## Decisions\n- by hand\n",
    );
    shell(top, "echo x > second.rs");
    write(&daemon.home, top, "incremental", "## Remaining\n- errors\n");
    let text = shown(&daemon.home, top);
    contains_all(
        &text,
        &[
            "**Objective**: A parser",
            "- [ ] errors",
            "**Files Touched**: `second.rs` (created)\n",
            "| `first.rs` | created | uncommitted, by git |",
            "| Decision |\n|----------|\n| by hand |",
            "## Recovery Instructions",
        ],
    );
    let dashes = |line: &str| line.starts_with('|') && line.contains("| - |");
    assert!(!text.lines().any(dashes), "{text}");
    let (code, report) = ask(&daemon.home, top, &["progress", "validate", "--json"], "");
    assert_eq!(code, 0, "its file is as it was written: {report}");
}

#[test]
fn what_does_not_hold_is_told_with_what_was_expected_and_how_to_repair_it() {
    let (daemon, project) = begun();
    let top = project.path();
    shell(top, "echo x > made.rs");
    write(&daemon.home, top, "full", "## Goal\nA parser\n");
    shell(top, "git switch -qc other; rm made.rs");
    let output = run(
        &mut command(&daemon.home, top, &["progress", "validate"]),
        b"",
    );
    let said = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(1));
    contains_all(
        &said,
        &[
            "FAIL  git           on `other`, not on `main`\n      expected      branch `main`\n      repair        `git switch main`",
            "FAIL  files         gone: `made.rs`\n      expected      `made.rs` with the content that the session left\n",
        ],
    );
    let (_, report) = ask(&daemon.home, top, &["progress", "validate", "--json"], "");
    let failed = report["lines"].as_array().expect("lines").iter();
    for line in failed.filter(|line| line["ok"] == false) {
        assert!(
            line["expected"].is_string() && line["reconcile"].is_string(),
            "{line}"
        );
    }
    let journaled = &events(&daemon, "progress_validated")[1]["report"];
    assert_eq!(journaled["lines"], report["lines"], "an object, not a text");
}
