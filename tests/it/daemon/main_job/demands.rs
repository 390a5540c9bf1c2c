//! What is asked for at the end of turns with real work in them, through the real client and daemon with real repositories
//! (spec EVID-2 to EVID-14, FILES-8 to FILES-10, HYG-1, RULE-19).

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::git::commit_all;

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::{run, wait_until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkpointd");
/// The name of a turn for which no user waits.
const ALONE: &str = "alone";

/// What the turn shows, the files before it, what the agent does, the kinds of what is asked for, and words of it.
///
/// `edit FILE = TEXT` writes a file, `change` edits it, `$ LINE -> OUTPUT` is a command that ended well, `!` one that failed,
/// `gone FILE` a read of a file that is not there, and `long KB` are lines of the transcript that say nothing.
type Turn = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
    &'static str,
    &'static str,
);

const PYTHON: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = \"shop\"\n"),
    ("src/cart.py", "# The cart.\nTOTAL = 1\n"),
    (
        "tests/test_cart.py",
        "from cart import TOTAL\n\ndef test_it():\n    assert TOTAL\n",
    ),
];
const WEB: &[(&str, &str)] = &[
    (
        "package.json",
        "{\"name\": \"web\", \"version\": \"1.0.0\", \"scripts\": {\"verify\": \"tsc --noEmit && vitest run\"}, \
         \"dependencies\": {\"zod\": \"3.0.0\"}}\n",
    ),
    ("src/a.ts", "export const a = 1;\n"),
    ("src/a.test.ts", "import { a } from './a';\n"),
];
const PACKAGES: &[(&str, &str)] = &[
    ("package.json", "{\"name\": \"all\", \"private\": true}\n"),
    ("pnpm-workspace.yaml", "packages: [web, api]\n"),
    (
        "web/package.json",
        "{\"name\": \"web\", \"scripts\": {\"test\": \"vitest run\"}}\n",
    ),
    ("web/a.ts", "export const a = 1;\n"),
    ("web/a.test.ts", "import { a } from './a';\n"),
    (
        "api/package.json",
        "{\"name\": \"api\", \"scripts\": {\"test\": \"vitest run\"}}\n",
    ),
    ("api/b.ts", "export const b = 1;\n"),
    ("api/b.test.ts", "import { b } from './b';\n"),
];
const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.com/shop\n\ngo 1.22\n"),
    ("main.go", "package main\n\nfunc main() {}\n"),
    ("db/schema.sql", "create table a (id int);\n"),
];
const CART: &str = "edit src/cart.py = TOTAL = 2\n";

