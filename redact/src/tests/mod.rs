//! Tables of secrets and of texts that only look like secrets, and properties of every text.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Redactor, built_in, pattern};

mod forms;
mod planted;
mod whole;

/// Random-looking text of a given length; not a real secret.
fn random(length: usize) -> String {
    "q7Rk2ZpX9vLm4TbN8sWc1HdJ6yGf3QaE5uKo0PiB"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

/// Shapes, written in two parts so that secret scanners do not find them here.
fn secrets() -> Vec<(&'static str, String)> {
    let r = random;
    let pem = |kind: &str| {
        format!(
            "-----BEGIN {kind}PRIVATE KEY-----\n{}\n{}\n-----END {kind}PRIVATE KEY-----",
            r(64),
            r(30)
        )
    };
    vec![
        ("anthropic_key", format!("sk-{}-api03-{}", "ant", r(80))),
        ("api_key", format!("sk-{}-{}", "proj", r(48))),
        ("api_key", format!("{}-{}", "sk", r(48))),
        ("google_key", format!("{}{}", "AIza", r(35))),
        ("google_key", format!("{}.{}", "ya29", r(60))),
        ("github_token", format!("{}_{}", "ghp", r(36))),
        (
            "github_token",
            format!("{}_{}_{}", "github_pat", r(22), r(59)),
        ),
        ("gitlab_token", format!("{}-{}", "glpat", r(20))),
        ("slack_token", format!("{}-123456789012-{}", "xoxb", r(24))),
        ("aws_key_id", format!("{}{}", "AKIA", "IOSFODNN7EXAMPL2")),
        ("aws_key_id", format!("{}{}", "ASIA", "IOSFODNN7EXAMPL2")),
        ("token", format!("{}_{}", "npm", r(36))),
        ("token", format!("{}-AgEIcHlwaS5vcmc{}", "pypi", r(60))),
        ("token", format!("{}_live_{}", "sk", r(24))),
        ("token", format!("{}_{}", "hf", r(34))),
        (
            "jwt",
            format!("{}iJIUzI1NiJ9.eyJzdWIiOiIx{}.{}", "eyJhbGciO", r(10), r(43)),
        ),
        ("private_key", pem("RSA ")),
        ("private_key", pem("OPENSSH ")),
        ("private_key", pem("")),
        // Cut off before its end.
        (
            "private_key",
            format!("-----BEGIN EC PRIVATE KEY-----\n{}\n{}", r(64), r(20)),
        ),
    ]
}

#[test]
fn known_shapes_are_found_wherever_they_stand() {
    for (kind, secret) in secrets() {
        let marker = format!("[redacted: {kind}]");
        for (before, after) in [
            ("", ""),
            ("x ", " y"),
            ("\"", "\""),
            ("(", ")"),
            ("é\n", "\né"),
            ("use `", "`."),
            ("[", "]"),
            // A name tells it too.
            ("gh --token ", " pr list"),
            ("token: \"", "\""),
        ] {
            let text = format!("{before}{secret}{after}");
            assert_eq!(built_in().text(&text), format!("{before}{marker}{after}"));
        }
        for wrapped in [
            format!("export KEY={secret}; make"),
            format!("https://x.test/?key={secret}&b=1"),
            format!("'{secret}',"),
        ] {
            let redacted = built_in().text(&wrapped);
            assert!(
                redacted.contains("[redacted: ") && !redacted.contains(&secret),
                "{redacted}"
            );
        }
    }
}

/// Texts, and the same texts redacted.
const ASSIGNED: [(&str, &str); 20] = [
    ("password=hunter2", "password=[redacted: secret]"),
    (
        "PASSWORD=correct-horse make test",
        "PASSWORD=[redacted: secret] make test",
    ),
    (
        "DB_PASSWORD=abc;pytest -q",
        "DB_PASSWORD=[redacted: secret];pytest -q",
    ),
    ("password: hunter2", "password: [redacted: secret]"),
    (
        "password: \"open sesame\"",
        "password: \"[redacted: secret]\"",
    ),
    (
        "{\"password\": \"pa\\\"ss\"}",
        "{\"password\": \"[redacted: secret]\"}",
    ),
    (
        r#"{\"api_key\":\"abc12345xyz\"}"#,
        r#"{\"api_key\":\"[redacted: secret]\"}"#,
    ),
    (
        "'client_secret' => 'a1b2c3d4e5'",
        "'client_secret' => '[redacted: secret]'",
    ),
    ("token: 9f8e7d6c5b4a", "token: [redacted: secret]"),
    (
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
        "AWS_SECRET_ACCESS_KEY=[redacted: secret]",
    ),
    (
        "accessToken = \"abcd1234efgh\"",
        "accessToken = \"[redacted: secret]\"",
    ),
    (
        "app --api-key abcd1234efgh run",
        "app --api-key [redacted: secret] run",
    ),
    (
        "app --password hunter run",
        "app --password [redacted: secret] run",
    ),
    (
        "curl -u me:hunter2 https://x.test",
        "curl -u me:[redacted: password] https://x.test",
    ),
    (
        "mysql -u root -phunter2 db",
        "mysql -u root -p[redacted: password] db",
    ),
    (
        "sshpass -p hunter2 ssh x",
        "sshpass -p [redacted: secret] ssh x",
    ),
    (
        "postgres://me:hunter2@db:5432/x",
        "postgres://me:[redacted: url_password]@db:5432/x",
    ),
    (
        "redis://:p@ss@cache/0",
        "redis://:[redacted: url_password]@cache/0",
    ),
    (
        "-H 'Authorization: Bearer abcdef123456'",
        "-H 'Authorization: Bearer [redacted: authorization]'",
    ),
    (
        "{\"Authorization\":\"Basic bWU6aHVudGVyMg==\"}",
        "{\"Authorization\":\"Basic [redacted: authorization]\"}",
    ),
];

#[test]
fn what_is_assigned_to_a_telling_name_is_found() {
    for (text, expected) in ASSIGNED {
        assert_eq!(built_in().text(text), expected, "{text}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "594047f2-1c3d-4e5f-8a9b-0c1d2e3f4a5b",
        "commit 2c814829a7c3f1e0b5d4c6a7e8f90123456789ab",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "toolu_01A09q90qw90lq917835lq9 call_Zx8Kq2pL9vTb4N msg_01XFDUDYJgAACzvnptvVoYEL",
        "/home/me/.claude/projects/-home-me-risk-assessment/594047f2.jsonl",
        "task-notification-handling sk-learn risk-free-and-long-kebab-case-name sk-a-long-kebab-name-of-words",
        "src/password.rs: token_count, secret_santa(), api_key_id",
        "input_tokens: 12345678, max_tokens=4096, \"output_tokens\":77",
        "fn login(password: &str, token: String) -> Option<Secret>",
        "password: string; token?: string; secret = None",
        "let token = self.next_token(); let password = read_password(1);",
        "token = std::env::var(\"TOKEN1234\")",
        "PASSWORD=$DB_PASSWORD1 TOKEN=${TOKEN1234} SECRET=<your-secret-1>",
        "password=\"$PASSWORD\" password=******** token=\"\"",
        "PWD=/home/me/code1 OLDPWD=/tmp",
        "docker run -u 1000:1000 image1; git log -p1",
        "https://x.test:8080/@scope/name git@github.com:a/b.git https://me@x.test",
        "https://${USER}:${PASS}@x.test",
        "The bearer authentication scheme; Authorization: see RFC 6750",
        "[TeleClaude Checkpoint] - Run the tests that cover the changed Python code (`pytest`)",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "grep -n \"BEGIN RSA PRIVATE KEY\" src",
        &"very long ".repeat(20),
        "npm_config_cache pypi-server AKIA eyJ ghp_ xoxb- AIza",
        "version = \"1.2.3\" checksum = \"f5e6a1c2d3b4958677869504a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4\"",
        "[redacted: secret] password=[redacted: secret] \"password\":\"[redacted: secret]\"",
    ] {
        assert_eq!(built_in().text(text), text);
    }
}

#[test]
fn a_payload_keeps_its_address_and_stays_json() {
    let key = format!("{}_{}", "ghp", random(36));
    let payload = json!({
        "session_id": "594047f2-1c3d-4e5f-8a9b-0c1d2e3f4a5b", "cwd": "/home/me/password=a1b2c3", "hook_event_name": "PreToolUse",
        "tool_input": { "command": format!("gh auth login --with-token <<< {key}\necho \"{key}\""), "password": "letmein" },
        "list": [1, { key.clone(): [key.clone()] }],
    });
    let raw = payload.to_string();
    let mut redacted = payload.clone();
    let text = built_in()
        .payload(&mut redacted, &raw)
        .expect("it has secrets");
    assert!(!text.contains(&key) && !text.contains("letmein"), "{text}");
    assert_eq!(
        serde_json::from_str::<Value>(&text).expect("JSON"),
        redacted
    );
    for field in ["session_id", "cwd", "hook_event_name"] {
        assert_eq!(redacted[field], payload[field]);
    }
    assert_eq!(
        redacted["tool_input"]["password"],
        json!("[redacted: secret]")
    );
    // Twice the same key, and escapes that hide the shape.
    for raw in [
        format!(r#"{{"a":"{key}","a":"x"}}"#),
        format!(r#"{{"a":"\u0067{}"}}"#, &key[1..]),
        format!(r#"{{"a":"x\n{key}"}}"#),
    ] {
        let mut value: Value = serde_json::from_str(&raw).expect("JSON");
        let text = built_in()
            .payload(&mut value, &raw)
            .expect("it has a secret");
        assert!(!text.contains(&key[6..]), "{text}");
    }
    let mut clean = json!({ "prompt": "task-notification-handling  " });
    assert_eq!(
        built_in().payload(
            &mut clean,
            "{ \"prompt\": \"task-notification-handling  \" }"
        ),
        None
    );
}

#[test]
fn patterns_of_the_user_are_used_and_all_can_be_switched_off() {
    let extra = |text| pattern(text).expect("a pattern");
    let own = Redactor::new(
        true,
        vec![extra(r"CORP-\d+"), extra(r"badge (\w+)"), extra("redacted")],
    );
    assert_eq!(
        own.text("CORP-12, badge 7x"),
        "[redacted: extra], badge [redacted: extra]"
    );
    assert_eq!(
        Redactor::new(false, vec![extra("x")]).text("x password=hunter2"),
        "x password=hunter2"
    );
    assert!(pattern("(").is_err_and(|error| error.contains("`(` is not a valid pattern")));
    assert!(pattern("a*").is_err_and(|error| error.contains("matches an empty text")));
    assert!(pattern(r"(\w{500}){500}").is_err(), "its memory is bounded");
}

/// Texts of pieces that belong to secrets, so that most of them have some, whole or torn.
fn texts() -> impl Strategy<Value = String> {
    let mut pieces: Vec<String> = secrets().into_iter().map(|(_, secret)| secret).collect();
    for piece in [
        "password",
        "token",
        "api_key",
        "=",
        ":",
        " ",
        "\"",
        "'",
        "\\",
        "\n",
        "://",
        "@",
        "Bearer ",
        "Authorization",
        "[redacted: ",
        "]",
        "secret",
        "--",
        "a1b2c3d4",
        "x",
        "é",
        "curl -u ",
        "me:",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "{",
        "}",
        "pwd",
        "(",
        ")",
        "[",
        "|",
        ">",
        "<",
        "</",
        ",",
        ";",
        "//",
        "<<E",
        "\n  ",
        "- ",
        " BY ",
        "identified",
        "value",
        "密码",
        "是",
        "kty",
        "code",
        "VALUES",
        "chpasswd",
        "auth",
    ] {
        pieces.push(piece.to_owned());
    }
    prop::collection::vec(prop::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once_and_adds_little(text in texts()) {
        let once = built_in().text(&text).into_owned();
        prop_assert_eq!(built_in().text(&once), once.as_str());
        prop_assert!(once.len() <= 8 * text.len());
    }

    #[test]
    fn any_json_stays_json(texts in prop::collection::vec((texts(), texts()), 0..4)) {
        let members = texts.into_iter().map(|(key, text)| (key, json!([text]))).collect::<serde_json::Map<_, _>>();
        let mut payload = json!({ "session_id": "abc", "tool_input": members });
        let raw = payload.to_string();
        if let Some(text) = built_in().payload(&mut payload, &raw) {
            prop_assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), payload.clone());
            let mut again = payload.clone();
            let once = text;
            built_in().payload(&mut again, &once);
            prop_assert_eq!(again, payload);
        }
    }

    #[test]
    fn no_shape_survives_between_others(before in texts(), after in texts(), which in prop::sample::select(vec![0usize, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 18])) {
        // Another one than those in the texts, where two may stand so close that neither is one.
        let secret = secrets()[which].1.replace("q7Rk2ZpX9", "Wm4Tb8Lc2");
        let redacted = built_in().text(&format!("{before} {secret} {after}")).into_owned();
        prop_assert!(!redacted.contains(secret.as_str()), "{}", redacted);
    }
}

/// Of the kinds of secrets in the table, in every place where one can stand, none is left.
#[test]
fn planted_secrets_are_found() {
    let kinds = planted::read(include_str!("planted.txt"));
    assert!(kinds.len() >= 300, "{}", kinds.len());
    for kind in kinds {
        let payload = json!({ "tool_response": { "stdout": kind.text } });
        let once = built_in().text(&kind.text).into_owned();
        let mut within = payload.clone();
        let whole = built_in()
            .payload(&mut within, &payload.to_string())
            .unwrap_or_default();
        assert!(!kind.secrets.is_empty(), "line {}", kind.line);
        for part in kind
            .secrets
            .iter()
            .flat_map(|secret| secret.split_whitespace())
        {
            assert!(!once.contains(part), "line {}: {once}", kind.line);
            assert!(
                !whole.contains(part) && whole.contains("[redacted: "),
                "line {}: {whole}",
                kind.line
            );
        }
        assert_eq!(built_in().text(&once), once, "line {}: twice", kind.line);
    }
}

/// Lines of code, logs and documents that were taken for secrets once.
#[test]
fn ordinary_lines_stay() {
    for line in include_str!("ordinary.txt").lines() {
        let line = line.replace('⏎', "\n").replace('␛', "\u{1b}");
        assert_eq!(built_in().text(&line), line);
        let payload = json!({ "tool_response": line });
        assert_eq!(
            built_in().payload(&mut payload.clone(), &payload.to_string()),
            None,
            "{line}"
        );
    }
}

#[test]
fn names_and_arguments_are_read_in_json_too() {
    let cases = [
        (
            json!({ "name": "DB_PASSWORD", "value": "abc" }),
            json!({ "name": "DB_PASSWORD", "value": "[redacted: secret]" }),
        ),
        (
            json!({ "command": ["docker", "login", "-u", "me", "-p", "S3cretWord"] }),
            json!({ "command": ["docker", "login", "-u", "me", "-p", "[redacted: secret]"] }),
        ),
        (
            json!({ "headers": { "Cookie": "sid=a1b2c3d4e5; theme=dark" } }),
            json!({ "headers": { "Cookie": "sid=[redacted: cookie]; theme=dark" } }),
        ),
        (
            json!({ "app.db.password": "abc" }),
            json!({ "app.db.password": "[redacted: secret]" }),
        ),
    ];
    for (given, expected) in cases {
        let mut payload = json!({ "tool_input": given });
        let raw = payload.to_string();
        built_in()
            .payload(&mut payload, &raw)
            .expect("it has a secret");
        assert_eq!(payload["tool_input"], expected);
    }
}

/// Without them, all sessions of an agent would be one.
#[test]
fn ids_stay_under_each_name_that_agents_give_them() {
    let names = [
        "session_id sessionId sessionID thread_id thread-id conversation_id generation_id",
        "tool_use_id tool_call_id toolCallId call_id callId callID",
    ];
    for name in names.iter().flat_map(|names| names.split(' ')) {
        for id in [
            "checkpointd-doctor-01935b1e-7c4b-7d3a-9c1d-1234567890ab",
            "ses_5Xk29QpLmNb7RtVw3Zd8",
        ] {
            let payload = json!({ name: id, "tool_name": "Bash" });
            let raw = payload.to_string();
            assert_eq!(
                built_in().payload(&mut payload.clone(), &raw),
                None,
                "{name}"
            );
        }
    }
}
