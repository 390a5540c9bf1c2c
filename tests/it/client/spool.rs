//! Calls that no daemon takes are kept.

use super::*;

#[test]
fn what_the_daemon_does_not_take_is_spooled_and_never_printed() {
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(2_000_000));
    let invalid =
        [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\":\"\xff\"}".as_slice()].concat();
    // The reply, and how many calls are then in the spool.
    let cases = [
        (http(200, ""), 0),
        (http(400, r#"{"error":"no JSON"}"#), 0),
        (http(503, r#"{"error":"overloaded"}"#), 1),
        (http(413, ""), 1),
        (http(500, BLOCK), 1),
        (http(200, "ok"), 1),
        (http(200, "[1]"), 1),
        (http(200, r#"{"a":1} {"b":2}"#), 1),
        (http(200, &large), 1),
        (invalid, 1),
        (b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), 1),
        (vec![0xff; 300_000], 1),
        (
            [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; 300_000]].concat(),
            1,
        ),
    ];
    for (reply, spooled) in cases {
        let home = Home::new();
        let words = String::from_utf8_lossy(&reply[..reply.len().min(80)]).into_owned();
        let requests = serve(&home.socket(), move |_| Act::Hold(reply.clone()));
        assert_eq!(
            printed(&run(&mut home.client(&["claude"]), STOP)),
            "",
            "{words}"
        );
        let kept = home.spooled();
        assert_eq!(kept.len(), spooled, "{words}");
        let sent = next(&requests);
        assert!(kept.iter().all(|kept| *kept == sent), "{words}");
    }
}

#[test]
fn without_a_daemon_every_call_is_kept_as_it_was() {
    let payloads: [&[u8]; 7] = [
        b"",
        b"not json",
        b"[1,2]",
        b"{\"a\":",
        b"\xff\xfe\0\x01",
        TOOL,
        STOP,
    ];
    for payload in payloads {
        let home = Home::new();
        assert_eq!(printed(&run(&mut home.client(&["claude"]), payload)), "");
        let kept = home.spooled();
        assert_eq!(kept.len(), 1);
        assert_eq!(received(&kept[0]).body, payload);
        assert_eq!(received(&kept[0]).header(TRUNCATED), None);
    }
}

#[test]
fn a_socket_without_its_daemon_counts_as_none() {
    let home = Home::new();
    drop(std::os::unix::net::UnixListener::bind(home.socket()).expect("a socket"));
    assert_eq!(printed(&run(&mut home.client(&["claude"]), STOP)), "");
    assert_eq!(home.spooled().len(), 1);
}

#[test]
fn folders_and_files_are_the_users_own_whatever_the_umask() {
    for umask in ["000", "022", "777"] {
        let home = Home::new();
        let script = format!("umask {umask}; exec \"$0\" claude");
        let mut shell = home.command(
            "sh",
            &["-c", &script, env!("CARGO_BIN_EXE_checkpointd-hook")],
        );
        let deep = home.path().join("deep/er");
        assert_eq!(
            printed(&run(shell.env("CHECKPOINTD_HOME", &deep), TOOL)),
            ""
        );
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        let spool = deep.join("spool");
        for folder in [home.path().join("deep").as_path(), &deep, &spool] {
            assert_eq!(mode(folder), 0o700, "{folder:?}");
        }
        let file = fs::read_dir(&spool)
            .expect("there")
            .next()
            .expect("one")
            .expect("an entry")
            .path();
        assert_eq!(mode(&file), 0o600);
    }
}

#[test]
fn a_spool_that_cannot_be_written_stays_silent() {
    let home = Home::new();
    fs::write(home.path().join("spool"), "a file in its way").expect("written");
    assert_eq!(printed(&run(&mut home.client(&["claude"]), TOOL)), "");
    assert_eq!(
        printed(&run(
            home.client(&["claude"]).env_remove("CHECKPOINTD_HOME"),
            TOOL
        )),
        "",
        "no home at all"
    );
    assert_eq!(
        printed(&run(
            home.client(&["claude"])
                .env("CHECKPOINTD_HOME", "/dev/null/x"),
            TOOL
        )),
        ""
    );
}

#[test]
fn large_payloads_are_kept_up_to_the_limit() {
    for (bytes, kept_bytes, truncated) in [
        (50_000_000, 50_000_000, None),
        (70_000_000, 64 << 20, Some("1")),
    ] {
        let home = Home::new();
        let payload = vec![b'7'; bytes];
        assert_eq!(printed(&run(&mut home.client(&["claude"]), &payload)), "");
        let kept = home.spooled();
        let request = received(&kept[0]);
        assert_eq!(
            (request.body.len(), request.header(TRUNCATED)),
            (kept_bytes, truncated)
        );
    }
}

#[test]
fn a_client_that_is_asked_to_end_keeps_its_call() {
    for (signal, payload) in [
        (Signal::TERM, TOOL),
        (Signal::INT, STOP),
        (Signal::HUP, STOP),
    ] {
        let home = Home::new();
        let requests = serve(&home.socket(), |_| Act::Hold(Vec::new()));
        let mut client = home.client(&["claude"]);
        client
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = client.spawn().expect("runs");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(payload).expect("written");
        drop(input);
        // From here on it waits for the reply, for a minute.
        let sent = next(&requests);
        let asked = Instant::now();
        rustix::process::kill_process(Pid::from_child(&child), signal).expect("it runs");
        assert_eq!(printed(&child.wait_with_output().expect("output")), "");
        assert!(asked.elapsed() < Duration::from_secs(30), "{signal:?}");
        assert_eq!(home.spooled(), [sent], "{signal:?}");
    }
}
