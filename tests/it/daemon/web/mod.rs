//! The web page's server, without a browser: who is let in, what is served, and what is pushed.

mod access;
mod orders;

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::page::Page;
use crate::support::{put_script, run, wait_until};

fn prompt(session: &str, text: &str) -> String {
    json!({ "hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": "/nowhere/project", "prompt": text })
        .to_string()
}

#[test]
fn every_file_of_the_page_is_served() {
    let daemon = Daemon::with(EVERY_STOP);
    recorded("claude/h-stop-block-once")
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    let page = Page::open(&daemon);
    let key = page.enter();
    let get = |path: &str| {
        let answer = page.get(path, &[("Authorization", &key)]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    };
    let mut seen = vec!["/".to_owned(), "/favicon.ico".to_owned()];
    let mut next = 0;
    while next < seen.len() {
        let text = get(&seen[next]);
        // Whatever a file names is served too, and nothing comes from elsewhere.
        for part in text
            .split(['"', '\'', '('])
            .filter(|part| part.starts_with("/assets/") || part.starts_with("./"))
        {
            let name = part.rsplit('/').next().expect("a name");
            let path = format!("/assets/{name}");
            if !seen.contains(&path) {
                seen.push(path);
            }
        }
        let outside = text.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !outside.contains("http://") && !outside.contains("https://"),
            "{} names a place outside",
            seen[next]
        );
        next += 1;
    }
    assert!(seen.len() > 12, "{seen:?}");
}

