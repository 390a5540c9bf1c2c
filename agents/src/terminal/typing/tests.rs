//! Every phase with everything that can be seen in it.

use super::*;

const SECOND: i64 = 1_000_000;

fn bounds() -> Bounds {
    Bounds {
        settle: Duration::from_secs(1),
        confirm_timeout: Duration::from_secs(60),
        draft: Draft::Wait,
        draft_wait: Duration::from_secs(30),
        hold_for: Duration::from_secs(600),
        attempts: 3,
    }
}

/// The situation `after` seconds from the decision, with the same sight all the time.
fn situation(typed: &Typed, seen: Seen, after: i64) -> Situation<'_> {
    let at = |seconds| Timestamp::from_micros(seconds * SECOND);
    Situation {
        typed,
        seen,
        decided_at: at(0),
        since: at(0),
        now: at(after),
        asks: false,
        running: false,
        is_said: false,
        would_tell: true,
        bounds: bounds(),
    }
}

fn typed(attempts: u32, pasted: bool, enters: u32) -> Typed {
    let pasted_at = pasted.then(|| Timestamp::from_micros(0));
    Typed {
        attempts,
        pasted_at,
        enters,
        ..Typed::default()
    }
}

#[test]
fn each_phase_answers_what_is_seen() {
    use Composer::{Dialog, Draft, Empty, Ours, Unknown};
    use Seen::{Composer as See, CopyMode, Gone, Nothing, Other};
    let (fresh, begun, pasted, entered) = (
        typed(0, false, 0),
        typed(1, false, 0),
        typed(1, true, 0),
        typed(1, true, 1),
    );
    let word = |word| Step::Wait(Some(word));
    for (phase, seen, after, expected) in [
        // Nothing is typed yet.
        (&fresh, See(Empty), 0, Step::Paste),
        (&fresh, See(Draft), 1, word("draft_present")),
        (&fresh, See(Ours), 1, word("draft_present")),
        (&fresh, See(Draft), 30, Step::Fail("draft_present")),
        (&fresh, See(Dialog), 599, word("dialog")),
        (&fresh, See(Dialog), 600, Step::Expire("dialog")),
        (&fresh, See(Unknown), 1, word("no_composer")),
        (&fresh, See(Unknown), 600, Step::Expire("no_composer")),
        (&fresh, CopyMode, 599, word("copy_mode")),
        (&fresh, CopyMode, 600, Step::Expire("copy_mode")),
        (&fresh, Gone, 0, Step::Fail("pane_gone")),
        (&fresh, Other, 1, word("pane_other")),
        (&fresh, Other, 30, Step::Fail("pane_other")),
        (&fresh, Nothing, 30, Step::Fail("tmux_silent")),
        // The journal does not say whether the paste was done.
        (&begun, See(Ours), 0, Step::NotePasted),
        (&begun, See(Empty), 1, Step::Wait(None)),
        (&begun, See(Empty), 2, Step::Paste),
        (&begun, See(Draft), 29, word("draft_present")),
        (&begun, See(Dialog), 1, word("dialog")),
        (&begun, Gone, 0, Step::Expire("pane_gone")),
        // It was.
        (&pasted, See(Ours), 0, Step::Wait(None)),
        (&pasted, See(Ours), 1, Step::Enter),
        (&pasted, See(Empty), 59, Step::Wait(None)),
        (&pasted, See(Empty), 60, Step::Paste),
        (&pasted, See(Draft), 29, word("draft_present")),
        (&pasted, See(Draft), 30, Step::Expire("draft_present")),
        (&pasted, See(Dialog), 2, word("dialog")),
        (&pasted, CopyMode, 2, word("copy_mode")),
        (&pasted, Other, 2, word("pane_other")),
        (&pasted, Gone, 2, Step::Expire("pane_gone")),
        // Enter was pressed.
        (&entered, See(Ours), 0, Step::Wait(None)),
        (&entered, See(Ours), 1, Step::Enter),
        (&entered, See(Empty), 59, Step::Wait(None)),
        (&entered, See(Empty), 60, Step::Expire("confirm_timeout")),
        (&entered, See(Draft), 1, Step::Wait(None)),
        (&entered, See(Dialog), 1, Step::Wait(None)),
        (&entered, Gone, 1, Step::Wait(None)),
        (&entered, Gone, 60, Step::Expire("confirm_timeout")),
    ] {
        assert_eq!(
            next(&situation(phase, seen, after)),
            expected,
            "{phase:?} {seen:?} after {after} s"
        );
    }
}

