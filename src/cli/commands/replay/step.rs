//! `replay --step`: a session's history, or a file of hook calls, event by event with what each changed.

use std::collections::HashMap;
use std::io::{BufRead, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;

use checkpoint::state::SessionState;
use journal::Home;

use super::file::{is_wanted, play_file, print_problems};
use crate::cli::commands::state;
use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text::{event_line, print_json};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{self, Query};
use crate::ops::views::Step;

/// Steps through a session of the journal, or through what recorded hook calls lead to: on a terminal one event at a
/// time, elsewhere all of them.
pub(super) fn step(
    home: &Home,
    (session, machine): (Option<String>, Option<String>),
    file: Option<&Path>,
    output: Output,
) -> Result<u8> {
    let mut pace = Pace::new(output);
    if let Some(file) = file {
        return step_file(home, session.as_deref(), file, &mut pace);
    }
    let session = session.ok_or_else(|| {
        Failure::usage("nothing to step through was named")
            .hint("`--session last --step`, or `--file hooks.ndjson --step`")
    })?;
    // Asked for whole: a slow reader holds up neither daemon nor journal.
    let steps: Vec<Step> = connection::ask_all(home, &Query::Steps { session, machine })?;
    let _ = steps.iter().try_for_each(|step| pace.show(step));
    Ok(exit::OK)
}

fn step_file(home: &Home, session: Option<&str>, file: &Path, pace: &mut Pace) -> Result<u8> {
    let config = config::load(home)?;
    let policy = actors::evidence::default_policy(&config);
    let mut states = HashMap::new();
    let (_, problems) = play_file(file, &policy, &config.settings.agents, |events| {
        events
            .iter()
            .filter(|envelope| is_wanted(session, &envelope.stream))
            .try_for_each(|envelope| {
                let stream = &envelope.stream;
                let state = states
                    .entry(stream.session)
                    .or_insert_with(|| SessionState::new(stream.clone()));
                pace.show(&query::step(state, envelope))
            })
    })?;
    print_problems(&problems);
    Ok(exit::of(problems.is_empty()))
}

/// How fast events go by.
struct Pace {
    json: bool,
    /// A person presses Enter for each.
    waits: bool,
}

impl Pace {
    fn new(output: Output) -> Self {
        let waits =
            !output.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if waits {
            eprintln!("Enter: the next event, `a`: all the others, `q`: stop");
        }
        Self {
            json: output.json,
            waits,
        }
    }

    /// Shows one event with what it changed; breaks when the person has seen enough.
    fn show(&mut self, step: &Step) -> ControlFlow<()> {
        if self.json {
            print_json(step);
            return ControlFlow::Continue(());
        }
        println!("{}", event_line::in_tail(&step.event.event));
        // Every event counts.
        let changes = step.changes.iter();
        let changes = changes.filter(|change| change.field != "counts.events");
        state::show_changes(changes);
        if !self.waits {
            return ControlFlow::Continue(());
        }
        let _ = std::io::stdout().flush();
        let mut answer = String::new();
        match std::io::stdin().lock().read_line(&mut answer) {
            Ok(1..) if answer.trim() == "q" => ControlFlow::Break(()),
            Ok(1..) => {
                self.waits = answer.trim() != "a";
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        }
    }
}
