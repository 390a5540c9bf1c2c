//! The way out that a checkpoint names, and the marker in `TMPDIR`.

use super::*;

/// The path from the last line of a checkpoint.
fn way_out(told: &str) -> PathBuf {
    let (_, rest) = told.split_once("`touch '").expect("a command");
    rest.split_once("'`").expect("its end").0.into()
}

#[test]
fn the_way_out_that_is_named_is_the_sessions_own_and_needs_no_tmpdir() {
    let daemon = Daemon::with(&format!(
        "{EVERY_STOP}max_blocks_per_turn: 9\nrepeat: always\n"
    ));
    let call = |session: &str, event: &str, fields: Value| {
        let mut payload = json!({ "session_id": session, "cwd": daemon.home.path(), "hook_event_name": event, "prompt_id": "p" });
        payload
            .as_object_mut()
            .expect("an object")
            .extend(fields.as_object().expect("an object").clone());
        daemon.hook(&["claude"], payload.to_string().as_bytes())
    };
    let others = "5c1d8f0a-0000-4000-8000-0000000000ff";
    for session in [SESSION, others] {
        call(session, "UserPromptSubmit", json!({ "prompt": "please" }));
    }
    let stop =
        |session, words: &str| call(session, "Stop", json!({ "last_assistant_message": words }));
    let path = way_out(&stop(SESSION, "Done."));
    assert_eq!(path.parent(), Some(&*daemon.home.path().join("clear")));
    let touched = run(std::process::Command::new("touch").arg(&path), b"");
    assert!(touched.status.success(), "{touched:?}");
    assert_ne!(stop(others, "Done."), "", "it is another session's");
    assert!(path.exists());
    assert_eq!(stop(SESSION, "Cannot be done."), "");
    assert!(!path.exists(), "it is used up");
    assert_ne!(stop(SESSION, "Done again."), "");

    // A link is removed, not followed; a file of another user does not count.
    std::os::unix::fs::symlink(daemon.home.path().join("config.yml"), &path).expect("a link");
    assert_eq!(stop(SESSION, "Once more."), "");
    assert!(daemon.home.path().join("config.yml").exists() && path.symlink_metadata().is_err());
    fs::write(&path, "").expect("written");
    if std::os::unix::fs::lchown(&path, Some(65534), None).is_ok() {
        assert_ne!(stop(SESSION, "By somebody."), "");
    }
    daemon.verify();
}

/// The folder of temporary files may be one that all share.
#[test]
fn a_marker_in_a_folder_of_another_user_lets_no_stop_pass() {
    let daemon = Daemon::with(EVERY_STOP);
    let marker = daemon.home.path().join("checkpointd_clear");
    let stops = |mine: (bool, bool)| {
        prompt(&daemon.home, &format!("{mine:?}"));
        fs::write(&marker, "").expect("writable");
        let give = |path: &Path, is_mine: bool| {
            is_mine || std::os::unix::fs::lchown(path, Some(65534), None).is_ok()
        };
        let may = give(&marker, mine.1);
        let held = stop(
            &daemon.home,
            &format!("{mine:?}"),
            &format!("done {mine:?}"),
        );
        may.then_some(held)
    };
    assert_eq!(stops((true, true)), Some(false));
    assert_ne!(stops((true, false)), Some(false));
}
