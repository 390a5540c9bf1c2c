//! Reading files that an agent or a project names. Such a path may lead to a FIFO, a device, a file of the kernel that
//! never ends, or a file that the agent itself may not read: none of these may block a thread or fill the memory.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// What to do if the path's last component is a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Open the file that the link leads to.
    Follow,
    /// Fail.
    Refuse,
}

/// Opens a regular file, without ever waiting. Returns it with its length in bytes.
///
/// Read no more than this length: files of the kernel claim to be regular and empty, and reading them may wait, or
/// never end.
///
/// # Errors
///
/// If it cannot be opened or is not a regular file.
pub fn open(path: &Path, links: Links) -> io::Result<(File, u64)> {
    let length = |meta: &Metadata| {
        let is_file = meta.is_file().then_some(meta.len());
        is_file.ok_or_else(|| io::Error::other("not a regular file"))
    };
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Opening some devices has an effect already, so they are not even opened.
    match links {
        Links::Follow => length(&std::fs::metadata(path)?)?,
        Links::Refuse => {
            flags |= OFlags::NOFOLLOW;
            length(&std::fs::symlink_metadata(path)?)?
        }
    };
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let length = length(&file.metadata()?)?;
    Ok((file, length))
}

/// Reads a file of at most `bytes_max` bytes, which must not be a symbolic link.
///
/// # Errors
///
/// As [`open`], or if the file is larger.
pub fn bytes(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path, Links::Refuse)?;
    if length > bytes_max {
        return Err(io::Error::other(format!("larger than {bytes_max} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text file of at most `bytes_max` bytes, which must not be a symbolic link.
///
/// # Errors
///
/// As [`bytes`], or if the text is not UTF-8.
pub fn text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, bytes_max)?).map_err(|_| io::Error::other("not UTF-8"))
}

/// Reads the beginning of a file, at most `bytes_max` bytes.
///
/// # Errors
///
/// As [`open`].
pub fn beginning(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path, Links::Follow)?;
    let mut bytes = Vec::new();
    file.take(length.min(bytes_max)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use checkpoint::config::Config;
    use journal::Agent;

    use super::*;
    use crate::{evidence, transcripts};

    /// Returns the note about a project whose settings file `make` makes.
    fn note(make: impl FnOnce(&Path)) -> String {
        let project = tempfile::tempdir().unwrap();
        make(&project.path().join(evidence::PROJECT_FILE));
        let mut notes = Vec::new();
        let top = project.path().to_str().unwrap();
        evidence::project_policy(&Config::default(), top, &mut notes);
        notes.join("\n")
    }

    fn fifo(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn settings_that_are_not_a_plain_file_are_not_used() {
        let refused = |reason: &str| format!(".checkpointd.yml was not used: {reason}");
        assert_eq!(note(|_| {}), "");
        assert_eq!(note(fifo), refused("not a regular file"));
        for target in [
            "/proc/self/pagemap",
            "/proc/kmsg",
            "/dev/zero",
            "/etc/hosts",
        ] {
            let linked = note(|path| symlink(target, path).unwrap());
            assert_eq!(linked, refused("not a regular file"), "{target}");
        }
        assert_eq!(
            note(|path| std::fs::create_dir(path).unwrap()),
            refused("not a regular file")
        );
        let large = "#".repeat(300 * 1024);
        assert_eq!(
            note(|path| std::fs::write(path, &large).unwrap()),
            refused("larger than 262144 bytes")
        );
    }

    #[test]
    fn errors_do_not_quote_the_file() {
        for text in [
            "machine example.org login me password s3cr3t\n",
            "machine example.org\n  login me\n  password s3cr3t\n",
            "rules: machine login password s3cr3t\n",
            "min_turn: \"machine password s3cr3t\"\n",
            "enabled: machine password s3cr3t\n",
            "packs: [machine password s3cr3t]\n",
            "machine password s3cr3t: 1\n",
            "a: 'machine password s3cr3t\n",
        ] {
            let note = note(|path| std::fs::write(path, text).unwrap());
            assert!(
                note.starts_with(".checkpointd.yml was not used: .checkpointd.yml:"),
                "{note}"
            );
            assert!(!note.contains("s3cr3t"), "{note}");
        }
    }

    #[test]
    fn transcripts_are_regular_files() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.jsonl");
        fifo(&pipe);
        let read = |path: &Path| {
            let mut notes = Vec::new();
            let config = Config::default();
            let facts = transcripts::read(&config, Agent::Claude, path, "", &mut notes);
            assert!(facts.is_none());
            notes.join("\n")
        };
        let refused = "cannot read the transcript: not a regular file";
        assert_eq!(read(&pipe), refused);
        assert_eq!(read(Path::new("/dev/zero")), refused);
        for path in ["/proc/self/pagemap", "/proc/kmsg"] {
            if Path::new(path).exists() {
                let note = read(Path::new(path));
                assert!(
                    note.contains("empty") || note.contains("denied") || note.contains("permitted"),
                    "{note}"
                );
            }
        }
    }

    #[test]
    fn only_a_link_that_may_be_followed_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let link = folder.path().join("link");
        std::fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(text(&file, 4).unwrap(), "text");
        assert!(text(&file, 3).is_err());
        assert!(text(&link, 4).is_err());
        assert_eq!(beginning(&link, 3).unwrap(), b"tex");
    }
}
