//! The command line as a whole, and which function runs each command.

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::cli::commands::{
    audit, config, daemon, demo, doctor, explain, fleet, init, journal, lookback, open, orders,
    progress, record, replay, rules, run, sessions, shell, stats, status, statusline, timeline,
    uninstall, web, wrong,
};
#[cfg(feature = "top")]
use crate::cli::top;
use crate::error::{Result, exit};
use crate::render::{self, Color};

/// Makes AI coding agents finish their work: when an agent stops, checkpointd tells it what is still to be verified
#[derive(Debug, Parser)]
#[command(name = "checkpointd", version, max_term_width = 100)]
#[command(
    after_help = "Environment:\n  CHECKPOINTD_HOME       one folder for everything (default: XDG folders)\n  \
    CHECKPOINTD_SOCKET     the daemon's socket\n  CHECKPOINTD_AUTOSTART  0: hooks start no daemon\n\n\
    Exit codes: 0 ok, 1 a check failed or the request could not be fulfilled, 2 usage, 3 daemon or journal unreachable"
)]
pub(crate) struct Cli {
    /// Without one: the status, and the commands to know.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Pass one hook call from stdin to the daemon, as checkpointd-hook does
    #[command(disable_help_flag = true, hide = true)]
    Hook {
        /// AGENT and EVENT, or `codex JSON`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    Daemon(daemon::DaemonArgs),
    Demo(demo::DemoArgs),
    /// Show what every agent is doing, live, in the terminal
    #[command(
        after_help = "Example:\n  checkpointd top\n\nKeys: Enter goes to the tmux pane, t opens the timeline, m mutes, c clears,\n\
w marks a demand wrong, y and Y copy, s sorts, / filters, ? lists all keys, q quits."
    )]
    Top,
    Web(web::WebArgs),
    Init(init::InitArgs),
    Uninstall(uninstall::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Status(status::StatusArgs),
    Statusline(statusline::StatuslineArgs),
    Open(open::OpenArgs),
    Sessions(sessions::SessionsArgs),
    Timeline(timeline::TimelineArgs),
    Audit(audit::AuditArgs),
    Explain(explain::ExplainArgs),
    Mute(orders::MuteArgs),
    Restart(orders::RestartArgs),
    Wrong(wrong::WrongArgs),
    Stats(stats::StatsArgs),
    Lookback(lookback::LookbackArgs),
    Progress(progress::ProgressArgs),
    Run(run::RunArgs),
    Record(record::RecordArgs),
    Replay(replay::ReplayArgs),
    Journal(journal::JournalArgs),
    Fleet(fleet::FleetArgs),
    Rules(rules::RulesArgs),
    Completions(shell::CompletionsArgs),
    Config(config::ConfigArgs),
}

/// The commands, by what people want. A test compares them with [`Command`].
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Start here",
        &["init", "lookback", "open", "explain", "doctor"],
    ),
    (
        "Watch",
        &["status", "top", "sessions", "timeline", "web", "statusline"],
    ),
    (
        "Analyze",
        &["audit", "stats", "run", "record", "replay", "rules"],
    ),
    ("Control", &["mute", "restart", "wrong"]),
    ("Data", &["journal", "progress", "fleet"]),
    (
        "Set up",
        &["config", "daemon", "demo", "completions", "uninstall"],
    ),
];

/// Names by which other programs call commands, and where people find these.
const INTERFACE: [(&str, &[&str]); 6] = [
    ("clear", &["mute", "--once"]),
    ("phase", &["progress", "phase"]),
    ("preview", &["rules", "preview"]),
    ("service", &["daemon", "service"]),
    ("state", &["journal", "state"]),
    ("tail", &["journal", "tail"]),
];

/// Returns the arguments with the name of a command in place of the one that other programs use.
fn in_groups(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let named = arguments.get(1);
    let found = named.and_then(|name| INTERFACE.iter().find(|(known, _)| name == known));
    if let Some((_, path)) = found {
        arguments.splice(1..2, path.iter().map(OsString::from));
    }
    arguments
}

