//! What a disk holds after a power cut, from a record of a process's system calls.
//!
//! The model is the strictest that POSIX allows: bytes of a file are on the disk once an fsync or fdatasync of that file
//! has returned that began after they were written, or once they were written with `O_SYNC`, and a name is in its folder
//! once that folder was synced. Of all else a cut may take everything, nothing, or any part: see [`Keeps`].

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;

/// What the disk keeps of unsynced data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing.
    Nothing,
    /// All names, no bytes.
    Names,
    /// A part of the names, and of each file a part: appended bytes up to some place in a write (file systems let a file
    /// grow in order: ext4 with `data=ordered`, XFS, btrfs), and any of the writes elsewhere in it, some torn.
    Some,
    /// Everything.
    All,
}

enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Length(usize),
}

#[derive(Default)]
struct File {
    changes: Vec<Change>,
    synced: usize,
    /// Opened with `O_SYNC`: a write that has returned is on the disk.
    syncs: bool,
}

/// A file or folder, by what its name refers to.
#[derive(Clone, Copy)]
enum Node {
    File(usize),
    Folder,
}

#[derive(Default)]
struct Folder {
    /// Names that came or went, in order; the new meaning of each.
    changes: Vec<(PathBuf, Option<Node>)>,
    synced: usize,
}

/// The files below one folder, with their whole history.
pub struct Disk {
    root: PathBuf,
    names: BTreeMap<PathBuf, Node>,
    files: Vec<File>,
    folders: HashMap<PathBuf, Folder>,
    /// Calls that began and have not ended: what they say, and for a sync, what it can reach.
    begun: HashMap<u64, (String, Reach)>,
}

/// How much a sync covers: the data at its beginning.
#[derive(Clone, Copy)]
enum Reach {
    File(usize, usize),
    Folder(usize),
    Nothing,
}

/// The meaning of a line of the record.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// A sync has ended.
    Synced,
    /// These bytes went to something that is not a file of the disk, a socket for example.
    Sent(Vec<u8>),
    /// Anything else.
    Else,
}

/// Returns the bytes behind `\x..` escapes.
fn unescape(text: &str) -> Vec<u8> {
    text.split("\\x")
        .skip(1)
        .filter_map(|digits| u8::from_str_radix(digits.get(..2)?, 16).ok())
        .collect()
}

fn path_of(text: &str) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&unescape(text)).into_owned())
}

fn quoted(call: &str) -> Vec<&str> {
    call.split('"').skip(1).step_by(2).collect()
}

/// The path that a call names; one that is relative begins at the call's folder.
fn path_in(call: &str, text: &str) -> PathBuf {
    let path = path_of(text);
    match descriptor(call) {
        Some(folder) if path.is_relative() => folder.join(path),
        _ => path,
    }
}

/// The path of the descriptor that a call begins with.
fn descriptor(call: &str) -> Option<PathBuf> {
    let (_, rest) = call.split_once('(')?;
    let (number, rest) = rest.split_once('<')?;
    (!number.contains([',', '"'])).then(|| path_of(rest.split('>').next().unwrap_or_default()))
}

/// The numbers behind the last string of a call: its length and, where there is one, its offset.
fn numbers(call: &str) -> Vec<usize> {
    let rest = call.rsplit_once(") = ").map_or(call, |(call, _)| call);
    let rest = rest.rsplit_once('"').map_or(rest, |(_, rest)| rest);
    rest.split([',', ' '])
        .filter_map(|word| word.parse().ok())
        .collect()
}

impl Disk {
    /// Begins with an empty folder; `calls` that may be in a record of it are those that [`Disk::TRACE`] names.
    pub fn new(root: &Path) -> Self {
        let (names, files, folders, begun) = Default::default();
        Self {
            root: root.to_owned(),
            names,
            files,
            folders,
            begun,
        }
    }

    /// The system calls that change files, and those by which a daemon answers.
    pub const TRACE: &str = "trace=?open,openat,?creat,write,pwrite64,writev,?pwritev,?pwritev2,fsync,fdatasync,\
        sync_file_range,?rename,?renameat,renameat2,?unlink,unlinkat,?rmdir,ftruncate,truncate,fallocate,?mkdir,mkdirat,\
        ?link,linkat,sendto,sendmsg";

    /// Processes the next line of the record.
    pub fn line(&mut self, line: &str) -> Seen {
        let Some((process, rest)) = line.trim_start().split_once(' ') else {
            return Seen::Else;
        };
        let Some((_, call)) = rest.trim_start().split_once(' ') else {
            return Seen::Else;
        };
        let (process, call) = (process.parse().unwrap_or_default(), call.trim_start());
        if let Some(call) = call.strip_suffix(" <unfinished ...>") {
            let reach = self.reach(call);
            self.begun.insert(process, (call.to_owned(), reach));
            return Seen::Else;
        }
        if let Some((_, end)) = call
            .split_once(" resumed>")
            .filter(|_| call.starts_with("<... "))
        {
            let Some((begin, reach)) = self.begun.remove(&process) else {
                return Seen::Else;
            };
            return self.ended(&format!("{begin}{end}"), reach);
        }
        let reach = self.reach(call);
        self.ended(call, reach)
    }

