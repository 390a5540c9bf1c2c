//! `clear`, `mute`, `unmute`: orders to one session.

use journal::{Home, Options};
use serde_json::Value;

use crate::cli::Output;
use crate::control::{self, Order};
use crate::failure::{Failure, Result, exit};
use crate::query::{self, Query};
use crate::{render, source};

/// Gives an order, and says what was done.
pub(super) fn run(home: &Home, session: String, order: &Order, output: Output) -> Result<u8> {
    let answer =
        if source::health(home).is_some() { by_daemon(home, session, order)? } else { here(home, &session, order)? };
    if output.json {
        println!("{answer}");
    } else {
        let text = |key: &str| answer[key].as_str().unwrap_or_default();
        let until = answer["until"].as_str().map(|until| format!(" until {}", render::local_time(until)));
        let done = match order {
            Order::Clear => "its next stop passes".to_owned(),
            Order::Mute(_) => format!("muted{}", until.unwrap_or_default()),
            Order::Unmute => "no longer muted".to_owned(),
        };
        println!("{} session {}: {done}", text("agent"), text("session").get(..8).unwrap_or_default());
    }
    Ok(exit::OK)
}

/// Finds the session first, so that a name that fits none or several is refused in the words of every other command.
pub(super) fn session_id(home: &Home, session: String) -> Result<String> {
    let state = source::ask_one(home, &Query::State { session, seq: None, time: None }, |_, _| ())?;
    Ok(state["session"].as_str().unwrap_or_default().to_owned())
}

fn by_daemon(home: &Home, session: String, order: &Order) -> Result<Value> {
    let id = session_id(home, session)?;
    let answer = source::post(home, &format!("/sessions/{id}/{}", order.word()), &order.body())?;
    serde_json::from_slice(&answer).map_err(Failure::failed)
}

fn here(home: &Home, session: &str, order: &Order) -> Result<Value> {
    let journal = source::open_journal_with(home, Options { sync: journal::Sync::Always, ..Options::default() })?;
    let done = control::carry_out(&journal, session, order);
    journal.close();
    done.map_err(|error| match error {
        query::Error::Journal(error) => error.into(),
        other => Failure::failed(other),
    })
}
