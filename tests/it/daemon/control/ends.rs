//! The end of a turn: checks that are repeated, hosts that are gone, words that are said again.

use super::*;

/// Runs a listener that notes each finish, and returns the file.
fn noting(config: &str) -> (Daemon, PathBuf) {
    let notes = tempfile::NamedTempFile::new()
        .expect("a file")
        .into_temp_path();
    let notes = notes.keep().expect("stays");
    let daemon = Daemon::with(&format!(
        "{config}listeners: {{agent_finished: [[sh, -c, 'echo x >> {}']]}}\n",
        notes.display()
    ));
    (daemon, notes)
}

fn finishes(notes: &Path) -> usize {
    fs::read_to_string(notes).expect("there").lines().count()
}

#[test]
fn a_budget_of_two_asks_again_even_if_the_agent_did_nothing() {
    let project = tempfile::tempdir().expect("a folder");
    fs::write(project.path().join("lib.rs"), "fn a() {}\n").expect("writes");
    crate::support::git::commit_all(project.path());
    let daemon = Daemon::with(&format!("{EVERY_STOP}max_blocks_per_turn: 2\n"));
    let at_project = json!({ "cwd": project.path() });
    let stop = |turn: &str, words: &str| {
        let mut fields = at_project.clone();
        fields["prompt_id"] = json!(turn);
        fields["last_assistant_message"] = json!(words);
        hook(&daemon.home, SESSION, "Stop", fields)
    };
    let prompt = |text: &str| {
        let mut fields = at_project.clone();
        fields["prompt"] = json!(text);
        fields["prompt_id"] = json!(text);
        hook(&daemon.home, SESSION, "UserPromptSubmit", fields);
    };
    prompt("one");
    fs::write(project.path().join("lib.rs"), "fn b() {}\n").expect("writes");
    let first = stop("one", "done");
    assert!(first.contains("Not verified yet"), "{first}");
    assert_eq!(
        stop("one", "nothing to do"),
        first,
        "it is checked once more"
    );
    assert_eq!(stop("one", "as I said"), "");
    // In a later turn the same demand about the same files is not made again.
    prompt("two");
    fs::write(project.path().join("lib.rs"), "fn b() {}\n").expect("writes");
    assert_eq!(stop("two", "a word"), "");
    assert_eq!(
        reasons(&daemon),
        ["actions_due", "actions_due", "block_budget", "repeated"]
    );
    daemon.verify();
}

#[test]
fn the_same_words_after_a_new_message_are_news_again() {
    let (daemon, notes) = noting("min_turn: 1h\n");
    for turn in ["one", "two"] {
        prompt(&daemon.home, turn);
        assert!(!stop(&daemon.home, turn, "Done."));
        assert!(
            !stop(&daemon.home, turn, "Done. "),
            "the same, but another call"
        );
    }
    until("two finishes", || (finishes(&notes) == 2).then_some(()));
    prompt(&daemon.home, "three");
    assert!(!stop(&daemon.home, "three", "Else."));
    until("the last one", || (finishes(&notes) == 3).then_some(()));
}

/// A person presses Esc while the hook runs: the host ends the client, and nothing comes after it.
#[test]
fn a_session_whose_stop_hook_was_interrupted_is_not_running_for_ever() {
    let config = EVERY_STOP.to_owned() + "confirm_timeout: 4s\n";
    let (daemon, notes) = noting(&config);
    prompt(&daemon.home, "one");
    // The answer is sent, but nobody is left to read it.
    assert!(stop(&daemon.home, "one", "Done."));
    assert_eq!(daemon.ask(&["sessions", "--json"])[0]["running"], true);
    until("the turn is over", || {
        (daemon.ask(&["sessions", "--json"])[0]["running"] == false).then_some(())
    });
    let session = &daemon.ask(&["sessions", "--json"])[0];
    assert_eq!(session["notification"], "agent_finished");
    until("it is announced", || (finishes(&notes) == 1).then_some(()));

    // An agent of which something is heard is at work, however long it thinks.
    prompt(&daemon.home, "two");
    assert!(stop(&daemon.home, "two", "Done again."));
    hook(
        &daemon.home,
        SESSION,
        "MessageDisplay",
        json!({ "prompt_id": "x" }),
    );
    until("the reply is given up", || {
        (kinds(&daemon, "delivery_expired") == 2).then_some(())
    });
    assert_eq!(daemon.ask(&["sessions", "--json"])[0]["running"], true);
}

/// The host ends the client while the decision is being made, long before a reply could expire.
#[test]
fn a_stop_hook_that_is_ended_before_its_reply_ends_the_turn_at_once() {
    let programs = tempfile::tempdir().expect("a folder");
    let git = programs.path().join("git");
    let asked = programs.path().join("asked");
    let slow = format!("#!/bin/sh\ntouch '{}'\nsleep 1\nexit 1\n", asked.display());
    crate::support::put_script(&git, &slow);
    let project = tempfile::tempdir().expect("a folder");
    fs::write(project.path().join("lib.rs"), "fn a() {}\n").expect("writes");
    crate::support::git::commit_all(project.path());
    let (daemon, notes) = noting(&format!(
        "{EVERY_STOP}confirm_timeout: 10m\ndaemon: {{path: ['{}']}}\n",
        programs.path().display()
    ));
    let call = |event: &str| {
        json!({ "session_id": SESSION, "hook_event_name": event, "cwd": project.path(), "prompt": "one", "prompt_id": "one",
            "last_assistant_message": "Done." }).to_string()
    };
    daemon.hook(&["claude"], call("UserPromptSubmit").as_bytes());
    let _ = fs::remove_file(&asked);
    let mut client = daemon.home.client(&["claude"]);
    let mut client = client
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = client.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, call("Stop").as_bytes()).expect("it reads");
    drop(input);
    until("the decision is being made", || {
        asked.exists().then_some(())
    });
    client.kill().expect("it waits");
    client.wait().expect("it is gone");
    let began = std::time::Instant::now();
    until("it is announced", || (finishes(&notes) == 1).then_some(()));
    assert!(
        began.elapsed() < std::time::Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(daemon.ask(&["sessions", "--json"])[0]["running"], false);
    let failed = daemon.ask(&[
        "journal",
        "tail",
        "-n",
        "1000",
        "--kind",
        "delivery_failed",
        "--json",
    ]);
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["reason"], "nobody_waiting");
    // Nothing was sent, so nothing waits to be confirmed.
    assert_eq!(kinds(&daemon, "delivery_attempted"), 0);
    daemon.verify();
}