    fn reach(&self, call: &str) -> Reach {
        if !call.starts_with("fsync(") && !call.starts_with("fdatasync(") {
            return Reach::Nothing;
        }
        let Some(path) = descriptor(call) else {
            return Reach::Nothing;
        };
        match self.names.get(&path) {
            Some(Node::File(file)) => Reach::File(*file, self.files[*file].changes.len()),
            _ => Reach::Folder(
                self.folders
                    .get(&path)
                    .map_or(0, |folder| folder.changes.len()),
            ),
        }
    }

    fn name(&mut self, path: &Path, node: Option<Node>) {
        if !path.starts_with(&self.root) {
            return;
        }
        match node {
            Some(node) => drop(self.names.insert(path.to_owned(), node)),
            None => drop(self.names.remove(path)),
        }
        let folder = path.parent().expect("below the root").to_owned();
        self.folders
            .entry(folder)
            .or_default()
            .changes
            .push((path.to_owned(), node));
    }

    /// What is below a folder comes along when it is renamed.
    fn move_folder(&mut self, from: &Path, to: &Path) {
        let moved = |path: &Path| {
            let below = path.strip_prefix(from).ok()?;
            Some(to.join(below))
        };
        let names = std::mem::take(&mut self.names).into_iter();
        self.names = names
            .map(|(path, node)| (moved(&path).unwrap_or(path), node))
            .collect();
        let folders = std::mem::take(&mut self.folders).into_iter();
        self.folders = folders
            .map(|(path, mut folder)| {
                let Some(path) = moved(&path) else {
                    return (path, folder);
                };
                for (name, _) in &mut folder.changes {
                    if let Some(now) = moved(name) {
                        *name = now;
                    }
                }
                (path, folder)
            })
            .collect();
    }

    fn file(&mut self, call: &str) -> Option<&mut File> {
        match self.names.get(&descriptor(call)?)? {
            Node::File(file) => Some(&mut self.files[*file]),
            Node::Folder => None,
        }
    }

    fn ended(&mut self, call: &str, reach: Reach) -> Seen {
        let Some((begin, result)) = call.rsplit_once(" = ") else {
            return Seen::Else;
        };
        if result.starts_with('-') || result.starts_with('?') {
            return Seen::Else;
        }
        let name = call.split('(').next().unwrap_or_default();
        match name {
            "open" | "openat" | "creat" => self.opened(begin),
            "write" | "pwrite64" | "writev" | "sendto" | "sendmsg" => {
                return self.written(name, begin, result);
            }
            "ftruncate" => {
                let length = numbers(begin.trim_end_matches(')')).pop().unwrap_or(0);
                if let Some(file) = self.file(call) {
                    file.changes.push(Change::Length(length));
                }
            }
            "rename" | "renameat" | "renameat2" => {
                let paths: Vec<_> = quoted(begin).into_iter().map(path_of).collect();
                let node = self.names.get(&paths[0]).copied();
                self.name(&paths[0], None);
                if matches!(node, Some(Node::Folder)) {
                    self.move_folder(&paths[0], &paths[1]);
                }
                self.name(&paths[1], node);
            }
            "unlink" | "unlinkat" | "rmdir" => {
                let path = path_in(begin, quoted(begin)[0]);
                if let Some(node) = self.names.get(&path).copied() {
                    self.name(&path, None);
                    // The next folder of this name is another one.
                    if matches!(node, Node::Folder) {
                        self.folders.remove(&path);
                    }
                }
            }
            "mkdir" | "mkdirat" => self.name(&path_of(quoted(begin)[0]), Some(Node::Folder)),
            "fsync" | "fdatasync" => return self.synced(call, reach),
            "sync_file_range" => {}
            // It reserves room, and changes neither content nor size.
            "fallocate" if call.contains("FALLOC_FL_KEEP_SIZE") => {}
            other => panic!("the model has no {other}: {}", &call[..call.len().min(200)]),
        }
        Seen::Else
    }

    fn opened(&mut self, call: &str) {
        let Some(path) = quoted(call).first().map(|text| path_in(call, text)) else {
            return;
        };
        if !path.starts_with(&self.root) {
            return;
        }
        if !self.names.contains_key(&path) && call.contains("O_CREAT") {
            self.files.push(File::default());
            self.name(&path, Some(Node::File(self.files.len() - 1)));
        }
        let Some(Node::File(file)) = self.names.get(&path).copied() else {
            return;
        };
        let file = &mut self.files[file];
        if call.contains("O_WRONLY") || call.contains("O_RDWR") {
            file.syncs = call.contains("O_SYNC") || call.contains("O_DSYNC");
        }
        if call.contains("O_TRUNC") {
            file.changes.push(Change::Length(0));
        }
    }

