//! Opening a journal after a clean stop, a kill, a power cut, and damage.

use uuid::Uuid;

use super::*;
use crate::{Draft, Event, Journal, Options, Stream};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("listed");
    entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

/// sled would begin an empty store without a word.
#[test]
fn a_store_whose_data_is_gone_is_built_again_and_named() {
    for harm in ["emptied", "deleted"] {
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
        drop(journal);
        let data = store_dir(folder.path()).join("db");
        match harm {
            "emptied" => std::fs::write(&data, "").expect("written"),
            _ => std::fs::remove_file(&data).expect("removed"),
        }
        let (journal, recovered) = Journal::open(folder.path(), Options::default()).expect("opens");
        let notes = recovered.notes.join("\n");
        assert!(
            notes.contains("its data is empty or missing"),
            "{harm}: {notes}"
        );
        drop(journal);
    }
}

#[test]
fn a_locked_store_is_waited_for_and_never_taken_for_a_damaged_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    drop(journal);
    let held = Store::open(&store_dir(folder.path()), &intake_dir(folder.path())).expect("a store");
    let refused = Journal::open(folder.path(), Options::default())
        .err()
        .expect("refused");
    assert!(matches!(refused, Error::Locked { .. }), "{refused}");
    assert!(
        !names(folder.path())
            .iter()
            .any(|name| name.contains("damaged"))
    );

    let opening = std::thread::spawn({
        let folder = folder.path().to_owned();
        move || Journal::open(&folder, Options::default()).map(|(_, recovered)| recovered)
    });
    drop(held);
    assert_eq!(
        opening.join().expect("no panic").expect("opens"),
        Recovered::default()
    );
}

#[test]
fn an_event_of_which_only_index_entries_survived_is_stored_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    journal
        .append_wait((1..=3).map(draft).collect())
        .expect("appended");
    journal.close();
    drop(journal);
    let store =
        Store::open(&store_dir(folder.path()), &intake_dir(folder.path())).expect("a store");
    store.forget_event(3).expect("removed");
    drop(store);

    let (journal, recovered) = Journal::open(folder.path(), Options::default()).expect("a journal");
    assert_eq!(
        recovered,
        Recovered {
            last_seq: 3,
            moved: 1,
            notes: Vec::new()
        }
    );
    let verified = journal.verify(|_, _| {}).expect("readable");
    assert!(verified.ok, "{:?}", verified.problems);
    assert_eq!(journal.session(Uuid::nil()).expect("known").events, 3);
}

/// A power cut may remove single entries from the store.
#[test]
fn a_hole_in_the_store_is_found_at_the_first_start_after_a_boot() {
    // Far from both ends, which are always checked.
    let (seq, id, session) = (100u64.to_be_bytes(), Uuid::from_u128(100), Uuid::nil());
    let holes: [(&str, &[u8]); 4] = [
        ("events", &seq),
        ("payloads", &seq),
        ("ids", id.as_bytes()),
        ("streams", &[&session.as_bytes()[..], &seq].concat()),
    ];
    for (tree, key) in holes {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Journal::open(folder.path(), Options::default()).expect("a journal");
        let payload = |number| Draft {
            payload: Some(format!("payload {number}")),
            ..draft(number)
        };
        open()
            .0
            .append_wait((1..=200).map(payload).collect())
            .expect("appended");
        Store::open(&store_dir(folder.path()), &intake_dir(folder.path()))
            .expect("a store")
            .forget(tree, key)
            .expect("removed");
        fs::write(folder.path().join("lock"), "another boot").expect("written");

        let (journal, recovered) = open();
        assert!(
            recovered.notes.len() == 1 && recovered.notes[0].contains("rebuilt"),
            "{tree}: {recovered:?}"
        );
        let verified = journal.verify(|_, _| {}).expect("readable");
        assert!(verified.ok, "{tree}: {:?}", verified.problems);
        drop(journal);
        assert_eq!(open().1.notes, Vec::<String>::new());
        assert_eq!(
            fs::read_to_string(folder.path().join("lock")).expect("read"),
            boot().unwrap_or_default()
        );
    }
}

