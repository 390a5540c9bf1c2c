//! The hook client as a process, against a server that answers well, badly or not at all. Whatever happens it exits
//! 0, prints nothing but a whole reply, and loses no call.

mod autostart;
mod denials;
mod spool;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use journal::request::{ENV, EVENT, ID, Received, TRUNCATED};
use rustix::process::{Pid, Signal};

use crate::support::{Act, Home, copy_program, http, next, put_script, run, serve, wait};

const STOP: &[u8] = br#"{"session_id":"s","hook_event_name" : "Stop","stop_hook_active":false}"#;
const TOOL: &[u8] = br#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash"}"#;
const BLOCK: &str = r#"{"decision":"block","reason":"\u00e4 look"}"#;

/// Checks what holds for every call, and returns what was printed.
#[track_caller]
fn printed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn received(request: &[u8]) -> Received<'_> {
    Received::parse(request).expect("a request")
}

#[test]
fn a_plain_event_is_sent_and_says_nothing() {
    let home = Home::new();
    let requests = serve(&home.socket(), |_| Act::Hold(http(200, "")));
    let mut client = home.client(&["claude"]);
    client
        .env("TMUX_PANE", "%3")
        .env("ANTHROPIC_API_KEY", "secret")
        .env("CLAUDE_PROJECT_DIR", "x".repeat(5000));
    assert_eq!(printed(&run(&mut client, TOOL)), "");
    let request = next(&requests);
    let request = received(&request);
    assert_eq!((request.agent, request.body), ("claude", TOOL));
    let env: serde_json::Value =
        serde_json::from_str(request.header(ENV).expect("variables")).expect("JSON");
    // Which process has the terminal is the one thing that it finds out by itself.
    let named = env
        .as_object()
        .expect("an object")
        .iter()
        .filter(|(name, _)| *name != "CHECKPOINTD_TERMINAL_PID");
    assert_eq!(
        named.collect::<Vec<_>>(),
        [(&"TMUX_PANE".to_owned(), &serde_json::json!("%3"))]
    );
    assert_eq!(
        (request.header(EVENT), request.header(TRUNCATED)),
        (None, None)
    );
    let id = uuid::Uuid::parse_str(request.header(ID).expect("an id")).expect("a uuid");
    assert_eq!(id.get_version_num(), 7);
}

#[test]
fn the_reply_to_a_stop_is_printed_byte_for_byte() {
    let chunks = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{BLOCK}\r\n0\r\n\r\n",
        BLOCK.len()
    );
    let interim = [b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), http(200, BLOCK)].concat();
    for reply in [http(200, BLOCK), chunks.into_bytes(), interim] {
        let home = Home::new();
        let _requests = serve(&home.socket(), move |_| Act::Hold(reply.clone()));
        assert_eq!(printed(&run(&mut home.client(&["claude"]), STOP)), BLOCK);
        assert!(home.spooled().is_empty());
    }
}

#[test]
fn a_reply_longer_than_a_pipe_is_printed_whole() {
    let home = Home::new();
    let body = format!(r#"{{"reason":"{}"}}"#, "x".repeat(900_000));
    let reply = http(200, &body);
    let _requests = serve(&home.socket(), move |_| Act::Hold(reply.clone()));
    assert_eq!(
        printed(&run(&mut home.client(&["gemini", "AfterAgent"]), b"{}")),
        body
    );
}

#[test]
fn a_server_that_never_answers_is_left_and_the_call_kept() {
    let partial = b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"decision\":".to_vec();
    for (payload, reply) in [(TOOL, Vec::new()), (STOP, Vec::new()), (STOP, partial)] {
        let home = Home::new();
        let requests = serve(&home.socket(), move |_| Act::Hold(reply.clone()));
        let mut client = home.client(&["claude"]);
        client
            .env("CHECKPOINTD_STOP_WAIT_MS", "300")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "300");
        assert_eq!(printed(&run(&mut client, payload)), "");
        assert_eq!(home.spooled(), [next(&requests)]);
    }
}

