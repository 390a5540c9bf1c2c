//! Checks our own parts: client, daemon, socket, configuration, journal, spool, permissions.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use actors::trust::Trust;
use journal::Home;
use journal::recovery::verify::Verified;

use crate::cli::project_files::{BrokenFile, ProjectFiles, WaitingFile};
use crate::cli::{connection, daemon_process, project_files};
use crate::config as settings;
use crate::install::check::Check;
use crate::install::plan;
use crate::ops::query::{Query, Sessions};
use crate::ops::views::DaemonStatus;
use crate::render;
use crate::service::place;

/// The socket must answer within this time, because hook calls wait for it.
const ANSWER_MAX: Duration = Duration::from_millis(50);
/// The fastest of this many answers counts, to ignore outliers.
const ANSWERS: usize = 5;

pub(super) fn checks(home: &Home) -> Vec<Check> {
    let mut checks = vec![client(home)];
    checks.extend(daemon_and_socket(home));
    checks.extend(fleet(home));
    checks.push(config(home));
    checks
}

/// Checks what is in our folders.
pub(super) fn data_checks(home: &Home, progress: impl FnMut(u64, u64)) -> [Check; 4] {
    [
        journal(home, progress),
        spool(home),
        permissions(home),
        trust(home),
    ]
}

/// Checks that all folders can be made and written to.
pub(super) fn folders(home: &Home) -> Check {
    match settings::refuse_unusable_home(home) {
        Ok(()) => Check::pass("folders", "all can be made and written to"),
        Err(refused) => Check::fail(
            "folders",
            refused.text(),
            refused.advice().unwrap_or_default(),
        ),
    }
}

/// Fixes permissions, and starts the daemon if calls wait for one. Returns the fixes made.
pub(crate) fn fix(home: &Home) -> Vec<String> {
    let mut done = Vec::new();
    for (path, mode) in too_open(home) {
        if fs::set_permissions(&path, Permissions::from_mode(mode)).is_ok() {
            done.push(format!("{} is private again", path.display()));
        }
    }
    let waiting = actors::spool::list(&home.spool).is_ok_and(|calls| !calls.is_empty());
    if waiting
        && connection::health(home).is_none()
        && daemon_process::start_in_background(home).is_ok()
    {
        done.push("the daemon was started".into());
    }
    done
}

fn client(home: &Home) -> Check {
    let path = match plan::client(home) {
        Ok(path) => path,
        Err(error) => {
            return Check::fail(
                "binary",
                error,
                "install both programs again: `cargo install --path .`",
            );
        }
    };
    let output = Command::new(&path).arg("--version").output();
    let version = output
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    let own = env!("CARGO_PKG_VERSION");
    if version.split(' ').next_back() == Some(own) {
        return Check::pass(
            "binary",
            format!(
                "{} is version {own}, as this program is",
                render::path(&path)
            ),
        );
    }
    let said = if version.is_empty() {
        "does not say its version"
    } else {
        &version
    };
    Check::fail(
        "binary",
        format!("{} {said}; this program is version {own}", path.display()),
        match place::copies(home) {
            Some(_) => "run `checkpointd init` again, which copies both programs there",
            None => "install both programs again: `cargo install --path .`",
        },
    )
}

fn daemon_and_socket(home: &Home) -> [Check; 2] {
    let mut best = Duration::MAX;
    let mut health = None;
    for _ in 0..ANSWERS {
        let began = Instant::now();
        health = connection::health(home);
        if health.is_none() {
            break;
        }
        best = best.min(began.elapsed());
    }
    let Some(health) = health else {
        let none = "no daemon runs; the first hook call starts one";
        let socket = Check::skip("socket", "no daemon runs");
        return [
            Check::warn(
                "daemon",
                none,
                "`checkpointd daemon --detach` starts it now",
            ),
            socket,
        ];
    };
    let version = &health.version;
    let daemon = if version == env!("CARGO_PKG_VERSION") {
        Check::pass("daemon", format!("version {version}, pid {}", health.pid))
    } else {
        let detail = format!(
            "the daemon is version {version}, this program {}",
            env!("CARGO_PKG_VERSION")
        );
        Check::fail("daemon", detail, "`checkpointd daemon restart`")
    };
    let micros = best.as_micros();
    let detail = format!("answered within {}.{} ms", micros / 1000, micros / 100 % 10);
    let socket = if best <= ANSWER_MAX {
        Check::pass("socket", detail)
    } else {
        Check::warn(
            "socket",
            detail,
            "the machine or the daemon is busy: `checkpointd status` shows what it does",
        )
    };
    [daemon, socket]
}

