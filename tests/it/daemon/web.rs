//! The web page's server, without a browser: who is let in, what is served, and what is pushed.

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
fn a_token_opens_the_page_once_and_nothing_else_does() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    for path in [
        "/",
        "/?token=",
        "/?token=0123",
        "/assets/app.js",
        "/api/now",
        "/api/live",
        "/nowhere",
    ] {
        let answer = page.get(path, &[]);
        assert_eq!(answer.status, 403, "{path}");
        assert!(
            answer.body.contains("`checkpointd web --open`"),
            "{}",
            answer.body
        );
        assert!(answer.header("set-cookie").is_none(), "{path}");
    }
    let cookie = page.enter();
    assert_eq!(
        page.get(&format!("/?token={}", page.token), &[]).status,
        403,
        "it is used up"
    );
    let cookie_line = [("Cookie", cookie.as_str())];
    assert_eq!(
        page.get("/?token=0123", &cookie_line).status,
        303,
        "a browser that was let in goes on"
    );
    let (name, value) = cookie.split_once('=').expect("a name");
    let shorter = format!("{name}={}", &value[1..]);
    assert_eq!(page.get("/", &[("Cookie", &shorter)]).status, 403);

    let answer = page.get("/", &cookie_line);
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/html; charset=utf-8"))
    );
    let policy = answer.header("content-security-policy").expect("a policy");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("access-control-allow-origin"), None);

    // The other browser gets a token of its own; the first one stays in.
    let other = Page::open(&daemon);
    assert_eq!(other.port, page.port, "one page");
    other.enter();
    assert_eq!(page.get("/", &cookie_line).status, 200);
}

/// Makes a program that notes what it is called with, and ends with a code.
fn opener(folder: &Path, code: u8) -> String {
    fs::create_dir_all(folder).expect("a folder");
    for name in ["open", "xdg-open"] {
        let text = format!(
            "#!/bin/sh\necho \"$*\" > '{0}/new' && mv '{0}/new' '{0}/called'\nexit {code}\n",
            folder.display()
        );
        put_script(&folder.join(name), &text);
    }
    format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").unwrap_or_default()
    )
}

