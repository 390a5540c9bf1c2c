//! Backup, restore, rebuilding and compaction.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use journal::maintenance::{pack, rebuild, restore};
use journal::{Draft, Error, Event, Journal, Options, Payload, Retention, Timestamp, codec};
use uuid::Uuid;

use crate::{all, draft, fill, open};

const ALL_AT_ONCE: Retention = Retention {
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

fn backup(journal: &Journal, into: &Path) -> (PathBuf, u64) {
    let file = into.join("backup");
    let last = journal
        .backup(fs::File::create(&file).expect("creates"), |_, _| ())
        .expect("backs up");
    (file, last)
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

#[test]
fn a_backup_taken_under_load_is_one_moment_and_restores_to_the_same_events() {
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
fn what_is_no_whole_backup_changes_nothing() {
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
fn a_journal_in_use_or_not_empty_is_not_replaced_unless_told_to_and_then_kept() {
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

#[test]
fn a_store_is_built_anew_from_the_intake_log_and_the_old_one_is_kept() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 60);
    let (recovered, kept) = rebuild(dir.path()).expect("rebuilds");
    assert_eq!((recovered.moved, recovered.last_seq), (60, 60));
    assert!(kept.join("db").exists());
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.moved, recovered.notes), (0, vec![]));
    assert_eq!(all(&journal), before);
    is_whole(&journal);
}

#[test]
fn a_packed_store_holds_the_same_without_the_room_of_what_was_dropped() {
    let dir = tempfile::tempdir().expect("temp");
    let (journal, _) = open(dir.path());
    for number in 0..30 {
        let large = |event| {
            let words = (0..200).map(|word| {
                Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{event} {word}").as_bytes())
            });
            let text = words.map(|word| word.to_string()).collect::<String>();
            Draft {
                payload: Some(text),
                ..draft(&format!("s{}", event % 50), event)
            }
        };
        journal
            .append_wait((number * 100..number * 100 + 100).map(large).collect())
            .expect("appends");
    }
    journal
        .compact(&ALL_AT_ONCE, Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    let (before, sessions) = (exported(&journal), journal.sessions());
    let session = sessions[7].stream.session;
    journal.put_snapshot(session, 9, b"state").expect("kept");
    assert!(
        matches!(pack(dir.path(), |_, _| ()), Err(Error::Locked { .. })),
        "it is in use"
    );
    journal.close();
    drop(journal);

    let mut told = 0;
    let packed = pack(dir.path(), |done, _| told = done).expect("packs");
    assert!(
        told >= 4 * 3_000 && packed.now < packed.before / 2,
        "{told}, {packed:?}"
    );
    assert_eq!(
        fs::read_dir(dir.path()).expect("listed").count(),
        3,
        "intake, lock and store"
    );
    assert_eq!(
        files(&dir.path().join("intake"))
            .values()
            .map(Vec::len)
            .sum::<usize>() as u64,
        packed.intake
    );
    let (journal, recovered) = open(dir.path());
    assert_eq!(
        (recovered.moved, recovered.notes.len()),
        (0, 0),
        "{recovered:?}"
    );
    assert_eq!((exported(&journal), journal.sessions()), (before, sessions));
    assert_eq!(
        journal.snapshot(session).expect("reads"),
        Some((9, b"state".to_vec()))
    );
    assert_eq!(is_whole(&journal), 3_000);
    assert_eq!(
        journal
            .append_wait(vec![draft("later", 1)])
            .expect("appends")[0]
            .seq,
        3_001
    );
}

#[test]
fn what_a_crash_while_packing_leaves_is_removed_and_nothing_is_lost() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 50);
    let store = dir.path().join("store");
    let (packing, packed) = (
        dir.path().join("store.packing"),
        dir.path().join("store.packed"),
    );
    // In the middle of writing the new store; and between the two steps of putting it in the place of the old one.
    copy(&store, &packing);
    fs::write(packing.join("db"), b"half").expect("writes");
    assert_eq!(all(&open(dir.path()).0), before);
    assert!(!packing.exists());
    copy(&store, &packing);
    fs::rename(&store, &packed).expect("renames");
    let (journal, recovered) = open(dir.path());
    assert_eq!(
        (all(&journal), recovered.moved),
        (before, 0),
        "the old store is put back, not built anew"
    );
    assert!(store.exists() && !packing.exists() && !packed.exists());
}