#[test]
fn appends_do_not_wait_while_the_store_is_exchanged_for_its_packed_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    let drafts = (1..=200).map(draft).collect();
    journal.append_wait(drafts).expect("appended");
    journal.settle().expect("settled");
    let [fresh, _] = passing_stores(folder.path());
    let appended = || {
        let (sender, appended) = std::sync::mpsc::channel();
        let send = move |result| sender.send(result).expect("awaited");
        let drafts = vec![draft(7), draft(201)];
        journal.append(drafts, send).expect("queued");
        let appended = appended.recv_timeout(Duration::from_secs(60));
        appended.expect("it does not wait").expect("appended")
    };
    let exchanged = journal
        .store()
        .repack(&fresh, &store_dir(folder.path()), || {
            let appended = appended();
            assert!(appended[0].duplicate && appended[0].seq == 7);
            assert!(!appended[1].duplicate && appended[1].seq == 201);
            put_packed(folder.path())
        });
    assert_eq!(exchanged, Ok(true));
    journal.settle().expect("settled");
    let verified = journal.verify(|_, _| {}).expect("readable");
    assert!(verified.ok && verified.events == 201, "{verified:?}");
}

#[test]
fn packing_merges_the_runs_of_a_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    let of_session = |number: u128| Draft {
        stream: Stream {
            session: Uuid::from_u128(number % 5),
            ..Stream::daemon()
        },
        ..draft(number)
    };
    for first in (1..3_000).step_by(300) {
        let drafts = (first..first + 300).map(of_session).collect();
        journal.append_wait(drafts).expect("appended");
        let (sender, sealed) = std::sync::mpsc::channel();
        let done = Box::new(move || sender.send(()).expect("awaited"));
        journal.rotate(done).expect("rotated");
        sealed.recv().expect("sealed");
    }
    let streams = || {
        let all = (0..5).map(|session| journal.stream(Uuid::from_u128(session), 7, 2_000));
        all.collect::<Result<Vec<_>>>().expect("readable")
    };
    let (before, whole) = (journal.store().counts().expect("counted"), streams());
    assert_eq!(repack(folder.path(), journal.store()), Ok(true));
    let after = journal.store().counts().expect("counted");
    // The last tree has the runs.
    assert!(
        before.last() >= Some(&50) && after.last() == Some(&5),
        "{before:?} {after:?}"
    );
    assert_eq!(whole[1].len(), 598);
    assert!(streams() == whole);
    let verified = journal.verify(|_, _| {}).expect("readable");
    assert!(verified.ok, "{verified:?}");
}

/// Starts a new segment, and waits until the one before it is sealed.
fn seal(journal: &Journal) {
    let (sender, sealed) = std::sync::mpsc::channel();
    let done = Box::new(move || sender.send(()).expect("awaited"));
    journal.rotate(done).expect("rotated");
    sealed.recv().expect("sealed");
}

fn copied(folder: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("made");
        for entry in fs::read_dir(from).expect("listed").flatten() {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_dir() {
                copy(&from, &to);
            } else {
                fs::copy(from, to).expect("copied");
            }
        }
    }
    let copied = tempfile::tempdir().expect("a folder");
    copy(folder, copied.path());
    copied
}

/// An event of one of five sessions, with a payload.
fn call(number: u128) -> Draft {
    Draft {
        stream: Stream {
            session: Uuid::from_u128(number % 5),
            ..Stream::daemon()
        },
        payload: Some(format!("payload {number}")),
        ..draft(number)
    }
}

