//! Commits that the turn made and left: on a branch that it pushed and went away from, without a branch, or in a linked
//! work tree that is gone (spec FILES-4). Their files are judged by what the commits hold.
//!
//! Nothing is asked if no ref was written since the turn began.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use checkpoint::digest;
use checkpoint::state::Head;
use journal::{ChangedFile, Timestamp};

use super::command::words;
use super::private::common_dir;
use super::request::Request;
use super::view::View;
use super::{before, head, parse, times};
use crate::named_file;

/// The most refs that are looked at, the newest first.
const REFS_MAX: usize = 64;
/// The most folders of refs that are looked at.
const FOLDERS_MAX: usize = 512;
/// The longest record of a ref's positions that is read, in bytes.
const RECORD_BYTES_MAX: u64 = 1024 * 1024;
/// The most files of such commits.
const FILES_MAX: usize = 200;

/// A commit that may be the turn's, and where its branch was before.
struct Tip {
    commit: String,
    before: Option<String>,
}

/// Returns the files of the commits that the turn made and left, with their contents there, but for those that hold what
/// their branch or the work tree holds.
pub(super) fn files(
    view: &View,
    wanted: &Request,
    now: Option<&[u8]>,
    hash: impl FnMut(&[u8]) -> Option<u64>,
    deadline: Instant,
) -> Vec<ChangedFile> {
    let (Some(head), Some(since)) = (&wanted.head, wanted.since) else {
        return Vec::new();
    };
    if !is_written(view, since) {
        return Vec::new();
    }
    let tips = tips(view, head, head::second(since), now, deadline);
    if tips.is_empty() {
        return Vec::new();
    }
    let named = named(view, head, wanted, &tips, deadline);
    contents(view, named, hash, deadline)
}

