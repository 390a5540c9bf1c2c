//! What git says of a repository: where it is, and what its configuration says.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::listing;
use super::parse::{self, Setting};
use super::private::{Left, common_dir};

/// Settings that are taken over: how files are compared, where lists of ignored files are, how the repository is stored,
/// and which branch follows which. None names a program.
const SETTINGS: [&str; 22] = [
    "core.attributesfile",
    "core.autocrlf",
    "core.bigfilethreshold",
    "core.checkstat",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.protecthfs",
    "core.protectntfs",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "diff.ignoresubmodules",
    "extensions.objectformat",
    "extensions.refstorage",
    "index.sparse",
];
/// Like [`SETTINGS`], with a name between the two words.
const NAMED_SETTINGS: [(&str, &str); 4] = [
    ("submodule", "ignore"),
    ("branch", "remote"),
    ("branch", "merge"),
    ("remote", "fetch"),
];
/// What is set for each filter that is not run. `required` would make a missing program an error.
const FILTER_SETTINGS: [(&[u8], &[u8]); 4] = [
    (b"clean", b""),
    (b"smudge", b""),
    (b"process", b""),
    (b"required", b"false"),
];

/// What git says of a repository: where it is, and what its configuration says.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) git_dir: PathBuf,
    /// The top of the work tree.
    pub(super) top: PathBuf,
    /// The names of the filters that the repository's configuration defines, which are not run.
    pub(super) filters: Vec<String>,
    /// The repository that this one is a clone of.
    pub(super) remote: Option<String>,
    /// The git directory that all its work trees share.
    pub(super) common_dir: Option<String>,
    /// The files that were listed last.
    pub(super) listing: listing::Last,
    /// The private folder that the last look left.
    pub(super) folder: Left,
    /// The configuration of private folders.
    pub(super) config: Vec<u8>,
}

impl Found {
    pub(super) fn new((git_dir, top): (&[u8], &[u8]), settings: &[Setting<'_>]) -> Self {
        let path = |bytes: &[u8]| Path::new(OsStr::from_bytes(bytes)).to_owned();
        let filters = filters(settings);
        let git_dir = path(git_dir);
        let common = common_dir(&git_dir).canonicalize();
        Self {
            common_dir: common.ok().map(|path| path.to_string_lossy().into_owned()),
            git_dir,
            top: path(top),
            config: config(settings, &filters),
            filters: filters
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect(),
            remote: remote(settings),
            listing: listing::Last::default(),
            folder: Left::default(),
        }
    }
}

/// Returns the repository that this one is a clone of: its `origin`, else the first remote that names one.
fn remote(settings: &[Setting<'_>]) -> Option<String> {
    let mut first = None;
    for Setting { key, value, .. } in settings {
        let Some((b"remote", Some(name), b"url")) = parse::key(key) else {
            continue;
        };
        let url = value.and_then(|value| std::str::from_utf8(value).ok());
        let found = url.and_then(checkpoint::project::remote);
        if name == b"origin" && found.is_some() {
            return found;
        }
        first = first.or(found);
    }
    first
}

/// Returns the names of the filters that must not run, because the repository's own configuration defines them or, for
/// git-lfs, gives them programs to run.
fn filters<'a>(settings: &[Setting<'a>]) -> BTreeSet<&'a [u8]> {
    let own = settings.iter().filter(|setting| !setting.is_of_user);
    own.filter_map(|setting| match setting.key {
        key if key.starts_with(b"lfs.extension.") => Some(&b"lfs"[..]),
        key => Some(parse::split_key(key.strip_prefix(b"filter.")?)?.0),
    })
    .collect()
}

/// Renders the configuration of the private folder.
///
/// Git reads the user's own configuration too. It is repeated here because parts of it may apply only to repositories in
/// certain folders, and the private one is in none of them.
fn config(settings: &[Setting<'_>], filters: &BTreeSet<&[u8]>) -> Vec<u8> {
    let mut text = b"[core]\n\trepositoryformatversion = 1\n\tbare = false\n".to_vec();
    for Setting {
        key,
        value,
        is_of_user,
        ..
    } in settings
    {
        let Some((section, name, variable)) = parse::key(key) else {
            continue;
        };
        let is_named =
            |known: &(&str, &str)| known.0.as_bytes() == section && known.1.as_bytes() == variable;
        let is_taken = match name {
            None => SETTINGS.iter().any(|known| known.as_bytes() == *key),
            Some(_) => NAMED_SETTINGS.iter().any(is_named) || *is_of_user && section == b"filter",
        };
        if is_taken {
            set(&mut text, section, name, variable, *value);
        }
    }
    for name in filters {
        for (variable, value) in FILTER_SETTINGS {
            set(&mut text, b"filter", Some(name), variable, Some(value));
        }
    }
    text
}

/// Adds a setting in the form of git's configuration files. Without a value it is true.
fn set(
    text: &mut Vec<u8>,
    section: &[u8],
    name: Option<&[u8]>,
    variable: &[u8],
    value: Option<&[u8]>,
) {
    text.push(b'[');
    text.extend(section);
    if let Some(name) = name {
        text.push(b' ');
        quote(text, name);
    }
    text.extend(b"]\n\t");
    text.extend(variable);
    if let Some(value) = value {
        text.extend(b" = ");
        quote(text, value);
    }
    text.push(b'\n');
}

fn quote(text: &mut Vec<u8>, value: &[u8]) {
    text.push(b'"');
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
}
