//! Which agents there are on this machine, of which version, and where their settings are.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::Agent;

/// How long an agent may take to say its version.
const VERSION_WAIT: Duration = Duration::from_secs(10);
/// Codex's first version whose hooks are on without being asked for; before it only `notify` can be relied upon.
pub(crate) const CODEX_HOOKS_SINCE: Version = Version(0, 124, 0);

/// A version as agents say it: the first three numbers with dots between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u32, pub(crate) u32, pub(crate) u32);

impl Version {
    /// Finds a version in a text such as `2.1.330 (Claude Code)` or `codex-cli 0.169.0`.
    pub(crate) fn find(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.')
            .find_map(|word| {
                let mut numbers = word.split('.').map(|number| number.parse().ok());
                Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
            })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// An agent on this machine, or one that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Which one.
    pub(crate) agent: Agent,
    /// Its program on `PATH`.
    pub(crate) program: Option<PathBuf>,
    /// The folder of its user's settings.
    pub(crate) folder: PathBuf,
    /// Its version, where it matters and could be told.
    pub(crate) version: Option<Version>,
}

impl Found {
    /// Looks for an agent.
    ///
    /// # Errors
    ///
    /// When the environment does not say where its settings are.
    pub(crate) fn look(agent: Agent) -> Result<Self, String> {
        Ok(Self {
            agent,
            program: on_path(agent.word()),
            folder: user_folder(agent)?,
            version: None,
        })
    }

    /// Returns whether the agent is here: its program, or settings of an earlier one.
    pub(crate) fn is_here(&self) -> bool {
        self.program.is_some() || self.folder.is_dir()
    }

    /// Asks Claude Code and Codex for their versions; for Gemini CLI nothing depends on it, and it takes seconds.
    #[must_use]
    pub(crate) fn with_version(mut self) -> Self {
        if self.agent != Agent::Gemini {
            self.version = self.program.as_deref().and_then(version_of);
        }
        self
    }

    /// Returns whether this is a Codex that cannot be relied upon to run hooks.
    pub(crate) fn has_no_hooks(&self) -> bool {
        self.agent == Agent::Codex
            && self
                .version
                .is_some_and(|version| version < CODEX_HOOKS_SINCE)
    }
}

/// Returns an agent's name as its makers write it.
pub(crate) const fn name(agent: Agent) -> &'static str {
    match agent {
        Agent::Claude => "Claude Code",
        Agent::Gemini => "Gemini CLI",
        Agent::Codex => "Codex CLI",
        Agent::Daemon => "checkpointd",
    }
}

/// Returns the folder of an agent's settings in a project.
pub(crate) fn project_folder(agent: Agent, project: &Path) -> PathBuf {
    project.join(format!(".{}", agent.word()))
}

/// Finds a program as a shell does.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(is_program)
}

fn user_folder(agent: Agent) -> Result<PathBuf, String> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = || {
        set("HOME").ok_or_else(|| {
            format!(
                "HOME is not set, so {}'s settings cannot be found",
                name(agent)
            )
        })
    };
    let folder = match agent {
        Agent::Claude => {
            set("CLAUDE_CONFIG_DIR").map_or_else(|| home().map(|home| home.join(".claude")), Ok)?
        }
        // Codex resolves links in the variable, and only there. The keys of its trust are made from the outcome.
        Agent::Codex => match set("CODEX_HOME") {
            Some(folder) => folder.canonicalize().unwrap_or(folder),
            None => home()?.join(".codex"),
        },
        _ => set("GEMINI_CLI_HOME")
            .map_or_else(home, Ok)?
            .join(".gemini"),
    };
    std::path::absolute(&folder)
        .map_err(|error| format!("{} cannot be found: {error}", folder.display()))
}

/// Asks a program for its version, away from the user's settings: some agents tidy up in them at every start.
fn version_of(program: &Path) -> Option<Version> {
    let elsewhere = tempfile::tempdir().ok()?;
    let mut child = Command::new(program)
        .arg("--version")
        .env("CLAUDE_CONFIG_DIR", elsewhere.path())
        .env("CODEX_HOME", elsewhere.path())
        .current_dir(elsewhere.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let began = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if began.elapsed() > VERSION_WAIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut words = Vec::new();
    // The version is one line; what a program's children might still write is not waited for.
    let _ = child.stdout.take()?.take(4096).read_to_end(&mut words);
    Version::find(&String::from_utf8_lossy(&words))
}

/// Runs a program of the system for its version line; none where it is not there.
pub(crate) fn version_line(program: &str, argument: &str) -> Option<String> {
    let path: OsString = on_path(program)?.into();
    let output = Command::new(path)
        .arg(argument)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output
        .status
        .success()
        .then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_as_agents_say_them() {
        let found = [
            "2.1.330 (Claude Code)",
            "codex-cli 0.169.0",
            "codex-cli 0.124.0-alpha.2",
            "v1.2.3",
            "1.2",
            "none",
        ];
        assert_eq!(
            found.map(Version::find),
            [
                Some(Version(2, 1, 330)),
                Some(Version(0, 169, 0)),
                Some(Version(0, 124, 0)),
                Some(Version(1, 2, 3)),
                None,
                None
            ]
        );
        assert!(Version(2, 1, 330) > Version(2, 1, 78));
    }
}
