//! `replay`: prove past decisions, try another policy, play recorded hook calls.

mod step;
mod whatif;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use actors::hook_headers::HookHeaders;
use checkpoint::Policy;
use checkpoint::replay::{Played, Player};
use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::{Event, Home, Outcome, Stream, Timestamp};
use serde::Serialize;
use uuid::Uuid;

use crate::cli::shared::Output;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::cli::text::{decisions, print_json, short};
use crate::cli::{complete, connection};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;
use crate::ops::views::{DecisionRow, Reproved, StateView};
use crate::ops::wire::HookLine;
use crate::render::{self, Table};

/// Fold history again: prove past decisions, try another policy, or play recorded hook calls
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd replay --verify\n  checkpointd replay --policy new.yml --json\n  checkpointd replay --file hooks.ndjson --json\n  \
    checkpointd replay --session last --step\n\n\
    The FILE of --policy is a whole config.yml, which then stands in place of yours:\n  \
    min_turn: 60s\n  max_blocks_per_turn: 2\n\
    or a file of rules, which lies over the policy that each decision was made by. Such a file\n\
    has `rules` alone, is called .checkpointd.yml, or has a key that only a project's file has\n\
    (`enabled`, `working_slug`):\n  \
    rules:\n    - name: database schema\n      include: [\"migrations/**\"]\n      actions:\n        \
    - text: Run the migration against a copy (`make migrate-test`)\n          evidence: [make migrate-test]\n\n\
    Exit codes: 0 ok, 1 --verify found a difference or a line of --file is not right, 2 usage"
)]
pub(crate) struct ReplayArgs {
    /// Only this session
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Decide every past decision again; exit 1 on a difference
    #[arg(long, conflicts_with_all = ["policy", "file"])]
    pub(crate) verify: bool,
    /// Show what would have been decided under this config.yml or file of rules (see below)
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) policy: Option<PathBuf>,
    /// Play hook calls from a file through fold and decide, in memory, by their own clock
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Show what each event of the session or the file changed; on a terminal one at a time
    #[arg(long, conflicts_with_all = ["verify", "policy"])]
    pub(crate) step: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Runs `replay` in the form that was asked for.
pub(crate) fn run(home: &Home, args: ReplayArgs) -> Result<u8> {
    let ReplayArgs {
        session,
        verify,
        step,
        output,
        ..
    } = args;
    let policy = args.policy.as_deref();
    let file = args.file.as_deref();
    if step {
        return step::step(home, session, file, output);
    }
    match (policy, file) {
        (Some(policy), _) => whatif::run(home, session, policy, output),
        (_, Some(file)) => play(home, file, session.as_deref(), output),
        _ if verify => prove(home, session, output),
        _ => {
            let hint = "`--verify` decides again what was decided, `--policy FILE` under another config or other rules, `--file FILE` plays recorded calls";
            Err(Failure::usage("say what to replay").hint(hint))
        }
    }
}

fn prove(home: &Home, session: Option<String>, output: Output) -> Result<u8> {
    let query = Query::Verify { session };
    let answer: Reproved = connection::ask_one(home, &query, progress("deciding again"))?;
    progress_done();
    if output.json {
        print_json(&answer);
    } else {
        for mismatch in &answer.mismatched {
            let what = match &mismatch.why {
                Some(why) => why.clone(),
                None => format!("differs in {}", mismatch.fields.join(", ")),
            };
            render::print_wrapped(
                &format!("decision {}: ", mismatch.seq),
                &render::printable(&what),
            );
        }
        println!(
            "{} decisions, {} decided the same again",
            answer.decisions, answer.matched
        );
        if let Some(first) = answer.mismatched.first() {
            println!(
                "`checkpointd explain {}` shows the first with all that it was based on",
                first.seq
            );
        }
    }
    Ok(if answer.mismatched.is_empty() {
        exit::OK
    } else {
        exit::FAILED
    })
}

/// A line of a file that could not be played.
#[derive(Serialize)]
struct Problem {
    line: usize,
    error: String,
}

/// What recorded hook calls led to.
#[derive(Serialize)]
struct PlayedFile {
    sessions: Vec<StateView>,
    decisions: Vec<DecisionRow>,
    problems: Vec<Problem>,
}

