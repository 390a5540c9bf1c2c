//! How a collector takes it in.

use journal::{Envelope, Event, Journal};
use proptest::prelude::*;
use serde_json::Value;
use uuid::Uuid;

use super::{Does, Place, does, draft, place};
use crate::ops::fleet::levels::Level;
use crate::ops::fleet::send::{RUN_EVENTS, chain, export};
use crate::ops::fleet::{Merge, Merged};

fn machine(story: &[Does]) -> Place {
    let place = place();
    let drafts = story
        .iter()
        .enumerate()
        .map(|(number, does)| draft(number, does));
    place
        .journal
        .append_wait(drafts.collect())
        .expect("appends");
    place.journal.settle().expect("settles");
    place
}

fn exported(journal: &Journal, level: Level, name: &str) -> String {
    let mut text = String::new();
    export(journal, level, name, &mut |line| {
        text.push_str(&line);
        text.push('\n');
        true
    })
    .expect("readable");
    text
}

fn merged(into: &Journal, text: &str) -> Merged {
    let mut merge = Merge::new(into).expect("a collector's journal");
    let merged = merge.file(text.as_bytes()).expect("taken in");
    into.settle().expect("settles");
    merged
}

fn events(journal: &Journal) -> Vec<Envelope> {
    journal
        .events_from(1)
        .collect::<Result<_, _>>()
        .expect("readable")
}

/// Every event of the machine is in the collector's journal once, in order, and says the same of the same events.
fn assert_holds(collector: &Journal, machine: &Journal, level: Level) {
    let id = machine.identity().expect("an identity").journal;
    let all = events(collector);
    let theirs: Vec<_> = all
        .iter()
        .filter(|event| {
            event
                .origin
                .as_ref()
                .is_some_and(|origin| origin.journal == id)
        })
        .filter(|event| !matches!(event.event, Event::RunReceived { .. }))
        .collect();
    // The number here of each number there.
    let mut places = std::collections::HashMap::new();
    let mut next = 1;
    for event in &theirs {
        let origin = event.origin.as_ref().expect("an origin");
        assert_eq!(origin.seq, next, "gapless and in order");
        let count = match event.event {
            Event::Withheld { count } => count,
            _ => 1,
        };
        places.extend((next..next + count).map(|seq| (seq, event.seq)));
        next += count;
    }
    assert_eq!(next - 1, machine.last_seq(), "nothing is missing");
    for event in &theirs {
        let origin = event.origin.as_ref().expect("an origin");
        let mut own = machine.event(origin.seq).expect("readable").expect("there");
        if matches!(event.event, Event::Withheld { .. }) {
            assert!(level == Level::Decisions && own.event.kind() == "model_stepped");
            continue;
        }
        own.event
            .each_number(|number| {
                *number = places[number];
                Ok::<_, ()>(())
            })
            .expect("all are there");
        assert_eq!(
            (own.at, own.recorded_at, own.late),
            (event.at, event.recorded_at, event.late)
        );
        if level == Level::All {
            assert_eq!(own.event, event.event);
            assert!(origin.withheld.is_empty());
        }
        assert_eq!(own.event.kind(), event.event.kind());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn merging_translates_and_nothing_else(
        one in prop::collection::vec(does(), 1..60),
        two in prop::collection::vec(does(), 1..60),
        levels in (0..3usize, 0..3usize),
    ) {
        let levels = (Level::ALL[levels.0], Level::ALL[levels.1]);
        let (first, second, collector) = (machine(&one), machine(&two), place());
        let texts = (
            exported(&first.journal, levels.0, "one"),
            exported(&second.journal, levels.1, "two"),
        );
        merged(&collector.journal, &texts.0);
        merged(&collector.journal, &texts.1);
        assert_holds(&collector.journal, &first.journal, levels.0);
        assert_holds(&collector.journal, &second.journal, levels.1);
        let before = events(&collector.journal);
        // Again, in the other order: nothing changes.
        prop_assert_eq!(merged(&collector.journal, &texts.1).merged, 0);
        prop_assert_eq!(merged(&collector.journal, &texts.0).merged, 0);
        prop_assert_eq!(&events(&collector.journal), &before);
        // The first machine continues; only new events come.
        let more = two.iter().enumerate().map(|(number, does)| {
            let mut draft = draft(one.len() + number, does);
            draft.id = Uuid::from_u128(1_000_000 + number as u128);
            draft
        });
        first.journal.append_wait(more.collect()).expect("appends");
        first.journal.settle().expect("settles");
        merged(&collector.journal, &exported(&first.journal, levels.0, "one"));
        assert_holds(&collector.journal, &first.journal, levels.0);
        assert_holds(&collector.journal, &second.journal, levels.1);
        prop_assert!(collector.journal.verify(|_, _| ()).expect("verifies").ok);
    }
}

fn refused(into: &Journal, text: &str) -> String {
    let mut merge = Merge::new(into).expect("a collector's journal");
    let problem = merge
        .file(text.as_bytes())
        .expect_err("refused")
        .to_string();
    into.settle().expect("settles");
    problem
}

#[test]
fn what_is_not_right_is_refused_in_words() {
    let story: Vec<_> = (0..2_500)
        .map(|number| Does::Tool(number as u8 % 3))
        .collect();
    let (first, collector) = (machine(&story), place());
    let text = exported(&first.journal, Level::All, "one");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2_503);
    let run = RUN_EVENTS as usize + 1;
    let second = lines[run..].join("\n");
    let says = refused(&collector.journal, &second);
    assert!(says.contains("events 1 to 1000 are missing"), "{says}");
    let says = refused(&collector.journal, &lines[1..].join("\n"));
    assert!(
        says.starts_with("line 1: a run begins with its head"),
        "{says}"
    );
    let says = refused(
        &collector.journal,
        &text.replace("model_stepped", "model_leaped"),
    );
    assert!(says.contains("was changed after it was exported"), "{says}");
    let says = refused(
        &collector.journal,
        &text.replacen("\"format\":1", "\"format\":2", 1),
    );
    assert!(says.contains("upgrade"), "{says}");
    let says = refused(
        &collector.journal,
        &text.replacen("\"one\"", "\"../one\"", 1),
    );
    assert!(says.contains("a machine's name"), "{says}");
    assert_eq!(collector.journal.last_seq(), 0, "nothing was taken in");
    // A file that was cut off: the complete lines stay, and the rest comes with the whole file.
    let says = refused(&collector.journal, &lines[..run + 500].join("\n"));
    assert!(says.contains("ends within the run from 1001"), "{says}");
    assert_eq!(collector.journal.last_seq(), 1_001);
    let came = merged(&collector.journal, &text);
    assert_eq!((came.merged, came.known), (1_500, 1_000));
    assert_holds(&collector.journal, &first.journal, Level::All);
}

