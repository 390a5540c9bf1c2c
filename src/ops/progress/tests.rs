//! A real journal and real folders, without a daemon: files against what the journal says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use checkpoint::hooks::{HookCall, Reading, normalize};
use checkpoint::progress::{Judgments, Texts};
use journal::{Agent, Options};
use proptest::prelude::*;
use tempfile::TempDir;

use serde_json::{Value, json};

use super::*;

struct Stage {
    folder: TempDir,
    journal: Journal,
    home: Home,
    config: Config,
}

/// The parts of a session's document.
#[derive(Clone, Debug)]
struct Made {
    session: usize,
    kind: ProgressKind,
    place: ProgressPlace,
    stated: Judgments,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::under(&folder.path().join("data"));
        let (journal, _) = Journal::open(&home.journal, Options::default()).expect("opens");
        fs::create_dir(folder.path().join("project")).expect("a folder");
        Self {
            folder,
            journal,
            home,
            config: Config::default(),
        }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Appends a session's prompt and a file that it wrote.
    fn work(&self, session: &str, file: &str) {
        let path = self.project().join(file);
        fs::write(&path, session).expect("writes");
        let tool = json!({ "tool_name": "Write", "tool_use_id": format!("{session}{file}"), "tool_input": { "file_path": path } });
        for (event, fields) in [
            ("UserPromptSubmit", json!({ "prompt": "go on" })),
            ("PostToolUse", tool),
        ] {
            let mut payload =
                json!({ "session_id": session, "cwd": self.project(), "hook_event_name": event });
            fields
                .as_object()
                .expect("an object")
                .iter()
                .for_each(|(key, value)| payload[key] = value.clone());
            let payload = payload.to_string();
            let call = HookCall {
                agent: Agent::Claude,
                event: None,
                payload: payload.as_bytes(),
                at: journal::Timestamp::now(),
                id: Uuid::now_v7(),
                env: Vec::new(),
                truncated: false,
            };
            let reading = Reading {
                prefix: "-",
                payload_bytes_max: 4096,
                redactor: &self.config.redactor,
                agents: &self.config.settings.agents,
            };
            let normal = normalize(&call, reading).expect("a payload");
            self.journal
                .append_wait(vec![normal.draft])
                .expect("appends");
        }
    }

    fn write(&self, session: &str, made: &Made) -> PathBuf {
        let Made {
            kind,
            place,
            stated,
            ..
        } = made.clone();
        let stream = Stream::of_native(Agent::Claude, session);
        let order = Order {
            stream,
            kind,
            cause: "command".into(),
            stated,
            place,
            id: Uuid::now_v7(),
        };
        progress::write(&self.journal, &self.home, &self.config, order)
            .expect("writes")
            .file
    }

    fn rebuild(&self, request: Request) -> Value {
        let rebuilt = answer("rebuild", &request, &self.journal, &self.home, &self.config);
        json!(rebuilt.expect("rebuilds"))
    }

    /// Every file of documents, and where every link of theirs leads.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![
            self.project().join(".ai-instructions"),
            self.home.progress.clone(),
        ];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_symlink() {
                    let to = fs::read_link(&path)
                        .expect("a link")
                        .into_os_string()
                        .into_encoded_bytes();
                    files.insert(path, to);
                } else if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read(path).expect("readable"));
                }
            }
        }
        files
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.journal.close();
    }
}

fn paths(value: &Value) -> Vec<PathBuf> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(|path| path.as_str().expect("a path").into())
        .collect()
}

fn any_made() -> impl Strategy<Value = Made> {
    let kind = prop::sample::select(ProgressKind::ALL.to_vec());
    let place = prop::sample::select(vec![ProgressPlace::Project, ProgressPlace::Data]);
    let text = || proptest::option::of(".{0,40}");
    let list = proptest::option::of(prop::collection::vec(".{0,20}", 0..3).prop_map(Texts));
    (0..3_usize, kind, place, text(), text(), list).prop_map(
        |(session, kind, place, summary, notes, remaining)| {
            let stated = Judgments {
                summary,
                notes,
                remaining,
                ..Judgments::default()
            };
            Made {
                session,
                kind,
                place,
                stated,
            }
        },
    )
}

const SESSIONS: [&str; 3] = ["s-one", "s-two", "s-three"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever was written by several sessions in both places, and whatever was lost: all comes back byte for byte.
    #[test]
    fn files_rebuilt_from_the_journal_equal_those_written(
        made in prop::collection::vec(any_made(), 1..8),
        lost in prop::collection::vec(any::<bool>(), 24),
        all in any::<bool>(),
    ) {
        let stage = Stage::new();
        SESSIONS.iter().for_each(|session| stage.work(session, &format!("{session}.rs")));
        for made in &made {
            stage.write(SESSIONS[made.session], made);
        }
        let written = stage.files();
        let lost: Vec<PathBuf> =
            written.keys().zip(lost.iter().cycle()).filter(|(_, is_lost)| all || **is_lost).map(|(path, _)| path.clone()).collect();
        for path in &lost {
            fs::remove_file(path).expect("it was there");
        }
        if all {
            fs::remove_dir_all(stage.project().join(".ai-instructions")).ok();
            fs::remove_dir_all(&stage.home.progress).ok();
        }
        let rebuilt = stage.rebuild(Request::default());
        prop_assert_eq!(paths(&rebuilt["rebuilt"]), lost);
        prop_assert_eq!(stage.files(), written);
        for nothing in ["edited", "kept", "gone", "problems"] {
            prop_assert_eq!(&rebuilt[nothing], &json!([]));
        }
        let again = stage.rebuild(Request::default());
        prop_assert_eq!(&again["rebuilt"], &json!([]));
    }
}