const TURNS: &[Turn] = &[
    ("nothing was run", PYTHON, &[CART], "tests", "pytest"),
    (
        "a run through wrappers and a mask counts by its output",
        PYTHON,
        &[
            CART,
            "$ docker compose exec app pytest -q | tail -1 -> 5 passed in 0.20s",
        ],
        "",
        "",
    ),
    (
        "a turn is read back to its beginning",
        PYTHON,
        &[
            CART,
            "$ docker compose exec app pytest -q | tail -1 -> 5 passed in 0.20s",
            "long 900",
        ],
        "",
        "",
    ),
    (
        "of a masked run that says nothing it is not known how it ended",
        PYTHON,
        &[CART, "$ pytest -q || true -> "],
        "",
        "",
    ),
    (
        "a masked run that failed is seen",
        PYTHON,
        &[CART, "$ pytest -q || true -> 3 failed, 2 passed in 0.31s"],
        "tests",
        "",
    ),
    (
        "a summary that was only printed is none",
        PYTHON,
        &[CART, "$ echo '5 passed in 0.20s' -> 5 passed in 0.20s"],
        "tests",
        "",
    ),
    (
        "a run before the edit is none",
        PYTHON,
        &["$ pytest -q -> 5 passed in 0.20s", CART],
        "tests",
        "",
    ),
    (
        "the project's own command is named",
        WEB,
        &["edit src/a.ts = export const a = 2;\n"],
        "tests",
        "npm run verify",
    ),
    (
        "and counts as what it runs",
        WEB,
        &[
            "edit src/a.ts = export const a = 2;\n",
            "$ npm run verify -> Tests  3 passed (3)",
        ],
        "",
        "",
    ),
    (
        "of a run in another package it is not known what it used",
        PACKAGES,
        &[
            "edit web/a.ts = export const a = 2;\n",
            "$ pnpm --filter api test -> Tests  3 passed (3)",
        ],
        "",
        "",
    ),
    (
        "one in the package is enough",
        PACKAGES,
        &[
            "edit web/a.ts = export const a = 2;\n",
            "$ pnpm --filter web test -> Tests  3 passed (3)",
        ],
        "",
        "",
    ),
    (
        "without a test a build is enough",
        GO,
        &[
            "edit main.go = package main\n\nfunc main() { println(1) }\n",
            "$ go build ./... -> ",
        ],
        "",
        "",
    ),
    (
        "settings, data and a version are no code",
        WEB,
        &[
            "edit .github/workflows/ci.yml = on: push\n",
            "edit data/prices.json = {\"a\": 1}\n",
            "edit package.json = {\"name\": \"web\", \"version\": \"1.0.1\", \"dependencies\": {\"zod\": \"3.0.0\"}}\n",
        ],
        "",
        "",
    ),
    (
        "dependencies that changed are to be installed",
        WEB,
        &[
            "edit package.json = {\"name\": \"web\", \"dependencies\": {\"zod\": \"3.0.0\", \"hono\": \"4.0.0\"}}\n",
        ],
        "install",
        "npm install",
    ),
    (
        "comments are no code",
        PYTHON,
        &["edit src/cart.py = # The cart of the shop.\nTOTAL = 1\n"],
        "",
        "",
    ),
    (
        "a failure that names no changed file is no demand",
        PYTHON,
        &[
            CART,
            "$ pytest -q -> 5 passed in 0.20s",
            "! python3 tools/load.py -> Traceback (most recent call last):\nValueError: no cart",
        ],
        "",
        "",
    ),
    (
        "answers are no failures",
        PYTHON,
        &[
            "! git config --get shop.key -> Exit code 1",
            "! grep -rn nothing src -> Exit code 1",
            "! command -v uv -> Exit code 1",
            "gone src/none.py",
        ],
        "",
        "",
    ),
    (
        "nor are tools that are not there",
        PYTHON,
        &[
            "! mypy src -> /bin/bash: line 1: mypy: command not found",
            CART,
            "$ pytest -q -> 5 passed in 0.20s",
        ],
        "",
        "",
    ),
    (
        "a tool that checks by its name is believed",
        PYTHON,
        &[CART, "$ npx acme verify -> ready"],
        "",
        "",
    ),
    (
        "of one that is not known either it is not known what it used",
        PYTHON,
        &[CART, "$ npx acme deploy -> ready"],
        "",
        "",
    ),
];

struct Session<'a> {
    daemon: &'a Daemon,
    project: PathBuf,
    number: usize,
    turn: &'static str,
    /// Whether calls are examined, for which the turn's beginning is looked at.
    judges_by_contents: bool,
}

