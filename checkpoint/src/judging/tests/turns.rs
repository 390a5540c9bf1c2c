//! Whole turns with the command lines and outputs that agents produce, and what a careful colleague would ask for.
//!
//! The tables in `turns/` were written before the rules were run on them. A turn begins with `== NAME`, perhaps with the
//! agent in brackets. `% ` lines describe the project, `edit`, `write`, `read`, `gone`, `changed` and `restored` lines name files, `$ `
//! is a command and `!` or `!N ` one that failed, `x ` one that was refused, `tool NAME` and `!tool NAME` another tool,
//! `notebook PATH` an edit of a notebook, `ps LINE` and `!ps LINE` a line of PowerShell; `| ` lines are the output of the call
//! before, `@ ` lines are the person's words, `< ` lines what the agent says between its calls, `> ` lines its last message. `? ` ends it with what is asked for.

use std::borrow::Cow;

use journal::{Agent, FileFacts, PromptOrigin, Timestamp};
use serde_json::{Value, json};

use super::*;
use crate::agents;
use crate::judging::Findings;
use crate::tools::ResultText;
use crate::transcript::Facts;
use crate::transcript::normal::{Entry, begun, fold};

const TABLES: [(&str, &str); 14] = [
    ("handed", include_str!("turns/handed.txt")),
    ("failures", include_str!("turns/failures.txt")),
    ("web", include_str!("turns/web.txt")),
    ("native", include_str!("turns/native.txt")),
    ("scripts", include_str!("turns/scripts.txt")),
    ("mixed", include_str!("turns/mixed.txt")),
    ("systems", include_str!("turns/systems.txt")),
    ("record", include_str!("turns/record.txt")),
    ("ran", include_str!("turns/ran.txt")),
    ("told", include_str!("turns/told.txt")),
    ("reached", include_str!("turns/reached.txt")),
    ("none", include_str!("turns/none.txt")),
    ("places", include_str!("turns/places.txt")),
    ("idle", include_str!("turns/idle.txt")),
];

/// One call as the table has it.
#[derive(Default)]
struct Line<'a> {
    word: &'a str,
    rest: &'a str,
    output: String,
}

struct Case<'a> {
    name: &'a str,
    agent: Agent,
    project: String,
    calls: Vec<Line<'a>>,
    person: String,
    said: String,
    asked: &'a str,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "#" {
            continue;
        }
        if word == "==" {
            let agent = match rest.rsplit_once(" [") {
                Some((_, "codex]")) => Agent::Codex,
                Some((_, "gemini]")) => Agent::Gemini,
                _ => Agent::Claude,
            };
            cases.push(Case {
                name: rest,
                agent,
                project: String::new(),
                calls: Vec::new(),
                person: String::new(),
                said: String::new(),
                asked: "",
            });
            continue;
        }
        let case = cases.last_mut().expect("a turn begins with ==");
        match word {
            "%" => case.project.extend([rest, "\n"]),
            "|" => {
                let call = case.calls.last_mut().expect("an output follows its call");
                call.output.extend([rest, "\n"]);
            }
            "<<" => {
                let call = case.calls.last_mut().expect("a script follows its line");
                call.output.extend(["\u{0}", rest, "\n"]);
            }
            "@" => case.person.extend([rest, "\n"]),
            ">" => case.said.extend([rest, "\n"]),
            "?" => case.asked = rest,
            _ => case.calls.push(Line {
                word,
                rest,
                output: String::new(),
            }),
        }
    }
    cases
}

