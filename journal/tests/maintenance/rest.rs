//! What the journal does by itself: sealing, letting the store go of what is sealed, packing, and converting journals of
//! earlier versions.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use journal::{Draft, Journal, Options};
use uuid::Uuid;

use super::{copy, exported, is_whole};
use crate::{all, draft, open};

/// Waits until a condition is met.
fn wait_until(is_met: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_met() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An event with a payload of about 4 KB that does not compress to nothing.
fn large(number: u64) -> Draft {
    let word = |word: u64| {
        let name = format!("{number} {word}");
        Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
    };
    Draft {
        payload: Some((0..100).map(word).collect()),
        ..draft(&format!("s{}", number % 7), number)
    }
}

/// Replaces a snapshot again and again, so that most of the store is space that it does not use.
fn waste(journal: &Journal) {
    for number in 0..80 {
        let words = (0..8_000).map(|word| format!("{number} {word}"));
        let bytes: Vec<u8> = words
            .flat_map(|name| Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).into_bytes())
            .collect();
        journal.put_snapshot(Uuid::nil(), 9, &bytes).expect("kept");
    }
}

/// Returns what tells the store's file from the one that packing puts in its place; 0 between the two.
fn db(dir: &Path) -> u64 {
    fs::metadata(dir.join("store/db")).map_or(0, |file| file.ino())
}

fn endings(dir: &Path) -> Vec<String> {
    let mut found: Vec<_> = fs::read_dir(dir.join("intake"))
        .expect("listed")
        .map(|entry| entry.expect("one").file_name())
        .map(|name| {
            name.to_string_lossy()
                .rsplit('.')
                .next()
                .expect("one")
                .to_owned()
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_journal_at_rest_is_sealed_and_packed_and_reads_as_before() {
    let dir = tempfile::tempdir().expect("temp");
    let options = Options {
        rest: Duration::from_millis(300),
        ..Options::default()
    };
    let (journal, _) = Journal::open(dir.path(), options).expect("opens");
    let first = db(dir.path());
    waste(&journal);
    for first in (1..=3_000).step_by(100) {
        let drafts = (first..first + 100).map(large).collect();
        journal.append_wait(drafts).expect("appends");
    }
    let snapshot = journal.sessions()[0].stream.session;
    journal.put_snapshot(snapshot, 9, b"state").expect("kept");
    let (before, sessions) = (exported(&journal), journal.sessions());
    wait_until(|| {
        endings(dir.path())
            .iter()
            .all(|ending| ending == "zst" || ending == "log")
    });
    wait_until(|| db(dir.path()) != first && journal.disk_bytes().0 < 5 * 1024 * 1024);
    wait_until(|| {
        endings(dir.path())
            .iter()
            .filter(|ending| *ending == "zst")
            .count()
            > 2
    });
    assert!(exported(&journal) == before && journal.sessions() == sessions);
    assert_eq!(
        journal.snapshot(snapshot).expect("reads"),
        Some((9, b"state".to_vec()))
    );
    is_whole(&journal);
    // The same id, sealed and not.
    for _ in 0..2 {
        let again = journal
            .append_wait(vec![large(5), large(3_001)])
            .expect("appends");
        assert_eq!(
            (again[0].seq, again[0].duplicate, again[1].seq),
            (5, true, 3_001)
        );
    }
    for entry in &sessions {
        let seqs = |after, limit| -> Vec<u64> {
            let found = journal
                .stream(entry.stream.session, after, limit)
                .expect("reads");
            found.into_iter().map(|envelope| envelope.seq).collect()
        };
        let whole = seqs(0, usize::MAX);
        assert!(whole.len() as u64 >= entry.events && whole.is_sorted());
        assert_eq!(seqs(whole[100], 7), whole[101..108]);
        assert_eq!(seqs(whole[whole.len() - 2], 7), whole[whole.len() - 1..]);
    }
    journal.close();
    drop(journal);
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.moved, recovered.notes), (0, vec![]));
    assert_eq!(all(&journal).len(), 3_001);
    is_whole(&journal);
}

#[test]
fn readers_read_while_the_store_is_packed() {
    let dir = tempfile::tempdir().expect("temp");
    let options = Options {
        rest: Duration::from_millis(1),
        ..Options::default()
    };
    let (journal, _) = Journal::open(dir.path(), options).expect("opens");
    let first = db(dir.path());
    waste(&journal);
    for first in (1..=3_000).step_by(500) {
        let drafts = (first..first + 500).map(large).collect();
        journal.append_wait(drafts).expect("appends");
    }
    journal.settle().expect("settles");
    let packed = || db(dir.path()) != first;
    let mut reads = 0;
    let began = Instant::now();
    while reads < 50 || !packed() {
        let seq = reads % 3_000 + 1;
        let event = journal.event(seq).expect("reads").expect("there");
        assert!(journal.payload(seq).expect("reads").is_some());
        let session = event.stream.session;
        assert_eq!(journal.stream(session, seq - 1, 1).expect("reads"), [event]);
        reads += 1;
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it was never packed"
        );
    }
    is_whole(&journal);
}

/// A journal whose sealed segments have no parity.
#[test]
fn segments_without_parity_get_it() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/journals/v2-sealed");
    let dir = tempfile::tempdir().expect("temp");
    copy(&old.join("intake"), &dir.path().join("intake"));
    copy(&old.join("store"), &dir.path().join("store"));
    let segment = dir.path().join("intake/00000000000000000001.zst");
    let before = fs::read(&segment).expect("read");
    let expected = fs::read_to_string(old.join("export.ndjson")).expect("text");
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.moved, recovered.notes), (0, vec![]));
    wait_until(|| fs::read(&segment).expect("read").len() > before.len());
    assert_eq!(exported(&journal), expected.lines().collect::<Vec<_>>());
    is_whole(&journal);
    let mut damaged = fs::read(&segment).expect("read");
    for at in (100..damaged.len()).step_by(damaged.len() / 2) {
        damaged[at] ^= 1;
    }
    fs::write(&segment, damaged).expect("written");
    let verified = journal.verify(|_, _| ()).expect("runs");
    assert!(verified.ok && verified.repaired.len() == 1, "{verified:?}");
    assert_eq!(journal.repaired().len(), 1);
    assert_eq!(exported(&journal), expected.lines().collect::<Vec<_>>());
}

/// A journal of the version before: its log sealed with LZ4, every event in its store.
#[test]
fn a_journal_of_the_version_before_is_converted() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/journals/v1-store");
    let dir = tempfile::tempdir().expect("temp");
    copy(&old.join("intake"), &dir.path().join("intake"));
    copy(&old.join("store"), &dir.path().join("store"));
    assert_eq!(endings(dir.path()), ["log", "lz4"]);
    let expected = fs::read_to_string(old.join("export.ndjson")).expect("text");
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.moved, recovered.notes), (0, vec![]));
    wait_until(|| endings(dir.path()) == ["log", "zst"]);
    assert_eq!(exported(&journal), expected.lines().collect::<Vec<_>>());
    is_whole(&journal);
    journal.close();
    drop(journal);
    fs::remove_dir_all(dir.path().join("store")).expect("removed");
    let (journal, _) = open(dir.path());
    assert_eq!(exported(&journal), expected.lines().collect::<Vec<_>>());
    is_whole(&journal);
}
