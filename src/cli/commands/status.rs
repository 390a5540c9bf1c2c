//! `status` and `daemon status`: the daemon, the sessions and the journal at a glance.

use std::path::Path;

use checkpoint::judging::OpenItem;
use checkpoint::state::SessionStatus;
use clap::Args;
use journal::{Home, Timestamp, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::project_files::ProjectFiles;
use crate::cli::shared::Output;
use crate::cli::text::{decisions, print_json, short, spaced};
use crate::cli::{connection, doctor, project_files};
use crate::error::{Result, exit};
use crate::ops::query::{Audit, Query, Sessions, Unguarded};
use crate::ops::views::{
    DaemonStatus, DecisionRow, FleetLine, Health, Overview, SessionRow, Summary,
};
use crate::render::{self, Color};

/// Show the daemon, the sessions and the journal
#[derive(Args, Debug, Default)]
#[command(
    after_help = "Examples:\n  checkpointd status\n  checkpointd status --json | jq .warnings"
)]
pub(crate) struct StatusArgs {
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Decisions that are shown.
const DECISIONS: u64 = 5;

/// Sessions that wait for a person, and are shown.
const WAITING: usize = 5;
/// What was caught is counted among the last checkpoints: so many, of so many days. More would take long.
const CAUGHT_AMONG: u64 = 50;
const CAUGHT_WITHIN: std::time::Duration = std::time::Duration::from_secs(7 * 86_400);
/// Sessions that left something open, and are named.
const OPEN: usize = 3;

/// The answer of `daemon status`.
#[derive(Serialize)]
struct Running<'a> {
    running: bool,
    socket: &'a Path,
    #[serde(flatten)]
    health: Option<&'a Health>,
}

/// Says whether the daemon runs: exit 0 if it does, 3 if not.
pub(super) fn daemon(home: &Home, output: Output) -> Result<u8> {
    let health = connection::health(home);
    if output.json {
        print_json(&Running {
            running: health.is_some(),
            socket: &home.socket,
            health: health.as_ref(),
        });
    } else if let Some(health) = &health {
        let up = render::duration_ms(health.uptime_ms);
        println!(
            "running: version {}, pid {}, up {up}",
            health.version, health.pid
        );
    } else {
        println!("not running (start it with `checkpointd daemon --detach`)");
    }
    Ok(match health {
        Some(_) => exit::OK,
        None => exit::UNREACHABLE,
    })
}

/// Hook calls that wait for a daemon.
#[derive(Serialize)]
struct Spool {
    calls: usize,
    bytes: u64,
}

impl Spool {
    fn of(home: &Home) -> Self {
        let files = actors::spool::list(&home.spool).unwrap_or_default();
        let sizes = files.iter().filter_map(|file| file.metadata().ok());
        Self {
            calls: files.len(),
            bytes: sizes.map(|meta| meta.len()).sum(),
        }
    }
}

/// The data read from the journal.
#[derive(Default)]
struct Read {
    sessions: Vec<SessionRow>,
    decisions: Vec<DecisionRow>,
    /// What the last checkpoints caught, if anything.
    caught: Option<String>,
    /// Sessions whose agents switched their checkpoints off in the last days.
    unguarded: Vec<Unguarded>,
    /// Unknown where the journal cannot be read.
    overview: Option<Overview>,
}

impl Read {
    /// Returns the number of payloads that could not be read.
    fn rejected(&self) -> usize {
        self.overview.as_ref().map_or(0, |it| it.rejected)
    }

    fn fill(&mut self, home: &Home) -> Result<()> {
        self.sessions = connection::ask_all(home, &Query::Sessions(Sessions::default()))?;
        let newest = Query::Audit(Audit {
            limit: Some(DECISIONS),
            ..Audit::default()
        });
        self.decisions = connection::ask_all(home, &newest)?;
        let since = Timestamp::now().minus(CAUGHT_WITHIN);
        let sent = Query::Summary(Audit {
            verdict: Some(Verdict::Inject),
            since: Some(since),
            limit: Some(CAUGHT_AMONG),
            ..Audit::default()
        });
        let sent: Summary = connection::ask_one(home, &sent)?;
        self.caught = sent.benefit.sentence();
        self.unguarded = connection::ask_all(home, &Query::Unguarded { since })?;
        self.overview = Some(connection::ask_one(home, &Query::Overview)?);
        Ok(())
    }
}

