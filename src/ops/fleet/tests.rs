//! What leaves the machine holds nothing that is not on the list, and merging is translation only.

use journal::{
    Agent, Draft, Envelope, Event, Host, Identity, Journal, Options, Payload, Stream, Timestamp,
    codec,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::levels::Level;
use super::send::{Cut, RUN_EVENTS, Sender, export};
use super::{Merge, Merged};

const CANARY: &str = "canary in /home/ada";

struct Place {
    _folder: tempfile::TempDir,
    journal: Journal,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("opens");
    Place {
        _folder: folder,
        journal,
    }
}

/// An event of every kind that a machine has: a variant's number followed by zeros decodes as one with empty fields.
fn one_of_each() -> Vec<Event> {
    let decode = |number: u8| {
        let mut bytes = [0; 512];
        bytes[0] = number;
        codec::unpack::<Event>(&bytes)
    };
    let own = |event: &Event| !matches!(event.kind(), "run_received" | "withheld");
    (0..=250).map_while(decode).filter(own).collect()
}

fn envelope(seq: u64, event: Event) -> Envelope {
    let at = Timestamp::from_micros(1_000_000 * seq as i64);
    Envelope {
        seq,
        stream: Stream::of_native(Agent::Gemini, CANARY),
        at,
        recorded_at: at,
        id: Uuid::from_u128(seq.into()),
        late: false,
        event,
        origin: None,
    }
}

/// What a field of some type could hold that nobody else may read.
fn secrets() -> Vec<Value> {
    let call = json!({"id": CANARY, "tool": CANARY, "kind": "shell", "command": CANARY, "paths": [CANARY], "is_error": false,
        "refused": false, "finished": true, "output": CANARY, "at": "2026-11-20T09:00:00Z", "duration_ms": 1});
    let place = json!({"cwd": CANARY, "transcript": CANARY, "env": [[CANARY, CANARY]]});
    let host = json!({"hook": CANARY, "turn": CANARY, "subagent": CANARY, "place": place});
    vec![
        CANARY.into(),
        json!([CANARY]),
        json!([[CANARY, CANARY]]),
        json!([[CANARY, 1]]),
        json!([{"path": CANARY, "hash": null}]),
        json!({"known": [{"path": CANARY, "hash": null}]}),
        json!({"unknown": CANARY}),
        json!([{"text": CANARY, "category": CANARY, "step": "observe"}]),
        json!([{"id": CANARY, "subject": CANARY, "status": "pending"}]),
        json!([call]),
        call,
        place,
        host,
        json!({"known_files": [CANARY], "packages": [CANARY], "files": {"empty": [CANARY]},
            "workspace": {"tasks": [{"folder": CANARY, "runner": CANARY, "name": CANARY, "text": CANARY}]}}),
    ]
}

/// Returns the line with a secret in every place that can hold one, and the number of them.
fn filled(line: &Value) -> (Value, usize) {
    const ADDRESS: [&str; 10] = [
        "seq",
        "at",
        "recorded_at",
        "session",
        "native_session",
        "agent",
        "id",
        "late",
        "kind",
        "payload",
    ];
    let mut whole = line.clone();
    let mut count = 0;
    let mut open: Vec<String> = whole
        .as_object()
        .expect("an object")
        .keys()
        .filter(|name| !ADDRESS.contains(&name.as_str()))
        .map(|name| format!("/{name}"))
        .collect();
    while let Some(path) = open.pop() {
        let found = secrets().into_iter().find(|secret| {
            let mut tried = whole.clone();
            *tried.pointer_mut(&path).expect("a field") = secret.clone();
            let back = codec::from_json(tried.clone());
            // A field that is not known is skipped: then nothing holds the secret.
            back.is_ok_and(|(event, payload)| {
                let kept = codec::to_export(&event, &payload);
                kept.pointer(&path)
                    .is_some_and(|kept| kept.to_string().contains("canary"))
            })
        });
        let field = whole.pointer_mut(&path).expect("a field");
        if let Some(secret) = found {
            *field = secret;
            count += 1;
        } else if let Some(members) = field.as_object() {
            open.extend(members.keys().map(|name| format!("{path}/{name}")));
        }
    }
    (whole, count)
}

#[test]
fn no_secret_of_any_field_leaves_below_all() {
    let place = place();
    let identity = place.journal.identity().expect("an identity");
    let payload = Payload::Text(json!({ "prompt": CANARY }).to_string());
    let mut secrets = 0;
    for event in one_of_each() {
        let line = codec::to_export(&envelope(7, event), &payload);
        let (line, count) = filled(&line);
        secrets += count;
        let (full, payload) = codec::from_json(line).expect("its own line");
        for level in [Level::Decisions, Level::Skeleton] {
            let cut = Cut {
                identity: &identity,
                level,
            };
            let Some(sent) = cut.line(&full, &payload) else {
                continue;
            };
            assert!(!sent.to_string().contains("canary"), "{level:?}: {sent}");
            // It can be read by a collector, and names what it lacks.
            let withheld = sent["withheld"].as_array().expect("a list").len();
            let mut sent = sent;
            sent.as_object_mut().expect("an object").remove("withheld");
            let (back, _) = codec::from_json(sent).expect("a line");
            assert_eq!(back.event.kind(), full.event.kind());
            assert!(count == 0 || withheld > 0, "{}", full.event.kind());
            assert_ne!(back.id, full.id);
        }
        let all = Cut {
            identity: &identity,
            level: Level::All,
        };
        let sent = all.line(&full, &payload).expect("all kinds");
        assert_eq!(sent, codec::to_export(&full, &payload));
    }
    assert!(secrets > 60, "the test fills {secrets} fields");
}

#[test]
fn paths_are_equal_where_they_were_equal_and_cannot_be_compared_elsewhere() {
    let (one, two) = (place(), place());
    let cwd = |identity: &Identity, cwd: &str| {
        let host = Host {
            hook: "Stop".into(),
            place: Some(journal::Place {
                cwd: cwd.into(),
                ..journal::Place::default()
            }),
            ..Host::default()
        };
        let source = "startup".to_owned();
        let cut = Cut {
            identity,
            level: Level::Decisions,
        };
        let event = envelope(1, Event::SessionStarted { host, source });
        let line = cut.line(&event, &Payload::None).expect("sent");
        assert_eq!(line["source"], "startup");
        assert_eq!(line["host"]["hook"], "Stop");
        assert_ne!(line["native_session"], CANARY);
        line["host"]["place"]["cwd"]
            .as_str()
            .expect("text")
            .to_owned()
    };
    let (one, two) = (
        one.journal.identity().expect("an identity"),
        two.journal.identity().expect("an identity"),
    );
    assert_eq!(cwd(&one, "/a"), cwd(&one, "/a"));
    assert_ne!(cwd(&one, "/a"), cwd(&one, "/b"));
    assert_ne!(cwd(&one, "/a"), cwd(&two, "/a"));
    assert!(cwd(&one, "/a").starts_with("keyed:"));
}

/// What one machine does next.
#[derive(Clone, Debug)]
enum Does {
    /// An agent of this session calls a tool.
    Tool(u8),
    /// A delivery is about an earlier event.
    About(u8, u8),
    /// The daemon starts.
    Starts,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        (0..3u8).prop_map(Does::Tool),
        (0..3u8, 0..9u8).prop_map(|(session, back)| Does::About(session, back)),
        Just(Does::Starts),
    ]
}

