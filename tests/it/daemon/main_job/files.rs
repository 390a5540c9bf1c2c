//! Hook calls and events that come from files.

use super::*;

#[test]
fn recorded_calls_are_played_from_a_file_without_a_journal() {
    let home = Home::new();
    std::fs::write(home.path().join("config.yml"), "min_turn: 1s\n").expect("writes");
    let file = format!(
        "{}/tests/data/fixtures/claude/h-stop-block-once.ndjson",
        env!("CARGO_MANIFEST_DIR")
    );
    let arguments = ["replay", "--file", &file, "--json"];
    let output = run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &arguments),
        b"",
    );
    let played: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0));
    let reasons: Vec<_> = played["decisions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|line| &line["reason"])
        .collect();
    assert_eq!(reasons, [&json!("generic"), &json!("block_budget")]);
    let ends = |played: &Value| {
        let lines = played["decisions"].as_array().expect("a list").iter();
        lines
            .map(|line| line["delivery"].as_str().expect("a word").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ends(&played), ["confirmed", "none"]);
    // Without what came after the first stop, nothing confirms its checkpoint.
    let text = std::fs::read_to_string(&file).expect("a recording");
    let stop = text.lines().position(|line| {
        line.contains("\"event\":\"Stop\"") || line.contains("\"event\": \"Stop\"")
    });
    let begin: Vec<_> = text.lines().take(stop.expect("a stop") + 1).collect();
    let short = home.path().join("short.ndjson");
    std::fs::write(&short, begin.join("\n")).expect("writes");
    let short = short.display().to_string();
    let output = run(
        &mut home.command(
            env!("CARGO_BIN_EXE_checkpointd"),
            &["replay", "--file", &short, "--json"],
        ),
        b"",
    );
    let cut: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(ends(&cut), ["expired"]);
    assert_eq!(cut["decisions"][0]["delivery_reason"], "confirm_timeout");
    assert_eq!(
        played["sessions"][0]["last_message_sent_at"],
        json!("2026-11-21T21:19:03.095119Z")
    );
    assert_eq!(
        (
            &played["sessions"][0]["turn"],
            &played["sessions"][0]["blocks_this_turn"]
        ),
        (&json!(1), &json!(1))
    );
    assert!(!home.path().join("journal").exists());
}

#[test]
fn an_export_comes_back_byte_for_byte() {
    let daemon = Daemon::with(EVERY_STOP);
    for scenario in ["claude/h-stop-block-once", "gemini/h-normal"] {
        recorded(scenario)
            .iter()
            .for_each(|call| drop(play(&daemon, call)));
    }
    daemon.hook(&["claude"], b"not JSON");
    let export = |home: &Home| {
        run(
            &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "export"]),
            b"",
        )
        .stdout
    };
    let first = export(&daemon.home);
    assert!(first.len() > 10_000);
    let other = Home::new();
    let mut import = other.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &["journal", "import", "--json"],
    );
    assert_eq!(run(&mut import, &first).status.code(), Some(0));
    assert_eq!(export(&other), first);
    let again = run(&mut import, &first);
    assert_eq!(
        (again.status.code(), export(&other) == first),
        (Some(0), true),
        "importing twice changes nothing"
    );
}

#[test]
fn journal_append_is_the_same_with_the_daemon_and_without() {
    let lines: String = recorded("codex/h-parallel")
        .iter()
        .map(|call| format!("{call}\n"))
        .collect();
    let append = |home: &Home, lines: &str| {
        let output = run(
            &mut home.command(
                env!("CARGO_BIN_EXE_checkpointd"),
                &["journal", "append", "--json"],
            ),
            lines.as_bytes(),
        );
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
        )
    };
    let daemon = Daemon::with(EVERY_STOP);
    let (code, with) = append(&daemon.home, &lines);
    let offline = Home::new();
    let (offline_code, without) = append(&offline, &lines);
    assert_eq!(
        (code, offline_code, with.lines().count()),
        (Some(0), Some(0), without.lines().count())
    );
    let (code, again) = append(&daemon.home, &lines);
    let duplicates = again
        .lines()
        .filter(|line| line.contains("\"duplicate\":true"))
        .count();
    assert!(
        code == Some(0) && duplicates >= 6,
        "tool events have the host's identity: {again}"
    );
    let (code, wrong) = append(&offline, "{\"agent\":\"claude\"}\nnonsense\n");
    assert_eq!((code, wrong.lines().count()), (Some(1), 2), "{wrong}");
    assert!(wrong.contains("payload"), "it names the field: {wrong}");
}
