//! Antigravity, which was not run: hook calls made from its documentation, through the installed commands.
//!
//! It ends a turn if an answer is not JSON of the documented form, so each answer is checked against that form.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::machine::{Machine, RunningDaemon};
use crate::support::{put_script, run};

const EVERY_STOP: &str = "min_turn: 0s\nunchanged: message\n";
const HOOKS: &str = ".gemini/config/hooks.json";
const RECORDED: &str = "tests/data/fixtures/antigravity/documented";

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Returns a machine with Antigravity and its hooks, and what its user had before.
fn set_up(hooks: Option<&str>) -> (Machine, Tree) {
    let machine = Machine::with(&[("agy", "1.2.1")]);
    machine.write(".config/checkpointd/config.yml", EVERY_STOP);
    machine.write(".gemini/config/mcp_config.json", "{}\n");
    if let Some(text) = hooks {
        machine.write(HOOKS, text);
    }
    let before = machine.tree();
    machine.ok(&["init", "--agent", "antigravity"]);
    (machine, before)
}

fn recorded(ending: &str) -> String {
    let file = format!("{RECORDED}{ending}");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("recorded")
}

/// Returns the documented calls, at work in the machine's home.
fn documented(machine: &Machine) -> Vec<Value> {
    let home = machine.home().display().to_string();
    let text = recorded(".ndjson").replace("/home/user/project", &home);
    let text = text.replace("/home/user", &home);
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Returns the command of an event, by the documented form: groups for tools only.
fn command(machine: &Machine, event: &str) -> String {
    let set: Value = serde_json::from_str(&machine.read(HOOKS)).expect("JSON");
    let entry = &set["checkpointd"][event][0];
    let hook = match event {
        "PostToolUse" => {
            assert_eq!(entry["matcher"], "*");
            &entry["hooks"][0]
        }
        _ => entry,
    };
    assert_eq!(hook["type"], "command");
    hook["command"].as_str().expect("a command").to_owned()
}

/// Makes a call and returns the answer, which has the documented form: an object, with a decision to continue and its reason
/// for a stop, or with nothing.
fn answer(machine: &Machine, event: &str, payload: &[u8]) -> Option<String> {
    answer_of(machine, &command(machine, event), "60000", payload)
}

fn answer_of(machine: &Machine, command: &str, wait: &str, payload: &[u8]) -> Option<String> {
    let mut shell = machine.command("sh", &["-c", command]);
    shell
        .env("CHECKPOINTD_STOP_WAIT_MS", wait)
        .env("CHECKPOINTD_PLAIN_WAIT_MS", wait);
    let output = run(&mut shell, payload);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let said = said.as_object().expect("an object");
    if said.is_empty() {
        return None;
    }
    assert_eq!((said.len(), &said["decision"]), (2, &json!("continue")));
    Some(said["reason"].as_str().expect("a text").to_owned())
}

/// Writes the transcript as far as it goes at a time.
fn write_transcript(machine: &Machine, call: &Value) {
    let home = machine.home().display().to_string();
    let path = call["payload"]["transcriptPath"].as_str().expect("a path");
    let at = &call["at"].as_str().expect("a time")[..19];
    let text = recorded(".transcripts/transcript_full.jsonl");
    let is_written = |line: &&str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        line["created_at"].as_str().expect("a time")[..19] <= *at
    };
    let lines = text.lines().filter(is_written);
    let text = lines.map(|line| format!("{}\n", line.replace("/home/user/project", &home)));
    let path = Path::new(path)
        .strip_prefix(machine.home())
        .expect("a path");
    machine.write(&path.to_string_lossy(), text.collect::<String>());
}

