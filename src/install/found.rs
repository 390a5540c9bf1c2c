//! Finds agents' programs and settings on this machine.

use std::fs::Metadata;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::Agent;

use super::version::Version;

/// The longest wait for an agent's version.
const VERSION_WAIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) agent: Agent,
    /// The program on `PATH`.
    pub(crate) program: Option<PathBuf>,
    /// The folder of the user's settings.
    pub(crate) folder: PathBuf,
    /// The version, if needed and known.
    pub(crate) version: Option<Version>,
}

impl Found {
    /// Returns whether the agent is on this machine: its program, or settings of an earlier
    /// installation.
    pub(crate) fn is_here(&self) -> bool {
        self.program.is_some() || self.folder.is_dir()
    }
}

/// Searches `PATH` as a shell does.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let may_run = |meta: &Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    let path = std::env::var_os("PATH")?;
    let mut paths = std::env::split_paths(&path).map(|folder| folder.join(name));
    paths.find(|path| path.metadata().is_ok_and(|meta| may_run(&meta)))
}

/// Asks a program for its version. `folder_variable` directs it away from the user's settings,
/// because some agents clean those up at every start.
pub(super) fn version_of(program: &Path, folder_variable: Option<&str>) -> Option<Version> {
    let elsewhere = tempfile::tempdir().ok()?;
    let mut child = Command::new(program)
        .arg("--version")
        .envs(folder_variable.map(|name| (name, elsewhere.path())))
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
    // The version is one line; output of the program's children is not awaited.
    let _ = child.stdout.take()?.take(4096).read_to_end(&mut words);
    Version::find(&String::from_utf8_lossy(&words))
}

/// Runs a system program for its version line; `None` if it does not work.
pub(crate) fn version_line(program: &Path, argument: &str) -> Option<String> {
    let mut command = Command::new(program);
    let output = command.arg(argument).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim();
    output.status.success().then(|| line.to_owned())
}
