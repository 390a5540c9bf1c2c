//! Makes a journal of any size as the daemon would have written it: hook payloads through the real normalizer, states
//! through the real fold, decisions by the real rules. Deciding again therefore gives the same.
//!
//! Sessions run side by side, as they do on a busy machine, so that a replay has several of them open at any time.

use std::collections::HashMap;

use actors::draft::{daemon_draft, derived};
use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::decide::{self, Case};
use checkpoint::hooks::{self, HookCall, Reading};
use checkpoint::rules::pack_names::ProjectFacts;
use checkpoint::state::SessionState;
use journal::{
    Agent, ChangedFile, Changes, Draft, Envelope, Event, Evidence, Journal, Stream, Timeline,
    TimelineSource, Timestamp, Verdict,
};
use serde_json::json;
use uuid::Uuid;

/// Turns of a session; each ends with a stop and its decision.
pub(crate) const TURNS: usize = 5;
/// Events of a turn.
const TURN_EVENTS: usize = 20;
/// Events of a session.
pub(crate) const SESSION_EVENTS: usize = TURNS * TURN_EVENTS;
/// Sessions that run at the same time.
const SIDE_BY_SIDE: usize = 10;
/// Drafts that are appended at once.
const BATCH: usize = 2_000;

/// Fills an empty journal with the given number of sessions and returns the number of decisions.
pub(crate) fn fill(journal: &Journal, sessions: usize) -> usize {
    let project = ProjectFacts {
        path: "/home/user/project".into(),
        files: vec!["Cargo.toml".into(), "src/".into()],
    };
    let policy = Config::default()
        .policy_for(&project, None)
        .expect("the defaults make a policy");
    let (fingerprint, text) = policy.to_text();
    let mut writer = Writer {
        journal,
        next_seq: journal.last_seq() + 1,
        batch: Vec::new(),
    };
    writer.push(daemon_draft(
        Event::PolicyAdopted { fingerprint, text },
        fingerprint,
    ));
    let mut decisions = 0;
    let began = Timestamp::now().minus(std::time::Duration::from_secs(30 * 86_400));
    for first in (0..sessions).step_by(SIDE_BY_SIDE) {
        let mut side_by_side: Vec<_> = (first..sessions.min(first + SIDE_BY_SIDE))
            .map(|number| {
                let at = began.plus(std::time::Duration::from_secs(number as u64 * 60));
                Session {
                    number,
                    at,
                    state: SessionState::new(stream(number)),
                    evidence: None,
                    decided: HashMap::new(),
                }
            })
            .collect();
        for event in 0..SESSION_EVENTS {
            for session in &mut side_by_side {
                decisions += usize::from(session.step(event, &policy, fingerprint, &mut writer));
            }
        }
    }
    writer.flush();
    journal.settle().expect("the store takes events");
    decisions
}

fn stream(number: usize) -> Stream {
    let session = Uuid::new_v5(
        &Uuid::NAMESPACE_OID,
        format!("generated session {number}").as_bytes(),
    );
    Stream {
        session,
        agent: Agent::Claude,
        native: None,
    }
}

/// Appends drafts in large groups, and knows the places that they will have.
struct Writer<'a> {
    journal: &'a Journal,
    next_seq: u64,
    batch: Vec<Draft>,
}

impl Writer<'_> {
    fn push(&mut self, draft: Draft) -> Envelope {
        let Draft {
            stream,
            at,
            id,
            event,
            ..
        } = draft.clone();
        let envelope = Envelope {
            seq: self.next_seq,
            stream,
            at,
            recorded_at: at,
            id,
            late: false,
            event,
            origin: None,
        };
        self.next_seq += 1;
        self.batch.push(draft);
        if self.batch.len() == BATCH {
            self.flush();
        }
        envelope
    }

    fn flush(&mut self) {
        let appended = self
            .journal
            .append_wait(std::mem::take(&mut self.batch))
            .expect("the journal takes events");
        assert!(
            appended.iter().all(|appended| !appended.duplicate),
            "the journal was not empty"
        );
        assert!(
            appended
                .last()
                .is_none_or(|last| last.seq + 1 == self.next_seq),
            "another writer appended too"
        );
    }
}