/// Returns whether HEAD or a ref was written since a time.
fn is_written(view: &View, since: Timestamp) -> bool {
    let git_dir = &view.found.git_dir;
    let common = common_dir(git_dir);
    let is_new = |path: &Path| {
        let changed = |meta| times::changed(&meta).plus(times::tick(&meta)) >= since;
        fs::symlink_metadata(path).is_ok_and(changed)
    };
    // A ref is written beside its place, and then moved there.
    let mut folders = vec![common.join("refs/heads"), common.join("refs/remotes")];
    let mut looked = 0;
    while let Some(folder) = folders.pop() {
        looked += 1;
        if looked > FOLDERS_MAX || is_new(&folder) {
            return true;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
    let others = ["packed-refs", "reftable"].map(|name| common.join(name));
    is_new(&git_dir.join("logs/HEAD")) || others.iter().any(|path| is_new(path))
}

/// Returns the commits of other refs, and those where HEAD was in between, that the turn may have made.
fn tips(view: &View, head: &Head, second: i64, now: Option<&[u8]>, deadline: Instant) -> Vec<Tip> {
    let call = words(&format!(
        "for-each-ref --count={REFS_MAX} --sort=-committerdate \
         --format=%(committerdate:unix)%00%(objectname)%00%(refname) refs/heads refs/remotes"
    ));
    let answer = view.ask(call, deadline);
    let answer = answer.map_or_else(Vec::new, |output| output.stdout);
    let common = common_dir(&view.found.git_dir);
    let mut tips = Vec::new();
    for line in String::from_utf8_lossy(&answer).lines() {
        let mut cells = line.split('\0');
        let (Some(at), Some(commit), Some(name)) = (cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        if at.parse::<i64>().is_ok_and(|at| at >= second) {
            let record = record(&common.join("logs").join(name));
            // What a remote branch got by a fetch is others' work.
            let is_own = name.starts_with("refs/heads/")
                || record
                    .last()
                    .is_some_and(|last| last.what == "update by push");
            let before = record.iter().rev().find(|entry| entry.second < second);
            tips.extend(is_own.then(|| Tip {
                commit: commit.to_owned(),
                before: before.map(|entry| entry.commit.clone()),
            }));
        }
    }
    let made = record(&view.found.git_dir.join("logs/HEAD"));
    let made = made
        .into_iter()
        .rev()
        .take_while(|entry| entry.second >= second);
    let made = made.filter(|entry| entry.what.starts_with("commit"));
    tips.extend(made.take(REFS_MAX).map(|entry| Tip {
        commit: entry.commit,
        before: None,
    }));
    let mut known: HashSet<&str> = head.tips.iter().map(String::as_str).collect();
    known.extend(head.commit.as_deref());
    known.extend(now.and_then(|now| std::str::from_utf8(now).ok()));
    let mut seen = HashSet::new();
    tips.retain(|tip| !known.contains(tip.commit.as_str()) && seen.insert(tip.commit.clone()));
    tips
}

/// Returns the commits that were made in this work tree since HEAD was looked at, and whose date says that they are older:
/// a commit's date is what its author wants it to be.
pub(super) fn dated_earlier(git_dir: &Path, head: &Head, since: Timestamp) -> Vec<String> {
    let record = record(&git_dir.join("logs/HEAD"));
    let was_there = |entry: &Entry| Some(&entry.commit) == head.commit.as_ref();
    let from = match record.iter().rposition(was_there) {
        Some(at) => at + 1,
        None if head.commit.is_none() => 0,
        None => record.len(),
    };
    let mut made: Vec<Entry> = record.into_iter().skip(from).collect();
    made.retain(|it| it.second < head::second(since) && it.what.starts_with("commit"));
    let made = made.into_iter().rev().take(REFS_MAX);
    made.map(|entry| entry.commit).collect()
}

/// One position of a ref.
struct Entry {
    second: i64,
    commit: String,
    what: String,
}

/// Reads the record of a ref's positions, the oldest first.
fn record(path: &Path) -> Vec<Entry> {
    let Ok(bytes) = named_file::bytes(path, RECORD_BYTES_MAX) else {
        return Vec::new();
    };
    let entry = |line: &str| {
        let (who, what) = line.split_once('\t').unwrap_or((line, ""));
        let commit = who.split(' ').nth(1)?;
        let second = who.rsplit(' ').nth(1)?.parse().ok()?;
        parse::object_id(format!("{commit}\n").as_bytes()).map(|commit| Entry {
            second,
            commit,
            what: what.to_owned(),
        })
    };
    String::from_utf8_lossy(&bytes)
        .lines()
        .filter_map(entry)
        .collect()
}

/// A file's content in a commit, and in the one where its branch was before.
type Place<'t> = (String, Option<&'t str>);

/// Returns the files of the commits that were made while the turn could commit, each with its newest commit.
fn named<'t>(
    view: &View,
    head: &Head,
    wanted: &Request,
    tips: &'t [Tip],
    deadline: Instant,
) -> BTreeMap<Vec<u8>, Place<'t>> {
    let second = wanted.since.map_or(0, head::second);
    let mut call = words(&format!(
        "log -z --format=tformat:%x01%ct%x20%H --name-only -c --no-renames --no-relative --no-ext-diff \
         --no-textconv -O/dev/null --max-age={second}"
    ));
    call.extend(tips.iter().map(|tip| tip.commit.clone()));
    call.push("^HEAD".into());
    call.extend(head::excluded(head));
    call.push("--".into());
    let mut files = BTreeMap::new();
    let Some(output) = view.ask(call, deadline) else {
        return files;
    };
    let is_in_a_span = |at: i64| {
        let spans = wanted.spans.as_deref();
        spans.is_none_or(|spans| {
            let in_span = |(from, to): &(Timestamp, Timestamp)| {
                head::second(*from) <= at && at <= head::second(*to) + 1
            };
            spans.iter().any(in_span)
        })
    };
    let before = tips.iter().find_map(|tip| tip.before.as_deref());
    let before_of = |commit: &str| {
        let tip = tips.iter().find(|tip| tip.commit == commit);
        tip.map_or(before, |tip| tip.before.as_deref().or(before))
    };
    for (line, paths) in parse::commits(&output.stdout) {
        let (at, commit) = line.split_once(' ').unwrap_or_default();
        if !at.parse().is_ok_and(is_in_a_span) {
            continue;
        }
        for path in paths {
            if files.len() < FILES_MAX && !path.contains(&b'\n') {
                let place = || (commit.to_owned(), before_of(commit));
                files.entry(path.to_vec()).or_insert_with(place);
            }
        }
    }
    files
}

/// Reads the files in their commits.
fn contents(
    view: &View,
    files: BTreeMap<Vec<u8>, Place<'_>>,
    mut hash: impl FnMut(&[u8]) -> Option<u64>,
    deadline: Instant,
) -> Vec<ChangedFile> {
    if files.is_empty() {
        return Vec::new();
    }
    let names = files.iter().flat_map(|(path, (commit, before))| {
        [Some(commit.as_str()), *before].map(|commit| before::name(commit, path))
    });
    let names: Vec<_> = names.collect();
    let read = before::Reader::new(view).read(&names, deadline, || ());
    let Ok(contents) = read else {
        return Vec::new();
    };
    let mut contents = contents.iter().map(|content| {
        let content = content.as_deref();
        content.map(digest::of_bytes)
    });
    let mut next = || contents.next().flatten();
    let changed = files.into_iter().filter_map(|(path, (_, before))| {
        let (then, was) = (next(), next());
        let is_as_before = before.is_some() && then == was;
        (!is_as_before && then != hash(&path)).then(|| ChangedFile {
            path: String::from_utf8_lossy(&path).into_owned(),
            hash: then,
        })
    });
    changed.collect()
}