#[test]
fn compaction_drops_what_is_due_on_both_sides_and_no_event() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 50);
    let (journal, _) = open(dir.path());
    let now = Timestamp::now();
    let later = now.plus(Duration::from_secs(3_600));
    let keep = Retention {
        payloads: Some(Duration::from_secs(7_200)),
        kinds: Vec::new(),
    };
    let nothing = journal
        .compact(&keep, later, false, |_, _| ())
        .expect("compacts");
    assert_eq!((nothing.payloads, nothing.segments), (0, 0));
    let other = Retention {
        kinds: vec![("tool_finished".into(), None)],
        ..ALL_AT_ONCE
    };
    assert_eq!(
        journal
            .compact(&other, later, false, |_, _| ())
            .expect("compacts")
            .payloads,
        0
    );

    let before_lines = exported(&journal);
    let dry = journal
        .compact(&ALL_AT_ONCE, later, true, |_, _| ())
        .expect("looks");
    assert_eq!((dry.payloads, dry.dry_run), (50, true));
    assert_eq!(exported(&journal), before_lines);
    journal.append_wait(vec![draft("b", 51)]).expect("appends");
    // All but the one that came after.
    let due = Retention {
        payloads: Some(later.since(all(&journal)[50].recorded_at)),
        kinds: Vec::new(),
    };
    let cut = later.minus(Duration::from_micros(1));
    let done = journal
        .compact(&due, cut, false, |_, _| ())
        .expect("compacts");
    assert_eq!(
        (done.payloads, done.segments, done.skipped),
        (50, 1, vec![])
    );
    assert!(
        done.payload_bytes == dry.payload_bytes && done.intake_bytes < done.intake_bytes_before
    );

    assert_eq!(all(&journal)[..50], before);
    assert_eq!(journal.kept_payload(50).expect("reads"), Payload::Dropped);
    assert!(journal.payload(51).expect("reads").is_some());
    assert_eq!(is_whole(&journal), 50);
    let lines = exported(&journal);
    assert!(
        lines[0].ends_with(r#""payload":null,"payload_dropped":true}"#),
        "{}",
        lines[0]
    );
    let again = journal
        .compact(&due, cut, false, |_, _| ())
        .expect("compacts");
    assert_eq!((again.payloads, again.segments), (0, 0));
    drop(journal);

    // What is dropped stays so when the store is built anew.
    rebuild(dir.path()).expect("rebuilds");
    let (journal, _) = open(dir.path());
    assert_eq!(exported(&journal), lines);
    assert_eq!(is_whole(&journal), 50);
    assert_eq!(
        journal.append_wait(vec![draft("b", 52)]).expect("appends")[0].seq,
        52
    );
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

#[test]
fn a_compaction_that_a_crash_cut_short_leaves_a_whole_journal_and_the_next_one_goes_on() {
    let (dir, old) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    fill(dir.path(), 30);
    copy(dir.path(), old.path());
    let (journal, _) = open(dir.path());
    let lines = exported(&journal).len();
    journal
        .compact(&ALL_AT_ONCE, Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    journal.close();
    drop(journal);
    // Only the one side is as it was before: (left to do in the store, left to do in the log).
    for (side, left) in [("intake", (0, 1)), ("store", (30, 0))] {
        let half = tempfile::tempdir().expect("temp");
        let newer = if side == "intake" { "store" } else { "intake" };
        copy(&dir.path().join(newer), &half.path().join(newer));
        copy(&old.path().join(side), &half.path().join(side));
        let (journal, recovered) = open(half.path());
        assert_eq!((recovered.moved, recovered.notes), (0, vec![]), "{side}");
        is_whole(&journal);
        let again = journal
            .compact(&ALL_AT_ONCE, Timestamp::now(), false, |_, _| ())
            .expect("compacts");
        assert_eq!((again.payloads, again.segments), left, "{side}");
        assert_eq!((is_whole(&journal), exported(&journal).len()), (30, lines));
    }
}

#[test]
fn a_damaged_segment_is_left_as_it_is_and_named() {
    let dir = tempfile::tempdir().expect("temp");
    fill(dir.path(), 20);
    let (journal, _) = open(dir.path());
    let seal = Retention {
        kinds: vec![("tool_finished".into(), Some(Duration::from_secs(0)))],
        payloads: None,
    };
    journal
        .compact(&seal, Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    journal
        .append_wait((21..=40).map(|number| draft("a", number)).collect())
        .expect("appends");
    let sealed = files(&dir.path().join("intake"))
        .into_keys()
        .find(|path| path.extension().is_some_and(|end| end == "lz4"));
    let sealed = sealed.expect("a sealed segment");
    let mut bytes = fs::read(&sealed).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xFF;
    fs::write(&sealed, &bytes).expect("writes");
    let done = journal
        .compact(&seal, Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    assert_eq!(
        (done.payloads, done.segments, done.skipped.len()),
        (20, 1, 1),
        "{:?}",
        done.skipped
    );
    assert_eq!(fs::read(&sealed).expect("there"), bytes);
    assert!(!journal.verify(|_, _| ()).expect("runs").ok);
}

#[test]
fn dropped_payloads_survive_export_and_import() {
    let (dir, other) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    fill(dir.path(), 5);
    let (journal, _) = open(dir.path());
    journal
        .compact(&ALL_AT_ONCE, Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    let mut bare = draft("c", 9);
    bare.payload = None;
    bare.event = Event::CheckpointCleared {};
    journal
        .append_wait(vec![bare, draft("c", 10)])
        .expect("appends");
    let lines = exported(&journal);
    let (copy, _) = Journal::open(other.path(), Options::default()).expect("opens");
    for line in &lines {
        let (envelope, payload) =
            codec::from_json(serde_json::from_str(line).expect("JSON")).expect("reads");
        copy.import(envelope, payload).expect("imports");
    }
    assert_eq!(exported(&copy), lines);
    assert_eq!(is_whole(&copy), 5);
    let mut nowhere = FailingWriter;
    assert!(matches!(
        copy.backup(&mut nowhere, |_, _| ()),
        Err(Error::Disk { .. })
    ));
}

/// A full disk.
struct FailingWriter;

impl Write for FailingWriter {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
