//! Whose the changes of a work tree are: gathers what `checkpoint::whose` tells them apart by.

use std::collections::HashSet;
use std::path::Path;

use checkpoint::policy::Scope;
use checkpoint::whose::{self, Before, Known, Turn};
use journal::{ChangedFile, Changes, Timeline, TimelineSource, Timestamp, ToolCall, ToolKind};

use crate::git::{self, Named, Within};
use crate::subject::Of;

/// The most files of others that a note names.
const OTHERS_NAMED: usize = 2;

/// Returns the files that calls name as written.
pub(crate) fn named(calls: &[ToolCall], home: &str) -> Named {
    let mut named = Named::default();
    for call in calls {
        let paths = whose::written(call);
        if call.kind == ToolKind::Shell {
            named.written.extend(paths);
        } else {
            let home = Path::new(home);
            named
                .edited
                .extend(paths.into_iter().map(|path| home.join(path)));
        }
    }
    named.edited.sort_unstable();
    named.edited.dedup();
    named
}

/// Returns when the calls that hooks reported could write; `None` if that is not known.
pub(crate) fn spans(of: Of<'_>) -> Option<Vec<(Timestamp, Timestamp)>> {
    let calls = &of.state.turn.calls;
    let known = Some(calls.as_slice()).filter(|calls| !calls.is_empty());
    whose::write_spans(&turn(of, known))
}

/// Returns when the turn began: no later than its first call, whatever the clock said.
pub(crate) fn began(of: Of<'_>) -> Option<Timestamp> {
    let calls = of.state.turn.calls.iter().map(|call| call.at);
    let began = of.state.turn.started_at?;
    Some(calls.min().map_or(began, |first| began.min(first)))
}

/// Returns the changes that the policy's scope takes: those of the turn, or all.
///
/// `named` are the files that the calls of the timeline name.
pub(crate) fn of_turn(
    of: Of<'_>,
    tree: &mut git::Tree,
    timeline: &Timeline,
    named: &Within,
) -> Changes {
    let files = match std::mem::take(&mut tree.changes) {
        Changes::Known(files) if of.policy.scope == Scope::Turn => files,
        changes => return changes,
    };
    let top = tree.top.as_deref().unwrap_or(&of.judged.folder);
    let calls = (timeline.source != TimelineSource::None).then_some(timeline.calls.as_slice());
    let open = &of.state.open.files;
    let open: HashSet<&str> = open.iter().map(String::as_str).collect();
    let known = |file: &ChangedFile| {
        let times = tree.times.get(&file.path).copied();
        let session = of.state.session();
        let is_others = |times| of.others.is_others(session, &top.join(&file.path), &times);
        Known {
            times: times.filter(|_| !tree.left.contains(&file.path)),
            named: named.has(&file.path),
            others: times.is_some_and(is_others),
            kept: !of.judged.is_elsewhere && open.contains(file.path.as_str()),
        }
    };
    let told = whose::tell(files, &turn(of, calls), known);
    if told.untimed {
        let since = match of.state.turn.baseline {
            Some(_) if !of.judged.is_elsewhere => {
                "every file that differs from the turn's beginning"
            }
            _ => "every changed file",
        };
        let note = format!("the times of the turn's calls are not known: {since} counts");
        tree.notes.push(note);
    }
    tree.notes.extend(others_note(&told.others));
    Changes::Known(told.own)
}

fn turn<'a>(of: Of<'a>, calls: Option<&'a [ToolCall]>) -> Turn<'a> {
    let turn = &of.state.turn;
    let files = turn.baseline.as_deref().filter(|_| is_where_it_began(of));
    Turn {
        calls,
        began: began(of),
        stopped: of.stopped,
        before: files.map(|files| Before {
            files,
            at: turn.baseline_at,
        }),
    }
}

/// Returns whether the work tree is the one that was looked at as the turn began.
fn is_where_it_began(of: Of<'_>) -> bool {
    let head = of.state.turn.head.as_ref();
    let is_below = |top: &str| {
        let folder = of.judged.folder.canonicalize();
        folder.is_ok_and(|folder| folder.starts_with(top))
    };
    !of.judged.is_elsewhere && head.is_none_or(|head| is_below(&head.top))
}

fn others_note(others: &[String]) -> Option<String> {
    let named: Vec<&str> = others
        .iter()
        .take(OTHERS_NAMED)
        .map(String::as_str)
        .collect();
    let more = others.len().saturating_sub(named.len());
    let count = match others.len() {
        0 => return None,
        1 => "1 file was".to_owned(),
        many => format!("{many} files were"),
    };
    let names = named.join(", ");
    let more = match more {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    Some(format!("{count} changed by others: {names}{more}"))
}