fn made(place: ProgressPlace, summary: &str) -> Made {
    let stated = Judgments {
        summary: Some(summary.into()),
        ..Judgments::default()
    };
    Made {
        session: 0,
        kind: ProgressKind::Full,
        place,
        stated,
    }
}

/// What the agent states comes from a command and not from a hook, so nothing has redacted it before.
#[test]
fn documents_have_no_secrets() {
    let stage = Stage::new();
    stage.work("s-one", "a.rs");
    let file = stage.write(
        "s-one",
        &made(ProgressPlace::Project, "login works, PASSWORD=hunter2"),
    );
    let text = fs::read_to_string(&file).expect("there");
    assert!(
        text.contains("login works") && !text.contains("hunter2"),
        "{text}"
    );
}

#[test]
fn what_a_person_has_changed_stays_unless_forced_and_is_kept_then() {
    let stage = Stage::new();
    stage.work("s-one", "a.rs");
    let file = stage.write("s-one", &made(ProgressPlace::Project, "first"));
    let older = fs::read(&file).expect("there");
    stage.write("s-one", &made(ProgressPlace::Project, "second"));
    let newer = fs::read(&file).expect("there");
    assert_ne!(older, newer);

    // A crash between the journal and the file.
    fs::write(&file, &older).expect("writes");
    let rebuilt = stage.rebuild(Request::default());
    assert_eq!(
        (paths(&rebuilt["rebuilt"]), &rebuilt["kept"]),
        (vec![file.clone()], &json!([]))
    );
    assert_eq!(fs::read(&file).expect("there"), newer);

    fs::write(&file, "mine").expect("writes");
    let rebuilt = stage.rebuild(Request::default());
    assert_eq!(
        (paths(&rebuilt["edited"]), &rebuilt["rebuilt"]),
        (vec![file.clone()], &json!([]))
    );
    assert_eq!(fs::read(&file).expect("there"), b"mine");
    for (content, name) in [("mine", "kept"), ("mine again", "kept2")] {
        fs::write(&file, content).expect("writes");
        let rebuilt = stage.rebuild(Request {
            force: true,
            ..Request::default()
        });
        let kept = file.with_added_extension(name);
        assert_eq!(
            (paths(&rebuilt["kept"]), paths(&rebuilt["rebuilt"])),
            (vec![kept.clone()], vec![file.clone()])
        );
        assert_eq!(
            (
                fs::read(&file).expect("there"),
                fs::read_to_string(kept).expect("kept")
            ),
            (newer.clone(), content.into())
        );
    }

    // A user's own shared file.
    let shared = file.with_file_name("progress-checkpoint.md");
    fs::remove_file(&shared).expect("a link");
    fs::write(&shared, "mine too").expect("writes");
    assert_eq!(
        stage.rebuild(Request {
            force: true,
            ..Request::default()
        })["rebuilt"],
        json!([])
    );
    assert_eq!(fs::read(&shared).expect("there"), b"mine too");
}

#[test]
fn only_what_is_asked_for_is_rebuilt_and_no_project_is_made_again() {
    let stage = Stage::new();
    let place = ProgressPlace::Project;
    stage.work("s-one", "a.rs");
    stage.work("s-two", "b.rs");
    let (one, two) = (
        stage.write("s-one", &made(place, "one")),
        stage.write("s-two", &made(place, "two")),
    );
    let unasked = stage.write("s-one", &made(ProgressPlace::Data, "three"));
    let written = stage.files();
    fs::remove_dir_all(one.parent().expect("a folder")).expect("there");
    let elsewhere = stage.folder.path().display().to_string();
    assert_eq!(
        stage.rebuild(Request {
            project: elsewhere,
            ..Request::default()
        })["rebuilt"],
        json!([])
    );
    let rebuilt = stage.rebuild(Request {
        session: Some("s-one".into()),
        ..Request::default()
    });
    // The newest one in this place is the other session's, which was not asked for.
    assert_eq!(paths(&rebuilt["rebuilt"]), [one.as_path()]);
    let rebuilt = stage.rebuild(Request {
        project: stage.project().display().to_string(),
        ..Request::default()
    });
    assert_eq!(
        paths(&rebuilt["rebuilt"]),
        [two.clone(), two.with_file_name("progress-checkpoint.md")]
    );
    assert_eq!(stage.files(), written);

    // Our own folder has moved, and the project is gone.
    let moved = Home::under(&stage.folder.path().join("elsewhere"));
    fs::rename(&stage.home.progress, stage.folder.path().join("old")).expect("renames");
    fs::remove_dir_all(stage.project()).expect("there");
    let rebuilt = answer(
        "rebuild",
        &Request::default(),
        &stage.journal,
        &moved,
        &stage.config,
    );
    let rebuilt = json!(rebuilt.expect("rebuilds"));
    let name = |path: &Path| {
        path.strip_prefix(&stage.home.progress)
            .expect("below")
            .to_owned()
    };
    assert!(
        paths(&rebuilt["rebuilt"]).contains(&moved.progress.join(name(&unasked))),
        "{rebuilt}"
    );
    assert_eq!(paths(&rebuilt["gone"]).len(), 2);
    assert!(!stage.project().exists());
}