/// Lines as a machine with another program could send them, with a right hash.
fn with_head(head: &str, lines: &[String]) -> String {
    let mut head: Value = serde_json::from_str(head).expect("a head");
    let chain = chain("", lines.iter().map(String::as_str));
    head["run"]["chain"] = chain.into();
    head["run"]["lines"] = lines.len().into();
    format!("{head}\n{}\n", lines.join("\n"))
}

#[test]
fn a_kind_that_is_unknown_is_refused_until_the_collector_is_upgraded() {
    let (first, collector) = (machine(&[Does::Starts, Does::Tool(1)]), place());
    let text = exported(&first.journal, Level::All, "one");
    let lines: Vec<_> = text.lines().collect();
    let told = |from: &str, to: &str| {
        let lines: Vec<_> = lines[1..]
            .iter()
            .map(|line| line.replace(from, to))
            .collect();
        refused(&collector.journal, &with_head(lines_head(&text), &lines))
    };
    let says = told("model_stepped", "model_dreamed");
    assert!(
        says.contains("line 3: the kind `model_dreamed` is unknown: upgrade"),
        "{says}"
    );
    let says = told("\"seq\":2", "\"seq\":4");
    assert!(says.contains("it has seq 4, and 2 is next"), "{says}");
    let says = told("model_stepped", "run_received");
    assert!(says.contains("a collector's event"), "{says}");
}

fn lines_head(text: &str) -> &str {
    text.lines().next().expect("a head")
}

#[test]
fn a_copied_machine_that_went_on_is_refused() {
    let (first, collector) = (machine(&[Does::Starts, Does::Tool(1)]), place());
    let text = exported(&first.journal, Level::All, "one");
    merged(&collector.journal, &text);
    let lines: Vec<_> = text.lines().skip(1).collect();
    let other = lines[1].replace("1970-01-01T00:00:02", "1970-01-01T00:00:05");
    assert_ne!(other, lines[1]);
    let says = refused(
        &collector.journal,
        &with_head(lines_head(&text), &[lines[0].to_owned(), other]),
    );
    assert!(says.contains("the journal was copied"), "{says}");
}

#[test]
fn events_of_ones_own_are_not_mixed_with_those_of_others() {
    let (first, own) = (machine(&[Does::Starts]), machine(&[Does::Starts]));
    let problem = Merge::new(&own.journal).err().expect("refused");
    assert!(
        problem.to_string().contains("events of its own"),
        "{problem}"
    );
    assert!(!exported(&first.journal, Level::All, "one").is_empty());
}
