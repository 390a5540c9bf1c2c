//! The own files of projects: which wait for the user's trust, and which cannot be used.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

use actors::project::Project;
use actors::trust::{Standing, Trust};
use journal::Home;
use serde::Serialize;

use crate::config;
use crate::ops::views::SessionRow;

/// Projects of the newest sessions whose own files are looked at.
const PROJECTS: usize = 50;
/// The longest wait for the projects' folders.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

/// A project whose own file waits for the user's trust.
#[derive(Serialize)]
pub(super) struct WaitingFile {
    pub(super) project: String,
    standing: Option<Standing>,
    /// The keys and rules that have no effect until it is trusted.
    waiting: Vec<String>,
    #[serde(skip)]
    pub(super) line: String,
}

/// A project whose own file cannot be used.
#[derive(Serialize)]
pub(super) struct BrokenFile {
    pub(super) project: String,
    pub(super) problem: String,
}

/// The result of examining some projects.
#[derive(Default)]
pub(super) struct ProjectFiles {
    pub(super) waiting: Vec<WaitingFile>,
    pub(super) broken: Vec<BrokenFile>,
}

/// Returns the projects of the newest sessions.
pub(super) fn newest_projects(sessions: &[SessionRow]) -> BTreeSet<String> {
    let mut newest: Vec<_> = sessions.iter().collect();
    newest.sort_unstable_by_key(|session| std::cmp::Reverse(session.last_at));
    let projects = newest.iter().map(|session| session.project.clone());
    let named = projects.filter(|path| !path.is_empty());
    named.take(PROJECTS).collect()
}

impl ProjectFiles {
    /// Looks at projects' own files. Finds nothing if a file system does not answer.
    pub(super) fn look(home: &Home, projects: BTreeSet<String>) -> Self {
        let home = home.clone();
        let (sender, found) = mpsc::channel();
        std::thread::spawn(move || drop(sender.send(Self::find(&home, projects))));
        found.recv_timeout(LOOK_WITHIN).unwrap_or_default()
    }

    fn find(home: &Home, projects: BTreeSet<String>) -> Self {
        let config = config::load(home).unwrap_or_default();
        let trust = Trust::of(home);
        let mut found = Self::default();
        for project in projects {
            let looked = Project::look(&config, &trust, &project);
            if let Some(problem) = looked.problem {
                found.broken.push(BrokenFile { project, problem });
            } else if let Some(line) = looked.waits() {
                found.waiting.push(WaitingFile {
                    line,
                    project,
                    standing: looked.standing,
                    waiting: looked.waiting,
                });
            }
        }
        found
    }
}
