//! What happens in a run, drawn from its seed before it begins. Every act can be done in every situation, so that a plan
//! stays one when acts are taken out of it.

use crate::dice::Dice;

/// Sessions of a run; session `n` is of agent `n % 3`.
pub(crate) const SESSIONS: usize = 4;
/// Acts of a plan.
const ACTS: usize = 36;

/// A hook event that an agent reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    Start,
    End,
    /// A person's message, which now and then quotes ours.
    Person,
    /// Our own text, in one of the hosts' wrappings.
    Own,
    /// A text that the host put in.
    Host,
    /// A subagent's prompt.
    Subagent,
    Tool,
    Stop {
        reentry: bool,
        background: bool,
    },
    /// Codex's second word of a stop.
    Notify,
    Permission,
    Notification,
    Interrupted,
    /// Nothing that we know.
    Unknown,
}

/// What a person orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Mute,
    Unmute,
    Clear,
    /// A restart whose checkpoint is due at once.
    Restart,
}

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// A hook is called; the call takes that many seconds to arrive, and its client may wait for an answer.
    Call {
        session: usize,
        hook: Hook,
        late: u32,
        waits: bool,
    },
    /// The last call once more, by a hook that is registered twice.
    Twin,
    /// An earlier call once more: its client had no answer.
    Again {
        back: usize,
    },
    /// The client that waits for the answer to an earlier call disconnects.
    GiveUp {
        back: usize,
    },
    Order {
        session: usize,
        order: Order,
    },
    /// The actors take that many rounds, which need not be enough.
    Run {
        rounds: usize,
    },
    /// The actors come to rest.
    Rest,
    /// Time goes on.
    Wait {
        seconds: u32,
    },
    /// The daemon dies where it is, and comes up again. What it had given to the journal may be written only then, as it
    /// is where not the daemon dies but a session's actor. That many acts find no daemon; what they call is spooled.
    Crash {
        outlived: bool,
        down: usize,
    },
}

/// How the daemon is set up.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Its `config.yml`.
    pub(crate) config: String,
    /// Checkpoints that a turn may have.
    pub(crate) budget: usize,
    /// Of how many pokes one is delivered.
    pub(crate) pokes_kept: usize,
    /// The agents have terminals that cannot be reached.
    pub(crate) dead_terminals: bool,
}

/// Draws setup and plan of a seed.
pub(crate) fn draw(seed: u64) -> (Setup, Vec<Act>) {
    let mut dice = Dice::new(seed);
    let setup = setup(&mut dice);
    let acts = (0..ACTS).map(|_| act(&mut dice)).collect();
    (setup, acts)
}

fn setup(dice: &mut Dice) -> Setup {
    let budget = dice.pick(&[0, 1, 1, 1, 2, 3]);
    let config = format!(
        "min_turn: {}\nheadless: always\nrepeat: {}\ntimer: {}\nmax_blocks_per_turn: {budget}\nconfirm_timeout: {}\n\
         daemon:\n  mailbox: {}\n  sessions_awake_max: {}\n  session_idle: {}\n",
        dice.pick(&["0s", "30s"]),
        dice.pick(&["once", "always"]),
        dice.pick(&["unified", "unified", "first_tool_use"]),
        // What the actors take from the system's clock is days after all that the agents tell: at once, or never.
        dice.pick(&["1s", "100d"]),
        dice.pick(&[2, 256, 256]),
        dice.pick(&[1, 256, 256]),
        dice.pick(&["0s", "30m"]),
    );
    Setup {
        config,
        budget,
        pokes_kept: dice.pick(&[1, 1, 3, 1_000]),
        dead_terminals: dice.one_in(16),
    }
}

fn act(dice: &mut Dice) -> Act {
    let session = dice.below(SESSIONS);
    match dice.below(100) {
        0..58 => {
            let late = if dice.one_in(8) {
                u32::try_from(dice.below(90)).expect("small")
            } else {
                0
            };
            Act::Call {
                session,
                hook: hook(dice),
                late,
                waits: !dice.one_in(6),
            }
        }
        58..63 => Act::Twin,
        63..67 => Act::Again {
            back: dice.below(8),
        },
        67..70 => Act::GiveUp {
            back: dice.below(3),
        },
        70..75 => Act::Order {
            session,
            order: dice.pick(&[Order::Mute, Order::Unmute, Order::Clear, Order::Restart]),
        },
        75..83 => Act::Run {
            rounds: dice.below(6),
        },
        83..86 => Act::Rest,
        86..96 => Act::Wait {
            seconds: dice.pick(&[1, 4, 31, 31, 120]),
        },
        _ => Act::Crash {
            outlived: dice.one_in(2),
            down: dice.pick(&[0, 0, 0, 2, 6]),
        },
    }
}

fn hook(dice: &mut Dice) -> Hook {
    match dice.below(32) {
        0..6 => Hook::Person,
        6..8 => Hook::Own,
        8 => Hook::Host,
        9 => Hook::Subagent,
        10..15 => Hook::Tool,
        15..23 => Hook::Stop {
            reentry: dice.one_in(4),
            background: dice.one_in(8),
        },
        23..26 => Hook::Notify,
        26 => Hook::Permission,
        27 => Hook::Notification,
        28 => Hook::Interrupted,
        29 => Hook::Start,
        30 => Hook::End,
        _ => Hook::Unknown,
    }
}
