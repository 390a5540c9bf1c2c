//! A record of a session, and each way of tampering with it.

use std::collections::HashMap;
use std::time::Duration;

use journal::{
    Agent, CallOutcome, ChangedFile, Changes, Envelope, Event, Evidence, Facts, FileFacts, Host,
    Origin, PromptOrigin, Seen, Stream, Summary, SummaryKind, SummaryVerdict, Timeline,
    TimelineSource, Timestamp, ToolCall, ToolKind,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::dsse::{self, Signed};
use super::*;
use crate::config::Config;
use crate::decide::{Case, decide};
use crate::digest;
use crate::judging::Verified;
use crate::policy::Policy;
use crate::rules::pack_names::ProjectFacts;

/// A session that changed two Python files, emptied a test and removed one, was asked to run the tests, and ran them.
struct Session {
    events: Vec<Envelope>,
    policies: HashMap<u64, Policy>,
}

impl Session {
    fn new() -> Self {
        let facts = ProjectFacts {
            path: "/p".into(),
            files: vec!["pyproject.toml".into()],
        };
        let policy = Config::default()
            .policy_for(&facts, None)
            .expect("a policy");
        let mut session = Self {
            events: Vec::new(),
            policies: HashMap::from([(1, policy)]),
        };
        session.push(Event::PromptSubmitted {
            host: Host::default(),
            origin: PromptOrigin::User,
            text: String::new(),
            digest: 1,
        });
        let edits = [edit("a.py"), edit("b.py")];
        session.stop(&edits, None);
        let at = session.now();
        let failed = Summary {
            failed: Some(1),
            ..passed(1)
        };
        let failed = Summary {
            verdict: SummaryVerdict::Failed,
            ..failed
        };
        let calls = [&edits[..], &[tests(at, true)]].concat();
        session.push(Event::ToolFinished {
            host: Host::default(),
            call: tests(at, true),
        });
        session.push(Event::Muted { until: None });
        session.push(Event::Unmuted {});
        session.stop(&calls, Some((2, failed)));
        let calls = [&calls[..], &[tests(session.now(), false)]].concat();
        session.push(Event::ToolFinished {
            host: Host::default(),
            call: calls[3].clone(),
        });
        session.stop(&calls, Some((3, passed(5))));
        session
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros((self.events.len() as i64 + 1) * 60_000_000)
    }

    fn push(&mut self, event: Event) -> u64 {
        let at = self.now();
        let seq = self.events.len() as u64 + 1;
        self.events.push(Envelope {
            seq,
            stream: Stream::of_native(Agent::Claude, "s"),
            at,
            recorded_at: at,
            id: Uuid::nil(),
            late: false,
            event,
            origin: None,
        });
        seq
    }

    fn stop(&mut self, calls: &[ToolCall], said: Option<(usize, Summary)>) {
        let trigger = self.push(Event::AgentStopped {
            host: Host::default(),
            reentry: false,
            background_tasks: 0,
            can_reply: true,
            prompt_digest: None,
            last_message: None,
        });
        let changed = |path: &str| ChangedFile {
            path: path.into(),
            hash: Some(digest::of_text(path)),
        };
        let gone = ChangedFile {
            path: "test_old.py".into(),
            hash: None,
        };
        let empty = ChangedFile {
            path: "test_none.py".into(),
            hash: Some(digest::of_bytes(b"")),
        };
        let changed = vec![changed("a.py"), changed("b.py"), empty, gone];
        let same: Vec<String> = changed.iter().map(|file| file.path.clone()).collect();
        let facts = Facts {
            outcomes: said
                .iter()
                .map(|(call, summary)| CallOutcome {
                    call: *call,
                    summaries: vec![summary.clone()],
                    ended: None,
                })
                .collect(),
            seen: said
                .iter()
                .map(|(call, _)| Seen {
                    call: *call,
                    same: same.clone(),
                    other: Vec::new(),
                })
                .collect(),
            files: FileFacts {
                empty: vec!["test_none.py".into()],
                ..FileFacts::default()
            },
            ..Facts::default()
        };
        let evidence = Evidence {
            changes: Changes::Known(changed),
            timeline: Timeline {
                source: TimelineSource::Journal,
                calls: calls.to_vec(),
            },
            facts,
            ..Evidence::default()
        };
        let state = crate::replay::fold(&self.events[0].stream, &self.events);
        let decision = decide(&Case {
            state: &state,
            stop: &state.pending[0],
            evidence: &evidence,
            policy: &self.policies[&1],
            fingerprint: 1,
        });
        let facts = Box::new(evidence.facts.clone());
        self.push(Event::FactsGathered { trigger, facts });
        self.push(Event::EvidenceGathered {
            trigger,
            evidence: Box::new(evidence),
        });
        self.push(Event::Decided(Box::new(decision)));
    }

    /// Returns what a journal with these events says.
    fn found(&self, files: &[Content], until: u64) -> Found {
        let events: Vec<Envelope> = self
            .events
            .iter()
            .filter(|one| one.seq <= until)
            .cloned()
            .collect();
        let mut table = Table::new(files);
        table.take(&events, &self.policies, &[], &[]);
        let last = events.last().expect("an event");
        table.finish(Head {
            id: "journal".into(),
            seq: last.seq,
            at: last.recorded_at,
            chain: format!("{:x}", digest::of_text(&format!("{events:?}"))),
        })
    }
}

fn edit(path: &str) -> ToolCall {
    ToolCall {
        kind: ToolKind::Edit,
        paths: vec![path.into()],
        finished: true,
        ..ToolCall::default()
    }
}

fn tests(at: Timestamp, is_error: bool) -> ToolCall {
    ToolCall {
        kind: ToolKind::Shell,
        command: Some("pytest".into()),
        is_error,
        finished: true,
        at,
        ..ToolCall::default()
    }
}

fn passed(count: u64) -> Summary {
    Summary {
        kind: SummaryKind::Tests,
        tool: "pytest".into(),
        verdict: SummaryVerdict::Passed,
        passed: Some(count),
        ..Summary::default()
    }
}

fn content(file: &str) -> Content {
    Content {
        file: file.into(),
        content: Digest::blob(&format!("{:016x}", digest::of_text(file))),
        was: None,
        hash: Some(digest::of_text(file)),
    }
}

fn removed(file: &str) -> Content {
    let Content { file, content, .. } = content(file);
    Content {
        file,
        content: Digest::default(),
        was: Some(content),
        hash: None,
    }
}

fn submodule() -> Content {
    Content {
        file: "vendor/lib".into(),
        content: Digest::commit("new"),
        was: Some(Digest::commit("old")),
        hash: None,
    }
}

fn repository(files: &[Content]) -> Repository {
    Repository {
        commit: Some("c1".into()),
        tree: "t1".into(),
        base: Some("c0".into()),
        remote: Some("forge.example/shop".into()),
        files: files.to_vec(),
    }
}

/// Stands in for `ssh-keygen`: only who has the key can make it.
fn sign(key: &str, payload: &[u8]) -> dsse::Envelope {
    let pae = dsse::pae(dsse::PAYLOAD_TYPE, payload);
    let sig = digest::of_bytes(&[key.as_bytes(), &pae].concat());
    let mut envelope = dsse::Envelope::unsigned(payload);
    envelope.signatures.push(Signed {
        keyid: String::new(),
        sig: dsse::encode(&sig.to_be_bytes()),
    });
    envelope
}

/// A record that is shown to somebody.
struct Shown {
    session: Session,
    files: Vec<Content>,
    level: Level,
    repository: Repository,
    envelope: dsse::Envelope,
}

const OWN: &str = "the author's key";

impl Shown {
    fn new(level: Level) -> Self {
        let session = Session::new();
        let files = ["a.py", "b.py", "notes.md"].map(content);
        let files = [&files[..], &[removed("test_old.py"), submodule()]].concat();
        let repository = repository(&files);
        let found = session.found(&files, u64::MAX);
        let envelope = sign(OWN, &statement(&repository, found, level, "1.0").bytes());
        Self {
            session,
            files,
            level,
            repository,
            envelope,
        }
    }

    fn payload(&self) -> Vec<u8> {
        dsse::decode(&self.envelope.payload).expect("base64")
    }

    /// Changes the statement. Who has the key signs it again.
    fn edit(&mut self, is_author: bool, change: impl Fn(&mut Value)) {
        let mut value: Value = serde_json::from_slice(&self.payload()).expect("JSON");
        change(&mut value);
        let bytes = serde_json::to_vec(&value).expect("JSON");
        if is_author {
            self.envelope = sign(OWN, &bytes);
        } else {
            self.envelope.payload = dsse::encode(&bytes);
        }
    }

    /// Returns the checks that refuse it.
    fn refusals(&self, has_journal: bool) -> Vec<String> {
        let claims = match Claims::read(&self.envelope) {
            Ok(claims) => claims,
            Err(refusal) => return vec![refusal.check],
        };
        let signature = match &self.envelope.signatures[..] {
            [] => Signature::Missing,
            _ if self.envelope == sign(OWN, &claims.payload) => Signature::Good,
            _ => Signature::Bad("by another key, or of other bytes".into()),
        };
        let until = claims.statement.predicate.journal.seq;
        let then = self.session.found(&self.files, until);
        let now = self.session.found(&self.files, u64::MAX);
        let again = if has_journal {
            Again::Here {
                is_older: then.answers() != now.answers(),
                bytes: Some(statement(&self.repository, then, self.level, "1.0").bytes()),
            }
        } else {
            Again::Elsewhere
        };
        let found = verify(&claims, &signature, &self.repository, &again);
        found.into_iter().map(|refusal| refusal.check).collect()
    }
}

#[test]
fn an_untouched_record_is_accepted_at_each_level() {
    for level in [Level::Summary, Level::Commands, Level::Full] {
        let shown = Shown::new(level);
        for has_journal in [true, false] {
            assert_eq!(
                shown.refusals(has_journal),
                [""; 0],
                "{level:?} {has_journal}"
            );
        }
        let text = String::from_utf8(shown.payload()).expect("UTF-8");
        assert_eq!(text.contains("a.py"), level != Level::Summary, "{text}");
        assert_eq!(text.contains("pytest"), level != Level::Summary, "{text}");
    }
}

#[test]
fn a_record_says_what_ran_and_what_was_asked() {
    let shown = Shown::new(Level::Commands);
    let claims = Claims::read(&shown.envelope).expect("a record");
    let predicate = &claims.statement.predicate;
    assert_eq!(
        predicate.totals,
        Totals {
            units: 5,
            done: 3,
            unknown: 2,
            runs: 1,
            demands: 1,
            met: 0,
            caught: 1,
            switches: 1,
            ..Totals::default()
        },
        "{predicate:#?}"
    );
    assert_eq!(predicate.runs[0].passed, Some(5));
    let mut blobs = ["a.py", "b.py"].map(|file| content(file).content.git_blob);
    blobs.sort();
    assert!(blobs.iter().flatten().eq(&predicate.runs[0].contents));
    let shown = predicate.units.iter().map(|unit| {
        let doubts = unit.doubts.join(", ");
        format!(
            "{}{} {:?} {}",
            unit.name(),
            unit.what(),
            unit.answer,
            doubts
        )
    });
    assert_eq!(
        Vec::from_iter(shown),
        [
            "a.py Done `test_none.py` is empty, `test_old.py` is gone",
            "b.py Done `test_none.py` is empty, `test_old.py` is gone",
            "notes.md Unknown ",
            "test_old.py (removed) Done `test_none.py` is empty, `test_old.py` is gone",
            "vendor/lib (submodule old..new) Unknown ",
        ]
    );
    assert_eq!(predicate.switches[0].by, "person");
}

/// No stop asks for a check of what is gone, but a record says whether something ran since.
#[test]
fn what_was_removed_is_verified_by_what_ran_after_it() {
    let mut session = Session::new();
    session.events.truncate(1);
    session.stop(&[], None);
    let mut ran = Session::new();
    ran.events.truncate(1);
    let run = [tests(ran.now(), false)];
    ran.stop(&run, Some((0, passed(3))));
    for (session, answer, row) in [
        (&session, Verified::Open, "nothing ran"),
        (&ran, Verified::Done, "tests passed"),
    ] {
        let emptied = Content {
            hash: Some(digest::of_bytes(b"")),
            ..content("test_none.py")
        };
        let files = [
            emptied,
            removed("test_old.py"),
            removed("test_other.py"),
            submodule(),
        ];
        let units = session.found(&files, u64::MAX).units;
        for unit in &units[..2] {
            assert_eq!((unit.answer, unit.row.as_str()), (answer, row));
        }
        // No stop saw that the other one is gone.
        for unit in &units[2..] {
            let no_record = (Verified::Unknown, "no record");
            assert_eq!((unit.answer, unit.row.as_str()), no_record);
        }
        let back = content("test_old.py");
        let units = session.found(&[back], u64::MAX).units;
        assert_eq!(units[0].row, "no record", "it is there again");
    }
}

/// A way of tampering with the statement, and the checks of which one refuses it even when the author signs it again.
type Edit = (&'static str, &'static [&'static str], fn(&mut Value));

const EDITS: [Edit; 23] = [
    ("the subject swapped", &["subject"], |it| {
        it["subject"][0]["digest"]["gitCommit"] = json!("c9")
    }),
    ("the tree swapped", &["subject"], |it| {
        it["subject"][1]["digest"]["gitTree"] = json!("t9")
    }),
    ("the base moved", &["subject"], |it| {
        it["predicate"]["base"]["gitCommit"] = json!("c1")
    }),
    ("a file left out", &["content"], |it| {
        it["predicate"]["units"]
            .as_array_mut()
            .expect("a list")
            .remove(2);
    }),
    ("a file named twice", &["content"], |it| {
        let unit = it["predicate"]["units"][2].clone();
        it["predicate"]["units"]
            .as_array_mut()
            .expect("a list")
            .push(unit);
    }),
    ("another content", &["content"], |it| {
        it["predicate"]["units"][0]["content"]["gitBlob"] = json!("x")
    }),
    ("an answer made done", &["consistency"], |it| {
        it["predicate"]["units"][2]["answer"] = json!("done")
    }),
    (
        "an answer made done, with a row that needs no run",
        &["journal"],
        |it| {
            it["predicate"]["units"][2]["answer"] = json!("done");
            it["predicate"]["units"][2]["row"] = json!("not asked");
            it["predicate"]["totals"]["done"] = json!(4);
            it["predicate"]["totals"]["unknown"] = json!(1);
        },
    ),
    ("a removed file left out", &["content"], |it| {
        let units = it["predicate"]["units"].as_array_mut().expect("a list");
        units.remove(3);
        it["predicate"]["totals"]["units"] = json!(4);
        it["predicate"]["totals"]["done"] = json!(2);
    }),
    ("a removed file that stayed", &["content"], |it| {
        let was = it["predicate"]["units"][3]["was"].take();
        it["predicate"]["units"][3]["content"] = was;
    }),
    ("another file removed", &["content"], |it| {
        it["predicate"]["units"][3]["was"]["gitBlob"] = json!("x")
    }),
    ("another commit of a submodule", &["content"], |it| {
        it["predicate"]["units"][4]["was"]["gitCommit"] = json!("older")
    }),
    ("a run moved to another content", &["consistency"], |it| {
        it["predicate"]["units"][2]["run"] = json!(0)
    }),
    ("a failed run passed", &["consistency"], |it| {
        it["predicate"]["runs"][0]["failed"] = json!(3)
    }),
    ("counts raised", &["journal"], |it| {
        it["predicate"]["runs"][0]["passed"] = json!(500)
    }),
    ("totals raised", &["consistency"], |it| {
        it["predicate"]["totals"]["done"] = json!(4)
    }),
    ("a demand removed", &["consistency"], |it| {
        it["predicate"]["demands"] = json!([])
    }),
    ("a demand removed, and not counted", &["journal"], |it| {
        it["predicate"]["demands"] = json!([]);
        for count in ["demands", "met", "caught"] {
            it["predicate"]["totals"][count] = json!(0);
        }
    }),
    ("a switch-off removed", &["consistency"], |it| {
        it["predicate"]["switches"] = json!([])
    }),
    (
        "a switch-off of an agent made a person's",
        &["journal"],
        |it| {
            it["predicate"]["switches"][0]["by"] = json!("nobody");
        },
    ),
    ("the head of another journal", &["journal"], |it| {
        it["predicate"]["journal"]["chain"] = json!("0")
    }),
    ("the clock set back", &["consistency"], |it| {
        it["predicate"]["journal"]["at"] = json!("1970-01-01T00:00:00Z");
        it["predicate"]["runs"][0]["at"] = json!("2026-01-01T00:00:00Z");
    }),
    ("the level lowered", &["consistency"], |it| {
        it["predicate"]["level"] = json!("summary")
    }),
];

#[test]
fn every_change_of_a_statement_is_refused() {
    for (name, checks, change) in EDITS {
        let mut shown = Shown::new(Level::Commands);
        shown.edit(false, change);
        let found = shown.refusals(false);
        assert!(
            found.iter().any(|check| check == "signature"),
            "{name}: {found:?}"
        );
        let mut shown = Shown::new(Level::Commands);
        shown.edit(true, change);
        let found = shown.refusals(true);
        let fits = |check: &String| checks.contains(&check.as_str());
        assert!(
            found.iter().any(fits),
            "{name}, signed by its author: {found:?}"
        );
    }
}

/// A way of tampering with what is around the statement, and the check that refuses it.
type Swap = (&'static str, &'static str, fn(&mut Shown));

const SWAPS: [Swap; 13] = [
    ("the signature stripped", "signature", |it| {
        it.envelope.signatures.clear()
    }),
    ("signed by another key", "signature", |it| {
        it.envelope = sign("another", &it.payload())
    }),
    ("the signature of another record", "signature", |it| {
        let other = sign(OWN, b"{}");
        it.envelope.signatures = other.signatures;
    }),
    ("the file changed after", "content", |it| {
        it.repository.files[0].content = Digest::blob("other");
    }),
    ("a file added after", "content", |it| {
        it.repository.files.push(content("c.py"));
    }),
    ("a file removed after", "content", |it| {
        it.repository.files[2] = removed("notes.md");
    }),
    ("replayed for another repository", "subject", |it| {
        it.repository.remote = Some("forge.example/other".into());
    }),
    ("an older commit's record shown", "subject", |it| {
        it.repository.commit = Some("c2".into())
    }),
    ("an older record shown", "journal", |it| {
        let now = it.session.now();
        let edits = [edit("a.py"), edit("b.py"), tests(now, true)];
        let failed = Summary {
            verdict: SummaryVerdict::Failed,
            failed: Some(2),
            ..passed(3)
        };
        it.session.stop(&edits, Some((2, failed)));
    }),
    ("truncated", "envelope", |it| {
        let half = it.envelope.payload.len() / 2 + 1;
        it.envelope.payload.truncate(half);
    }),
    ("truncated after whole bytes", "schema", |it| {
        let payload = it.payload();
        it.envelope.payload = dsse::encode(&payload[..payload.len() / 2]);
    }),
    ("the schema's version faked", "schema", |it| {
        it.edit(true, |value| {
            value["predicateType"] = json!("https://checkpointd.example/record/v9")
        });
    }),
    ("an unknown field added", "schema", |it| {
        it.edit(true, |value| value["predicate"]["approved"] = json!(true));
    }),
];

#[test]
fn every_change_around_a_statement_is_refused() {
    for (name, check, change) in SWAPS {
        let mut shown = Shown::new(Level::Commands);
        change(&mut shown);
        let found = shown.refusals(true);
        assert!(
            found.iter().any(|found| found == check),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn other_bytes_of_the_same_statement_are_refused() {
    let mut shown = Shown::new(Level::Commands);
    let value: Value = serde_json::from_slice(&shown.payload()).expect("JSON");
    shown.envelope = sign(OWN, &serde_json::to_vec_pretty(&value).expect("JSON"));
    assert_eq!(shown.refusals(false), ["schema"]);
}

#[test]
fn base64_is_read_in_one_form_only() {
    for (bytes, text) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
    ] {
        assert_eq!(dsse::encode(bytes.as_bytes()), text);
        assert_eq!(dsse::decode(text).as_deref(), Some(bytes.as_bytes()));
    }
    for text in [
        "Z", "Zg", "Zg=", "Zh==", "Zm9v\n", "Zm9v====", "Z===", "-_==",
    ] {
        assert_eq!(dsse::decode(text), None, "{text}");
    }
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(dsse::decode(&dsse::encode(&all)), Some(all));
    assert_eq!(
        dsse::pae("http://example.com/HelloWorld", b"hello world"),
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    );
}

#[test]
fn who_switched_a_session_off_is_told_by_its_calls() {
    let line = |command: &str| ToolCall {
        kind: ToolKind::Shell,
        command: Some(command.into()),
        ..ToolCall::default()
    };
    let started = |call: ToolCall| Event::ToolStarted {
        host: Host::default(),
        call,
    };
    let ended = |call: ToolCall| Event::ToolFinished {
        host: Host::default(),
        call,
    };
    let rows = [
        (vec![started(line("checkpointd mute --for 2h"))], "agent"),
        (
            vec![started(line("cd x && ~/.local/bin/checkpointd clear"))],
            "agent",
        ),
        (vec![started(line("echo checkpointd mute"))], "person"),
        (vec![started(line("pytest"))], "person"),
        (vec![ended(line("checkpointd mute --for 2h"))], "agent"),
        (vec![], "person"),
    ];
    for (before, by) in rows {
        let mut session = Session::new();
        before.into_iter().for_each(|event| {
            session.push(event);
        });
        session.push(Event::Muted { until: None });
        let found = switches(&session.events, &[]);
        assert_eq!(
            found.last().map(|switch| switch.by.as_str()),
            Some(by),
            "{found:?}"
        );
    }
}

#[test]
fn a_call_that_takes_the_daemon_or_the_hooks_away_is_the_agents() {
    for (line, what) in [
        ("checkpointd uninstall --yes", Some("uninstalled")),
        ("checkpointd uninstall --dry-run", None),
        (
            "cd / && /opt/bin/checkpointd daemon stop",
            Some("daemon_stopped"),
        ),
        (
            "checkpointd daemon service uninstall",
            Some("daemon_stopped"),
        ),
        ("checkpointd daemon restart", None),
        ("pkill -9 -f checkpointd", Some("daemon_stopped")),
        ("kill $(pgrep checkpointd)", Some("daemon_stopped")),
        ("kill 12; pgrep other", None),
        (
            "systemctl --user stop checkpointd.service",
            Some("daemon_stopped"),
        ),
        ("systemctl --user status checkpointd.service", None),
        ("echo checkpointd uninstall", None),
        ("grep -r 'pkill checkpointd' .", None),
        ("echo '{}' > ~/.claude/settings.json", Some("settings")),
        ("rm ~/.config/checkpointd/config.yml", Some("settings")),
        ("sed -i s/5s/5h/ .checkpointd.yml", Some("settings")),
        ("checkpointd config set min_turn 999h", Some("settings")),
        ("checkpointd config show", None),
        ("cat .checkpointd.yml", None),
    ] {
        let mut session = Session::new();
        let before = switches(&session.events, &[]).len();
        let call = ToolCall {
            kind: ToolKind::Shell,
            command: Some(line.into()),
            finished: true,
            ..ToolCall::default()
        };
        let refused = ToolCall {
            refused: true,
            ..call.clone()
        };
        for call in [refused, call] {
            session.push(Event::ToolFinished {
                host: Host::default(),
                call,
            });
        }
        let found = switches(&session.events, &[]);
        let own = found[before..].iter();
        let own: Vec<_> = own
            .map(|one| (one.what.as_str(), one.by.as_str()))
            .collect();
        let expected: Vec<_> = what.map(|what| (what, "agent")).into_iter().collect();
        assert_eq!(own, expected, "{line}");
    }
}

#[test]
fn a_file_that_switches_off_is_the_agents_if_a_call_wrote_it() {
    for (kind, path, is_noted) in [
        (ToolKind::Edit, "/p/.claude/settings.local.json", true),
        (ToolKind::Write, "/p/.checkpointd.yml", true),
        (ToolKind::Read, "/p/.checkpointd.yml", false),
        (ToolKind::Edit, "/p/.gemini/settings.json", false),
        (ToolKind::Edit, "/p/settings.json", false),
    ] {
        let mut session = Session::new();
        let before = switches(&session.events, &[]).len();
        session.push(Event::ToolFinished {
            host: Host::default(),
            call: ToolCall {
                kind,
                paths: vec![path.into()],
                finished: true,
                ..ToolCall::default()
            },
        });
        let found = &switches(&session.events, &[])[before..];
        let found = found.iter().map(|one| (one.what.as_str(), one.by.as_str()));
        let expected = is_noted.then_some(("settings", "agent"));
        assert!(found.eq(expected), "{path}");
    }
}

/// Returns where a value is not of a schema, as far as ours say it: references, objects, lists, words, null.
fn differences(schema: &Value, all: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let named = all.pointer(&name[1..]).expect("a definition");
        return differences(named, all, value, at, found);
    }
    if schema["oneOf"].is_array() {
        if !value.is_null() {
            differences(&schema["oneOf"][0], all, value, at, found);
        }
        return;
    }
    if schema["enum"]
        .as_array()
        .is_some_and(|words| !words.contains(value))
    {
        found.push(format!("{at}: {value}"));
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        differences(&schema["items"], all, item, &format!("{at}.{place}"), found);
    }
    let Some(object) = value.as_object() else {
        return;
    };
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required.filter(|name| !object.contains_key(name.as_str().expect("a name")));
    found.extend(missing.map(|name| format!("{at}: no {name}")));
    for (name, inner) in object {
        match schema["properties"].get(name) {
            Some(known) => differences(known, all, inner, &format!("{at}.{name}"), found),
            None if schema["additionalProperties"].is_object() => {}
            None => found.push(format!("{at}: {name} is not described")),
        }
    }
}

#[test]
fn the_published_schema_describes_each_level() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/record/v1.schema.json");
    let text = std::fs::read_to_string(file).expect("the schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(schema["$id"], PREDICATE);
    for level in [Level::Summary, Level::Commands, Level::Full] {
        let value: Value = serde_json::from_slice(&Shown::new(level).payload()).expect("JSON");
        let mut found = Vec::new();
        differences(
            &schema,
            &schema,
            &value["predicate"],
            "predicate",
            &mut found,
        );
        assert_eq!(found, [""; 0], "{level:?}");
    }
    let mut found = Vec::new();
    let other = json!({ "level": "all", "approved": true });
    differences(&schema, &schema, &other, "predicate", &mut found);
    assert!(found.len() > 9, "another form is found: {found:?}");
}

/// Returns events as a collector has them from a machine: later by numbers and by time.
fn collected(events: &[Envelope], by: u64, later: Duration) -> Vec<Envelope> {
    let origin = Origin {
        machine: "m".into(),
        journal: Uuid::from_u128(by.into()),
        seq: 0,
        withheld: Vec::new(),
    };
    let moved = |event: &Envelope| {
        let mut event = event.clone();
        event.seq += by;
        let numbered = event.event.each_number(|number| {
            *number += by;
            Ok::<_, ()>(())
        });
        numbered.expect("no number is refused");
        event.at = event.at.plus(later);
        event.origin = Some(Box::new(origin.clone()));
        event
    };
    events.iter().map(moved).collect()
}

#[test]
fn a_session_that_was_off_is_told_for_what_it_wrote_and_nobody_judged() {
    let wrote = |path: &str| {
        let mut off = Session::new();
        off.events.truncate(1);
        off.push(Event::Muted { until: None });
        off.push(Event::ToolFinished {
            host: Host::default(),
            call: edit(path),
        });
        off
    };
    let judged = Session::new();
    for (file, path, is_told) in [
        ("new.py", "/p/new.py", true),
        ("new.py", "/p/other.py", false),
        // Another session's stop judged these contents.
        ("a.py", "/p/a.py", false),
    ] {
        let files = [content(file)];
        let mut table = Table::new(&files);
        table.take(&wrote(path).events, &judged.policies, &[], &[]);
        let before = switches(&judged.events, &[]).len();
        table.take(&judged.events, &judged.policies, &[], &[]);
        let found = table.finish(Head::default());
        let of_judged = if file == "a.py" { before } else { 0 };
        let told = of_judged + usize::from(is_told);
        assert_eq!(
            found.switches.len(),
            told,
            "{file}, {path}: {:?}",
            found.switches
        );
    }
}

#[test]
fn at_a_collector_the_later_stop_counts_whenever_it_came() {
    let session = Session::new();
    let files = [content("a.py")];
    let failed = session
        .events
        .iter()
        .rposition(|one| matches!(&one.event, Event::ToolFinished { call, .. } if !call.is_error));
    let failed = &session.events[..failed.expect("a run that passed")];
    let found = |sessions: [Vec<Envelope>; 2]| {
        let mut table = Table::new(&files);
        for events in &sessions {
            table.take(events, &session.policies, &[], &[]);
        }
        table.finish(Head::default())
    };
    let day = Duration::from_secs(86_400);
    // The machine on which they failed the day before was away, so its events have the higher numbers.
    let late = found([
        collected(&session.events, 0, day),
        collected(failed, 1_000, Duration::ZERO),
    ]);
    assert_eq!(late.units[0].answer, Verified::Done);
    assert!(late.demands.is_sorted_by_key(|demand| demand.at));
    let after = found([
        collected(&session.events, 0, Duration::ZERO),
        collected(failed, 1_000, day),
    ]);
    assert_eq!(after.units[0].answer, Verified::Open);
}
