//! The current status of every session, what waits for a person first: what the web page and `top` show.
//!
//! One plain function over the journal. It also reads the projects' own settings and the branch that is checked out, so
//! it belongs on a blocking thread.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use actors::project::Project as Looked;
use actors::trust::Trust;
use actors::{bounded_io, session_state};
use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::judging::OpenItem;
use checkpoint::rules::pack_names::ProjectFacts;
use checkpoint::state::{SessionState, SessionStatus};
use journal::{Agent, Journal, SessionEntry, Timestamp, ToolCall};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ops::branches::branches;
use crate::ops::orders::{Act, MUTE_FOR};
use crate::ops::query::{self, Finder, Known, Result, Seen};
use crate::ops::views::{Need, SessionRow, SessionSource, SessionTitle};
use crate::render;

/// Maximum number of listed sessions, besides those that need a person, run, or wait since yesterday, unless all are
/// requested.
pub(crate) const SHOWN: usize = 200;
/// The longest command or path of a tool call that is shown.
const ABOUT_CHARS_MAX: usize = 200;
/// The most of an agent's last message that is shown.
const SAID_CHARS_MAX: usize = 200;

/// Selects sessions.
#[derive(Clone, Debug)]
pub(crate) enum Which {
    /// The ones with the newest events, at most this many, and all that need a person, run, or wait since yesterday.
    Newest(usize),
    /// The ones with the newest events, at most this many. No other session is looked at, so they are found at once.
    First(usize),
    These(Vec<Uuid>),
    /// No other session is looked at.
    One(Uuid),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastTool {
    pub(crate) tool: String,
    /// Its command line or its files, cut.
    pub(crate) about: String,
    /// When the call began.
    pub(crate) at: Timestamp,
    /// None while it runs.
    pub(crate) duration_ms: Option<u64>,
    /// Whether the result was seen.
    pub(crate) finished: bool,
    pub(crate) failed: bool,
}

/// A session, with facts from outside the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NowRow {
    pub(crate) session: Uuid,
    pub(crate) native_session: String,
    pub(crate) agent: Agent,
    pub(crate) project: String,
    #[serde(flatten)]
    pub(crate) title: SessionTitle,
    /// The repository that its project is a clone of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<String>,
    /// Only in a collector's journal.
    #[serde(flatten)]
    pub(crate) source: Option<SessionSource>,
    pub(crate) need: Need,
    #[serde(rename = "standing")]
    pub(crate) status: SessionStatus,
    /// What it left open.
    #[serde(default)]
    pub(crate) open: Vec<OpenItem>,
    /// The same, each in one line: `tests not run: cart.py, 2 more`.
    #[serde(default)]
    pub(crate) open_words: Vec<String>,
    /// The reason word, if it needs a person.
    pub(crate) why: Option<String>,
    /// What the person asked for last, cut to one line; none in the first turn, whose message is the title.
    pub(crate) asked: Option<String>,
    /// What the agent said last, cut to one line.
    pub(crate) said: Option<String>,
    pub(crate) last_tool: Option<LastTool>,
    /// The command that resumes it in its project; none if there is none, or on another machine.
    pub(crate) resume: Option<String>,
    /// The last decision that sent a checkpoint.
    pub(crate) sent: Option<u64>,
    /// What a person can do here, in the order of the page.
    pub(crate) acts: Vec<Act>,
    /// What differs from the usual: `muted`, `off`, `untrusted`, `broken`, `unseen`, `cleared`, `restart`.
    pub(crate) flags: Vec<String>,
    pub(crate) last_at: Timestamp,
    pub(crate) last_seq: u64,
}

#[cfg(feature = "top")]
impl NowRow {
    /// Returns the machine that it came from, in a collector's journal.
    pub(crate) fn machine(&self) -> Option<&str> {
        self.source.as_ref().map(|source| source.machine.as_str())
    }

    /// Returns what it works on: at a collector the repository if it is known, else the folder.
    pub(crate) fn remote_or_project(&self) -> &str {
        let remote = self.remote.as_deref().filter(|_| self.source.is_some());
        remote.unwrap_or(&self.project)
    }

    /// Returns whether its last tool call says more than its last message: it works, or asks about the call.
    pub(crate) const fn works(&self) -> bool {
        matches!(self.need, Need::You | Need::Running)
    }
}

/// What the page and `top` show at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionsNow {
    /// The journal's last event when this was read.
    pub(crate) seq: u64,
    /// When the list was made.
    pub(crate) at: Timestamp,
    /// The sessions, what waits for a person first.
    pub(crate) rows: Vec<NowRow>,
    /// How many sessions there are in all.
    pub(crate) sessions: usize,
    /// The periods that are offered for a mute.
    #[serde(skip_deserializing)]
    pub(crate) mute_for: [&'static str; 3],
}