/// Checks what goes to a fleet's broker, if something does.
fn fleet(home: &Home) -> Option<Check> {
    let status = connection::get::<DaemonStatus>(home, "/v1/status").ok()?;
    let line = status.fleet?;
    let collects = line.collects.iter();
    let parked = collects.clone().flat_map(|collects| &collects.parked);
    let notes = collects.flat_map(|collects| &collects.notes);
    let said = parked.map(|parked| format!("events are not accepted from {parked}"));
    let until = line.until.as_deref().filter(|until| ends_soon(until));
    let until = until.map(|until| {
        format!(
            "the certificate is valid until {until}: `checkpointd fleet enrol NAME` makes a new one"
        )
    });
    let said: Vec<_> = said.chain(notes.cloned()).chain(until).collect();
    Some(match (line.trouble, said.is_empty()) {
        (Some(why), _) => Check::warn(
            "fleet",
            format!("no connection to {}: {why}", line.url),
            "the journal keeps everything until the broker can be used again; docs/fleet.md explains each message",
        ),
        (None, false) => Check::warn("fleet", said.join("; "), "docs/fleet.md explains it"),
        (None, true) => Check::pass(
            "fleet",
            format!(
                "{} for {}",
                render::count(line.backlog, "event waits", "events wait"),
                line.url
            ),
        ),
    })
}

/// Returns whether a day such as `2027-12-26` is less than a month away.
fn ends_soon(day: &str) -> bool {
    let end: Option<jiff::civil::Date> = day.parse().ok();
    let soon = jiff::Zoned::now()
        .date()
        .checked_add(jiff::Span::new().days(30));
    end.zip(soon.ok()).is_some_and(|(end, soon)| end <= soon)
}

/// Checks the user's file.
fn config(home: &Home) -> Check {
    let Err(error) = settings::load(home) else {
        return config_and_programs(home);
    };
    let fix = error.advice();
    let fix = fix.map_or_else(|| format!("fix {}", home.config.display()), str::to_owned);
    Check::fail("config", error.text(), fix)
}

fn config_and_programs(home: &Home) -> Check {
    if let Some(folder) = actors::programs::passed_over().first() {
        return Check::warn(
            "config",
            format!(
                "{} is not searched for programs (`daemon.path`)",
                folder.display()
            ),
            "it must be a folder, and only you and root may be able to write to it and its parents: `chmod go-w`",
        );
    }
    Check::pass(
        "config",
        if home.config.exists() {
            format!("{} is valid", home.config.display())
        } else {
            "no file; the defaults apply".into()
        },
    )
}

fn journal(home: &Home, progress: impl FnMut(u64, u64)) -> Check {
    if !home.journal.join("intake").is_dir() {
        return Check::skip("journal", "there is none yet");
    }
    match connection::ask_one_with::<Verified>(home, &Query::VerifyJournal, progress) {
        Ok(verified) if verified.ok => {
            let events = render::count(verified.events, "event", "events");
            let whole = format!("{events}, store and intake log agree");
            let status = connection::get::<DaemonStatus>(home, "/v1/status").ok();
            let known = status.iter().flat_map(|status| &status.repaired);
            if let Some(line) = verified.repaired.iter().chain(known).next() {
                return Check::warn(
                    "journal",
                    format!("{whole}; {line}, and repaired"),
                    "the disk changed data: check it, and make a backup",
                );
            }
            match status.and_then(|status| status.recovery.into_iter().next()) {
                None => Check::pass("journal", whole),
                Some(note) => Check::warn(
                    "journal",
                    format!("{whole}; at the last start: {note}"),
                    "nothing is left to do; this note disappears at the next start of the daemon",
                ),
            }
        }
        Ok(verified) => {
            let problem = verified.problems.into_iter().next();
            let problem = problem.unwrap_or_else(|| "it is damaged".into());
            let fix = "`checkpointd daemon stop`, then `checkpointd daemon --detach`: it rebuilds the store from the log";
            Check::fail("journal", problem, fix)
        }
        Err(error) => Check::fail(
            "journal",
            error.to_string(),
            "run `checkpointd journal verify`",
        ),
    }
}

