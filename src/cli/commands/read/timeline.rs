//! `timeline`: a session's turns, each on a time axis of its own.

use journal::Home;

use super::FOLLOW_EVERY;
use crate::cli::args::Output;
use crate::cli::connection;
use crate::cli::text::timeline::Turns;
use crate::error::{Result, exit};
use crate::ops::query::Query;

/// Shows what happened in a session, in order. Who follows sees each line as it comes, without an axis: how long a turn
/// will be is not known while it lasts.
pub(in crate::cli::commands) fn timeline(
    home: &Home,
    session: String,
    turn: Option<u64>,
    follow: bool,
    output: Output,
) -> Result<u8> {
    let mut from = 1;
    let mut turns = Turns::default();
    loop {
        let query = Query::Timeline {
            session: session.clone(),
            turn,
            from,
        };
        let asked = connection::ask(home, &query, |line| {
            from = line["seq"].as_u64().unwrap_or(0) + 1;
            if output.json {
                println!("{line}");
                return;
            }
            turns.take(&line);
            if follow {
                turns.settle(false);
            }
            turns.print();
        });
        match asked {
            // A daemon that is away for a moment is no reason to stop looking.
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
