//! OTLP: nothing unless it is switched on, all figures and each stop when it is, no word of anybody's, and no harm by a
//! collector that is away or does not answer.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::{run, wait_until};

/// A request as it came: its head and its body.
type Request = (String, Vec<u8>);

/// A collector that keeps what it is sent, and answers with this status.
struct Collector {
    port: u16,
    taken: Arc<Mutex<Vec<Request>>>,
    status: Arc<AtomicU16>,
}

impl Collector {
    fn new(status: u16) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").expect("a port"), status)
    }

    fn on(listener: TcpListener, status: u16) -> Self {
        let port = listener.local_addr().expect("an address").port();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let keeping = Arc::clone(&taken);
        let status = Arc::new(AtomicU16::new(status));
        let answer = Arc::clone(&status);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                if let Some(request) = read(&stream) {
                    keeping.lock().expect("no panic").push(request);
                }
                let status = answer.load(Ordering::Relaxed);
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} Words\r\nContent-Length: 0\r\n\r\n"
                );
            }
        });
        Self {
            port,
            taken,
            status,
        }
    }

    fn config(&self) -> String {
        format!(
            "{EVERY_STOP}otlp: {{endpoint: 'http://127.0.0.1:{}', interval: 1s}}\n",
            self.port
        )
    }

    /// Returns the bodies that came to a path.
    fn taken(&self, path: &str) -> Vec<Vec<u8>> {
        let taken = self.taken.lock().expect("no panic");
        let begin = format!("POST {path} HTTP/1.1\r\n");
        taken
            .iter()
            .filter(|(head, _)| head.starts_with(&begin))
            .map(|(_, body)| body.clone())
            .collect()
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.taken("/v1/traces");
        let requests = requests
            .iter()
            .map(|body| serde_json::from_slice::<Value>(body).expect("JSON"));
        requests
            .flat_map(|request| {
                list(&request["resourceSpans"][0]["scopeSpans"][0]["spans"]).to_vec()
            })
            .map(|span| serde_json::from_value(span).expect("a span"))
            .collect()
    }

    /// Returns the newest figures: numbers, or how many times there were, by name and attributes.
    fn figures(&self) -> BTreeMap<String, i64> {
        let Some(body) = self.taken("/v1/metrics").pop() else {
            return BTreeMap::new();
        };
        let request: Value = serde_json::from_slice(&body).expect("JSON");
        let mut figures = BTreeMap::new();
        for metric in list(&request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]) {
            let name = metric["name"].as_str().expect("a name");
            if let Some(times) = metric.get("histogram") {
                let point = &times["dataPoints"][0];
                let counts = list(&point["bucketCounts"]);
                assert_eq!(counts.len(), list(&point["explicitBounds"]).len() + 1);
                assert_eq!(
                    counts.iter().map(whole).sum::<i64>(),
                    whole(&point["count"])
                );
                assert!(metric["unit"] == "s" && point["sum"].is_f64(), "{metric}");
                figures.insert(name.to_owned(), whole(&point["count"]));
                continue;
            }
            let data = metric.get("sum").or(metric.get("gauge")).expect("figures");
            if let Some(sum) = metric.get("sum") {
                assert!(
                    sum["isMonotonic"] == true && sum["aggregationTemporality"] == 2,
                    "{name}"
                );
            }
            for point in list(&data["dataPoints"]) {
                let words = list(&point["attributes"])
                    .iter()
                    .map(|attribute| format!(" {}", text(attribute)));
                figures.insert(
                    format!("{name}{}", words.collect::<String>()),
                    whole(&point["asInt"]),
                );
            }
        }
        figures
    }
}