#[test]
fn a_browser_is_led_to_the_page_without_a_token_on_a_command_line() {
    let daemon = Daemon::with(EVERY_STOP);
    let folder = daemon.home.path().join("opener");
    let open = |path: &str| {
        let mut command = daemon.home.command(
            env!("CARGO_BIN_EXE_checkpointd"),
            &["web", "--open", "--json"],
        );
        command.env("PATH", path);
        command
    };
    let mut command = open(&opener(&folder, 0));
    let opening = std::thread::spawn(move || run(&mut command, b""));
    wait_until(|| folder.join("called").exists());
    let called = fs::read_to_string(folder.join("called")).expect("a file");
    let file = Path::new(called.trim());
    let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!(
        (mode(file), mode(file.parent().expect("a folder"))),
        (0o600, 0o700),
        "{called}"
    );
    let text = fs::read_to_string(file).expect("readable");
    let (_, rest) = text
        .split_once("content=\"0; url=http://127.0.0.1:")
        .expect("an address");
    let (port, rest) = rest.split_once("/?token=").expect("a token");
    let token = rest.split('"').next().expect("a token").to_owned();
    assert!(token.len() == 64 && !called.contains(&token), "{called}");

    let page = Page {
        port: port.parse().expect("a port"),
        token,
    };
    let path = format!("/?token={}", page.token);
    let led = |dest| {
        [
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", dest),
        ]
    };
    assert_eq!(
        page.get(&path, &led("iframe")).status,
        403,
        "within another page"
    );
    let answer = page.get(&path, &led("document"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(
        answer.body.contains("content=\"0; url=/\"") && !answer.body.contains(&page.token),
        "{}",
        answer.body
    );
    let cookie = answer
        .header("set-cookie")
        .and_then(|cookie| cookie.split(';').next())
        .expect("a cookie")
        .to_owned();
    assert_eq!(page.get("/", &[("Cookie", &cookie)]).status, 200);
    assert_eq!(
        page.get(&path, &led("document")).status,
        403,
        "it is used up"
    );
    let from_elsewhere = [&[("Cookie", cookie.as_str())][..], &led("document")].concat();
    assert_eq!(
        page.get("/", &from_elsewhere).status,
        403,
        "without a token nobody comes from elsewhere"
    );
    let output = opening.join().expect("it ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&answer["opened"], output.status.code()),
        (&json!(true), Some(0)),
        "{answer}"
    );
    assert!(!file.exists(), "it is removed");

    // Where no browser comes, the address is printed.
    for path in [opener(&folder, 1), "/nowhere".to_owned()] {
        let output = run(&mut open(&path), b"");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["opened"], false, "{answer}");
        let token = answer["url"]
            .as_str()
            .and_then(|url| url.split_once("?token="))
            .expect("a token")
            .1
            .to_owned();
        Page {
            port: page.port,
            token,
        }
        .enter();
        assert!(!file.exists());
    }
}

#[test]
fn another_site_gets_nothing_even_with_the_cookie() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let cookie = page.enter();
    let own = format!("http://127.0.0.1:{}", page.port);
    let other_port = format!("127.0.0.1:{}", page.port ^ 1);
    let foreign = format!("http://{other_port}");
    let refused: &[&[(&str, &str)]] = &[
        &[("Host", "evil.example")],
        &[("Host", "127.0.0.1")],
        &[("Host", &other_port)],
        &[("Host", "")],
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
        &[("Origin", &foreign)],
        &[("Origin", &own), ("Origin", "http://evil.example")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
    ];
    for headers in refused {
        let headers = [&[("Cookie", cookie.as_str())], *headers].concat();
        let answer = page.get("/api/now", &headers);
        assert!(
            answer.status == 403 || answer.status == 400,
            "{headers:?}: {}",
            answer.status
        );
        assert!(!answer.body.contains("\"rows\""), "{headers:?}");
    }
    let named = format!("localhost:{}", page.port);
    let allowed: &[&[(&str, &str)]] = &[
        &[],
        &[("Origin", &own)],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Host", &named)],
    ];
    for headers in allowed {
        let headers = [&[("Cookie", cookie.as_str())], *headers].concat();
        assert_eq!(page.get("/api/now", &headers).status, 200, "{headers:?}");
    }
    // A token that another site sends opens nothing, and is not spent.
    let second = Page::open(&daemon);
    let path = format!("/?token={}", second.token);
    assert_eq!(second.get(&path, &[("Host", "evil.example")]).status, 403);
    assert_eq!(
        second
            .get(&path, &[("Sec-Fetch-Site", "cross-site")])
            .status,
        403
    );
    second.enter();
    // What is sent needs an origin.
    let tried = json!({ "text": "" }).to_string();
    let send = |headers: &[(&str, &str)]| {
        let headers = [
            &[
                ("Cookie", cookie.as_str()),
                ("Content-Type", "application/json"),
            ],
            headers,
        ]
        .concat();
        page.send("POST", "/api/what-if", &headers, &tried).status
    };
    assert_eq!(
        (
            send(&[]),
            send(&[("Origin", &foreign)]),
            send(&[("Origin", &own)])
        ),
        (403, 403, 200)
    );
}

#[test]
fn nothing_can_be_changed_through_the_page() {
    let daemon = Daemon::with(EVERY_STOP);
    recorded("claude/h-stop-block-once")
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    let session = daemon.ask(&["sessions", "--json"])[0]["session"]
        .as_str()
        .expect("an id")
        .to_owned();
    let page = Page::open(&daemon);
    let cookie = page.enter();
    let own = format!("http://127.0.0.1:{}", page.port);
    let headers = [
        ("Cookie", cookie.as_str()),
        ("Origin", own.as_str()),
        ("Content-Type", "application/json"),
    ];
    let events = daemon.ask(&["journal", "stats", "--json"])[0]["events"].clone();
    // All that the socket takes.
    let paths = [
        "/v1/shutdown".to_owned(),
        "/v1/hooks/claude".into(),
        "/v1/append".into(),
        "/v1/query".into(),
        "/v1/web/open".into(),
        "/v1/web/close".into(),
        "/v1/phase/create".into(),
        "/healthz".into(),
        format!("/sessions/{session}/mute"),
        format!("/sessions/{session}/clear"),
        format!("/sessions/{session}/agent-restart"),
    ];
    for path in &paths {
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let answer = page.send(method, path, &headers, "{}");
            assert_eq!(answer.status, 404, "{method} {path}: {}", answer.body);
        }
    }
    for path in [
        "/api/now",
        "/api/trends?days=7",
        "/api/config",
        "/api/decisions",
    ] {
        let status = page.send("POST", path, &headers, "{}").status;
        assert!(status == 404 || status == 405, "{path}: {status}");
    }
    assert_eq!(
        daemon.ask(&["journal", "stats", "--json"])[0]["events"],
        events
    );
}

