//! The demo's environment: a temporary folder with projects, a home and a daemon. It is always
//! removed at the end, also after a signal or a panic.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use journal::Home;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::project::{Project, write};
use crate::cli::connection;
use crate::error::{Failure, Result};

/// The demo's configuration. The turns are short, and no person watches them.
const CONFIG: &str = "min_turn: 1s\nheadless: always\nhooks: {stop_wait: 20s}\n";
/// The longest wait for the daemon's start.
const READY_WAIT: Duration = Duration::from_secs(20);
/// The longest wait for the daemon's end before it is killed.
const STOP_WAIT: Duration = Duration::from_secs(5);
/// Pause between two polls.
const NAP: Duration = Duration::from_millis(10);
/// Variables that programs may need to run at all. The rest of the caller's environment is not
/// passed on.
const INHERITED: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG"];

/// The folder and the daemon in it. Dropping it stops the daemon and removes the folder.
pub(super) struct Stage {
    folder: PathBuf,
    keep: bool,
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
        let id = uuid::Uuid::new_v4().simple().to_string();
        let folder = temp.join(format!("checkpointd-demo-{}", &id[..8]));
        // Not recursive: it must not exist yet.
        DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .map_err(|error| {
                Failure::failed(format!(
                    "cannot make the folder {}: {error}",
                    folder.display()
                ))
                .hint("TMPDIR can name another folder")
            })?;
        let program = std::env::current_exe()?;
        let mut stage = Self {
            folder,
            keep,
            program,
            daemon: None,
            interrupted: Arc::default(),
        };
        stage.watch_signals()?;
        stage.prepare()?;
        Ok(stage)
    }

    fn prepare(&mut self) -> Result<()> {
        let home = self.home();
        for folder in [
            &home.logs,
            &home.run,
            &self.agents_tmp(),
            &self.agents_home(),
        ] {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        Ok(write(&home.config, CONFIG)?)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn home(&self) -> Home {
        Home::under(&self.folder.join("home"))
    }

    /// Returns the home folder of the recorded agents.
    pub(super) fn agents_home(&self) -> PathBuf {
        self.folder.join("user")
    }

    /// Returns the recorded agents' folder for temporary files.
    pub(super) fn agents_tmp(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    pub(super) fn project(&self, project: &Project) -> PathBuf {
        self.folder.join(project.name)
    }

    /// Returns a command with the stage's environment and nothing from the caller's.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(
            INHERITED
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        );
        command
            .env("CHECKPOINTD_HOME", self.folder.join("home"))
            .env("CHECKPOINTD_AUTOSTART", "0");
        command
            .env("HOME", self.agents_home())
            .env("TMPDIR", self.agents_tmp())
            .current_dir(&self.folder);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Creates a project with one commit. Returns whether git worked.
    pub(super) fn make(&self, project: &Project) -> Result<bool> {
        let folder = self.project(project);
        for (name, text) in project.files {
            write(&folder.join(name), text)?;
        }
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
                .current_dir(&folder);
            git.status().is_ok_and(|status| status.success())
        };
        Ok(git(&["init", "-q"]) && git(&["add", "-A"]) && git(&["commit", "-q", "-m", "Begin"]))
    }

    /// Returns the client's program and first arguments: the small program beside this one if it
    /// has the same version, otherwise this one.
    pub(super) fn client(&self) -> (PathBuf, &'static [&'static str]) {
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

    /// Starts the daemon and waits until it accepts hooks. The error quotes the end of its log.
    pub(super) fn start_daemon(&mut self) -> Result<()> {
        let home = self.home();
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(home.logs.join("daemon.log"))?;
        let mut command = self.command(&self.program);
        let child = command.arg("daemon").stderr(log).spawn().map_err(|error| {
            Failure::failed(format!("cannot start {}: {error}", self.program.display()))
        })?;
        let child = self.daemon.insert(child);
        let began = Instant::now();
        while connection::health(&home).is_none() {
            let ended = child.try_wait()?;
            if ended.is_some() || began.elapsed() > READY_WAIT {
                let log = std::fs::read_to_string(home.logs.join("daemon.log")).unwrap_or_default();
                let last = log.lines().last().unwrap_or("its log is empty").to_owned();
                return Err(Failure::unreachable("the demo's daemon did not start").hint(last));
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    /// Waits; a signal ends the wait with an error.
    pub(super) fn wait(&self, wait: Duration) -> Result<()> {
        let until = Instant::now() + wait;
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(NAP));
        }
    }

    /// Catches signals that would kill this process, so that the demo cleans up first.
    fn watch_signals(&self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let interrupted = Arc::clone(&self.interrupted);
        let (mut interrupt, mut terminate, mut hang_up) = {
            let _inside = runtime.enter();
            (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            )
        };
        std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hang_up.recv() => {}
                }
            });
            interrupted.store(true, Ordering::Relaxed);
        });
        Ok(())
    }

    /// Stops the daemon; kills it after [`STOP_WAIT`].
    fn stop_daemon(&mut self) {
        let Some(mut daemon) = self.daemon.take() else {
            return;
        };
        let _ = kill_process(Pid::from_child(&daemon), Signal::TERM);
        let began = Instant::now();
        while began.elapsed() < STOP_WAIT {
            if !matches!(daemon.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(NAP);
        }
        let _ = daemon.kill();
        let _ = daemon.wait();
    }
}

fn interrupted() -> Failure {
    Failure::failed("the demo was interrupted")
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop_daemon();
        if !self.keep
            && let Err(error) = std::fs::remove_dir_all(&self.folder)
        {
            // A panic while another one unwinds would abort the process.
            let _ = writeln!(
                std::io::stderr(),
                "cannot remove {}: {error}",
                self.folder.display()
            );
        }
    }
}
