//! What sessions do to the files of one work tree, by what hooks reported since the daemon started: which of them wrote a
//! file last (spec FILES-5), and what ran on which contents (spec EVID-19).

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use checkpoint::whose::{self, Times};
use journal::{Draft, Event, Examined, Stream, Timestamp, ToolCall};
use parking_lot::Mutex;
use uuid::Uuid;

/// The most files that are remembered. When there are more, all are forgotten.
const FILES_MAX: usize = 8_192;
/// The most runs that are remembered; the oldest are forgotten.
const RUNS_MAX: usize = 128;
/// The most changed files of a run that is remembered.
const RUN_FILES_MAX: usize = 1_000;
/// How late a write may be seen on the disk after its call was reported.
const LATE: Duration = Duration::from_millis(100);

/// What the sessions of this machine wrote and ran.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// The last session that wrote each file.
    written: Mutex<HashMap<PathBuf, (Uuid, Timestamp)>>,
    runs: Mutex<VecDeque<Arc<Ran>>>,
}

/// A call that ended well, and what it ran on.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    session: Uuid,
    pub(crate) call: ToolCall,
    pub(crate) examined: Examined,
}

impl Others {
    /// Notes the files that a reported call names as written.
    pub(crate) fn see(&self, draft: &Draft) {
        let (Event::ToolFinished { host, call } | Event::ToolFailed { host, call }) = &draft.event
        else {
            return;
        };
        let written = whose::written(call);
        if written.is_empty() {
            return;
        }
        let cwd = host.place.as_ref().map_or("", |place| place.cwd.as_str());
        let mut known = self.written.lock();
        if known.len() + written.len() > FILES_MAX {
            known.clear();
        }
        let paths = written.iter().map(|path| Path::new(cwd).join(path));
        let editor = (draft.stream.session, draft.at);
        known.extend(
            paths
                .filter(|path| path.is_absolute())
                .map(|path| (path, editor)),
        );
    }

    /// Returns whether another session was the last to write a file.
    pub(crate) fn is_others(&self, session: Uuid, path: &Path, times: &Times) -> bool {
        let known = self.written.lock();
        let last = known.get(path);
        last.is_some_and(|(editor, at)| {
            *editor != session && times.changed <= at.plus(times.tick).plus(LATE)
        })
    }

    /// Notes a call that ended well, if all contents that it ran on are known.
    pub(crate) fn ran(&self, stream: &Stream, call: &ToolCall, examined: &Examined) {
        let is_known = !examined.is_cut && examined.unknown.is_empty();
        let count = examined.contents.len();
        if !examined.ended_well(call) || !is_known || !(1..=RUN_FILES_MAX).contains(&count) {
            return;
        }
        let session = stream.session;
        let tool = match stream.agent.is_agent() {
            true => format!(
                "{}{:.8}",
                ToolCall::OF_SESSION,
                session.simple().to_string()
            ),
            false => ToolCall::OF_PERSON.to_owned(),
        };
        let mut runs = self.runs.lock();
        runs.truncate(RUNS_MAX - 1);
        runs.push_front(Arc::new(Ran {
            session,
            call: ToolCall {
                id: None,
                tool,
                ..call.clone()
            },
            examined: examined.clone(),
        }));
    }

    /// Returns what other sessions ran in a work tree, the oldest first.
    pub(crate) fn runs(&self, session: Uuid, top: &Path) -> Vec<Arc<Ran>> {
        let runs = self.runs.lock();
        let of_tree =
            |ran: &&Arc<Ran>| ran.session != session && Path::new(&ran.examined.top) == top;
        runs.iter().filter(of_tree).rev().cloned().collect()
    }
}