/// Shows the daemon, the sessions and the journal at a glance.
pub(crate) fn run(home: &Home, args: StatusArgs) -> Result<u8> {
    let output = args.output;
    let daemon = connection::health(home)
        .and_then(|_| connection::get::<DaemonStatus>(home, "/v1/status").ok());
    let spool = Spool::of(home);
    if daemon.is_none() && !connection::is_journal_there(home)? {
        if output.json {
            print_json(&json!({ "daemon": null, "sessions": 0, "spool": spool }));
        } else {
            println!("No daemon is running, and there is no data yet.");
            println!("{}.", connection::first_step(home));
        }
        return Ok(exit::OK);
    }
    let mut read = Read::default();
    let filled = read.fill(home);
    // A daemon with health issues still reports them.
    if daemon
        .as_ref()
        .is_none_or(|daemon| daemon.degraded.is_empty())
    {
        filled?;
    }
    let files = ProjectFiles::look(home, project_files::newest_projects(&read.sessions));
    let status = Status {
        warnings: warnings(home, daemon.as_ref(), read.rejected(), spool.calls),
        free_bytes: doctor::free_bytes(home).ok(),
        daemon,
        read,
        spool,
        files,
    };
    if output.json {
        print_json(&status.json());
    } else {
        status.print();
    }
    Ok(exit::OK)
}

struct Status {
    daemon: Option<DaemonStatus>,
    read: Read,
    spool: Spool,
    files: ProjectFiles,
    free_bytes: Option<u64>,
    warnings: Vec<String>,
}

impl Status {
    /// Returns the sessions that wait for a person.
    fn waiting(&self) -> impl Iterator<Item = (&SessionRow, &str)> {
        let rows = self.read.sessions.iter();
        rows.filter_map(|row| Some((row, row.why()?)))
    }

    /// Returns the sessions that left something unverified.
    fn open(&self) -> impl Iterator<Item = &SessionRow> {
        self.read.sessions.iter().filter(|row| !row.open.is_empty())
    }

    fn running(&self) -> usize {
        let rows = self.read.sessions.iter();
        rows.filter(|row| row.status == SessionStatus::Running)
            .count()
    }

    fn json(&self) -> Value {
        let read = &self.read;
        let overview = read.overview.as_ref();
        let waiting = self.waiting().map(|(row, why)| {
            let mut waiting = json!({
                "session": row.session,
                "agent": row.agent,
                "project": row.project,
                "notification": why,
                "last_at": row.last_at,
                "status": row.status,
                "title": row.title.title,
                "branch": row.title.branch,
                "pane": row.title.pane,
            });
            if let Some(server) = &row.title.tmux_server {
                waiting["tmux_server"] = json!(server);
            }
            waiting
        });
        let open = self.open().take(OPEN).map(|row| {
            json!({
                "session": row.session,
                "agent": row.agent,
                "project": row.project,
                "open": Vec::from_iter(row.open.iter().map(OpenItem::line)),
            })
        });
        json!({
            "daemon": self.daemon,
            "sessions": read.sessions.len(),
            "running": self.running(),
            "waiting": self.waiting().count(),
            "waiting_for_you": Vec::from_iter(waiting),
            "open": self.open().count(),
            "open_work": Vec::from_iter(open),
            "unguarded": read.unguarded,
            "caught": read.caught,
            "journal": overview.map(|it| &it.journal),
            "agents": overview.map(|it| &it.agents),
            "events": overview.map(|it| it.events),
            "hooks": overview.map(|it| &it.hooks),
            "rejected": read.rejected(),
            "store_bytes": overview.map(|it| it.store_bytes),
            "intake_bytes": overview.map(|it| it.intake_bytes),
            "free_bytes": self.free_bytes,
            "spool": self.spool,
            "last_decisions": read.decisions,
            "waiting_for_trust": self.files.waiting,
            "broken_files": self.files.broken,
            "warnings": self.warnings,
        })
    }

