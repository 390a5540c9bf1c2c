//! The JSON of commands and routes, byte for byte as it was recorded in `tests/data/json/`.
//! `CHECKPOINTD_RECORD=1 cargo test --test it json::` records it again.

mod commands;
mod routes;
mod steady;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Home, run, text};
use steady::steady;

const CHECKPOINTD: &str = env!("CARGO_BIN_EXE_checkpointd");

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// What was asked of one home, and what was answered.
struct Transcript {
    home: Home,
    /// The texts whose times and ids are the same in every run.
    known: String,
    text: String,
}

impl Transcript {
    fn new() -> Self {
        Self {
            home: Home::new(),
            known: String::new(),
            text: String::new(),
        }
    }

    /// Begins with a journal that is imported.
    fn of(journal: &str) -> Self {
        let mut transcript = Self::new();
        let mut import = transcript.command(&["journal", "import"]);
        let output = run(&mut import, journal.as_bytes());
        assert!(output.status.success(), "{output:?}");
        transcript.known = journal.to_owned();
        transcript
    }

    /// A command in a zone and a home folder that are the same everywhere.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(CHECKPOINTD, arguments);
        command
            .env("TZ", "UTC")
            .env("HOME", "/home/ada")
            .env("COLUMNS", "140");
        command
    }

    fn ask(&mut self, arguments: &[&str]) {
        let command = self.command(arguments);
        self.ask_by(command, arguments);
    }

    /// Runs a command that somebody else has prepared.
    fn ask_by(&mut self, mut command: Command, arguments: &[&str]) {
        let output = run(&mut command, b"");
        let code = output.status.code().expect("no signal");
        let mut answer = text(&output.stdout);
        if code != 0 {
            answer.push_str(&format!("exit {code}\n"));
        }
        self.add(&format!("checkpointd {}", arguments.join(" ")), &answer);
    }

    fn add(&mut self, asked: &str, answer: &str) {
        self.text.push_str(&format!("$ {asked}\n{answer}"));
        if !answer.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Compares all of it with a recording, or makes that.
    fn check(&self, name: &str) {
        let programs = Path::new(CHECKPOINTD).parent().expect("a folder");
        let folder = self.home.path();
        let own = fs::canonicalize(folder).expect("a folder");
        let text = [own.as_path(), folder]
            .iter()
            .fold(self.text.clone(), |text, folder| {
                text.replace(&*folder.to_string_lossy(), "HOME")
            })
            .replace(&*programs.to_string_lossy(), "PROGRAMS");
        let now = steady(&text, &self.known);
        let file = data("json").join(name);
        if std::env::var_os("CHECKPOINTD_RECORD").is_some() {
            fs::write(&file, &now).expect("writes");
        }
        let recorded = fs::read_to_string(&file).expect("a recording");
        let mut asked = "";
        for (number, (was, is)) in recorded.lines().zip(now.lines()).enumerate() {
            if was.starts_with("$ ") {
                asked = was;
            }
            assert!(
                was == is,
                "{name}:{}: the answer to `{asked}` is no longer as documented\nwas: {was}\nnow: {is}\n\
                 if that is intended: CHECKPOINTD_RECORD=1 cargo test --test it json::",
                number + 1
            );
        }
        assert_eq!(recorded.lines().count(), now.lines().count(), "{name}");
    }
}
