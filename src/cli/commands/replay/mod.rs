//! `replay`: prove past decisions, try another policy, play recorded hook calls.

mod file;
mod whatif;

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::Home;

use crate::cli::shared::Output;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::cli::{complete, connection};
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;
use crate::ops::views::Reproved;
use crate::render::{self};

/// Decide again: verify past decisions, try another policy, or play recorded hook calls
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd replay --verify\n  checkpointd replay --policy new.yml --json\n  checkpointd replay --file hooks.ndjson --json\n\n\
    The FILE of --policy is a config.yml that replaces yours:\n  \
    min_turn: 60s\n  max_blocks_per_turn: 2\n\
    or a file of rules, which are merged into the policy of each past decision. A file of rules\n\
    has only `rules`, is named .checkpointd.yml, or has `enabled` or `working_slug`:\n  \
    rules:\n    - name: database schema\n      include: [\"migrations/**\"]\n      actions:\n        \
    - text: Run the migration against a copy (`make migrate-test`)\n          evidence: [make migrate-test]\n\n\
    Exit codes: 0 ok, 1 --verify found a difference or --file has an invalid line, 2 usage"
)]
pub(crate) struct ReplayArgs {
    /// Only this session
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub(crate) machine: Option<String>,
    /// Decide all past stops again and compare; exit 1 on a difference
    #[arg(long, conflicts_with_all = ["policy", "file"])]
    pub(crate) verify: bool,
    /// Show what would have been decided under this config.yml or file of rules (see below)
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) policy: Option<PathBuf>,
    /// Decide about hook calls from a file, in memory
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(home: &Home, args: ReplayArgs) -> Result<u8> {
    let ReplayArgs {
        session,
        machine,
        verify,
        output,
        ..
    } = args;
    let policy = args.policy.as_deref();
    let file = args.file.as_deref();
    match (policy, file) {
        (Some(policy), _) => whatif::run(home, (session, machine), policy, output),
        (_, Some(file)) => file::play(home, file, session.as_deref(), output),
        _ if verify => prove(home, &Query::Verify { session, machine }, output),
        _ => {
            let hint = "`--verify` repeats past decisions, `--policy FILE` decides under another config or other rules, `--file FILE` plays recorded calls";
            Err(Failure::usage("nothing to replay was named").hint(hint))
        }
    }
}

fn prove(home: &Home, query: &Query, output: Output) -> Result<u8> {
    let answer: Reproved = connection::ask_one_with(home, query, progress("deciding again"))?;
    progress_done();
    output.print(&answer, |_| {
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
            "{}, {} decided the same again",
            render::count(answer.decisions, "decision", "decisions"),
            answer.matched
        );
        if answer.withheld > 0 {
            render::print_wrapped(
                "",
                &format!(
                    "{} are withheld: their machines do not send what they were based on",
                    answer.withheld
                ),
            );
        }
        if answer.earlier > 0 {
            let why = "were decided by an earlier version of checkpointd";
            render::print_wrapped("", &format!("{} {why}", answer.earlier));
        }
        if let Some(first) = answer.mismatched.first() {
            println!("`checkpointd explain {}` explains the first", first.seq);
        }
    });
    Ok(exit::of(answer.mismatched.is_empty()))
}
