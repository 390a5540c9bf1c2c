//! Turns that are held back at random (spec DECIDE-24).

use journal::{Decision, Reason, Verdict};

use super::repeat::{Session, evidence, policy};
use crate::policy::{Policy, Repeat};

/// Decides about 300 turns with an open file or with nothing open.
fn turns(holdout: u32, is_open: bool) -> Vec<Decision> {
    let policy = Policy {
        holdout,
        repeat: Repeat::Always,
        ..policy()
    };
    let mut session = Session::new();
    let commands: &[&str] = if is_open { &["ls"] } else { &["cargo test"] };
    let seen = evidence(&["src/a.rs=1"], commands);
    (0..300).map(|_| session.turn(&seen, &policy)).collect()
}

#[test]
fn a_share_of_due_turns_is_held_back_and_a_replay_holds_back_the_same() {
    let held = |of: &[Decision]| {
        of.iter()
            .filter(|one| one.reason == Reason::HeldOut)
            .count()
    };
    let first = turns(20, true);
    assert_eq!(first, turns(20, true), "two replays agree");
    let count = held(&first);
    assert!((35..=85).contains(&count), "a fifth of 300 turns: {count}");
    for decision in &first {
        let is_held = decision.reason == Reason::HeldOut;
        assert_eq!(decision.verdict == Verdict::Pass, is_held, "{decision:?}");
        assert!(
            !decision.actions.is_empty(),
            "what would have been asked is kept"
        );
        assert_eq!(decision.message.is_none(), is_held);
    }
    assert_eq!(held(&turns(0, true)), 0, "off by default");
    assert_eq!(held(&turns(50, false)), 0, "nothing was due");

    // A larger share holds back the same turns, and more.
    let more = turns(50, true);
    let kept = first
        .iter()
        .zip(&more)
        .filter(|(one, _)| one.reason == Reason::HeldOut);
    assert!(
        kept.clone()
            .all(|(_, other)| other.reason == Reason::HeldOut)
    );
    assert!(held(&more) > count);
}
