//! Whose the changes of a turn are, by its calls and the times of files.

use std::time::Duration;

use journal::{ChangedFile, Timestamp, ToolCall, ToolKind};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + second * 1_000_000)
}

fn shell(line: &str, from: i64, seconds: u64) -> ToolCall {
    ToolCall {
        tool: "Bash".into(),
        kind: ToolKind::Shell,
        command: Some(line.into()),
        finished: true,
        at: at(from),
        duration_ms: Some(seconds * 1_000),
        ..ToolCall::default()
    }
}

fn edit(path: &str, from: i64) -> ToolCall {
    ToolCall {
        tool: "Edit".into(),
        kind: ToolKind::Edit,
        paths: vec![path.into()],
        ..shell("", from, 1)
    }
}

#[test]
fn only_calls_that_look_test_or_check_cannot_write() {
    let writes = |line: &str| could_write(&shell(line, 0, 1), &shell::read(line));
    for line in [
        "cat a.py; sleep 5",
        "git status && git diff | head",
        "pytest -q 2>&1 | tail -5",
        "cargo test -p api",
        "cargo clippy",
        "python3 -m pytest tests",
        "npm test",
        "tsc --noEmit",
        "sed -n 1,5p a.py",
        "grep -rn x . | wc -l",
        "go test ./...",
    ] {
        assert!(!writes(line), "{line}");
    }
    for line in [
        "python3 - <<'E'\nopen('a.py', 'w').write('')\nE",
        "git apply fix.patch",
        "node -e 'x'",
        "cargo clippy --fix",
        "cargo fmt",
        "black .",
        "make",
        "sed -i s/a/b/ a.py",
        "find . -name '*.py' -exec sed -i s/a/b/ {} +",
        "echo x > a.py",
        "ls && ./generate.sh",
        "git commit -am x",
        "patch -p1 < fix.diff",
        "ed -s a.py <<< w",
        "tar xf a.tar",
        "for f in *.py; do sed -i s/a/b/ $f; done",
        "perl -pi -e s/a/b/ a.py",
        "git ls-files | xargs sed -i s/a/b/",
        "jq . a.json | sponge a.json",
        "curl -o a.py localhost/a.py",
        "curl -O localhost/a.py",
        "wget localhost/a.py",
        "sort -o a.py a.py",
        "awk -i inplace 1 a.py",
        "yq -i . a.yml",
        "npx prettier --write .",
        "git checkout -- a.py",
        "git stash pop",
        "cargo fix",
        "dd if=/dev/null of=a.py",
        "find . -name '*.py' -fprint a.py",
        "ssh box pytest",
        "pytest --snapshot-update",
        "env python3 gen.py",
        "bash gen.sh",
        "sh -c 'python3 gen.py'",
        "truncate -s 0 a.py",
        "rsync b/ a/",
        "ruff check --fix .",
        "eslint --fix src",
    ] {
        assert!(writes(line), "{line}");
    }
    let other = |tool: &str| ToolCall {
        tool: tool.into(),
        kind: ToolKind::Other,
        ..shell("", 0, 1)
    };
    let line = CommandLine::default();
    assert!(could_write(&other("mcp__ide__replace"), &line));
    assert!(!could_write(&other("AskUserQuestion"), &line));
    assert!(!could_write(&other("web_fetch"), &line));
}

/// A turn of 100 seconds whose calls are these; `a.py` was written at a second.
struct Case {
    name: &'static str,
    calls: Option<Vec<ToolCall>>,
    /// What the file held before the turn, if that is known, and when it was looked at.
    before: Option<(Option<u64>, i64)>,
    written: i64,
    known: Known,
    is_own: bool,
    is_others: bool,
}

fn case(
    name: &'static str,
    calls: Vec<ToolCall>,
    written: i64,
    is_own: bool,
    is_others: bool,
) -> Case {
    Case {
        name,
        calls: Some(calls),
        before: Some((None, 1)),
        written,
        known: Known::default(),
        is_own,
        is_others,
    }
}

