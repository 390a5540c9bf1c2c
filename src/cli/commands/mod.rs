//! One module for each subject of the command line.

use crate::cli::args::{Cli, Command, DaemonAction};
use crate::cli::{daemon_process, top};
use crate::config as settings;
use crate::daemon;
use crate::error::{Result, exit};
use crate::ops::orders::Order;
use crate::ops::query::Events;

mod config;
mod demo;
mod doctor;
pub(crate) mod init;
mod journal;
mod maintenance;
mod orders;
mod phase;
mod preview;
mod progress;
pub(crate) mod read;
mod replay;
mod rules;
mod service;
mod shell;
mod sql;
mod status;
mod uninstall;
mod web;

pub(crate) use shell::COMPLETE;

/// Runs a command and returns its exit code.
///
/// # Errors
///
/// What went wrong, with the exit code that belongs to it.
pub(crate) fn run(cli: Cli) -> Result<u8> {
    let home = settings::home()?;
    match cli.command {
        // Taken before the command line was parsed.
        Command::Hook { .. } => Ok(exit::OK),
        Command::Daemon {
            action: Some(DaemonAction::Stop),
            ..
        } => daemon_process::stop(&home).map(|()| exit::OK),
        Command::Daemon {
            action: Some(DaemonAction::Status { output }),
            ..
        } => status::daemon(&home, output),
        Command::Daemon { detach: true, .. } => daemon_process::detach(&home).map(|()| exit::OK),
        Command::Daemon { background, .. } => {
            if background {
                daemon_process::leave_terminal();
            }
            daemon::run(home).map(|()| exit::OK)
        }
        Command::Demo { keep, output } => demo::run(keep, output),
        Command::Top => top::run(&home),
        Command::Web(arguments) => web::run(&home, &arguments),
        Command::Init(arguments) => init::run(&home, &arguments),
        Command::Uninstall(arguments) => uninstall::run(&home, &arguments),
        Command::Doctor(arguments) => doctor::run(&home, &arguments),
        Command::Status { output } => status::status(&home, output),
        Command::Sessions { output } => read::sessions(&home, output),
        Command::State {
            session,
            at,
            diff,
            output,
        } => match diff.as_deref() {
            Some([a, b]) => read::state_diff(&home, &session, a, b, output),
            _ => read::state(&home, &session, at.as_deref(), output),
        },
        Command::Timeline {
            session,
            turn,
            follow,
            output,
        } => read::timeline(&home, session, turn, follow, output),
        Command::Audit { filter, output } => read::audit(&home, filter, output),
        Command::Explain {
            decision,
            session,
            output,
        } => read::explain(&home, &decision, session, output),
        Command::Tail {
            follow,
            lines,
            session,
            kind,
            agent,
            project,
            output,
        } => {
            let project = project.as_deref().map(read::folder).transpose()?;
            let (agent, last) = (agent.map(Into::into), Some(lines));
            read::tail(
                &home,
                Events {
                    from: 1,
                    last,
                    session,
                    kind,
                    agent,
                    project,
                    payloads: false,
                },
                follow,
                output,
            )
        }
        Command::Replay {
            session,
            file,
            step: true,
            output,
            ..
        } => replay::step(&home, session, file.as_deref(), output),
        Command::Replay {
            session,
            verify,
            policy,
            file,
            output,
            ..
        } => replay::run(
            &home,
            session,
            verify,
            policy.as_deref(),
            file.as_deref(),
            output,
        ),
        Command::Sql(arguments) => sql::run(&home, &arguments),
        Command::Journal { action } => journal::run(&home, action),
        Command::Preview(arguments) => preview::run(&home, &arguments),
        Command::Rules {
            action,
            project,
            output,
        } => rules::run(&home, action, &project, output),
        Command::Service { action } => service::run(&home, action),
        Command::Completions { shell } => shell::completions(&shell),
        Command::Man { folder } => shell::man(&folder),
        Command::Clear { session, output } => orders::run(&home, session, &Order::Clear, output),
        Command::Mute {
            session,
            period,
            output,
        } => orders::run(&home, session, &Order::mute(period.as_deref())?, output),
        Command::Unmute { session, output } => orders::run(&home, session, &Order::Unmute, output),
        Command::Restart { session, output } => orders::restart(&home, session, output),
        Command::Phase { action, output } => phase::run(&home, action, output),
        Command::Progress { action, output } => progress::run(&home, action, output),
        Command::Config { action } => config::run(&home, action),
    }
}