/// The name of a tool and its input, as an agent calls it.
fn tool(agent: Agent, word: &str, rest: &str, script: &str) -> (String, Value) {
    let path = if rest.starts_with(['/', '~']) {
        rest.to_owned()
    } else {
        format!("{PROJECT}/{rest}")
    };
    let line = format!("{rest}{script}");
    let named = |name: &str, input: Value| (name.to_owned(), input);
    match (agent, word.trim_start_matches('!')) {
        (_, "tool") => named(rest, json!({})),
        (_, "notebook") => named(
            "NotebookEdit",
            json!({ "notebook_path": path, "new_source": "b" }),
        ),
        (_, "ps") => named("PowerShell", json!({ "command": line })),
        (Agent::Codex, "edit" | "write" | "gone") => {
            let head = match word {
                "gone" => "Delete File",
                "write" => "Add File",
                _ => "Update File",
            };
            let patch = format!("*** Begin Patch\n*** {head}: {rest}\n@@\n-a\n+b\n*** End Patch");
            named(
                "shell_command",
                json!({ "command": format!("apply_patch <<'EOF'\n{patch}\nEOF") }),
            )
        }
        (Agent::Codex, "read") => named("read_file", json!({ "file_path": path })),
        (Agent::Codex, _) => named("shell_command", json!({ "command": line })),
        (Agent::Gemini, "edit") => named(
            "replace",
            json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
        ),
        (Agent::Gemini, "write") => {
            named("write_file", json!({ "file_path": path, "content": "b" }))
        }
        (Agent::Gemini, "read") => named("read_file", json!({ "file_path": path })),
        (Agent::Gemini, "gone") => named(
            "run_shell_command",
            json!({ "command": format!("rm {rest}") }),
        ),
        (Agent::Gemini, _) => named("run_shell_command", json!({ "command": line })),
        (_, "edit") => named(
            "Edit",
            json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
        ),
        (_, "write") => named("Write", json!({ "file_path": path, "content": "b" })),
        (_, "read") => named("Read", json!({ "file_path": path })),
        (_, "gone") => named("Bash", json!({ "command": format!("rm {rest}") })),
        _ => named("Bash", json!({ "command": line })),
    }
}

/// A result as an agent writes it.
fn result(agent: Agent, word: &str, output: &str) -> ResultText<'static> {
    let failed = word.starts_with('!');
    let code: i64 = match word.strip_prefix('!') {
        None => 0,
        Some(code) => code.parse().unwrap_or(1),
    };
    let is_shell = !word.ends_with("tool") && !word.ends_with("edit") && !word.ends_with("read");
    let output = output.trim_end();
    let text = match agent {
        Agent::Codex => format!("Exit code: {code}\nWall time: 0.1 seconds\nOutput:\n{output}"),
        Agent::Gemini if is_shell => {
            format!("Output: {output}\nError: (none)\nExit Code: {code}\nSignal: (none)")
        }
        _ if failed && is_shell => format!("Exit code {code}\n{output}"),
        _ => output.to_owned(),
    };
    let has_flag = agent == Agent::Claude || !is_shell;
    ResultText {
        is_error: has_flag.then_some(failed),
        refused: word == "x",
        text: Cow::Owned(text),
        ..ResultText::default()
    }
}

/// Splits what follows a command into the rest of its line and what it printed.
fn script_and_output(line: &Line<'_>) -> (String, String) {
    let (script, output): (Vec<&str>, Vec<&str>) = line
        .output
        .lines()
        .partition(|line| line.starts_with('\u{0}'));
    let script = script
        .iter()
        .map(|line| line.replace('\u{0}', "\n"))
        .collect();
    (script, output.join("\n"))
}

fn evidence(case: &Case<'_>) -> Evidence {
    let adapter = agents::adapter(case.agent).expect("the agent is known");
    let mut entries = vec![Entry::User {
        text: "do it".into(),
        at: Timestamp::default(),
        origin: PromptOrigin::User,
    }];
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut held = FileFacts::default();
    for (at, line) in case.calls.iter().enumerate() {
        let hash = match line.word {
            "gone" => None,
            _ => Some(1),
        };
        if matches!(
            line.word,
            "edit" | "write" | "gone" | "changed" | "notebook" | "loosened" | "emptied"
        ) && !line.rest.starts_with(['/', '~'])
        {
            files.retain(|file| file.path != line.rest);
            files.push(ChangedFile {
                path: line.rest.to_owned(),
                hash,
            });
        }
        if line.word == "restored" {
            files.retain(|file| file.path != line.rest);
        }
        match line.word {
            "loosened" => held.loosened.push(line.rest.to_owned()),
            "emptied" => held.empty.push(line.rest.to_owned()),
            _ => {}
        }
        if matches!(line.word, "changed" | "restored" | "loosened" | "emptied") {
            continue;
        }
        if line.word == "<" {
            let text = Cow::Borrowed(line.rest);
            let at = Timestamp::default();
            entries.push(Entry::Assistant { text, at });
            continue;
        }
        let (script, output) = script_and_output(line);
        let id = format!("call-{at}");
        let (name, input) = tool(case.agent, line.word, line.rest, &script);
        let call = begun(adapter.tools, &id, &name, &input, Timestamp::default());
        entries.push(Entry::Call {
            call,
            is_echo: false,
            task: None,
        });
        entries.push(Entry::Result {
            id: id.into(),
            result: result(case.agent, line.word, &output),
            at: Timestamp::default(),
            duration_ms: None,
        });
    }
    let mut facts = Facts::default();
    fold(adapter.tools, &agents::authors(""), entries, &mut facts);
    let joined = crate::transcript::join(Some(facts), &[]);
    files.sort();
    let mut evidence = Evidence {
        changes: Changes::Known(files),
        timeline: joined.timeline,
        ..Evidence::default()
    };
    evidence.facts.outcomes = joined.outcomes;
    evidence.facts.files = held;
    evidence.facts.workspace = Some(project(&case.project));
    evidence.facts.prompts.push(case.person.clone());
    evidence.facts.last_message.clone_from(&case.said);
    evidence
}