/// Reads the command line; answers `--help` and mistakes, and exits.
pub(crate) fn parse() -> Cli {
    let mut command = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        grouped(&command)
    );
    command = command.help_template(template);
    let matches = command.try_get_matches_from(in_groups(std::env::args_os()));
    let matches = matches.unwrap_or_else(|error| {
        if std::env::args_os()
            .nth(1)
            .is_some_and(|name| name == "statusline")
        {
            // A status bar does not look at what is wrong, and may show that its program failed.
            let _ = error.print();
            std::process::exit(exit::OK.into());
        }
        error.exit()
    });
    let read = Cli::from_arg_matches(&matches);
    read.unwrap_or_else(|error| error.exit())
}

/// Shows the status and the commands that people begin with.
fn first(home: &::journal::Home) -> Result<u8> {
    // Without a daemon or data there is little to say, and it is no failure to look.
    status::run(home, status::StatusArgs::default())?;
    println!();
    let command = Cli::command();
    for name in GROUPS[0].1 {
        println!("{}", about(&command, name).join("\n"));
    }
    println!("\n`checkpointd --help` lists all commands.");
    Ok(exit::OK)
}

/// Returns what a command does, beside its name.
fn about(command: &clap::Command, name: &str) -> Vec<String> {
    let about = command
        .find_subcommand(name)
        .and_then(clap::Command::get_about);
    let about = about.map(ToString::to_string).unwrap_or_default();
    render::wrapped(&format!("  {name:12} "), &about)
}

/// Returns all commands with what they do, in their groups.
fn grouped(command: &clap::Command) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        text.push_str(&render::paint(Color::Bold, &format!("{group}:")));
        text.push('\n');
        for name in names {
            for line in about(command, name) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        text.push('\n');
    }
    text
}

pub(crate) fn run(cli: Cli) -> Result<u8> {
    let home = crate::config::home()?;
    let Some(command) = cli.command else {
        return first(&home);
    };
    match command {
        // Answered before the command line was parsed.
        Command::Hook { .. } | Command::Statusline(_) | Command::Run(_) => Ok(exit::OK),
        Command::Daemon(args) => daemon::run(home, args),
        Command::Demo(args) => demo::run(&args),
        #[cfg(feature = "top")]
        Command::Top => top::run(&home),
        #[cfg(not(feature = "top"))]
        Command::Top => Err(crate::error::Failure::not_built("`checkpointd top`", "top")),
        Command::Web(args) => web::run(&home, &args),
        Command::Init(args) => init::run(&home, &args),
        Command::Uninstall(args) => uninstall::run(&home, &args),
        Command::Doctor(args) => doctor::run(&home, &args),
        Command::Status(args) => status::run(&home, args),
        Command::Open(args) => open::run(&home, args),
        Command::Sessions(args) => sessions::run(&home, args),
        Command::Timeline(args) => timeline::run(&home, args),
        Command::Audit(args) => audit::run(&home, args),
        Command::Explain(args) => explain::run(&home, args),
        Command::Mute(args) => orders::mute(&home, args),
        Command::Restart(args) => orders::restart(&home, args),
        Command::Wrong(args) => wrong::run(&home, args),
        Command::Stats(args) => stats::run(&home, &args),
        Command::Lookback(args) => lookback::run(&home, &args),
        Command::Progress(args) => progress::run(&home, args),
        Command::Record(args) => record::run(&home, args),
        Command::Replay(args) => replay::run(&home, args),
        Command::Fleet(args) => fleet::run(&home, args),
        Command::Journal(args) => journal::run(&home, args),
        Command::Rules(args) => rules::run(&home, args),
        Command::Completions(args) => shell::run(Cli::command(), &args),
        Command::Config(args) => config::run(&home, args),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let all: BTreeSet<_> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        let grouped: Vec<_> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        assert_eq!(grouped.len(), all.len(), "{grouped:?}");
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), all);
    }

    #[test]
    fn commands_that_other_programs_call_are_found() {
        for line in [
            "preview --agent claude --project . --elapsed 90s --json",
            "state last --at 421 --json",
            "tail -f --json",
            "clear last --json",
            "phase detect --json",
            "service status --json",
        ] {
            let given = std::iter::once("checkpointd").chain(line.split(' '));
            let read = Cli::command().try_get_matches_from(in_groups(given.map(OsString::from)));
            assert!(read.is_ok(), "{line}: {:?}", read.err());
        }
    }
}
