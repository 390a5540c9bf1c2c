//! Backup and restore.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use journal::maintenance::restore;
use journal::{Error, Journal};

use super::{exported, files, is_whole};
use crate::{all, draft, fill, open};

fn backup(journal: &Journal, into: &Path) -> (PathBuf, u64) {
    let file = into.join("backup");
    let last = journal
        .backup(fs::File::create(&file).expect("creates"), |_, _| ())
        .expect("backs up");
    (file, last)
}

#[test]
fn a_backup_under_load_restores_to_the_same_events() {
    let (dir, other) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    fill(dir.path(), 300);
    let (journal, _) = open(dir.path());
    let stop = AtomicBool::new(false);
    let (file, last) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 1.. {
                journal
                    .append_wait(vec![draft("load", number)])
                    .expect("appends");
                if stop.load(Ordering::Relaxed) {
                    return number;
                }
            }
            0
        });
        let made = backup(&journal, dir.path());
        stop.store(true, Ordering::Relaxed);
        assert!(writer.join().expect("no panic") > 0);
        made
    });
    assert!((300..=journal.last_seq()).contains(&last));
    let restored = restore(other.path(), &file, false, |_, _| ()).expect("restores");
    assert_eq!((restored.events, restored.kept), (last, None));
    let (copy, recovered) = open(other.path());
    assert_eq!((recovered.last_seq, recovered.notes), (last, vec![]));
    assert_eq!(exported(&copy), exported(&journal)[..last as usize]);
    assert_eq!(is_whole(&copy), 0);
    assert_eq!(
        copy.append_wait(vec![draft("new", 1)]).expect("appends")[0].seq,
        last + 1
    );
}

#[test]
fn a_backup_larger_than_a_segment_becomes_several() {
    let (dir, other) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    let (journal, _) = open(dir.path());
    // Random enough not to be compressed away.
    let text = |number: u64| {
        let mut seed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let next = move |_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            char::from(b'a' + (seed % 26) as u8)
        };
        (0..1_000_000).map(next).collect::<String>()
    };
    for number in 1..=26 {
        let payload = Some(text(number));
        journal
            .append_wait(vec![journal::Draft {
                payload,
                ..draft("a", number)
            }])
            .expect("appends");
    }
    let (file, _) = backup(&journal, dir.path());
    restore(other.path(), &file, false, |_, _| ()).expect("restores");
    assert!(files(&other.path().join("intake")).len() > 1);
    let (copy, _) = open(other.path());
    assert!(exported(&copy) == exported(&journal));
    is_whole(&copy);
}

#[test]
fn an_incomplete_or_damaged_backup_changes_nothing() {
    let (dir, other) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    fill(dir.path(), 40);
    let (journal, _) = open(dir.path());
    let (file, _) = backup(&journal, dir.path());
    let whole = fs::read(&file).expect("there");
    fill(other.path(), 3);
    let before = files(&other.path().join("intake"));
    let mut tried = 0;
    let mut refuse = |bytes: &[u8]| {
        tried += 1;
        fs::write(&file, bytes).expect("writes");
        let refused = restore(other.path(), &file, true, |_, _| ()).expect_err("refused");
        assert!(
            matches!(refused, Error::Damaged { .. } | Error::Newer { .. }),
            "{refused}"
        );
    };
    (0..whole.len())
        .step_by(97)
        .for_each(|cut| refuse(&whole[..cut]));
    // The end of the zstd frame, behind the last event.
    (whole.len() - 4..whole.len()).for_each(|cut| refuse(&whole[..cut]));
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    refuse(&flipped);
    refuse(&[b"checkpointd backup 2 40\n", &whole[24..]].concat());
    refuse(b"{}\n");
    assert!(tried > 10);
    assert_eq!(files(&other.path().join("intake")), before);
    let names: Vec<_> = fs::read_dir(other.path())
        .expect("listed")
        .map(|entry| entry.expect("one").file_name())
        .collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().contains('-')),
        "left behind: {names:?}"
    );
}

#[test]
fn an_existing_journal_is_replaced_only_on_request_and_kept() {
    let (dir, other) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    fill(dir.path(), 10);
    let old = fill(other.path(), 4);
    let (journal, _) = open(dir.path());
    let (file, _) = backup(&journal, dir.path());
    let refused = |replace| restore(dir.path(), &file, replace, |_, _| ()).expect_err("refused");
    assert!(matches!(refused(true), Error::Locked { .. }));
    let occupied = restore(other.path(), &file, false, |_, _| ()).expect_err("refused");
    assert!(matches!(occupied, Error::Occupied { .. }), "{occupied}");
    assert_eq!(all(&open(other.path()).0), old);
    let restored = restore(other.path(), &file, true, |_, _| ()).expect("restores");
    assert_eq!(all(&open(other.path()).0), all(&journal));
    assert_eq!(all(&open(&restored.kept.expect("kept")).0), old);
}
