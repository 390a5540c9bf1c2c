//! Work that leaves: given a turn, when the agent is about to run a command, then what is decided (spec DECIDE-25).

use journal::{
    Changes, Decision, Event, Evidence, Host, Reason, ReplyForm, ToolCall, ToolKind, Verdict,
};

use super::repeat::{CODE, Session, evidence, policy};
use crate::policy::{Edition, Exits, Policy};

fn hold() -> Policy {
    Policy {
        exits: Exits::Hold,
        ..policy()
    }
}

impl Session {
    /// The agent is about to push, half a minute later.
    fn push(&mut self, evidence: &Evidence, policy: &Policy) -> Decision {
        self.leave(
            Some("git add -A && git push -u origin work"),
            None,
            evidence,
            policy,
        )
    }

    /// A command is about to run, or a part of the work is done, half a minute later.
    fn leave(
        &mut self,
        command: Option<&str>,
        subagent: Option<&str>,
        evidence: &Evidence,
        policy: &Policy,
    ) -> Decision {
        self.second += 31;
        self.apply(Event::WorkLeaves {
            command: command.map(str::to_owned),
            subagent: subagent.map(str::to_owned),
            host_turn: None,
        });
        let stop = self.state.pending.last().expect("it waits").clone();
        let decision = self.decide(&stop, evidence, policy);
        assert!(self.state.pending.is_empty(), "it waits no longer");
        decision
    }

    /// The agent stops, half a minute later.
    fn stop(&mut self, evidence: &Evidence, policy: &Policy) -> Decision {
        self.second += 31;
        let stop = crate::state::Stop {
            seq: self.state.last_seq + 1,
            at: self.at(),
            host_turn: None,
            can_reply: true,
            background_tasks: 0,
            restart: false,
            leaves: None,
        };
        self.decide(&stop, evidence, policy)
    }
}

/// A subagent edits a file.
fn edits(subagent: &str, path: &str) -> Event {
    Event::ToolFinished {
        host: Host {
            subagent: Some(subagent.into()),
            ..Host::default()
        },
        call: ToolCall {
            kind: ToolKind::Edit,
            paths: vec![path.into()],
            finished: true,
            ..ToolCall::default()
        },
    }
}

#[test]
fn a_subagent_is_held_for_what_it_edited_itself() {
    let parts = Policy {
        exits: Exits::Parts,
        ..policy()
    };
    let code = evidence(CODE, &[]);
    let tested = evidence(CODE, &["cargo test"]);
    for (given, of, seen, policy, then) in [
        (
            "its own work",
            Some("a1"),
            &code,
            &parts,
            Reason::LeavesOpen,
        ),
        (
            "another's work",
            Some("a2"),
            &code,
            &parts,
            Reason::LeavesClear,
        ),
        (
            "its own work, tested",
            Some("a1"),
            &tested,
            &parts,
            Reason::LeavesClear,
        ),
        (
            "a task, whoever worked on it",
            None,
            &code,
            &parts,
            Reason::LeavesOpen,
        ),
        (
            "only commands are held",
            Some("a1"),
            &code,
            &hold(),
            Reason::ExitsOff,
        ),
    ] {
        let mut session = Session::new();
        session.prompt_with("change it and push it");
        session.apply(edits("a1", "/p/src/a.rs"));
        session.apply(edits("a2", "/p/src/b.rs"));
        let decision = session.leave(None, of, seen, policy);
        assert_eq!(decision.reason, then, "{given}");
        let is_held = then == Reason::LeavesOpen;
        assert_eq!(
            decision.form,
            is_held.then_some(ReplyForm::Block),
            "{given}"
        );
        if is_held {
            let text = decision.message.expect("a text");
            assert!(
                text.ends_with("Then end again: it is held only once."),
                "{text}"
            );
            let again = session.leave(None, of, seen, policy);
            assert_eq!(again.reason, Reason::BlockBudget, "{given}");
        }
    }
}

/// Decides about a push in a new turn.
fn push_after(prompt: &str, evidence: &Evidence, policy: &Policy) -> Decision {
    let mut session = Session::new();
    session.prompt_with(prompt);
    session.push(evidence, policy)
}

