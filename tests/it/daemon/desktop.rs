//! Notifications on the desktop, by a program in a folder of the user's own in place of the desktop's.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::{put_script, wait_until};

fn hook(daemon: &Daemon, project: &Path, event: &str, fields: Value) {
    let mut payload = json!({ "session_id": "s", "hook_event_name": event, "cwd": project });
    let fields = fields.as_object().expect("an object").clone();
    payload.as_object_mut().expect("an object").extend(fields);
    daemon.hook(&["claude"], payload.to_string().as_bytes());
}

fn turn(daemon: &Daemon, project: &Path, number: u32) {
    let prompt = format!("do {number}");
    hook(
        daemon,
        project,
        "UserPromptSubmit",
        json!({ "prompt": prompt }),
    );
    let said = format!("did {number} $(touch x) <b>");
    hook(
        daemon,
        project,
        "Stop",
        json!({ "last_assistant_message": said }),
    );
}

#[test]
fn the_desktop_shows_who_finished_and_who_asks_and_nothing_that_was_written() {
    let place = tempfile::tempdir().expect("a folder");
    let programs = place.path().join("programs");
    let project = place.path().join("shop & <co>");
    fs::create_dir_all(&programs).expect("a folder");
    fs::create_dir_all(&project).expect("a folder");
    let settings = |is_on: bool| {
        format!(
            "min_turn: 1h\ndaemon: {{path: ['{}']}}\nlisteners: {{desktop: {is_on}}}\n",
            programs.display()
        )
    };
    let shown = place.path().join("shown");
    let works = format!(
        "#!/bin/sh\nprintf '[%s]' \"$@\" >> '{0}'\necho >> '{0}'\n",
        shown.display()
    );
    put_script(&programs.join("notify-send"), &works);
    let daemon = Daemon::with(&settings(true));
    let lines = |count: usize| {
        let read = || fs::read_to_string(&shown).unwrap_or_default();
        wait_until(|| read().lines().count() >= count);
        let text = read();
        assert_eq!(text.lines().count(), count, "{text}");
        text.lines().last().expect("a line").to_owned()
    };

    turn(&daemon, &project, 1);
    assert_eq!(
        lines(1),
        "[--app-name][checkpointd][--urgency][normal][--][claude has finished][shop &amp; &lt;co&gt;]"
    );
    hook(
        &daemon,
        &project,
        "UserPromptSubmit",
        json!({ "prompt": "more" }),
    );
    let dialog = json!({ "tool_name": "Bash", "tool_input": { "command": "rm -r cache" } });
    hook(&daemon, &project, "PermissionRequest", dialog);
    assert!(lines(2).contains("[critical][--][claude needs you][shop &amp;"));

    // A muted session is left alone: the next line is about the turn after it.
    daemon.ask(&["mute", "s", "--json"]);
    turn(&daemon, &project, 2);
    daemon.ask(&["mute", "--off", "s", "--json"]);
    turn(&daemon, &project, 3);
    assert!(lines(3).contains("claude has finished"));

    let warnings = || daemon.ask(&["status", "--json"])[0]["warnings"].to_string();
    put_script(&programs.join("notify-send"), "#!/bin/sh\nexit 1\n");
    turn(&daemon, &project, 4);
    wait_until(|| warnings().contains("`desktop notification` failed: exit status: 1"));
    put_script(&programs.join("notify-send"), &works);
    turn(&daemon, &project, 5);
    wait_until(|| warnings() == "[]");
    lines(4);
}
