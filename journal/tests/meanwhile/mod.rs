//! Reading while other threads write: a reader sees only complete events.

use std::thread;

use journal::{Agent, Draft, Event, Journal, Options, Stream, Timestamp};
use uuid::Uuid;

use crate::schema::one_of_each;

const WRITERS: u64 = 4;
const BATCHES: u64 = 60;
/// Events of a batch, which the store takes in several writes.
const BATCH: u64 = 25;

fn batch(stream: &Stream, decided: &Event) -> Vec<Draft> {
    let draft = |_| Draft {
        stream: stream.clone(),
        at: Timestamp::from_micros(1),
        id: Uuid::new_v4(),
        event: decided.clone(),
        payload: None,
    };
    (0..BATCH).map(draft).collect()
}

#[test]
fn readers_see_complete_events_while_others_write() {
    let dir = tempfile::tempdir().expect("temp");
    let (journal, _) = Journal::open(dir.path(), Options::default()).expect("opens");
    let decided = one_of_each()
        .into_iter()
        .find(|event| matches!(event, Event::Decided(_)))
        .expect("a decision");
    let streams: Vec<_> = (0..WRITERS)
        .map(|writer| Stream::of_native(Agent::Claude, &writer.to_string()))
        .collect();
    let writers: Vec<_> = streams
        .iter()
        .map(|stream| {
            let (journal, stream, decided) = (journal.clone(), stream.clone(), decided.clone());
            thread::spawn(move || {
                for _ in 0..BATCHES {
                    journal
                        .append_wait(batch(&stream, &decided))
                        .expect("appends");
                }
            })
        })
        .collect();
    let mut looks = 0;
    while looks == 0 || writers.iter().any(|writer| !writer.is_finished()) {
        for stream in &streams {
            let newest = journal
                .session(stream.session)
                .map_or(0, |entry| entry.last_seq.saturating_sub(50));
            journal
                .stream(stream.session, newest, usize::MAX)
                .expect("reads");
        }
        for decision in journal.decisions_before(u64::MAX).take(50) {
            let (seq, _) = decision.expect("reads");
            assert!(
                journal.event(seq).expect("reads").is_some(),
                "decision {seq} is not an event"
            );
        }
        let verified = journal.verify(|_, _| ()).expect("runs");
        assert!(verified.ok, "{verified:?}");
        looks += 1;
    }
    writers
        .into_iter()
        .for_each(|writer| writer.join().expect("no panic"));
    let verified = journal.verify(|_, _| ()).expect("runs");
    assert_eq!(
        (verified.ok, verified.events),
        (true, WRITERS * BATCHES * BATCH),
        "{verified:?}"
    );
    println!("{looks} looks");
}
