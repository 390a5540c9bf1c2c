//! `timeline`: a session's turns, each on a time axis of its own.

use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::Home;

use super::sessions::{FOLLOW_EVERY, Raw};
use crate::cli::mine::{self, Asks};
use crate::cli::shared::Output;
use crate::cli::text::print_json;
use crate::cli::text::timeline::Turns;
use crate::cli::{complete, connection};
use crate::error::{Result, exit};
use crate::ops::query::Query;
use crate::ops::views::TimelineLine;

/// Show a session's prompts, tool calls, stops and decisions on a time axis
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd timeline\n  checkpointd timeline 3f0a --turn 2 --json\n  checkpointd timeline --follow"
)]
pub(crate) struct TimelineArgs {
    /// Session: id or prefix of one (default: this pane's or project's)
    #[arg(default_value = "last", hide_default_value = true, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: String,
    /// Only this turn
    #[arg(long)]
    pub(crate) turn: Option<u64>,
    /// Wait for more
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Shows what happened in a session, in order. With `follow` each line comes at once and without an axis: the length of
/// a turn is not known while it lasts.
pub(crate) fn run(home: &Home, args: TimelineArgs) -> Result<u8> {
    let TimelineArgs {
        session,
        turn,
        follow,
        machine,
        output,
    } = args;
    let session = match machine {
        Some(_) => session,
        None => mine::session(home, session, Asks::of(output))?,
    };
    let mut from = 1;
    let mut turns = Turns::default();
    loop {
        let query = Query::Timeline {
            session: session.clone(),
            turn,
            from,
            machine: machine.clone(),
        };
        let asked = connection::ask(home, &query, |line: Raw<TimelineLine>| {
            from = line.read.event.seq + 1;
            if output.json {
                print_json(&line.json);
                return;
            }
            turns.take(&line.read);
            if follow {
                turns.settle(false);
            }
            turns.print();
        });
        match asked {
            // The daemon may be back in a moment.
            Err(_) if follow && from > 1 => {}
            other => other?,
        }
        if !follow {
            turns.settle(true);
            turns.print();
            if let (1, Some(turn), false) = (from, turn, output.json) {
                println!(
                    "There is no turn {turn}: `checkpointd sessions` says how many there are."
                );
            }
            return Ok(exit::OK);
        }
        std::thread::sleep(FOLLOW_EVERY);
    }
}
