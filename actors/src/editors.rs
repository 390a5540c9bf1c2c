//! Which session wrote a file last, by the calls that hooks reported since the daemon started. Two agents may work in one
//! work tree (spec FILES-5).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkpoint::whose::{self, Times};
use journal::{Draft, Event, Timestamp};
use parking_lot::Mutex;
use uuid::Uuid;

/// The most files that are remembered. When there are more, all are forgotten.
const FILES_MAX: usize = 8_192;
/// How late a write may be seen on the disk after its call was reported.
const LATE: Duration = Duration::from_millis(100);

/// The last session that wrote each file.
#[derive(Debug, Default)]
pub(crate) struct Editors(Mutex<HashMap<PathBuf, (Uuid, Timestamp)>>);

impl Editors {
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
        let mut known = self.0.lock();
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
        let known = self.0.lock();
        let last = known.get(path);
        last.is_some_and(|(editor, at)| {
            *editor != session && times.changed <= at.plus(times.tick).plus(LATE)
        })
    }
}
