//! What the page may do, and that nobody else may.

use super::*;

/// The page of a daemon with a session and a decision that sent a checkpoint; the headers of its own requests.
struct Acting {
    daemon: Daemon,
    page: Page,
    headers: [(&'static str, String); 3],
    session: String,
    decision: Value,
}

impl Acting {
    fn new() -> Self {
        let daemon = Daemon::with(EVERY_STOP);
        recorded("claude/h-stop-block-once")
            .iter()
            .for_each(|call| drop(play(&daemon, call)));
        let session = daemon.ask(&["sessions", "--json"])[0]["session"].clone();
        let decision = daemon.ask(&["audit", "--verdict", "inject", "--json"])[0]["seq"].clone();
        let page = Page::open(&daemon);
        let headers = [
            ("Authorization", page.enter()),
            ("Origin", format!("http://127.0.0.1:{}", page.port)),
            ("Content-Type", "application/json".to_owned()),
        ];
        Self {
            session: session.as_str().expect("an id").to_owned(),
            daemon,
            page,
            headers,
            decision,
        }
    }

    /// Sends with the page's own headers, but for those that are given.
    fn send(&self, method: &str, path: &str, other: &[(&str, &str)], body: &str) -> u16 {
        let named = |name: &str| other.iter().any(|(own, _)| *own == name);
        let own = self.headers.iter().filter(|(name, _)| !named(name));
        let own = own.map(|(name, value)| (*name, value.as_str()));
        let given = other.iter().copied().filter(|(_, value)| !value.is_empty());
        let headers: Vec<_> = own.chain(given).collect();
        self.page.send(method, path, &headers, body).status
    }

    fn orders(&self) -> [(String, String); 4] {
        let path = |word: &str| format!("/api/sessions/{}/{word}", self.session);
        let mark = json!({ "decision": self.decision, "note": "the user runs them" });
        [
            (path("clear"), "{}".into()),
            (path("mute"), json!({ "for": "1h" }).to_string()),
            (path("unmute"), "{}".into()),
            (path("wrong"), mark.to_string()),
        ]
    }

    fn events(&self) -> Value {
        self.daemon.ask(&["journal", "stats", "--json"])[0]["events"].clone()
    }
}

#[test]
fn the_page_can_do_four_things_to_one_session_and_each_is_journaled_as_its_own() {
    let acting = Acting::new();
    let before = acting.events().as_u64().expect("a number");
    for (path, body) in acting.orders() {
        assert_eq!(acting.send("POST", &path, &[], &body), 200, "{path}");
    }
    assert_eq!(acting.events(), before + 4, "one request, one event");
    let kinds = ["checkpoint_cleared", "muted", "unmuted", "marked_wrong"];
    for (seq, kind) in (before + 1..).zip(kinds) {
        let key = [("Authorization", acting.headers[0].1.as_str())];
        let event = acting.page.get(&format!("/api/events/{seq}"), &key).body;
        let event: Value = serde_json::from_str(&event).expect("JSON");
        assert_eq!(
            (&event["kind"], &event["payload"]),
            (&json!(kind), &json!({ "by": "page" }))
        );
    }
}

#[test]
fn nobody_else_can_do_them() {
    let acting = Acting::new();
    let before = acting.events();
    let foreign = format!("http://127.0.0.1:{}", acting.page.port ^ 1);
    // An empty value leaves the header out.
    let refused: &[&[(&str, &str)]] = &[
        &[("Authorization", "")],
        &[("Authorization", "Bearer 0123")],
        &[("Origin", "")],
        &[("Origin", "null")],
        &[("Origin", &foreign)],
        &[("Origin", "http://evil.example")],
        &[("Host", "evil.example")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
        // What a form of another site can send.
        &[("Content-Type", "text/plain")],
        &[("Content-Type", "application/x-www-form-urlencoded")],
        &[("Content-Type", "")],
    ];
    let pane = (
        format!("/api/sessions/{}/pane", acting.session),
        "{}".to_owned(),
    );
    for (path, body) in acting.orders().into_iter().chain([pane]) {
        for headers in refused {
            let status = acting.send("POST", &path, headers, &body);
            assert!((400..500).contains(&status), "{path} {headers:?}: {status}");
        }
        for method in ["GET", "PUT", "DELETE"] {
            let status = acting.send(method, &path, &[], &body);
            assert!(status == 404 || status == 405, "{method} {path}: {status}");
        }
        for wrong in ["", "7", "{", r#"{"more":1}"#] {
            let status = acting.send("POST", &path, &[], wrong);
            assert_eq!(status, 400, "{path} {wrong}");
        }
        let unknown = path.replace(&acting.session, "nobody");
        assert_eq!(acting.send("POST", &unknown, &[], &body), 404);
    }
    let [_, _, _, (path, _)] = acting.orders();
    for (mark, status) in [
        (
            json!({ "decision": acting.decision, "note": "x".repeat(1_001) }),
            400,
        ),
        (json!({ "decision": acting.decision, "item": 99 }), 404),
        (json!({ "decision": 1 }), 404),
    ] {
        assert_eq!(acting.send("POST", &path, &[], &mark.to_string()), status);
    }
    assert_eq!(acting.events(), before);
}

#[test]
fn nothing_else_can_be_changed_through_the_page() {
    let acting = Acting::new();
    let (before, session) = (acting.events(), &acting.session);
    // All else that the socket takes.
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
        format!("/api/sessions/{session}/agent-restart"),
        format!("/sessions/{session}/pane"),
    ];
    for path in &paths {
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let status = acting.send(method, path, &[], "{}");
            assert_eq!(status, 404, "{method} {path}");
        }
    }
    for path in [
        "/api/now",
        "/api/trends?days=7",
        "/api/config",
        "/api/decisions",
    ] {
        let status = acting.send("POST", path, &[], "{}");
        assert!(status == 404 || status == 405, "{path}: {status}");
    }
    assert_eq!(acting.events(), before);
}
