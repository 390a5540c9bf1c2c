//! What the journal does by itself: sealing, letting the store go of what is sealed, packing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use journal::{Draft, Journal, Options};
use uuid::Uuid;

use super::{exported, is_whole};
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