fn spool(home: &Home) -> Check {
    if let Some(lost) = actors::lost::line(home) {
        let fix =
            "free some disk space; the daemon journals their number, and this line disappears";
        return Check::warn("spool", lost, fix);
    }
    let calls = actors::spool::list(&home.spool).unwrap_or_default().len();
    match (calls, connection::health(home).is_some()) {
        (0, _) => Check::pass("spool", "empty"),
        (_, true) => {
            let fix = "wait a moment and check again; if calls still wait, restart the daemon: `checkpointd daemon restart`";
            Check::warn(
                "spool",
                format!("{calls} hook calls are being imported"),
                fix,
            )
        }
        (_, false) => {
            let fix = "`checkpointd daemon --detach` imports them";
            Check::warn(
                "spool",
                format!("{calls} hook calls wait for a daemon"),
                fix,
            )
        }
    }
}

fn permissions(home: &Home) -> Check {
    if let Err(refused) = settings::refuse_reachable_home(home) {
        return Check::fail(
            "permissions",
            refused.text(),
            refused.advice().unwrap_or_default(),
        );
    }
    let open = too_open(home);
    let foreign = foreign(home);
    match (open.first(), foreign.first()) {
        (_, Some(path)) => {
            let fix = format!("`chown -R \"$USER\" {}`", path.display());
            Check::fail(
                "permissions",
                format!("{} belongs to another user", path.display()),
                fix,
            )
        }
        (Some((path, mode)), None) => {
            let fix = format!(
                "`chmod {mode:o} {}`, or `checkpointd doctor --fix`",
                path.display()
            );
            Check::fail(
                "permissions",
                format!("others can read {}", path.display()),
                fix,
            )
        }
        (None, None) if parts(home).is_empty() => {
            Check::skip("permissions", "there is no data yet")
        }
        (None, None) => Check::pass("permissions", "only you can read the data and the socket"),
    }
}

/// Checks the store of trust, the file of the current folder's project, and those that are trusted.
fn trust(home: &Home) -> Check {
    let trust = Trust::of(home);
    let all = match trust.list() {
        Ok(all) => all,
        Err(error) => {
            let fix = format!(
                "remove {}, then `checkpointd rules trust` in each project",
                home.trust.display()
            );
            return Check::fail(
                "trust",
                format!("what is trusted cannot be read: {error}"),
                fix,
            );
        }
    };
    let here = std::env::current_dir().ok();
    let named = all.iter().map(|trusted| trusted.project.clone());
    let named = here.into_iter().chain(named);
    let sessions =
        connection::ask_all(home, &Query::Sessions(Sessions::default())).unwrap_or_default();
    let mut projects = project_files::newest_projects(&sessions);
    projects.extend(named.map(|folder| folder.to_string_lossy().into_owned()));
    let files = ProjectFiles::look(home, projects);
    if let Some(BrokenFile { project, problem }) = files.broken.first() {
        let fix = "fix the file: run `checkpointd rules check` in that folder";
        return Check::warn("trust", format!("in {project}: {problem}"), fix);
    }
    match files.waiting.first() {
        Some(WaitingFile { project, line, .. }) => {
            let fix = match shlex::try_quote(project) {
                Ok(path) => format!("read it, then `checkpointd rules trust --project {path}`"),
                Err(_) => "read it, then `checkpointd rules trust` in that folder".to_owned(),
            };
            Check::warn("trust", format!("in {project}: {line}"), fix)
        }
        None if all.is_empty() => Check::pass(
            "trust",
            "no project's own file is trusted, and none is waiting here",
        ),
        None => Check::pass(
            "trust",
            format!(
                "trusted and unchanged: {}",
                render::count(all.len(), "project's own file", "projects' own files")
            ),
        ),
    }
}

fn parts(home: &Home) -> Vec<PathBuf> {
    let all = [
        &home.journal,
        &home.spool,
        &home.run,
        &home.logs,
        &home.trust,
        &home.clear,
        &home.installed,
        &home.socket,
    ];
    all.into_iter()
        .filter(|path| path.exists())
        .cloned()
        .collect()
}

/// Returns the paths that others can access, with their correct modes.
fn too_open(home: &Home) -> Vec<(PathBuf, u32)> {
    let mode = |path: PathBuf| {
        let meta = path.metadata().ok()?;
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        (meta.permissions().mode() & 0o077 != 0).then_some((path, wanted))
    };
    parts(home).into_iter().filter_map(mode).collect()
}

fn foreign(home: &Home) -> Vec<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    parts(home)
        .into_iter()
        .filter(|path| path.metadata().is_ok_and(|meta| meta.uid() != own))
        .collect()
}
