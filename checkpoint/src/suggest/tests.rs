use journal::{ChangedFile, Changes};

use super::*;
use crate::config::Config;
use crate::rules::Rule;
use crate::rules::pack_names::ProjectFacts;

fn policy(files: &[&str]) -> Policy {
    let facts = ProjectFacts {
        path: "/p".into(),
        files: files.iter().map(|name| (*name).to_owned()).collect(),
    };
    Config::default()
        .policy_for(&facts, None)
        .expect("a policy")
}

fn run(command: &str, is_error: bool) -> ToolCall {
    ToolCall {
        kind: ToolKind::Shell,
        command: Some(command.to_owned()),
        finished: true,
        is_error,
        ..ToolCall::default()
    }
}

fn turn(changed: &[&str], calls: Vec<ToolCall>) -> Evidence {
    let files = changed.iter().map(|path| ChangedFile {
        path: (*path).to_owned(),
        hash: Some(1),
    });
    let mut evidence = Evidence {
        changes: Changes::Known(files.collect()),
        ..Evidence::default()
    };
    evidence.timeline.calls = calls;
    evidence
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_micros(1_790_000_000_000_000 + second * 1_000_000)
}

#[test]
fn commands_that_verify_are_counted_by_what_changed() {
    let policy = policy(&["Cargo.toml"]);
    let task = Task {
        runner: "just".into(),
        name: "test".into(),
        ..Task::default()
    };
    let tasks = [task];
    let mut habits = Habits::default();
    let nothing = Ending {
        code_changed: true,
        nothing_run: true,
        ..Ending::default()
    };
    let one = turn(
        &["src/a.rs"],
        vec![
            run("just test --quiet", true),
            run("just test", false),
            run("echo just test", false),
            run("cargo test a::b", false),
        ],
    );
    habits.add(&one, Ending::default(), second(0), &policy, &tasks);
    habits.add(
        &turn(&["src/b.rs", "README.md"], Vec::new()),
        nothing,
        second(9),
        &policy,
        &tasks,
    );
    habits.add(
        &turn(&["src/b.rs"], vec![run("just test", false)]),
        Ending::default(),
        second(99),
        &policy,
        &tasks,
    );
    let rules = [
        RuleHistory {
            rule: "code",
            demanded: 8,
            met: Some(8),
            wrong: 0,
        },
        RuleHistory {
            rule: "tests only",
            demanded: 6,
            met: Some(0),
            wrong: 4,
        },
        RuleHistory {
            rule: "seldom",
            demanded: 2,
            met: Some(0),
            wrong: 2,
        },
    ];
    let found = suggest(&habits, &tasks, &rules, |_, _| true);
    assert_eq!(found.rules, 1);
    says_why(&found.text);
    let asked = std::cell::RefCell::new(Vec::new());
    let nothing = suggest(&habits, &tasks, &[], |changed, command| {
        asked.borrow_mut().push(format!("{changed}: {command}"));
        false
    });
    assert_eq!(nothing.rules, 0, "it would gain nothing");
    assert!(
        nothing.text.contains("ask for the same"),
        "{}",
        nothing.text
    );
    assert_eq!(asked.take(), ["src/b.rs: just test"]);
}

#[test]
fn commands_are_named_as_they_were_run() {
    let policy = policy(&["pyproject.toml"]);
    let mut habits = Habits::default();
    let calls = [
        "python -m pytest -q",
        "python3 -m pytest tests",
        "pytest -x",
    ];
    let calls = calls.map(|command| run(command, false)).to_vec();
    let turn = turn(&["app/main.py"], calls);
    habits.add(&turn, Ending::default(), second(0), &policy, &[]);
    let names: Vec<&str> = habits.commands.keys().map(String::as_str).collect();
    assert_eq!(names, ["pytest", "python -m pytest", "python3 -m pytest"]);
}

fn says_why(text: &str) {
    for part in [
        "from 3 turns since 2026-",
        "#   just test: runs 3, passed 2,",
        "#   cargo test: runs 1, passed 1,",
        "# Rule `code` works: it asked 8 times and was always met.",
        "# Rule `tests only` should go or change: it asked 6 times, was met 0 times, and was marked wrong 4 times.",
        "# .rs files changed in 3 turns",
        "1 of these ended with nothing run after it.",
        "evidence: [\"just test\"]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("seldom") && !text.contains(".md"), "{text}");
}

#[test]
fn a_project_without_turns_gets_rules_from_its_files() {
    for (files, path, tasks, expected) in [
        (vec!["Cargo.toml"], "src/lib.rs", vec![], "cargo test"),
        (
            vec!["package.json"],
            "src/index.ts",
            vec![("npm", "lint"), ("npm", "test")],
            "npm test",
        ),
        (
            vec!["pyproject.toml"],
            "app/main.py",
            vec![("make", "check")],
            "make check",
        ),
    ] {
        let policy = policy(&files);
        let tasks: Vec<Task> = tasks
            .into_iter()
            .map(|(runner, name)| Task {
                runner: runner.into(),
                name: name.into(),
                ..Task::default()
            })
            .collect();
        let mut habits = Habits::default();
        habits.add_file(path, &policy);
        habits.add_file("README.md", &policy);
        let text = suggest(&habits, &tasks, &[], |_, _| true).text;
        assert!(
            text.contains(&format!("evidence: [\"{expected}\"]")),
            "{text}"
        );
        let facts = ProjectFacts {
            path: "/p".into(),
            files: files.iter().map(|name| (*name).to_owned()).collect(),
        };
        let config = Config::default();
        let file = config
            .project_file(".checkpointd.yml", &text)
            .expect("a file");
        let with = config.policy_with(&facts, Some(&file), true);
        assert!(
            with.rules.iter().any(|rule| rule.pack == Rule::OWN_PACK),
            "{text}"
        );
        for (rule, example) in file.examples() {
            let turn = crate::judging::Imagined {
                changed: &example.changed,
                ran: &example.ran,
                failed: &example.failed,
            };
            let asked = crate::judging::asked_after(turn, None, &with);
            assert_eq!(
                example.compare(&asked),
                (Vec::new(), Vec::new()),
                "{rule}: {asked:?}"
            );
        }
    }
}