#[test]
fn a_turn_is_held_once_and_its_second_stop_passes() {
    let (machine, before) = set_up(None);
    let daemon = RunningDaemon::start(&machine);
    let mut answers = Vec::new();
    for told in documented(&machine) {
        write_transcript(&machine, &told);
        let event = told["event"].as_str().expect("an event");
        let said = answer(&machine, event, told["payload"].to_string().as_bytes());
        if event == "Stop" {
            answers.push(said);
        } else {
            assert_eq!(said, None, "{told}");
        }
    }
    let [Some(first), None] = &answers[..] else {
        panic!("{answers:?}");
    };
    assert!(first.starts_with("[checkpointd] "), "{first}");
    let decisions = machine.rows(&["audit", "--json", "--agent", "antigravity"]);
    let made = decisions
        .iter()
        .map(|row| [&row["verdict"], &row["delivery"]].map(|word| word.as_str().unwrap_or("")));
    assert_eq!(
        made.collect::<Vec<_>>(),
        [["inject", "confirmed"], ["pass", "none"]],
        "{decisions:?}"
    );
    let sessions = machine.rows(&["sessions", "--json"]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    machine.ok(&["doctor", "--fire", "antigravity"]);
    machine.ok(&["replay", "--verify"]);
    drop(daemon);
    machine.ok(&["uninstall", "--agent", "antigravity"]);
    fs::remove_dir_all(machine.home().join(".gemini/antigravity-cli")).expect("the transcripts");
    assert_eq!(machine.tree(), before);
}

#[test]
fn whatever_happens_the_answer_lets_the_agent_stop() {
    let (machine, _) = set_up(None);
    let calls = documented(&machine);
    let stop = calls[3]["payload"].to_string();
    let damaged: [&[u8]; 6] = [b"", b"{", b"[]", b"{}", b"\xff\xfe", &stop.as_bytes()[..40]];
    let daemon = RunningDaemon::start(&machine);
    for event in ["Stop", "PostToolUse"] {
        for payload in damaged {
            assert_eq!(answer(&machine, event, payload), None, "{payload:?}");
        }
    }
    // A stop of which nothing is known.
    let strange = json!({ "conversationId": "c", "workspacePaths": [], "fullyIdle": "perhaps" });
    assert_eq!(
        answer(&machine, "Stop", strange.to_string().as_bytes()),
        None
    );
    let (command, stop) = (command(&machine, "Stop"), stop.as_bytes());
    daemon.hang();
    assert_eq!(answer_of(&machine, &command, "300", stop), None, "slow");
    drop(daemon);
    assert_eq!(answer(&machine, "Stop", stop), None, "away");
    let client = shlex::split(&command).expect("words")[2].clone();
    let script = machine.path("client");
    let with_script = command.replace(&client, &script.to_string_lossy());
    assert_eq!(
        answer_of(&machine, &with_script, "300", stop),
        None,
        "missing"
    );
    for text in [
        // Killed before it answers, in the middle of an answer, and without one.
        "kill -9 $$",
        "printf '{\"decision\":\"cont'; kill -9 $$",
        "exit 3",
        "exit 0",
    ] {
        put_script(&script, &format!("#!/bin/sh\n{text}\n"));
        assert_eq!(
            answer_of(&machine, &with_script, "300", stop),
            None,
            "{text}"
        );
    }
    // Not in the language that the shell is told of.
    put_script(
        &script,
        "#!/bin/sh\nprintf '{\"decision\":\"continue\",\"reason\":\"\\303\\251\"}'\n",
    );
    for language in ["C", "C.UTF-8"] {
        let with_language = format!("export LC_ALL={language}; {with_script}");
        let said = answer_of(&machine, &with_language, "300", stop);
        assert_eq!(said.as_deref(), Some("\u{e9}"), "{language}");
    }
}

#[test]
fn a_file_of_its_users_comes_back_byte_for_byte() {
    for text in [
        "{\n  \"lint\": {\n    \"PostToolUse\": [\n      { \"matcher\": \"run_command\", \"hooks\": [{ \"command\": \"./lint.sh\" }] }\n    ]\n  },\n  \"say\": { \"enabled\": false, \"Stop\": [{ \"command\": \"say done\" }] }\n}\n",
        "{\"checkpointd\":{}}",
        "{}",
        "",
    ] {
        let (machine, before) = set_up(Some(text));
        let with: Value = serde_json::from_str(&machine.read(HOOKS)).expect("JSON");
        let set = with["checkpointd"].as_object().expect("a set");
        // One more key, and it would drop the file.
        assert_eq!(set.keys().collect::<Vec<_>>(), ["PostToolUse", "Stop"]);
        machine.ok(&["uninstall", "--agent", "antigravity"]);
        assert_eq!(machine.tree(), before);
    }
}

#[test]
fn what_makes_it_drop_the_file_or_switches_it_off_is_named() {
    let check = |text: &str, name: &str| {
        let (machine, _) = set_up(Some(text));
        let answer = machine.run(&["doctor", "--json"]).stdout;
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        let checks = answer["checks"].as_array().expect("checks").clone();
        let found = checks
            .into_iter()
            .filter(|check| check["name"] == name && check["status"] != "pass");
        found
            .map(|check| check["detail"].as_str().expect("a text").to_owned())
            .collect::<String>()
    };
    let said = check(r#"{"hooks": {"SessionStart": []}}"#, "antigravity.hooks");
    assert!(said.contains("hooks.SessionStart"), "{said}");
    let said = check(
        r#"{"checkpointd": {"enabled": false}}"#,
        "antigravity.hooks",
    );
    assert!(said.contains("checkpointd.enabled"), "{said}");
    assert_eq!(check("{}", "antigravity.hooks"), "");
}