    fn print(&self) {
        match &self.daemon {
            None => println!("daemon     not running"),
            Some(daemon) => {
                let up = render::duration_ms(daemon.uptime_ms);
                println!(
                    "daemon     version {}, pid {}, up {up}",
                    daemon.version, daemon.pid
                );
            }
        }
        if let Some(line) = self
            .daemon
            .as_ref()
            .and_then(|daemon| daemon.fleet.as_ref())
        {
            render::print_wrapped("fleet      ", &fleet(line));
        }
        self.print_sessions();
        self.print_unguarded();
        self.print_journal();
        for warning in &self.warnings {
            print_warning(warning);
        }
        for file in &self.files.waiting {
            let project = render::path(Path::new(&file.project));
            print_warning(&format!("in {project}: {}", file.line));
        }
        for file in &self.files.broken {
            let project = render::path(Path::new(&file.project));
            print_warning(&format!("in {project}: {}", file.problem));
        }
        if !self.read.decisions.is_empty() {
            println!("\n{}", render::paint(Color::Bold, "Last stops"));
            decisions::table(&self.read.decisions).print();
        }
    }

    fn print_sessions(&self) {
        let now = Timestamp::now();
        let agents = self.read.overview.iter().flat_map(|it| &it.agents);
        let agents: Vec<_> = agents
            .map(|line| {
                let count = line.sessions;
                let word = if count == 1 { "session" } else { "sessions" };
                let ago = render::ago(now.millis_since(line.last_at));
                format!("{} {count} {word}, last event {ago}", line.agent)
            })
            .collect();
        if !agents.is_empty() {
            render::print_wrapped("agents     ", &agents.join("; "));
        }
        println!(
            "sessions   {} known, {} running, {} waiting for you",
            self.read.sessions.len(),
            self.running(),
            self.waiting().count()
        );
        for (session, why) in self.waiting().take(WAITING) {
            let id = short(session.session);
            let why = spaced(why);
            let project = render::path(Path::new(&session.project));
            let title = session.title.words(&session.project);
            let line = format!(
                "           {id} {:6} {why} in {project}: {title}",
                session.agent
            );
            println!("{}", render::cut(&line, render::width()));
        }
        let more = self.waiting().count().saturating_sub(WAITING);
        if more > 0 {
            println!(
                "           and {more} more: `checkpointd sessions --state needs_you --state waiting`"
            );
        }
        let open = self.open().count();
        if open > 0 {
            let open = render::count(open, "session", "sessions");
            println!("open       {open} left something unverified: `checkpointd open`");
            for session in self.open().take(OPEN) {
                let id = short(session.session);
                let project = render::path(Path::new(&session.project));
                let what: Vec<_> = session.open.iter().map(OpenItem::line).collect();
                let what = render::printable(&what.join("; "));
                let line = format!("           {id} {:6} {what}, in {project}", session.agent);
                println!("{}", render::cut(&line, render::width()));
            }
        }
    }

    fn print_unguarded(&self) {
        for session in &self.read.unguarded {
            let whats = session.switches.iter().map(|switch| spaced(&switch.what));
            let whats: Vec<_> = whats.collect();
            let project = render::path(Path::new(&session.project));
            let said = format!(
                "{} switched its checkpoints off in {project} ({}): `checkpointd open {}`",
                session.agent,
                whats.join(", "),
                short(session.session)
            );
            render::print_wrapped("off        ", &said);
        }
    }