/// Plays hook calls from a file, in memory, and hands on what each led to. Returns the player, and what was wrong with
/// lines.
fn play_file<'a>(
    file: &Path,
    policy: &'a Policy,
    mut each: impl FnMut(Played) -> ControlFlow<()>,
) -> Result<(Player<'a>, Vec<Problem>)> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    let mut player = Player::new(policy);
    let (mut problems, mut last_at) = (Vec::new(), Timestamp::default());
    for (number, text) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        match play_line(&mut player, text, number, &mut last_at) {
            Ok(Some(played)) => {
                if each(played).is_break() {
                    break;
                }
            }
            Ok(None) => {}
            Err(error) => problems.push(Problem {
                line: number + 1,
                error,
            }),
        }
    }
    Ok((player, problems))
}

/// Says what was wrong with lines of a file.
fn print_problems(problems: &[Problem]) {
    for problem in problems {
        eprintln!(
            "line {}: {}",
            problem.line,
            render::printable(&problem.error)
        );
    }
}

/// Tells whether a session, known by two ids, is the one that was asked for, or any is.
fn is_wanted(wanted: Option<&str>, stream: &Stream) -> bool {
    let begins = |wanted: &str| {
        stream.session.to_string().starts_with(wanted) || stream.native().starts_with(wanted)
    };
    wanted.is_none_or(begins)
}

/// Plays hook calls from a file, in memory.
fn play(home: &Home, file: &Path, session: Option<&str>, output: Output) -> Result<u8> {
    let policy = actors::evidence::default_policy(&config::load(&home.config)?);
    let mut decided = Vec::new();
    let (player, problems) = play_file(file, &policy, |played| {
        decided.extend(played.decided().cloned());
        ControlFlow::Continue(())
    })?;
    let decisions: Vec<_> = decided
        .iter()
        .filter(|envelope| is_wanted(session, &envelope.stream))
        .filter_map(|envelope| match &envelope.event {
            Event::Decided(decision) => {
                let sent = if decision.message.is_some() {
                    Outcome::Pending
                } else {
                    Outcome::None
                };
                Some(DecisionRow::new(envelope, decision, sent, None))
            }
            _ => None,
        })
        .collect();
    let states = player.states();
    let states: Vec<_> = states
        .into_iter()
        .filter(|state| is_wanted(session, &state.stream))
        .map(StateView::new)
        .collect();
    let played = PlayedFile {
        sessions: states,
        decisions,
        problems,
    };
    if output.json {
        print_json(&played);
    } else {
        print_played(&played);
    }
    Ok(if played.problems.is_empty() {
        exit::OK
    } else {
        exit::FAILED
    })
}

fn print_played(played: &PlayedFile) {
    print_problems(&played.problems);
    let mut table = Table::new([
        "SESSION",
        "AGENT",
        "TURNS",
        "LAST MESSAGE",
        "LAST CHECKPOINT",
        "LAST TOOL USE",
    ]);
    let time = |at: Option<Timestamp>| {
        at.map_or_else(|| "-".into(), |at| render::time_of_day(&at.to_string()))
    };
    for state in &played.sessions {
        table.row([
            short(state.session),
            state.agent.to_string(),
            state.turn.to_string(),
            time(state.last_message_sent_at),
            time(state.last_checkpoint_at),
            time(state.last_tool_use_at),
        ]);
    }
    table.print();
    println!();
    decisions::table(&played.decisions).print();
}

fn play_line(
    player: &mut Player<'_>,
    text: &str,
    number: usize,
    last_at: &mut Timestamp,
) -> std::result::Result<Option<Played>, String> {
    let line = HookLine::read(text)?;
    // A line without a time happened when the one before it did.
    *last_at = line.at.unwrap_or(*last_at);
    let own_id = || Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("line {number}").as_bytes());
    let headers = HookHeaders {
        at: *last_at,
        id: line.id.unwrap_or_else(own_id),
        ..line.headers()
    };
    let payload = line.payload.to_string();
    let call = headers
        .with_payload(payload.as_bytes())
        .map_err(|error| error.to_string())?;
    player.play(&call)
}