#[test]
fn a_server_that_does_not_even_accept_is_left_too() {
    let home = Home::new();
    let listener = std::os::unix::net::UnixListener::bind(home.socket()).expect("a socket");
    let client = || {
        let mut client = home.client(&["claude"]);
        client.env_remove("CHECKPOINTD_PLAIN_WAIT_MS");
        client
    };
    // More than its queue holds, and more than its buffer.
    let large = vec![b' '; 4_000_000];
    assert_eq!(printed(&run(&mut client(), &large)), "");
    let mut waiting = Vec::new();
    while waiting.len() < 5000 {
        let socket = home.socket();
        let (sender, connected) = std::sync::mpsc::channel();
        thread::spawn(move || drop(sender.send(std::os::unix::net::UnixStream::connect(socket))));
        match connected.recv_timeout(Duration::from_millis(500)) {
            Ok(connection) => waiting.push(connection),
            Err(_) => break,
        }
    }
    assert_eq!(printed(&run(&mut client(), TOOL)), "");
    assert_eq!(home.spooled().len(), 2);
    drop(listener);
}

#[test]
fn a_call_that_nobody_waits_for_takes_longer_only_where_it_may() {
    for (may, kept) in [(true, 0), (false, 1)] {
        let home = Home::new();
        let requests = serve(&home.socket(), |_| {
            thread::sleep(Duration::from_millis(800));
            Act::Reply(http(200, ""))
        });
        let mut client = home.client(&["claude"]);
        if !may {
            client.env_remove("CHECKPOINTD_PLAIN_WAIT_MS");
        }
        assert_eq!(printed(&run(&mut client, TOOL)), "");
        assert_eq!(home.spooled().len(), kept);
        next(&requests);
    }
}

#[test]
fn a_stop_is_sent_again_with_the_same_id_when_the_daemon_dies() {
    let home = Home::new();
    let requests = serve(&home.socket(), |number| match number {
        0 => Act::Reply(Vec::new()),
        1 => Act::Reply(b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()),
        _ => Act::Hold(http(200, BLOCK)),
    });
    assert_eq!(
        printed(&run(&mut home.client(&["codex", "Stop"]), b"{}")),
        BLOCK
    );
    let first = next(&requests);
    assert_eq!([next(&requests), next(&requests)], [first.clone(), first]);
    assert!(home.spooled().is_empty());
}

#[test]
fn a_plain_event_that_the_daemon_dies_over_is_kept_with_its_id() {
    let home = Home::new();
    let requests = serve(&home.socket(), |_| Act::Reply(Vec::new()));
    assert_eq!(printed(&run(&mut home.client(&["claude"]), TOOL)), "");
    assert_eq!(home.spooled(), [next(&requests)]);
}

