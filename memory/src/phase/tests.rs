//! Every field and every refusal; the fold; that a checkpoint survives the journal and its file.

use journal::{Criterion, CriterionStatus, Envelope, Event, PhaseRecord, Stream, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Phases, Scope, file, input};

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_795_000_000_000_000 + micros)
}

fn checkpoint(id: &str, session: &str, micros: i64) -> PhaseRecord {
    PhaseRecord {
        id: id.into(),
        session: session.into(),
        phase: "build".into(),
        number: 4,
        created_at: at(micros),
        completed: false,
        summary: "half of it".into(),
        criteria: Vec::new(),
        metadata: "{}".into(),
    }
}

fn envelope(seq: u64, event: Event) -> Envelope {
    let stream = Stream::phases();
    let at = at(0);
    Envelope {
        seq,
        stream,
        at,
        recorded_at: at,
        id: Uuid::nil(),
        late: false,
        event,
        origin: None,
    }
}

fn created(seq: u64, checkpoint: PhaseRecord, project: Option<&str>) -> Envelope {
    let file = format!("ckpt-{}.json", checkpoint.id);
    let project = project.map(String::from);
    envelope(
        seq,
        Event::PhaseCreated {
            checkpoint: Box::new(checkpoint),
            project,
            file,
            imported: false,
        },
    )
}

/// A file with everything in it.
fn whole() -> Value {
    json!({
        "id": "V1StGXR8_Z5jdHi6B-myT",
        "sessionId": "s1",
        "phase": "observe",
        "phaseNumber": 1,
        "createdAt": "2026-02-01T10:30:00.000Z",
        "completed": false,
        "taskSummary": "",
        "iscCriteria": [
            { "id": "C1", "subject": "it builds", "status": "pending" },
            { "id": "C2", "subject": "", "status": "in_progress" },
            { "id": "", "subject": "it runs", "status": "completed" },
        ],
        "metadata": { "branch": "parser", "deep": { "list": [1, null, 2.5, "ä"] } },
    })
}

#[test]
fn every_field_of_a_file_is_read() {
    let read = input::file(whole().to_string().as_bytes()).unwrap();
    let criterion = |id: &str, subject: &str, status| Criterion {
        id: id.into(),
        subject: subject.into(),
        status,
    };
    assert_eq!(
        read,
        PhaseRecord {
            id: "V1StGXR8_Z5jdHi6B-myT".into(),
            session: "s1".into(),
            phase: "observe".into(),
            number: 1,
            created_at: "2026-02-01T10:30:00Z".parse().unwrap(),
            completed: false,
            summary: String::new(),
            criteria: vec![
                criterion("C1", "it builds", CriterionStatus::Pending),
                criterion("C2", "", CriterionStatus::InProgress),
                criterion("", "it runs", CriterionStatus::Completed),
            ],
            metadata: r#"{"branch":"parser","deep":{"list":[1,null,2.5,"ä"]}}"#.into(),
        }
    );
    let mut with_more = whole();
    with_more["nextPhase"] = "think".into();
    assert_eq!(
        input::file(with_more.to_string().as_bytes()),
        Ok(read),
        "unknown fields are ignored"
    );
}

