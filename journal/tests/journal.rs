//! The public interface of the journal: acknowledgments, recovery, damage, maintenance.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;

use journal::{
    Agent, Draft, Envelope, Error, Event, Host, Journal, Options, Stream, Sync, Timestamp, ToolCall,
};
use uuid::Uuid;

mod fleet;
mod maintenance;
mod meanwhile;
mod schema;

fn draft(session: &str, number: u64) -> Draft {
    let host = Host {
        hook: "PostToolUse".into(),
        ..Host::default()
    };
    let call = ToolCall {
        tool: "Bash".into(),
        command: Some(format!("echo {number}")),
        ..ToolCall::default()
    };
    Draft {
        stream: Stream::of_native(Agent::Claude, session),
        at: Timestamp::from_micros(1_000_000 * number as i64),
        id: Uuid::new_v5(
            &Uuid::NAMESPACE_OID,
            format!("{session}-{number}").as_bytes(),
        ),
        event: Event::ToolFinished { host, call },
        payload: Some(format!(r#"{{"n":{number},"text":"{}"}}"#, "x".repeat(300))),
    }
}

fn open(dir: &Path) -> (Journal, journal::recovery::Recovered) {
    Journal::open(dir, Options::default()).expect("opens")
}

fn all(journal: &Journal) -> Vec<Envelope> {
    journal.settle().expect("settles");
    journal
        .events_from(1)
        .collect::<Result<_, _>>()
        .expect("reads")
}

fn fill(dir: &Path, count: u64) -> Vec<Envelope> {
    let (journal, _) = open(dir);
    for number in 1..=count {
        journal
            .append_wait(vec![draft(if number % 3 == 0 { "b" } else { "a" }, number)])
            .expect("appends");
    }
    all(&journal)
}

fn only_segment(dir: &Path) -> std::path::PathBuf {
    fs::read_dir(dir.join("intake"))
        .expect("there")
        .next()
        .expect("one")
        .expect("one")
        .path()
}

#[test]
fn appends_are_ordered_indexed_and_idempotent_by_id() {
    let dir = tempfile::tempdir().expect("temp");
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.last_seq, recovered.notes.len()), (0, 0));
    let first = journal
        .append_wait(vec![draft("a", 1), draft("b", 2), draft("a", 3)])
        .expect("appends");
    assert_eq!(
        first
            .iter()
            .map(|appended| appended.seq)
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    let again = journal
        .append_wait(vec![draft("b", 2), draft("b", 4), draft("b", 4)])
        .expect("appends");
    assert_eq!(
        again
            .iter()
            .map(|a| (a.seq, a.duplicate))
            .collect::<Vec<_>>(),
        [(2, true), (4, false), (4, true)]
    );
    let events = all(&journal);
    assert_eq!(
        events
            .iter()
            .map(|envelope| envelope.seq)
            .collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    let session = Stream::of_native(Agent::Claude, "b").session;
    let stream = journal.stream(session, 2, 10).expect("reads");
    assert_eq!(
        stream
            .iter()
            .map(|envelope| envelope.seq)
            .collect::<Vec<_>>(),
        [4]
    );
    let entry = journal.session(session).expect("known");
    assert_eq!((entry.first_seq, entry.last_seq, entry.events), (2, 4, 2));
    assert!(
        journal
            .payload(4)
            .expect("reads")
            .expect("kept")
            .contains(r#""n":4"#)
    );
    assert!(journal.verify(|_, _| ()).expect("runs").ok);
}

#[test]
fn an_event_that_happened_before_its_predecessor_is_marked_late() {
    let dir = tempfile::tempdir().expect("temp");
    let (journal, _) = open(dir.path());
    for number in [5, 3, 6] {
        journal
            .append_wait(vec![draft("a", number)])
            .expect("appends");
    }
    assert_eq!(
        all(&journal)
            .iter()
            .map(|envelope| envelope.late)
            .collect::<Vec<_>>(),
        [false, true, false]
    );
}

#[test]
fn a_second_process_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().expect("temp");
    let (_journal, _) = open(dir.path());
    let refused = Journal::open(dir.path(), Options::default())
        .err()
        .expect("refused");
    assert!(matches!(&refused, Error::Locked { .. }), "{refused}");
    assert!(refused.to_string().contains("in use by another process"));
}

#[test]
fn reopening_gives_the_same_events_and_goes_on_counting() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 20);
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.last_seq, recovered.notes), (20, vec![]));
    assert_eq!(all(&journal), before);
    assert_eq!(
        journal.append_wait(vec![draft("c", 1)]).expect("appends")[0].seq,
        21
    );
}

#[test]
fn a_lost_or_damaged_store_is_rebuilt_from_the_intake_log() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 50);
    fs::remove_dir_all(dir.path().join("store")).expect("removes");
    let (journal, recovered) = open(dir.path());
    assert_eq!((recovered.moved, all(&journal) == before), (50, true));
    drop(journal);
    let db = dir.path().join("store").join("db");
    let mut bytes = fs::read(&db).expect("there");
    for position in (0..bytes.len()).step_by(97) {
        bytes[position] ^= 0xFF;
    }
    fs::write(&db, bytes).expect("writes");
    // sled either reports it or silently starts with an empty store; in both cases all events come back.
    let (journal, recovered) = open(dir.path());
    assert!(recovered.moved == 50, "{recovered:?}");
    assert_eq!(all(&journal), before);
    assert!(journal.verify(|_, _| ()).expect("runs").ok);
}

