//! Every question is answered at the collector as on the machine, field by field.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};
use testkit::wait_until;

use crate::machines::{Collector, Machine, query};
use crate::servers::Servers;

/// Where an event came from: a machine does not say this of its own.
const PLACES: [&str; 4] = ["machine", "journal", "journal_seq", "withheld"];
/// Fields that hold numbers of events.
const NUMBERS: [&str; 8] = [
    "seq", "trigger", "basis", "decision", "about", "restart", "start", "document",
];
/// Sessions in which agents do all kinds of things.
const SCENARIOS: [&str; 8] = [
    "claude/h-normal",
    "claude/h-stop-block-once",
    "claude/h-subagent",
    "claude/t-main",
    "codex/h-stop-block-once",
    "copilot/h-stop-block-once",
    "gemini/t-main",
    "qwen/h-stop-block-once",
];

/// Says what a machine's numbers and ids are at the collector.
struct Names {
    machine: String,
    numbers: HashMap<u64, u64>,
    ids: HashMap<String, String>,
    /// The sessions here of those there.
    sessions: HashMap<String, String>,
}

impl Names {
    fn of(machine: &Machine, collector: &Collector) -> Self {
        let journal = machine.journal();
        let there = machine.daemon.ask(&["journal", "export"]);
        let (mut numbers, mut ids) = (HashMap::new(), HashMap::new());
        let mut sessions = HashMap::new();
        for here in collector.ask(&["journal", "export"]) {
            if here["journal"] != journal.as_str() || here["kind"] == "run_received" {
                continue;
            }
            let seq = here["journal_seq"].as_u64().expect("a number");
            numbers.insert(here["seq"].as_u64().expect("a number"), seq);
            let there = &there[usize::try_from(seq).expect("small") - 1];
            let session = |line: &Value| line["session"].as_str().unwrap_or_default().to_owned();
            sessions.insert(session(there), session(&here));
            for id in ["id", "session", "native_session"] {
                if let (Some(here), Some(there)) = (here[id].as_str(), there[id].as_str()) {
                    ids.insert(here.to_owned(), there.to_owned());
                }
            }
        }
        Self {
            machine: machine.name.clone(),
            numbers,
            ids,
            sessions,
        }
    }

    /// Returns an answer of the collector's as the machine would say it.
    fn as_there(&self, here: &Value) -> Value {
        match here {
            Value::Object(fields) => {
                let kept = fields
                    .iter()
                    .filter(|(name, _)| *name == "withheld" || !PLACES.contains(&name.as_str()));
                kept.map(|(name, value)| {
                    let number = value.as_u64().filter(|_| NUMBERS.contains(&name.as_str()));
                    let there = number.and_then(|number| self.numbers.get(&number));
                    let value = there.map_or_else(|| self.as_there(value), |there| json!(there));
                    (name.clone(), value)
                })
                .collect::<Map<_, _>>()
                .into()
            }
            Value::Array(items) => items.iter().map(|item| self.as_there(item)).collect(),
            // A column may hold an object as text.
            Value::String(text) => match (self.ids.get(text), serde_json::from_str(text)) {
                (Some(there), _) => there.as_str().into(),
                (None, Ok(object @ Value::Object(_))) => self.as_there(&object).to_string().into(),
                _ => here.clone(),
            },
            other => other.clone(),
        }
    }
}

/// Tells the rows of an answer apart.
fn key(row: &Value) -> (String, Option<u64>, Option<u64>) {
    let event = if row["event"].is_object() {
        &row["event"]
    } else {
        row
    };
    (
        row["session"].to_string(),
        event["seq"].as_u64(),
        row["turn"].as_u64(),
    )
}

/// Returns whether a row names fields that its machine did not send, or says that there are some.
fn is_marked(row: &Value) -> bool {
    if row["kind"] == "withheld" {
        return true;
    }
    match &row["withheld"] {
        Value::Array(fields) => !fields.is_empty(),
        Value::Number(count) => count.as_u64() != Some(0),
        Value::Bool(is_withheld) => *is_withheld,
        Value::String(fields) => fields != "[]",
        _ => false,
    }
}

/// Where two answers differ, and what each says.
type Found = Vec<(String, Value, Value)>;

