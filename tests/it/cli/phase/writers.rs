//! Many writers at once, and writers that are killed.

use super::*;

#[test]
fn many_writers_of_one_moment_get_files_of_their_own() {
    let home = Home::new();
    let folder = configure(&home);
    let mut daemon = Daemon::at(home);
    let at_once = |daemon: &Daemon| {
        let writers: Vec<_> = (0..6)
            .map(|_| {
                let arguments = [
                    "progress",
                    "phase",
                    "create",
                    "--phase",
                    "build",
                    "--number",
                    "4",
                    "--summary",
                    "x",
                ];
                let mut command = daemon.home.command(PROGRAM, &arguments);
                command
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("starts")
            })
            .collect();
        for writer in writers {
            let output = writer.wait_with_output().expect("ends");
            let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(answer["ok"], true, "{answer}");
            assert_eq!(
                read(&answer["file"])["id"],
                answer["checkpointId"],
                "nobody else's"
            );
        }
    };
    at_once(&daemon);
    daemon.kill();
    at_once(&daemon);
    assert_eq!(files(&folder).len(), 12);
    let listed = phase(&daemon.home, &["list"]);
    assert_eq!(
        (
            listed["checkpoints"].as_array().map(Vec::len),
            &listed["problems"]
        ),
        (Some(12), &json!([]))
    );
    assert_eq!(listed["rebuilt"], json!([]));
}

/// Names and lengths of all that is in a folder.
fn sizes(folder: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| {
        (
            entry.file_name().to_string_lossy().into_owned(),
            entry.metadata().map_or(0, |meta| meta.len()),
        )
    };
    let mut sizes: Vec<_> = entries.map(size).collect();
    sizes.sort();
    sizes
}

/// Kills a command as soon as it has begun to write a file, or a moment later.
fn kill_while_writing(home: &Home, folder: &Path, arguments: &[&str], pause: usize) {
    let arguments: Vec<_> = ["progress", "phase"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let before = sizes(folder);
    let mut child = home
        .command(PROGRAM, &arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    let has_begun = || sizes(folder) != before;
    while !has_begun() && child.try_wait().expect("a child").is_none() {}
    for _ in 0..pause {
        let _ = has_begun();
    }
    let _ = child.kill();
    child.wait().expect("is gone");
}

/// Creates a record with a file of criteria that is large, so that writing takes a while.
const MAKE: [&str; 9] = [
    "create",
    "--phase",
    "build",
    "--number",
    "4",
    "--summary",
    "s",
    "--criteria",
    "criteria.json",
];

fn write_criteria(home: &Home) {
    let criterion = json!({ "id": "C", "subject": "x".repeat(300_000), "status": "pending" });
    let criteria = home.path().join("criteria.json");
    fs::write(&criteria, json!([criterion]).to_string()).expect("writable");
}

/// Removes the files that a killed writer has left unfinished.
fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).expect("there").flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(".checkpointd-") {
            fs::remove_file(entry.path()).expect("there");
        }
    }
}

#[test]
fn a_killed_command_leaves_the_old_file_or_the_new_one() {
    let home = Home::new();
    let folder = configure(&home);
    write_criteria(&home);
    let old = phase(&home, &MAKE);
    let id = old["checkpointId"].as_str().expect("an id");
    let path = old["file"].as_str().expect("a path");
    let before = fs::read(path).expect("there");
    let completed = String::from_utf8(before.clone()).expect("text").replacen(
        "\"completed\": false",
        "\"completed\": true",
        1,
    );
    for pause in 0..5 {
        kill_while_writing(&home, &folder, &MAKE, pause * 20);
        files(&folder);
    }
    // What was journaled and not written comes back, so that the next ones are killed at the file that they are for.
    phase(&home, &["list"]);
    for pause in 0..5 {
        kill_while_writing(&home, &folder, &["complete", id], pause * 20);
        let now = fs::read(path).expect("there");
        assert!(
            now == before || now == completed.as_bytes(),
            "half of it after {pause}"
        );
        // Back to the beginning: as if the file had not been written yet.
        fs::write(path, &before).expect("writable");
        remove_unfinished(&folder);
    }
    // The next look finishes what was begun, and clears away what is half written.
    let listed = phase(&home, &["list"]);
    assert_eq!(listed["problems"], json!([]));
    assert!(
        fs::read(path).expect("there") == completed.as_bytes(),
        "it is completed"
    );
    assert_eq!(
        files(&folder).len(),
        listed["checkpoints"].as_array().map_or(0, Vec::len)
    );
    assert_eq!(
        fs::read_dir(&folder).expect("there").count(),
        files(&folder).len(),
        "nothing is left behind"
    );
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).expect("there").permissions());
    assert_eq!(mode & 0o777, 0o600);
}

/// The daemon is killed while it works for many.
#[test]
fn a_killed_daemon_leaves_whole_files_only() {
    let home = Home::new();
    let folder = configure(&home);
    write_criteria(&home);
    phase(&home, &MAKE);
    let mut daemon = Daemon::at(home);
    let mut writers = Vec::new();
    for _ in 0..4 {
        let mut command = daemon.home.command(PROGRAM, &["progress", "phase"]);
        command
            .args(MAKE)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        writers.push(command.spawn().expect("starts"));
    }
    let count = files(&folder).len();
    wait_until(|| files(&folder).len() > count);
    daemon.kill();
    for mut writer in writers {
        writer.wait().expect("ends");
    }
    files(&folder);
    daemon.start();
    let listed = phase(&daemon.home, &["list"]);
    assert_eq!(
        (
            &listed["problems"],
            listed["checkpoints"].as_array().map(Vec::len)
        ),
        (&json!([]), Some(files(&folder).len()))
    );
    daemon.verify();
}