#[test]
fn a_file_is_written_with_every_field() {
    let read = input::file(whole().to_string().as_bytes()).unwrap();
    insta::assert_snapshot!(file::text(&read), @r#"
    {
      "id": "V1StGXR8_Z5jdHi6B-myT",
      "sessionId": "s1",
      "phase": "observe",
      "phaseNumber": 1,
      "createdAt": "2026-02-01T10:30:00.000000Z",
      "completed": false,
      "taskSummary": "",
      "iscCriteria": [
        {
          "id": "C1",
          "subject": "it builds",
          "status": "pending"
        },
        {
          "id": "C2",
          "subject": "",
          "status": "in_progress"
        },
        {
          "id": "",
          "subject": "it runs",
          "status": "completed"
        }
      ],
      "metadata": {
        "branch": "parser",
        "deep": {
          "list": [
            1,
            null,
            2.5,
            "ä"
          ]
        }
      }
    }
    "#);
}

/// A replacement for a field; `None` removes it.
type Wrong = (&'static str, Option<Value>);

fn refused(read: impl Fn(&Value) -> Option<String>, right: &Value, table: Vec<Wrong>) -> String {
    let refusals = table.into_iter().map(|(field, wrong)| {
        let mut value = right.clone();
        match wrong {
            Some(wrong) => value[field] = wrong,
            None => drop(value.as_object_mut().unwrap().remove(field)),
        }
        let refusal = read(&value).unwrap_or_else(|| panic!("{field} of {value} was taken"));
        assert!(
            refusal.starts_with(field),
            "`{refusal}` does not name {field}"
        );
        refusal
    });
    refusals.collect::<Vec<_>>().join("\n")
}

/// Values that their fields cannot have.
fn wrong_values() -> [Wrong; 21] {
    [
        ("id", Some(json!(""))),
        ("id", Some(json!(7))),
        ("sessionId", Some(json!(""))),
        ("phase", Some(json!(""))),
        ("phase", Some(Value::Null)),
        ("phaseNumber", Some(json!(0))),
        ("phaseNumber", Some(json!(8))),
        ("phaseNumber", Some(json!(-1))),
        ("phaseNumber", Some(json!(2.5))),
        ("phaseNumber", Some(json!("4"))),
        ("createdAt", Some(json!("yesterday"))),
        ("createdAt", Some(json!(1_795_000_000))),
        ("completed", Some(json!("no"))),
        ("taskSummary", Some(json!(["a"]))),
        ("iscCriteria", Some(json!({}))),
        ("iscCriteria", Some(json!(["C1"]))),
        (
            "iscCriteria",
            Some(json!([{ "id": "C1", "subject": "x", "status": "done" }])),
        ),
        (
            "iscCriteria",
            Some(json!([{ "id": "C1", "status": "pending" }])),
        ),
        (
            "iscCriteria",
            Some(json!([{ "id": "C1", "subject": "x", "status": "pending" }, { "id": 3 }])),
        ),
        ("metadata", Some(json!([]))),
        ("metadata", Some(json!("x".repeat(100)))),
    ]
}

#[test]
fn a_wrong_field_of_a_file_is_named() {
    let read = |value: &Value| input::file(value.to_string().as_bytes()).err();
    let mut table: Vec<Wrong> = [
        "id",
        "sessionId",
        "phase",
        "phaseNumber",
        "createdAt",
        "completed",
        "taskSummary",
        "iscCriteria",
        "metadata",
    ]
    .map(|field| (field, None))
    .into();
    table.extend(wrong_values());
    insta::assert_snapshot!(refused(read, &whole(), table), @r#"
    id: missing
    sessionId: missing
    phase: missing
    phaseNumber: missing
    createdAt: missing
    completed: missing
    taskSummary: missing
    iscCriteria: missing
    metadata: missing
    id: must not be empty
    id: expected a string, got 7
    sessionId: must not be empty
    phase: must not be empty
    phase: expected a string, got null
    phaseNumber: expected an integer from 1 to 7, got 0
    phaseNumber: expected an integer from 1 to 7, got 8
    phaseNumber: expected an integer from 1 to 7, got -1
    phaseNumber: expected an integer from 1 to 7, got 2.5
    phaseNumber: expected an integer from 1 to 7, got "4"
    createdAt: expected a time such as 2026-02-01T10:30:00Z, got "yesterday"
    createdAt: expected a string, got 1795000000
    completed: expected true or false, got "no"
    taskSummary: expected a string, got ["a"]
    iscCriteria: expected a list of {id, subject, status}, got {}
    iscCriteria[0]: expected {id, subject, status}, got "C1"
    iscCriteria[0].status: expected pending, in_progress or completed, got "done"
    iscCriteria[0].subject: missing
    iscCriteria[1].status: missing
    metadata: expected a JSON object, got []
    metadata: expected a JSON object, got "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..
    "#);
}

#[test]
fn a_wrong_field_of_a_request_is_named() {
    let right = json!({ "phase": "plan", "phaseNumber": 3, "taskSummary": "all of it" });
    let read = input::request(&right).unwrap();
    assert_eq!(
        (read.session, read.criteria.len(), read.metadata.as_str()),
        (None, 0, "{}")
    );
    for field in ["sessionId", "iscCriteria", "metadata"] {
        let mut value = right.clone();
        value[field] = Value::Null;
        assert!(input::request(&value).is_ok(), "{field} may be left out");
    }
    let read = |value: &Value| input::request(value).err();
    let table = vec![
        ("phase", None),
        ("phaseNumber", None),
        ("taskSummary", None),
        ("sessionId", Some(json!(""))),
        ("phase", Some(json!(""))),
        ("phaseNumber", Some(json!("four"))),
        ("iscCriteria", Some(json!("C1"))),
        ("metadata", Some(json!(1))),
        ("completed", Some(json!(true))),
    ];
    insta::assert_snapshot!(refused(read, &right, table), @r#"
    phase: missing
    phaseNumber: missing
    taskSummary: missing
    sessionId: must not be empty
    phase: must not be empty
    phaseNumber: expected an integer from 1 to 7, got "four"
    iscCriteria: expected a list of {id, subject, status}, got "C1"
    metadata: expected a JSON object, got 1
    completed: unknown field; the fields are sessionId, phase, phaseNumber, taskSummary, iscCriteria, metadata
    "#);
}

#[test]
fn a_file_that_is_not_a_record_is_refused() {
    let refusals =
        [&b""[..], b"{", b"[]", b"\xff\xfe", b"null"].map(|bytes| input::file(bytes).unwrap_err());
    insta::assert_snapshot!(refusals.join("\n"), @r"
    is not JSON: EOF while parsing a value at line 1 column 0
    is not JSON: EOF while parsing an object at line 1 column 1
    the file: expected a JSON object, got []
    is not JSON: expected value at line 1 column 1
    the file: expected a JSON object, got null
    ");
    assert!(input::file(&vec![b' '; input::BYTES_MAX + 1]).is_err());
    // Short as it came, and too large as it would be written.
    let mut dense = whole();
    dense["metadata"] = json!({ "list": vec![1; input::BYTES_MAX / 4] });
    let refusal = input::file(dense.to_string().as_bytes()).unwrap_err();
    assert!(
        refusal.starts_with("the record's file would have "),
        "{refusal}"
    );
}

#[test]
fn names_tell_time_and_phase_and_are_unique() {
    let time: Timestamp = "2026-02-01T10:30:00.9Z".parse().unwrap();
    let of = |phase: &str| file::name(time, phase, |_| false);
    let names = [
        "observe",
        "Plan / Build!",
        "../../etc",
        "",
        "ÄÖ",
        "a-_b",
        &"x".repeat(60),
    ]
    .map(of);
    insta::assert_snapshot!(names.join("\n"), @r"
    ckpt-2026-02-01T10-30-00-observe.json
    ckpt-2026-02-01T10-30-00-plan-build.json
    ckpt-2026-02-01T10-30-00-etc.json
    ckpt-2026-02-01T10-30-00-phase.json
    ckpt-2026-02-01T10-30-00-äö.json
    ckpt-2026-02-01T10-30-00-a-b.json
    ckpt-2026-02-01T10-30-00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.json
    ");
    let mut taken: Vec<String> = Vec::new();
    for _ in 0..3 {
        taken.push(file::name(time, "build", |name| {
            taken.iter().any(|known| known == name)
        }));
    }
    let all = ["", "-2", "-3"].map(|count| format!("ckpt-2026-02-01T10-30-00{count}-build.json"));
    assert_eq!(taken, all);
    assert!(taken.iter().all(|name| file::is_name(name)));
}

#[test]
fn the_latest_incomplete_one_is_found_in_its_project_and_session() {
    let events = [
        created(1, checkpoint("a", "s1", 10), Some("/p")),
        created(2, checkpoint("b", "s2", 30), Some("/p")),
        created(3, checkpoint("c", "s1", 20), Some("/q")),
        created(4, checkpoint("d", "s1", 90), None),
        created(5, checkpoint("e", "s3", 30), Some("/p")),
        created(6, checkpoint("a", "other", 99), None),
    ];
    let mut phases = Phases::fold(&events);
    let ids = |phases: &Phases| {
        phases
            .newest_first()
            .iter()
            .map(|phase| phase.checkpoint.id.as_str())
            .collect::<String>()
    };
    assert_eq!(ids(&phases), "debca", "newest first; an id is known once");
    let latest = |phases: &Phases, project: Option<&str>, session: Option<&str>| {
        let scope = Scope {
            project: project.map(String::from),
            session: session.map(String::from),
        };
        phases
            .latest_incomplete(&scope)
            .map(|phase| phase.checkpoint.id.clone())
            .unwrap_or_default()
    };
    let table = [
        (None, None, "d"),
        (Some("/p"), None, "e"),
        (Some("/q"), None, "c"),
        (Some("/r"), None, ""),
        (None, Some("s2"), "b"),
        (Some("/p"), Some("s1"), "a"),
        (Some("/q"), Some("s2"), ""),
    ];
    for (project, session, expected) in table {
        assert_eq!(
            latest(&phases, project, session),
            expected,
            "{project:?} {session:?}"
        );
    }
    let completed = |id: &str| Event::PhaseCompleted {
        checkpoint: id.into(),
    };
    phases.apply(&envelope(7, completed("e")));
    assert_eq!(latest(&phases, Some("/p"), None), "b");
    phases.apply(&envelope(
        8,
        Event::PhaseDeleted {
            checkpoint: "b".into(),
        },
    ));
    assert_eq!(latest(&phases, Some("/p"), None), "a");
    for unknown in ["x", "e"] {
        phases.apply(&envelope(9, completed(unknown)));
    }
    phases.apply(&envelope(10, Event::Unmuted {}));
    assert_eq!(ids(&phases), "deca");
    assert!(
        phases.get("b").is_some_and(|phase| phase.deleted),
        "it is remembered"
    );
}

fn any_metadata() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has finite numbers", |number| number.is_finite())
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(any::<String>(), value, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

prop_compose! {
    fn any_checkpoint()(
        (id, session, phase) in (".{1,20}", ".{1,20}", ".{1,20}"),
        number in 1_u8..=7,
        micros in 0_i64..200_000_000_000_000,
        completed in any::<bool>(),
        summary in any::<String>(),
        criteria in prop::collection::vec((any::<String>(), any::<String>(), 0_usize..3), 0..4),
        metadata in any_metadata(),
    ) -> PhaseRecord {
        let statuses = [CriterionStatus::Pending, CriterionStatus::InProgress, CriterionStatus::Completed];
        let criteria = criteria.into_iter().map(|(id, subject, status)| Criterion { id, subject, status: statuses[status] });
        PhaseRecord {
            id, session, phase, number, completed, summary,
            created_at: at(micros),
            criteria: criteria.collect(),
            metadata: metadata.to_string(),
        }
    }
}

proptest! {
    #[test]
    fn a_file_reads_back_as_what_was_written(checkpoint in any_checkpoint()) {
        let text = file::text(&checkpoint);
        let read = input::file(text.as_bytes()).map_err(TestCaseError::fail)?;
        prop_assert_eq!(file::text(&read), text);
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,200}", value in any_metadata()) {
        let _ = input::file(&bytes);
        let _ = input::file(text.as_bytes());
        let _ = input::file(value.to_string().as_bytes());
        let _ = input::request(&value);
        let name = file::name(at(0), &text, |_| false);
        prop_assert!(file::is_name(&name) && !name.contains(['/', '\0', '\n']) && name.len() < 100);
    }
}
