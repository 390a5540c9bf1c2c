//! `demo`: a scripted session of an agent in a temporary folder, played through the real client,
//! daemon and actors.
//!
//! All that is played is compiled in. The daemon is a child process with a home of its own; the
//! user's daemon and files are not touched.

mod stage;
mod story;

use std::panic;
use std::time::Instant;

use clap::Args;
use journal::Verdict;
use serde_json::Value;

use crate::cli::connection;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query};
use crate::ops::views::{DecisionRow, DemandEnd, Explanation};
use crate::render::{self, Color};

use stage::Stage;

/// Play a session of an agent in a temporary folder
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Keep the folder and print its path
    #[arg(long)]
    pub(crate) keep: bool,
}

/// The message of a panic about a closed pipe.
const BROKEN_PIPE: &str = "Broken pipe";

/// Plays the story and shows the results.
///
/// A closed pipe elsewhere ends the program at once. Here the daemon and the folder must be removed
/// first, so the panic unwinds to this function.
pub(crate) fn run(args: &DemoArgs) -> Result<u8> {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !panic.to_string().contains(BROKEN_PIPE) {
            others(panic);
        }
    }));
    panic::catch_unwind(|| demo(args)).unwrap_or_else(|panic| {
        let is_unread = panic
            .downcast_ref::<String>()
            .is_some_and(|text| text.contains(BROKEN_PIPE));
        if is_unread {
            Ok(exit::OK)
        } else {
            Err(Failure::failed("the demo was interrupted by an error"))
        }
    })
}

fn demo(args: &DemoArgs) -> Result<u8> {
    let mut stage = Stage::new(args.keep)?;
    let git_works = stage.commit();
    stage.start_daemon()?;
    show_begin(git_works);
    tell(&stage)?;
    show_end(&stage, args.keep);
    Ok(exit::OK)
}

/// Plays the story and prints each step as it happens.
fn tell(stage: &Stage) -> Result<()> {
    let (client, began) = (stage.client(), Instant::now());
    let session = uuid::Uuid::new_v4().to_string();
    for call in story::calls(&session, &stage.project()) {
        stage.wait(call.pause)?;
        let reply = stage.call(&client, &call)?;
        let at = began.elapsed().as_secs_f32();
        let message = message(&reply);
        let line = match &message {
            Some(_) => Some(render::paint(Color::Green, "stop: checkpoint sent")),
            None if call.event == "Stop" => Some(render::paint(Color::Green, &let_through(stage)?)),
            None => call.shown(),
        };
        if let Some(line) = line {
            println!("{at:5.1}s  {line}");
        }
        for line in message.iter().flat_map(|message| message.lines()) {
            render::print_wrapped("          ", &render::printable(line));
        }
    }
    Ok(())
}

/// Returns the message in a reply.
fn message(text: &str) -> Option<String> {
    let reply: Value = serde_json::from_str(text).ok()?;
    let message = reply
        .get("reason")
        .or_else(|| reply.pointer("/hookSpecificOutput/additionalContext"))?;
    Some(message.as_str()?.to_owned())
}

/// Says how the last stop was let through, and whether what was asked before is done.
fn let_through(stage: &Stage) -> Result<String> {
    let rows: Vec<DecisionRow> =
        connection::ask_all(&stage.home(), &Query::Audit(Audit::default()))?;
    let Some(last) = rows.last().filter(|row| row.verdict == Verdict::Pass) else {
        return Ok("stop: no decision in time".to_owned());
    };
    let done = if is_done(stage)? {
        "; judged again, what was asked is done"
    } else {
        ""
    };
    Ok(format!("stop: let through, {}{done}", last.reason.words()))
}

/// Returns whether the rules, applied again to the calls after the checkpoint, ask for nothing more.
fn is_done(stage: &Stage) -> Result<bool> {
    let query = Query::Explain {
        seq: None,
        session: None,
        machine: None,
    };
    let explained: Explanation = connection::ask_one(&stage.home(), &query)?;
    let demand = explained.demand;
    Ok(demand.is_some_and(|demand| demand.end == DemandEnd::Met))
}

fn show_begin(git_works: bool) {
    println!(
        "A scripted agent calls the hooks as Claude Code does. The daemon and its decisions are real."
    );
    println!(
        "`min_turn` is 1s here, not 30s. All is in a temporary folder, and nothing is installed."
    );
    if !git_works {
        println!("Git is missing or does not work here, so the checkpoints are generic.");
    }
    println!();
}

/// Prints what to do next.
fn show_end(stage: &Stage, keep: bool) {
    println!();
    if keep {
        println!(
            "Why: `CHECKPOINTD_HOME={}/home checkpointd explain`",
            stage.folder().display()
        );
    } else {
        println!("Why: `checkpointd demo --keep` keeps this session for `checkpointd explain`.");
    }
    println!(
        "Next: `checkpointd init` adds the hooks; `checkpointd lookback` judges your agents' past sessions."
    );
}
