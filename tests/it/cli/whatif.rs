//! `replay --policy`: what another configuration or a file of rules would have decided, held against a reference that
//! knows nothing of the product but its exported journal: times of prompts, stops and checkpoints, and a subtraction.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

use journal::{Timestamp, request};
use serde_json::{Value, json};

use super::store::checkpointd;
use crate::support::Home;
use crate::support::daemon::Daemon;

/// What everything was decided by. Nothing but the clock and the budget lets a stop pass.
const CONFIG: &str = "min_turn: 30s\nmax_blocks_per_turn: 1\nheadless: always\nrepeat: always\nprogress: {auto: {interval: 0s, \
    compaction: false, subagent: false, error: false, session_end: false}}\n";
/// The threshold of the project that has one of its own, in milliseconds.
const OWN_THRESHOLD: i64 = 300_000;
const TURNS: usize = 16;
/// Milliseconds next to the thresholds that are tried, on both sides.
const NEAR: [u64; 15] = [
    9_999, 10_000, 10_001, 29_999, 30_000, 30_001, 44_999, 45_000, 45_001, 59_999, 60_000, 60_001,
    299_999, 300_000, 300_001,
];
/// Sessions: agent, and folder of the project. One is changed, one is no repository, one has settings of its own.
const SESSIONS: [(&str, &str); 7] = [
    ("claude", "changed"),
    ("claude", "plain"),
    ("codex", "changed"),
    ("codex", "own"),
    ("gemini", "plain"),
    ("gemini", "changed"),
    ("claude", "own"),
];

/// Numbers as good as random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Returns the length of a turn: mostly one where a threshold could be got wrong.
    fn length(&mut self) -> u64 {
        if self.below(3) == 0 {
            1 + self.below(400_000)
        } else {
            NEAR[self.below(NEAR.len() as u64) as usize]
        }
    }
}

fn make_projects(home: &Path) {
    for folder in ["changed", "plain", "own"] {
        std::fs::create_dir_all(home.join(folder)).expect("a folder");
    }
    for folder in ["changed", "own"] {
        let made = Command::new("git")
            .args(["init", "-q"])
            .current_dir(home.join(folder))
            .status()
            .expect("git");
        assert!(made.success());
        std::fs::write(home.join(folder).join("app.py"), "print()\n").expect("writes");
    }
    std::fs::write(home.join("own/.checkpointd.yml"), "min_turn: 5m\n").expect("writes");
}

fn hook(daemon: &Daemon, agent: &str, at_ms: u64, payload: &Value) {
    let began: Timestamp = "2026-10-01T08:00:00Z".parse().expect("a time");
    let at = began
        .plus(std::time::Duration::from_millis(at_ms))
        .to_string();
    let path = format!("/v1/hooks/{agent}");
    let answered = daemon.http(
        "POST",
        &path,
        &[(request::AT, &at)],
        payload.to_string().as_bytes(),
    );
    assert_eq!(answered.expect("an answer").0, 200, "{payload}");
}

/// Lets agents work side by side. After most turns one stops a second time, once it was asked to go on.
fn work(daemon: &Daemon) {
    let mut numbers = Numbers(6);
    let mut clocks = [0u64; SESSIONS.len()];
    for turn in 0..TURNS {
        for (number, (agent, folder)) in SESSIONS.iter().enumerate() {
            let names = if *agent == "gemini" {
                ["BeforeAgent", "AfterAgent"]
            } else {
                ["UserPromptSubmit", "Stop"]
            };
            let payload = |name: &str, again: bool| {
                json!({ "session_id": format!("{agent}-{number}"), "cwd": daemon.home.path().join(folder),
                    "hook_event_name": name, "prompt": format!("task {number}.{turn}"), "stop_hook_active": again,
                    "prompt_id": format!("{number}.{turn}"), "turn_id": format!("{number}.{turn}") })
            };
            let clock = &mut clocks[number];
            *clock += 1 + numbers.below(50_000);
            hook(daemon, agent, *clock, &payload(names[0], false));
            for again in [false, true] {
                *clock += numbers.length();
                hook(daemon, agent, *clock, &payload(names[1], again));
                if numbers.below(4) == 0 {
                    break;
                }
            }
        }
    }
}

