//! Who is let in.

use std::io::{ErrorKind, Read as _, Write as _};
use std::process::Command;

use super::*;

#[test]
fn a_token_is_exchanged_once_and_only_its_key_reads() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let refused = |path: &str, headers: &[(&str, &str)]| {
        let answer = page.get(path, headers);
        assert_eq!(answer.status, 403, "{path} {headers:?}");
        assert!(
            answer.body.contains("`checkpointd web --open`"),
            "{}",
            answer.body
        );
    };
    for path in [
        "/api/now",
        "/api/live",
        "/api/enter",
        "/nowhere",
        "/api/config",
    ] {
        refused(path, &[]);
        refused(&format!("{path}?token={}", page.token), &[]);
    }
    let wrong = Page {
        port: page.port,
        token: "0123".into(),
    };
    assert_eq!(wrong.try_enter(&[]).status, 403);
    let key = page.enter();
    assert_eq!(page.try_enter(&[]).status, 403, "it is used up");
    assert_eq!(page.get("/api/now", &[("Authorization", &key)]).status, 200);
    for (name, value) in [
        ("Authorization", &key[..key.len() - 1]),
        ("Authorization", key.trim_start_matches("Bearer ")),
        ("Cookie", &format!("checkpointd-{}={key}", page.port)),
    ] {
        refused("/api/now", &[(name, value)]);
    }
    refused(
        "/api/now",
        &[("Authorization", &key), ("Authorization", "Bearer x")],
    );

    // The other tab gets a token of its own; the first one stays in.
    let other = Page::open(&daemon);
    assert_eq!(other.port, page.port, "one page");
    other.enter();
    assert_eq!(page.get("/api/now", &[("Authorization", &key)]).status, 200);
}

#[test]
fn the_page_itself_is_the_same_for_everybody_and_sets_no_cookie() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let key = page.enter();
    let answer = page.get("/", &[]);
    assert_eq!(answer.body, page.get("/", &[("Authorization", &key)]).body);
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/html; charset=utf-8"))
    );
    assert_eq!(answer.header("set-cookie"), None);
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
    let (port, rest) = rest.split_once("/#token=").expect("a token");
    let token = rest.split('"').next().expect("a token").to_owned();
    Page {
        port: port.parse().expect("a port"),
        token,
    }
}

/// Enters the page as a browser does that is led there by a file, which works once.
fn check_led(page: &Page) {
    let led = |dest| {
        [
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", dest),
        ]
    };
    assert_eq!(page.get("/", &led("document")).status, 200);
    for (path, dest) in [
        ("/", "iframe"),
        ("/", "script"),
        ("/assets/app.js", "document"),
        ("/api/now", "document"),
    ] {
        assert_eq!(page.get(path, &led(dest)).status, 403, "{path} as {dest}");
    }
    let key = page.enter();
    assert_eq!(page.get("/api/now", &[("Authorization", &key)]).status, 200);
    assert_eq!(page.try_enter(&[]).status, 403, "it is used up");
}

