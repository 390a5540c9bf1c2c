//! `demo`: a scripted session of an agent in a temporary folder, played through the real client,
//! daemon and actors.
//!
//! All that is played is compiled in. The daemon is a child process with a home of its own; the
//! user's daemon and files are not touched. The results are compared with the expected ones, so the
//! demo also tests the installation.

mod stage;
mod story;

use std::panic;
use std::time::{Duration, Instant};

use clap::Args;
use journal::recovery::verify::Verified;
use journal::{Outcome as Delivery, Reason, Verdict};
use serde_json::Value;

use crate::cli::connection;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query, Sessions};
use crate::ops::views::{DecisionRow, DemandEnd, Explanation, Reproved, SessionRow, Stats};
use crate::render::{self, Color};

use stage::Stage;

/// Play a session of an agent in a temporary folder
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Keep the folder and print its path
    #[arg(long)]
    pub(crate) keep: bool,
}

/// The longest wait for confirmed deliveries after the agent has ended.
const CONFIRM_WAIT: Duration = Duration::from_secs(5);
/// The message of a panic about a closed pipe.
const BROKEN_PIPE: &str = "Broken pipe";
/// Pause between two polls.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the daemon reports afterward.
struct Outcome {
    sessions: Vec<SessionRow>,
    decisions: Vec<DecisionRow>,
    /// The result of `journal verify`.
    journal: Verified,
    /// The result of `replay --verify`.
    replay: Reproved,
    /// Payloads that could not be read.
    rejected: u64,
}

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
    let session = uuid::Uuid::new_v4().to_string();
    let messages = tell(&stage, &session)?;
    let mut problems = problems(&session, &messages, &ask(&stage)?, git_works);
    if git_works && !is_done(&stage)? {
        problems.push("what was asked was not done".to_owned());
    }
    show_end(&stage, args.keep, &problems);
    Ok(exit::of(problems.is_empty()))
}

/// Plays the story and prints each step as it happens. Returns the messages that the agent got.
fn tell(stage: &Stage, session: &str) -> Result<Vec<String>> {
    let (client, began) = (stage.client(), Instant::now());
    let mut messages = Vec::new();
    for call in story::calls(session, &stage.project()) {
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
        messages.extend(message);
    }
    Ok(messages)
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

/// Queries the daemon for the results once all deliveries are confirmed.
fn ask(stage: &Stage) -> Result<Outcome> {
    let home = stage.home();
    let began = Instant::now();
    let decisions = loop {
        let query = Query::Audit(Audit::default());
        let decisions: Vec<DecisionRow> = connection::ask_all(&home, &query)?;
        let is_open = decisions
            .iter()
            .any(|decision| decision.delivery == Delivery::Pending);
        if !is_open || began.elapsed() > CONFIRM_WAIT {
            break decisions;
        }
        stage.wait(LOOK_EVERY)?;
    };
    let stats: Stats = connection::ask_one(&home, &Query::Stats)?;
    Ok(Outcome {
        sessions: connection::ask_all(&home, &Query::Sessions(Sessions::default()))?,
        decisions,
        journal: connection::ask_one(&home, &Query::VerifyJournal)?,
        replay: connection::ask_one(
            &home,
            &Query::Verify {
                session: None,
                machine: None,
            },
        )?,
        rejected: stats.kinds.get("payload_rejected").copied().unwrap_or(0),
    })
}

/// Returns what is not as expected, one sentence each.
fn problems(session: &str, messages: &[String], outcome: &Outcome, git_works: bool) -> Vec<String> {
    let Outcome {
        sessions,
        decisions,
        journal,
        replay,
        rejected,
    } = outcome;
    // Without git the changes are unknown, and the message is the generic one.
    let reason = if git_works {
        Reason::ActionsDue
    } else {
        Reason::Generic
    };
    let expected = [
        (Verdict::Inject, reason),
        (Verdict::Pass, Reason::BlockBudget),
    ];
    let decided = Vec::from_iter(decisions.iter().map(|row| (row.verdict, row.reason)));
    let is_session = |row: &SessionRow| row.native_session == session && row.ended;
    let checkpoint = decisions.first();
    let message = checkpoint.and_then(|row| row.message.as_deref());
    let checks = [
        (
            sessions.iter().any(is_session),
            "its session is missing or has not ended".to_owned(),
        ),
        (
            decided == expected,
            format!("decided {decided:?}, not {expected:?}"),
        ),
        (
            messages.iter().map(|got| Some(&**got)).eq([message]),
            format!("it got {messages:?}, not the checkpoint's message"),
        ),
        (
            checkpoint.is_some_and(|row| row.delivery == Delivery::Confirmed),
            "the checkpoint's delivery was not confirmed".to_owned(),
        ),
        (journal.ok, format!("journal verify: {journal:?}")),
        (
            replay.decisions == replay.matched && replay.decisions > 0,
            format!("replay --verify: {replay:?}"),
        ),
        (
            *rejected == 0,
            format!("{rejected} payloads could not be read"),
        ),
    ];
    let failed = checks.into_iter().filter(|(is_so, _)| !is_so);
    failed.map(|(_, problem)| problem).collect()
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

/// Prints what was not as expected, and what to do next.
fn show_end(stage: &Stage, keep: bool, problems: &[String]) {
    println!();
    for problem in problems {
        println!(
            "{} {}",
            render::paint(Color::Red, "not as expected:"),
            render::printable(problem)
        );
    }
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