/// Returns what is asked for, in words: the purposes of actions, and `errors`.
fn demands(findings: &Findings) -> String {
    let actions = findings.trace.iter().flat_map(|rule| &rule.actions);
    let due = actions
        .filter(|action| action.stands)
        .map(|action| action.purpose.as_str());
    let errors = findings.observations.iter().map(|_| "errors");
    let mut all: Vec<&str> = due.chain(errors).collect();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(" ")
    }
}

/// Nothing is asked for that a careful colleague would not ask for. What they would ask for, and the record does not show to
/// be open, is listed in `turns/silent.txt`.
#[test]
fn turns_are_asked_for_what_is_certainly_open() {
    let policy = policy();
    let (mut wrong, mut silent) = (Vec::new(), Vec::new());
    for (table, text) in TABLES {
        for case in cases(text) {
            let findings = find(&evidence(&case), Some(95_000), PROJECT, &policy);
            let asked = demands(&findings);
            for demand in asked.split(' ').filter(|demand| *demand != "nothing") {
                if !case.asked.split(' ').any(|open| open == demand) {
                    let traced = findings.trace.iter().flat_map(|rule| &rule.actions);
                    let why: Vec<&str> = traced
                        .flat_map(|action| &action.answers)
                        .map(|answer| answer.why.as_str())
                        .collect();
                    wrong.push(format!(
                        "{table}: {}: {demand}: {}",
                        case.name,
                        why.join("; ")
                    ));
                }
            }
            for open in case.asked.split(' ').filter(|open| *open != "nothing") {
                if !asked.split(' ').any(|demand| demand == open) {
                    silent.push(format!("{table}: {}: {open}\n", case.name));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(silent.concat(), include_str!("turns/silent.txt"));
}

#[test]
fn a_failure_is_named_by_what_failed() {
    let policy = policy();
    let said: Vec<String> = cases(include_str!("turns/remain.txt"))
        .iter()
        .flat_map(|case| find(&evidence(case), Some(95_000), PROJECT, &policy).observations)
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    Test failures remain: `pytest -q tests/test_b.py` failed (`FAILED tests/test_b.py::test_b - src/a.py:3: assert 1 == 2`), and nothing passed after it
    Build failures remain: `go build ./...` failed (`./main.go:2:13: undefined: x`), and nothing passed after it
    Type errors remain: `npx tsc --noEmit` failed (`src/a.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.`), and nothing passed after it
    Lint errors remain: `npx eslint src` failed (`3:1  error  'x' is assigned but never used`), and nothing passed after it
    ");
}

#[test]
fn what_is_doubtful_of_a_run_is_said_and_asks_for_nothing() {
    let policy = policy();
    for case in cases(include_str!("turns/doubtful.txt")) {
        let findings = find(&evidence(&case), Some(95_000), PROJECT, &policy);
        assert_eq!(demands(&findings), "nothing", "{}", case.name);
        let actions = findings.trace.iter().flat_map(|rule| &rule.actions);
        let answers = actions.flat_map(|action| &action.answers);
        let of_code: Vec<_> = answers.filter(|answer| answer.file == "a.py").collect();
        let [answer] = of_code[..] else {
            panic!("{}: {of_code:?}", case.name);
        };
        let said = match &answer.doubts[..] {
            [] => "nothing".to_owned(),
            doubts => doubts.join("; "),
        };
        assert_eq!(said, case.asked, "{}: {}", case.name, answer.why);
        assert_eq!(
            answer.verified,
            crate::judging::Verified::Done,
            "{}",
            case.name
        );
    }
}