#[test]
fn standard_input_that_stays_open_is_given_up_and_marked() {
    for begun in [b"".as_slice(), b"{\"hook_event_name\":\"Noti"] {
        let home = Home::new();
        let mut command = home.client(&["claude"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("runs");
        let mut input = child.stdin.take().expect("a pipe");
        for byte in begun {
            input.write_all(&[*byte]).expect("room");
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(
            printed(&wait(|| child.wait_with_output().expect("output"))),
            ""
        );
        drop(input);
        let kept = home.spooled();
        assert_eq!(
            (
                received(&kept[0]).body,
                received(&kept[0]).header(TRUNCATED)
            ),
            (begun, Some("1"))
        );
    }
}

#[test]
fn closed_descriptors_do_no_harm() {
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let home = Home::new();
        let requests = serve(&home.socket(), |_| Act::Hold(http(200, BLOCK)));
        let script = format!("exec \"$0\" claude Stop {closed}");
        let mut shell = home.command(
            "sh",
            &["-c", &script, env!("CARGO_BIN_EXE_checkpointd-hook")],
        );
        let output = printed(&run(&mut shell, STOP));
        assert_eq!(
            output,
            if closed.contains(" >") || closed == ">&-" {
                ""
            } else {
                BLOCK
            },
            "{closed}"
        );
        next(&requests);
    }
}

#[test]
fn a_host_that_does_not_read_the_reply_does_no_harm() {
    let home = Home::new();
    let body = format!(r#"{{"reason":"{}"}}"#, "x".repeat(900_000));
    let reply = http(200, &body);
    let _requests = serve(&home.socket(), move |_| Act::Hold(reply.clone()));
    for keeps_pipe in [true, false] {
        let mut command = home.client(&["claude", "Stop"]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("runs");
        let pipe = child.stdout.take().filter(|_| keeps_pipe);
        assert_eq!(wait(move || child.wait().expect("ends")).code(), Some(0));
        drop(pipe);
    }
}

#[test]
fn notifications_of_codex_come_as_an_argument() {
    let json = r#"{"type":"agent-turn-complete","hook_event_name":"Stop"}"#;
    let cases: [(&[&str], &str, &str); 4] = [
        (&["codex", json], json, "notify"),
        (&["codex", "notify", json], json, "notify"),
        (&["codex", "notify"], "", "notify"),
        (&["codex", "{broken"], "{broken", "notify"),
    ];
    for (arguments, payload, event) in cases {
        let home = Home::new();
        let mut command = home.client(arguments);
        // Nobody writes to it and nobody closes it: whoever read it would be cut off.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        let input = child.stdin.take();
        assert_eq!(
            printed(&wait(|| child.wait_with_output().expect("output"))),
            ""
        );
        drop(input);
        let kept = home.spooled();
        let request = received(&kept[0]);
        assert_eq!((request.agent, request.body), ("codex", payload.as_bytes()));
        assert_eq!(
            (request.header(EVENT), request.header(TRUNCATED)),
            (Some(event), None)
        );
    }
}

#[test]
fn a_reply_to_a_notification_is_not_printed() {
    let home = Home::new();
    let requests = serve(&home.socket(), |_| Act::Hold(http(200, BLOCK)));
    assert_eq!(
        printed(&run(&mut home.client(&["codex", r#"{"type":"x"}"#]), b"")),
        ""
    );
    next(&requests);
}

#[test]
fn unknown_agents_and_odd_words_are_passed_on_harmlessly() {
    let cases: [(&[&str], &str, Option<&str>); 4] = [
        (&["cursor", "Stop"], "cursor", Some("Stop")),
        (&["a/b\r\nX: y", "Stop"], "a_b__X__y", Some("Stop")),
        (&[], "unknown", None),
        (&[""], "unknown", None),
    ];
    for (arguments, agent, event) in cases {
        let home = Home::new();
        assert_eq!(printed(&run(&mut home.client(arguments), TOOL)), "");
        let kept = home.spooled();
        let request = received(&kept[0]);
        assert_eq!(
            (request.agent, request.header(EVENT), request.body),
            (agent, event, TOOL)
        );
    }
}

#[test]
fn a_socket_path_longer_than_an_address_is_reached() {
    let home = Home::new();
    let folder = home.path().join("x".repeat(120)).join("y".repeat(120));
    fs::create_dir_all(&folder).expect("a folder");
    // A socket moves with its name, which is how a test gets one where no address reaches.
    let requests = serve(&home.socket(), |_| Act::Hold(http(200, BLOCK)));
    let long = folder.join("sock");
    fs::rename(home.socket(), &long).expect("moved");
    assert_eq!(
        printed(&run(
            home.client(&["claude"]).env("CHECKPOINTD_SOCKET", &long),
            STOP
        )),
        BLOCK
    );
    next(&requests);
    assert_eq!(
        printed(&run(
            home.client(&["claude"])
                .env("CHECKPOINTD_SOCKET", folder.join("none")),
            STOP
        )),
        ""
    );
    assert_eq!(home.spooled().len(), 1);
}

#[test]
fn the_daemon_says_how_long_a_stop_waits() {
    let home = Home::new();
    let requests = serve(&home.socket(), |_| Act::Hold(Vec::new()));
    fs::write(home.path().join("run/stop-wait-ms"), "300\n").expect("written");
    let begin = Instant::now();
    assert_eq!(
        printed(&run(
            home.client(&["claude"])
                .env_remove("CHECKPOINTD_STOP_WAIT_MS"),
            STOP
        )),
        ""
    );
    assert!(begin.elapsed() >= Duration::from_millis(300));
    assert_eq!(home.spooled(), [next(&requests)]);
}

#[test]
fn only_when_asked_does_it_say_why() {
    let home = Home::new();
    let output = run(home.client(&["claude"]).env("CHECKPOINTD_DEBUG", "1"), TOOL);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("not delivered"),
        "{output:?}"
    );
    let version = run(&mut home.client(&["--version"]), b"");
    assert_eq!(
        printed(&version),
        format!("checkpointd-hook {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(printed(&run(&mut home.client(&["--help"]), b"")).starts_with("Usage: "));
}
