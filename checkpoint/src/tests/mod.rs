//! The core as a whole: sequences of hook calls through normal form, fold and decision.

mod control;
mod described;
mod dialects;
mod fixtures;
mod invariants;
mod properties;
mod steering;

use journal::{
    Agent, Changes, Decision, Envelope, Event, Evidence, Reason, Stream, Timestamp, Verdict,
};
use serde_json::{Value, json};
use testkit::dialect::Dialect;
use uuid::Uuid;

use crate::config::Config;
use crate::decide::{Case, decide};
use crate::hooks::{self, HookCall, Reading};
use crate::policy::Policy;
use crate::rules::pack_names::ProjectFacts;
use crate::state::SessionState;

const SESSION: &str = "10e54898-3d7e-4d3d-bff0-5aa71c2b471a";

/// The default policy without a project.
fn policy() -> Policy {
    let nowhere = ProjectFacts {
        path: String::new(),
        files: Vec::new(),
    };
    Config::default()
        .policy_for(&nowhere, None)
        .expect("the defaults make a policy")
}

/// One session, call by call. Times are seconds since its beginning.
struct Story {
    agent: Agent,
    policy: Policy,
    evidence: Evidence,
    state: SessionState,
    now: f64,
    calls: u64,
    /// The host's id of the turn, counted up by every prompt of a person.
    turn: u64,
}

impl Story {
    fn of(agent: Agent) -> Self {
        let evidence = Evidence {
            changes: Changes::Unknown("git_missing".into()),
            ..Evidence::default()
        };
        let state = SessionState::new(Stream::of_native(agent, SESSION));
        Self {
            agent,
            policy: policy(),
            evidence,
            state,
            now: 0.0,
            calls: 0,
            turn: 0,
        }
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000 + (self.now * 1e6) as i64)
    }

    fn wait(&mut self, seconds: f64) -> &mut Self {
        self.now += seconds;
        self
    }

    /// Sends a hook call through the normal form.
    fn call(&mut self, event: &str, fields: Value) -> Envelope {
        self.calls += 1;
        let mut payload = json!({ "session_id": SESSION, "cwd": "/p", "hook_event_name": event });
        let dialect = Dialect::of(self.agent);
        match dialect.turn {
            Some(turn) => payload[turn] = json!(format!("turn-{}", self.turn)),
            None => payload["timestamp"] = json!(self.calls),
        }
        for (key, value) in fields.as_object().expect("an object") {
            payload[key] = value.clone();
        }
        (dialect.rewrite)(&mut payload);
        let payload = payload.to_string();
        let call = HookCall {
            agent: self.agent,
            event: None,
            payload: payload.as_bytes(),
            at: self.at(),
            id: Uuid::from_u128(self.calls.into()),
            env: Vec::new(),
            truncated: false,
        };
        let reading = Reading {
            prefix: &self.policy.prefix,
            payload_bytes_max: 1024,
            redactor: crate::redact::built_in(),
            agents: crate::config::DescribedAgents::NONE,
        };
        let draft = hooks::normalize(&call, reading)
            .expect("a good payload")
            .draft;
        self.apply(draft.event, draft.id)
    }

    fn apply(&mut self, event: Event, id: Uuid) -> Envelope {
        let at = self.at();
        let stream = self.state.stream.clone();
        let late = self.state.last_at.is_some_and(|last| at < last);
        let seq = self.state.last_seq + 1;
        let envelope = Envelope {
            seq,
            stream,
            at,
            recorded_at: self.state.last_at.max(Some(at)).unwrap_or(at),
            id,
            late,
            event,
            origin: None,
        };
        self.state.apply(&envelope);
        envelope
    }

    fn journal(&mut self, event: Event) -> &mut Self {
        self.apply(event, Uuid::nil());
        self
    }

    fn prompt_hook(&self) -> &'static str {
        Dialect::of(self.agent).hook("UserPromptSubmit")
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.turn += 1;
        self.call(self.prompt_hook(), json!({ "prompt": text, "typed": true }));
        self
    }

    /// A prompt that no person typed.
    fn feedback(&mut self, text: &str) -> &mut Self {
        self.call(self.prompt_hook(), json!({ "prompt": text }));
        self
    }

    fn tool(&mut self, command: &str) -> &mut Self {
        let dialect = Dialect::of(self.agent);
        let (before, after) = (dialect.hook("PreToolUse"), dialect.hook("PostToolUse"));
        let name = dialect.shell;
        let id = format!("call-{}", self.calls);
        let fields =
            json!({ "tool_name": name, "tool_input": { "command": command }, "tool_use_id": id });
        self.call(before, fields.clone());
        self.call(after, fields);
        self
    }

    /// A stop, decided about; returns the reason's word.
    fn stop(&mut self) -> &'static str {
        self.stop_with(json!({})).reason.word()
    }

    fn stop_with(&mut self, fields: Value) -> Decision {
        let hook = Dialect::of(self.agent).hook("Stop");
        let seq = self.call(hook, fields).seq;
        self.decide(seq)
    }

    fn decide(&mut self, trigger: u64) -> Decision {
        let stop = self
            .state
            .pending
            .iter()
            .find(|stop| stop.seq == trigger)
            .cloned()
            .expect("a stop that waits");
        let case = Case {
            state: &self.state,
            stop: &stop,
            evidence: &self.evidence,
            policy: &self.policy,
            fingerprint: 7,
        };
        let decision = decide(&case);
        assert_eq!(
            case.considered().last().map(|exit| exit.reason),
            Some(decision.reason),
            "explain agrees"
        );
        self.apply(Event::Decided(Box::new(decision.clone())), Uuid::nil());
        decision
    }

    fn words(&mut self, stops: &[f64]) -> Vec<&'static str> {
        stops
            .iter()
            .map(|seconds| {
                self.wait(*seconds);
                self.stop()
            })
            .collect()
    }
}

fn injects(reason: &str) -> bool {
    Reason::ALL
        .into_iter()
        .skip_while(|known| *known != Reason::ActionsDue)
        .take_while(|known| *known != Reason::SilentUnchanged)
        .any(|known| known.word() == reason)
}

fn is_inject(decision: &Decision) -> bool {
    decision.verdict == Verdict::Inject
}
