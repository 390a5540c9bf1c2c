//! Compaction, and what becomes of dropped payloads.

use std::fs;
use std::io::Write;
use std::time::Duration;

use journal::maintenance::rebuild;
use journal::{Error, Event, Journal, Options, Payload, Retention, Timestamp, codec};

use super::{DROP_ALL, copy, exported, files, is_whole};
use crate::{all, draft, fill, open};

#[test]
fn payloads_that_are_not_due_stay_and_a_dry_run_changes_nothing() {
    let dir = tempfile::tempdir().expect("temp");
    fill(dir.path(), 50);
    let (journal, _) = open(dir.path());
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
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
        ..DROP_ALL
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
        .compact(&DROP_ALL, later, true, |_, _| ())
        .expect("looks");
    assert_eq!((dry.payloads, dry.dry_run), (50, true));
    assert_eq!(exported(&journal), before_lines);
}

#[test]
fn compaction_drops_what_is_due_on_both_sides_and_no_event() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 50);
    let (journal, _) = open(dir.path());
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
    let dry = journal
        .compact(&DROP_ALL, later, true, |_, _| ())
        .expect("looks");
    journal.append_wait(vec![draft("b", 51)]).expect("appends");
    // All but the last one.
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

    // Dropped payloads stay dropped when the store is rebuilt.
    rebuild(dir.path(), false).expect("rebuilds");
    let (journal, _) = open(dir.path());
    assert_eq!(exported(&journal), lines);
    assert_eq!(is_whole(&journal), 50);
    assert_eq!(
        journal.append_wait(vec![draft("b", 52)]).expect("appends")[0].seq,
        52
    );
}

#[test]
fn an_interrupted_compaction_is_completed_by_the_next_one() {
    let (dir, old) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    fill(dir.path(), 30);
    copy(dir.path(), old.path());
    let (journal, _) = open(dir.path());
    let lines = exported(&journal).len();
    journal
        .compact(&DROP_ALL, Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    journal.close();
    drop(journal);
    // The store is as before the compaction, the log as after it.
    let half = tempfile::tempdir().expect("temp");
    copy(&dir.path().join("intake"), &half.path().join("intake"));
    copy(&old.path().join("store"), &half.path().join("store"));
    let (journal, recovered) = open(half.path());
    assert_eq!((recovered.moved, recovered.notes), (0, vec![]));
    is_whole(&journal);
    assert!(journal.payload(7).expect("reads").is_some());
    let again = journal
        .compact(&DROP_ALL, Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    assert_eq!((again.payloads, again.segments), (0, 0));
    assert_eq!(journal.kept_payload(7).expect("reads"), Payload::Dropped);
    assert_eq!((is_whole(&journal), exported(&journal).len()), (30, lines));
}

#[test]
fn a_damaged_segment_is_repaired_or_left_as_it_is_and_named() {
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
        .find(|path| path.extension().is_some_and(|end| end == "zst"));
    let sealed = sealed.expect("a sealed segment");
    // It was rewritten when the payloads were dropped, and has parity again.
    let whole = fs::read(&sealed).expect("there");
    let mut bytes = whole.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xFF;
    fs::write(&sealed, &bytes).expect("writes");
    let done = journal
        .compact(&Retention::default(), Timestamp::now(), false, |_, _| ())
        .expect("compacts");
    assert_eq!((done.repaired.len(), done.skipped), (1, vec![]));
    assert!(fs::read(&sealed).expect("there") == whole);
    // Too much for it.
    bytes[..middle].fill(0);
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
fn the_payload_of_an_order_says_where_it_came_from_and_stays() {
    let dir = tempfile::tempdir().expect("temp");
    let (journal, _) = open(dir.path());
    let mut order = draft("o", 1);
    order.event = Event::Unmuted {};
    order.payload = Some(r#"{"by":"page"}"#.into());
    journal
        .append_wait(vec![order, draft("o", 2)])
        .expect("appends");
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
    journal
        .compact(&DROP_ALL, later, false, |_, _| ())
        .expect("compacts");
    let payloads = [1, 2].map(|seq| journal.kept_payload(seq).expect("it can be read"));
    let author = Payload::Text(r#"{"by":"page"}"#.into());
    assert_eq!(payloads, [author, Payload::Dropped]);
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
        .compact(&DROP_ALL, Timestamp::now(), false, |_, _| ())
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
        copy.import_all(vec![(envelope, payload)]).expect("imports");
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
