//! What a journal needs for a fleet: identity, chain, and events of other machines.

use journal::chain::Chain;
use journal::maintenance::restore;
use journal::{Envelope, Error, Event, Journal, Origin, Payload, Renewal, Run, Stream, codec};
use uuid::Uuid;

use crate::{all, draft, fill, open};

/// An event that came from another machine, of which something is withheld.
fn received(seq: u64, event: Event) -> (Envelope, Payload) {
    let stream = match event {
        Event::RunReceived { .. } => Stream::fleet(),
        _ => draft("far", seq).stream,
    };
    let at = draft("far", seq).at;
    let envelope = Envelope {
        seq,
        stream,
        at,
        recorded_at: at,
        id: Uuid::from_u128(seq.into()),
        late: false,
        event,
        origin: Some(Box::new(Origin {
            machine: "laptop-7".into(),
            journal: Uuid::from_u128(7),
            seq: seq + 40,
            withheld: vec!["call".into()],
        })),
    };
    (envelope, Payload::None)
}

fn collector() -> (tempfile::TempDir, Journal, Vec<Envelope>) {
    let dir = tempfile::tempdir().expect("temp");
    let (journal, _) = open(dir.path());
    assert!(!journal.is_collector());
    let run = Box::new(Run {
        machine: "laptop-7".into(),
        first: 42,
        last: 43,
        ..Run::default()
    });
    let events = vec![
        received(1, Event::RunReceived { run }),
        received(2, draft("far", 2).event),
        received(3, Event::Withheld { count: 9 }),
    ];
    let sent: Vec<_> = events
        .iter()
        .map(|(envelope, _)| envelope.clone())
        .collect();
    let appended = journal.import_all(events).expect("appends");
    assert!(
        appended
            .iter()
            .zip(1..)
            .all(|(one, seq)| one.seq == seq && !one.duplicate)
    );
    journal.settle().expect("settles");
    (dir, journal, sent)
}

#[test]
fn where_an_event_came_from_survives_store_log_export_and_backup() {
    let (dir, journal, sent) = collector();
    assert_eq!(all(&journal), sent);
    let history = journal.history(1..=9, |_| true).expect("readable");
    assert_eq!(history.collect::<Result<Vec<_>, _>>().expect("reads"), sent);
    for envelope in &sent {
        let line = codec::to_export(envelope, &Payload::None);
        assert_eq!(line["journal_seq"], envelope.seq + 40);
        let (back, _) = codec::from_json(line).expect("its own line");
        assert_eq!(back, *envelope);
        assert!(back.is_withheld());
    }
    let file = dir.path().join("backup");
    journal
        .backup(std::fs::File::create(&file).expect("creates"), |_, _| ())
        .expect("backs up");
    let other = tempfile::tempdir().expect("temp");
    restore(other.path(), &file, false, |_, _| ()).expect("restores");
    let (copy, _) = open(other.path());
    assert_eq!(all(&copy), sent);
    assert!(copy.is_collector());
    let verified = copy.verify(|_, _| ()).expect("verifies");
    assert!(verified.ok, "{verified:?}");
}

#[test]
fn an_event_of_the_own_machine_is_stored_as_it_always_was() {
    let (_, journal, sent) = collector();
    let mut own = sent[1].clone();
    own.origin = None;
    let (old, new) = (codec::encode_event(&own), codec::encode_event(&sent[1]));
    assert_eq!((old[0], new[0]), (1, 2));
    assert!(new[1..].starts_with(&old[1..]));
    for cut in 0..new.len() {
        codec::decode_event(&new[..cut]).expect_err("not whole");
    }
    drop(journal);
}

#[test]
fn a_collectors_journal_takes_nothing_of_its_own() {
    let (dir, journal, _) = collector();
    let refused = |journal: &Journal| {
        let error = journal.append_wait(vec![draft("own", 1)]);
        assert!(matches!(error, Err(Error::Collector { .. })), "{error:?}");
        let error = journal.append(vec![draft("own", 1)], |_| panic!("it was not taken"));
        assert!(matches!(error, Err(Error::Collector { .. })), "{error:?}");
    };
    refused(&journal);
    journal.close();
    drop(journal);
    refused(&open(dir.path()).0);
}

#[test]
fn a_journal_with_another_past_has_another_identity() {
    let dir = tempfile::tempdir().expect("temp");
    fill(dir.path(), 5);
    let id = || open(dir.path()).0.identity().expect("an identity");
    let first = id();
    assert_eq!((&id(), first.because), (&first, Renewal::New));
    journal::maintenance::rebuild(dir.path(), false).expect("rebuilds");
    assert_eq!(id(), first, "the events are the same ones");
    let file = dir.path().join("backup");
    open(dir.path())
        .0
        .backup(std::fs::File::create(&file).expect("creates"), |_, _| ())
        .expect("backs up");
    restore(dir.path(), &file, false, |_, _| ()).expect_err("there is a journal");
    assert_eq!(id(), first, "nothing was changed");
    restore(dir.path(), &file, true, |_, _| ()).expect("restores");
    let second = id();
    assert_ne!(second.journal, first.journal);
    assert_eq!(second.because, Renewal::Restored);
}

#[test]
fn chains_are_equal_up_to_the_first_difference() {
    let (one, two) = (
        tempfile::tempdir().expect("temp"),
        tempfile::tempdir().expect("temp"),
    );
    fill(one.path(), 6);
    // A copy of the machine, which goes on by itself.
    for entry in ["intake"] {
        std::fs::create_dir_all(two.path().join(entry)).expect("a folder");
        for file in std::fs::read_dir(one.path().join(entry)).expect("files") {
            let file = file.expect("a file").path();
            let name = file.file_name().expect("a name");
            std::fs::copy(&file, two.path().join(entry).join(name)).expect("copies");
        }
    }
    let (one, two) = (open(one.path()).0, open(two.path()).0);
    one.append_wait(vec![draft("here", 1)]).expect("appends");
    two.append_wait(vec![draft("there", 1)]).expect("appends");
    let id = one.identity().expect("an identity").journal;
    let chain = |journal: &Journal, to| {
        journal.settle().expect("settles");
        let mut chain = Chain::new(id);
        journal.extend(&mut chain, to).expect("reads");
        (chain.seq, chain.text())
    };
    for to in 0..=6 {
        assert_eq!(chain(&one, to), chain(&two, to), "to {to}");
        assert_ne!(chain(&one, to), chain(&one, to + 1));
    }
    assert_ne!(chain(&one, 7), chain(&two, 7));
    let verified = one.verify(|_, _| ()).expect("verifies");
    let whole = format!("sha256:{}", chain(&one, 7).1);
    assert_eq!((verified.ok, verified.chain), (true, Some(whole)));
    let mut longer = Chain::new(id);
    one.extend(&mut longer, 8).expect_err("there are 7 events");
    assert_eq!(longer.text(), chain(&one, 7).1);
}
