//! Who is let in.

use std::process::Command;

use super::*;

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

/// Returns the command that opens the page in a browser of a search path.
fn open(daemon: &Daemon, path: &str) -> Command {
    let mut command = daemon.home.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &["web", "--open", "--json"],
    );
    command.env("PATH", path);
    command
}

/// Returns the page that a file leads to.
fn page_in(file: &Path) -> Page {
    let text = fs::read_to_string(file).expect("readable");
    let (_, rest) = text
        .split_once("content=\"0; url=http://127.0.0.1:")
        .expect("an address");
    let (port, rest) = rest.split_once("/?token=").expect("a token");
    let token = rest.split('"').next().expect("a token").to_owned();
    Page {
        port: port.parse().expect("a port"),
        token,
    }
}

/// Enters the page as a browser does that is led there by a file, which works once.
fn check_led(page: &Page) {
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
}

/// Enters the page by the address that is printed where no browser comes.
fn check_printed(daemon: &Daemon, path: &str, port: u16) {
    let output = run(&mut open(daemon, path), b"");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["opened"], false, "{answer}");
    let url = answer["url"].as_str().expect("an address");
    let token = url.split_once("?token=").expect("a token").1.to_owned();
    Page { port, token }.enter();
}

#[test]
fn a_browser_opens_the_page_without_a_token_in_a_command_line() {
    let daemon = Daemon::with(EVERY_STOP);
    let folder = daemon.home.path().join("opener");
    let mut command = open(&daemon, &opener(&folder, 0));
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
    let page = page_in(file);
    assert!(
        page.token.len() == 64 && !called.contains(&page.token),
        "{called}"
    );
    check_led(&page);
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
        check_printed(&daemon, &path, page.port);
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
}

#[test]
fn what_is_sent_needs_an_origin() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let cookie = page.enter();
    let own = format!("http://127.0.0.1:{}", page.port);
    let foreign = format!("http://127.0.0.1:{}", page.port ^ 1);
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
