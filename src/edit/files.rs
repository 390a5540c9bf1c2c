//! Reads and writes other programs' files: follows links and keeps them, keeps mode, owner and
//! access lists, and replaces a file atomically, if the new one can be the same in all but content.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use actors::named_file::{self, Links};
use rustix::buffer::spare_capacity;
use rustix::fs::{Access, XattrFlags};

type Result<T> = std::result::Result<T, String>;

/// Mode of new files and folders: as private as the agents' own.
const NEW_FILE_MODE: u32 = 0o600;
const NEW_FOLDER_MODE: u32 = 0o700;
/// A longer chain of links is a circle.
const LINKS_MAX: usize = 40;
/// Prefix of temporary files.
pub(crate) const HALF_WRITTEN: &str = ".checkpointd-";
/// The most bytes of the names of a file's extended attributes, and of the value of each, on Linux.
const EXTENDED_BYTES_MAX: usize = 64 * 1024;
/// The most bytes of a file that is read.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reads a regular file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let target = target(path)?;
    // A FIFO or a device in a project would never end.
    let read = named_file::open(&target, Links::Follow).and_then(|(file, _)| {
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > FILE_BYTES_MAX {
            true => Err(std::io::Error::other("it is larger than 16 MiB")),
            false => Ok(bytes),
        }
    });
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

/// A text with or without a byte order mark.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    has_mark: bool,
    /// The text after the byte order mark.
    pub(crate) text: String,
}

impl Text {
    /// Decodes bytes; a missing file is an empty text.
    pub(crate) fn of(bytes: Option<&[u8]>, path: &Path) -> Result<Self> {
        let text = std::str::from_utf8(bytes.unwrap_or_default())
            .map_err(|_| format!("{} is not UTF-8 text; nothing was changed", path.display()))?;
        let bare = text.strip_prefix(BYTE_ORDER_MARK);
        Ok(Self {
            has_mark: bare.is_some(),
            text: bare.unwrap_or(text).to_owned(),
        })
    }

    /// Encodes another text in the same form.
    pub(crate) fn bytes(&self, text: &str) -> Vec<u8> {
        let mark = if self.has_mark { BYTE_ORDER_MARK } else { "" };
        [mark, text].concat().into_bytes()
    }
}

/// Decodes a file's bytes lossily, for display only.
pub(crate) fn text(bytes: Option<&[u8]>) -> String {
    let text = String::from_utf8_lossy(bytes.unwrap_or_default());
    let bare = text.strip_prefix(BYTE_ORDER_MARK);
    bare.unwrap_or(&text).to_owned()
}

/// Returns what a file holds as text; empty if there is none, or it cannot be read.
pub(crate) fn now(path: &Path) -> String {
    text(read(path).ok().flatten().as_deref())
}

/// Returns an error if a file is not writable, before anything is written.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    let target = target(path)?;
    if let Ok(meta) = target.metadata() {
        if !meta.is_file() {
            return Err(format!("{} is not a file", path.display()));
        }
        // Replacing it would work, but the user made it read-only.
        if meta.permissions().mode() & 0o222 == 0
            || rustix::fs::access(&target, Access::WRITE_OK).is_err()
        {
            let name = path.display().to_string();
            return Err(not_writable(&name, &meta, " (`chmod u+w`)"));
        }
    }
    let mut folders = target.ancestors().skip(1);
    let folder = folders.find(|folder| folder.exists());
    let folder = folder.unwrap_or(Path::new("/"));
    let failed = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    let meta = folder.metadata().map_err(failed)?;
    if meta.permissions().mode() & 0o222 == 0
        || rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_err()
    {
        let name = format!("the folder {}", folder.display());
        return Err(not_writable(&name, &meta, ""));
    }
    Ok(())
}

/// Says what to do: only the owner, and root, can change the mode.
fn not_writable(name: &str, meta: &Metadata, how: &str) -> String {
    let user = rustix::process::geteuid();
    if user.is_root() || meta.uid() == user.as_raw() {
        format!("{name} is read-only: make it writable{how} and try again")
    } else {
        let owner = meta.uid();
        format!("{name} belongs to uid {owner}, and you may not write to it")
    }
}

