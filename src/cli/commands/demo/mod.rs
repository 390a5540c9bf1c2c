//! `demo`: recorded sessions of real agents, played through the real client, daemon and actors
//! in a temporary folder.
//!
//! The recordings are compiled in. The daemon is a child process with a home of its own; the user's
//! daemon and files are not touched. All results are compared with the expected ones, so the demo
//! also tests the installation.

mod check;
mod play;
mod project;
mod recording;
mod recordings;
mod stage;

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use journal::Timestamp;
use serde_json::json;

use super::timeline;
use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::cli::text::{self, decisions};
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query, Sessions};
use crate::ops::views::{DecisionRow, Stats};
use crate::render::{self, Color};

use check::{Outcome, Played};
use play::Players;
use recording::Script;
use recordings::{DEFAULT, RECORDINGS, Recording};
use stage::Stage;

/// Play recorded sessions of agents in a temporary folder
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Play the session of this agent instead of three; can be given several times
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
/// The message of a panic about a closed pipe.
const BROKEN_PIPE: &str = "Broken pipe";
/// Pause between two polls.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Plays the recordings and shows the results.
///
/// A closed pipe elsewhere ends the program at once. Here the daemon and the folder must be removed
/// first, so the panic unwinds to this function.
pub(crate) fn run(args: &DemoArgs) -> Result<u8> {
    let DemoArgs { keep, output, .. } = *args;
    let chosen = chosen(&args.agents);
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !panic.to_string().contains(BROKEN_PIPE) {
            others(panic);
        }
    }));
    panic::catch_unwind(|| demo(&chosen, keep, output)).unwrap_or_else(|panic| {
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

/// Returns the recordings of the agents with these words, or the default ones.
fn chosen(agents: &[String]) -> Vec<&'static Recording> {
    if agents.is_empty() {
        return RECORDINGS[..DEFAULT].iter().collect();
    }
    let is_chosen = |recording: &&Recording| agents.iter().any(|word| word == recording.agent);
    RECORDINGS.iter().filter(is_chosen).collect()
}

fn demo(chosen: &[&'static Recording], keep: bool, output: Output) -> Result<u8> {
    let mut stage = Stage::new(keep)?;
    let mut git_works = true;
    for recording in chosen {
        git_works &= stage.make(recording.project)?;
    }
    stage.start_daemon()?;
    let played = play_all(chosen, &stage)?;
    let outcome = ask(&stage)?;
    // Without git the changes are unknown, and the message is the generic one.
    let expected = if git_works { "actions_due" } else { "generic" };
    let problems = check::problems(&played, &outcome, expected);
    if output.json {
        print_json(&stage, keep, &played, &outcome, &problems);
    } else {
        show(&stage, &played, &outcome, git_works)?;
        show_end(&stage, keep, &outcome, &problems);
    }
    Ok(if problems.is_empty() {
        exit::OK
    } else {
        exit::FAILED
    })
}

/// Plays the recordings at the same time.
fn play_all(chosen: &[&'static Recording], stage: &Stage) -> Result<Vec<Played<'static>>> {
    let from = Timestamp::now();
    let script = |recording: &&Recording| Script::new(recording, stage, from);
    let scripts = chosen.iter().map(script).collect::<Result<Vec<_>>>()?;
    let calls: usize = scripts.iter().map(|script| script.calls.len()).sum();
    let players = Players {
        stage,
        client: stage.client(),
        done: AtomicUsize::new(0),
    };
    let mut progress = progress("playing recorded hook calls");
    let results: Vec<_> = std::thread::scope(|scope| {
        let play = |(recording, script)| {
            scope.spawn({
                let players = &players;
                move || players.play(recording, script)
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
        played.push(Played {
            recording,
            stops: script.stops(),
            ends: script.ends(),
            session: script.session,
            replies,
        });
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

/// Shows each agent's timeline and messages, and all decisions.
fn show(stage: &Stage, played: &[Played<'_>], outcome: &Outcome, git_works: bool) -> Result<()> {
    let agents = match played.len() {
        1 => "one agent".to_owned(),
        3 => "three agents".to_owned(),
        number => format!("{number} agents"),
    };
    println!(
        "Recorded sessions of {agents}, played at the same time in {}",
        stage.folder().display()
    );
    if !git_works {
        println!("Git is missing or does not work here, so the checkpoints are generic.");
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
            for line in wrap(
                &reply.message().unwrap_or_default(),
                render::width().min(120) - 4,
            ) {
                println!(
                    "{}",
                    format!("  {} {line}", render::paint(Color::Dim, "│")).trim_end()
                );
            }
        }
    }
    heading("All decisions");
    decisions::table(&outcome.decisions).print();
    Ok(())
}

/// Prints what was verified and what to do next.
fn show_end(stage: &Stage, keep: bool, outcome: &Outcome, problems: &[String]) {
    println!(
        "\n{} events: store and intake log agree. {} of {} decisions were reproduced from the journal.",
        outcome.journal.events, outcome.replay.matched, outcome.replay.decisions
    );
    for problem in problems {
        println!(
            "{} {}",
            render::paint(Color::Red, "not as expected:"),
            render::printable(problem)
        );
    }
    if problems.is_empty() {
        println!(
            "{}",
            render::paint(
                Color::Green,
                "Every agent got one checkpoint in its own format, then stopped."
            )
        );
    }
    heading("Next");
    println!(
        "  `./install.sh` installs it, and `checkpointd init` adds the hooks to your agents. The daemon"
    );
    println!(
        "  starts by itself. After the next turn of 30 seconds or more, `checkpointd explain` says why the agent"
    );
    println!("  got its checkpoint.");
    if keep {
        println!("\n  The demo's journal is kept. Explore it, for example:");
        println!(
            "  CHECKPOINTD_HOME={}/home checkpointd explain",
            stage.folder().display()
        );
    }
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

/// Wraps a text between words, keeping its line breaks.
fn wrap(text: &str, chars_max: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines().map(render::printable) {
        let mut current = String::new();
        for word in line.split(' ') {
            if !current.is_empty() && current.chars().count() + 1 + word.chars().count() > chars_max
            {
                lines.push(std::mem::take(&mut current));
            } else if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(
            wrap("one two three\n\nfour", 7),
            ["one two", "three", "", "four"]
        );
        assert_eq!(wrap("unbreakable x", 4), ["unbreakable", "x"]);
    }
}
