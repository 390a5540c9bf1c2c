//! Commands of the project that are not known (spec EVID-25), launchers of Windows, and commands that would check none of the
//! files (spec RULE-19).

use proptest::prelude::*;

use super::*;
use crate::policy::Unknown;

fn asks(workspace: &Workspace, lines: &[&str]) -> bool {
    !asked(workspace, lines).ends_with("    -")
}

#[test]
fn what_checks_by_its_name_is_believed() {
    let tested = project("src/a.py < tests/test_a.py");
    let enough = [
        "$ acme verify",
        "$ npx acme-kit check --all",
        "$ cd /home/me/app && acme validate",
        "$ ./tools/selfcheck && ./tools/verify.sh",
        "$ ok-verify src",
        "$ uv run acme test:fast",
    ];
    for line in enough {
        assert!(!asks(&tested, &["edit src/a.py", line]), "{line}");
    }
    let not_enough = [
        "$ acme deploy",
        "$ acme verify --help",
        "! acme verify -> Exit code 1",
        "$ acme verify | tail -3",
        "$ acme verify || true",
        "$ git fsck",
        "$ gh pr checks",
        "$ npm ci",
        "$ pip check",
        "$ flutter doctor",
        "$ docker compose check",
        "$ echo verify",
        "$ make lint",
        "$ ./run.sh",
    ];
    for line in not_enough {
        assert!(asks(&tested, &["edit src/a.py", line]), "{line}");
    }
    assert!(asks(&tested, &["$ acme verify", "edit src/a.py"]));
    let apart = project("a: a\n b: b\n a/x.py < a/test_x.py");
    assert!(asks(&apart, &["edit a/x.py", "$ cd b && acme verify"]));
    assert!(!asks(&apart, &["edit a/x.py", "$ cd a && acme verify"]));
}

#[test]
fn where_no_check_is_known_a_run_of_the_project_is_enough() {
    let plain = project("x: x");
    let enough = [
        "$ ./bin/console --once",
        "$ /home/me/app/build/demo 3",
        "$ python3 tools/drive.py",
        "$ python3 - <<'EOF'\nsend(open('app/core.janet').read())\nEOF",
        "$ cd app && ../bin/repl core.janet",
    ];
    for line in enough {
        assert!(!asks(&plain, &["edit app/core.janet", line]), "{line}");
    }
    let not_enough = [
        "$ ls",
        "$ cat app/core.janet",
        "$ git commit -am x",
        "$ /usr/bin/thing app",
        "$ thing",
        "$ python3 -c 'print(1)'",
        "$ chmod +x ./bin/console",
        "$ ./bin/console --help",
        "! ./bin/console -> Exit code 2",
        "$ ./bin/console | tail -1",
        "$ mkdir ./build/x",
    ];
    for line in not_enough {
        assert!(asks(&plain, &["edit app/core.janet", line]), "{line}");
    }
    // What a table runs is judged by it.
    assert!(asks(
        &plain,
        &["edit app/core.py", "$ ./bin/console --once"]
    ));
    // Where a check is known, it is asked for.
    let crate_of_rust = project(". usual build: cargo build");
    assert!(asks(
        &crate_of_rust,
        &["edit src/a.rs", "$ ./bin/console --once"]
    ));
    let built = project("src/core.janet < tests/core_test.janet");
    assert!(asks(
        &built,
        &["edit src/core.janet", "$ ./bin/console --once"]
    ));
}

#[test]
fn a_policy_from_before_the_key_believes_none() {
    let mut old = policy();
    old.verify.unknown = Unknown::default();
    let tested = project("src/a.py < tests/test_a.py");
    let text = asked_by(&old, &tested, &["edit src/a.py", "$ acme verify"]);
    assert!(!text.ends_with("    -"), "{text}");
}

#[test]
fn launchers_of_windows_are_the_programs_that_they_start() {
    let web = project("src/a.ts < src/a.test.ts");
    for line in [
        "$ npm.cmd test",
        "$ ./node_modules/.bin/vitest.CMD run",
        "$ pnpm.cmd test",
    ] {
        assert!(!asks(&web, &["edit src/a.ts", line]), "{line}");
    }
    let jvm = project("src/main/A.java < src/test/ATest.java");
    assert!(!asks(
        &jvm,
        &["edit src/main/A.java", "$ ./gradlew.bat test"]
    ));
    let script = project("x: x");
    assert!(!asks(&script, &["edit tools/make.cmd", "$ tools/make.cmd"]));
}

#[test]
fn a_command_is_named_that_checks_all_the_files() {
    let go = project(". usual build: go build ./...");
    let named = |lines: &[&str]| asked(&go, lines).contains('`');
    assert!(named(&["edit cmd/a/main.go"]));
    assert!(!named(&["edit db/schema.sql"]));
    assert!(!named(&["edit Makefile"]));
    assert!(!named(&["edit cmd/a/main.go", "edit db/schema.sql"]));
    let web = project(". npm build: vite build");
    let named = |lines: &[&str]| asked(&web, lines).contains("`npm run build`");
    assert!(named(&[
        "edit src/a.ts",
        "edit src/site.css",
        "edit index.html"
    ]));
    assert!(!named(&["edit tools/load.py"]));
    assert!(!named(&["edit db/schema.sql"]));
}

proptest! {
    /// What an unknown command prints, and its options, do not make it a check; its name does.
    #[test]
    fn only_the_name_makes_a_check(name in "[b-d]{3,8}", option in "--[b-d]{2,6}", said in "[ -~]{0,20}") {
        let tested = project("src/a.py < tests/test_a.py");
        let line = format!("$ {name} {option} -> {said}");
        prop_assert!(asks(&tested, &["edit src/a.py", &line]));
        let line = format!("$ {name} verify {option}");
        prop_assert!(!asks(&tested, &["edit src/a.py", &line]));
        // If it is hidden, or before the edit, it does not count.
        let hidden = format!("$ {name} verify {option} | cat");
        prop_assert!(asks(&tested, &["edit src/a.py", &hidden]));
        prop_assert!(asks(&tested, &[&line, "edit src/a.py"]));
    }
}
