//! A real journal and a real folder, without a daemon.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use journal::{Journal, Options};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Places, Request, answer};
use crate::ops::refusal::{Refusal, Refused};

struct Stage {
    folder: TempDir,
    journal: Journal,
    places: Places,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) =
            Journal::open(&folder.path().join("journal"), Options::default()).expect("opens");
        let keep = std::time::Duration::from_secs(86_400);
        let places = Places {
            folder: folder.path().join("ckpt"),
            seed: Some(folder.path().join("seed.json")),
            keep,
            redactor: checkpoint::redact::built_in().clone(),
        };
        Self {
            folder,
            journal,
            places,
        }
    }

    fn try_ask(&self, word: &str, fields: Value) -> Result<Value, Refusal> {
        answer(&Request::read(word, fields)?, &self.journal, &self.places)
    }

    fn ask(&self, word: &str, fields: Value) -> Value {
        let answer = self.try_ask(word, fields).expect(word);
        assert_eq!(answer["ok"], true);
        answer
    }

    fn create(&self, phase: &str) -> String {
        let checkpoint =
            json!({ "phase": phase, "phaseNumber": 2, "taskSummary": "so far", "sessionId": "s1" });
        id(&self.ask(
            "create",
            json!({ "checkpoint": checkpoint, "folder": self.folder.path() }),
        ))
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let read = fs::read_dir(&self.places.folder).map(|entries| {
            entries.map(|entry| {
                let path = entry.expect("an entry").path();
                (
                    path.file_name()
                        .expect("a name")
                        .to_string_lossy()
                        .into_owned(),
                    fs::read(path).expect("readable"),
                )
            })
        });
        read.map(Iterator::collect).unwrap_or_default()
    }

    fn put(&self, name: &str, value: &Value) {
        fs::create_dir_all(&self.places.folder).expect("a folder");
        fs::write(self.places.folder.join(name), value.to_string()).expect("writable");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.journal.close();
    }
}

fn id(answer: &Value) -> String {
    answer["checkpointId"].as_str().expect("an id").to_owned()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["checkpoints"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["id"].as_str().expect("an id"))
        .collect()
}