#[test]
fn every_question_of_the_page_is_answered() {
    let daemon = Daemon::with(EVERY_STOP);
    recorded("claude/h-stop-block-once")
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    let page = Page::open(&daemon);
    let key = page.enter();
    let get = |path: &str| {
        let answer = page.get(path, &[("Authorization", &key)]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    };
    let decisions = daemon.ask(&["audit", "--json"]);
    let seq = &decisions[0]["seq"];
    assert_eq!(
        serde_json::from_str::<Value>(&get("/api/decisions")).expect("JSON"),
        json!(decisions)
    );
    // Page by page from the newest on, each decision is there once.
    let before = |seq: u64| -> Vec<Value> {
        serde_json::from_str(&get(&format!("/api/decisions?limit=1&before={seq}"))).expect("JSON")
    };
    let mut paged = before(u64::MAX);
    while let Some(next) = before(paged[0]["seq"].as_u64().expect("a number")).pop() {
        paged.insert(0, next);
    }
    assert_eq!(paged, decisions);
    let explained: Value =
        serde_json::from_str(&get(&format!("/api/decisions/{seq}"))).expect("JSON");
    assert_eq!(
        explained,
        daemon.ask(&["explain", &seq.to_string(), "--json"])[0]
    );
    let event: Value = serde_json::from_str(&get("/api/events/2")).expect("JSON");
    assert_eq!(
        (&event["seq"], event["payload"].is_object()),
        (&json!(2), true),
        "{event}"
    );
    assert_eq!(
        page.get("/api/events/99999", &[("Authorization", &key)])
            .status,
        404
    );
    let trends = get("/api/trends?days=7");
    assert!(
        trends.contains("\"days\"") && trends.contains("block_budget"),
        "{trends}"
    );
    let session = decisions[0]["session"].as_str().expect("an id");
    assert!(get(&format!("/api/sessions/{session}/timeline")).contains("\"agent_stopped\""));
}

/// Puts back what a line of a timeline leaves out because it is as in the line before.
fn filled(lines: Vec<Value>) -> Vec<Value> {
    let mut above = json!({});
    let fill = |mut line: Value| {
        for name in ["session", "agent", "turn", "turn_began_at"] {
            if line.get(name).is_none() {
                line[name] = above[name].clone();
            }
        }
        above = line.clone();
        line
    };
    lines.into_iter().map(fill).collect()
}

/// Checks that a timeline of the page is that of the command, in short.
fn check_brief(whole: &[Value], told: &[Value]) {
    assert_eq!(whole.len(), told.len());
    for (brief, told) in whole.iter().zip(told) {
        for name in [
            "seq",
            "at",
            "kind",
            "session",
            "agent",
            "turn",
            "turn_began_at",
            "began_at",
        ] {
            assert_eq!(brief.get(name), told.get(name), "{name}: {brief}");
        }
        assert!(brief.to_string().len() < 700, "{brief}");
    }
    assert!(
        told.iter().any(|line| line["kind"] == "evidence_gathered"),
        "there was something to leave out"
    );
    assert!(
        whole
            .iter()
            .any(|line| line["call"]["is_error"] == true && line["began_at"] != line["at"]),
        "{whole:?}"
    );
}

/// Returns the number that the next event of the journal gets.
fn next_seq(daemon: &Daemon) -> u64 {
    let stats = &daemon.ask(&["journal", "stats", "--json"])[0];
    stats["events"].as_u64().expect("a number") + 1
}

#[test]
fn a_timeline_is_short_and_can_be_gone_on_with_from_any_event() {
    let daemon = Daemon::with(EVERY_STOP);
    let calls = recorded("claude/h-stop-block-once");
    calls
        .iter()
        .filter(|call| call["event"] != "SessionEnd")
        .for_each(|call| drop(play(&daemon, call)));
    let entry = &daemon.ask(&["sessions", "--json"])[0];
    let session = entry["session"].as_str().expect("an id");
    let native = entry["native_session"].as_str().expect("one");
    daemon.hook(
        &["claude", "UserPromptSubmit"],
        prompt(native, &"very long ".repeat(20_000)).as_bytes(),
    );
    let page = Page::open(&daemon);
    let key = page.enter();
    let get = |from: u64| {
        let answer = page.get(
            &format!("/api/sessions/{session}/timeline?from={from}"),
            &[("Authorization", &key)],
        );
        filled(answer.lines())
    };
    let whole = get(0);
    let told = daemon.ask(&["timeline", session, "--json"]);
    check_brief(&whole, &told);
    let last = whole.last().expect("a prompt");
    assert!(
        last["text"]
            .as_str()
            .expect("a text")
            .starts_with("very long very"),
        "{last}"
    );

    // Forwards as one that follows does, and then anyhow: whoever asks gets what came after, and nothing else.
    let seqs: Vec<u64> = whole
        .iter()
        .filter_map(|line| line["seq"].as_u64())
        .collect();
    for (place, seq) in seqs.iter().enumerate().chain(seqs.iter().enumerate().rev()) {
        assert_eq!(get(*seq), whole[place..], "from {seq} on");
        assert_eq!(get(seq + 1), whole[place + 1..], "after {seq}");
    }
    for number in 0..3 {
        let from = next_seq(&daemon);
        assert_eq!(get(from), Vec::<Value>::new());
        daemon.hook(
            &["claude", "UserPromptSubmit"],
            prompt(native, &format!("more {number}")).as_bytes(),
        );
        let news = get(from);
        let more = news
            .iter()
            .find(|line| line["text"] == format!("more {number}"))
            .expect("it is there");
        assert_eq!(
            more["turn"].as_u64(),
            last["turn"].as_u64().map(|turn| turn + number + 1),
            "{news:?}"
        );
        assert!(
            get(0).windows(news.len()).any(|lines| lines == news),
            "{news:?}"
        );
    }
}

#[test]
fn what_changes_is_pushed_with_how_it_stands_now() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let key = page.enter();
    let now: Value =
        serde_json::from_str(&page.get("/api/now", &[("Authorization", &key)]).body).expect("JSON");
    assert_eq!((&now["rows"], &now["sessions"]), (&json!([]), &json!(0)));
    let mut pushed = page.follow(&key, now["seq"].as_u64().expect("a number"));

    let id = "10e54898-3d7e-4d3d-bff0-5aa71c2b471a";
    daemon.hook(
        &["claude", "UserPromptSubmit"],
        prompt(id, "please").as_bytes(),
    );
    let message = pushed.receive();
    let row = &message["rows"][0];
    assert_eq!(
        (&row["session"], &row["need"], &row["standing"]),
        (&json!(id), &json!("running"), &json!("running")),
        "{row}"
    );
    assert_eq!(
        (&row["title"], &row["project"]),
        (&json!("please"), &json!("/nowhere/project")),
        "{row}"
    );

    let ask = json!({ "hook_event_name": "PermissionRequest", "session_id": id, "cwd": "/nowhere/project",
        "tool_name": "Bash", "tool_input": { "command": "rm -r build" } });
    daemon.hook(&["claude", "PermissionRequest"], ask.to_string().as_bytes());
    let message = pushed.receive();
    assert_eq!(message["rows"][0]["standing"], "needs_you", "{message}");
    let (_, asked) = daemon.http("GET", "/v1/now", &[], b"").expect("answers");
    let asked: Value = serde_json::from_str(&asked).expect("JSON");
    assert_eq!(asked["rows"], message["rows"], "the socket says the same");
    // Whoever comes back says what it knew last.
    let missed = page.follow(&key, 0).receive();
    assert_eq!(missed["seq"], message["seq"]);
    // Readers that do not read keep nobody from anything.
    let _silent: Vec<_> = (0..8).map(|_| page.follow(&key, 0)).collect();
    for number in 0..20 {
        daemon.hook(
            &["claude", "UserPromptSubmit"],
            prompt(id, &format!("{number}")).as_bytes(),
        );
    }
    let last = daemon.ask(&["journal", "stats", "--json"])[0]["events"].clone();
    while pushed.receive()["seq"] != last {}
}

#[test]
fn the_page_closes_when_asked_and_with_the_daemon() {
    let daemon = Daemon::with(EVERY_STOP);
    assert_eq!(daemon.ask(&["web", "--stop", "--json"])[0]["closed"], false);
    let page = Page::open(&daemon);
    let key = page.enter();
    let (code, _) = daemon.ask_code(&["web", "--port", &(page.port ^ 1).to_string(), "--json"]);
    assert_eq!(code, 1, "it is open elsewhere");
    let mut pushed = page.follow(&key, 0);
    pushed.receive();
    assert_eq!(daemon.ask(&["web", "--stop", "--json"])[0]["closed"], true);
    wait_until(|| TcpStream::connect(("127.0.0.1", page.port)).is_err());
    // On the same port: who was let in before is not let in again.
    let port = page.port.to_string();
    let again = &daemon.ask(&["web", "--port", &port, "--json"])[0];
    assert_eq!(again["port"], page.port);
    assert_eq!(page.get("/api/now", &[("Authorization", &key)]).status, 403);
    let stop = &mut daemon
        .home
        .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]);
    assert!(run(stop, b"").status.success());
    wait_until(|| TcpStream::connect(("127.0.0.1", page.port)).is_err());
    assert_eq!(
        daemon.ask_code(&["web", "--stop", "--json"]).0,
        3,
        "no daemon, no page"
    );
}
