//! A user's machine on which the commands of the documents are run: with hooks, history, a project, and a daemon.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::top;
use crate::support::{program, run};

pub(super) struct Sandbox {
    home: TempDir,
}

/// A transcript of a session before checkpointd was installed.
const TRANSCRIPT: &str =
    "tests/data/fixtures/claude/h-normal.transcripts/10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl";

const CONFIG: &str = "metrics: {enabled: true}\nlogs: {level: warn}\n";

/// The rule that the project's own file has, and the files of the project.
const FILES: [(&str, &str); 5] = [
    (
        ".checkpointd.yml",
        "rules: [{name: schema, include: ['migrations/**'], actions: [{text: Migrate a copy}]}]\n",
    ),
    ("Cargo.toml", "[package]\nname = \"shop\"\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("migrations/1.sql", "create table a (b int);\n"),
    ("notes.md", "## Goal\nA shop\n"),
];

impl Sandbox {
    pub(super) fn new() -> Self {
        let sandbox = Self {
            home: tempfile::tempdir().expect("a folder"),
        };
        let path = |name: &str| sandbox.home.path().join(name);
        for (name, text) in FILES {
            let file = sandbox.project().join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("writes");
        }
        fs::create_dir_all(path(".claude/projects/shop")).expect("a folder");
        fs::copy(
            top().join(TRANSCRIPT),
            path(".claude/projects/shop/10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl"),
        )
        .expect("copies");
        fs::create_dir_all(path(".config/checkpointd")).expect("a folder");
        fs::write(path(".config/checkpointd/config.yml"), CONFIG).expect("writes");
        fs::copy(
            top().join("tests/data/audit.ndjson"),
            path("history.ndjson"),
        )
        .expect("copies");
        sandbox.well(
            "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm first
             sed \"s|/home/ada/inventory|$PWD|g\" ~/history.ndjson | checkpointd journal import
             checkpointd init
             checkpointd daemon --detach
             echo '// more' >> src/main.rs",
        );
        sandbox
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("code/shop")
    }

    /// Runs lines of a shell in the project.
    pub(super) fn sh(&self, lines: &str) -> Output {
        let programs = program("checkpointd");
        let programs = programs.parent().expect("a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .args(["-euo", "pipefail", "-c", lines])
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", format!("{programs}:{path}"))
            .env("CHECKPOINTD_AUTOSTART", "0")
            .env("CHECKPOINTD_STOP_WAIT_MS", "60000")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "60000");
        run(&mut command, b"")
    }

    #[track_caller]
    pub(super) fn well(&self, lines: &str) -> String {
        let output = self.sh(lines);
        assert!(output.status.success(), "{lines}\n{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.sh("checkpointd daemon stop");
    }
}
