//! Tests of the judgment: whole turns, the letter edition, and the rows of the table.

use journal::{ChangedFile, Changes, Evidence, Package, Task, Workspace};

use super::find;
use crate::config::Config;
use crate::policy::Policy;
use crate::rules::pack_names::ProjectFacts;

mod turns;

const PROJECT: &str = "/home/me/app";

fn policy() -> Policy {
    let facts = ProjectFacts {
        path: PROJECT.into(),
        files: ["package.json", "Cargo.toml", "go.mod", "setup.py"]
            .map(String::from)
            .to_vec(),
    };
    Config::default().policy_for(&facts, None).unwrap()
}

/// A project: `web: name` is a package, `web npm test: vitest` a task, `a.ts < a.test.ts` a file and the tests that cover it.
fn project(lines: &str) -> Workspace {
    let mut workspace = Workspace {
        packages: vec![Package::default()],
        ..Workspace::default()
    };
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some((file, tests)) = line.split_once(" < ") {
            let tests = tests.split_whitespace().map(String::from).collect();
            workspace.covered.push((file.into(), tests));
            continue;
        }
        let (head, text) = line.split_once(": ").unwrap();
        let folder = |folder: &str| folder.trim_matches('.').to_owned();
        match head.split(' ').collect::<Vec<_>>().as_slice() {
            [place, runner, name] => workspace.tasks.push(Task {
                folder: folder(place),
                runner: (*runner).into(),
                name: (*name).into(),
                text: text.replace(" ;; ", "\n"),
            }),
            [place] => workspace.packages.push(Package {
                folder: folder(place),
                name: text.into(),
                ..Package::default()
            }),
            other => panic!("{other:?}"),
        }
    }
    workspace
}