/// One session on its way.
struct Session {
    number: usize,
    at: Timestamp,
    state: SessionState,
    evidence: Option<Evidence>,
    /// Decisions that were sent, by their turn.
    decided: HashMap<usize, u64>,
}

impl Session {
    /// Makes the next event; returns whether it was a decision.
    fn step(
        &mut self,
        event: usize,
        policy: &Policy,
        fingerprint: u64,
        writer: &mut Writer<'_>,
    ) -> bool {
        let (turn, event) = (event / TURN_EVENTS, event % TURN_EVENTS);
        self.at = self
            .at
            .plus(std::time::Duration::from_millis(if self.is_short(turn) {
                700
            } else {
                9_000
            }));
        let draft = match event {
            0 => self.hook(turn, event, prompt(self.number, turn)),
            1..=14 => self.hook(
                turn,
                event,
                tool(self.number, turn, (event - 1) / 2, event % 2 == 0),
            ),
            15 => self.hook(turn, event, stop(turn)),
            16 => self.gather(turn, policy, fingerprint),
            17 => self.decide(policy, fingerprint),
            _ => self.follow(turn, event),
        };
        let is_decision = matches!(draft.event, Event::Decided(_));
        if let Event::Decided(decision) = &draft.event
            && decision.verdict == Verdict::Inject
        {
            self.decided.insert(turn, writer.next_seq);
        }
        self.state.apply(&writer.push(draft));
        is_decision
    }

    /// Every third turn is too short for a checkpoint.
    fn is_short(&self, turn: usize) -> bool {
        (self.number + turn) % 3 == 2
    }

    fn hook(&self, turn: usize, event: usize, mut payload: serde_json::Value) -> Draft {
        payload["session_id"] = self.state.session().to_string().into();
        payload["prompt_id"] = format!("turn-{turn}").into();
        payload["cwd"] = "/home/user/project".into();
        payload["transcript_path"] =
            "/home/user/.claude/projects/-home-user-project/session.jsonl".into();
        let payload = payload.to_string();
        let id = Uuid::new_v5(&self.state.session(), format!("{turn}:{event}").as_bytes());
        let call = HookCall {
            agent: Agent::Claude,
            event: None,
            payload: payload.as_bytes(),
            at: self.at,
            id,
            env: vec![("CLAUDE_CODE_ENTRYPOINT".into(), "cli".into())],
            truncated: false,
        };
        let reading = Reading {
            prefix: "[TeleClaude Checkpoint] - ",
            payload_bytes_max: 256 * 1024,
            redactor: checkpoint::redact::built_in(),
            agents: checkpoint::config::DescribedAgents::NONE,
        };
        hooks::normalize(&call, reading)
            .expect("a whole payload")
            .draft
    }

    fn gather(&mut self, turn: usize, policy: &Policy, fingerprint: u64) -> Draft {
        let mut evidence = Evidence::default();
        let stop = self.state.pending.first().expect("the stop waits");
        let case = Case {
            state: &self.state,
            stop,
            evidence: &evidence,
            policy,
            fingerprint,
        };
        if case.early_exit().is_none() {
            let file = |name: usize| ChangedFile {
                path: format!("src/module_{name}.rs"),
                hash: Some((self.number * TURNS + turn + name) as u64),
            };
            evidence.changes = Changes::Known((0..3 + self.number % 4).map(file).collect());
            evidence.timeline = Timeline {
                source: TimelineSource::Transcript,
                calls: self.state.turn.calls.clone(),
            };
            evidence.host_version = Some("2.1.330".into());
        }
        let event = Event::EvidenceGathered {
            trigger: stop.seq,
            evidence: Box::new(evidence.clone()),
        };
        let draft = derived(&self.state.stream, self.at, event, stop.seq);
        self.evidence = Some(evidence);
        draft
    }

