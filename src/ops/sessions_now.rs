//! The current status of every session, what waits for a person first: what the web page and `top` show.
//!
//! One plain function over the journal. It also reads the projects' own settings and the branch that is checked out, so
//! it belongs on a blocking thread.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use actors::project::Project as Looked;
use actors::trust::Trust;
use actors::{named_file, session_state};
use checkpoint::config::Config;
use checkpoint::state::SessionState;
use journal::{Agent, Journal, SessionEntry, Timestamp, ToolCall};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ops::query::{self, Result};
use crate::ops::views::{SessionRow, SessionStatus};

/// Sessions that are shown unless all are asked for.
pub(crate) const SHOWN: usize = 200;
/// Sessions idle this long are listed as `earlier`.
const EARLIER_AFTER: Duration = Duration::from_secs(24 * 3_600);
/// The longest command or path of a tool call that is shown.
const ABOUT_CHARS_MAX: usize = 200;
/// `.git` files and `HEAD` are one line each.
const GIT_FILE_BYTES_MAX: u64 = 4_096;
/// Folders above a project that are looked at for its repository.
const ABOVE_MAX: usize = 32;

/// Which sessions.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// The ones with the newest events, at most this many.
    Newest(usize),
    These(Vec<Uuid>),
}

/// The tool call that a session made last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastTool {
    pub(crate) tool: String,
    /// Its command line or its files, cut.
    pub(crate) about: String,
    /// When it began.
    pub(crate) at: Timestamp,
    /// None while it runs.
    pub(crate) duration_ms: Option<u64>,
    /// Its result was seen.
    pub(crate) finished: bool,
    pub(crate) failed: bool,
}

/// A session with what is looked up beside the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NowRow {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    pub(crate) project: String,
    /// The branch that is checked out there now.
    pub(crate) branch: Option<String>,
    #[serde(rename = "standing")]
    pub(crate) status: SessionStatus,
    /// The word for what it waits for.
    pub(crate) why: Option<String>,
    /// It has been quiet for a day.
    pub(crate) earlier: bool,
    /// Counts real user messages.
    pub(crate) turn: u64,
    /// What the turn clock counts from, by the project's timer.
    pub(crate) turn_start: Option<Timestamp>,
    /// The shortest turn that gets a checkpoint in this project.
    pub(crate) min_turn_ms: u64,
    pub(crate) last_tool: Option<LastTool>,
    /// `muted`, `off`, `untrusted`, `cleared`, `asked`, `sending`, `restart`.
    pub(crate) flags: Vec<String>,
    pub(crate) first_at: Timestamp,
    pub(crate) last_at: Timestamp,
    pub(crate) last_seq: u64,
    /// Checkpoints that it was sent.
    pub(crate) injected: u64,
    /// Stops that passed.
    pub(crate) passed: u64,
}

/// What the page and `top` show at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionsNow {
    /// The journal's last event when this was read.
    pub(crate) seq: u64,
    /// When this was read.
    pub(crate) at: Timestamp,
    /// The sessions, what waits for a person first.
    pub(crate) rows: Vec<NowRow>,
    /// How many sessions there are in all.
    pub(crate) sessions: usize,
}

/// Returns the status of the wanted sessions.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn now(
    journal: &Journal,
    config: &Config,
    trust: &Trust,
    wanted: &Wanted,
) -> Result<SessionsNow> {
    let seq = journal.settle()?;
    let mut entries = query::of_agents(journal);
    let sessions = entries.len();
    match wanted {
        Wanted::Newest(count) => {
            entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.last_seq));
            entries.truncate(*count);
        }
        Wanted::These(these) => entries.retain(|entry| these.contains(&entry.stream.session)),
    }
    let at = Timestamp::now();
    let mut projects = HashMap::new();
    let mut rows = Vec::with_capacity(entries.len());
    for entry in &entries {
        let state = session_state::load(journal, &entry.stream)?;
        let known = projects.entry(state.project().to_owned());
        let project = known.or_insert_with_key(|folder| Project::look(config, trust, folder));
        rows.push(row(entry, &state, project, at));
    }
    rows.sort_by_key(|row| (row.earlier, row.status, std::cmp::Reverse(row.last_at)));
    Ok(SessionsNow {
        seq,
        at,
        rows,
        sessions,
    })
}