#[test]
fn every_file_of_the_page_is_served_and_every_question_answered() {
    let daemon = Daemon::with(EVERY_STOP);
    recorded("claude/h-stop-block-once")
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    let page = Page::open(&daemon);
    let cookie = page.enter();
    let get = |path: &str| {
        let answer = page.get(path, &[("Cookie", &cookie)]);
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
        page.get("/api/events/99999", &[("Cookie", &cookie)]).status,
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

#[test]
fn a_timeline_is_short_and_can_be_gone_on_with_from_any_event() {
    let daemon = Daemon::with(EVERY_STOP);
    let calls = recorded("claude/h-stop-block-once");
    calls
        .iter()
        .filter(|call| call["event"] != "SessionEnd")
        .for_each(|call| drop(play(&daemon, call)));
    let entry = &daemon.ask(&["sessions", "--json"])[0];
    let (session, native) = (
        entry["session"].as_str().expect("an id"),
        entry["native_session"].as_str().expect("one"),
    );
    daemon.hook(
        &["claude", "UserPromptSubmit"],
        prompt(native, &"very long ".repeat(20_000)).as_bytes(),
    );
    let page = Page::open(&daemon);
    let cookie = page.enter();
    let get = |from: u64| {
        let answer = page.get(
            &format!("/api/sessions/{session}/timeline?from={from}"),
            &[("Cookie", &cookie)],
        );
        filled(answer.lines())
    };
    let whole = get(0);
    let told = daemon.ask(&["timeline", session, "--json"]);
    assert_eq!(whole.len(), told.len());
    for (brief, told) in whole.iter().zip(&told) {
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
    let last = whole.last().expect("a prompt");
    assert!(
        last["text"]
            .as_str()
            .expect("a text")
            .starts_with("very long very"),
        "{last}"
    );
    assert!(
        whole
            .iter()
            .any(|line| line["call"]["is_error"] == true && line["began_at"] != line["at"]),
        "{whole:?}"
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
        let from = daemon.ask(&["journal", "stats", "--json"])[0]["events"]
            .as_u64()
            .expect("a number")
            + 1;
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
    let cookie = page.enter();
    let now: Value =
        serde_json::from_str(&page.get("/api/now", &[("Cookie", &cookie)]).body).expect("JSON");
    assert_eq!((&now["rows"], &now["sessions"]), (&json!([]), &json!(0)));
    let mut pushed = page.follow(&cookie, now["seq"].as_u64().expect("a number"));

    let id = "10e54898-3d7e-4d3d-bff0-5aa71c2b471a";
    daemon.hook(
        &["claude", "UserPromptSubmit"],
        prompt(id, "please").as_bytes(),
    );
    let message = pushed.next();
    let row = &message["rows"][0];
    assert_eq!(
        (&row["session"], &row["standing"], &row["turn"]),
        (&json!(id), &json!("running"), &json!(1)),
        "{row}"
    );
    assert_eq!(
        (&row["min_turn_ms"], &row["project"]),
        (&json!(0), &json!("/nowhere/project")),
        "{row}"
    );

    let ask = json!({ "hook_event_name": "PermissionRequest", "session_id": id, "cwd": "/nowhere/project",
        "tool_name": "Bash", "tool_input": { "command": "rm -r build" } });
    daemon.hook(&["claude", "PermissionRequest"], ask.to_string().as_bytes());
    let message = pushed.next();
    assert_eq!(message["rows"][0]["standing"], "needs_you", "{message}");
    let (_, asked) = daemon.http("GET", "/v1/now", &[], b"").expect("answers");
    let asked: Value = serde_json::from_str(&asked).expect("JSON");
    assert_eq!(asked["rows"], message["rows"], "the socket says the same");
    // Whoever comes back says what it knew last.
    let missed = page.follow(&cookie, 0).next();
    assert_eq!(missed["seq"], message["seq"]);
    // Readers that do not read keep nobody from anything.
    let _silent: Vec<_> = (0..8).map(|_| page.follow(&cookie, 0)).collect();
    for number in 0..20 {
        daemon.hook(
            &["claude", "UserPromptSubmit"],
            prompt(id, &format!("{number}")).as_bytes(),
        );
    }
    let last = daemon.ask(&["journal", "stats", "--json"])[0]["events"].clone();
    while pushed.next()["seq"] != last {}
}

#[test]
fn the_page_closes_when_asked_and_with_the_daemon() {
    let daemon = Daemon::with(EVERY_STOP);
    assert_eq!(daemon.ask(&["web", "--stop", "--json"])[0]["closed"], false);
    let page = Page::open(&daemon);
    let cookie = page.enter();
    let (code, _) = daemon.ask_code(&["web", "--port", &(page.port ^ 1).to_string(), "--json"]);
    assert_eq!(code, 1, "it is open elsewhere");
    let mut pushed = page.follow(&cookie, 0);
    pushed.next();
    assert_eq!(daemon.ask(&["web", "--stop", "--json"])[0]["closed"], true);
    wait_until(|| TcpStream::connect(("127.0.0.1", page.port)).is_err());
    // On the same port: who was let in before is not let in again.
    let port = page.port.to_string();
    let again = &daemon.ask(&["web", "--port", &port, "--json"])[0];
    assert_eq!(again["port"], page.port);
    assert_eq!(page.get("/", &[("Cookie", &cookie)]).status, 403);
    let stop = &mut daemon
        .home
        .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]);
    assert!(run(stop, b"").status.success());
    wait_until(|| TcpStream::connect(("127.0.0.1", page.port)).is_err());
    assert_eq!(
        daemon.ask_code(&["web", "--json"]).0,
        3,
        "no daemon, no page"
    );
}
