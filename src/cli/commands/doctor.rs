//! `doctor`: checks the installation and says how to fix problems.

use clap::Args;
use journal::{Agent, Home};
use serde::Serialize;

use crate::cli::doctor::{self, Check, Status};
use crate::cli::shared::{AgentNames, Output};
use crate::cli::text::print_json;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::error::{Result, exit};
use crate::render::{self, Color};

/// Check the installation and say how to fix problems
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd doctor\n  checkpointd doctor --fix\n  checkpointd doctor --fire claude\n\n\
    Exit code 1 when a check fails; warnings and skipped checks do not count."
)]
pub(crate) struct DoctorArgs {
    /// Fix what can be fixed without asking
    #[arg(long, conflicts_with = "fire")]
    pub(crate) fix: bool,
    /// Send a test event through this agent's installed hook, and look for it in the journal
    #[arg(long, value_name = "AGENT", value_parser = AgentNames)]
    pub(crate) fire: Option<Agent>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Serialize)]
struct Answer<'a> {
    ok: bool,
    checks: &'a [Check],
    #[serde(skip_serializing_if = "Option::is_none")]
    mended: Option<&'a Vec<String>>,
}

/// Runs the checks, after the fixes if asked to. Exits with 1 when one fails.
pub(crate) fn run(home: &Home, arguments: &DoctorArgs) -> Result<u8> {
    let mut fixed = Vec::new();
    if arguments.fix {
        let (done, problems) = doctor::fix_agents(home);
        fixed.extend(done);
        fixed.extend(doctor::fix_own(home));
        problems
            .iter()
            .for_each(|problem| eprintln!("not fixed: {}", render::printable(problem)));
    }
    let checks = match arguments.fire {
        Some(agent) => vec![doctor::fire(home, agent)],
        None => doctor::all(home, progress("verifying the journal")),
    };
    progress_done();
    let ok = checks.iter().all(|check| check.status != Status::Fail);
    if arguments.output.json {
        print_json(&Answer {
            ok,
            checks: &checks,
            mended: arguments.fix.then_some(&fixed),
        });
    } else {
        show(&fixed, &checks, ok);
    }
    Ok(exit::of(ok))
}

fn show(fixed: &[String], checks: &[Check], ok: bool) {
    for done in fixed {
        println!(
            "{} {}",
            render::paint(Color::Green, "fixed"),
            render::printable(done)
        );
    }
    let width = checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    for check in checks {
        let color = match check.status {
            Status::Pass => Color::Green,
            Status::Warn => Color::Yellow,
            Status::Fail => Color::Red,
            Status::Skip => Color::Dim,
        };
        let word = render::paint(color, check.status.word());
        let detail = render::printable_lines(&check.detail);
        let mut lines = detail.lines();
        println!(
            "{word}  {:width$}  {}",
            check.name,
            lines.next().unwrap_or_default()
        );
        lines.for_each(|line| println!("      {:width$}  {line}", ""));
        if let Some(fix) = &check.fix {
            println!(
                "      {:width$}  {} {}",
                "",
                render::paint(Color::Dim, "->"),
                render::printable(fix)
            );
        }
    }
    let count = |status: Status| checks.iter().filter(|check| check.status == status).count();
    let fail = count(Status::Fail);
    let warn = count(Status::Warn);
    let word = if ok {
        render::paint(Color::Green, "ok")
    } else {
        render::paint(Color::Red, "not ok")
    };
    println!(
        "\n{word}: {} passed, {warn} {}, {fail} failed, {} skipped",
        count(Status::Pass),
        if warn == 1 { "warning" } else { "warnings" },
        count(Status::Skip)
    );
}
