//! Events of many machines in one place: real daemons, their exports, and every question to what was merged.

mod projects;

use serde_json::Value;

use super::audit::recorded;
use super::store::{checkpointd, with_history};
use crate::support::daemon::Daemon;
use crate::support::{Home, run};

#[track_caller]
fn well(home: &Home, arguments: &[&str]) -> String {
    let (code, out, error) = checkpointd(home, arguments);
    assert_eq!(code, 0, "{arguments:?}: {out}{error}");
    out
}

#[track_caller]
fn lines(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let out = well(home, &[arguments, &["--json"]].concat());
    out.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[track_caller]
fn answer(home: &Home, arguments: &[&str]) -> Value {
    lines(home, arguments).remove(0)
}

/// Machines with what they journaled, and a collector.
struct Fleet {
    daemons: Vec<Daemon>,
    /// A machine without a daemon, with a recorded journal.
    quiet: Home,
    collector: Home,
    files: Home,
}

const NAMES: [&str; 3] = ["one", "two", "quiet"];

impl Fleet {
    /// Two daemons that saw the same sessions, as a copied home has them, and a recorded journal.
    fn new() -> Self {
        Self {
            daemons: vec![with_history(""), with_history("")],
            quiet: recorded(),
            collector: Home::new(),
            files: Home::new(),
        }
    }

    fn machines(&self) -> impl Iterator<Item = (&'static str, &Home)> {
        let homes = self.daemons.iter().map(|daemon| &daemon.home);
        NAMES.into_iter().zip(homes.chain([&self.quiet]))
    }

    fn export(&self, level: &str) -> Vec<String> {
        let export = |(name, home): (&str, &Home)| {
            let text = well(
                home,
                &["fleet", "export", "--machine", name, "--level", level],
            );
            let file = self.files.path().join(format!("{name}.ndjson"));
            std::fs::write(&file, text).expect("writes");
            file.display().to_string()
        };
        self.machines().map(export).collect()
    }

    fn merge(&self, files: &[String]) -> Vec<Value> {
        let into = self.collector.path().display().to_string();
        let mut arguments = vec!["fleet", "merge", "--into", &into];
        arguments.extend(files.iter().map(String::as_str));
        lines(&self.files, &arguments)
    }

    fn ask(&self, arguments: &[&str]) -> Value {
        answer(&self.collector, arguments)
    }
}

/// Takes what a collector has under other numbers out of an answer.
fn without_places(line: &Value) -> Value {
    let mut line = line.clone();
    for place in [
        "seq",
        "trigger",
        "session",
        "machine",
        "journal",
        "journal_seq",
        "withheld",
    ] {
        line.as_object_mut().expect("an object").remove(place);
    }
    line
}

#[test]
fn a_collector_answers_every_question_as_the_machine_does() {
    let fleet = Fleet::new();
    let merged = fleet.merge(&fleet.export("all"));
    assert_eq!(merged.len(), 3);
    let mut decisions = 0;
    for (name, home) in fleet.machines() {
        let own = answer(home, &["replay", "--verify"]);
        let proved = ["matched", "earlier"].map(|key| own[key].as_u64().unwrap_or_default());
        assert_eq!(own["decisions"], proved.iter().sum::<u64>(), "{own}");
        decisions += own["decisions"].as_u64().expect("a number");
        same_decisions(&fleet, name, home);
        let numbers = ["stats", "--since", "1980-01-01"];
        let there = answer(home, &numbers);
        let mut here = fleet.ask(&[&numbers[..], &["--machine", name]].concat());
        for group in here["groups"].as_array_mut().expect("a list") {
            *group = without_places(group);
        }
        if name != "quiet" {
            assert_eq!(here, there, "{name}");
        }
        let sessions = lines(home, &["sessions"]);
        let of = lines(&fleet.collector, &["sessions", "--machine", name]);
        assert_eq!(of.len(), sessions.len());
        assert!(of.iter().all(|row| row["machine"] == name));
        let own = well(
            home,
            &[
                "journal",
                "sql",
                "--csv",
                "select kind, agent, count(*) from events group by 1, 2",
            ],
        );
        let here = well(
            &fleet.collector,
            &[
                "journal",
                "sql",
                "--csv",
                "--machine",
                name,
                "select kind, agent, count(*) from events where kind != 'run_received' group by 1, 2",
            ],
        );
        assert_eq!(here, own, "{name}");
    }
    let proved = fleet.ask(&["replay", "--verify"]);
    assert!(decisions >= 8, "{decisions}");
    assert_eq!(proved["decisions"], decisions, "{proved}");
    let all = ["matched", "earlier"].map(|key| proved[key].as_u64().unwrap_or_default());
    assert_eq!(all.iter().sum::<u64>(), decisions, "{proved}");
    assert_eq!(fleet.ask(&["journal", "verify"])["ok"], true);
    let events = fleet.ask(&["journal", "stats"])["events"].clone();
    let again = fleet.merge(&fleet.export("all"));
    assert!(again.iter().all(|file| file["merged"] == 0), "{again:?}");
    assert_eq!(fleet.ask(&["journal", "stats"])["events"], events);
    let status = fleet.ask(&["status"]);
    assert_eq!(status["journal"]["collector"], true, "{status}");
}

/// Every decision of a machine is answered and explained as there.
fn same_decisions(fleet: &Fleet, name: &str, home: &Home) {
    let (there, here) = (
        lines(home, &["audit"]),
        lines(&fleet.collector, &["audit", "--machine", name]),
    );
    assert_eq!(there.len(), here.len(), "{name}");
    for (there, here) in there.iter().zip(&here) {
        assert_eq!(without_places(here), without_places(there), "{name}");
        assert_eq!(
            (&here["machine"], &here["journal_seq"]),
            (&name.into(), &there["seq"])
        );
        let seq = there["seq"].to_string();
        let own = answer(home, &["explain", &seq]);
        let of = fleet.ask(&["explain", &seq, "--machine", name]);
        for part in [
            "considered",
            "rules",
            "evidence",
            "demand",
            "policy",
            "times",
            "marked_wrong",
        ] {
            assert_eq!(of[part], own[part], "{name} {seq} {part}");
        }
        assert_eq!(of["decision"]["seq"], here["seq"]);
        assert_eq!(of["event"]["payload"], own["event"]["payload"]);
        let session = there["session"].as_str().expect("an id");
        let kinds = |home: &Home, arguments: &[&str]| -> Vec<Value> {
            let lines = lines(home, arguments).into_iter();
            lines.map(|line| line["kind"].clone()).collect()
        };
        // Two machines have a session of this id; each has its own.
        let own = kinds(home, &["timeline", session]);
        let here = kinds(&fleet.collector, &["timeline", session, "--machine", name]);
        assert_eq!(here, own, "{name}");
    }
}

/// Asks for every decision of every machine. Returns how many there are, and how many asked for something.
fn ask_for_what_is_withheld(fleet: &Fleet) -> (u64, u64) {
    let (mut decisions, mut asked) = (0, 0);
    for (name, home) in fleet.machines() {
        let (there, here) = (
            lines(home, &["audit"]),
            lines(&fleet.collector, &["audit", "--machine", name]),
        );
        assert_eq!(there.len(), here.len());
        for (there, here) in there.iter().zip(&here) {
            for field in [
                "at",
                "agent",
                "turn",
                "verdict",
                "reason",
                "route",
                "elapsed_ms",
                "delivery",
                "delivery_reason",
            ] {
                assert_eq!(here[field], there[field], "{name} {field}");
            }
            let withheld: Vec<_> = here["withheld"]
                .as_array()
                .expect("a list")
                .iter()
                .collect();
            for field in ["message", "categories", "observations"] {
                assert!(withheld.contains(&&field.into()), "{here}");
            }
            decisions += 1;
            let seq = there["seq"].to_string();
            let demand = &answer(home, &["explain", &seq])["demand"];
            let here = fleet.ask(&["explain", &seq, "--machine", name]);
            if !demand.is_null() {
                asked += 1;
                assert_eq!(here["demand"]["end"], "withheld");
            }
            assert_eq!(
                (&here["rules"], &here["evidence"]),
                (&Value::Null, &Value::Null)
            );
            let shown = well(
                &fleet.collector,
                &["explain", &seq, "-v", "--machine", name],
            );
            assert!(shown.contains("withheld: "), "{shown}");
        }
    }
    (decisions, asked)
}

#[test]
fn what_decisions_withholds_is_said_and_never_guessed() {
    let fleet = Fleet::new();
    let files = fleet.export("decisions");
    for (file, (_, home)) in files.iter().zip(fleet.machines()) {
        let text = std::fs::read_to_string(file).expect("an export");
        for event in lines(home, &["journal", "tail", "-n", "1000"]) {
            let secrets = [
                &event["text"],
                &event["call"]["command"],
                &event["last_message"],
                &event["message"],
                &event["host"]["place"]["cwd"],
                &event["host"]["place"]["transcript"],
            ];
            for secret in secrets
                .into_iter()
                .filter_map(Value::as_str)
                .filter(|secret| secret.len() > 3)
            {
                let quoted = Value::from(secret).to_string();
                let inner = &quoted[1..quoted.len() - 1];
                assert!(!text.contains(inner), "{secret}");
            }
        }
    }
    fleet.merge(&files);
    let (decisions, asked) = ask_for_what_is_withheld(&fleet);
    let proved = fleet.ask(&["replay", "--verify"]);
    assert_eq!(proved["withheld"], decisions, "{proved}");
    assert_eq!(
        (&proved["matched"], &proved["mismatched"]),
        (&0.into(), &Value::Array(vec![]))
    );
    let total = &fleet.ask(&["stats", "--since", "2026-11-01"])["total"];
    assert!(asked > 0);
    assert_eq!(
        (&total["withheld"], &total["met"], &total["demands"]),
        (&asked.into(), &0.into(), &0.into())
    );
    assert_eq!(fleet.ask(&["journal", "verify"])["ok"], true);
}

#[test]
fn nothing_acts_on_a_collectors_journal() {
    let fleet = Fleet::new();
    fleet.merge(&fleet.export("all"));
    let before = well(&fleet.collector, &["journal", "export"]);
    let (code, _, error) = checkpointd(&fleet.collector, &["daemon"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("the events of other machines"), "{error}");
    let call = r#"{"agent":"claude","payload":{"session_id":"s","hook_event_name":"Stop"}}"#;
    let mut append = fleet
        .collector
        .command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "append"]);
    let output = run(&mut append, call.as_bytes());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("the events of other machines"), "{error}");
    // An export of what others sent would pass for this machine's own.
    let (code, _, error) = checkpointd(&fleet.collector, &["fleet", "export", "--machine", "x"]);
    assert!(
        code == 1 && error.contains("ask each machine itself"),
        "{error}"
    );
    // And an ordinary journal takes in nothing.
    let own = fleet.quiet.path().display().to_string();
    let file = fleet.files.path().join("one.ndjson").display().to_string();
    let (code, _, error) = checkpointd(&fleet.files, &["fleet", "merge", &file, "--into", &own]);
    assert!(code == 1 && error.contains("events of its own"), "{error}");
    assert_eq!(well(&fleet.collector, &["journal", "export"]), before);
}

