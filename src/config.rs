//! Loads the configuration: the user's file over the compiled-in defaults.

use std::fs::Metadata;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkpoint::config::Config;
use journal::Home;
use journal::named_file::{self, Links};
use journal::reach::{Reach, reach};
use rustix::fs::Access;
use rustix::io::Errno;

use crate::error::{Failure, Result};

/// The largest configuration.
pub(crate) const BYTES_MAX: u64 = 1024 * 1024;

/// Returns the paths of all our files.
pub(crate) fn home() -> Result<Home> {
    Home::from_env().ok_or_else(|| {
        Failure::usage("neither CHECKPOINTD_HOME nor HOME is set")
            .hint("set CHECKPOINTD_HOME to a folder that checkpointd may use")
    })
}

/// Loads the user's configuration, and sets the folders in which it wants programs to be searched.
///
/// # Errors
///
/// If the file is invalid, or if a user other than its owner and root can change it (spec ENV-3): it names programs
/// that the daemon runs.
pub(crate) fn load(home: &Home) -> Result<Config> {
    let mut config = read(&home.config)?;
    config.clear_folder = home.clear.to_str().map(str::to_owned);
    actors::programs::look_in(&config.settings.daemon.path);
    Ok(config)
}

fn read(path: &Path) -> Result<Config> {
    let cannot_read = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let (text, meta) = match text(path) {
        Ok(read) => read,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(cannot_read(error)),
    };
    for folder in folders_of(path) {
        refuse_reach(&folder, &folder.metadata().map_err(cannot_read)?)?;
    }
    refuse_reach(path, &meta)?;
    check(path, &text)
}

/// Reads a configuration, without ever waiting for it.
pub(crate) fn text(path: &Path) -> std::io::Result<(String, Metadata)> {
    let (file, length) = named_file::open(path, Links::Follow)?;
    if length > BYTES_MAX {
        return Err(std::io::Error::other(format!(
            "larger than {BYTES_MAX} bytes"
        )));
    }
    let (meta, mut text) = (file.metadata()?, String::new());
    file.take(length).read_to_string(&mut text)?;
    Ok((text, meta))
}

/// Returns the folder of the configuration, and the one that it is in if it is a link.
fn folders_of(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = path.parent().map(Path::to_owned).into_iter().collect();
    let real = path.canonicalize().ok();
    let real = real.as_deref().and_then(Path::parent).map(Path::to_owned);
    folders.extend(real.filter(|real| !folders.contains(real)));
    folders
}

/// Refuses the data folders if users other than their owner and root can replace them (spec ENV-3). Folders that do not
/// exist yet are created with the right mode.
pub(crate) fn refuse_reachable_home(home: &Home) -> Result<()> {
    for folder in [&home.journal, &home.run]
        .into_iter()
        .filter_map(|folder| folder.parent())
    {
        if let Ok(meta) = folder.metadata() {
            refuse_reach(folder, &meta)?;
        }
    }
    Ok(())
}

/// Refuses folders of ours that cannot be made or written to: one that the user may not look into does not count as
/// missing.
pub(crate) fn refuse_unusable_home(home: &Home) -> Result<()> {
    let folders = [
        &home.journal,
        &home.spool,
        &home.trust,
        &home.clear,
        &home.installed,
        &home.run,
        &home.logs,
    ];
    folders
        .into_iter()
        .try_for_each(|folder| refuse_unusable(folder))
}

/// Refuses root in the folders of another user, who could not use what root makes there (spec ENV-3).
pub(crate) fn refuse_foreign_home(home: &Home) -> Result<()> {
    let is_root = rustix::process::geteuid().is_root();
    match first_there(&home.journal) {
        Some((part, meta)) if is_root && meta.uid() != 0 => refuse_reach(&part, &meta),
        _ => Ok(()),
    }
}

/// Returns a path, or the first folder above it that there is.
fn first_there(path: &Path) -> Option<(PathBuf, Metadata)> {
    let there = |part: &Path| Some((part.to_owned(), part.metadata().ok()?));
    path.ancestors().find_map(there)
}

fn refuse_unusable(folder: &Path) -> Result<()> {
    let Some((part, meta)) = first_there(folder) else {
        return Ok(());
    };
    let Err(error) = rustix::fs::access(&part, Access::WRITE_OK | Access::EXEC_OK) else {
        return Ok(());
    };
    let (owner, name) = (meta.uid(), part.display());
    let is_own = owner == rustix::process::geteuid().as_raw();
    let is_below_home = std::env::var_os("HOME")
        .is_some_and(|user| part.starts_with(&user) && part != Path::new(&user));
    let repair = match (error, is_own, is_below_home) {
        (Errno::ACCESS, true, _) => format!("`chmod u+rwx {name}`"),
        (Errno::ACCESS, false, true) => format!("`sudo chown -R \"$USER\" {name}`"),
        _ => "CHECKPOINTD_HOME can name another folder".to_owned(),
    };
    Err(Failure::unreachable(format!(
        "the folder {} cannot be used: {name} belongs to uid {owner}: {error}",
        folder.display()
    ))
    .hint(repair))
}

fn refuse_reach(path: &Path, meta: &Metadata) -> Result<()> {
    let user = rustix::process::geteuid();
    let Some(reach) = reach(meta, user.as_raw()) else {
        return Ok(());
    };
    let repair = match reach {
        // Root came into the folder of a user, who must keep it.
        Reach::Owner(owner) if user.is_root() && meta.is_dir() => {
            format!("run checkpointd as that user: `sudo -u '#{owner}' checkpointd`")
        }
        Reach::Owner(_) => format!("`chown \"$USER\" {}`", path.display()),
        Reach::Writable(_) => format!("`chmod go-w {}`", path.display()),
    };
    Err(Failure::usage(format!("{} {reach}, so it is not used", path.display())).hint(repair))
}

pub(crate) fn check(path: &Path, text: &str) -> Result<Config> {
    let name = path.display().to_string();
    Config::load(Some((&name, text))).map_err(Failure::usage)
}
