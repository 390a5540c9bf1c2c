//! Turns in which nothing changed, and background tasks that run at a stop (spec DECIDE-5, DECIDE-20).

use journal::{Evidence, Verdict};

use super::repeat::{CODE, Session, evidence, policy};
use crate::config::Config;
use crate::policy::{Background, Policy, Quiet};
use crate::rules::pack_names::ProjectFacts;

fn untouched(mut evidence: Evidence) -> Evidence {
    evidence.facts.untouched = true;
    evidence
}

/// A policy with an action that is asked for at every stop.
fn asks_at_every_stop() -> Policy {
    let facts = ProjectFacts {
        path: "/p".into(),
        files: vec!["teleclaude/".into()],
    };
    Config::default()
        .policy_for(&facts, Some((".checkpointd.yml", "unchanged: silent\n")))
        .expect("a key of a project's file")
}

#[test]
fn a_turn_that_changed_nothing_passes_unless_a_message_is_wanted() {
    let message = || Policy {
        unchanged: Quiet::Message,
        ..policy()
    };
    let table = [
        (
            "nothing changed",
            evidence(&[], &["ls"]),
            policy(),
            "silent_unchanged",
        ),
        (
            "old changes",
            untouched(evidence(CODE, &["ls"])),
            policy(),
            "silent_unchanged",
        ),
        (
            "old changes, a failure",
            untouched(evidence(CODE, &["!make deploy"])),
            policy(),
            "silent_unchanged",
        ),
        (
            "a failure",
            evidence(&[], &["!make deploy"]),
            policy(),
            "silent_unchanged",
        ),
        (
            "changes of the turn",
            evidence(CODE, &["ls"]),
            policy(),
            "actions_due",
        ),
        (
            "a rule of every stop",
            evidence(&[], &[]),
            asks_at_every_stop(),
            "silent_unchanged",
        ),
        (
            "a rule of every stop, documentation changed",
            evidence(&["README.md=1"], &[]),
            asks_at_every_stop(),
            "actions_due",
        ),
        (
            "a message is wanted",
            evidence(&[], &[]),
            message(),
            "docs_only",
        ),
        (
            "a message is wanted, old changes",
            untouched(evidence(CODE, &[])),
            message(),
            "actions_due",
        ),
    ];
    for (when, evidence, policy, expected) in table {
        let reason = Session::new().turn(&evidence, &policy).reason;
        assert_eq!(reason.word(), expected, "{when}");
    }
}

#[test]
fn silence_about_documentation_holds_although_a_rule_asks_at_every_stop() {
    let facts = ProjectFacts {
        path: "/p".into(),
        files: vec!["teleclaude/".into()],
    };
    let silent = Config::default()
        .policy_for(&facts, Some((".checkpointd.yml", "docs_only: silent\n")))
        .expect("a key of a project's file");
    for (changed, expected) in [
        (&["README.md=1"][..], "silent_docs_only"),
        (CODE, "actions_due"),
    ] {
        let reason = Session::new().turn(&evidence(changed, &[]), &silent).reason;
        assert_eq!(reason.word(), expected, "{changed:?}");
    }
}

#[test]
fn only_tasks_that_bring_another_stop_let_this_one_pass() {
    let any = || Policy {
        background: Background::Any,
        ..policy()
    };
    let table = [
        ("a subagent", 1, Some(1), policy(), true),
        ("a development server", 1, Some(0), policy(), false),
        ("both", 2, Some(1), policy(), true),
        ("kinds are not known", 1, None, policy(), true),
        ("none", 0, Some(0), policy(), false),
        ("any counts", 1, Some(0), any(), true),
    ];
    for (when, running, returning_tasks, policy, passes) in table {
        let mut evidence = evidence(CODE, &[]);
        evidence.facts.returning_tasks = returning_tasks;
        let decision = Session::new().turn_with(&evidence, &policy, running);
        assert_eq!(decision.verdict == Verdict::Pass, passes, "{when}");
        assert_eq!(
            decision.reason.word() == "background_tasks",
            passes,
            "{when}"
        );
    }
}