#[test]
fn what_the_agent_tells_counts_besides_what_is_seen() {
    let (fresh, pasted, entered) = (typed(0, false, 0), typed(1, true, 0), typed(1, true, 1));
    let see = Seen::Composer;
    let with = |typed, seen, after, change: fn(&mut Situation<'_>)| {
        let mut situation = situation(typed, seen, after);
        change(&mut situation);
        next(&situation)
    };
    let asks: fn(&mut Situation<'_>) = |now| now.asks = true;
    assert_eq!(
        with(&fresh, see(Composer::Empty), 1, asks),
        Step::Wait(Some("dialog"))
    );
    assert_eq!(
        with(&pasted, see(Composer::Ours), 2, asks),
        Step::Wait(Some("dialog"))
    );
    assert_eq!(
        with(&entered, see(Composer::Ours), 2, asks),
        Step::Wait(None)
    );
    assert_eq!(
        with(&fresh, see(Composer::Draft), 1, |now| now.bounds.draft =
            Draft::Clear),
        Step::Clear
    );
    // An agent at work may have put the text off.
    assert_eq!(
        with(&entered, see(Composer::Empty), 60, |now| now.running = true),
        Step::Wait(None)
    );
    assert_eq!(
        with(&entered, see(Composer::Empty), 600, |now| now.running =
            true),
        Step::Expire("confirm_timeout")
    );
    assert_eq!(
        with(&pasted, see(Composer::Empty), 60, |now| now.running = true),
        Step::Wait(None)
    );
    // The text may be somewhere: it is not pasted again.
    for change in [
        (|now| now.would_tell = false) as fn(&mut Situation<'_>),
        |now| now.is_said = true,
    ] {
        assert_eq!(
            with(&pasted, see(Composer::Empty), 60, change),
            Step::Expire("confirm_timeout")
        );
    }
}

/// Whatever is seen in whatever order, there are at most `attempts` pastes and Enters, no Enter but for our own text
/// alone, no paste but into an empty composer, and an end.
/// Returns a die with any number of sides that falls the same way for the same seed.
fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |sides| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % sides
    }
}

#[test]
fn no_order_of_sights_types_too_often_or_for_ever() {
    let sights = [
        Seen::Gone,
        Seen::Other,
        Seen::CopyMode,
        Seen::Nothing,
        Seen::Composer(Composer::Empty),
        Seen::Composer(Composer::Draft),
        Seen::Composer(Composer::Ours),
        Seen::Composer(Composer::Dialog),
        Seen::Composer(Composer::Unknown),
    ];
    for seed in 0..2_000_u64 {
        let mut roll = dice(seed);
        let mut typed = Typed::default();
        let mut pastes = 0;
        let mut now = 0;
        let mut ended = false;
        for _ in 0..10_000 {
            now += i64::try_from(roll(4)).expect("small");
            let seen = sights[usize::try_from(roll(9)).expect("small")];
            let at = Timestamp::from_micros(now * SECOND);
            let asks = roll(5) == 0;
            let running = roll(3) == 0;
            // A sight may be as new as now: a wait that counts from it must still end.
            let since = if roll(2) == 0 {
                at
            } else {
                Timestamp::default()
            };
            let told = Situation {
                since,
                asks,
                running,
                would_tell: roll(2) == 0,
                ..situation(&typed, seen, now)
            };
            match next(&told) {
                Step::Paste => {
                    assert_eq!((seen, asks), (Seen::Composer(Composer::Empty), false));
                    pastes += 1;
                    let pasted_at = (roll(3) > 0).then_some(at);
                    typed = Typed {
                        attempts: typed.attempts + 1,
                        attempted_at: Some(at),
                        pasted_at,
                        ..Typed::default()
                    };
                }
                Step::NotePasted => typed.pasted_at = Some(at),
                Step::Enter => {
                    assert_eq!((seen, asks), (Seen::Composer(Composer::Ours), false));
                    typed.enters += 1;
                    typed.entered_at = Some(at);
                }
                Step::Clear => panic!("drafts are waited for"),
                Step::Wait(_) => {}
                Step::Fail(_) | Step::Expire(_) => {
                    ended = true;
                    break;
                }
            }
        }
        assert!(
            ended && pastes <= 3 && typed.enters <= 3,
            "seed {seed}: {pastes} pastes, {typed:?}"
        );
    }
}