impl Session<'_> {
    fn id(&self) -> String {
        format!("5f1c9f0e-0d7c-4a51-8f0e-3f1f0c7d{:04}", self.number)
    }

    fn call(&self, event: &str, more: Value) {
        let mut payload = json!({
            "session_id": self.id(),
            "transcript_path": self.transcript(),
            "cwd": self.project,
            "hook_event_name": event,
            "prompt_id": self.turn,
        });
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let mut client = self.daemon.home.client(&["claude", event]);
        if self.turn == ALONE {
            client.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
        }
        let output = run(&mut client, payload.to_string().as_bytes());
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..])
        );
    }

    /// Plays a turn, and returns its decision.
    fn play(&self, steps: &[&str]) -> Value {
        let is_begun = || {
            let heads = self
                .daemon
                .ask(&["journal", "tail", "--json", "--kind", "head_seen"]);
            heads
                .iter()
                .any(|head| head.to_string().contains(&self.id()))
        };
        self.call(
            "UserPromptSubmit",
            json!({ "prompt": format!("go on, {}", self.turn) }),
        );
        if self.judges_by_contents {
            wait_until(is_begun);
        }
        self.note("user", &json!(format!("go on, {}", self.turn)));
        for (at, step) in steps.iter().enumerate() {
            self.tool(at, step);
        }
        let end = json!({ "stop_hook_active": false, "last_assistant_message": self.turn });
        self.call("Stop", end);
        let decisions = self.daemon.ask(&["audit", "--json"]);
        decisions.last().expect("the stop was decided").clone()
    }

    fn transcript(&self) -> PathBuf {
        self.daemon
            .home
            .path()
            .join(format!("turn{}.jsonl", self.number))
    }

    /// Writes a line of the transcript.
    fn note(&self, role: &str, content: &Value) {
        let line = json!({
            "type": role,
            "uuid": "u",
            "sessionId": "s",
            "cwd": self.project,
            "timestamp": jiff::Timestamp::now().to_string(),
            "message": { "role": role, "content": content },
        });
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.transcript());
        writeln!(file.expect("opens"), "{line}").expect("writes");
    }

    fn lengthen(&self, count: usize) {
        let text = json!([{ "type": "text", "text": "word ".repeat(200) }]);
        (0..count).for_each(|_| self.note("assistant", &text));
    }

    fn tool(&self, at: usize, step: &str) {
        let (mark, rest) = step.split_once(' ').expect("a mark");
        if mark == "long" {
            return self.lengthen(rest.parse().expect("a number"));
        }
        let (tool, input, after) = match mark {
            "edit" => {
                let (file, text) = rest.split_once(" = ").expect("a text");
                let path = self.project.join(file);
                (
                    "Write",
                    json!({ "file_path": path, "content": text }),
                    json!({ "tool_response": { "filePath": path, "success": true } }),
                )
            }
            "change" => {
                let (file, text) = rest.split_once(" = ").expect("a text");
                let path = self.project.join(file);
                (
                    "Edit",
                    json!({ "file_path": path, "old_string": "TOTAL = 1\n", "new_string": text }),
                    json!({ "tool_response": { "filePath": path } }),
                )
            }
            "gone" => (
                "Read",
                json!({ "file_path": self.project.join(rest) }),
                json!({ "error": "File does not exist.", "is_interrupt": false }),
            ),
            _ => {
                let (line, output) = rest.split_once(" -> ").expect("an output");
                let after = if mark == "$" {
                    json!({ "tool_response": { "stdout": output, "stderr": "", "interrupted": false } })
                } else {
                    json!({ "error": format!("Exit code 1\n{output}"), "is_interrupt": false })
                };
                ("Bash", json!({ "command": line }), after)
            }
        };
        let id = format!("{}{at}", self.turn);
        let mut fields = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
        self.call("PreToolUse", fields.clone());
        if let Some(text) = ["content", "new_string"]
            .into_iter()
            .find_map(|name| fields["tool_input"][name].as_str())
        {
            let path = fields["tool_input"]["file_path"].as_str().expect("a path");
            put(Path::new(path), text);
        }
        let id = fields["tool_use_id"].clone();
        let input = &fields["tool_input"];
        let call = json!({ "type": "tool_use", "id": id, "name": tool, "input": input });
        self.note("assistant", &json!([call]));
        let has_failed = after.get("error").is_some();
        let said = [&after["error"], &after["tool_response"]["stdout"]];
        let text = said.into_iter().find_map(Value::as_str);
        let text = text.unwrap_or("File created successfully.");
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": has_failed });
        self.note("user", &json!([result]));
        let more = after.as_object().expect("an object").clone();
        fields.as_object_mut().expect("an object").extend(more);
        let event = if has_failed {
            "PostToolUseFailure"
        } else {
            "PostToolUse"
        };
        self.call(event, fields);
    }
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("writes");
}

/// Plays a turn in a repository of its own, and returns its decision.
fn play(daemon: &Daemon, number: usize, files: &[(&str, &str)], steps: &[&str]) -> Value {
    let project = daemon.home.path().join(format!("project{number}"));
    for (path, text) in files {
        put(&project.join(path), text);
    }
    commit_all(&project);
    let session = Session {
        daemon,
        project,
        number,
        turn: "one",
        judges_by_contents: true,
    };
    let decision = session.play(steps);
    let decided = daemon.ask(&["audit", "--json"]).len();
    assert_eq!(decided, number + 1, "the stop was decided");
    decision
}

/// Returns what a decision asks for: kinds, and the words.
fn asked(decision: &Value) -> (String, String) {
    let actions = decision["actions"].as_array().expect("a list");
    let text = |action: &Value| action["text"].as_str().unwrap_or_default().to_owned();
    let texts: Vec<String> = actions.iter().map(text).collect();
    let kind = |text: &String| {
        if text.starts_with("Install") {
            "install"
        } else {
            "tests"
        }
    };
    let mut kinds: Vec<&str> = texts.iter().map(kind).collect();
    let observations = decision["observations"].to_string();
    let stands = ["returned errors", "errors remain", "failures remain"];
    if stands.iter().any(|words| observations.contains(words)) {
        kinds.push("errors");
    }
    let words = format!("{} {observations}", texts.join(" "));
    (kinds.join(" "), words)
}

