//! The daemon's log file if its standard error is one (`--detach`, launchd): rotated by size while
//! the daemon runs. Panics are written to standard error, so that is redirected to the new file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use journal::named_file;

/// Size at which a log is rotated.
const BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Number of older logs that are kept.
const OLDER_MAX: usize = 2;

pub(crate) fn path(logs: &Path) -> PathBuf {
    logs.join("daemon.log")
}

fn older(logs: &Path, number: usize) -> PathBuf {
    logs.join(format!("daemon.log.{number}"))
}

/// Opens the log for a daemon that is being started, and rotates it first if it is large.
pub(crate) fn open(logs: &Path) -> io::Result<File> {
    if fs::metadata(path(logs)).is_ok_and(|meta| meta.len() > BYTES_MAX) {
        put_aside(logs);
    }
    named_file::open_own(&path(logs), File::options().append(true).create(true))
}

/// Rotates the logs; the oldest is removed. Errors are ignored.
fn put_aside(logs: &Path) {
    for number in (1..OLDER_MAX).rev() {
        let _ = fs::rename(older(logs, number), older(logs, number + 1));
    }
    let _ = fs::rename(path(logs), older(logs, 1));
}

/// Standard error, with rotation of the file behind it.
pub(crate) struct Log {
    logs: PathBuf,
    /// The size for the next rotation; more than [`BYTES_MAX`] after a failure, so that not every
    /// line tries again.
    limit: u64,
}

impl Log {
    /// Writes to standard error; `logs` is the folder of its file, if it is ours.
    pub(crate) const fn new(logs: PathBuf) -> Self {
        Self {
            logs,
            limit: BYTES_MAX,
        }
    }

    /// Returns the log's size, if standard error is the log.
    fn size(&self) -> Option<u64> {
        let behind = File::from(io::stderr().as_fd().try_clone_to_owned().ok()?)
            .metadata()
            .ok()?;
        let named = fs::metadata(path(&self.logs)).ok()?;
        ((behind.dev(), behind.ino()) == (named.dev(), named.ino())).then_some(behind.len())
    }

    fn rotate(&mut self, size: u64) {
        put_aside(&self.logs);
        let fresh = open(&self.logs).and_then(|file| Ok(rustix::stdio::dup2_stderr(file)?));
        self.limit = if fresh.is_ok() {
            BYTES_MAX
        } else {
            size + BYTES_MAX
        };
    }
}

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(size) = self
            .size()
            .filter(|size| size + line.len() as u64 > self.limit)
        {
            self.rotate(size);
        }
        io::stderr().write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