/// Returns the status of the wanted sessions.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn now(
    journal: &Journal,
    config: &Arc<Config>,
    trust: &Trust,
    known: &Known,
    wanted: &Which,
) -> Result<SessionsNow> {
    let seq = journal.settle()?;
    let at = Timestamp::now();
    let (entries, sessions) = choose(journal, known, at, wanted)?;
    let loaded = entries.into_iter().map(|entry| {
        let state = session_state::load(journal, &entry.stream)?;
        Ok((entry, state))
    });
    let loaded: Vec<_> = loaded.collect::<Result<_>>()?;
    let branches = branches(journal, loaded.iter().map(|(_, state)| state.project()));
    let mut projects = HashMap::new();
    let mut finder = Finder::new(journal);
    let rows = loaded.iter().map(|(entry, state)| {
        let project = projects
            .entry(state.project())
            .or_insert_with_key(|folder| {
                if journal.is_collector() {
                    Project::elsewhere(config, folder)
                } else {
                    Project::look(config, trust, folder)
                }
            });
        let branch = branches.get(state.project()).cloned();
        let mut row = SessionRow::new(entry, state, branch, at);
        row.source = query::source(journal, entry)?;
        row.open = known.open(&mut finder, entry, state)?;
        let resume = resume(config, &row);
        Ok((row.key(), now_row(row, entry, state, project, resume)))
    });
    let mut rows: Vec<_> = rows.collect::<Result<_>>()?;
    share_remotes(&mut rows);
    rows.sort_by_key(|(key, _)| *key);
    Ok(SessionsNow {
        seq,
        at,
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        sessions,
        mute_for: MUTE_FOR,
    })
}

/// Returns the wanted sessions, and how many there are in all, as far as they were looked at.
fn choose(
    journal: &Journal,
    known: &Known,
    at: Timestamp,
    wanted: &Which,
) -> Result<(Vec<SessionEntry>, usize)> {
    let mut entries = Vec::new();
    let mut known_of = query::of_agents(journal);
    let all = known_of.len();
    match wanted {
        Which::First(count) => {
            known_of.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.last_seq));
            known_of.truncate(*count);
        }
        Which::One(one) => known_of.retain(|entry| entry.stream.session == *one),
        Which::Newest(_) | Which::These(_) => {}
    }
    for entry in known_of {
        let look = |seen: &Seen| (seen.is_empty, seen.is_urgent(at));
        let (is_empty, is_urgent) = known.look(journal, &entry, at, look)?;
        if !is_empty {
            entries.push((entry, is_urgent));
        }
    }
    let sessions = match wanted {
        Which::First(_) | Which::One(_) => all,
        Which::Newest(_) | Which::These(_) => entries.len(),
    };
    match wanted {
        Which::First(_) | Which::One(_) => {}
        Which::Newest(count) => {
            entries.sort_unstable_by_key(|(entry, _)| std::cmp::Reverse(entry.last_seq));
            let rest = entries.split_off(entries.len().min(*count));
            entries.extend(rest.into_iter().filter(|(_, is_urgent)| *is_urgent));
        }
        Which::These(these) => entries.retain(|(entry, _)| these.contains(&entry.stream.session)),
    }
    let entries = entries.into_iter().map(|(entry, _)| entry).collect();
    Ok((entries, sessions))
}

/// Sets the repository of all sessions in one folder of one machine, if one of them knows it.
fn share_remotes<T>(rows: &mut [(T, NowRow)]) {
    let folder = |row: &NowRow| (row.source.clone(), row.project.clone());
    let known = rows
        .iter()
        .filter_map(|(_, row)| Some((folder(row), row.remote.clone()?)));
    let known: HashMap<_, _> = known.collect();
    for (_, row) in rows {
        if row.remote.is_none() {
            row.remote = known.get(&folder(row)).cloned();
        }
    }
}

/// The facts that are read once for each project.
struct Project {
    policy: Policy,
    is_untrusted: bool,
    is_broken: bool,
    /// Whether the folder answered.
    is_seen: bool,
}

impl Project {
    fn look(config: &Arc<Config>, trust: &Trust, folder: &str) -> Self {
        let (looker, trust, at) = (Arc::clone(config), trust.clone(), folder.to_owned());
        let found = bounded_io::briefly(folder, move || Looked::look(&looker, &trust, &at));
        match found {
            Some(looked) => Self {
                is_untrusted: !looked.waiting.is_empty(),
                is_broken: looked.problem.is_some(),
                policy: looked.policy,
                is_seen: true,
            },
            None => Self {
                is_seen: false,
                ..Self::elsewhere(config, folder)
            },
        }
    }

    /// A project on another machine, whose files are not read.
    fn elsewhere(config: &Config, folder: &str) -> Self {
        Self {
            policy: config.policy_with(&unseen(folder), None, false),
            is_untrusted: false,
            is_broken: false,
            is_seen: true,
        }
    }
}

fn unseen(folder: &str) -> ProjectFacts {
    ProjectFacts {
        path: folder.to_owned(),
        files: Vec::new(),
    }
}