#[test]
fn a_torn_last_write_of_any_length_is_cut_off_and_reported() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 3);
    fs::remove_dir_all(dir.path().join("store")).expect("removes");
    let segment = only_segment(dir.path());
    let whole = fs::read(&segment).expect("there");
    let starts: Vec<usize> = whole
        .windows(4)
        .enumerate()
        .filter(|(_, four)| *four == journal::frame::MAGIC)
        .map(|(at, _)| at)
        .collect();
    // The segment's head comes before the events.
    let last = starts[before.len()];
    for cut in (last + 1..whole.len()).step_by(7) {
        fs::write(&segment, &whole[..cut]).expect("writes");
        let (journal, recovered) = open(dir.path());
        assert_eq!(all(&journal), before[..2], "cut at {cut}");
        assert!(
            recovered.notes[0].contains("cut off"),
            "{:?}",
            recovered.notes
        );
        assert_eq!(
            journal.append_wait(vec![draft("a", 9)]).expect("appends")[0].seq,
            3
        );
        assert!(journal.verify(|_, _| ()).expect("runs").ok);
        drop(journal);
        fs::remove_dir_all(dir.path().join("store")).expect("removes");
        fs::write(&segment, &whole).expect("writes");
    }
}

#[test]
fn a_lost_intake_log_is_written_again_from_the_store() {
    let dir = tempfile::tempdir().expect("temp");
    let before = fill(dir.path(), 10);
    let segment = only_segment(dir.path());
    let whole = fs::read(&segment).expect("there");
    fs::write(&segment, &whole[..whole.len() / 2]).expect("writes");
    let (journal, recovered) = open(dir.path());
    assert!(
        recovered
            .notes
            .iter()
            .any(|note| note.contains("written again from the store")),
        "{:?}",
        recovered.notes
    );
    assert_eq!(all(&journal), before);
    assert!(journal.verify(|_, _| ()).expect("runs").ok);
    drop(journal);
    fs::remove_dir_all(dir.path().join("store")).expect("removes");
    assert_eq!(all(&open(dir.path()).0), before);
}

#[test]
fn verify_finds_a_flipped_byte_in_the_intake_log() {
    let dir = tempfile::tempdir().expect("temp");
    fill(dir.path(), 10);
    let segment = only_segment(dir.path());
    let mut bytes = fs::read(&segment).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).expect("writes");
    let (journal, recovered) = open(dir.path());
    assert!(!recovered.notes.is_empty());
    let verified = journal.verify(|_, _| ()).expect("runs");
    assert!(
        !verified.ok
            && verified
                .problems
                .iter()
                .any(|problem| problem.contains("Corrupt")),
        "{verified:?}"
    );
}

#[test]
fn many_clients_at_once_lose_nothing_and_keep_their_own_order() {
    let dir = tempfile::tempdir().expect("temp");
    let options = Options {
        sync: Sync::Always,
        ..Options::default()
    };
    let (journal, _) = Journal::open(dir.path(), options).expect("opens");
    let (seen_by_observer, observed) = channel();
    journal.observe(move |events| {
        let _ = seen_by_observer.send(
            events
                .iter()
                .map(|envelope| envelope.seq)
                .collect::<Vec<_>>(),
        );
    });
    let clients: Vec<_> = (0..16)
        .map(|client| {
            let journal = journal.clone();
            thread::spawn(move || {
                (1..=50u64)
                    .map(|number| {
                        journal
                            .append_wait(vec![draft(&format!("s{client}"), number)])
                            .expect("ok")[0]
                            .seq
                    })
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let mut seqs: Vec<u64> = Vec::new();
    for client in clients {
        let own = client.join().expect("no panic");
        assert!(own.is_sorted());
        seqs.extend(own);
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=800).collect::<Vec<_>>());
    journal.settle().expect("settles");
    journal.close();
    assert_eq!(observed.try_iter().flatten().collect::<Vec<_>>(), seqs);
}

#[test]
fn export_lines_read_back_to_the_same_envelope() {
    let dir = tempfile::tempdir().expect("temp");
    let events = fill(dir.path(), 4);
    let (journal, _) = open(dir.path());
    for envelope in events {
        let payload = journal.kept_payload(envelope.seq).expect("reads");
        let line = journal::codec::to_json(&envelope, payload.text());
        let text = line.to_string();
        assert_eq!(
            journal::line::read(&text).expect("plain"),
            (envelope.clone(), payload.clone(), Vec::new())
        );
        assert_eq!(
            journal::codec::from_json(line).expect("reads"),
            (envelope, payload)
        );
    }
}

#[test]
fn only_the_store_names_sled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a workspace");
    let mut folders: Vec<_> = ["journal/src", "checkpoint/src", "actors/src", "src"]
        .map(|name| root.join(name))
        .into();
    let mut naming = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("listed") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && fs::read_to_string(&path).expect("text").contains("sled::")
            {
                naming.push(path.strip_prefix(root).expect("below").to_owned());
            }
        }
    }
    assert_eq!(naming, [Path::new("journal/src/store/trees.rs")]);
}

#[test]
fn damaged_lengths_are_rejected_before_memory_is_allocated() {
    let dir = tempfile::tempdir().expect("temp");
    let mut envelope = fill(dir.path(), 1).remove(0);
    envelope.stream.native = Some("a session".into());
    let whole = journal::codec::encode_event(&envelope);
    let at = whole
        .windows(10)
        .position(|ten| ten == b"\x09a session")
        .expect("a length and its text");
    // Of 4 GB, of 1 TB, and of more than any machine can address.
    let lengths = [
        &[252, 255, 255, 255, 255][..],
        &[253, 0, 0, 0, 0, 0, 1, 0, 0],
        &[253; 9],
    ];
    for length in lengths {
        let damaged = [&whole[..at], length, &whole[at + 1..]].concat();
        assert!(
            matches!(
                journal::codec::decode_event(&damaged),
                Err(Error::Damaged { .. })
            ),
            "{length:?}"
        );
        assert_eq!(journal::codec::unpack::<String>(length), None);
    }
}