#[test]
fn sled_gets_what_is_sealed_in_blocks_and_the_rest_comes_from_the_log_after_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    let all = |journal: &Journal| -> Vec<_> {
        let events = journal.events_from(1).map(|event| event.expect("readable"));
        events
            .map(|event| (journal.payload(event.seq).expect("readable"), event))
            .collect()
    };
    let appended = journal.append_wait((1..=300).map(call).collect());
    appended.expect("appended");
    journal.settle().expect("settled");
    let counts = |journal: &Journal| journal.store().counts().expect("counted");
    assert_eq!(counts(&journal), [0; 10]);
    seal(&journal);
    // The mark of event 1 and the last event with its entries; the sessions; a block of ids and a run for each session.
    let sealed = [2, 1, 1, 1, 5, 0, 0, 0, 1, 5];
    assert_eq!(counts(&journal), sealed);
    let more = (301..=400).map(call).chain([call(7), call(350)]);
    let appended = journal.append_wait(more.collect()).expect("appended");
    assert!(appended[100].seq == 7 && appended[101].duplicate);
    journal.settle().expect("settled");
    assert_eq!(counts(&journal), sealed);
    let whole = all(&journal);
    assert_eq!(whole.len(), 400);

    let killed = copied(folder.path());
    let (again, recovered) = Journal::open(killed.path(), Options::default()).expect("a journal");
    assert_eq!((recovered.moved, recovered.notes), (100, Vec::new()));
    assert!(all(&again) == whole && again.sessions() == journal.sessions());
    for session in (0..5).map(Uuid::from_u128) {
        for after in [0, 250, 298, 299, 300, 301, 350, 398] {
            let stream = |journal: &Journal| journal.stream(session, after, 30).expect("readable");
            let own = whole.iter().map(|(_, event)| event);
            let own = own.filter(|event| event.stream.session == session && event.seq > after);
            let expected: Vec<_> = own.take(30).cloned().collect();
            assert!(stream(&journal) == expected && stream(&again) == expected);
        }
    }
    for journal in [&journal, &again] {
        let verified = journal.verify(|_, _| {}).expect("readable");
        assert!(verified.ok && verified.events == 400, "{verified:?}");
    }
    // A journal that was closed has the end of its log twice.
    again.close();
    drop(again);
    let [_, log] = &intake::segments(&intake_dir(killed.path())).expect("listed")[..] else {
        panic!("two segments");
    };
    fs::remove_file(&log.path).expect("removed");
    let (again, recovered) = Journal::open(killed.path(), Options::default()).expect("a journal");
    assert_eq!(recovered.notes.len(), 1, "{recovered:?}");
    assert!(all(&again) == whole);
}

#[test]
fn an_event_that_is_damaged_before_it_is_sealed_stays_in_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    let appended = journal.append_wait((1..=50).map(call).collect());
    appended.expect("appended");
    journal.settle().expect("settled");
    let path = &intake::segments(&intake_dir(folder.path())).expect("listed")[0].path;
    let mut bytes = fs::read(path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("written");
    seal(&journal);
    journal.close();
    drop(journal);
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    for number in 1..=50 {
        let payload = journal.payload(number).expect("readable");
        assert_eq!(payload, Some(format!("payload {number}")));
        let event = journal.event(number).expect("readable").expect("there");
        assert_eq!(event.id, Uuid::from_u128(number.into()));
    }
    let verified = journal.verify(|_, _| {}).expect("readable");
    assert!(!verified.ok, "the log lacks it");
}

#[test]
fn what_waits_to_be_sealed_is_not_kept_in_memory_without_a_bound() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), folder.path()).expect("a store");
    let mut events = 0;
    for first in (1..=400).step_by(20) {
        let items: Vec<Item> = (first..first + 20)
            .map(|seq| {
                let envelope = crate::Envelope {
                    seq,
                    stream: Stream::daemon(),
                    at: Timestamp::default(),
                    recorded_at: Timestamp::default(),
                    id: Uuid::from_u128(seq.into()),
                    late: false,
                    event: Event::CheckpointCleared {},
                    origin: None,
                };
                Item {
                    event: codec::encode_event(&envelope).into(),
                    payload: codec::encode_payload(Some(&"x".repeat(60_000))).into(),
                    envelope,
                }
            })
            .collect();
        store.put(&items).expect("stored");
        assert_eq!(store.last_seq(), Ok(first + 19));
        events = events.max(store.counts().expect("counted")[0]);
    }
    assert!((250..400).contains(&events), "{events}");
    for seq in 1..=400 {
        assert!(store.event(seq).expect("readable").is_some());
        let seqs = store.stream_seqs(Uuid::nil(), seq - 1, 1);
        assert_eq!(seqs, Ok(vec![seq]));
    }
}