fn now_row(
    row: SessionRow,
    entry: &SessionEntry,
    state: &SessionState,
    project: &Project,
    resume: Option<String>,
) -> NowRow {
    let policy = &project.policy;
    let switches = [
        ("muted", row.muted),
        ("off", !policy.enabled),
        ("untrusted", project.is_untrusted),
        ("broken", project.is_broken),
        ("unseen", !project.is_seen),
    ];
    let switches = switches.into_iter().filter(|(_, is)| *is);
    // What a dialog or a checkpoint means is in the status.
    let usual = ["dialog", "asked", "sending"];
    let flags = row.flags().into_iter().filter(|flag| !usual.contains(flag));
    let asked = state.turn.prompts.last();
    let (is_here, is_sent) = (row.source.is_none(), state.sent.is_some());
    let acts = [
        (Act::Pane, is_here && row.title.pane.is_some()),
        (Act::Resume, resume.is_some()),
        (Act::Message, is_sent),
        (Act::Wrong, is_here && is_sent),
        (Act::Mute, is_here && !row.muted),
        (Act::Unmute, is_here && row.muted),
        (Act::Clear, is_here && !state.cleared),
    ];
    NowRow {
        sent: state.sent,
        acts: acts
            .into_iter()
            .filter_map(|(act, is)| is.then_some(act))
            .collect(),
        need: row.need(),
        status: row.status,
        why: row.why().map(str::to_owned),
        open_words: row.open.iter().map(OpenItem::line).collect(),
        open: row.open,
        asked: asked.filter(|_| state.turns > 1).map(|text| one_line(text)),
        said: state.last_output.as_deref().map(one_line),
        resume,
        flags: switches
            .map(|(word, _)| word)
            .chain(flags)
            .map(str::to_owned)
            .collect(),
        session: row.session,
        native_session: row.native_session,
        agent: row.agent,
        project: row.project,
        title: row.title,
        remote: row.remote,
        source: row.source,
        last_tool: state
            .turn
            .calls
            .last()
            .map(|call| last_tool(call, state.project())),
        last_at: row.last_at,
        last_seq: entry.last_seq,
    }
}

/// Returns the command that resumes a session on this machine.
fn resume(config: &Config, row: &SessionRow) -> Option<String> {
    if row.source.is_some() {
        return None;
    }
    let line = config.settings.resume_line(row.agent)?;
    in_folder(&row.project, &line.for_session(&row.native_session)?)
}

/// Returns a line for the shell that runs in a folder: an agent finds only the sessions of the folder that it is started in.
/// A folder's name is an agent's word: nothing in it may mean anything to a shell, or to a terminal that it is pasted into.
pub(crate) fn in_folder(folder: &str, line: &str) -> Option<String> {
    let is_plain = folder.starts_with('/') && !folder.chars().any(char::is_control);
    // The shell reads `~` only without quotes.
    let (home, rest) = match render::within_home(Path::new(folder)).and_then(Path::to_str) {
        Some(rest) => ("~/", rest),
        None => ("", folder),
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let rest = match rest.chars().all(is_word) {
        true => rest.to_owned(),
        false => format!("'{}'", rest.replace('\'', r"'\''")),
    };
    is_plain.then(|| format!("cd {home}{rest} && {line}"))
}

/// Returns the beginning of a text in one line.
fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().take(SAID_CHARS_MAX).collect();
    words.join(" ").chars().take(SAID_CHARS_MAX).collect()
}

fn last_tool(call: &ToolCall, folder: &str) -> LastTool {
    let about = call.command.clone().unwrap_or_else(|| {
        let paths = call.paths.iter().map(|path| render::path_in(folder, path));
        Vec::from_iter(paths).join(" ")
    });
    LastTool {
        tool: call.tool.clone(),
        about: about.chars().take(ABOUT_CHARS_MAX).collect(),
        at: call.at,
        duration_ms: call.duration_ms,
        finished: call.finished || call.duration_ms.is_some(),
        failed: call.is_error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_means_nothing_to_a_shell_or_a_terminal() {
        let line = |folder: &str| in_folder(folder, "claude");
        assert_eq!(
            line("/home/a b").as_deref(),
            Some("cd '/home/a b' && claude")
        );
        let quoted = line("/it's; rm -r $HOME").expect("a line");
        assert_eq!(quoted, r"cd '/it'\''s; rm -r $HOME' && claude");
        let ends_paste = "/a\x1b[201~\nrm -r x";
        for folder in ["", "-", "~", "a", "/a\nb", ends_paste, "/a\u{9b}201~"] {
            assert_eq!(line(folder), None, "{folder:?}");
        }
    }

    #[test]
    fn a_message_is_one_short_line() {
        assert_eq!(one_line("  all\n\n done "), "all done");
        assert_eq!(one_line(&"ä".repeat(9_000)).chars().count(), SAID_CHARS_MAX);
        assert_eq!(
            one_line(&"a ".repeat(9_000)).chars().count(),
            SAID_CHARS_MAX
        );
    }
}