#[test]
fn what_is_asked_for_is_open() {
    let daemon = Daemon::with(EVERY_STOP);
    let mut wrong = Vec::new();
    for (number, (what, files, steps, kinds, words)) in TURNS.iter().enumerate() {
        let decision = play(&daemon, number, files, steps);
        let (found, text) = asked(&decision);
        if found != *kinds || !text.contains(words) {
            wrong.push(format!("{what}: {found:?} {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    daemon.verify();
}

#[test]
fn a_command_is_named_only_if_it_checks_the_files() {
    let daemon = Daemon::with(EVERY_STOP);
    let code = "edit main.go = package main\n\nfunc main() { println(2) }\n";
    let schema = "edit db/schema.sql = create table a (id int, b int);\n";
    let named = |number: usize, steps: &[&str]| {
        let decision = play(&daemon, number, GO, steps);
        let (kinds, text) = asked(&decision);
        (kinds == "tests", text.contains("go test"))
    };
    assert_eq!(named(0, &[code]), (true, true));
    assert!(!named(1, &[schema]).1);
    daemon.verify();
}

#[test]
fn an_agent_in_a_subfolder_keeps_the_settings_of_its_project() {
    let daemon = Daemon::with(EVERY_STOP);
    let top = daemon.home.path().join("shop");
    for (path, text) in PYTHON {
        put(&top.join(path), text);
    }
    put(&top.join(".checkpointd.yml"), "enabled: false\n");
    commit_all(&top);
    let session = Session {
        daemon: &daemon,
        project: top.join("src"),
        number: 0,
        turn: "one",
        judges_by_contents: true,
    };
    session.call("UserPromptSubmit", json!({ "prompt": "go on" }));
    session.tool(0, "edit cart.py = TOTAL = 3\n");
    session.call("Stop", json!({ "stop_hook_active": false }));
    let decisions = daemon.ask(&["audit", "--json"]);
    assert_eq!(decisions[0]["reason"], "project_off");
    daemon.verify();
}

#[test]
fn the_letter_counts_only_what_the_turn_itself_read() {
    let daemon = Daemon::with(&format!("{EVERY_STOP}judgment: letter\n"));
    let read = "$ cat src/cart.py -> TOTAL = 1";
    let project = daemon.home.path().join("project0");
    for (path, text) in PYTHON {
        put(&project.join(path), text);
    }
    commit_all(&project);
    for (turn, before, is_asked) in [
        ("one", Some(read), false),
        ("two", None, true),
        ("three", Some(read), false),
    ] {
        let session = Session {
            project: project.clone(),
            daemon: &daemon,
            number: 0,
            turn,
            judges_by_contents: false,
        };
        let change = format!("change src/cart.py = TOTAL = '{turn}'\n");
        let lines: Vec<&str> = before.into_iter().chain([change.as_str()]).collect();
        let said = session.play(&lines)["observations"].to_string();
        assert_eq!(
            said.contains("without being read"),
            is_asked,
            "{turn} {said}"
        );
    }
}

#[test]
fn explain_names_all_that_keeps_a_stop_quiet_without_a_user() {
    let daemon = Daemon::with("min_turn: 0s\n");
    let steps = [
        "edit src/cart.py = TOTAL = 2\n",
        "$ pytest -q -> 5 passed in 0.10s",
    ];
    let project = daemon.home.path().join("project");
    for (path, text) in PYTHON {
        put(&project.join(path), text);
    }
    commit_all(&project);
    let session = Session {
        daemon: &daemon,
        project,
        number: 0,
        turn: ALONE,
        judges_by_contents: true,
    };
    let decision = session.play(&steps);
    assert_eq!(decision["reason"], "headless");
    let seq = decision["seq"].to_string();
    let output = run(&mut daemon.home.command(PROGRAM, &["explain", &seq]), b"");
    let text = String::from_utf8(output.stdout).expect("text");
    let text = Vec::from_iter(text.split_whitespace()).join(" ");
    let advice =
        "`checkpointd config set headless always` and `checkpointd config set all_clear message`";
    assert!(text.contains(advice), "{text}");
}
