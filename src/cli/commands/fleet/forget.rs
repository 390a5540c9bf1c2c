//! `fleet forget`: removes a machine's or session's events from a collector and its broker.

use std::collections::BTreeSet;

use journal::{Envelope, Event, Home, Journal, Options, Stream, maintenance};
use uuid::Uuid;

use crate::cli::connection;
use crate::daemon;
use crate::error::{Failure, Result, exit};
use crate::ops::query;
use crate::render;

/// The events to forget.
struct Target {
    /// Only events of this machine, if it is set.
    machine: Option<String>,
    session: Option<Uuid>,
    /// The journals that they came from.
    sources: BTreeSet<(String, Uuid)>,
}

impl Target {
    /// Finds a machine of this name, else a session.
    fn find(journal: &Journal, what: &str) -> Result<Self> {
        let mut sources = BTreeSet::new();
        for envelope in journal.stream(Stream::fleet().session, 0, usize::MAX)? {
            if let Event::RunReceived { run } = &envelope.event
                && run.machine == what
                && let Ok(id) = run.journal.parse()
            {
                sources.insert((run.machine.clone(), id));
            }
        }
        if !sources.is_empty() {
            return Ok(Self {
                machine: Some(what.to_owned()),
                session: None,
                sources,
            });
        }
        let entry = query::find_session(journal, what).map_err(|error| {
            Failure::failed(format!(
                "{} is neither a machine nor a session here: {error}",
                render::printable(what)
            ))
        })?;
        let first = journal
            .event(entry.first_seq)?
            .and_then(|first| first.origin);
        sources.extend(first.map(|origin| (origin.machine, origin.journal)));
        Ok(Self {
            machine: None,
            session: Some(entry.stream.session),
            sources,
        })
    }

    fn has(&self, envelope: &Envelope) -> bool {
        let origin = envelope.origin.as_ref();
        let is_machines = self
            .machine
            .as_ref()
            .is_some_and(|machine| origin.is_some_and(|origin| origin.machine == *machine));
        is_machines || self.session == Some(envelope.stream.session)
    }
}

/// Forgets a machine or a session.
pub(super) fn forget(home: &Home, what: &str) -> Result<u8> {
    if connection::health(home).is_some() {
        return Err(Failure::failed("the collector is running")
            .hint("`checkpointd daemon stop` stops it; start it again afterward"));
    }
    let (journal, _) = Journal::open(&home.journal, Options::default())?;
    let wanted = if journal.is_collector() {
        Target::find(&journal, what)
    } else {
        Err(Failure::failed(
            "this is not a collector: set CHECKPOINTD_HOME to its folder",
        ))
    };
    journal.close();
    drop(journal);
    let wanted = wanted?;
    let forgotten =
        maintenance::forget_received(&home.journal, |envelope| wanted.has(envelope), |_, _| ())?;
    println!(
        "removed {} of {} here; the numbers are kept",
        render::count(forgotten.events, "event", "events"),
        render::count(forgotten.sessions, "session", "sessions")
    );
    let sources: Vec<_> = wanted.sources.iter().cloned().collect();
    if let Some(purged) = daemon::purge(home, &sources)? {
        let purged = render::count(purged, "message was", "messages were");
        println!("{purged} removed from the broker");
    }
    println!("Not reached: the machine's own journal, backups, exported files, other collectors.");
    match &wanted.machine {
        Some(machine) => println!(
            "{machine} continues to send new events until you run `checkpointd fleet revoke {machine}`."
        ),
        None => println!("Later events of this session will be stored again."),
    }
    Ok(exit::OK)
}