    fn written(&mut self, name: &str, call: &str, result: &str) -> Seen {
        let mut bytes: Vec<u8> = quoted(call).into_iter().flat_map(unescape).collect();
        let length = result
            .split(' ')
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0);
        bytes.truncate(length);
        let offset = if name == "pwrite64" {
            numbers(call.trim_end_matches(')')).pop()
        } else {
            None
        };
        let Some(file) = self.file(call) else {
            return Seen::Sent(bytes);
        };
        assert_eq!(bytes.len(), length, "the record is cut");
        let at = offset.unwrap_or_else(|| length_of(&file.changes));
        file.changes.push(Change::Write { at, bytes });
        if file.syncs {
            file.synced = file.changes.len();
            return Seen::Synced;
        }
        Seen::Else
    }

    fn synced(&mut self, call: &str, reach: Reach) -> Seen {
        match reach {
            Reach::File(file, changes) => {
                self.files[file].synced = self.files[file].synced.max(changes)
            }
            Reach::Folder(changes) => {
                let path = descriptor(call).unwrap_or_default();
                let folder = self.folders.entry(path).or_default();
                folder.synced = folder.synced.max(changes);
            }
            Reach::Nothing => {}
        }
        Seen::Synced
    }

    /// Writes what is left after a cut at this moment into `target`.
    pub fn cut(&self, target: &Path, keeps: Keeps, dice: &mut Rng) {
        self.lay_out(&self.root, target, keeps, dice);
    }

    fn lay_out(&self, from: &Path, to: &Path, keeps: Keeps, dice: &mut Rng) {
        fs::create_dir_all(to).expect("a folder");
        let Some(folder) = self.folders.get(from) else {
            return;
        };
        let all = folder.changes.len();
        let kept = match keeps {
            Keeps::Nothing => folder.synced,
            Keeps::Some => folder.synced + dice.usize(..all - folder.synced + 1),
            Keeps::Names | Keeps::All => all,
        };
        let mut names = BTreeMap::new();
        for (path, node) in &folder.changes[..kept] {
            names.insert(path, *node);
        }
        for (path, node) in names
            .into_iter()
            .filter_map(|(path, node)| Some((path, node?)))
        {
            let target = to.join(path.file_name().expect("a name"));
            match node {
                Node::Folder => self.lay_out(path, &target, keeps, dice),
                Node::File(file) => {
                    fs::write(&target, left_of(&self.files[file], keeps, dice)).expect("written")
                }
            }
        }
    }
}

fn contents<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Vec<u8> {
    let mut all = Vec::new();
    for change in changes {
        match change {
            Change::Length(length) => all.resize(*length, 0),
            Change::Write { at, bytes } => {
                all.resize(all.len().max(at + bytes.len()), 0);
                all[*at..at + bytes.len()].copy_from_slice(bytes);
            }
        }
    }
    all
}

fn length_of(changes: &[Change]) -> usize {
    changes.iter().fold(0, |length, change| match change {
        Change::Length(length) => *length,
        Change::Write { at, bytes } => length.max(at + bytes.len()),
    })
}

fn left_of(file: &File, keeps: Keeps, dice: &mut Rng) -> Vec<u8> {
    let (synced, rest) = file.changes.split_at(file.synced);
    match keeps {
        Keeps::Nothing | Keeps::Names => contents(synced),
        Keeps::All => contents(&file.changes),
        Keeps::Some => {
            let mut end = contents(synced).len();
            let last = dice.usize(..rest.len() + 1);
            let parts = rest.iter().enumerate().filter_map(|(number, change)| {
                let is_append = matches!(change, Change::Write { at, .. } if *at >= end);
                if let Change::Write { at, bytes } = change {
                    end = end.max(at + bytes.len());
                }
                match (is_append, number.cmp(&last)) {
                    (true, Ordering::Less) => Some(change.part(1.0)),
                    (true, Ordering::Greater) => None,
                    _ => (dice.usize(..3) > 0)
                        .then(|| change.part(dice.usize(..1000) as f64 / 999.0)),
                }
            });
            let parts: Vec<Change> = parts.collect();
            contents(synced.iter().chain(&parts))
        }
    }
}

impl Change {
    /// Returns the first part of a write.
    fn part(&self, share: f64) -> Self {
        match self {
            Self::Length(length) => Self::Length(*length),
            Self::Write { at, bytes } => {
                let length = (bytes.len() as f64 * share) as usize;
                Self::Write {
                    at: *at,
                    bytes: bytes[..length].to_vec(),
                }
            }
        }
    }
}