    fn decide(&mut self, policy: &Policy, fingerprint: u64) -> Draft {
        let evidence = self.evidence.take().expect("it was gathered");
        let stop = self.state.pending.first().expect("the stop waits");
        // The evidence's own event was not there yet when the decision was made.
        let mut state = self.state.clone();
        state.last_seq = stop.seq;
        let case = Case {
            state: &state,
            stop,
            evidence: &evidence,
            policy,
            fingerprint,
        };
        let event = Event::Decided(Box::new(decide::decide(&case)));
        derived(&self.state.stream, self.at, event, stop.seq)
    }

    /// After a checkpoint come its attempt and its arrival; after a pass the host has something to tell.
    fn follow(&self, turn: usize, event: usize) -> Draft {
        let Some(decision) = self.decided.get(&turn).copied() else {
            let payload = json!({"hook_event_name": "Notification", "notification_type": "idle_prompt", "message": "Claude is waiting for your input"});
            return self.hook(turn, event, payload);
        };
        let route = journal::Route::HookReply;
        let event = match event {
            18 => Event::DeliveryAttempted {
                decision,
                route,
                attempt: 1,
            },
            _ => Event::DeliveryConfirmed {
                decision,
                by: "next_event".into(),
            },
        };
        derived(&self.state.stream, self.at, event, decision)
    }
}

fn prompt(number: usize, turn: usize) -> serde_json::Value {
    let text = format!(
        "Please add case {number}.{turn} to the parser, and make sure that the existing tests still pass."
    );
    json!({"hook_event_name": "UserPromptSubmit", "permission_mode": "acceptEdits", "prompt": text})
}

fn stop(turn: usize) -> serde_json::Value {
    let last =
        format!("The parser handles case {turn} now; I added a test for it next to the others.");
    json!({"hook_event_name": "Stop", "stop_hook_active": false, "permission_mode": "acceptEdits", "last_assistant_message": last})
}

/// Reads, edits and commands, each begun and finished; some sessions test, some do not, some tests fail.
fn tool(number: usize, turn: usize, call: usize, finished: bool) -> serde_json::Value {
    let path = format!("/home/user/project/src/module_{}.rs", call % 4);
    let code = format!(
        "pub fn case_{number}_{turn}(input: &str) -> Option<Token> {{\n    input.strip_prefix(\"{call}\").map(Token::new)\n}}\n"
    );
    let (tool, input, output) = match call {
        0 | 1 => (
            "Read",
            json!({"file_path": path}),
            json!({"type": "text", "file": {"filePath": path, "content": code.repeat(3)}}),
        ),
        2..=4 => (
            "Edit",
            json!({"file_path": path, "old_string": "// here", "new_string": code}),
            json!({"filePath": path, "oldString": "// here", "newString": code, "userModified": false}),
        ),
        5 => (
            "Bash",
            json!({"command": "rg -n case_ src | head -20", "description": "Looks for the cases"}),
            bash(&code),
        ),
        _ if number.is_multiple_of(2) => (
            "Bash",
            json!({"command": "cargo test --quiet", "description": "Tests"}),
            bash("test result: ok. 14 passed"),
        ),
        _ => (
            "Bash",
            json!({"command": "git status --short", "description": "Looks at the changes"}),
            bash(" M src/module_1.rs"),
        ),
    };
    let name = if finished {
        "PostToolUse"
    } else {
        "PreToolUse"
    };
    let id = format!("toolu_{number:06}{turn:02}{call:02}ABCDEFGH");
    let mut payload = json!({"hook_event_name": name, "permission_mode": "acceptEdits", "tool_name": tool, "tool_input": input, "tool_use_id": id});
    if finished {
        payload["tool_response"] = output;
        payload["duration_ms"] = (5 + call).into();
    }
    payload
}

fn bash(stdout: &str) -> serde_json::Value {
    json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
}
