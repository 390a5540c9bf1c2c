//! Looking into the past: `audit`, `explain`, `timeline`, `state`, `tail`, `sessions`, `replay --step`, on a recorded
//! journal (`tests/data/audit.ndjson`): Claude Code was asked for tests and ran them, Gemini CLI was asked and did not,
//! Codex CLI changed documentation only.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::{Home, run, wait, wait_until};

mod answers;
mod previews;
mod screens;

const CHECKPOINTD: &str = env!("CARGO_BIN_EXE_checkpointd");

/// A home with the recorded journal.
fn recorded() -> Home {
    home_with(&recording())
}

fn recording() -> String {
    std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/audit.ndjson"
    ))
    .expect("a recording")
}

fn home_with(recording: &str) -> Home {
    let home = Home::new();
    let output = run(
        &mut command(&home, &["journal", "import"]),
        recording.as_bytes(),
    );
    assert!(output.status.success(), "{output:?}");
    home
}

/// A command in the zone and the home folder of the recording.
fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command(CHECKPOINTD, arguments);
    command
        .env("TZ", "UTC")
        .env("HOME", "/home/ada")
        .env("COLUMNS", "140");
    command
}

/// Returns exit code, standard output and standard error.
fn ask(home: &Home, arguments: &[&str]) -> (i32, String, String) {
    let output = run(&mut command(home, arguments), b"");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code().expect("no signal"),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Returns the lines of an answer in JSON.
#[track_caller]
fn lines(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let (code, out, error) = ask(home, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {error}");
    out.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[track_caller]
fn seqs(home: &Home, arguments: &[&str]) -> Vec<u64> {
    lines(home, arguments)
        .iter()
        .map(|line| line["seq"].as_u64().expect("a number"))
        .collect()
}

#[test]
fn audit_shows_what_was_asked_for() {
    let home = recorded();
    let rows: [(&[&str], &[u64]); 17] = [
        (&[], &[13, 22, 26, 33, 37, 45]),
        (&["--session", "3f0a"], &[13, 22, 26]),
        (&["--agent", "gemini"], &[33, 37]),
        (&["--project", "/home/ada/inventory"], &[13, 22, 26, 33, 37]),
        (&["--project", "/home/ada"], &[13, 22, 26, 33, 37, 45]),
        // A name that begins alike is another folder.
        (&["--project", "/home/ada/inv"], &[]),
        (&["--verdict", "inject"], &[13, 33, 45]),
        (&["--reason", "block_budget"], &[22, 37]),
        (&["--since", "2026-11-20T09:05:08Z"], &[26, 33, 37, 45]),
        (&["--until", "2026-11-20T09:05:08Z"], &[13, 22, 26]),
        (
            &[
                "--since",
                "2026-11-20 09:01:30",
                "--until",
                "2026-11-20 09:07:30",
            ],
            &[22, 26, 33],
        ),
        (
            &["--since", "2026-11-20", "--until", "2026-11-20"],
            &[13, 22, 26, 33, 37, 45],
        ),
        (&["--until", "2026-11-19"], &[]),
        (&["--text", "PYTEST"], &[13, 33]),
        (&["--text", "without being read"], &[33]),
        (&["--limit", "2"], &[37, 45]),
        (
            &["--limit", "1", "--agent", "claude", "--verdict", "inject"],
            &[13],
        ),
    ];
    for (filter, expected) in rows {
        assert_eq!(
            seqs(&home, &[&["audit"], filter].concat()),
            expected,
            "{filter:?}"
        );
    }
    let (code, _, error) = ask(&home, &["audit", "--since", "soon"]);
    assert_eq!(code, 2, "{error}");
    assert!(
        error.contains("`soon` is no time") && error.contains("yesterday"),
        "{error}"
    );
    let (code, _, error) = ask(&home, &["audit", "--reason", "why"]);
    assert!(code == 2 && error.contains("block_budget"), "{error}");
}

#[test]
fn words_that_do_not_exist_are_refused_and_the_nearest_is_named() {
    let home = recorded();
    for (arguments, near) in [
        (["tail", "--kind", "decide"], "'decided'"),
        (["tail", "--kind", "agent_stoped"], "'agent_stopped'"),
        (["tail", "--agent", "claud"], "'claude'"),
        (["audit", "--verdict", "injekt"], "'inject'"),
        (["audit", "--reason", "below_treshold"], "'below_threshold'"),
        (["audit", "--agent", "gemmini"], "'gemini'"),
    ] {
        let (code, out, error) = ask(&home, &arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {error}");
        assert!(
            error.contains(&format!("a similar value exists: {near}")),
            "{arguments:?}: {error}"
        );
        assert!(
            error.contains("possible values: "),
            "{arguments:?}: {error}"
        );
    }
    for kind in journal::Event::KINDS {
        assert_eq!(ask(&home, &["tail", "--kind", kind]).0, 0, "{kind}");
    }
    assert_eq!(ask(&home, &["tail", "--kind", "muted"]).1, "No events.\n");
    let (_, out, _) = ask(&home, &["timeline", "3f0a", "--turn", "9"]);
    assert!(out.starts_with("There is no turn 9"), "{out}");
}

#[test]
fn a_spreadsheet_takes_nothing_that_an_agent_wrote_for_a_formula() {
    let formula = "=cmd|' /C calc'!A0";
    let was = "Reorder points are off by one; please fix them";
    assert!(recording().contains(was));
    let home = home_with(
        &recording()
            .replace(was, formula)
            .replace("\"Rust code\"", "\"=Rust\""),
    );
    let query = "select prompt, -1 as number, -0.5 as half, '-1' as text, '@x' as at, '+1' as plus from turns where seq = 3";
    let (code, out, error) = ask(&home, &["sql", "--csv", query]);
    assert_eq!(
        (code, out.as_str()),
        (
            0,
            "prompt,number,half,text,at,plus\n'=cmd|' /C calc'!A0,-1,-0.5,'-1,'@x,'+1\n"
        ),
        "{error}"
    );
    // Nothing is added to where no spreadsheet reads.
    assert_eq!(lines(&home, &["sql", query])[0]["prompt"], formula);
}

#[test]
fn audit_as_csv_has_a_record_for_each_decision_whatever_is_in_its_fields() {
    let home = recorded();
    let (code, out, error) = ask(&home, &["audit", "--csv"]);
    assert_eq!(code, 0, "{error}");
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let head = reader.headers().expect("a head").clone();
    let records: Vec<_> = reader
        .records()
        .map(|record| record.expect("a record"))
        .collect();
    let decisions = lines(&home, &["audit"]);
    assert_eq!(records.len(), decisions.len());
    for (record, decision) in records.iter().zip(&decisions) {
        let field =
            |name: &str| &record[head.iter().position(|column| column == name).expect(name)];
        assert_eq!(field("seq"), decision["seq"].to_string());
        // Messages are many lines with quotes in them.
        assert_eq!(
            field("message"),
            decision["message"].as_str().unwrap_or_default()
        );
        let actions = decision["actions"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| it["text"].as_str().expect("text"));
        assert_eq!(field("actions"), actions.collect::<Vec<_>>().join("\n"));
        assert_eq!(
            field("project"),
            decision["project"].as_str().expect("a project")
        );
    }
    let (code, ..) = ask(&home, &["audit", "--csv", "--summary"]);
    assert_eq!(code, 2);
}

#[test]
fn a_summary_counts_what_the_decisions_say() {
    let home = recorded();
    let summary = lines(&home, &["audit", "--summary"]).remove(0);
    let (total, decisions) = (&summary["total"], lines(&home, &["audit"]));
    let with =
        |name: &str, value: &str| decisions.iter().filter(|line| line[name] == value).count();
    assert_eq!(total["decisions"], decisions.len());
    assert_eq!(total["injected"], with("verdict", "inject"));
    assert_eq!(total["passed"], with("verdict", "pass"));
    assert_eq!(
        total["passed_by_reason"],
        json!({ "below_threshold": 1, "block_budget": 2 })
    );
    for outcome in ["confirmed", "failed", "expired", "pending"] {
        assert_eq!(total[outcome], with("delivery", outcome), "{outcome}");
    }
    // Documentation alone demands nothing, so there were two demands.
    assert_eq!((&total["demands"], &total["met"]), (&json!(2), &json!(1)));
    // Turns of 109 s, 8 s, 69 s and 58 s.
    assert_eq!(
        (&total["turns"], &total["median_turn_ms"]),
        (&json!(4), &json!(69_000))
    );
    let groups: Vec<_> = summary["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .collect();
    let group = |agent: &str| {
        groups
            .iter()
            .find(|group| group["agent"] == agent)
            .expect("a group")
    };
    assert_eq!(
        (&group("claude")["met"], &group("gemini")["met"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(group("codex")["project"], "/home/ada/handbook");
    let count = |name: &str| {
        groups
            .iter()
            .map(|group| group[name].as_u64().expect("a number"))
            .sum::<u64>()
    };
    assert_eq!(total["decisions"], count("decisions"));
    let filtered = lines(
        &home,
        &[
            "audit",
            "--summary",
            "--verdict",
            "inject",
            "--agent",
            "gemini",
        ],
    )
    .remove(0);
    assert_eq!(
        (
            &filtered["total"]["decisions"],
            &filtered["total"]["demands"]
        ),
        (&json!(1), &json!(1))
    );
}

#[test]
fn an_explanation_says_when_things_happened_and_how_the_demand_ended() {
    let home = recorded();
    let claude = lines(&home, &["explain", "13"]).remove(0);
    assert_eq!(claude["demand"], json!({ "end": "met", "left": [] }));
    let times: Vec<_> = claude["times"].as_array().expect("times").iter().collect();
    let kinds: Vec<_> = times
        .iter()
        .map(|time| time["kind"].as_str().expect("a word"))
        .collect();
    assert_eq!(
        kinds,
        [
            "agent_stopped",
            "decided",
            "delivery_attempted",
            "delivery_confirmed"
        ]
    );
    assert_eq!(
        (&times[0]["after_us"], &times[1]["after_us"]),
        (&json!(1_400), &json!(10_700))
    );
    assert!(
        claude["evidence"]["steps"]
            .as_array()
            .is_some_and(|steps| steps.len() == 4),
        "{}",
        claude["evidence"]
    );
    let gemini = &lines(&home, &["explain", "31"])[0];
    assert_eq!(
        gemini["decision"]["seq"], 33,
        "a stop stands for its decision"
    );
    assert_eq!(
        (&gemini["demand"]["end"], &gemini["demand"]["left"]),
        (&json!("left"), &gemini["decision"]["actions"])
    );
    assert_eq!(lines(&home, &["explain", "45"])[0]["demand"], Value::Null);
}

#[test]
fn a_state_can_be_had_at_any_point_and_compared() {
    let home = recorded();
    let state = |point: &str| lines(&home, &["state", "3f0a", "--at", point]).remove(0);
    assert_eq!(state("9")["seq"], 9);
    assert_eq!(
        (&state("9")["turn"], &state("26")["turn"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(state("2026-11-20T09:00:20Z")["seq"], 7);
    assert_eq!(state("2026-11-20 09:00:20")["seq"], 7);
    // A day is taken at its end.
    assert_eq!(state("2026-11-20"), lines(&home, &["state", "3f0a"])[0]);
    let diff = lines(&home, &["state", "3f0a", "--diff", "9", "2026-11-20"]).remove(0);
    assert_eq!(
        (&diff["from"]["seq"], &diff["to"]["seq"]),
        (&json!(9), &json!(26))
    );
    let (was, now) = (state("9"), state("2026-11-20"));
    let changes = diff["changes"].as_array().expect("changes");
    for change in changes {
        let path = format!(
            "/{}",
            change["field"].as_str().expect("a field").replace('.', "/")
        );
        let (was, now) = (
            was.pointer(&path).unwrap_or(&Value::Null),
            now.pointer(&path).unwrap_or(&Value::Null),
        );
        assert_ne!(was, now, "{path}");
        if !was.is_array() {
            assert_eq!((was, now), (&change["was"], &change["now"]), "{path}");
        }
    }
    let fields: Vec<_> = changes
        .iter()
        .map(|change| change["field"].as_str().expect("a field"))
        .collect();
    assert!(
        fields.contains(&"turn")
            && fields.contains(&"counts.passed")
            && !fields.contains(&"project"),
        "{fields:?}"
    );
    assert_eq!(
        lines(&home, &["state", "3f0a", "--diff", "9", "9"])[0]["changes"],
        json!([])
    );
    let (code, _, error) = ask(&home, &["state", "3f0a", "--at", "whenever"]);
    assert!(code == 2 && error.contains("sequence number"), "{error}");
}

#[test]
fn a_timeline_knows_turns_and_when_calls_began() {
    let home = recorded();
    let all = lines(&home, &["timeline", "3f0a"]);
    let events = lines(&home, &["tail", "-n", "100", "--session", "3f0a"]);
    assert_eq!(all.len(), events.len(), "nothing is left out");
    let tests = all.iter().find(|line| line["seq"] == 9).expect("the tests");
    assert_eq!(tests["began_at"], "2026-11-20T09:00:30.000000Z");
    assert_eq!(tests["turn_began_at"], "2026-11-20T09:00:01.000000Z");
    assert_eq!(
        seqs(&home, &["timeline", "3f0a", "--turn", "2"]),
        [23, 24, 25, 26]
    );
    assert!(seqs(&home, &["timeline", "3f0a", "--turn", "9"]).is_empty());
}

#[test]
fn tail_leaves_out_what_is_not_asked_for() {
    let home = recorded();
    let rows: [(&[&str], &[u64]); 5] = [
        (&["--kind", "decided", "--agent", "claude"], &[13, 22, 26]),
        (
            &[
                "--kind",
                "prompt_submitted",
                "--project",
                "/home/ada/inventory",
            ],
            &[3, 23, 28],
        ),
        (&["--agent", "codex", "-n", "2"], &[46, 47]),
        (&["--session", "8c4e", "--kind", "agent_stopped"], &[31, 35]),
        (&["--project", "/home/bob"], &[]),
    ];
    for (filter, expected) in rows {
        assert_eq!(
            seqs(&home, &[&["tail"], filter].concat()),
            expected,
            "{filter:?}"
        );
    }
}

/// Begins something that follows, and returns its lines as they come.
fn follow(
    home: &Home,
    arguments: &[&str],
) -> (std::process::Child, impl FnMut() -> String + use<>) {
    let mut child = command(home, arguments)
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .expect("runs");
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || sender.send(line).is_err() {
                return;
            }
        }
    });
    let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
    let next = move || {
        let receiver = std::sync::Arc::clone(&receiver);
        wait(move || receiver.lock().expect("whole").recv().expect("a line"))
    };
    (child, next)
}

#[test]
fn tail_and_timeline_follow_a_running_daemon() {
    let daemon = Daemon::at(recorded());
    let (mut tail, mut tailed) = follow(
        &daemon.home,
        &[
            "tail",
            "-f",
            "-n",
            "1",
            "--agent",
            "claude",
            "--kind",
            "prompt_submitted",
        ],
    );
    let (mut timeline, mut lined) = follow(
        &daemon.home,
        &["timeline", "3f0a", "--turn", "3", "--follow"],
    );
    assert!(tailed().contains("Thanks"));
    for (session, agent, prompt) in [
        (
            "8c4e2d10-7f6b-4a39-b1c2-d3e4f5061728",
            "gemini",
            "to somebody else",
        ),
        (
            "3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d",
            "claude",
            "one more thing",
        ),
    ] {
        let event = if agent == "gemini" {
            "BeforeAgent"
        } else {
            "UserPromptSubmit"
        };
        let payload = json!({ "session_id": session, "cwd": "/home/ada/inventory", "hook_event_name": event, "prompt": prompt });
        let call = json!({ "agent": agent, "event": event, "at": "2026-11-20T10:00:00Z", "payload": payload });
        let output = run(
            &mut command(&daemon.home, &["journal", "append"]),
            call.to_string().as_bytes(),
        );
        assert!(output.status.success(), "{output:?}");
    }
    let seen = tailed();
    assert!(seen.contains("one more thing"), "{seen}");
    assert!(lined().starts_with("turn 3"));
    let seen = lined();
    assert!(
        seen.contains("one more thing") && seen.trim_start().starts_with("+0.000s"),
        "{seen}"
    );
    for child in [&mut tail, &mut timeline] {
        child.kill().expect("kills");
        child.wait().expect("is gone");
    }
}

#[test]
fn steps_lead_from_nothing_to_what_is_known() {
    let home = recorded();
    for session in ["3f0a", "8c4e", "01a1"] {
        let steps = lines(&home, &["replay", "--session", session, "--step"]);
        assert_eq!(steps.len(), lines(&home, &["timeline", session]).len());
        let state = &lines(&home, &["state", session])[0];
        let mut turn = json!(0);
        for change in steps
            .iter()
            .flat_map(|step| step["changes"].as_array().expect("changes"))
        {
            if change["field"] == "turn" {
                assert_eq!(
                    change["was"], turn,
                    "each step begins where the one before ended"
                );
                turn = change["now"].clone();
            }
        }
        assert_eq!(turn, state["turn"], "{session}");
    }
    let (code, _, error) = ask(&home, &["replay", "--step"]);
    assert!(
        code == 2 && error.contains("--session last --step"),
        "{error}"
    );
}

#[test]
fn recorded_calls_can_be_stepped_through() {
    let home = Home::new();
    let call = |event: &str, at: &str, more: Value| {
        let mut payload = json!({ "session_id": "s1", "cwd": "/p", "hook_event_name": event });
        payload
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        json!({ "agent": "claude", "at": at, "payload": payload }).to_string()
    };
    let calls = [
        call(
            "UserPromptSubmit",
            "2026-11-20T09:00:00Z",
            json!({ "prompt": "go", "prompt_id": "p" }),
        ),
        "not a call".to_owned(),
        call(
            "Stop",
            "2026-11-20T09:01:00Z",
            json!({ "stop_hook_active": false, "prompt_id": "p" }),
        ),
    ];
    let file = home.path().join("calls.ndjson");
    std::fs::write(&file, calls.join("\n")).expect("writes");
    let file = file.to_str().expect("text");
    let (code, out, error) = ask(&home, &["replay", "--file", file, "--step", "--json"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.starts_with("line 2: "), "{error}");
    let steps: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds: Vec<_> = steps
        .iter()
        .map(|step| step["event"]["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(
        kinds,
        [
            "prompt_submitted",
            "agent_stopped",
            "decided",
            "delivery_attempted"
        ]
    );
    let changed = steps[2]["changes"].as_array().expect("changes").iter();
    let changed: Vec<_> = changed
        .map(|change| change["field"].as_str().expect("a field"))
        .collect();
    assert!(
        changed.contains(&"last_checkpoint_at") && changed.contains(&"blocks_this_turn"),
        "{changed:?}"
    );
    let (_, _, error) = ask(&home, &["replay", "--file", "/nowhere", "--step"]);
    assert!(error.contains("/nowhere"), "{error}");
}

#[test]
fn a_daemon_and_the_journal_itself_give_the_same_answers() {
    let mut daemon = Daemon::at(recorded());
    // What was on its way in the recording is given up, since nobody will ever confirm it.
    wait_until(|| {
        lines(&daemon.home, &["audit"])
            .iter()
            .all(|line| line["delivery"] != "pending")
    });
    let questions: [&[&str]; 14] = [
        &["audit"],
        &[
            "audit",
            "--project",
            "/home/ada/inventory",
            "--text",
            "pytest",
            "--json",
        ],
        &["audit", "--csv"],
        &["audit", "--summary"],
        &["audit", "--summary", "--json"],
        &["explain", "13"],
        &["explain", "last", "--json"],
        &["timeline", "3f0a"],
        &["timeline", "3f0a", "--turn", "1", "--json"],
        &["state", "3f0a", "--at", "20"],
        &["state", "3f0a", "--diff", "9", "20"],
        &["tail", "-n", "5", "--project", "/home/ada/handbook"],
        &["sessions", "--json"],
        &["replay", "--session", "8c4e", "--step"],
    ];
    let answers = |home: &Home| questions.map(|question| ask(home, question));
    let with = answers(&daemon.home);
    daemon.kill();
    for ((question, with), without) in questions.iter().zip(with).zip(answers(&daemon.home)) {
        assert_eq!(with.0, 0, "{question:?}: {}", with.2);
        assert_eq!(with, without, "{question:?}");
    }
}

#[test]
fn a_journal_that_cannot_be_read_is_said_to_be_and_what_to_do() {
    let questions: [&[&str]; 6] = [
        &["audit", "--summary"],
        &["explain"],
        &["timeline", "last"],
        &["state", "last", "--diff", "1", "2"],
        &["tail"],
        &["replay", "--session", "last", "--step"],
    ];
    let empty = Home::new();
    let broken = recorded();
    let intake = broken.path().join("journal/intake");
    for segment in std::fs::read_dir(&intake).expect("listed") {
        let path = segment.expect("one").path();
        let mut bytes = std::fs::read(&path).expect("readable");
        // The version of the first frame.
        bytes[4] = 200;
        std::fs::write(path, bytes).expect("writes");
    }
    for question in questions {
        for home in [&empty, &broken] {
            let (code, out, error) = ask(home, question);
            assert_eq!((code, out.as_str()), (3, ""), "{question:?}: {error}");
            assert!(
                error.contains("hint: ") || error.contains("upgrade"),
                "{question:?}: {error}"
            );
        }
    }
}
