//! The files of progress documents: one for each session, and the shared latest, which is a link to one of them. Every
//! file is replaced whole or not at all. The journal is the truth; these are for whoever reads files.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use checkpoint::digest;
use journal::ProgressKind;
use uuid::Uuid;

/// What a document's file is called below the data folder.
const STEM: &str = "progress-checkpoint";

/// Where the documents of a project are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    folder: PathBuf,
    stem: String,
    /// The folder that must not be left, whatever links there are.
    bounds: PathBuf,
}

impl Place {
    /// Below our own data folder.
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

    /// In the project, beside `path`, which is relative and ends in `.md`.
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

    /// Where the document of a session was that had this file. Our own folder may have moved since.
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

    /// Returns whether there is still a place: a project that is gone has none, our own folder is made where it is not.
    pub(super) fn is_there(&self, data: &Path) -> bool {
        self.bounds == data || self.bounds.is_dir()
    }

    /// Returns a session's file. An incremental document has one of its own, so that the full one stays.
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

    /// Makes the folder.
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
        // What a killed writer left behind; nobody else writes while we do.
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

    /// Writes a session's file and leads the shared one to it. Returns a note where the shared one is somebody's own.
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

    /// Leads the shared file to a session's. Returns a note where it is somebody's own.
    pub(super) fn point_to(&self, path: &Path) -> io::Result<Option<String>> {
        let latest = self.latest();
        if fs::symlink_metadata(&latest).is_ok_and(|meta| !meta.is_symlink()) {
            return Ok(Some(format!(
                "{} is a file of somebody's own and stays as it is",
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
