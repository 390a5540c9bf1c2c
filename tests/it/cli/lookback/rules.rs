//! `rules test` and `rules new`.

use std::fs;
use std::path::Path;

use super::{User, git};

/// Puts files into a project and adds them to its repository.
fn project(user: &User, files: &[(&str, &str)]) -> std::path::PathBuf {
    let project = user.folder("tree");
    git(&project, &["init", "-q"]);
    for (path, text) in files {
        let path = project.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    git(&project, &["add", "-A"]);
    project
}

fn path(path: &Path) -> &str {
    path.to_str().expect("text")
}

const RUST: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        "[package]\nname = \"tree\"\nversion = \"0.1.0\"\n",
    ),
    (
        "justfile",
        "test *args:\n    cargo nextest run {{args}}\n\nverify:\n    ./verify.sh\n\nfmt:\n    cargo fmt\n",
    ),
    ("src/lib.rs", "pub fn a() {}\n"),
];
#[test]
fn an_example_that_does_not_hold_is_shown_as_a_difference() {
    let user = User::new();
    let project = project(&user, &RUST);
    let rules = "rules:\n  - name: schema\n    include: ['migrations/**']\n    actions:\n      - text: Migrate a copy\n        \
                 evidence: [make migrate]\n    expect:\n      - changed: [migrations/1.sql]\n        asks: [Migrate a copy]\n      \
                 - changed: [migrations/1.sql]\n        ran: [make migrate]\n        asks: [Migrate a copy]\n      \
                 - changed: [migrations/1.sql]\n        failed: [make migrate]\n        asks: []\n";
    fs::write(project.join(".checkpointd.yml"), rules).expect("written");
    let (code, out, _) = user.run(&["rules", "test", "--project", path(&project)]);
    assert_eq!(code, 1);
    let lines: Vec<_> = out.lines().map(str::trim_end).collect();
    assert_eq!(
        lines,
        [
            "ok   schema 1: migrations/1.sql changed",
            "FAIL schema 2: migrations/1.sql changed; ran `make migrate`",
            "     - expected: Migrate a copy",
            "FAIL schema 3: migrations/1.sql changed; failed `make migrate`",
            "     + asked:    Migrate a copy (asked for by the project's .checkpointd.yml)",
            "1 passed, 2 failed",
        ]
    );
}

#[test]
fn a_new_rule_comes_with_an_example_that_holds() {
    let user = User::new();
    let project = project(&user, &RUST);
    let new = |changed: &str| {
        user.run(&[
            "rules",
            "new",
            "--project",
            path(&project),
            "--name",
            "schema",
            "--include",
            "migrations/**",
            "--text",
            "Migrate a copy",
            "--command",
            "make migrate",
            "--changed",
            changed,
        ])
    };
    let (code, _, error) = new("src/lib.rs");
    assert!(code == 1 && error.contains("its example fails"), "{error}");
    assert!(!project.join(".checkpointd.yml").exists());
    let (code, out, error) = new("migrations/1.sql");
    assert_eq!(code, 0, "{out}{error}");
    let tested = user.well(&["rules", "test", "--project", path(&project)]);
    assert!(tested.contains("2 passed, 0 failed"), "{tested}");
    let (code, _, error) = user.run(&["rules", "new", "--project", path(&project)]);
    assert!(code == 2 && error.contains("no answer to"), "{error}");
}