/// Writes a file and creates missing folders. Returns those. It is replaced atomically, unless other links lead to it or
/// a new one cannot have its owner, group or access list: then it is written in place.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<Vec<PathBuf>> {
    let target = target(path)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    let failed = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    let missing = folder.ancestors().take_while(|folder| !folder.exists());
    let made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    let mut private = DirBuilder::new();
    private.recursive(true).mode(NEW_FOLDER_MODE);
    private.create(folder).map_err(failed)?;
    let mut hidden = tempfile::Builder::new();
    let file = hidden.prefix(HALF_WRITTEN).tempfile_in(folder);
    let mut file = file.map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    match File::open(&target) {
        Ok(there) => {
            if !make_alike(file.as_file(), &there).map_err(failed)? {
                // Its space may be needed.
                drop(file);
                return overwrite(&target, bytes).map(|()| made).map_err(failed);
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let private = Permissions::from_mode(NEW_FILE_MODE);
            file.as_file().set_permissions(private).map_err(failed)?;
        }
        Err(error) => return Err(failed(error)),
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    // The rename is durable only after the folder's sync; if that is unsupported, the system
    // decides when.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(made)
}

/// What a file has besides its content.
#[derive(PartialEq)]
struct Attributes {
    owner: (u32, u32),
    mode: u32,
    /// Access lists are among them.
    extended: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Attributes {
    fn of(file: &File) -> std::io::Result<Self> {
        let meta = file.metadata()?;
        let mut names = Vec::with_capacity(EXTENDED_BYTES_MAX);
        // Not every file system has them.
        let _ = rustix::fs::flistxattr(file, spare_capacity(&mut names));
        let mut extended = BTreeMap::new();
        for name in names.split(|byte| *byte == 0).filter(|it| !it.is_empty()) {
            let mut value = Vec::with_capacity(EXTENDED_BYTES_MAX);
            rustix::fs::fgetxattr(file, name, spare_capacity(&mut value))?;
            extended.insert(name.to_owned(), value);
        }
        Ok(Self {
            owner: (meta.uid(), meta.gid()),
            mode: meta.permissions().mode() & 0o7777,
            extended,
        })
    }
}

/// Gives a file what another one has besides its content. Returns whether it can take that one's place.
fn make_alike(file: &File, there: &File) -> std::io::Result<bool> {
    let wanted = Attributes::of(there)?;
    // What is not allowed shows below.
    let (user, group) = wanted.owner;
    let _ = std::os::unix::fs::fchown(file, Some(user), Some(group));
    file.set_permissions(Permissions::from_mode(wanted.mode))?;
    for (name, value) in &wanted.extended {
        let _ = rustix::fs::fsetxattr(file, name.as_slice(), value, XattrFlags::empty());
    }
    Ok(there.metadata()?.nlink() == 1 && Attributes::of(file)? == wanted)
}

/// Writes a file in place. What it held comes back if that fails, for example on a full disk.
fn overwrite(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let before = fs::read(path)?;
    let mut file = File::options().write(true).open(path)?;
    let mut put = |bytes: &[u8]| {
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    put(bytes).inspect_err(|_| {
        let _ = put(&before);
    })
}

/// Removes a file; a link to it stays.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(target(path)?) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Refuses a path in a project that leads out of it by a link: a clone brings its own links.
pub(crate) fn refuse_outside(top: &Path, path: &Path) -> Result<()> {
    let end = target(path)?;
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    let real = end.ancestors().find(is_there).map(Path::canonicalize);
    let is_inside = match (top.canonicalize(), real) {
        (Ok(top), Some(Ok(real))) => real.starts_with(top),
        _ => false,
    };
    if is_inside {
        return Ok(());
    }
    let path = path.display();
    let problem = format!("{path} leads out of the project by a link; nothing was changed");
    Err(problem)
}

/// Follows links, also to a path that does not exist yet.
fn target(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(format!("{} is a circular link", path.display()))
}
