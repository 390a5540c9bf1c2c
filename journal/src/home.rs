//! All paths of the product, derived from the environment, and the creation of private folders. Standard library only,
//! because the hook client uses it.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folders and files of one installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The user's configuration.
    pub config: PathBuf,
    /// The journal: intake segments and the store.
    pub journal: PathBuf,
    /// Hook calls that found no daemon.
    pub spool: PathBuf,
    /// Socket, pid file and locks.
    pub run: PathBuf,
    /// The daemon's socket.
    pub socket: PathBuf,
    /// The daemon's logs.
    pub logs: PathBuf,
    /// Progress documents that are not written into the project.
    pub progress: PathBuf,
    /// Files of phase records, unless the settings name another folder.
    pub phases: PathBuf,
    /// Which projects' own files the user trusts.
    pub trust: PathBuf,
    /// Files by which agents ask that a session's next stop passes, each named by the session.
    pub clear: PathBuf,
    /// Record of the changes to agents' settings, with their previous contents.
    pub installed: PathBuf,
}

impl Home {
    /// Reads `CHECKPOINTD_HOME`, `CHECKPOINTD_SOCKET` and, without the former, the XDG variables.
    ///
    /// The socket is deliberately not in `XDG_RUNTIME_DIR`: agents pass on only a part of their environment, and the
    /// client and the daemon must agree. Returns `None` if not even `HOME` is set.
    pub fn from_env() -> Option<Self> {
        Self::resolve(|name| std::env::var_os(name))
    }

    /// Like [`Home::from_env`], with the variables that `var` returns.
    pub fn resolve(var: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let set = |name: &str| Some(PathBuf::from(var(name).filter(|value| !value.is_empty())?));
        let mut home = if let Some(root) = set("CHECKPOINTD_HOME") {
            Self::under(&std::path::absolute(&root).unwrap_or(root))
        } else {
            let user = set("HOME");
            // XDG: a relative path in one of its variables is invalid and ignored.
            let xdg = |name: &str, fallback: &str| {
                let named = set(name).filter(|path| path.is_absolute());
                let base = named.or_else(|| Some(user.as_ref()?.join(fallback)));
                base.map(|base| base.join("checkpointd"))
            };
            let data = xdg("XDG_DATA_HOME", ".local/share")?;
            let state = xdg("XDG_STATE_HOME", ".local/state")?;
            Self::of(&xdg("XDG_CONFIG_HOME", ".config")?, &data, &state)
        };
        if let Some(socket) = set("CHECKPOINTD_SOCKET") {
            home.socket = std::path::absolute(&socket).unwrap_or(socket);
        }
        Some(home)
    }

    /// Returns the paths of an installation in one folder.
    pub fn under(root: &Path) -> Self {
        Self::of(root, root, root)
    }

    fn of(config: &Path, data: &Path, state: &Path) -> Self {
        Self {
            config: config.join("config.yml"),
            journal: data.join("journal"),
            spool: data.join("spool"),
            progress: data.join("progress"),
            phases: data.join("checkpoints"),
            trust: data.join("trust"),
            clear: data.join("clear"),
            installed: data.join("installed"),
            socket: state.join("run").join("sock"),
            run: state.join("run"),
            logs: state.join("logs"),
        }
    }

    /// Returns the file in which the daemon writes for hook clients how many milliseconds a stop may wait.
    pub fn stop_wait_file(&self) -> PathBuf {
        self.run.join("stop-wait-ms")
    }

    /// Returns the file that has one byte for each hook call that could be kept nowhere.
    pub fn lost_file(&self) -> PathBuf {
        self.run.join("lost")
    }

    /// Returns the file that is there while the daemon answers tool calls, too.
    pub fn exits_file(&self) -> PathBuf {
        self.run.join("exits")
    }
}

/// Creates a folder and its missing parents with access for the owner only, and syncs them: nothing in a folder survives
/// a power cut unless the folder itself does.
///
/// # Errors
///
/// If a folder cannot be created or synced.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let missing = folder.ancestors().take_while(|folder| !folder.exists());
    let above: Vec<&Path> = missing.filter_map(Path::parent).collect();
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700).create(folder)?;
    let mut above = above.iter();
    above.try_for_each(|above| File::open(above)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(vars: &[(&str, &str)]) -> Option<Home> {
        Home::resolve(|name| {
            vars.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn one_folder_holds_everything_when_it_is_named() {
        let home = resolve(&[("CHECKPOINTD_HOME", "/x/y"), ("HOME", "/home/u")]).expect("set");
        assert_eq!(home, Home::under(Path::new("/x/y")));
        assert_eq!(home.socket, Path::new("/x/y/run/sock"));
    }

    #[test]
    fn xdg_folders_are_used_otherwise_and_relative_ones_ignored() {
        let home = resolve(&[
            ("HOME", "/home/u"),
            ("XDG_DATA_HOME", "/data"),
            ("XDG_STATE_HOME", "oops"),
        ])
        .expect("set");
        assert_eq!(
            home.config,
            Path::new("/home/u/.config/checkpointd/config.yml")
        );
        assert_eq!(home.spool, Path::new("/data/checkpointd/spool"));
        assert_eq!(home.phases, Path::new("/data/checkpointd/checkpoints"));
        assert_eq!(
            home.socket,
            Path::new("/home/u/.local/state/checkpointd/run/sock")
        );
        assert_eq!(resolve(&[]), None);
    }

    #[test]
    fn the_socket_can_be_named_on_its_own() {
        let home =
            resolve(&[("CHECKPOINTD_HOME", "/x"), ("CHECKPOINTD_SOCKET", "/run/s")]).expect("set");
        assert_eq!(home.socket, Path::new("/run/s"));
    }
}