/// What is looked up once for each project.
struct Project {
    branch: Option<String>,
    looked: Looked,
}

impl Project {
    fn look(config: &Config, trust: &Trust, folder: &str) -> Self {
        Self {
            branch: branch(Path::new(folder)),
            looked: Looked::look(config, trust, folder),
        }
    }
}

fn row(entry: &SessionEntry, state: &SessionState, project: &Project, now: Timestamp) -> NowRow {
    let row = SessionRow::new(entry, state, now);
    let policy = &project.looked.policy;
    let switches = [
        ("muted", row.muted),
        ("off", !policy.enabled),
        ("untrusted", !project.looked.waiting.is_empty()),
    ];
    let switches = switches.into_iter().filter(|(_, is)| *is);
    // What a dialog means is in the status.
    let flags = row.flags().into_iter().filter(|flag| *flag != "dialog");
    NowRow {
        status: row.status(),
        why: row.why().map(str::to_owned),
        flags: switches
            .map(|(word, _)| word)
            .chain(flags)
            .map(str::to_owned)
            .collect(),
        session: row.session,
        native_session: row.native_session,
        agent: row.agent,
        project: row.project,
        branch: project.branch.clone(),
        earlier: now.since(row.last_at) > EARLIER_AFTER,
        turn: row.turn,
        turn_start: state.turn_start(policy.timer),
        min_turn_ms: policy.min_turn_ms,
        last_tool: state.turn.calls.last().map(last_tool),
        first_at: row.first_at,
        last_at: row.last_at,
        last_seq: entry.last_seq,
        injected: row.injected,
        passed: row.passed,
    }
}

fn last_tool(call: &ToolCall) -> LastTool {
    let about = call.command.clone().unwrap_or_else(|| call.paths.join(" "));
    LastTool {
        tool: call.tool.clone(),
        about: about.chars().take(ABOUT_CHARS_MAX).collect(),
        at: call.at,
        duration_ms: call.duration_ms,
        finished: call.finished,
        failed: call.is_error,
    }
}

/// Returns the branch that is checked out in the repository around a folder, if one is.
///
/// Two small files are read; git itself would be a process for each project at every look.
fn branch(folder: &Path) -> Option<String> {
    if !folder.is_absolute() {
        return None;
    }
    let git = folder
        .ancestors()
        .take(ABOVE_MAX)
        .map(|above| above.join(".git"))
        .find(|git| git.exists())?;
    let git = if git.is_dir() {
        git
    } else {
        // A linked work tree names its folder in the repository.
        let named = PathBuf::from(line_of(&git)?.strip_prefix("gitdir: ")?);
        git.parent()?.join(named)
    };
    line_of(&git.join("HEAD"))?
        .strip_prefix("ref: refs/heads/")
        .map(str::to_owned)
}

fn line_of(path: &Path) -> Option<String> {
    let bytes = named_file::beginning(path, GIT_FILE_BYTES_MAX).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.lines().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_read_from_the_repository_around_a_folder_and_from_a_linked_work_tree() {
        let top = tempfile::tempdir().expect("a folder");
        let repository = top.path().join("repository");
        let tree = repository.join(".git/worktrees/tree");
        std::fs::create_dir_all(&tree).expect("folders");
        std::fs::create_dir_all(repository.join("src/deep")).expect("folders");
        std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/topic/x\n").expect("writes");
        std::fs::write(tree.join("HEAD"), "ref: refs/heads/other\n").expect("writes");
        let linked = top.path().join("linked");
        std::fs::create_dir(&linked).expect("a folder");
        std::fs::write(
            linked.join(".git"),
            "gitdir: ../repository/.git/worktrees/tree\n",
        )
        .expect("writes");

        assert_eq!(
            branch(&repository.join("src/deep")).as_deref(),
            Some("topic/x")
        );
        assert_eq!(branch(&linked).as_deref(), Some("other"));
        std::fs::write(repository.join(".git/HEAD"), "8f2c0e5d\n").expect("writes");
        assert_eq!(branch(&repository), None, "a detached head");
        assert_eq!(branch(Path::new("relative")), None);
    }
}