/// A span as the protocol writes it.
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Span {
    trace_id: String,
    span_id: String,
    #[serde(default)]
    parent_span_id: String,
    name: String,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Value>,
    status: Option<Value>,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// A 64-bit integer, which is a string.
fn whole(value: &Value) -> i64 {
    let text = value.as_str().expect("a string");
    text.parse().expect("an integer")
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn text(attribute: &Value) -> String {
    let value = &attribute["value"];
    let text = value.get("stringValue").or(value.get("intValue"));
    text.and_then(Value::as_str)
        .expect("a string or an integer")
        .to_owned()
}

fn attributes(span: &Span) -> BTreeMap<&str, String> {
    span.attributes
        .iter()
        .map(|attribute| (attribute["key"].as_str().expect("a key"), text(attribute)))
        .collect()
}

fn warnings(daemon: &Daemon) -> String {
    daemon.ask(&["status", "--json"])[0]["warnings"].to_string()
}

fn prompt(words: &str) -> Value {
    json!({ "session_id": "s-1", "hook_event_name": "UserPromptSubmit", "cwd": "/home/me/zebra", "prompt": words })
}

/// Calls hooks of a recorded session and of another one. Returns the recorded calls.
fn tell(daemon: &Daemon) -> Vec<Value> {
    let mut calls = recorded("claude/h-stop-block-once");
    calls.retain(|call| call["event"] != "SessionEnd");
    calls.iter().for_each(|call| drop(play(daemon, call)));
    daemon.hook(
        &["claude", "UserPromptSubmit"],
        prompt("the okapi").to_string().as_bytes(),
    );
    let tool = json!({ "session_id": "s-1", "hook_event_name": "PreToolUse", "cwd": "/home/me/zebra", "tool_name": "Bash",
        "tool_use_id": "t1", "tool_input": { "command": "quagga --now" } });
    daemon.hook(&["claude", "PreToolUse"], tool.to_string().as_bytes());
    let stop = json!({ "session_id": "s-1", "hook_event_name": "Stop", "cwd": "/home/me/zebra", "stop_hook_active": false,
        "last_assistant_message": "a thylacine" });
    assert_ne!(
        daemon.hook(&["claude", "Stop"], stop.to_string().as_bytes()),
        ""
    );
    calls
}

/// Checks that the figures are those that `/metrics` has.
fn check_figures(figures: &BTreeMap<String, i64>, hook_calls: i64) {
    let expected = [
        ("checkpointd.decisions claude inject generic", 2),
        ("checkpointd.decisions claude pass block_budget", 1),
        ("checkpointd.deliveries claude confirmed", 1),
        ("checkpointd.decision", 3),
        ("checkpointd.payloads_rejected", 0),
        ("checkpointd.sessions", 2),
        ("checkpointd.spool_files", 0),
    ];
    for (name, figure) in expected {
        assert_eq!(figures.get(name), Some(&figure), "{name}: {figures:#?}");
    }
    let hooks = figures["checkpointd.hook"] + figures["checkpointd.hooks_later"];
    assert_eq!(hooks, hook_calls, "{figures:#?}");
    assert!(figures["checkpointd.memory_resident"] > 0, "{figures:#?}");
}

/// Checks what is said of the stop that was held back.
fn check_attributes(whole: &Span, decision: &Value) {
    let word = |key: &str| {
        decision[key]
            .as_str()
            .map_or_else(|| decision[key].to_string(), str::to_owned)
    };
    let said = attributes(whole);
    for (key, expected) in [
        ("session.id", word("session")),
        ("agent", "claude".into()),
        ("reason", "generic".into()),
        ("route", "hook_reply".into()),
        ("decision", word("seq")),
        ("turn", word("turn")),
        ("turn_ms", word("elapsed_ms")),
        ("outcome", "confirmed".into()),
    ] {
        assert_eq!(said.get(key), Some(&expected), "{key}: {said:?}");
    }
}

/// Checks that each step lies within the whole, one after the other.
fn check_steps(whole: &Span, spans: &[Span]) {
    let steps: Vec<_> = spans
        .iter()
        .filter(|span| span.parent_span_id == whole.span_id)
        .collect();
    let names: Vec<_> = steps
        .iter()
        .map(|span| span.name.as_str())
        .filter(|name| *name != "receive")
        .collect();
    assert_eq!(names, ["gather", "decide", "deliver"], "{spans:#?}");
    for (step, next) in steps.iter().zip(&steps[1..]) {
        assert_eq!(step.end_time_unix_nano, next.start_time_unix_nano);
    }
    assert_eq!(steps[0].start_time_unix_nano, whole.start_time_unix_nano);
    assert_eq!(
        steps.last().expect("some").end_time_unix_nano,
        whole.end_time_unix_nano
    );
    assert!(steps.iter().all(|step| step.kind == 1
        && step.status.is_none()
        && step.trace_id == whole.trace_id
        && step.trace_id.len() == 32));
}

fn check_ids(spans: &[Span]) {
    let mut ids: Vec<_> = spans
        .iter()
        .map(|span| (&span.trace_id, &span.span_id))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), spans.len(), "ids are of one span each");
}

