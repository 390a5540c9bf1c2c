//! Clones of one repository are one project, wherever they are.

use serde_json::json;
use testkit::git::{commit_all, git};

use super::{answer, lines, well};
use crate::support::Home;
use crate::support::daemon::{Daemon, EVERY_STOP};

const SHOP: &str = "github.com/team/shop";

/// A machine with a clone of the shop, in which an agent changed a file and stopped.
fn machine(folder: &str, url: &str) -> (Daemon, Home) {
    let daemon = Daemon::with(EVERY_STOP);
    let home = Home::new();
    let clone = home.path().join(folder);
    std::fs::create_dir(&clone).expect("a folder");
    std::fs::write(clone.join("lib.rs"), "// one").expect("writes");
    commit_all(&clone);
    git(&clone, &["remote", "add", "fork", "git@github.com:me/shop"]);
    git(&clone, &["remote", "add", "origin", url]);
    std::fs::write(clone.join("lib.rs"), "// two").expect("writes");
    for hook in [
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "Change it" }),
        json!({ "hook_event_name": "Stop" }),
    ] {
        let mut call = hook;
        call["session_id"] = folder.into();
        call["cwd"] = clone.display().to_string().into();
        let answer = daemon.http("POST", "/v1/hooks/claude", &[], call.to_string().as_bytes());
        assert_eq!(answer.expect("an answer").0, 200);
    }
    (daemon, home)
}

#[test]
fn clones_of_one_repository_are_one_project_on_all_machines() {
    let machines = [
        (
            "laptop",
            machine("shop", "https://me:hush@github.com/team/shop.git"),
        ),
        ("desk", machine("my-shop", "git@github.com:team/shop.git")),
    ];
    let (files, home, little) = (Home::new(), Home::new(), Home::new());
    for (level, into) in [("all", &home), ("decisions", &little)] {
        let into = into.path().display().to_string();
        for (name, (daemon, _)) in &machines {
            let arguments = ["fleet", "export", "--machine", name, "--level", level];
            let text = well(&daemon.home, &arguments);
            assert!(!text.contains("hush"), "{text}");
            assert_eq!(text.contains(SHOP), level == "all", "{text}");
            let file = files.path().join(name);
            std::fs::write(&file, text).expect("writes");
            let file = file.display().to_string();
            well(&files, &["fleet", "merge", &file, "--into", &into]);
        }
    }
    let decisions = lines(&home, &["audit", "--project", SHOP]);
    assert_eq!(decisions.len(), 2, "{decisions:?}");
    for (decision, (name, (_, clone))) in decisions.iter().zip(&machines) {
        assert_eq!(decision["machine"], *name);
        assert_eq!(decision["remote"], SHOP);
        let project = decision["project"].as_str().expect("a folder");
        assert!(
            project.starts_with(&clone.path().display().to_string()),
            "{project}"
        );
    }
    let sessions = lines(&home, &["sessions", "--project", SHOP]);
    assert_eq!(sessions.len(), 2);
    let ask = "select remote, count(distinct machine) as machines from decisions group by 1";
    assert_eq!(
        answer(&home, &["journal", "sql", ask]),
        json!({ "remote": SHOP, "machines": 2 })
    );
    // The sum of the machines is the whole.
    let decided = |arguments: &[&str]| answer(&home, arguments)["decisions"].as_u64();
    assert_eq!(decided(&["replay", "--verify"]), Some(2));
    assert_eq!(
        decided(&["replay", "--verify", "--machine", "desk"]),
        Some(1)
    );
    assert_eq!(
        decided(&["replay", "--verify", "--machine", "nobody"]),
        Some(0)
    );
    let state = answer(&home, &["journal", "state", "last", "--machine", "laptop"]);
    assert_eq!(state["native_session"], "shop");
    for decision in lines(&little, &["audit"]) {
        assert!(decision["remote"].is_null(), "{decision}");
    }
}