/// Adds where two answers differ.
fn differences(path: &str, here: &Value, there: &Value, found: &mut Found) {
    match (here, there) {
        // It says itself that it is not whole.
        (Value::Object(_), Value::Object(_)) if is_marked(here) => {}
        (Value::Object(one), Value::Object(two)) => {
            let names: BTreeSet<_> = one.keys().chain(two.keys()).collect();
            for name in names
                .into_iter()
                .filter(|name| !PLACES.contains(&name.as_str()))
            {
                differences(&format!("{path}.{name}"), &here[name], &there[name], found);
            }
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            for (one, two) in one.iter().zip(two) {
                differences(&format!("{path}[]"), one, two, found);
            }
        }
        (Value::Array(one), Value::Array(two)) if two.iter().all(Value::is_object) => {
            let here: HashMap<_, _> = one.iter().map(|item| (key(item), item)).collect();
            for there in two {
                let here = here.get(&key(there)).copied().unwrap_or(&Value::Null);
                differences(&format!("{path}[]"), here, there, found);
            }
        }
        _ if here == there => {}
        _ => found.push((path.to_owned(), here.clone(), there.clone())),
    }
}

/// A question to the machine, and the same one about it to the collector.
struct Question {
    name: &'static str,
    there: Value,
    here: Value,
}

/// Returns the questions about all of a machine.
fn about_all(machine: &str) -> Vec<Question> {
    let policy = "min_turn: 1h\n";
    let questions = [
        ("sessions", json!({ "query": "sessions", "all": true })),
        ("audit", json!({ "query": "audit" })),
        ("stats", json!({ "query": "summary" })),
        ("events", json!({ "query": "events", "payloads": true })),
        ("export", json!({ "query": "events", "export": true })),
        ("replay --verify", json!({ "query": "verify" })),
        (
            "replay --policy",
            json!({ "query": "what_if", "name": "x.yml", "text": policy }),
        ),
        ("trends", json!({ "query": "trends", "days": 30 })),
    ];
    let about = questions.into_iter().map(|(name, there)| {
        let mut here = there.clone();
        here["machine"] = machine.into();
        Question { name, there, here }
    });
    about.collect()
}

/// Returns the questions about each session, decision and event of a machine.
fn about_each(machine: &Machine, names: &Names) -> Vec<Question> {
    let mut questions = Vec::new();
    for session in machine.daemon.ask(&["sessions", "--all", "--json"]) {
        let there = session["session"].as_str().expect("an id").to_owned();
        let here = &names.sessions[&there];
        for name in ["state", "timeline", "lanes"] {
            let question = |session: &str| json!({ "query": name, "session": session, "from": 0 });
            questions.push(Question {
                name,
                there: question(&there),
                here: question(here),
            });
        }
    }
    for decision in machine.daemon.ask(&["audit", "--json"]) {
        let question = json!({ "query": "explain", "seq": decision["seq"] });
        let mut here = question.clone();
        here["machine"] = machine.name.as_str().into();
        questions.push(Question {
            name: "explain",
            there: question,
            here,
        });
    }
    for (here, there) in &names.numbers {
        let question = |seq: &u64| json!({ "query": "event", "seq": seq });
        questions.push(Question {
            name: "event",
            there: question(there),
            here: question(here),
        });
    }
    questions
}

/// Asks everything on the machine and at the collector. Returns each difference, with one example.
fn compared(machine: &Machine, collector: &Collector) -> BTreeMap<String, (Value, Value)> {
    let names = Names::of(machine, collector);
    assert!(!names.numbers.is_empty());
    let mut all = BTreeMap::new();
    let questions = about_all(&names.machine)
        .into_iter()
        .chain(about_each(machine, &names));
    for question in questions {
        let is_answer = |line: &Value| line.get("progress").is_none();
        let ask = |home, question: &Value| -> Vec<Value> {
            let lines = query(home, question).into_iter();
            lines.filter(is_answer).collect()
        };
        let there = ask(&machine.daemon.home, &question.there);
        let here = ask(&collector.home, &question.here);
        let here: Vec<_> = here
            .iter()
            .filter(|line| line["kind"] != "run_received")
            .map(|line| names.as_there(line))
            .collect();
        let mut found = Vec::new();
        differences(question.name, &here.into(), &there.into(), &mut found);
        for (path, here, there) in found {
            all.entry(path).or_insert((here, there));
        }
    }
    all.extend(of_tables(machine, collector, &names));
    all
}

