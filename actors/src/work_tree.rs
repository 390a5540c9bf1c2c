//! What git says about a turn's work tree, and what the project's own files say about its changes.

use std::time::{Duration, Instant};

use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::policy::{Comments, Scope};
use checkpoint::state::SessionState;
use journal::{Changes, ToolCall, ToolKind, Workspace};

use crate::judged::Judged;
use crate::{git, workspace};

/// Says that commits counted by their time.
const HEAD_NOT_KNOWN: &str =
    "it is not known where HEAD was when the turn began: commits count by their time";

/// The session and the policy that a decision is about.
#[derive(Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) config: &'a Config,
    pub(crate) state: &'a SessionState,
    pub(crate) policy: &'a Policy,
    pub(crate) judged: &'a Judged,
}

pub(crate) struct Looked {
    /// What git says. The changes are those that the policy's scope takes.
    pub(crate) tree: git::Tree,
    /// What the project's files say, if the policy needs it.
    pub(crate) workspace: Option<Workspace>,
    /// How long it took to read them. Git had an answer to find meanwhile.
    pub(crate) taken: Duration,
}

/// Asks git, and reads the project's files as soon as it is known what changed.
pub(crate) fn look(of: Of<'_>) -> Looked {
    let mut early = None;
    let mut tree = inspect(of, &mut |seen| early = Some(read(of, seen)));
    let late = || {
        let (files, top) = (tree.changes.files()?, tree.top.as_deref()?);
        Some(read(
            of,
            git::Seen::new(top, files, tree.listing.as_deref()),
        ))
    };
    let (workspace, taken) = early.or_else(late).unwrap_or_default();
    let changes = std::mem::take(&mut tree.changes);
    tree.changes = of_turn(changes, of, &mut tree.notes);
    Looked {
        tree,
        workspace,
        taken,
    }
}

/// Reads what the project's files say about the changes, and returns how long it took.
fn read(of: Of<'_>, seen: git::Seen<'_>) -> (Option<Workspace>, Duration) {
    let began = Instant::now();
    let changes = of_turn(Changes::Known(seen.files.to_vec()), of, &mut Vec::new());
    let files = changes.files().filter(|files| !files.is_empty());
    let read = |(files, listing): (&[_], _)| {
        workspace::read(seen.top, files, listing, &of.config.redactor)
    };
    (files.zip(seen.listing).map(read), began.elapsed())
}

/// Asks git what changed, and which tests there are if the policy needs to know. `meanwhile` runs as in
/// [`git::inspect_while`].
fn inspect(of: Of<'_>, meanwhile: &mut dyn FnMut(git::Seen<'_>)) -> git::Tree {
    let Of {
        config,
        state,
        policy,
        judged,
    } = of;
    let folder = &judged.folder;
    let by_head = !policy.is_letter();
    let head = state.turn.head_before().filter(|_| by_head).cloned();
    let is_known = head.is_some();
    let by_time = state.turn_start(policy.timer);
    let since = if is_known {
        state.turn.started_at
    } else {
        by_time
    };
    let wanted = git::Wanted {
        since,
        head,
        contents: !policy.is_letter(),
        comments: !policy.is_letter() && policy.comments == Comments::Ignored,
        likely: state.turn.calls.iter().any(may_write),
        listed: if workspace::wanted(policy) {
            checkpoint::project::LISTED
        } else {
            &[]
        },
    };
    let mut tree = git::inspect_while(folder, &wanted, bounds(config), meanwhile);
    if by_head && !is_known && tree.committed {
        tree.notes.push(HEAD_NOT_KNOWN.into());
    }
    tree
}

fn may_write(call: &ToolCall) -> bool {
    matches!(
        call.kind,
        ToolKind::Shell | ToolKind::Edit | ToolKind::Write
    )
}

pub(crate) fn bounds(config: &Config) -> git::Bounds {
    let limits = &config.settings.evidence_limits;
    git::Bounds {
        within: Duration::from_millis(limits.git_timeout.as_millis()),
        files_max: limits.changed_files_max.get(),
    }
}

/// Returns the changes that the policy's scope takes: those of the turn, if it has a baseline, or all.
fn of_turn(changes: Changes, of: Of<'_>, notes: &mut Vec<String>) -> Changes {
    let files = match changes {
        Changes::Known(files) if of.policy.scope == Scope::Turn => files,
        changes => return changes,
    };
    let baseline = of.state.turn.baseline.as_ref();
    let Some(before) = baseline.filter(|_| !of.judged.is_elsewhere) else {
        notes.push(
            "scope is `turn`, but the turn has no baseline: every changed file counts".into(),
        );
        return Changes::Known(files);
    };
    Changes::Known(git::since_baseline(files, before))
}
