//! The demo's environment: a temporary folder with a project, a home and a daemon. It is always
//! removed at the end, also after a signal or a panic.

use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use journal::{Agent, Home};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use tempfile::TempDir;

use super::story::{self, Call};
use crate::cli::daemon_process;
use crate::cli::shared::with_input;
use crate::error::{Failure, Result};

/// The demo's configuration. The turns are short, and no person watches them.
const CONFIG: &str = "min_turn: 1s\nheadless: always\nhooks: {stop_wait: 20s}\n";
/// Pause between two polls.
const NAP: Duration = Duration::from_millis(10);
/// Variables that programs may need to run at all. The rest of the caller's environment is not
/// passed on.
const INHERITED: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG"];

/// The client's program and its first arguments.
pub(super) type Client = (PathBuf, &'static [&'static str]);

/// The folder and the daemon in it. Dropping it stops the daemon and removes the folder.
pub(super) struct Stage {
    folder: TempDir,
    program: PathBuf,
    daemon: Option<Child>,
    interrupted: Arc<AtomicBool>,
}

impl Stage {
    /// Makes the folder and watches for signals.
    pub(super) fn new(keep: bool) -> Result<Self> {
        let temp = std::env::temp_dir();
        // Git and the agents use canonical paths.
        let temp = temp.canonicalize().unwrap_or(temp);
        let folder = tempfile::Builder::new()
            .prefix("checkpointd-demo-")
            .permissions(Permissions::from_mode(0o700))
            .disable_cleanup(keep)
            .tempdir_in(&temp)
            .map_err(|error| {
                Failure::failed(format!(
                    "cannot make a folder in {}: {error}",
                    temp.display()
                ))
                .hint("TMPDIR can name another folder")
            })?;
        let program = std::env::current_exe()?;
        let stage = Self {
            folder,
            program,
            daemon: None,
            interrupted: Arc::default(),
        };
        // These would kill this process before it cleans up.
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, Arc::clone(&stage.interrupted))?;
        }
        stage.prepare()?;
        Ok(stage)
    }

    fn prepare(&self) -> Result<()> {
        for folder in [self.agents_tmp(), self.agents_home()] {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        write(&self.home().config, CONFIG)?;
        for (name, text) in story::FILES {
            write(&self.project().join(name), text)?;
        }
        Ok(())
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn home(&self) -> Home {
        Home::under(&self.folder().join("home"))
    }

    fn agents_home(&self) -> PathBuf {
        self.folder().join("user")
    }

    fn agents_tmp(&self) -> PathBuf {
        self.folder().join("tmp")
    }

    /// Returns the folder of the agent's project.
    pub(super) fn project(&self) -> PathBuf {
        self.folder().join(story::PROJECT)
    }

    /// Returns a command with the stage's environment and nothing from the caller's.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(
            INHERITED
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        );
        command
            .env("CHECKPOINTD_HOME", self.folder().join("home"))
            .env("CHECKPOINTD_AUTOSTART", "0");
        command
            .env("HOME", self.agents_home())
            .env("TMPDIR", self.agents_tmp())
            .current_dir(self.folder());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Commits the project's files. Returns whether git worked.
    pub(super) fn commit(&self) -> bool {
        let git = |arguments: &[&str]| {
            let mut git = self.command(Path::new("git"));
            git.args([
                "-c",
                "user.name=demo",
                "-c",
                "user.email=demo@localhost",
                "-c",
                "commit.gpgsign=false",
            ]);
            // Long ago: a commit made during a turn would count as the turn's work.
            git.env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z");
            git.args(arguments)
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .current_dir(self.project());
            git.status().is_ok_and(|status| status.success())
        };
        git(&["init", "-q"]) && git(&["add", "-A"]) && git(&["commit", "-q", "-m", "Begin"])
    }

    /// Returns the small program beside this one if it has the same version, otherwise this one.
    pub(super) fn client(&self) -> Client {
        let beside = self.program.with_file_name("checkpointd-hook");
        let said = self
            .command(&beside)
            .arg("--version")
            .stdout(Stdio::piped())
            .output();
        let ours = concat!("checkpointd-hook ", env!("CARGO_PKG_VERSION"));
        if said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).trim() == ours) {
            (beside, &[])
        } else {
            (self.program.clone(), &["hook"])
        }
    }

    /// Starts the daemon and waits until it accepts hooks.
    pub(super) fn start_daemon(&mut self) -> Result<()> {
        let command = self.command(&self.program);
        let (child, _) = daemon_process::start(&self.home(), command, &["daemon"])?;
        self.daemon = Some(child);
        Ok(())
    }

    /// Runs the hook client for one call and returns what it prints.
    pub(super) fn call(&self, (program, first): &Client, call: &Call) -> Result<String> {
        if let Some((file, text)) = call.written() {
            write(Path::new(file), text)?;
        }
        let mut command = self.command(program);
        command
            .args(*first)
            .args([Agent::Claude.word(), call.event])
            .env("CHECKPOINTD_STOP_WAIT_MS", "20000")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "20000")
            .current_dir(self.project());
        let output = with_input(command, call.payload.to_string().as_bytes())
            .map_err(|error| Failure::failed(format!("cannot run the hook client: {error}")))?;
        if !output.status.success() {
            let status = output.status;
            return Err(Failure::failed(format!(
                "the hook client ended with {status}"
            )));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Waits; a signal ends the wait with an error.
    pub(super) fn wait(&self, wait: Duration) -> Result<()> {
        let until = Instant::now() + wait;
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(Failure::failed("the demo was interrupted"));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

/// Writes a file and creates missing folders.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    std::fs::write(path, text)
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon_process::end(&self.home());
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
