//! Which projects' own files the user trusts (spec RULE-16): one small file for each project, with the hash of the content
//! that was trusted. A file per project makes a change of one atomic, and no writer can lose what another one wrote.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use journal::{Home, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::named_file;

/// Our own files are far smaller.
const ENTRY_BYTES_MAX: u64 = 64 * 1024;

/// The store of the user's trust.
#[derive(Clone, Debug)]
pub struct Trust {
    folder: PathBuf,
}

/// A file that the user trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// The project's folder, without links.
    pub project: PathBuf,
    /// The hash of the trusted content, in hexadecimal digits.
    pub sha256: String,
    /// Since when.
    pub at: Timestamp,
}

/// Whether the user trusts a project's own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// As it is now.
    Trusted,
    /// With other content than it has now.
    Changed,
    /// Never, or no longer.
    Unknown,
}

impl Trust {
    /// Returns the store of an installation. It need not exist.
    pub fn of(home: &Home) -> Self {
        Self {
            folder: home.trust.clone(),
        }
    }

    /// Returns whether the user trusts the file of `project` with the content `text`. What cannot be read is not trusted.
    pub fn standing(&self, project: &Path, text: &str) -> Standing {
        let entry = project
            .canonicalize()
            .and_then(|project| self.entry(&self.file(&project)));
        match entry {
            Ok(trusted) if trusted.sha256 == sha256(text.as_bytes()) => Standing::Trusted,
            Ok(_) => Standing::Changed,
            Err(_) => Standing::Unknown,
        }
    }

    /// Trusts the file of `project` with the content `text`. Once this returns, a power cut does not undo it.
    ///
    /// # Errors
    ///
    /// If the project does not exist or the entry cannot be written.
    pub fn trust(&self, project: &Path, text: &str) -> io::Result<()> {
        let project = project.canonicalize()?;
        journal::home::create_folder(&self.folder)?;
        let trusted = Trusted {
            sha256: sha256(text.as_bytes()),
            at: Timestamp::now(),
            project: project.clone(),
        };
        let mut file = tempfile::Builder::new()
            .prefix(".unfinished-")
            .tempfile_in(&self.folder)?;
        serde_json::to_writer(&mut file, &trusted)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(self.file(&project))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Trusts the file of `project` no longer. Returns whether it was trusted. The project itself may be gone.
    ///
    /// # Errors
    ///
    /// If the entry cannot be removed.
    pub fn withdraw(&self, project: &Path) -> io::Result<bool> {
        let project = project
            .canonicalize()
            .or_else(|_| std::path::absolute(project))?;
        match fs::remove_file(self.file(&project)) {
            Ok(()) => File::open(&self.folder)?.sync_all().map(|()| true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the trusted files, in the order of their paths.
    ///
    /// # Errors
    ///
    /// If the store exists and cannot be read, or with the first entry that cannot.
    pub fn list(&self) -> io::Result<Vec<Trusted>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "json") {
                let named = |error| io::Error::other(format!("{}: {error}", path.display()));
                all.push(self.entry(&path).map_err(named)?);
            }
        }
        all.sort_by(|one, other| one.project.cmp(&other.project));
        Ok(all)
    }

    fn file(&self, project: &Path) -> PathBuf {
        let name = sha256(project.as_os_str().as_bytes());
        self.folder.join(name).with_extension("json")
    }

    /// Reads an entry, which only the user may have written.
    fn entry(&self, path: &Path) -> io::Result<Trusted> {
        let own = rustix::process::geteuid().as_raw();
        for part in [&self.folder, path] {
            let meta = fs::symlink_metadata(part)?;
            if meta.uid() != own || meta.mode() & 0o022 != 0 {
                return Err(io::Error::other("others may write it"));
            }
        }
        let text = named_file::text(path, ENTRY_BYTES_MAX)?;
        Ok(serde_json::from_str(&text)?)
    }
}

fn sha256(bytes: &[u8]) -> String {
    journal::hex(&Sha256::digest(bytes))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn trust_is_in_a_path_and_a_content_until_it_is_withdrawn() {
        let top = tempfile::tempdir().unwrap();
        let (one, other) = (top.path().join("one"), top.path().join("other"));
        let linked = top.path().join("linked");
        fs::create_dir(&one).unwrap();
        fs::create_dir(&other).unwrap();
        symlink(&one, &linked).unwrap();
        let trust = Trust::of(&Home::under(&top.path().join("home")));
        assert_eq!(trust.list().unwrap(), []);
        assert!(!trust.withdraw(&one).unwrap());
        trust.trust(&linked, "a").unwrap();
        trust.trust(&one, "text").unwrap();
        let standing = |path, text| trust.standing(path, text);
        assert_eq!(standing(&one, "text"), Standing::Trusted);
        assert_eq!(standing(&linked, "text"), Standing::Trusted);
        assert_eq!(standing(&one, "text "), Standing::Changed);
        assert_eq!(standing(&other, "text"), Standing::Unknown);
        let listed = trust.list().unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].project, one.canonicalize().unwrap());
        assert_eq!(
            (mode(&trust.folder), mode(&trust.file(&listed[0].project))),
            (0o700, 0o600)
        );
        assert!(trust.withdraw(&one).unwrap());
        assert_eq!(standing(&one, "text"), Standing::Unknown);
    }

    #[test]
    fn an_entry_that_others_may_write_or_that_is_broken_counts_for_nothing() {
        let top = tempfile::tempdir().unwrap();
        let trust = Trust::of(&Home::under(&top.path().join("home")));
        let standing = || trust.standing(top.path(), "text");
        trust.trust(top.path(), "text").unwrap();
        let entry = trust.file(&trust.list().unwrap()[0].project);
        for (path, mode, good) in [(&trust.folder, 0o777, 0o700), (&entry, 0o620, 0o600)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(standing(), Standing::Unknown, "{}", path.display());
            fs::set_permissions(path, Permissions::from_mode(good)).unwrap();
            assert_eq!(standing(), Standing::Trusted);
        }
        let text = fs::read(&entry).unwrap();
        fs::write(&entry, &text[..text.len() / 2]).unwrap();
        assert_eq!(standing(), Standing::Unknown);
        assert!(trust.list().is_err());
    }
}