/// What a reference goes by. All but the first two are ways to be wrong.
#[derive(Clone, Copy)]
struct Rule {
    threshold: i64,
    blocks: u64,
    /// The project's own file is laid over the configuration.
    own_file: bool,
    /// A turn as long as the threshold is long enough.
    inclusive: bool,
    /// A checkpoint starts the clock anew.
    restarts: bool,
    /// Sessions are told from each other.
    by_session: bool,
}

const fn rule(threshold: i64, blocks: u64) -> Rule {
    Rule {
        threshold,
        blocks,
        own_file: true,
        inclusive: true,
        restarts: true,
        by_session: true,
    }
}

/// Computes which decisions change, and to what reason, from nothing but exported lines.
fn reference(lines: &[Value], rule: Rule) -> Changes {
    let micros = |line: &Value| {
        line["at"]
            .as_str()
            .expect("a time")
            .parse::<Timestamp>()
            .expect("a time")
            .as_micros()
    };
    let mut changed = BTreeMap::new();
    // Of each session: the last prompt, the last checkpoint, checkpoints since the prompt.
    let mut known: HashMap<String, (i64, i64, u64)> = HashMap::new();
    for line in lines {
        let key = if rule.by_session {
            &line["session"]
        } else {
            &line["agent"]
        };
        let (prompt, checkpoint, blocks) =
            known
                .entry(key.to_string())
                .or_insert((i64::MIN, i64::MIN, 0));
        if line["kind"] == "prompt_submitted" {
            (*prompt, *blocks) = (micros(line), 0);
        }
        if line["kind"] != "decided" {
            continue;
        }
        let stop = &lines[line["trigger"].as_u64().expect("a number") as usize - 1];
        let start = if rule.restarts {
            *prompt.max(checkpoint)
        } else {
            *prompt
        };
        let elapsed = (micros(stop) - start) / 1_000;
        let is_own = stop["host"]["place"]["cwd"]
            .as_str()
            .is_some_and(|cwd| cwd.ends_with("/own"));
        let threshold = if is_own && rule.own_file {
            OWN_THRESHOLD
        } else {
            rule.threshold
        };
        let was = line["reason"].as_str().expect("a word");
        let now = if *blocks >= rule.blocks {
            "block_budget"
        } else if elapsed < threshold + i64::from(!rule.inclusive) {
            "below_threshold"
        } else if line["verdict"] == "inject" {
            was
        } else {
            // Nobody looked at the files then.
            "generic"
        };
        if now != was {
            changed.insert(
                line["seq"].as_u64().expect("a number"),
                (was.to_owned(), now.to_owned()),
            );
        }
        if line["verdict"] == "inject" {
            (*checkpoint, *blocks) = (micros(stop), *blocks + 1);
        }
    }
    changed
}