/// A program that knows no sealed blocks would take the rest of the log for all of it.
#[test]
fn a_segment_begins_with_a_format_that_older_programs_refuse() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    let begins = || {
        let segments = intake::segments(&intake_dir(folder.path())).expect("listed");
        let last = segments.last().expect("one");
        (last.form, fs::read(&last.path).expect("read")[4])
    };
    assert_eq!(begins(), (Form::Open, frame::HEAD_VERSION));
    journal.append_wait(vec![draft(1)]).expect("appended");
    let (sender, sealed) = std::sync::mpsc::channel();
    let done = Box::new(move || sender.send(()).expect("awaited"));
    journal.rotate(done).expect("rotated");
    sealed.recv().expect("sealed");
    assert_eq!(begins(), (Form::Open, frame::HEAD_VERSION));
    // One without events is not sealed.
    let (sender, sealed) = std::sync::mpsc::channel();
    let done = Box::new(move || sender.send(()).expect("awaited"));
    journal.rotate(done).expect("rotated");
    sealed.recv().expect("sealed");
    assert_eq!(
        intake::segments(&intake_dir(folder.path()))
            .expect("listed")
            .len(),
        2
    );
}

#[test]
fn entries_of_no_event_are_found() {
    let (seq, session) = (100u64.to_be_bytes(), Uuid::from_u128(7_777));
    let key = [&session.as_bytes()[..], &seq].concat();
    let run = [0_u32, 3].map(u32::to_le_bytes).concat();
    let block = [&[9; 8][..], &[0; 4]].concat();
    let extra: [(&str, &[u8], &[u8]); 5] = [
        ("ids", session.as_bytes(), &seq),
        ("ids_sealed", &seq, &block),
        ("streams", &key, &[]),
        ("runs", &key, &run),
        ("decisions", &seq, &[0]),
    ];
    for (tree, key, value) in extra {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Journal::open(folder.path(), Options::default()).expect("a journal");
        let drafts = (1..=200).map(draft).collect();
        open().0.append_wait(drafts).expect("appended");
        Store::open(&store_dir(folder.path()), &intake_dir(folder.path()))
            .expect("a store")
            .plant(tree, key, value)
            .expect("planted");
        let (journal, _) = open();
        let verified = journal.verify(|_, _| {}).expect("readable");
        let problems = verified.problems.join("; ");
        assert!(problems.contains("of no event"), "{tree}: {problems}");
    }
}

#[test]
fn a_delivery_of_what_is_no_decision_is_no_extra_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
    let by = "notify".to_owned();
    let event = Event::DeliveryConfirmed { decision: 1, by };
    let delivery = Draft { event, ..draft(2) };
    let appended = journal.append_wait(vec![draft(1), delivery]);
    appended.expect("appended");
    journal.settle().expect("settled");
    let verified = journal.verify(|_, _| {}).expect("readable");
    assert!(verified.ok, "{verified:?}");
}

fn draft(number: u128) -> Draft {
    Draft {
        stream: Stream::daemon(),
        at: Timestamp::from_micros(1_000_000),
        id: Uuid::from_u128(number),
        event: Event::CheckpointCleared {},
        payload: None,
    }
}

/// With two unsealed ends, the last events of the first one could once not be found.
#[test]
fn a_log_completed_from_the_store_has_one_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let append = |numbers: std::ops::RangeInclusive<u128>| {
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("a journal");
        let verified = journal.verify(|_, _| {}).expect("readable");
        assert!(verified.ok, "{:?}", verified.problems);
        journal
            .append_wait(numbers.map(draft).collect())
            .expect("appended");
        journal.close();
    };
    append(1..=3);
    fs::remove_file(&intake::segments(&intake_dir(folder.path())).expect("listed")[0].path)
        .expect("removed");
    append(4..=6);
    assert_eq!(
        intake::segments(&intake_dir(folder.path()))
            .expect("listed")
            .len(),
        1
    );
    append(7..=9);
    append(10..=12);
}