/// Checks that no word of the hook calls was sent, and no place on this machine.
fn check_nothing_said(collector: &Collector, daemon: &Daemon, calls: &[Value]) {
    let taken = collector.taken.lock().expect("no panic");
    assert!(
        taken
            .iter()
            .all(|(head, _)| head.contains("Content-Type: application/json\r\n"))
    );
    let home = daemon.home.path().display().to_string();
    let project = calls[0]["payload"]["cwd"].as_str().expect("a folder");
    let prompts = calls
        .iter()
        .filter_map(|call| call["payload"]["prompt"].as_str());
    let words = [
        "okapi",
        "quagga",
        "zebra",
        "thylacine",
        "s-1",
        "Bash",
        "Checkpoint]",
        &home,
        project,
    ];
    for word in words.into_iter().chain(prompts) {
        let found = taken
            .iter()
            .any(|(_, body)| body.windows(word.len()).any(|part| part == word.as_bytes()));
        assert!(!found, "{word} was sent");
    }
}

#[test]
fn decisions_and_figures_arrive_and_nothing_of_what_was_said() {
    let collector = Collector::new(200);
    let daemon = Daemon::with(&collector.config());
    let calls = tell(&daemon);

    let stops = || {
        collector
            .spans()
            .into_iter()
            .filter(|span| span.name == "stop")
            .count()
    };
    // The last stop may be told of before its decision.
    let told = |name: &str| collector.figures().get(name) == Some(&3);
    wait_until(|| {
        stops() == 2
            && told("checkpointd.events agent_stopped claude")
            && told("checkpointd.decision")
    });

    check_figures(&collector.figures(), calls.len() as i64 + 3);
    let spans = collector.spans();
    let whole = spans.iter().find(|span| {
        attributes(span)
            .get("verdict")
            .is_some_and(|verdict| verdict == "inject")
    });
    let whole = whole.expect("a trace");
    let decision = &daemon.ask(&["audit", "--verdict", "inject", "--json"])[0];
    check_attributes(whole, decision);
    check_steps(whole, &spans);
    check_ids(&spans);
    check_nothing_said(&collector, &daemon, &calls);
}

#[test]
fn nothing_is_sent_unless_it_is_switched_on_and_what_is_left_is_sent_at_the_end() {
    let collector = Collector::new(200);
    let daemon = Daemon::with(EVERY_STOP);
    let config = daemon.home.path().join("config.yml");
    recorded("claude/h-normal")
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    assert_eq!(
        daemon.ask(&["status", "--json"])[0]["daemon"]["otlp_error"],
        Value::Null
    );
    assert_eq!(collector.taken.lock().expect("no panic").len(), 0);
    // Switched on while it runs; the environment has no say.
    std::fs::write(&config, collector.config().replace("1s", "1h")).expect("writes");
    wait_until(|| collector.taken("/v1/metrics").len() == 1);
    assert_eq!(collector.spans(), [], "what was before is not told of");
    recorded("claude/t-main")
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    assert_eq!(
        collector.taken("/v1/metrics").len(),
        1,
        "the hour is not over"
    );
    let decided = daemon.ask(&["audit", "--json"]).len();
    let began = Instant::now();
    let stop = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]),
        b"",
    );
    assert_eq!(stop.status.code(), Some(0));
    eprintln!("stopped within {:?}", began.elapsed());
    let figures = collector.figures();
    let told = figures
        .iter()
        .filter(|(name, _)| name.starts_with("checkpointd.decisions "))
        .map(|(_, count)| *count);
    assert_eq!(told.sum::<i64>(), decided as i64, "{figures:#?}");
    assert_ne!(collector.spans(), []);
}