fn draft(number: usize, does: &Does) -> Draft {
    let seq = number as u64 + 1;
    let (session, event) = match does {
        Does::Tool(session) => (
            *session,
            Event::ModelStepped {
                host: Host::default(),
            },
        ),
        Does::About(session, back) => {
            let decision = seq.saturating_sub(u64::from(*back)).max(1);
            let by = "notify".to_owned();
            (*session, Event::DeliveryConfirmed { decision, by })
        }
        Does::Starts => {
            let version = "0.1.0".to_owned();
            let recovery = Vec::new();
            (9, Event::DaemonStarted { version, recovery })
        }
    };
    let stream = match session {
        9 => Stream::daemon(),
        session => Stream::of_native(Agent::Claude, &format!("session {session}")),
    };
    Draft {
        stream,
        at: Timestamp::from_micros(1_000_000 * seq as i64),
        id: Uuid::from_u128(seq.into()),
        event,
        payload: None,
    }
}

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
        // The first machine goes on; only what is new comes.
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
    assert!(
        says.contains("events 1 to 1000 of one are missing"),
        "{says}"
    );
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
    // A file that was cut: what is whole stays, and the rest comes with the whole file.
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
    let chain = super::send::chain("", lines.iter().map(String::as_str));
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
        says.contains("line 3: the kind `model_dreamed` is not known: upgrade"),
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

#[test]
fn what_is_withheld_is_counted_per_session() {
    let place = place();
    let identity = place.journal.identity().expect("an identity");
    let cut = Cut {
        identity: &identity,
        level: Level::Decisions,
    };
    let mut sender = Sender::new(cut, "one");
    let story = [
        Does::Tool(1),
        Does::Tool(1),
        Does::Tool(2),
        Does::Starts,
        Does::Tool(2),
    ];
    for (number, does) in story.iter().enumerate() {
        let draft = draft(number, does);
        let mut event = envelope(number as u64 + 1, draft.event);
        event.stream = draft.stream;
        assert!(sender.take(&event, &Payload::None).is_none());
    }
    let run = sender.run();
    let lines: Vec<Value> = run[1..]
        .iter()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["seq"].as_u64(),
                line["kind"].as_str(),
                line["count"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (Some(1), Some("withheld"), Some(2)),
            (Some(3), Some("withheld"), Some(1)),
            (Some(4), Some("daemon_started"), None),
            (Some(5), Some("withheld"), Some(1)),
        ]
    );
}