fn foreign(id: &str, created_at: &str, completed: bool) -> Value {
    json!({
        "id": id, "sessionId": "far", "phase": "observe", "phaseNumber": 1, "createdAt": created_at,
        "completed": completed, "taskSummary": "", "iscCriteria": [], "metadata": {},
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever was made and completed, and whatever was lost: the files come back byte for byte.
    #[test]
    fn files_rebuilt_from_the_journal_equal_those_written(
        made in prop::collection::vec((".{1,12}", 1_u8..=7, ".{0,40}", any::<f64>(), any::<bool>(), any::<bool>()), 1..6),
    ) {
        let stage = Stage::new();
        let mut lost = Vec::new();
        for (count, (phase, number, summary, metadata, completed, is_lost)) in made.into_iter().enumerate() {
            let checkpoint = json!({
                "sessionId": format!("s{}", count % 2),
                "phase": phase, "phaseNumber": number, "taskSummary": summary, "metadata": { "n": metadata, "s": summary },
                "iscCriteria": [{ "id": phase, "subject": summary, "status": "in_progress" }],
            });
            let answer = stage.ask("create", json!({ "checkpoint": checkpoint }));
            if completed {
                stage.ask("complete", json!({ "id": id(&answer) }));
            }
            if is_lost {
                lost.push(answer["file"].as_str().expect("a path").to_owned());
            }
        }
        let written = stage.files();
        for file in &lost {
            fs::remove_file(file).expect("it was there");
        }
        let listed = stage.ask("list", json!({}));
        prop_assert_eq!(listed["rebuilt"].as_array().map(Vec::len), Some(lost.len()));
        prop_assert_eq!(&listed["problems"], &json!([]));
        prop_assert_eq!(stage.files(), written);
    }
}

#[test]
fn what_other_programs_left_is_taken_over_once() {
    let stage = Stage::new();
    stage.put(
        "ckpt-2026-02-01T10-30-00-observe.json",
        &foreign("far-1", "2026-02-01T10:30:00.000Z", false),
    );
    stage.put(
        "ckpt-2026-02-01T10-35-00-observe.json",
        &foreign("far-2", "2026-02-01T10:35:00.000Z", true),
    );
    stage.put(
        "ckpt-copy.json",
        &foreign("far-1", "2026-02-01T10:30:00.000Z", false),
    );
    stage.put("notes.json", &json!("not ours"));
    let own = stage.create("build");
    let listed = stage.ask("list", json!({}));
    assert_eq!(
        ids(&listed),
        [own.as_str(), "far-2", "far-1"],
        "newest first"
    );
    assert_eq!(listed["imported"].as_array().map(Vec::len), Some(2));
    let problem = listed["problems"][0]["error"].as_str().expect("one");
    assert_eq!(
        problem,
        "holds the record of ckpt-2026-02-01T10-30-00-observe.json again"
    );
    let before = stage.files();
    let events = stage.journal.last_seq();
    assert_eq!(
        ids(&stage.ask("list", json!({ "completed": false }))),
        [own.as_str(), "far-1"]
    );
    assert_eq!(
        (stage.journal.last_seq(), stage.files()),
        (events, before),
        "a second look changes nothing"
    );

    // The other program completes it in its file.
    stage.put(
        "ckpt-2026-02-01T10-30-00-observe.json",
        &foreign("far-1", "2026-02-01T10:30:00.000Z", true),
    );
    assert_eq!(
        ids(&stage.ask("list", json!({ "completed": false }))),
        [own.as_str()]
    );
    assert_eq!(
        stage
            .try_ask("show", json!({ "id": "far" }))
            .map_err(|(trouble, _)| trouble),
        Err(Refused::NotFound)
    );
    assert_eq!(
        stage.ask("show", json!({ "id": "far-1" }))["checkpoint"]["completed"],
        true
    );
}

#[test]
fn damage_is_reported_and_mended_only_when_asked() {
    let stage = Stage::new();
    let (one, two) = (stage.create("one"), stage.create("two"));
    let written = stage.files();
    let name = |id: &str| {
        let file = stage.ask("show", json!({ "id": id }))["file"]
            .as_str()
            .expect("a path")
            .to_owned();
        Path::new(&file)
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    let (first, second) = (name(&one), name(&two));
    fs::write(stage.places.folder.join(&first), "{\"id\":").expect("writable");
    let mut edited: Value = serde_json::from_slice(&written[&second]).expect("JSON");
    edited["taskSummary"] = "something else".into();
    stage.put(&second, &edited);
    stage.put("ckpt-strange.json", &json!({ "id": "x" }));
    let listed = stage.ask("list", json!({}));
    assert_eq!(
        ids(&listed),
        [two.as_str(), one.as_str()],
        "the journal knows them all the same"
    );
    let problems: Vec<_> = listed["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["error"].as_str().expect("text"))
        .collect();
    let sorted_is = |mut problems: Vec<&str>| {
        problems.sort_unstable();
        problems.join("\n")
    };
    insta::assert_snapshot!(sorted_is(problems), @r"
    completed: missing
    differs from the journal; `checkpointd progress phase rebuild` rewrites it from the journal
    is not JSON: EOF while parsing a value at line 1 column 6; `checkpointd progress phase rebuild` rewrites it from the journal
    ");
    let rebuilt = stage.ask("rebuild", json!({}));
    assert_eq!(
        rebuilt["problems"].as_array().map(Vec::len),
        Some(1),
        "an unknown file stays as it is"
    );
    let after = stage.files();
    assert!(
        written
            .iter()
            .all(|(name, bytes)| after.get(name) == Some(bytes))
    );
    assert_eq!(
        after.get(&format!("{first}.old")).map(Vec::as_slice),
        Some(&b"{\"id\":"[..]),
        "it is kept"
    );
}

#[test]
fn cleanup_keeps_what_is_young_or_not_over() {
    let stage = Stage::new();
    let young = stage.create("build");
    stage.ask("complete", json!({ "id": young }));
    for (id, completed) in [("old-open", false), ("old-done", true)] {
        stage.put(
            &format!("ckpt-{id}.json"),
            &foreign(id, "2020-02-01T10:30:00Z", completed),
        );
    }
    let cleaned = stage.ask("cleanup", json!({}));
    assert_eq!(
        (&cleaned["deleted"], &cleaned["keptIncomplete"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        ids(&stage.ask("list", json!({}))),
        [young.as_str(), "old-open"]
    );
    assert!(!stage.places.folder.join("ckpt-old-done.json").exists());
    assert_eq!(
        stage.ask("cleanup", json!({ "older_than": "1h", "incomplete": true }))["deleted"],
        1
    );
    assert_eq!(ids(&stage.ask("list", json!({}))), [young.as_str()]);

    // A crash between the journal and the folder: the file is not taken for a new one, and the next cleanup removes it.
    stage.put(
        "ckpt-old-done.json",
        &foreign("old-done", "2020-02-01T10:30:00Z", true),
    );
    assert_eq!(ids(&stage.ask("list", json!({}))), [young.as_str()]);
    stage.ask("cleanup", json!({}));
    assert_eq!(stage.files().len(), 1);
    let refused = stage
        .try_ask("cleanup", json!({ "older_than": "old" }))
        .expect_err("no duration");
    assert_eq!(refused.0, Refused::Request);
}

#[test]
fn the_seed_names_the_latest_one_until_it_is_over() {
    let stage = Stage::new();
    let seed = stage.folder.path().join("seed.json");
    let checkpoint = json!({ "phase": "x", "phaseNumber": 1, "taskSummary": "" });
    let without = stage.ask("create", json!({ "checkpoint": checkpoint }));
    assert!(
        without["seedProblem"]
            .as_str()
            .is_some_and(|problem| problem.ends_with("is not there")),
        "{without}"
    );
    assert!(!seed.exists());
    let text = "{\n\t\"version\": \"1.0\",\n\t\"state\": {\n\t\t\"proposals\": [ 1,2 ]\n\t}\n}";
    fs::write(&seed, text).expect("writable");
    let named = || {
        let value: Value = serde_json::from_slice(&fs::read(&seed).expect("there")).expect("JSON");
        value["state"]["checkpointRef"].clone()
    };
    let (one, two) = (stage.create("one"), stage.create("two"));
    assert_eq!(named(), json!(two));
    stage.ask("complete", json!({ "id": one }));
    assert_eq!(named(), json!(two), "it names another one");
    stage.ask("complete", json!({ "id": two }));
    assert_eq!(fs::read_to_string(&seed).expect("there"), text);
    let three = stage.create("three");
    stage.ask("cleanup", json!({ "older_than": "0s", "incomplete": true }));
    assert_eq!(
        fs::read_to_string(&seed).expect("there"),
        text,
        "{three} is gone"
    );
    fs::write(&seed, "{").expect("writable");
    let answer = stage.ask("create", json!({ "checkpoint": checkpoint }));
    assert!(
        answer["seedProblem"].is_string(),
        "and the checkpoint is there all the same"
    );
}

#[test]
fn what_is_asked_wrongly_is_refused() {
    let stage = Stage::new();
    for (word, fields) in [
        ("make", json!({})),
        ("create", json!({})),
        ("create", json!({ "checkpoint": 3 })),
        ("show", json!({})),
        ("list", json!({ "done": true })),
        ("detect", json!({ "scope": { "user": "x" } })),
        ("detect", json!([])),
        ("detect", json!({ "scope": { "session": "last" } })),
    ] {
        let refusal = stage.try_ask(word, fields.clone()).expect_err(word);
        assert_eq!(
            refusal.0,
            Refused::Request,
            "{word} {fields}: {}",
            refusal.1
        );
    }
    let large = json!({ "phase": "x", "phaseNumber": 1, "taskSummary": "x".repeat(1024 * 1024) });
    let refused = stage
        .try_ask("create", json!({ "checkpoint": large }))
        .expect_err("too large");
    assert_eq!(refused.0, Refused::Request, "{}", refused.1);
    assert_eq!(stage.journal.last_seq(), 0, "nothing was journaled");
    fs::write(&stage.places.folder, "in the way").expect("writable");
    let checkpoint = json!({ "phase": "x", "phaseNumber": 1, "taskSummary": "" });
    let refusal = stage
        .try_ask("create", json!({ "checkpoint": checkpoint }))
        .expect_err("no folder");
    assert_eq!(refusal.0, Refused::Files, "{}", refusal.1);
    let listed = stage.ask("list", json!({}));
    assert_eq!(
        listed["problems"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
    fs::remove_file(&stage.places.folder).expect("a file");
    assert_eq!(
        stage.ask("list", json!({}))["rebuilt"]
            .as_array()
            .map(Vec::len),
        Some(1),
        "it was journaled"
    );
}
