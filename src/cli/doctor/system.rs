//! Checks the machine: git, tmux, service, disk space, clock.

use actors::programs;
use journal::{Home, Timestamp};

use crate::cli::connection;
use crate::install::check::Check;
use crate::install::found;
use crate::ops::query::{Events, Query};
use crate::ops::views::EventLine;
use crate::render;
use crate::service::manager::Manager;

/// With less free space than this the check fails.
const DISK_MIN: u64 = 100 * 1024 * 1024;
/// With less free space than this the check warns.
const DISK_LOW: u64 = 1024 * 1024 * 1024;
/// How far ahead of the clock an event may be, in milliseconds.
const AHEAD_MAX_MS: u64 = 120_000;
/// A clock before this time is wrong.
const EARLIEST: &str = "2025-01-01T00:00:00Z";

pub(super) fn checks(home: &Home) -> [Check; 5] {
    let git = program("git", "--version", "checkpoints need it to list changes");
    let tmux = program(
        "tmux",
        "-V",
        "only checkpoints typed into a terminal need it",
    );
    [git, tmux, service(), disk(home), clock(home)]
}

fn service() -> Check {
    let manager = Manager::of_platform();
    if !manager.is_installed() {
        return Check::skip("service", "none is installed; hooks start the daemon");
    }
    if manager.is_active() {
        return Check::pass("service", "it is active");
    }
    let fix = "`checkpointd daemon service start`, and `checkpointd daemon service logs` says what happened";
    Check::warn("service", "it is installed but not active", fix)
}

/// Checks a program where the daemon looks for it (spec ENV-1).
fn program(name: &str, argument: &str, without: &str) -> Check {
    let found = programs::find(name);
    if let Some(version) = found.and_then(|path| found::version_line(&path, argument)) {
        return Check::pass(name, version);
    }
    match found::on_path(name) {
        Some(path) => Check::warn(
            name,
            format!("the daemon does not use {}; {without}", path.display()),
            "name its folder in `daemon.path` in config.yml; only you and root may be able to write to it",
        ),
        None => Check::warn(
            name,
            format!("{name} is missing; {without}"),
            format!("install {name}"),
        ),
    }
}

/// Returns the free bytes on the journal's file system, also before the journal exists.
pub(crate) fn free_bytes(home: &Home) -> std::io::Result<u64> {
    let folder = home
        .journal
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(&home.journal);
    let stat = rustix::fs::statvfs(folder)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn disk(home: &Home) -> Check {
    let free = match free_bytes(home) {
        Ok(free) => free,
        Err(error) => return Check::skip("disk", format!("cannot read the free space: {error}")),
    };
    let detail = format!(
        "{} free for {}",
        render::bytes(free),
        render::path(&home.journal)
    );
    let fix = "free some space: a full disk stops the journal";
    match free {
        0..DISK_MIN => Check::fail("disk", detail, fix),
        DISK_MIN..DISK_LOW => Check::warn("disk", detail, fix),
        _ => Check::pass("disk", detail),
    }
}

fn clock(home: &Home) -> Check {
    let now = Timestamp::now();
    let fix = "set the system's clock: it measures turns";
    if EARLIEST
        .parse::<Timestamp>()
        .is_ok_and(|earliest| now < earliest)
    {
        return Check::fail("clock", format!("it shows {now}"), fix);
    }
    let mut last = None;
    if home.journal.join("intake").is_dir() {
        let newest = Query::Events(Events {
            last: Some(1),
            ..Events::default()
        });
        // If this fails, the journal's check reports why.
        let _ = connection::ask(home, &newest, |line: EventLine| {
            last = Some(line.event.recorded_at)
        });
    }
    let ahead = last.map_or(0, |last: Timestamp| last.millis_since(now));
    if ahead > AHEAD_MAX_MS {
        return Check::fail(
            "clock",
            format!(
                "the last event is {} ahead of it",
                render::duration_ms(ahead)
            ),
            fix,
        );
    }
    Check::pass("clock", format!("it shows {now}"))
}
