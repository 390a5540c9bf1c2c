//! Rebuilding and packing the store.

use std::fs;

use journal::maintenance::{Rebuilt, pack, rebuild};
use journal::{Draft, Error, Timestamp};
use uuid::Uuid;

use super::{DROP_ALL, copy, exported, files, is_whole};
use crate::{all, draft, fill, open};

#[test]
fn a_store_is_rebuilt_from_the_intake_log_and_the_old_one_kept() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 60);
    let Rebuilt {
        recovered, kept, ..
    } = rebuild(dir.path(), false).expect("rebuilds");
    assert_eq!((recovered.moved, recovered.last_seq), (60, 60));
    assert!(kept.join("db").exists());
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.moved, recovered.notes), (0, vec![]));
    assert_eq!(all(&journal), before);
    is_whole(&journal);
}

#[test]
fn a_packed_store_has_the_same_entries_in_less_space() {
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
        .compact(&DROP_ALL, Timestamp::now(), false, |_, _| ())
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

    let mut progress = 0;
    let packed = pack(dir.path(), |done, _| progress = done).expect("packs");
    assert!(
        progress > 100 && packed.now < packed.before / 2,
        "{progress}, {packed:?}"
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
fn the_remains_of_interrupted_packing_are_removed() {
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
        "the old store is put back, not rebuilt"
    );
    assert!(store.exists() && !packing.exists() && !packed.exists());
}
