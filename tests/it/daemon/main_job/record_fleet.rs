//! What a collector says about contents: from the sessions of all machines.

use std::path::Path;

use serde_json::{Value, json};

use super::turns::Scene;
use crate::support::{Home, git, program, run};

/// A machine with a clone, in which an agent wrote a file and tested it.
fn machine(file: &str, origin: &str) -> Scene {
    let scene = Scene::new("");
    git::git(&scene.project, &["remote", "add", "origin", origin]);
    scene.prompt("one", true);
    scene.write("one", &scene.project.join(file), "count = 2\n");
    let said = json!({ "stdout": "3 passed in 0.10s\n", "stderr": "", "interrupted": false });
    let line = json!({ "command": "pytest -q" });
    scene.tool_with("one", "Bash", line, said, || ());
    assert_eq!(scene.stop("one"), "silent_all_clear");
    scene
}

/// Runs a command in a clone, with the journal of a home.
fn asked(home: &Home, clone: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = home.command(program("checkpointd"), arguments);
    let output = run(command.current_dir(clone), b"");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (output.status.code().expect("no signal"), said)
}

fn collects(machines: &[(&str, Scene)], level: &str) -> Home {
    let collector = Home::new();
    let into = collector.path().display().to_string();
    for (name, scene) in machines {
        let home = &scene.daemon.home;
        let export = ["fleet", "export", "--machine", name, "--level", level];
        let exported = run(&mut home.command(program("checkpointd"), &export), b"");
        let merge = ["fleet", "merge", "-", "--into", &into];
        let mut merge = collector.command(program("checkpointd"), &merge);
        let merged = run(&mut merge, &exported.stdout);
        assert!(merged.status.success(), "{merged:?}");
    }
    collector
}

#[test]
fn a_collector_knows_contents_from_all_machines() {
    let machines = [
        (
            "laptop",
            machine("stock.py", "https://github.com/team/shop.git"),
        ),
        ("desk", machine("prices.py", "git@github.com:team/shop.git")),
    ];
    let home = Home::new();
    let clone = home.path().join("review");
    std::fs::create_dir(&clone).expect("a folder");
    std::fs::write(clone.join("stock.py"), "count = 1\n").expect("writes");
    git::commit_all(&clone);
    git::git(
        &clone,
        &["remote", "add", "origin", "git@github.com:team/shop"],
    );
    for file in ["stock.py", "prices.py"] {
        std::fs::write(clone.join(file), "count = 2\n").expect("writes");
    }
    git::commit_all(&clone);
    let range = ["open", "--range", "HEAD^..HEAD"];
    // Each machine knows its own part.
    for (_, scene) in &machines {
        let (_, said) = asked(&scene.daemon.home, &clone, &range);
        assert!(said.contains("1 done, 1 unknown, 0 open"), "{said}");
    }
    let collector = collects(&machines, "all");
    let (code, said) = asked(&collector, &clone, &range);
    assert!(
        code == 0 && said.contains("2 done, 0 unknown, 0 open"),
        "{said}"
    );
    // A record of it is whole, and made again by the collector's journal.
    let (code, record) = asked(&collector, &clone, &["record", "--unsigned"]);
    assert_eq!(code, 0, "{record}");
    let file = home.path().join("record");
    std::fs::write(&file, record).expect("writes");
    let file = file.to_str().expect("text");
    let verify = ["record", "verify", file, "--unsigned", "--json"];
    let (_, checked) = asked(&collector, &clone, &verify);
    let checked: Value = serde_json::from_str(&checked).expect("JSON");
    assert_eq!(
        (&checked["accepted"], &checked["recomputed"]),
        (&json!(true), &json!(true)),
        "{checked}"
    );
    // Elsewhere it counts by its contents.
    let (code, said) = asked(&home, &clone, &verify[..4]);
    assert!(code == 0 && said.contains("2 done"), "{said}");
    // Of what was not sent nothing is guessed.
    let little = collects(&machines, "decisions");
    let (_, said) = asked(&little, &clone, &range);
    assert!(said.contains("0 done, 2 unknown, 0 open"), "{said}");
    let table = asked(&little, &clone, &["audit"]).1;
    assert!(
        table.contains("MACHINE") && table.contains("desk"),
        "{table}"
    );
    let own = asked(&machines[0].1.daemon.home, &clone, &["audit"]).1;
    assert!(!own.contains("MACHINE"), "{own}");
}
