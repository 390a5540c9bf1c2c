//! `repeat` and `headless`: given what was demanded before, when a stop comes, then what is decided (spec DECIDE-10, DECIDE-11).

use journal::{
    Agent, ChangedFile, Changes, Decision, Envelope, Event, Evidence, Host, PromptOrigin, Reason,
    Stream, Timeline, TimelineSource, Timestamp, ToolCall, ToolKind, Verdict,
};
use uuid::Uuid;

use crate::config::Config;
use crate::decide::{Case, decide};
use crate::policy::{Headless, Policy, Quiet, Repeat};
use crate::rules::pack_names::ProjectFacts;
use crate::state::{SessionState, Stop};

pub(super) fn policy() -> Policy {
    let facts = ProjectFacts {
        path: "/p".into(),
        files: vec!["Cargo.toml".into()],
    };
    let defaults = Config::default().policy_for(&facts, None);
    Policy {
        all_clear: Quiet::Message,
        docs_only: Quiet::Message,
        ..defaults.expect("defaults make a policy")
    }
}

/// A session that runs through turns of a minute each.
pub(super) struct Session {
    pub(super) state: SessionState,
    pub(super) second: i64,
}

impl Session {
    pub(super) fn new() -> Self {
        Self {
            state: SessionState::new(Stream::of_native(Agent::Claude, "s")),
            second: 0,
        }
    }

    pub(super) fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.second * 1_000_000)
    }

    pub(super) fn apply(&mut self, event: Event) {
        let seq = self.state.last_seq + 1;
        let at = self.at();
        let stream = self.state.stream.clone();
        self.state.apply(&Envelope {
            seq,
            stream,
            at,
            recorded_at: at,
            id: Uuid::nil(),
            late: false,
            event,
            origin: None,
        });
    }

    fn prompt(&mut self) {
        self.prompt_with("go");
    }

    pub(super) fn prompt_with(&mut self, text: &str) {
        self.second += 10;
        let host = Host {
            hook: "UserPromptSubmit".into(),
            ..Host::default()
        };
        let digest = u64::try_from(self.second).expect("time goes on");
        self.apply(Event::PromptSubmitted {
            host,
            origin: PromptOrigin::User,
            text: text.into(),
            digest,
        });
    }

    /// Stops in a new turn, decides, and folds the decision. A delivery that is made is confirmed.
    pub(super) fn turn(&mut self, evidence: &Evidence, policy: &Policy) -> Decision {
        self.turn_with(evidence, policy, 0)
    }

    /// As [`Session::turn`], with background tasks that run at the stop.
    pub(super) fn turn_with(
        &mut self,
        evidence: &Evidence,
        policy: &Policy,
        background_tasks: u32,
    ) -> Decision {
        self.prompt();
        self.second += 60;
        let seq = self.state.last_seq + 1;
        let at = self.at();
        let stop = Stop {
            seq,
            at,
            host_turn: None,
            can_reply: true,
            background_tasks,
            restart: false,
            leaves: None,
        };
        self.decide(&stop, evidence, policy)
    }

    /// Decides about a stop and folds the decision.
    pub(super) fn decide(&mut self, stop: &Stop, evidence: &Evidence, policy: &Policy) -> Decision {
        let decision = decide(&Case {
            state: &self.state,
            stop,
            evidence,
            policy,
            fingerprint: 0,
        });
        self.apply(Event::Decided(Box::new(decision.clone())));
        decision
    }

    pub(super) fn fail_delivery(&mut self) {
        let decision = self.state.last_seq;
        self.apply(Event::DeliveryFailed {
            decision,
            reason: "draft_present".into(),
        });
    }
}

/// What was gathered: changed files as `path=content`, and shell commands, failed ones with a `!` in front.
pub(super) fn evidence(files: &[&str], commands: &[&str]) -> Evidence {
    let file = |text: &&str| {
        let (path, content) = text.split_once('=').expect("path=content");
        ChangedFile {
            path: path.into(),
            hash: content.parse().ok(),
        }
    };
    let calls = commands.iter().zip(1..).map(|(command, number)| ToolCall {
        id: Some(format!("c{number}")),
        tool: "Bash".into(),
        kind: ToolKind::Shell,
        command: Some(command.trim_start_matches('!').into()),
        is_error: command.starts_with('!'),
        finished: true,
        at: Timestamp::from_micros(number),
        ..ToolCall::default()
    });
    Evidence {
        changes: Changes::Known(files.iter().map(file).collect()),
        timeline: Timeline {
            source: TimelineSource::Transcript,
            calls: calls.collect(),
        },
        ..Evidence::default()
    }
}

pub(super) const CODE: &[&str] = &["src/a.rs=1"];