#[test]
fn a_file_that_is_not_right_is_named_and_keeps_no_other_one_back() {
    let fleet = Fleet::new();
    let mut files = fleet.export("skeleton");
    let text = std::fs::read_to_string(&files[0]).expect("an export");
    std::fs::write(
        &files[0],
        text.replacen("session_started", "session_stopped", 1),
    )
    .expect("writes");
    files.insert(1, "not-there.ndjson".to_owned());
    let into = fleet.collector.path().display().to_string();
    let mut arguments = vec!["fleet", "merge", "--into", &into];
    arguments.extend(files.iter().map(String::as_str));
    let (code, out, error) = checkpointd(&fleet.files, &arguments);
    assert_eq!(code, 1);
    assert!(
        error.contains("was changed after it was exported"),
        "{error}"
    );
    assert!(
        error.contains("not-there.ndjson: it cannot be opened"),
        "{error}"
    );
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(lines(&fleet.collector, &["audit", "--machine", "one"]).is_empty());
    assert!(!lines(&fleet.collector, &["audit", "--machine", "two"]).is_empty());
    // Timelines and tools are there without what they were about.
    let tools = lines(
        &fleet.collector,
        &[
            "journal",
            "sql",
            "select tool, command, withheld from tools where machine = 'two'",
        ],
    );
    assert!(!tools.is_empty());
    assert!(
        tools.iter().all(|row| row["command"].is_null()
            && row["withheld"]
                .as_str()
                .is_some_and(|fields| fields.contains("call.command"))),
        "{tools:?}"
    );
}