#[test]
fn a_push_is_held_only_for_what_is_certainly_open() {
    let mut same_line = evidence(CODE, &["cargo test && git push"]);
    same_line.timeline.calls[0].finished = false;
    let blind = Evidence {
        changes: Changes::Unknown("timeout".into()),
        ..Evidence::default()
    };
    let letter = Policy {
        judgment: Edition::Letter,
        ..hold()
    };
    let off = policy();
    let hold = hold();
    let all = |exits: &Policy| Policy {
        holdout: 100,
        ..exits.clone()
    };
    let (off_all, hold_all) = (all(&off), all(&hold));
    let code = || evidence(CODE, &[]);
    let mut elsewhere = code();
    elsewhere.facts.leaves_elsewhere = true;
    for (given, prompt, seen, policy, then) in [
        ("nothing ran", "go", code(), &hold, Reason::LeavesOpen),
        (
            "only looked",
            "go",
            evidence(CODE, &["ls"]),
            &hold,
            Reason::LeavesOpen,
        ),
        (
            "tests failed",
            "go",
            evidence(CODE, &["!cargo test"]),
            &hold,
            Reason::LeavesOpen,
        ),
        (
            "tests passed",
            "go",
            evidence(CODE, &["cargo test"]),
            &hold,
            Reason::LeavesClear,
        ),
        (
            "not known what ran",
            "go",
            evidence(CODE, &["./check.sh"]),
            &hold,
            Reason::LeavesClear,
        ),
        (
            "the line itself tests",
            "go",
            same_line,
            &hold,
            Reason::LeavesClear,
        ),
        (
            "only a document",
            "go",
            evidence(&["README.md=1"], &[]),
            &hold,
            Reason::LeavesClear,
        ),
        (
            "only a manifest",
            "go",
            evidence(&["Cargo.toml=1"], &[]),
            &hold,
            Reason::LeavesClear,
        ),
        (
            "nothing changed",
            "go",
            evidence(&[], &[]),
            &hold,
            Reason::LeavesClear,
        ),
        ("changes not known", "go", blind, &hold, Reason::LeavesClear),
        (
            "of another repository",
            "go",
            elsewhere,
            &hold,
            Reason::LeavesClear,
        ),
        (
            "asked for",
            "Fix it and push it.",
            code(),
            &hold,
            Reason::LeavesAsked,
        ),
        (
            "a pull request is asked for",
            "open a PR",
            code(),
            &hold,
            Reason::LeavesAsked,
        ),
        (
            "asked for in another language",
            "修好之后推送",
            code(),
            &hold,
            Reason::LeavesAsked,
        ),
        (
            "a word that only holds one",
            "improve the sprint",
            code(),
            &hold,
            Reason::LeavesOpen,
        ),
        (
            "judged by the letter",
            "go",
            code(),
            &letter,
            Reason::LeavesClear,
        ),
        ("off", "go", code(), &off, Reason::ExitsOff),
        // Only what would have been held is held back to measure.
        (
            "off, all turns held back",
            "go",
            code(),
            &off_all,
            Reason::ExitsOff,
        ),
        (
            "all turns held back",
            "go",
            code(),
            &hold_all,
            Reason::HeldOut,
        ),
        (
            "off, tested",
            "go",
            evidence(CODE, &["cargo test"]),
            &off,
            Reason::LeavesClear,
        ),
    ] {
        let decision = push_after(prompt, &seen, policy);
        assert_eq!(decision.reason, then, "{given}");
        let is_held = then == Reason::LeavesOpen;
        assert_eq!(decision.verdict == Verdict::Inject, is_held, "{given}");
        assert_eq!(decision.form, is_held.then_some(ReplyForm::Tool), "{given}");
        assert_eq!(
            decision,
            push_after(prompt, &seen, policy),
            "a replay agrees: {given}"
        );
    }
}

#[test]
fn the_agent_reads_what_was_held_and_why() {
    let decision = push_after("go", &evidence(CODE, &[]), &hold());
    insta::assert_snapshot!(decision.message.expect("it is held"), @r"
    [checkpointd] `git push` was held, because this is not verified yet:

    Run the tests of `src/a.rs` (`cargo test`): nothing that could show a mistake ran after the last change.

    Fix what fails. Then run it again: it is held only once.
    ");
}

#[test]
fn a_push_is_held_once_and_counts_as_the_checkpoint_of_its_turn() {
    let (code, other) = (evidence(CODE, &[]), evidence(&["src/a.rs=2"], &[]));
    let twice = Policy {
        max_blocks_per_turn: 2,
        ..hold()
    };
    for (policy, stop) in [(hold(), Reason::BlockBudget), (twice, Reason::ActionsDue)] {
        let mut session = Session::new();
        session.prompt_with("go");
        let first = session.push(&code, &policy);
        assert_eq!(first.reason, Reason::LeavesOpen);
        let again = session.push(&other, &policy);
        assert_eq!(again.reason, Reason::BlockBudget, "the second try passes");
        assert!(session.state.running, "the agent goes on");
        assert_eq!(session.stop(&code, &policy).reason, stop);

        session.prompt_with("go on");
        let same = session.push(&code, &policy);
        assert_eq!(
            same.reason,
            Reason::Repeated,
            "never twice for the same contents"
        );
        assert_eq!(session.push(&other, &policy).reason, Reason::LeavesOpen);
    }
}

#[test]
fn after_a_checkpoint_at_a_stop_the_work_may_leave() {
    let code = evidence(CODE, &[]);
    let mut session = Session::new();
    assert_eq!(session.turn(&code, &hold()).reason, Reason::ActionsDue);
    assert_eq!(session.push(&code, &hold()).reason, Reason::BlockBudget);
}

#[test]
fn a_call_that_went_through_leaves_the_stop_to_be_judged() {
    let code = evidence(CODE, &[]);
    let mut session = Session::new();
    session.prompt_with("go");
    assert_eq!(session.push(&code, &hold()).reason, Reason::LeavesOpen);
    session.fail_delivery();
    assert_eq!(session.stop(&code, &hold()).reason, Reason::ActionsDue);
}

#[test]
fn a_push_that_carries_no_work_does_not_count() {
    for (line, leaves) in [
        ("git push", true),
        ("git push origin main", true),
        ("git push -o ci.skip origin main:refs/heads/main", true),
        ("git push -n origin main", false),
        ("git push origin --delete old", false),
        ("git push -d origin old", false),
        ("git push origin :old +:older", false),
        ("git push origin :old main", true),
        ("git push origin :", true),
        ("git push origin refs/notes/checkpointd", false),
        (
            "git -C app push -q origin '+refs/notes/*:refs/notes/*'",
            false,
        ),
        ("git push origin refs/notes/checkpointd main", true),
        ("git push --tags origin refs/notes/checkpointd", true),
        ("git push origin refs/notes/checkpointd && git push", true),
    ] {
        let found = crate::judging::leaving(crate::catalogue::Catalogue::built_in(), line);
        assert_eq!(!found.is_empty(), leaves, "{line}");
    }
}