fn named() -> Known {
    Known {
        named: true,
        ..Known::default()
    }
}

fn script() -> ToolCall {
    shell("python3 -", 10, 5)
}

fn reads() -> ToolCall {
    shell("cat a.py", 10, 5)
}

fn cases() -> Vec<Case> {
    vec![
        case("written by a script", vec![script()], 12, true, false),
        case(
            "saved by a person after it",
            vec![script()],
            50,
            false,
            true,
        ),
        case("saved while it only read", vec![reads()], 12, false, true),
        case("no call at all", vec![], 12, false, true),
        Case {
            known: named(),
            ..case(
                "named, by a clock of its own",
                vec![edit("a.py", 10)],
                90,
                true,
                false,
            )
        },
        Case {
            known: Known {
                others: true,
                ..Known::default()
            },
            ..case("another session's edit", vec![script()], 12, false, true)
        },
        Case {
            calls: None,
            ..case("the calls are not known", vec![], 50, true, false)
        },
        case(
            "times of a transcript",
            vec![shell("ls", -500, 1)],
            50,
            true,
            false,
        ),
        case(
            "the clock went back",
            vec![shell("make", -500, 1)],
            -500,
            true,
            false,
        ),
    ]
}

fn cases_of_beginnings() -> Vec<Case> {
    vec![
        Case {
            before: Some((Some(7), 1)),
            known: named(),
            ..case(
                "put back to what it was",
                vec![edit("a.py", 10)],
                11,
                false,
                false,
            )
        },
        Case {
            before: Some((Some(7), 20)),
            known: named(),
            ..case(
                "the look at the beginning was late",
                vec![edit("a.py", 10)],
                11,
                true,
                false,
            )
        },
        Case {
            before: None,
            ..case(
                "old work, no look at the beginning",
                vec![script()],
                -900,
                false,
                false,
            )
        },
        Case {
            before: None,
            ..case(
                "by a person, no look at the beginning",
                vec![script()],
                50,
                false,
                true,
            )
        },
        Case {
            before: Some((Some(7), 1)),
            known: Known {
                kept: true,
                ..Known::default()
            },
            ..case(
                "left open by an earlier turn",
                vec![reads()],
                -900,
                true,
                false,
            )
        },
    ]
}

fn cases_of_ends() -> Vec<Case> {
    vec![
        case(
            "only the end of the call was reported",
            vec![ToolCall {
                duration_ms: None,
                ..script()
            }],
            5,
            true,
            false,
        ),
        case(
            "a command in the background",
            vec![ToolCall {
                finished: false,
                duration_ms: None,
                ..script()
            }],
            90,
            true,
            false,
        ),
    ]
}

#[test]
fn a_file_is_the_turns_if_a_call_names_it_or_could_have_written_it() {
    for case in cases()
        .into_iter()
        .chain(cases_of_beginnings())
        .chain(cases_of_ends())
    {
        let file = |hash| ChangedFile {
            path: "a.py".into(),
            hash,
        };
        let before: Vec<ChangedFile> = case
            .before
            .and_then(|(hash, _)| hash)
            .map(|hash| file(Some(hash)))
            .into_iter()
            .collect();
        let turn = Turn {
            calls: case.calls.as_deref(),
            began: Some(at(0)),
            stopped: at(100),
            before: case.before.map(|(_, second)| Before {
                files: &before,
                at: Some(at(second)),
            }),
        };
        let times = Times {
            written: at(case.written),
            changed: at(case.written),
            tick: Duration::from_millis(20),
            of: TimesOf::File,
        };
        let known = Known {
            times: Some(times),
            ..case.known
        };
        let told = tell(vec![file(Some(7))], &turn, |_| known);
        let found = (!told.own.is_empty(), !told.others.is_empty());
        assert_eq!(found, (case.is_own, case.is_others), "{}", case.name);
    }
}
