//! How git is called.
//!
//! A repository is not trusted: it may come from a clone or an archive that no person has checked. Nothing of the
//! daemon's own environment reaches git that could point it at another repository, no setting can make it wait for a
//! person, and no program that the repository's own configuration names is run (see `view.rs`). Filter programs of the
//! user's own configuration (git-lfs, for example) run as they do for the user.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use journal::Home;
use journal::home::create_folder;
use tempfile::TempDir;

use crate::environment;
use crate::process;
pub(super) use crate::process::{Failure, Output, Waiting};
use crate::programs;

/// Settings that hold for every command, whatever the configuration files say.
const SETTINGS: [(&str, &str); 14] = [
    // A committed folder that looks like a bare repository is not one.
    ("safe.bareRepository", "explicit"),
    // Empty, not `false`: before git 2.36 the value was the name of a program.
    ("core.fsmonitor", ""),
    ("core.hooksPath", "/dev/null"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.alternateRefsCommand", "false"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("protocol.allow", "never"),
    ("core.quotePath", "false"),
    ("status.relativePaths", "false"),
    ("status.submoduleSummary", "false"),
    ("log.showSignature", "false"),
    ("log.showRoot", "true"),
];

/// Variables that every command gets. Lazy fetching would reach for the network in a partial clone, by programs that
/// the repository names; git versions without `GIT_NO_LAZY_FETCH` are stopped by `GIT_ALLOW_PROTOCOL`.
const VARIABLES: [(&str, &str); 6] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("LC_ALL", "C"),
];

/// Whether private folders are kept between looks.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// Says whether private folders are kept between looks that begin from now on.
pub(super) fn keep_folders(keeps: bool) {
    KEEPS.store(keeps, Ordering::Relaxed);
}

/// Which git is run, and what it finds in its environment besides that of every program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Git {
    /// The program's path; `None` if there is none.
    pub(super) program: Option<PathBuf>,
    /// Where private folders are made; `None` if the user has no home.
    pub(super) folder: Option<PathBuf>,
    /// Whether private folders are kept between looks.
    pub(super) keeps: bool,
    /// Set last, so that tests can be sure of the configuration files that git reads.
    pub(super) variables: Vec<(OsString, OsString)>,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            program: programs::find("git"),
            folder: Home::from_env().map(|home| private_folder(&home)),
            keeps: KEEPS.load(Ordering::Relaxed),
            variables: Vec::new(),
        }
    }
}

/// Returns the folder in which repositories get private ones. Agents in a sandbox may write to `/tmp`, but not there.
fn private_folder(home: &Home) -> PathBuf {
    home.run.join("git")
}

/// Removes what a daemon that was killed left in the place of private folders.
pub fn clear_private_folders(home: &Home) {
    let _ = std::fs::remove_dir_all(private_folder(home));
}

impl Git {
    /// Runs git in `cwd`, once for each list of arguments, all at the same time.
    pub(super) fn run(
        &self,
        cwd: &Path,
        calls: &[Vec<String>],
        deadline: Instant,
    ) -> Result<Vec<Output>, Failure> {
        self.run_while(cwd, calls, deadline, || ())
    }

    /// Like [`Git::run`], and does something else when all have started.
    pub(super) fn run_while(
        &self,
        cwd: &Path,
        calls: &[Vec<String>],
        deadline: Instant,
        meanwhile: impl FnOnce(),
    ) -> Result<Vec<Output>, Failure> {
        let program = self.program.as_deref().ok_or(Failure::Missing)?;
        let commands = calls
            .iter()
            .map(|arguments| self.command(program, cwd, arguments))
            .collect();
        process::run_while(commands, deadline, meanwhile)
    }

    /// Starts git in `cwd`; it waits for its input.
    pub(super) fn start(&self, cwd: &Path, call: &[String]) -> Result<Waiting, Failure> {
        let program = self.program.as_deref().ok_or(Failure::Missing)?;
        Waiting::start(self.command(program, cwd, call))
    }

    /// Returns this git with variables that name the repository whose top is the current folder, so that git does not
    /// search for another.
    pub(super) fn at_top(&self) -> Self {
        self.with([
            ("GIT_DIR", Path::new(".git")),
            ("GIT_WORK_TREE", Path::new(".")),
        ])
    }

    pub(super) fn with(&self, variables: [(&str, &Path); 2]) -> Self {
        let mut git = self.clone();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        git.variables.extend(variables);
        git
    }

    /// Returns a variable that git finds in its environment.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let own = self.variables.iter().rev().find(|(it, _)| it == name);
        own.map(|(_, value)| value.clone())
            .or_else(|| environment::of_tools(name))
    }

    pub(super) fn folder(&self) -> io::Result<TempDir> {
        let above = self
            .folder
            .as_deref()
            .ok_or_else(|| io::Error::other("HOME is not set"))?;
        let made = create_folder(above).and_then(|()| TempDir::new_in(above));
        made.map_err(|error| {
            io::Error::other(format!("cannot write to {}: {error}", above.display()))
        })
    }

    fn command(&self, program: &Path, cwd: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(program);
        environment::for_tool(&mut command);
        command.args(["--no-optional-locks", "--no-pager"]);
        command.args(arguments);
        guard(&mut command, 0);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(cwd);
        command
    }
}

/// Makes a command of git run no hook, monitor, transport or signature program, whatever the repository's settings say. Only
/// a private folder keeps filters from running, too ([`super::ask`]). `known` settings are in the command's variables already.
pub fn guard(command: &mut Command, known: usize) {
    // In variables and not as `-c`, so that git's own answer shows that it takes them.
    for (count, (key, value)) in SETTINGS.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{}", known + count), key);
        command.env(format!("GIT_CONFIG_VALUE_{}", known + count), value);
    }
    let count = known + SETTINGS.len();
    command.env("GIT_CONFIG_COUNT", count.to_string());
    command.envs(VARIABLES);
}

/// Splits a command line that has no spaces within its arguments.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}