#[test]
fn a_collector_that_is_away_is_told_of_once_and_gets_what_it_missed() {
    // A port that nobody listens on, and that nobody else is given meanwhile.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let config =
        format!("{EVERY_STOP}otlp: {{endpoint: 'http://127.0.0.1:{port}', interval: 1s}}\n");
    let daemon = Daemon::with(&config);
    wait_until(|| {
        warnings(&daemon).contains(&format!("do not reach the collector: 127.0.0.1:{port}: "))
    });
    recorded("claude/h-stop-block-once")
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    assert_eq!(daemon.home.waiting(), 0, "no hook call was spooled");
    let shown = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["status"]),
        b"",
    );
    let shown = String::from_utf8(shown.stdout).expect("text");
    assert!(
        shown.contains("warning    traces and metrics do not reach the collector: "),
        "{shown}"
    );

    // There again, but not ready; what it did not take comes once more.
    let collector = Collector::on(
        TcpListener::bind(("127.0.0.1", port)).expect("the port"),
        503,
    );
    let stops = || {
        collector
            .spans()
            .iter()
            .filter(|span| span.name == "stop")
            .count()
    };
    wait_until(|| stops() >= 2);
    collector.taken.lock().expect("no panic").clear();
    collector.status.store(200, Ordering::Relaxed);
    wait_until(|| stops() >= 2);
    wait_until(|| warnings(&daemon) == "[]");
    let log = daemon.log();
    assert_eq!(
        log.matches("do not reach the collector").count(),
        1,
        "{log}"
    );
}

/// Replaces the configuration in one step. A file that is cut before it is written is read as empty by then, and
/// without an endpoint spans are dropped.
fn replace_config(daemon: &Daemon, text: &str) {
    let new = daemon.home.path().join("config.new");
    std::fs::write(&new, text).expect("writes");
    std::fs::rename(new, daemon.home.path().join("config.yml")).expect("renames");
}

#[test]
fn a_collector_that_hangs_or_refuses_hurts_nobody() {
    // Takes connections, and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let config =
        format!("{EVERY_STOP}otlp: {{endpoint: 'http://127.0.0.1:{port}', interval: 1s}}\n");
    let daemon = Daemon::with(&config);
    let calls = recorded("claude/h-stop-block-once");
    let replies: Vec<_> = calls.iter().map(|call| play(&daemon, call)).collect();
    assert_eq!(
        replies.iter().filter(|reply| !reply.is_empty()).count(),
        1,
        "{replies:?}"
    );
    assert_eq!(daemon.home.waiting(), 0, "no hook call was spooled");
    wait_until(|| warnings(&daemon).contains("no answer within 5 s"));

    // What is refused for good is not sent again, which the same spans would be.
    let collector = Collector::new(400);
    replace_config(&daemon, &collector.config());
    wait_until(|| warnings(&daemon).contains("it answered 400"));
    wait_until(|| collector.taken("/v1/metrics").len() >= 2);
    assert_eq!(collector.taken("/v1/traces").len(), 1);

    // In the middle of a request that hangs, the daemon stops all the same.
    replace_config(&daemon, &config);
    wait_until(|| warnings(&daemon).contains("no answer within 5 s"));
    let stop = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]),
        b"",
    );
    assert_eq!(stop.status.code(), Some(0));
}