/// Compares the tables of `sql`.
fn of_tables(
    machine: &Machine,
    collector: &Collector,
    names: &Names,
) -> Vec<(String, (Value, Value))> {
    let mut all = Vec::new();
    for table in ["events", "sessions", "turns", "decisions", "tools"] {
        let ask = format!("select * from {table}");
        let mut there = machine.daemon.ask(&["journal", "sql", "--json", &ask]);
        let here = collector.ask(&[
            "journal",
            "sql",
            "--json",
            "--machine",
            &names.machine,
            &ask,
        ]);
        let mut here: Vec<_> = here
            .iter()
            .filter(|row| row["kind"] != "run_received")
            .map(|row| names.as_there(row))
            .collect();
        // Without `order by`, the order of rows says nothing.
        here.sort_by_key(key);
        there.sort_by_key(key);
        let mut found = Vec::new();
        differences(
            &format!("sql {table}"),
            &here.into(),
            &there.into(),
            &mut found,
        );
        all.extend(
            found
                .into_iter()
                .map(|(path, here, there)| (path, (here, there))),
        );
    }
    all
}

fn worked(url: &str, name: &str, level: &str) -> Machine {
    let mut machine = Machine::new(name, url, level);
    SCENARIOS
        .iter()
        .for_each(|scenario| machine.plays(scenario));
    machine.calls_tools(20);
    machine
}

/// What only a collector says.
const ONLY_HERE: [&str; 2] = ["trends[].known_machines", "trends[].machines"];

#[test]
fn every_answer_of_the_collector_is_the_machines_own() {
    let mut servers = Servers::open(3);
    let mut collector = Collector::new(&servers.url());
    // Of two machines with the same sessions, each has its own.
    let mut machines = ["one", "two"].map(|name| worked(&servers.url(), name, "all"));
    // The leader, the collector, and each machine are killed, and the work goes on.
    for machine in &mut machines {
        let leader = servers.leader();
        servers.kill(leader);
        collector.kill();
        machine.restarts();
        machine.calls_tools(20);
        servers.start(leader);
        collector.start();
    }
    collector.waits_for_all(&machines);
    for machine in &machines {
        wait_until(|| machine.fleet()["backlog"] == 0);
        let mut found = compared(machine, &collector);
        found.retain(|path, _| !ONLY_HERE.contains(&path.as_str()));
        // Equal folders of two machines are two projects.
        let of = format!("{}:", machine.name);
        found.retain(|_, (here, there)| {
            here.as_str().and_then(|here| here.strip_prefix(&of)) != there.as_str()
        });
        assert!(found.is_empty(), "{}: {found:#?}", machine.name);
    }
}

/// Says nothing, or that something was withheld.
fn is_withheld(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty() || text == "withheld" || text.contains("keyed:"),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Answers that say in their own words that something is missing, or that are sums of what was sent.
const SAYS_SO: [&str; 8] = [
    // Which messages begin a turn, and which are joined with the one before, is seen in their texts.
    "sql events[].turn",
    "sql sessions[].turn",
    "sql turns",
    "timeline[].turn",
    "timeline[].turn_began_at",
    "explain[].considered",
    "trends[].hooks",
    "trends[].known_machines",
];

#[test]
fn what_a_level_leaves_out_is_missing_and_never_other_than_it_was() {
    let servers = Servers::open(1);
    let collector = Collector::new(&servers.url());
    for level in ["decisions", "skeleton"] {
        let machine = worked(&servers.url(), level, level);
        let ask = format!(
            "select max(journal_seq + coalesce(json_extract(fields, '$.count'), 1) - 1) as last from events \
             where machine = '{level}' and kind != 'run_received'"
        );
        wait_until(|| {
            collector.ask(&["journal", "sql", "--json", &ask])[0]["last"]
                == machine.status()["events"]
        });
        let mut found = compared(&machine, &collector);
        found.retain(|path, (here, _)| {
            !is_withheld(here) && !SAYS_SO.iter().any(|own| path.starts_with(own))
        });
        let short = |value: &Value| value.to_string().chars().take(60).collect::<String>();
        let found: Vec<_> = found
            .iter()
            .map(|(path, (here, there))| format!("{path}: {} for {}", short(here), short(there)))
            .collect();
        assert!(found.is_empty(), "{level}: {found:#?}");
    }
}
