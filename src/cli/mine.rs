//! What a command means that names no session: the one of this tmux pane, else the newest of this project, else the only one
//! there is. Another project's is never taken without a word.

use std::cmp::Reverse;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use journal::{Home, Verdict};

use super::connection;
use super::shared::Output;
use super::text::short;
use crate::error::{Failure, Result};
use crate::ops::query::{Audit, Query, Sessions};
use crate::ops::views::{DecisionRow, SessionRow, SessionTitle, tmux_server};
use crate::render;

/// The word for it on a command line.
pub(crate) const LAST: &str = "last";
/// The most sessions that are offered.
const OFFERED_MAX: usize = 9;

/// Who asks. A program that only reads gets the newest session of all where a person is offered a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    Person,
    Program,
}

impl Asks {
    /// Returns who asks by how the answer is printed.
    pub(crate) fn of(output: Output) -> Self {
        if output.json {
            Self::Program
        } else {
            Self::Person
        }
    }
}

/// Returns the session that a command is about: the one that is named, or the one that [`LAST`] means.
///
/// # Errors
///
/// When the journal cannot be read, or several sessions could be meant and none is chosen.
pub(crate) fn session(home: &Home, named: String, asks: Asks) -> Result<String> {
    if named != LAST {
        return Ok(named);
    }
    let rows = rows(home)?;
    if let Some(row) = of_pane(&rows).or_else(|| of_folder(&rows)) {
        return Ok(row.session.to_string());
    }
    match rows.as_slice() {
        [] => Ok(named),
        [only] => Ok(only.session.to_string()),
        _ if asks == Asks::Program => Ok(named),
        _ => choose(&rows),
    }
}

/// Returns the number of the last checkpoint of this pane or project, or of the last decision if none was sent there and
/// `or_any`; none for a program where several projects could be meant.
///
/// # Errors
///
/// As [`session`], and when nothing was decided here.
pub(crate) fn decision(home: &Home, or_any: bool, asks: Asks) -> Result<Option<u64>> {
    let rows = rows(home)?;
    let (session, project) = if let Some(row) = of_pane(&rows) {
        (Some(row.session.to_string()), None)
    } else if let Some(row) = of_folder(&rows) {
        let top = top().unwrap_or_else(|| PathBuf::from(&row.project));
        (None, Some(top.to_string_lossy().into_owned()))
    } else if rows.iter().all(|row| row.project == rows[0].project) {
        (None, None)
    } else if asks == Asks::Program {
        return Ok(None);
    } else {
        (Some(choose(&rows)?), None)
    };
    let last = |verdict| -> Result<Option<u64>> {
        let query = Query::Audit(Audit {
            session: session.clone(),
            project: project.clone(),
            verdict,
            limit: Some(1),
            ..Audit::default()
        });
        let mut found = None;
        connection::ask(home, &query, |row: DecisionRow| found = Some(row.seq))?;
        Ok(found)
    };
    let mut found = last(Some(Verdict::Inject))?;
    if found.is_none() && or_any {
        found = last(None)?;
    }
    found.map(Some).ok_or_else(|| {
        let what = if or_any {
            "nothing was decided here yet"
        } else {
            "no checkpoint was sent here yet"
        };
        Failure::failed(what).hint("`checkpointd audit` lists the decisions of all projects")
    })
}

/// Returns the sessions, the newest first.
pub(super) fn rows(home: &Home) -> Result<Vec<SessionRow>> {
    let mut rows: Vec<SessionRow> =
        connection::ask_all(home, &Query::Sessions(Sessions::default()))?;
    rows.sort_by_key(|row| Reverse(row.last_at));
    Ok(rows)
}

fn of_pane(rows: &[SessionRow]) -> Option<&SessionRow> {
    let pane = std::env::var("TMUX_PANE").ok()?;
    let server = tmux_server(&std::env::var("TMUX").ok()?);
    let is_here =
        |title: &SessionTitle| title.pane.as_ref() == Some(&pane) && title.tmux_server == server;
    rows.iter().find(|row| is_here(&row.title))
}

fn of_folder(rows: &[SessionRow]) -> Option<&SessionRow> {
    let here = std::env::current_dir().ok()?;
    let top = top();
    rows.iter().find(|row| {
        let project = Path::new(&row.project);
        let is_below = top.as_ref().is_some_and(|top| project.starts_with(top));
        is_below || (here.starts_with(project) && project.parent().is_some())
    })
}

/// Returns the work tree that this folder is in.
fn top() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut folders = here.ancestors();
    folders
        .find(|folder| folder.join(".git").exists())
        .map(Path::to_path_buf)
}

/// Asks for one of several sessions; without a terminal that is an error which lists them.
fn choose(rows: &[SessionRow]) -> Result<String> {
    let offered = &rows[..rows.len().min(OFFERED_MAX)];
    let lines: Vec<String> = offered
        .iter()
        .map(|row| {
            let title = row.title.words(&row.project);
            let project = render::path(Path::new(&row.project));
            format!("{} {:9} {project}  {title}", short(row.session), row.agent)
        })
        .collect();
    const NONE_HERE: &str = "no session belongs to this pane or project";
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage(NONE_HERE).hint(format!(
            "name one, or run this in its project:\n  {}",
            lines.join("\n  ")
        )));
    }
    eprintln!("{NONE_HERE}; which one?");
    for (index, line) in lines.iter().enumerate() {
        eprintln!(
            "{}",
            render::fit(&format!("  {}  {line}", index + 1), render::width())
        );
    }
    eprint!("number: ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let chosen = answer.trim().parse::<usize>().ok();
    let row = chosen.and_then(|number| offered.get(number.checked_sub(1)?));
    row.map(|row| row.session.to_string())
        .ok_or_else(|| Failure::usage("no session was chosen"))
}
