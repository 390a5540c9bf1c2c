//! How git is called.
//!
//! A repository is not trusted: it may come from a clone or an archive that nobody looked at. Nothing of the daemon's
//! own environment reaches git that could point it at another repository, no setting can make it wait for a person,
//! and no program that the repository's own configuration names is run. Filter programs of the user's own
//! configuration (git-lfs, for example) run as they do for the user.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::parse;
use crate::environment;
use crate::process;
pub(super) use crate::process::{Failure, Output};
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

/// What is set for each filter that is not run. `required` would make a missing program an error.
const FILTER_SETTINGS: [(&str, &str); 4] = [
    ("clean", ""),
    ("smudge", ""),
    ("process", ""),
    ("required", "false"),
];

/// Variables that every command gets. Lazy fetching would reach for the network in a partial clone, by programs that
/// the repository names; git versions without `GIT_NO_LAZY_FETCH` are stopped by `GIT_ALLOW_PROTOCOL`.
const VARIABLES: [(&str, &str); 5] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("LC_ALL", "C"),
];

/// Which git is run, and what it finds in its environment besides that of every program.
#[derive(Clone, Debug)]
pub(super) struct Git {
    /// The program's path; `None` if there is none.
    pub(super) program: Option<PathBuf>,
    /// Set last, so that tests can be sure of the configuration files that git reads.
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// What the commands printed.
#[derive(Debug)]
pub(super) struct Answers {
    /// In the order of the commands.
    pub(super) outputs: Vec<Output>,
    /// The names of the filters that the repository's configuration defines, which were not run.
    pub(super) filters: Vec<String>,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            program: programs::find("git"),
            variables: Vec::new(),
        }
    }
}

impl Git {
    /// Runs git in `cwd`, once for each list of arguments, all at the same time. No filter that the repository defines
    /// is run: they are listed first. If git cannot list them, its refusal is the answer to every command.
    pub(super) fn run(
        &self,
        cwd: &Path,
        calls: &[Vec<String>],
        deadline: Instant,
    ) -> Result<Answers, Failure> {
        let not_understood = || Failure::System(io::Error::other("the answer was not understood"));
        let listing = words("config --list --name-only --show-scope -z");
        let program = self.program.as_deref().ok_or(Failure::Missing)?;
        let outputs = process::run(
            vec![self.command(program, cwd, &listing, &BTreeSet::new())],
            deadline,
        )?;
        let listing = outputs.into_iter().next().ok_or_else(not_understood)?;
        if !listing.is_good() {
            return Ok(Answers {
                outputs: vec![listing; calls.len()],
                filters: Vec::new(),
            });
        }
        // Half a list would leave a filter out.
        let filters = parse::filters(&listing.stdout)
            .filter(|_| !listing.is_cut)
            .ok_or_else(not_understood)?;
        let commands = calls
            .iter()
            .map(|arguments| self.command(program, cwd, arguments, &filters))
            .collect();
        Ok(Answers {
            outputs: process::run(commands, deadline)?,
            filters: filters
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect(),
        })
    }

    /// Returns this git with variables that name the repository whose top is the current folder, so that no other is
    /// looked for.
    pub(super) fn at_top(&self) -> Self {
        let mut git = self.clone();
        for (name, value) in [("GIT_DIR", ".git"), ("GIT_WORK_TREE", ".")] {
            git.variables.push((name.into(), value.into()));
        }
        git
    }

    fn command(
        &self,
        program: &Path,
        cwd: &Path,
        arguments: &[String],
        filters: &BTreeSet<&[u8]>,
    ) -> Command {
        let mut command = Command::new(program);
        environment::for_tool(&mut command);
        command.args(["--no-optional-locks", "--no-pager"]);
        command.args(arguments);
        set(&mut command, filters);
        command
            .envs(VARIABLES)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(cwd);
        command
    }
}

/// Passes the settings in variables: unlike `-c`, they take names that contain `=`.
fn set(command: &mut Command, filters: &BTreeSet<&[u8]>) {
    let fixed = SETTINGS.map(|(key, value)| (OsString::from(key), value));
    let of_filters = filters.iter().flat_map(|name| {
        FILTER_SETTINGS.map(|(variable, value)| {
            let key = [b"filter.", *name, b".", variable.as_bytes()].concat();
            (OsStr::from_bytes(&key).to_owned(), value)
        })
    });
    let mut count = 0_usize;
    for (key, value) in fixed.into_iter().chain(of_filters) {
        command.env(format!("GIT_CONFIG_KEY_{count}"), key);
        command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
        count += 1;
    }
    command.env("GIT_CONFIG_COUNT", count.to_string());
}

/// Splits a command line that has no spaces within its arguments.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}
