//! `demo`: a session of an agent in a temporary folder, played through the real client, daemon and
//! actors: a story, or the recordings of named agents.
//!
//! All that is played is compiled in. The daemon is a child process with a home of its own; the
//! user's daemon and files are not touched. All results are compared with the expected ones, so the
//! demo also tests the installation.

mod check;
mod play;
mod project;
mod recording;
mod recordings;
mod stage;
mod story;

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use journal::{Timestamp, Verdict};
use serde_json::json;

use super::timeline;
use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query, Sessions};
use crate::ops::views::{DecisionRow, DemandEnd, Explanation, Stats};
use crate::render::{self, Color};

use check::{Outcome, Played};
use play::{Players, Reply};
use recording::Script;
use recordings::{RECORDINGS, Recording};
use stage::Stage;

/// Play a session of an agent in a temporary folder
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Play a recorded session of this agent instead; can be given several times
    #[arg(long = "agent", value_name = "AGENT", value_parser = PossibleValuesParser::new(RECORDINGS.iter().map(|recording| recording.agent)))]
    pub(crate) agents: Vec<String>,
    /// Keep the folder and print its path
    #[arg(long)]
    pub(crate) keep: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The longest wait for confirmed deliveries after the agents have ended.
const CONFIRM_WAIT: Duration = Duration::from_secs(5);
const NO_GIT: &str = "Git is missing or does not work here, so the checkpoints are generic.";
/// The message of a panic about a closed pipe.
const BROKEN_PIPE: &str = "Broken pipe";
/// Pause between two polls.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Plays the story or the recordings and shows the results.
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
    let DemoArgs {
        ref agents,
        keep,
        output,
    } = *args;
    let is_chosen = |recording: &&Recording| agents.iter().any(|word| word == recording.agent);
    let chosen = match agents.as_slice() {
        [] => RECORDINGS.iter().take(1).collect(),
        _ => Vec::from_iter(RECORDINGS.iter().filter(is_chosen)),
    };
    let mut stage = Stage::new(keep)?;
    let mut git_works = true;
    for recording in &chosen {
        git_works &= stage.make(recording.project)?;
    }
    stage.start_daemon()?;
    let played = if agents.is_empty() {
        if !output.json {
            show_begin(git_works);
        }
        vec![tell(chosen[0], &stage, output.json)?]
    } else {
        play_all(&chosen, &stage)?
    };
    let outcome = ask(&stage)?;
    // Without git the changes are unknown, and the message is the generic one.
    let expected = if git_works { "actions_due" } else { "generic" };
    let mut problems = check::problems(&played, &outcome, expected);
    if agents.is_empty() && git_works && !is_done(&stage)? {
        problems.push("what was asked was not done".to_owned());
    }
    if output.json {
        print_json(&stage, keep, &played, &outcome, &problems);
    } else {
        if !agents.is_empty() {
            show(&stage, &played, &outcome, git_works)?;
        }
        show_end(&stage, keep, &problems);
    }
    Ok(if problems.is_empty() {
        exit::OK
    } else {
        exit::FAILED
    })
}

fn players(stage: &Stage) -> Players<'_> {
    Players {
        stage,
        client: stage.client(),
        done: AtomicUsize::new(0),
    }
}

