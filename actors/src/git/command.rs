//! How git is called.
//!
//! Nothing of the daemon's own environment reaches git that could point it at another repository, and no setting can
//! make it wait for a person or start a program that is not needed to answer. The one exception are the `filter.*`
//! programs that a repository's attributes ask for: without them git cannot tell whether a file changed.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::process;
pub(super) use crate::process::{Failure, Output};

/// Settings that hold for every command, whatever the configuration files say.
const SETTINGS: [&str; 6] = [
    // Empty, not `false`: before git 2.36 the value was the name of a program.
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "status.relativePaths=false",
    "log.showSignature=false",
    "log.showRoot=true",
];

/// Variables that every command gets. Lazy fetching would reach for the network in a partial clone.
const VARIABLES: [(&str, &str); 4] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("LC_ALL", "C"),
];

/// Which git is run, and what it finds in its environment besides the daemon's own.
#[derive(Clone, Debug)]
pub(super) struct Git {
    /// The program, looked up on `PATH` unless it is a path.
    pub(super) program: OsString,
    /// Set last, so that tests can be sure of the configuration files that git reads.
    pub(super) variables: Vec<(OsString, OsString)>,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            program: "git".into(),
            variables: Vec::new(),
        }
    }
}

impl Git {
    /// Runs git in `cwd`, once for each list of arguments, all at the same time; gives the outputs in the same order.
    pub(super) fn run(
        &self,
        cwd: &Path,
        calls: &[Vec<String>],
        deadline: Instant,
    ) -> Result<Vec<Output>, Failure> {
        process::run(
            calls
                .iter()
                .map(|arguments| self.command(cwd, arguments))
                .collect(),
            deadline,
        )
    }

    fn command(&self, cwd: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--no-optional-locks", "--no-pager"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_gits(name)) {
            command.env_remove(name);
        }
        command
            .envs(VARIABLES)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(cwd);
        command
    }
}

fn is_gits(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"GIT_")
}
