//! The acts of a plan, and how plans are drawn.

use crate::dice::Dice;

/// Acts of a plan.
const ACTS: usize = 40;

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The daemon looks and takes a step.
    Step,
    /// The daemon dies after that many more things that it does; an append that it dies of is there, or is not.
    Die {
        after: u32,
        written: bool,
    },
    Wait {
        millis: u64,
    },
    /// Hook calls that are under way arrive.
    Hooks,
    /// A person types, takes everything away, or presses Enter.
    Types,
    Clears,
    Enters,
    Dialog(bool),
    CopyMode(bool),
    /// Another program has the pane.
    Other(bool),
    Gone,
    /// tmux executes the next command, and all after it, only when it is awake again.
    FallsAsleep,
    Wakes,
    /// The agent overlooks the next Enter.
    Overlooks,
    /// The agent draws the next paste that much later.
    Lags {
        millis: u64,
    },
    /// Submitted text scrolls off the screen.
    Scrolls,
    /// The agent reports a question or a finished tool call.
    Asks(bool),
}

/// Draws a plan, and whether drafts are cleared.
pub(crate) fn draw(seed: u64) -> (bool, Vec<Act>) {
    let mut dice = Dice::new(!seed);
    let clears = dice.one_in(4);
    let acts = (0..ACTS).map(|_| act(&mut dice)).collect();
    (clears, acts)
}

fn act(dice: &mut Dice) -> Act {
    match dice.below(66) {
        0..24 => Act::Step,
        24..28 => Act::Die {
            after: u32::try_from(dice.below(5)).expect("small"),
            written: dice.one_in(2),
        },
        28..42 => Act::Wait {
            millis: dice.pick(&[100, 400, 1_100, 2_500, 9_000, 31_000, 61_000]),
        },
        42..44 => Act::Hooks,
        44..46 => Act::Types,
        46..48 => Act::Clears,
        48..51 => Act::Enters,
        51 => Act::Dialog(dice.one_in(2)),
        52 => Act::CopyMode(dice.one_in(2)),
        53 => Act::Other(dice.one_in(2)),
        54 if dice.one_in(4) => Act::Gone,
        54..57 => Act::FallsAsleep,
        57..59 => Act::Wakes,
        59..61 => Act::Overlooks,
        61 => Act::Scrolls,
        62 => Act::Asks(dice.one_in(2)),
        _ => Act::Lags {
            millis: dice.pick(&[500, 1_100, 1_150, 20_000, 59_000]),
        },
    }
}
