//! `mute` and `restart`: orders for one session.

use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::{Home, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::cli::mine::{self, Asks};
use crate::cli::shared::Output;
use crate::cli::text::progress_bar::{announce, progress_done};
use crate::cli::text::{print_json, short};
use crate::cli::{complete, connection};
use crate::error::{Failure, Result, exit};
use crate::ops::orders::{self, Order, Ordered};
use crate::ops::query::Query;
use crate::ops::views::StateView;
use crate::render;

/// Mute a session: its stops pass without checkpoints
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd mute --for 2h\n  checkpointd mute --once\n  checkpointd mute --off"
)]
pub(crate) struct MuteArgs {
    /// Session: id or prefix of one (default: this pane's or project's)
    #[arg(default_value = "last", hide_default_value = true, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: String,
    /// Duration, for example 2h (default: until `mute --off`)
    #[arg(long = "for", value_name = "DURATION", conflicts_with_all = ["once", "off"])]
    pub(crate) period: Option<String>,
    /// Only for its next stop
    #[arg(long, conflicts_with = "off")]
    pub(crate) once: bool,
    /// No longer
    #[arg(long)]
    pub(crate) off: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Restart an agent in its tmux pane and send it a checkpoint
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  checkpointd restart\n  checkpointd restart 3f0a")]
pub(crate) struct RestartArgs {
    /// Session: id or prefix of one (default: this pane's or project's)
    #[arg(default_value = "last", hide_default_value = true, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn mute(home: &Home, args: MuteArgs) -> Result<u8> {
    let order = if args.once {
        Order::Clear
    } else {
        Order::mute(args.period.as_deref())?
    };
    let session = mine::session(home, args.session, Asks::Person)?;
    if args.off {
        unmute(home, session, args.output)
    } else {
        run(home, session, &order, args.output)
    }
}

fn unmute(home: &Home, session: String, output: Output) -> Result<u8> {
    let state = state_of(home, &session)?;
    let is_over = state
        .muted_until
        .is_some_and(|until| until <= Timestamp::now());
    if !state.muted || is_over {
        if output.json {
            print_json(&Ordered {
                session: state.session,
                native_session: state.native_session,
                agent: state.agent,
                did: "nothing".into(),
                until: None,
                shown: None,
                seq: state.seq,
            });
        } else {
            println!(
                "{} session {} was not muted",
                state.agent,
                short(state.session)
            );
        }
        return Ok(exit::OK);
    }
    run(home, session, &Order::Unmute, output)
}

/// Gives an order and prints the result.
fn run(home: &Home, session: String, order: &Order, output: Output) -> Result<u8> {
    let answer = carry_out(home, session, order)?;
    output.print(&answer, |_| {
        let until = answer
            .until
            .map(|until| format!(" until {}", render::local_time(until)));
        let done = match order {
            Order::Clear => "its next stop passes".to_owned(),
            Order::Mute(_) => format!("muted{}", until.unwrap_or_default()),
            Order::Unmute => "no longer muted".to_owned(),
            Order::Wrong(_) => "marked".to_owned(),
            Order::Pane => "shown".to_owned(),
        };
        println!("{} session {}: {done}", answer.agent, short(answer.session));
    });
    Ok(exit::OK)
}

/// Restarts a session's agent and prints when its checkpoint is due.
pub(crate) fn restart(home: &Home, args: RestartArgs) -> Result<u8> {
    let RestartArgs { session, output } = args;
    if connection::health(home).is_none() {
        return Err(Failure::unreachable(
            "no daemon is running, and only the daemon restarts agents",
        )
        .hint("start it with `checkpointd daemon --detach`"));
    }
    let id = session_id(home, &mine::session(home, session, Asks::Person)?)?;
    // Stopping and starting takes seconds.
    announce("restarting the agent");
    let answered = connection::exchange(home, &format!("/sessions/{id}/agent-restart"), b"");
    progress_done();
    let (status, body) = answered?;
    if output.json {
        println!("{}", String::from_utf8_lossy(&body));
        return Ok(exit::of(status == 200));
    }
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = |name: &str| answer[name].as_str();
    match (text("due"), text("error").zip(text("reason"))) {
        (Some(due), _) => {
            let session = text("session").and_then(|id| id.parse().ok());
            println!(
                "{} session {}: restarted; its checkpoint is due {}",
                text("agent").unwrap_or_default(),
                short(session.unwrap_or_default()),
                due.parse()
                    .map_or_else(|_| due.to_owned(), render::local_time)
            );
            Ok(exit::OK)
        }
        (None, Some((error, reason))) => {
            let failure = Failure::failed(format!("{error} ({reason})"));
            Err(match hint(reason) {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        }
        (None, None) => Err(connection::refusal(&body)),
    }
}

/// Returns the next step after a refused restart.
fn hint(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "no_terminal" | "pane_gone" | "no_shell" => {
            "run the agent from a shell in a tmux pane, with its hooks installed; or restart it by hand"
        }
        "pane_taken" => {
            "`checkpointd sessions` shows it; restart that session, or end its agent first"
        }
        "other_program" => {
            "bring the agent or its shell to the front of its pane and try again; from that shell, use `checkpointd restart &`"
        }
        "agent_still_running" => "look at its pane; nothing was typed",
        "agent_not_started" => "look at its pane; `restart` in config.yml says what is typed",
        "delivery_under_way" | "restart_under_way" => "try again in a moment",
        "tmux_failed" => "the daemon needs `tmux` and `ps` on its PATH; see its log",
        _ => return None,
    })
}

/// Resolves the session first, so that an unknown or ambiguous name gives the same error as in
/// every other command.
fn session_id(home: &Home, session: &str) -> Result<Uuid> {
    Ok(state_of(home, session)?.session)
}

fn state_of(home: &Home, session: &str) -> Result<StateView> {
    connection::ask_one(home, &Query::state(session.to_owned()))
}

/// Carries out an order, through the daemon if it runs.
pub(super) fn carry_out(home: &Home, session: String, order: &Order) -> Result<Ordered> {
    if connection::health(home).is_some() {
        let id = session_id(home, &session)?;
        let path = format!("/sessions/{id}/{}", order.word());
        return connection::post_for(home, &path, order.body().to_string().as_bytes());
    }
    let journal = connection::open_journal(home)?;
    let done = orders::carry_out(&journal, &session, order, None);
    journal.close();
    done?.map_err(Failure::failed)
}