/// Plays the story and prints each step as it happens, unless it is to be silent.
fn tell(recording: &'static Recording, stage: &Stage, is_silent: bool) -> Result<Played<'static>> {
    let script = story::script(recording.project, stage, Timestamp::now());
    let began = Instant::now();
    let replies = players(stage).play(recording, &script, |call, reply| {
        let at = began.elapsed().as_secs_f32();
        let message = reply.and_then(Reply::message);
        let line = match &message {
            _ if is_silent => None,
            Some(_) => Some(render::paint(Color::Green, "stop: checkpoint sent")),
            None if call.is_stop() => Some(render::paint(Color::Green, &let_through(stage)?)),
            None => story::shown(call, recording.project),
        };
        if let Some(line) = line {
            println!("{at:5.1}s  {line}");
            print_message(&message.unwrap_or_default(), "          ");
        }
        Ok(())
    })?;
    Ok(Played::new(recording, script, replies))
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
    let explained: Explanation = connection::ask_one(&stage.home(), &query, |_, _| ())?;
    let demand = explained.demand;
    Ok(demand.is_some_and(|demand| demand.end == DemandEnd::Met))
}

/// Plays the recordings at the same time.
fn play_all(chosen: &[&'static Recording], stage: &Stage) -> Result<Vec<Played<'static>>> {
    let from = Timestamp::now();
    let script = |recording: &&Recording| Script::new(recording, stage, from);
    let scripts = chosen.iter().map(script).collect::<Result<Vec<_>>>()?;
    let calls: usize = scripts.iter().map(|script| script.calls.len()).sum();
    let players = players(stage);
    let mut progress = progress("playing recorded hook calls");
    let results: Vec<_> = std::thread::scope(|scope| {
        let play = |(recording, script)| {
            scope.spawn({
                let players = &players;
                move || players.play(recording, script, |_, _| Ok(()))
            })
        };
        let threads: Vec<_> = chosen.iter().copied().zip(&scripts).map(play).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            progress(players.done.load(Ordering::Relaxed) as u64, calls as u64);
            std::thread::sleep(LOOK_EVERY);
        }
        threads
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect()
    });
    progress_done();
    let mut played = Vec::new();
    for ((recording, script), result) in chosen.iter().copied().zip(scripts).zip(results) {
        let replies = result.unwrap_or_else(|_| Err(Failure::failed("a player panicked")))?;
        played.push(Played::new(recording, script, replies));
    }
    Ok(played)
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
            .any(|decision| decision.delivery == journal::Outcome::Pending);
        if !is_open || began.elapsed() > CONFIRM_WAIT {
            break decisions;
        }
        stage.wait(LOOK_EVERY)?;
    };
    let stats: Stats = connection::ask_one(&home, &Query::Stats, |_, _| ())?;
    Ok(Outcome {
        sessions: connection::ask_all(&home, &Query::Sessions(Sessions::default()))?,
        decisions,
        journal: connection::ask_one(&home, &Query::VerifyJournal, |_, _| ())?,
        replay: connection::ask_one(
            &home,
            &Query::Verify {
                session: None,
                machine: None,
            },
            |_, _| (),
        )?,
        rejected: stats.kinds.get("payload_rejected").copied().unwrap_or(0),
    })
}

fn print_json(
    stage: &Stage,
    keep: bool,
    played: &[Played<'_>],
    outcome: &Outcome,
    problems: &[String],
) {
    let replies: Vec<_> = played
        .iter()
        .flat_map(|played| &played.replies)
        .map(play::Reply::to_json)
        .collect();
    let answer = json!({
        "ok": problems.is_empty(),
        "problems": problems,
        "folder": keep.then(|| stage.folder()),
        "sessions": outcome.sessions,
        "decisions": outcome.decisions,
        "replies": replies,
        "journal": outcome.journal,
        "replay": outcome.replay,
    });
    text::print_json(&answer);
}

fn heading(text: &str) {
    println!("\n{}", render::paint(Color::Bold, text));
}

/// Prints a message, indented.
fn print_message(text: &str, indent: &str) {
    for line in text.lines().map(render::printable) {
        let lines = render::wrapped(indent, &line);
        lines.iter().for_each(|line| println!("{line}"));
    }
}

fn show_begin(git_works: bool) {
    println!(
        "A scripted agent calls the hooks as Claude Code does. The daemon and its decisions are real."
    );
    println!(
        "`min_turn` is 1s here, not 30s. All is in a temporary folder, and nothing is installed."
    );
    if !git_works {
        println!("{NO_GIT}");
    }
    println!();
}

/// Shows each agent's timeline and messages, and what was verified.
fn show(stage: &Stage, played: &[Played<'_>], outcome: &Outcome, git_works: bool) -> Result<()> {
    if !git_works {
        println!("{NO_GIT}");
    }
    for played in played {
        heading(&format!(
            "{}, in {}/",
            played.recording.name, played.recording.project.name
        ));
        let wanted = timeline::TimelineArgs {
            session: played.session.clone(),
            turn: None,
            follow: false,
            machine: None,
            output: Output::default(),
        };
        timeline::run(&stage.home(), wanted)?;
        for reply in &played.replies {
            println!("  Message at the stop ({}):", dialect(&reply.text));
            print_message(&reply.message().unwrap_or_default(), "    ");
        }
    }
    println!(
        "\n{} events: store and intake log agree. {} of {} decisions were reproduced from the journal.",
        outcome.journal.events, outcome.replay.matched, outcome.replay.decisions
    );
    Ok(())
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

/// Names the field of the reply that makes an agent continue.
fn dialect(reply: &str) -> &'static str {
    if reply.contains("\"additionalContext\"") {
        "additionalContext"
    } else if reply.contains("\"permissionDecision\"") {
        "permissionDecision: deny"
    } else if reply.contains("\"deny\"") {
        "decision: deny"
    } else {
        "decision: block"
    }
}
