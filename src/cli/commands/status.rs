//! `status` and `daemon status`: the daemon, the sessions and the journal at a glance.

use std::path::Path;

use checkpoint::judging::OpenItem;
use checkpoint::state::SessionStatus;
use clap::Args;
use journal::{Agent, Home, Timestamp, Verdict};
use serde::Serialize;
use uuid::Uuid;

use crate::cli::project_files::{BrokenFile, ProjectFiles, WaitingFile};
use crate::cli::shared::Output;
use crate::cli::text::{decisions, print_json, short, spaced};
use crate::cli::{connection, doctor, project_files};
use crate::error::{Result, exit};
use crate::ops::query::{Audit, Query, Sessions, Unguarded};
use crate::ops::views::{
    AgentLine, Benefit, DaemonStatus, DecisionRow, FleetLine, Health, HookFigures, JournalLine,
    Overview, SessionRow, SessionTitle,
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

/// The answer of `status` before there is a journal.
#[derive(Serialize)]
struct Empty {
    daemon: (),
    sessions: usize,
    spool: Spool,
}

/// The answer of `status`.
#[derive(Serialize)]
struct Status {
    daemon: Option<DaemonStatus>,
    sessions: usize,
    running: usize,
    waiting: usize,
    waiting_for_you: Vec<WaitingSession>,
    open: usize,
    open_work: Vec<OpenSession>,
    /// Sessions whose agents switched their checkpoints off in the last days.
    unguarded: Vec<Unguarded>,
    /// What the last checkpoints caught, if anything.
    caught: Option<String>,
    // What follows up to `hooks`, and the sizes, are unknown where the journal cannot be read.
    journal: Option<JournalLine>,
    agents: Option<Vec<AgentLine>>,
    events: Option<u64>,
    hooks: Option<HookFigures>,
    rejected: usize,
    store_bytes: Option<u64>,
    intake_bytes: Option<u64>,
    free_bytes: Option<u64>,
    spool: Spool,
    last_decisions: Vec<DecisionRow>,
    waiting_for_trust: Vec<WaitingFile>,
    broken_files: Vec<BrokenFile>,
    warnings: Vec<String>,
}

/// A session that waits for a person.
#[derive(Serialize)]
struct WaitingSession {
    session: Uuid,
    agent: Agent,
    project: String,
    notification: Option<String>,
    last_at: Timestamp,
    status: SessionStatus,
    #[serde(flatten)]
    title: SessionTitle,
}

impl WaitingSession {
    fn of(row: &SessionRow) -> Option<Self> {
        Some(Self {
            session: row.session,
            agent: row.agent,
            project: row.project.clone(),
            notification: Some(row.why()?.to_owned()),
            last_at: row.last_at,
            status: row.status,
            title: row.title.clone(),
        })
    }
}

/// A session that left something unverified.
#[derive(Serialize)]
struct OpenSession {
    session: Uuid,
    agent: Agent,
    project: String,
    /// What is open, in words.
    open: Vec<String>,
}

impl OpenSession {
    fn of(row: &SessionRow) -> Option<Self> {
        (!row.open.is_empty()).then(|| Self {
            session: row.session,
            agent: row.agent,
            project: row.project.clone(),
            open: row.open.iter().map(OpenItem::line).collect(),
        })
    }
}

/// The data read from the journal.
#[derive(Default)]
struct Read {
    sessions: Vec<SessionRow>,
    decisions: Vec<DecisionRow>,
    benefit: Benefit,
    unguarded: Vec<Unguarded>,
    overview: Option<Overview>,
}

impl Read {
    fn fill(&mut self, home: &Home) -> Result<()> {
        self.sessions = connection::ask_all(home, &Query::Sessions(Sessions::default()))?;
        let newest = Query::Audit(Audit {
            limit: Some(DECISIONS),
            ..Audit::default()
        });
        self.decisions = connection::ask_all(home, &newest)?;
        let sent = Query::Benefit(Audit {
            verdict: Some(Verdict::Inject),
            since: Some(Timestamp::now().minus(CAUGHT_WITHIN)),
            limit: Some(CAUGHT_AMONG),
            ..Audit::default()
        });
        self.benefit = connection::ask_one(home, &sent)?;
        let since = Timestamp::now().minus(CAUGHT_WITHIN);
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
            print_json(&Empty {
                daemon: (),
                sessions: 0,
                spool,
            });
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
    let answer = Status::new(home, daemon, read, spool);
    output.print(&answer, |_| answer.print());
    Ok(exit::OK)
}

impl Status {
    fn new(home: &Home, daemon: Option<DaemonStatus>, read: Read, spool: Spool) -> Self {
        let sessions = &read.sessions;
        let waiting: Vec<_> = sessions.iter().filter_map(WaitingSession::of).collect();
        let overview = read.overview.as_ref();
        let rejected = overview.map_or(0, |overview| overview.rejected);
        let files = ProjectFiles::look(home, project_files::newest_projects(sessions));
        Self {
            sessions: sessions.len(),
            running: sessions
                .iter()
                .filter(|session| session.status == SessionStatus::Running)
                .count(),
            waiting: waiting.len(),
            waiting_for_you: waiting,
            open: sessions.iter().filter(|row| !row.open.is_empty()).count(),
            open_work: sessions
                .iter()
                .filter_map(OpenSession::of)
                .take(OPEN)
                .collect(),
            unguarded: read.unguarded,
            caught: read.benefit.sentence(),
            journal: overview.and_then(|overview| overview.journal.clone()),
            agents: overview.map(|overview| overview.agents.clone()),
            events: overview.map(|overview| overview.events),
            hooks: overview.map(|overview| overview.hooks.clone()),
            rejected,
            store_bytes: overview.map(|overview| overview.store_bytes),
            intake_bytes: overview.map(|overview| overview.intake_bytes),
            free_bytes: doctor::free_bytes(home).ok(),
            waiting_for_trust: files.waiting,
            broken_files: files.broken,
            warnings: warnings(home, daemon.as_ref(), rejected, spool.calls),
            spool,
            daemon,
            last_decisions: read.decisions,
        }
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
        for file in &self.waiting_for_trust {
            let project = render::path(Path::new(&file.project));
            print_warning(&format!("in {project}: {}", file.line));
        }
        for file in &self.broken_files {
            let project = render::path(Path::new(&file.project));
            print_warning(&format!("in {project}: {}", file.problem));
        }
        if !self.last_decisions.is_empty() {
            println!("\n{}", render::paint(Color::Bold, "Last stops"));
            decisions::table(&self.last_decisions).print();
        }
    }

    fn print_sessions(&self) {
        let now = Timestamp::now();
        let agents: Vec<_> = self
            .agents
            .iter()
            .flatten()
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
            self.sessions, self.running, self.waiting
        );
        for session in self.waiting_for_you.iter().take(WAITING) {
            let id = short(session.session);
            let why = spaced(session.notification.as_deref().unwrap_or_default());
            let project = render::path(Path::new(&session.project));
            let title = session.title.words(&session.project);
            let line = format!(
                "           {id} {:6} {why} in {project}: {title}",
                session.agent
            );
            println!("{}", render::cut(&line, render::width()));
        }
        let more = self.waiting_for_you.len().saturating_sub(WAITING);
        if more > 0 {
            println!(
                "           and {more} more: `checkpointd sessions --state needs_you --state waiting`"
            );
        }
        if self.open > 0 {
            let open = render::count(self.open, "session", "sessions");
            println!("open       {open} left something unverified: `checkpointd open`");
            for session in &self.open_work {
                let id = short(session.session);
                let project = render::path(Path::new(&session.project));
                let what = render::printable(&session.open.join("; "));
                let line = format!("           {id} {:6} {what}, in {project}", session.agent);
                println!("{}", render::cut(&line, render::width()));
            }
        }
    }

    fn print_unguarded(&self) {
        for session in &self.unguarded {
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
        if let Some(caught) = &self.caught {
            render::print_wrapped("caught     ", &format!("in the last 7 days {caught}"));
        }
        if let Some(hooks) = &self.hooks
            && let Some(p50) = hooks.p50_us
        {
            let ms = p50.div_ceil(1_000);
            println!("hooks      {ms} ms until an event is safe on disk, usually");
        }
        let size = |bytes: Option<u64>| render::bytes(bytes.unwrap_or(0));
        let events = self
            .events
            .map(|events| render::count(events, "event", "events"));
        let is_many = self.journal.as_ref().is_some_and(|it| it.collector);
        println!(
            "journal    {}{}, {} store, {} log, {} free",
            events.as_deref().unwrap_or("unknown events"),
            if is_many { " of many machines" } else { "" },
            size(self.store_bytes),
            size(self.intake_bytes),
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