#[test]
fn a_preview_is_what_an_export_takes() {
    let daemon = with_history("");
    let home = &daemon.home;
    for level in ["decisions", "skeleton", "all"] {
        let sent = well(
            home,
            &["fleet", "export", "--machine", "m", "--level", level],
        );
        let shown = well(
            home,
            &["fleet", "preview", "--level", level, "--since", "1h"],
        );
        let sent: Vec<Value> = sent
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let shown: Vec<Value> = shown
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(shown, sent, "{level}");
        assert!(!sent.is_empty());
    }
    let (_, out, told) = checkpointd(home, &["fleet", "preview", "--since", "now"]);
    assert_eq!(out, "");
    assert!(told.contains("level decisions: 0 events"), "{told}");
    let (code, _, error) = checkpointd(home, &["fleet", "export", "--machine", "Ada's laptop"]);
    assert!(code == 2 && error.contains("lower-case letters"), "{error}");
}

#[test]
fn a_restored_journal_is_another_one() {
    let mut fleet = Fleet::new();
    fleet.merge(&fleet.export("decisions"));
    let before = lines(&fleet.collector, &["audit", "--machine", "one"]).len();
    // Its numbers may be given to other events, so what it has comes again, under its new id.
    let daemon = &mut fleet.daemons[0];
    let backup = fleet.files.path().join("b.backup").display().to_string();
    let id = |home: &Home| answer(home, &["status"])["journal"]["id"].clone();
    let old = id(&daemon.home);
    well(&daemon.home, &["journal", "backup", &backup]);
    daemon.kill();
    well(&daemon.home, &["journal", "restore", &backup, "--force"]);
    assert_ne!(id(&daemon.home), old);
    daemon.start();
    fleet.merge(&fleet.export("decisions"));
    let after = lines(&fleet.collector, &["audit", "--machine", "one"]);
    assert_eq!(after.len(), 2 * before);
    let journals: std::collections::BTreeSet<_> =
        after.iter().map(|row| row["journal"].to_string()).collect();
    assert_eq!(journals.len(), 2);
}

#[test]
fn an_import_ends_before_an_event_whose_id_is_there_already() {
    let export = well(&recorded(), &["journal", "export"]);
    let mut lines: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    lines[4]["id"] = lines[2]["id"].clone();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let home = Home::new();
    let import = |text: &str| {
        let mut import = home.command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "import"]);
        let output = run(&mut import, text.as_bytes());
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            said(&output.stdout) + &said(&output.stderr),
        )
    };
    let (code, said) = import(&text);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("line 5: its id is that of event 3 already")
            && said.contains("4 events were imported before it"),
        "{said}"
    );
    assert_eq!(answer(&home, &["journal", "stats"])["events"], 4);
    let id = answer(&home, &["status"])["journal"].clone();
    assert_eq!(id["because"], "imported", "{id}");
    let (code, said) = import(&export);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said, "43 imported, 4 already known\n");
    assert_eq!(well(&home, &["journal", "export"]), export);
    assert_ne!(answer(&home, &["status"])["journal"]["id"], id["id"]);
}