#[test]
fn a_demand_is_made_once_for_the_same_contents() {
    let code = || evidence(CODE, &[]);
    let table = [
        ("the same demand again", code(), "repeated"),
        (
            "only looked around since",
            evidence(CODE, &["ls"]),
            "repeated",
        ),
        (
            "the file has changed since",
            evidence(&["src/a.rs=2"], &[]),
            "actions_due",
        ),
        (
            "a file it does not cover has changed",
            evidence(&["src/a.rs=1", "README.md=1"], &[]),
            "repeated",
        ),
        (
            "another file of the rule has changed",
            evidence(&["src/a.rs=1", "src/b.rs=1"], &[]),
            "actions_due",
        ),
        (
            "another action is due",
            evidence(&["Cargo.toml=1", "src/a.rs=1"], &[]),
            "actions_due",
        ),
        (
            "a command has failed and nobody cared",
            evidence(CODE, &["!make deploy"]),
            "silent_all_clear",
        ),
        (
            "the tests were tried and failed",
            evidence(CODE, &["!cargo test"]),
            "actions_due",
        ),
        (
            "a failed command was run again",
            evidence(CODE, &["!make deploy", "make deploy"]),
            "silent_all_clear",
        ),
        ("it was done", evidence(CODE, &["cargo test"]), "all_clear"),
        (
            "the change was taken back",
            evidence(&[], &[]),
            "silent_unchanged",
        ),
    ];
    for (when, then, expected) in table {
        let mut session = Session::new();
        let first = session.turn(&code(), &policy());
        assert_eq!(
            (first.reason, first.demand.is_some()),
            (Reason::ActionsDue, true)
        );
        let second = session.turn(&then, &policy());
        assert_eq!(second.reason.word(), expected, "{when}");
        let is_pass = second.verdict == Verdict::Pass;
        assert_eq!(is_pass, second.message.is_none(), "{when}");
        if second.reason == Reason::Repeated {
            assert!(
                !second.actions.is_empty(),
                "a pass still says what is open: {when}"
            );
        }
    }
}

#[test]
fn what_was_demanded_is_kept_and_forgotten() {
    let first = evidence(CODE, &[]);
    let other = evidence(&["src/b.rs=1"], &[]);
    let mut session = Session::new();
    let mut reasons = Vec::new();
    for evidence in [&first, &other, &first, &other] {
        reasons.push(session.turn(evidence, &policy()).reason.word());
    }
    assert_eq!(
        reasons,
        ["actions_due", "actions_due", "repeated", "repeated"],
        "demands do not displace each other"
    );

    let mut session = Session::new();
    session.turn(&first, &policy());
    session.fail_delivery();
    assert_eq!(
        session.turn(&first, &policy()).reason,
        Reason::ActionsDue,
        "it never arrived"
    );

    let always = Policy {
        repeat: Repeat::Always,
        ..policy()
    };
    assert_eq!(
        session.turn(&first, &always).reason,
        Reason::ActionsDue,
        "asked for"
    );

    let mut session = Session::new();
    for _ in 0..2 {
        let unknown = Evidence {
            changes: Changes::Unknown("git_missing".into()),
            ..Evidence::default()
        };
        assert_eq!(
            session.turn(&unknown, &policy()).reason,
            Reason::Generic,
            "no demand, so nothing to repeat"
        );
    }
}

#[test]
fn without_a_person_only_what_is_due_is_said() {
    let cases = [
        ("actions", evidence(CODE, &[]), Reason::ActionsDue),
        (
            "documentation changed",
            evidence(&["README.md=1"], &[]),
            Reason::DocsOnly,
        ),
        (
            "all done",
            evidence(CODE, &["cargo test"]),
            Reason::AllClear,
        ),
        (
            "no git",
            Evidence {
                changes: Changes::Unknown("timeout".into()),
                ..Evidence::default()
            },
            Reason::Generic,
        ),
    ];
    for (given, evidence, with_person) in cases {
        let due = matches!(with_person, Reason::ActionsDue | Reason::ObservationsOnly);
        for (headless, setting, expected) in [
            (false, Headless::WhenNeeded, with_person),
            (false, Headless::Never, with_person),
            (true, Headless::Always, with_person),
            (
                true,
                Headless::WhenNeeded,
                if due { with_person } else { Reason::Headless },
            ),
            (true, Headless::Never, Reason::Headless),
        ] {
            let policy = Policy {
                headless: setting,
                ..policy()
            };
            let evidence = Evidence {
                headless,
                ..evidence.clone()
            };
            let reason = Session::new().turn(&evidence, &policy).reason;
            assert_eq!(
                reason, expected,
                "{given}, headless {headless}, {setting:?}"
            );
        }
    }
}

#[test]
fn exits_after_the_rules_have_an_order() {
    let mut session = Session::new();
    session.turn(&evidence(CODE, &[]), &policy());
    let never = Policy {
        headless: Headless::Never,
        ..policy()
    };
    let silent = Policy {
        all_clear: Quiet::Silent,
        docs_only: Quiet::Silent,
        ..policy()
    };
    let headless = |evidence: Evidence| Evidence {
        headless: true,
        ..evidence
    };
    let table = [
        (
            "headless before repeated",
            headless(evidence(CODE, &[])),
            &never,
            "headless",
        ),
        (
            "headless, due and demanded before",
            headless(evidence(CODE, &[])),
            &policy(),
            "repeated",
        ),
        (
            "headless before silent",
            headless(evidence(&[], &[])),
            &silent,
            "headless",
        ),
        (
            "silence about documentation",
            evidence(&["README.md=1"], &[]),
            &silent,
            "silent_docs_only",
        ),
        (
            "silence when all is done",
            evidence(CODE, &["cargo test"]),
            &silent,
            "silent_all_clear",
        ),
    ];
    for (when, evidence, policy, expected) in table {
        assert_eq!(
            session.turn(&evidence, policy).reason.word(),
            expected,
            "{when}"
        );
    }
}