    fn print_journal(&self) {
        let overview = self.read.overview.as_ref();
        if let Some(caught) = &self.read.caught {
            render::print_wrapped("caught     ", &format!("in the last 7 days {caught}"));
        }
        if let Some(p50) = overview.and_then(|it| it.hooks.p50_us) {
            let ms = p50.div_ceil(1_000);
            println!("hooks      {ms} ms until an event is safe on disk, usually");
        }
        let size = |bytes: Option<u64>| render::bytes(bytes.unwrap_or(0));
        let events = overview.map(|it| render::count(it.events, "event", "events"));
        let journal = overview.and_then(|it| it.journal.as_ref());
        let is_many = journal.is_some_and(|it| it.collector);
        println!(
            "journal    {}{}, {} store, {} log, {} free",
            events.as_deref().unwrap_or("unknown events"),
            if is_many { " of many machines" } else { "" },
            size(overview.map(|it| it.store_bytes)),
            size(overview.map(|it| it.intake_bytes)),
            size(self.free_bytes)
        );
        if self.spool.calls > 0 {
            let calls = render::count(self.spool.calls, "hook call waits", "hook calls wait");
            println!("spool      {calls}");
        }
    }
}

/// Says in a line what goes to a fleet's broker, or comes from it.
fn fleet(line: &FleetLine) -> String {
    let ago = |at: Option<Timestamp>| {
        at.map_or_else(
            || "never".to_owned(),
            |at| render::ago(Timestamp::now().millis_since(at)),
        )
    };
    match &line.collects {
        None => format!(
            "sends as {} at level {}: {} events are sent, {} wait; last {}",
            line.machine.as_deref().unwrap_or_default(),
            line.level.as_deref().unwrap_or_default(),
            line.sent,
            line.backlog,
            ago(line.sent_at)
        ),
        Some(collects) => format!(
            "receives from {}: {} journals, {} runs since the start, {} wait; last {}",
            line.url,
            collects.journals,
            collects.runs,
            collects.behind,
            ago(collects.taken_at)
        ),
    }
}

fn print_warning(warning: &str) {
    let label = format!("{}    ", render::paint(Color::Yellow, "warning"));
    let lines = render::labeled(&label, warning);
    lines.iter().for_each(|line| println!("{line}"));
}

fn warnings(
    home: &Home,
    daemon: Option<&DaemonStatus>,
    rejected: usize,
    spooled: usize,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(daemon) = daemon {
        let notes = daemon.recovery.iter();
        warnings.extend(notes.map(|note| format!("at the last start: {note}")));
        let repaired = daemon.repaired.iter();
        warnings.extend(repaired.map(|line| format!("{line}; repaired, but check the disk")));
        warnings.extend_from_slice(&daemon.degraded);
        if let Some(error) = &daemon.config_error {
            warnings.push(format!(
                "the configuration is invalid and not used: {error}"
            ));
        }
        if let Some(error) = &daemon.otlp_error {
            warnings.push(format!(
                "traces and metrics do not reach the collector: {error}"
            ));
        }
        if let Some(fleet) = &daemon.fleet {
            let trouble = fleet.trouble.iter();
            warnings.extend(trouble.map(|why| format!("the fleet's broker: {why}")));
            let collects = fleet.collects.iter();
            warnings.extend(
                collects
                    .flat_map(|collects| collects.parked.iter().chain(&collects.notes))
                    .cloned(),
            );
        }
        if daemon.version != env!("CARGO_PKG_VERSION") {
            warnings.push(format!(
                "the daemon is version {:?}, this is {}: `checkpointd daemon restart` replaces it",
                daemon.version,
                env!("CARGO_PKG_VERSION")
            ));
        }
    }
    if rejected > 0 {
        warnings.push(format!(
            "{} not be read or kept: `checkpointd journal tail --kind payload_rejected`",
            render::count(rejected, "payload could", "payloads could")
        ));
    }
    if daemon.is_none() {
        warnings.extend(actors::lost::line(home));
    }
    if spooled > 0 && daemon.is_none() {
        warnings.push(format!(
            "{spooled} hook calls wait in the spool for a daemon"
        ));
    }
    warnings
}
