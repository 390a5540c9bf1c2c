//! Backup, restore, rebuilding and compaction.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use journal::{Journal, Retention, codec};

use crate::all;

mod backup;
mod compaction;
mod rest;
mod store;

const DROP_ALL: Retention = Retention {
    payloads: Some(Duration::ZERO),
    kinds: Vec::new(),
};

/// All lines of an export.
fn exported(journal: &Journal) -> Vec<String> {
    let line = |envelope: journal::Envelope| {
        let payload = journal.kept_payload(envelope.seq).expect("reads");
        codec::to_export(&envelope, &payload).to_string()
    };
    all(journal).into_iter().map(line).collect()
}

fn is_whole(journal: &Journal) -> u64 {
    let verified = journal.verify(|_, _| ()).expect("runs");
    assert!(verified.ok, "{verified:?}");
    verified.payloads_dropped
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let read = |path: PathBuf| (path.clone(), fs::read(&path).expect("readable"));
    fs::read_dir(dir)
        .expect("listed")
        .map(|entry| read(entry.expect("an entry").path()))
        .collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from)
        .expect("listed")
        .map(|entry| entry.expect("an entry"))
    {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to)
        } else {
            fs::copy(&path, &to).map(drop).expect("copies")
        }
    }
}
