//! Evidence is bound to contents: who wrote a file and by which program does not matter, only what is in it when tests end
//! and when the agent stops (spec EVID-4, EVID-8).

use std::process::Command;

use serde_json::{Value, json};

use super::turns::Scene;
use crate::support::wait_until;

/// Ways to change `stock.py` after its tests passed that no list of editing tools knows.
const WRITERS: &[&str] = &[
    "printf 'diff --git a/stock.py b/stock.py\\n--- a/stock.py\\n+++ b/stock.py\\n@@ -1 +1 @@\\n-count = 2\\n+count = 3\\n' | git apply",
    "sh -c 'echo count = 4 > stock.py'",
    "for name in *.py; do sed -i.bak s/2/3/ $name; rm $name.bak; done",
    "find . -name stock.py -exec sed -i.bak s/2/3/ '{}' ';' && rm stock.py.bak",
    "mkdir new && echo count = 3 > new/stock.py && tar cf new.tar -C new stock.py && tar xf new.tar && rm -r new new.tar",
    "echo count = 3 > next && mv next stock.py",
    "echo count = 3 | dd of=stock.py",
    "git stash -q && echo count = 5 > stock.py && git stash drop -q",
    "python3 -c \"open('stock.py', 'w').write('count = 3')\"",
    "python3 - <<'EOF'\nopen('stock.py', 'w').write('count = 3')\nEOF",
    "awk '{ print \"count = 3\" > \"stock.py\" }' stock.py",
];

/// Commands after which the tested contents are there again, or other code is not.
const HARMLESS: &[&str] = &[
    "git stash -q && git stash pop -q",
    "git add -A && git -c user.name=n -c user.email=e@x commit -qm tested",
    "cp stock.py kept && echo count = 9 > stock.py && mv kept stock.py",
    "printf '# The number of articles.\\n' | cat - stock.py > next && mv next stock.py",
    "printf '\\n\\n' >> stock.py",
    "touch stock.py",
];

fn sh(scene: &Scene, line: &str) {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(&scene.project)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(
        command.output().expect("a shell").status.success(),
        "{line}"
    );
}

fn examined(scene: &Scene) -> usize {
    scene
        .daemon
        .ask(&["journal", "tail", "--json", "--kind", "call_examined"])
        .len()
}

/// A turn that edits, tests, and does one thing more; returns whether its stop asks for tests, and the decision.
fn turn(number: usize, tool: &str, input: Value, work: impl FnOnce(&Scene)) -> (bool, Value) {
    let scene = Scene::new("");
    let name = format!("turn-{number}");
    scene.prompt(&name, true);
    scene.write(&name, &scene.project.join("stock.py"), "count = 2\n");
    let before = examined(&scene);
    let ran = json!({ "stdout": "3 passed in 0.10s\n", "stderr": "", "interrupted": false });
    scene.tool_with(&name, "Bash", json!({ "command": "pytest -q" }), ran, || ());
    wait_until(|| examined(&scene) > before);
    scene.tool(&name, tool, input, || work(&scene));
    let (reason, explained) = scene.stop_in(&name, &scene.project);
    (reason == "actions_due", explained)
}

fn after(number: usize, line: &str) -> (bool, Value) {
    turn(number, "Bash", json!({ "command": line }), |scene| {
        sh(scene, line);
    })
}

#[test]
fn tests_of_other_contents_are_no_evidence_whoever_wrote_them() {
    for (number, line) in WRITERS.iter().enumerate() {
        let (is_due, explained) = after(number, line);
        assert!(is_due, "{line}: {}", explained["rules"]);
    }
    let input = json!({ "pathInProject": "stock.py", "text": "count = 3" });
    let (is_due, explained) = turn(99, "mcp__ide__replace_text", input, |scene| {
        sh(scene, "echo count = 3 > stock.py");
    });
    assert!(is_due, "{}", explained["rules"]);
}

#[test]
fn the_same_contents_stay_tested_whatever_was_done_with_the_file() {
    for (number, line) in HARMLESS.iter().enumerate() {
        let (is_due, explained) = after(number, line);
        assert!(!is_due, "{line}: {}", explained["rules"]);
    }
}