/// Enters the page by the address that is printed where no browser comes.
fn check_printed(daemon: &Daemon, path: &str, port: u16) {
    let output = run(&mut open(daemon, path), b"");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["opened"], false, "{answer}");
    let url = answer["url"].as_str().expect("an address");
    let token = url.split_once("#token=").expect("a token").1.to_owned();
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
fn another_site_gets_nothing_even_with_the_key() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let key = page.enter();
    let own = format!("http://127.0.0.1:{}", page.port);
    let other_port = format!("127.0.0.1:{}", page.port ^ 1);
    let foreign = format!("http://{other_port}");
    let forwarded = format!("localhost:{}", page.port ^ 1);
    let from_there = format!("http://{forwarded}");
    let refused: &[&[(&str, &str)]] = &[
        &[("Host", "evil.example")],
        &[("Host", "127.0.0.1.evil.example")],
        &[("Host", "127.0.0.1:80:80")],
        &[("Host", &forwarded), ("Origin", &own)],
        &[("Host", "")],
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
        &[("Origin", &foreign)],
        &[("Origin", &own), ("Origin", "http://evil.example")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
    ];
    for headers in refused {
        let headers = [&[("Authorization", key.as_str())], *headers].concat();
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
        // What `ssh -L` brings to another port, and a browser on port 80, which it does not name.
        &[("Host", &other_port)],
        &[("Host", &forwarded), ("Origin", &from_there)],
        &[("Host", "127.0.0.1")],
    ];
    for headers in allowed {
        let headers = [&[("Authorization", key.as_str())], *headers].concat();
        assert_eq!(page.get("/api/now", &headers).status, 200, "{headers:?}");
    }
    // A token that another site sends opens nothing, and is not spent.
    let second = Page::open(&daemon);
    for header in [
        ("Host", "evil.example"),
        ("Origin", "http://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
    ] {
        assert_eq!(second.try_enter(&[header]).status, 403, "{header:?}");
    }
    second.enter();
}

#[test]
fn what_is_sent_needs_an_origin() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let key = page.enter();
    let own = format!("http://127.0.0.1:{}", page.port);
    let foreign = format!("http://127.0.0.1:{}", page.port ^ 1);
    let tried = json!({ "text": "" }).to_string();
    let send = |headers: &[(&str, &str)]| {
        let headers = [
            &[
                ("Authorization", key.as_str()),
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
fn connections_that_say_nothing_keep_nobody_waiting() {
    let daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let address = ("127.0.0.1", page.port);
    // More than there are places: half said, not said at all, and with a wrong key.
    let others: Vec<_> = (0..200)
        .map(|number| {
            let mut stream = TcpStream::connect(address).expect("it listens");
            let half = [
                "",
                "GET / HT",
                "GET /api/live HTTP/1.1\r\nAuthorization: Bearer x\r\n",
            ];
            // One that is closed already has lost its place.
            let _ = stream.write_all(half[number % 3].as_bytes());
            stream
        })
        .collect();
    let key = page.enter();
    let mut pushed = page.follow(&key, 0);
    let says = |text: &str| {
        daemon.hook(
            &["claude", "UserPromptSubmit"],
            prompt("still here", text).as_bytes(),
        )
    };
    says("hello");
    // Now the page knows that this connection has the key.
    while pushed.receive()["rows"][0]["title"] != "hello" {}
    let more: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(address).expect("it listens"))
        .collect();
    says("please");
    // Who has the key keeps its connection.
    let last = daemon.ask(&["journal", "stats", "--json"])[0]["events"].clone();
    while pushed.receive()["seq"] != last {}
    for path in ["/", "/assets/app.js", "/api/now"] {
        let answer = page.get(path, &[("Authorization", &key)]);
        assert_eq!(answer.status, 200, "{path}");
    }
    // The oldest made room: the places of others are bounded.
    let is_closed = |mut stream: &TcpStream| {
        stream.set_nonblocking(true).expect("set");
        !matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    let open = others
        .iter()
        .chain(&more)
        .filter(|stream| !is_closed(stream));
    assert!(open.count() <= 64);
}

/// Does what a tab does after a restart, without a browser.
fn resume(page: &Page, body: &Value) -> (u16, Value) {
    let own = format!("http://127.0.0.1:{}", page.port);
    let headers = [("Content-Type", "application/json"), ("Origin", &*own)];
    let answer = page.send("POST", "/api/resume", &headers, &body.to_string());
    let said = serde_json::from_str(&answer.body).unwrap_or_default();
    (answer.status, said)
}

#[test]
fn a_tab_comes_back_after_a_restart_and_a_key_does_not() {
    let mut daemon = Daemon::with(EVERY_STOP);
    let page = Page::open(&daemon);
    let entry: Value = serde_json::from_str(&page.try_enter(&[]).body).expect("JSON");
    let key = format!("Bearer {}", entry["key"].as_str().expect("a key"));
    let id = &entry["tab"]["id"];
    let kept = daemon.home.path().join("run/page.json");
    let mode = fs::metadata(&kept).expect("kept").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(
        !fs::read_to_string(&kept).expect("text").contains(&key[7..]),
        "no key is kept"
    );
    daemon.kill();
    daemon.start();
    assert_eq!(page.get("/", &[]).status, 200, "it is open again");
    assert_eq!(page.get("/api/now", &[("Authorization", &key)]).status, 403);
    let number = "0".repeat(64);
    let (status, said) = resume(&page, &json!({ "id": id, "number": number }));
    assert_eq!(
        (status, said["proof"].as_str().map(str::len)),
        (200, Some(64))
    );
    // Who cannot prove itself stays out, and so does who gives the daemon its own proof.
    assert_eq!(
        resume(&page, &json!({ "id": id, "proof": said["proof"] })).0,
        403
    );
    assert_eq!(
        resume(&page, &json!({ "id": "none", "number": number })).0,
        403
    );
    assert_eq!(resume(&page, &json!({ "id": id })).0, 403);

    // Closed is closed, for the next daemon too.
    daemon.ask(&["web", "--stop", "--json"]);
    assert!(!kept.exists());
    daemon.kill();
    daemon.start();
    assert!(TcpStream::connect(("127.0.0.1", page.port)).is_err());
}