fn lines(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let (code, out, error) = checkpointd(home, arguments);
    assert_eq!(code, 0, "{arguments:?}: {error}");
    out.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Asks the product. Reasons belong to verdicts, and the count of decisions is that of the journal.
fn product(home: &Home, file: &str, more: &[&str]) -> Answer {
    let answer = lines(
        home,
        &[&["replay", "--policy", file, "--json"], more].concat(),
    )
    .remove(0);
    let passes = ["block_budget", "below_threshold"];
    let side = |side: &Value| {
        let reason = side["reason"].as_str().expect("a word").to_owned();
        assert_eq!(
            side["verdict"] == "pass",
            passes.contains(&reason.as_str()),
            "{side}"
        );
        assert_eq!(
            side["message"].is_null(),
            passes.contains(&reason.as_str()),
            "{side}"
        );
        reason
    };
    let changed = answer["changed"].as_array().expect("a list").iter();
    let changed = changed.map(|line| {
        (
            line["seq"].as_u64().expect("a number"),
            (side(&line["was"]), side(&line["now"])),
        )
    });
    let changed = changed.collect();
    (answer, changed)
}

/// The reasons before and after, by the decision's `seq`.
type Changes = BTreeMap<u64, (String, String)>;
/// What the product answered, and the changes in it.
type Answer = (Value, Changes);

fn write(home: &Home, name: &str, text: &str) -> String {
    let path = home.path().join(name);
    std::fs::write(&path, text).expect("writes");
    path.display().to_string()
}

/// Configurations next to [`CONFIG`], and the rule of each.
fn write_mutants(home: &Home) -> Vec<(String, Rule)> {
    [(30, 1), (60, 1), (10, 1), (45, 2), (30, 2), (0, 9)]
        .into_iter()
        .map(|(seconds, blocks)| {
            let text = CONFIG
                .replace("30s", &format!("{seconds}s"))
                .replace("turn: 1", &format!("turn: {blocks}"));
            (
                write(home, &format!("{seconds}-{blocks}.yml"), &text),
                rule(seconds * 1_000, blocks),
            )
        })
        .collect()
}

#[test]
fn exactly_the_decisions_change_that_a_reference_says() {
    let home = Home::new();
    make_projects(home.path());
    std::fs::write(home.path().join("config.yml"), CONFIG).expect("writes");
    home.trust(&home.path().join("own"));
    let mut daemon = Daemon::at(home);
    work(&daemon);
    let mutants = write_mutants(&daemon.home);
    // Laid over what each decision was made by, whatever its project's file says.
    let layer = write(&daemon.home, "layer.yml", "enabled: true\nmin_turn: 60s\n");
    let ask = |home: &Home| -> Vec<_> {
        let files = mutants.iter().map(|(file, _)| file).chain([&layer]);
        files.map(|file| product(home, file, &[])).collect()
    };
    let with = ask(&daemon.home);
    daemon.kill();
    let answers = ask(&daemon.home);
    assert_eq!(with, answers, "with the daemon and without");

    let exported = lines(&daemon.home, &["journal", "export"]);
    let layered = Rule {
        own_file: false,
        ..rule(60_000, 1)
    };
    let rules: Vec<_> = mutants
        .iter()
        .map(|(_, rule)| *rule)
        .chain([layered])
        .collect();
    is_varied(&exported);
    are_as_the_reference_says(&exported, &answers, &rules);
    tells_wrong_rules_apart(&exported, &answers, &rules);
    one_session_has_its_share(&daemon.home, &exported, &answers[1].1, &mutants[1].0);
    a_new_rule_changes_what_is_asked_about_its_files(&daemon.home, &exported);
}

fn count_decisions(exported: &[Value]) -> usize {
    exported
        .iter()
        .filter(|line| line["kind"] == "decided")
        .count()
}

/// The journal has decisions of every session, for all the reasons that a rule may change.
fn is_varied(exported: &[Value]) {
    let decisions = count_decisions(exported);
    assert!(decisions > SESSIONS.len() * TURNS, "{decisions}");
    let reasons: std::collections::BTreeSet<_> = exported
        .iter()
        .filter_map(|line| line["reason"].as_str())
        .collect();
    for reason in ["actions_due", "below_threshold", "block_budget", "generic"] {
        assert!(reasons.contains(reason), "{reasons:?}");
    }
}

fn are_as_the_reference_says(exported: &[Value], answers: &[Answer], rules: &[Rule]) {
    for ((answer, changed), rule) in answers.iter().zip(rules) {
        assert_eq!(answer["decisions"], count_decisions(exported));
        assert_eq!(
            changed,
            &reference(exported, *rule),
            "{} s, {} blocks",
            rule.threshold / 1_000,
            rule.blocks
        );
    }
    assert!(
        answers[0].1.is_empty() && answers[1..].iter().all(|(_, changed)| changed.len() > 5),
        "the journal is dull"
    );
}

/// The journal tells every wrong rule from the right one, so a product that is wrong in one of these ways fails.
fn tells_wrong_rules_apart(exported: &[Value], answers: &[Answer], rules: &[Rule]) {
    let wrong: [fn(Rule) -> Rule; 4] = [
        |rule| Rule {
            inclusive: false,
            ..rule
        },
        |rule| Rule {
            restarts: false,
            ..rule
        },
        |rule| Rule {
            by_session: false,
            ..rule
        },
        |rule| Rule {
            own_file: !rule.own_file,
            ..rule
        },
    ];
    for (number, wrong) in wrong.into_iter().enumerate() {
        let differs =
            |((_, changed), rule): (&Answer, &Rule)| *changed != reference(exported, wrong(*rule));
        assert!(
            answers.iter().zip(rules).any(differs),
            "wrong rule {number} is not told from the right one"
        );
    }
}

/// Asked for one session, the product answers with that session's share of all changes.
fn one_session_has_its_share(home: &Home, exported: &[Value], all: &Changes, file: &str) {
    let session = exported.iter().find(|line| {
        line["kind"] == "decided" && all.contains_key(&line["seq"].as_u64().expect("one"))
    });
    let session = session.expect("a change")["session"]
        .as_str()
        .expect("an id");
    let (_, share) = product(home, file, &["--session", session]);
    let is_of = |seq: &u64| exported[*seq as usize - 1]["session"] == session;
    let expected: BTreeMap<_, _> = all
        .clone()
        .into_iter()
        .filter(|(seq, _)| is_of(seq))
        .collect();
    assert_eq!(share, expected);
    assert!(share.len() < all.len());
}

/// A file of rules alone: every checkpoint changes that was about files of the new rule, and nothing else does.
fn a_new_rule_changes_what_is_asked_about_its_files(home: &Home, exported: &[Value]) {
    let file = home.path().join("rules.yml");
    let rule = "rules:\n  - name: the app\n    include: ['app.py']\n    actions: [{text: Start the app, evidence: [run-app]}]\n";
    std::fs::write(&file, rule).expect("writes");
    let answer = lines(
        home,
        &["replay", "--policy", file.to_str().expect("text"), "--json"],
    )
    .remove(0);
    assert_eq!(answer["read_as"], "rules");
    let evidence = |decided: &Value| {
        exported.iter().find(|line| {
            line["kind"] == "evidence_gathered" && line["trigger"] == decided["trigger"]
        })
    };
    let is_about_it = |decided: &&Value| {
        decided["verdict"] == "inject"
            && evidence(decided).is_some_and(|line| line.to_string().contains("\"app.py\""))
    };
    let decided = exported.iter().filter(|line| line["kind"] == "decided");
    let expected: Vec<_> = decided
        .filter(is_about_it)
        .map(|line| &line["seq"])
        .collect();
    let changed = answer["changed"].as_array().expect("a list");
    assert_eq!(
        changed.iter().map(|line| &line["seq"]).collect::<Vec<_>>(),
        expected
    );
    assert!(expected.len() > 5);
    for line in changed {
        let asks = |side: &Value| {
            side["actions"]
                .as_array()
                .expect("a list")
                .iter()
                .any(|text| text.to_string().contains("Start the app"))
        };
        assert!(asks(&line["now"]) && !asks(&line["was"]), "{line}");
        assert!(
            line["now"]["message"]
                .as_str()
                .is_some_and(|message| message.contains("Start the app")),
            "{line}"
        );
    }
    let (code, out, _) = checkpointd(home, &["replay", "--policy", file.to_str().expect("text")]);
    assert!(
        code == 0 && out.contains("merged into the policy") && out.contains("+ Start the app"),
        "{out}"
    );
}

#[test]
fn a_file_that_is_no_configuration_and_no_rules_is_refused_with_what_to_do() {
    let home = Home::new();
    for (name, text, said) in [
        ("a.yml", "just words\n", "expected keys with values"),
        ("b.yml", "colour: red\n", "the keys here are"),
        ("c.yml", "min_trun: 60s\n", "did you mean `min_turn`?"),
        (
            "d.yml",
            "enabled: true\nlogs: {level: info}\n",
            "`logs` belongs in config.yml",
        ),
        (
            "e.yml",
            "rules: [{name: Rust cod, disable: true}]\n",
            "did you mean `Rust code`?",
        ),
    ] {
        let file = home.path().join(name);
        std::fs::write(&file, text).expect("writes");
        let (code, out, error) =
            checkpointd(&home, &["replay", "--policy", file.to_str().expect("text")]);
        assert!(
            code == 2 && out.is_empty() && error.contains(said),
            "{text}: {error}"
        );
    }
    let (code, _, error) = checkpointd(&home, &["replay", "--policy", "/nowhere.yml"]);
    assert!(
        code == 2 && error.contains("/nowhere.yml") && error.contains("hint:"),
        "{error}"
    );
}
