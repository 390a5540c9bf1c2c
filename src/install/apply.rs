//! Applies a plan completely or not at all. The record is written before the files, so after a
//! crash it lists at least everything that was written.

use std::fs;
use std::path::PathBuf;

use journal::Home;

use super::change::{Change, digest};
use super::record::{self, Record, Written};
use crate::edit::files;

type Result<T> = std::result::Result<T, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
}

pub(crate) fn apply(home: &Home, changes: &[Change], way: Way) -> Result<()> {
    if way == Way::In && changes.iter().all(|change| !change.is_needed()) {
        return Ok(());
    }
    if way == Way::Out && !home.installed.exists() {
        return write_all(changes).map(drop);
    }
    let _lock = record::lock(home)?;
    let earlier = Record::load(home)?;
    let mut record = earlier.clone();
    let needed = || changes.iter().filter(|change| change.is_needed());
    for change in needed() {
        files::check_writable(&change.path)?;
    }
    if way == Way::In {
        for change in needed() {
            note(home, &mut record, change)?;
        }
        record.save(home)?;
    }
    let folders = write_all(changes).inspect_err(|_| {
        // Unwritten files need no entry; if the record cannot be written back, it lists too much,
        // which is harmless.
        let _ = earlier.save(home);
    })?;
    match way {
        Way::In => {
            for (change, made) in needed().zip(folders) {
                if let Some(written) = record.files.get_mut(&change.path) {
                    written.folders.extend(made);
                }
            }
        }
        Way::Out => {
            let all = changes.iter();
            let gone = all.filter_map(|change| record.files.remove(&change.path));
            remove_folders(gone.flat_map(|written| written.folders).collect());
        }
    }
    record.save(home)
}

/// Removes empty folders, inner ones first; others hold the user's files.
fn remove_folders(mut folders: Vec<PathBuf>) {
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}

fn note(home: &Home, record: &mut Record, change: &Change) -> Result<()> {
    let before = change.without_us.as_deref();
    let before = before.map(|bytes| record::keep(home, bytes)).transpose()?;
    let known = record.files.get(&change.path);
    let folders = known.map(|written| written.folders.clone());
    let folders = folders.unwrap_or_default();
    let wrote = digest(change.after.as_deref().unwrap_or_default());
    let written = Written {
        agent: change.agent,
        kind: change.kind,
        wrote,
        before,
        folders,
    };
    record.files.insert(change.path.clone(), written);
    Ok(())
}

/// Writes all files, or restores those already written. Returns the folders created for each.
fn write_all(changes: &[Change]) -> Result<Vec<Vec<PathBuf>>> {
    let needed: Vec<&Change> = changes.iter().filter(|change| change.is_needed()).collect();
    for change in &needed {
        files::check_writable(&change.path)?;
    }
    let mut made = Vec::new();
    for (number, change) in needed.iter().enumerate() {
        let written = write_one(change, change.before.as_deref(), change.after.as_deref());
        match written {
            Ok(folders) => made.push(folders),
            Err(error) => {
                for done in needed[..number].iter().rev() {
                    let back = write_one(done, done.after.as_deref(), done.before.as_deref());
                    if let Err(second) = back {
                        return Err(format!(
                            "{error}; and the earlier changes could not be undone: {second}"
                        ));
                    }
                }
                remove_folders(made.into_iter().flatten().collect());
                return Err(error);
            }
        }
    }
    Ok(made)
}

fn write_one(change: &Change, from: Option<&[u8]>, to: Option<&[u8]>) -> Result<Vec<PathBuf>> {
    if files::read(&change.path)?.as_deref() != from {
        return Err(format!(
            "{} was changed by another program just now: try again",
            change.path.display()
        ));
    }
    match to {
        Some(bytes) => files::write(&change.path, bytes),
        None => files::remove(&change.path).map(|()| Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use journal::Agent;

    use super::super::change::Kind;
    use super::*;

    #[test]
    fn where_one_file_cannot_be_written_the_others_are_as_they_were() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::under(&folder.path().join("own"));
        let change = |name: &str, before: Option<&str>| Change {
            agent: Agent::Claude,
            kind: Kind::Settings,
            path: folder.path().join(name),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: Some(b"new".to_vec()),
            without_us: None,
            entries: Vec::new(),
        };
        fs::write(folder.path().join("first"), "old").expect("writes");
        fs::write(
            folder.path().join("third"),
            "changed since it was looked at",
        )
        .expect("writes");
        let changes = [
            change("first", Some("old")),
            change("made/second", None),
            change("third", Some("old")),
        ];
        let error = apply(&home, &changes, Way::In).expect_err("the third has changed");
        assert!(
            error.contains("was changed by another program just now"),
            "{error}"
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("first")).expect("readable"),
            "old"
        );
        assert!(!folder.path().join("made").exists());
        assert!(Record::load(&home).expect("readable").files.is_empty());
    }
}
