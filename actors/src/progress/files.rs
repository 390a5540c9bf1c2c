//! The files of progress documents: one per session, and a link to the latest one. Files are replaced atomically. The
//! journal is authoritative; the files are for people and agents.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use checkpoint::digest;
use journal::ProgressKind;
use uuid::Uuid;

/// First part of the names of documents in the data folder.
const STEM: &str = "progress-checkpoint";

/// The folder of a project's documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    folder: PathBuf,
    stem: String,
    /// Links must not lead out of this folder.
    bounds: PathBuf,
}

impl Place {
    /// Returns the project's place in checkpointd's data folder.
    pub(super) fn in_data(data: &Path, project: &str) -> Self {
        let name: String = project
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect();
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let folder = data.join(format!("{plain}-{:016x}", digest::of_text(project)));
        Self {
            folder,
            stem: STEM.into(),
            bounds: data.to_owned(),
        }
    }

    /// Returns the place in the project, beside the relative `path`, which ends in `.md`.
    pub(super) fn in_project(project: &str, path: &str) -> Self {
        let latest = Path::new(project).join(path);
        let stem = latest
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Self {
            folder: latest.parent().unwrap_or(Path::new(project)).to_owned(),
            stem,
            bounds: project.into(),
        }
    }

    /// Returns the place of a session's document from the path of its file. The data folder may have moved since.
    pub(super) fn of_file(file: &Path, session: Uuid, project: &str, data: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let own = name.split_once(&format!("-{session}."));
        match (file.strip_prefix(project), own) {
            (Ok(path), Some((stem, _))) if !file.starts_with(data) => Self::in_project(
                project,
                &path.with_file_name(format!("{stem}.md")).to_string_lossy(),
            ),
            _ => Self::in_data(data, project),
        }
    }

    /// Returns whether documents can be written here: the project exists, or the place is in the data folder, which is
    /// created if necessary.
    pub(super) fn is_available(&self, data: &Path) -> bool {
        self.bounds == data || self.bounds.is_dir()
    }

    /// Returns a session's file. An incremental document has a file of its own and leaves the full one in place.
    pub(super) fn file(&self, session: Uuid, kind: ProgressKind) -> PathBuf {
        let end = if kind == ProgressKind::Incremental {
            ".incremental.md"
        } else {
            ".md"
        };
        self.folder.join(format!("{}-{session}{end}", self.stem))
    }

    /// Returns the link to the latest document.
    pub(super) fn latest(&self) -> PathBuf {
        self.folder.join(format!("{}.md", self.stem))
    }

    /// Creates the folder, and removes temporary files that a killed writer left there.
    pub(super) fn prepare(&self) -> io::Result<()> {
        if self.folder.starts_with(&self.bounds) && self.bounds.is_dir() {
            // A link in the project may lead anywhere.
            let there = self
                .folder
                .ancestors()
                .find(|above| above.exists())
                .unwrap_or(&self.bounds);
            if !there
                .canonicalize()?
                .starts_with(self.bounds.canonicalize()?)
            {
                return Err(io::Error::other(format!(
                    "{} leads out of the project",
                    there.display()
                )));
            }
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.folder)?;
        // No other writer is active now, so these files belong to a killed one.
        let unfinished = self.unfinished();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&unfinished) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    fn unfinished(&self) -> String {
        format!(".{}.unfinished-", self.stem)
    }

    /// Writes a session's file, and points the link to it if `is_latest` is set. Returns a note if the user's own file has
    /// the link's name.
    pub(super) fn write(
        &self,
        path: &Path,
        text: &str,
        is_latest: bool,
    ) -> io::Result<Option<String>> {
        let mut file = tempfile::Builder::new()
            .prefix(&self.unfinished())
            .tempfile_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        let note = if is_latest {
            self.point_to(path)?
        } else {
            None
        };
        File::open(&self.folder)?.sync_all()?;
        Ok(note)
    }

    /// Points the link to a session's file. Returns a note if the user's own file has the link's name.
    pub(super) fn point_to(&self, path: &Path) -> io::Result<Option<String>> {
        let latest = self.latest();
        if fs::symlink_metadata(&latest).is_ok_and(|meta| !meta.is_symlink()) {
            return Ok(Some(format!(
                "{} is not a link of checkpointd and was left unchanged",
                latest.display()
            )));
        }
        let link = self.folder.join(format!("{}link", self.unfinished()));
        let _ = fs::remove_file(&link);
        symlink(path.file_name().unwrap_or_default(), &link)?;
        fs::rename(&link, &latest)?;
        Ok(None)
    }
}
