//! `tail`: the newest events, and new ones as they are journaled.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::{Agent, Home};

use super::sessions::{FOLLOW_EVERY, Raw, folder};
use crate::cli::shared::{AgentNames, Output, kind};
use crate::cli::text::event_line;
use crate::cli::{complete, connection};
use crate::error::{Result, exit};
use crate::ops::query::{Events, Query};
use crate::ops::views::EventLine;

/// Show the newest events; with -f, follow new ones
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd journal tail -f --project .\n  checkpointd journal tail -n 5 --kind decided --agent claude\n  checkpointd journal tail -f --session last --json"
)]
pub(crate) struct TailArgs {
    /// Keep printing new events
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Number of events to start with
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) lines: u64,
    /// Only this session
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Only events of this kind, for example `decided` (docs/journal.md lists all)
    #[arg(long, value_parser = kind(), hide_possible_values = true)]
    pub(crate) kind: Option<String>,
    /// Only this agent
    #[arg(long, value_parser = AgentNames)]
    pub(crate) agent: Option<Agent>,
    /// Only sessions in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Only of this machine, in a collector's journal
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Shows the newest events, and follows new ones.
pub(crate) fn run(home: &Home, args: TailArgs) -> Result<u8> {
    let TailArgs { follow, output, .. } = args;
    let mut wanted = Events {
        from: 1,
        last: Some(args.lines),
        session: args.session,
        kind: args.kind,
        agent: args.agent,
        project: args.project.as_deref().map(folder).transpose()?,
        machine: args.machine,
        payloads: false,
        export: false,
    };
    let mut shown = false;
    loop {
        let query = Query::Events(wanted.clone());
        let asked = connection::ask(home, &query, |line: Raw<EventLine>| {
            let event = &line.read.event;
            shown = true;
            wanted.from = event.seq + 1;
            output.print(&line.json, |_| println!("{}", event_line::in_tail(event)));
        });
        match asked {
            // The daemon may be restarting.
            Err(_) if follow && wanted.last.is_none() => {}
            other => other?,
        }
        if !follow {
            if !shown && !output.json {
                println!("No events.");
            }
            return Ok(exit::OK);
        }
        wanted.last = None;
        std::thread::sleep(FOLLOW_EVERY);
    }
}
