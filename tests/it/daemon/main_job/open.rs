//! Open work: what a session left undone is named until a call shows otherwise, and by every view in the same words.

use serde_json::{Value, json};

use super::turns::Scene;
use crate::support::wait_until;

/// Asks for open work; returns the exit code and what is open in the session.
fn open(scene: &Scene) -> (i32, Vec<Value>) {
    let (code, rows) = scene.daemon.ask_code(&["open", "--json"]);
    let of_row = |row: &Value| row["open"].as_array().expect("a list").clone();
    (code, rows.iter().flat_map(of_row).collect())
}

fn run(scene: &Scene, turn: &str, said: &str) {
    let ran = json!({ "stdout": said, "stderr": "", "interrupted": false });
    scene.tool_with(turn, "Bash", json!({ "command": "pytest -q" }), ran, || ());
}

#[test]
fn what_was_left_is_open_until_it_is_done() {
    let scene = Scene::new("");
    let file = scene.project.join("stock.py");
    assert_eq!(open(&scene), (0, vec![]));
    scene.prompt("one", true);
    scene.write("one", &file, "count = 2\n");
    assert_eq!(scene.stop("one"), "actions_due");

    let not_run = json!({ "what": "tests not run", "files": ["stock.py"] });
    assert_eq!(open(&scene), (1, vec![not_run.clone()]));
    let (code, table) = scene.daemon.ask_code(&["open", "last", "--json"]);
    assert_eq!(code, 1);
    assert_eq!(table[0]["answers"][0]["verified"], "open", "{}", table[0]);
    let sessions = scene.daemon.ask(&["sessions", "--json"]);
    assert_eq!(sessions[0]["open"], json!([not_run]));

    // Its next stop passes, since it was asked once; that does not make it done.
    assert_eq!(scene.stop("one"), "block_budget");
    assert_eq!(open(&scene).0, 1);

    // Nor does a new message, or a turn that changes nothing.
    scene.prompt("two", true);
    assert_eq!(open(&scene).0, 1);

    run(&scene, "two", "3 passed in 0.10s\n");
    assert_eq!(open(&scene), (0, vec![]));
    let (code, table) = scene.daemon.ask_code(&["open", "last", "--json"]);
    assert_eq!(
        (code, &table[0]["answers"][0]["verified"]),
        (0, &json!("done"))
    );
}

#[test]
fn tests_that_failed_are_open_and_what_a_person_calls_wrong_is_not() {
    let scene = Scene::new("");
    scene.prompt("one", true);
    scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
    assert_eq!(scene.stop("one"), "actions_due");
    run(&scene, "one", "1 failed, 2 passed in 0.10s\n");
    wait_until(|| {
        open(&scene)
            .1
            .iter()
            .any(|item| item["what"] == "tests failed")
    });
    scene.daemon.ask(&["wrong", "--json"]);
    assert_eq!(open(&scene), (0, vec![]));
}

/// The daemon that an agent takes away is missed, and so is the answer to a stop that came meanwhile.
#[test]
fn an_agent_that_takes_the_daemon_away_is_named() {
    for (command, by) in [("pkill -f checkpointd", "agent"), ("ls", "person")] {
        let mut scene = Scene::new("");
        scene.prompt("one", true);
        scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
        scene.tool("one", "Bash", json!({ "command": command }), || ());
        super::stop(&mut scene.daemon);
        let stop = json!({ "stop_hook_active": false, "last_assistant_message": "done" });
        assert_eq!(
            scene.call("Stop", "one", &scene.project, stop),
            "",
            "nobody answers"
        );
        scene.daemon.start();
        let switches = |scene: &Scene| {
            let (code, view) = scene.daemon.ask_code(&["open", "last", "--json"]);
            let list = view[0]["switches"].as_array().expect("a list").clone();
            let word = |value: &Value| value.as_str().expect("a word").to_owned();
            let pairs = list
                .iter()
                .map(|one| (word(&one["what"]), word(&one["by"])));
            (code, pairs.collect::<Vec<_>>())
        };
        wait_until(|| {
            switches(&scene)
                .1
                .iter()
                .any(|(what, _)| what == "daemon_away")
        });
        let mut expected = vec![("daemon_away".to_owned(), by.to_owned())];
        if by == "agent" {
            expected.insert(0, ("daemon_stopped".to_owned(), by.to_owned()));
        }
        assert_eq!(
            switches(&scene),
            (i32::from(by == "agent"), expected),
            "{command}"
        );
        let status = scene.daemon.ask(&["status", "--json"]);
        let unguarded = status[0]["unguarded"].as_array().expect("a list");
        assert_eq!(unguarded.len(), usize::from(by == "agent"), "{}", status[0]);

        // The daemon that started again is no switch by itself.
        scene.prompt("two", true);
        let before = switches(&scene).1.len();
        super::stop(&mut scene.daemon);
        scene.daemon.start();
        assert_eq!(scene.stop("two"), "silent_unchanged");
        assert_eq!(switches(&scene).1.len(), before);
    }
}
