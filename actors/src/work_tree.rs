//! What git says about a turn's work tree, and what the project's own files say about its changes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use checkpoint::config::Config;
use checkpoint::policy::{Comments, Scope};
use journal::{ChangedFile, ToolCall, ToolKind, Workspace};

use crate::subject::Of;
use crate::{git, whose, workspace};

/// Says that commits counted by their time.
const HEAD_NOT_KNOWN: &str =
    "it is not known where HEAD was when the turn began: commits count by their time";

pub(crate) struct Looked {
    /// What git says. The changes are all, whosever they are.
    pub(crate) tree: git::Tree,
    /// What the project's files say, if the policy needs it.
    pub(crate) workspace: Option<Workspace>,
    /// How long it took to read them. Git had an answer to find meanwhile.
    pub(crate) taken: Duration,
}

/// Asks git, and reads the project's files as soon as it is known what changed.
pub(crate) fn look(of: Of<'_>) -> Looked {
    let mut early = None;
    let tree = inspect(of, &mut |seen| early = Some(read(of, seen)));
    let late = || {
        let seen = git::Seen {
            top: tree.top.as_deref()?,
            files: tree.changes.files()?,
            listing: tree.listing.as_deref(),
        };
        Some(read(of, seen))
    };
    let (workspace, taken) = early.or_else(late).unwrap_or_default();
    Looked {
        tree,
        workspace,
        taken,
    }
}

/// Reads what the project's files say about the changes, and returns how long it took.
fn read(of: Of<'_>, seen: git::Seen<'_>) -> (Option<Workspace>, Duration) {
    let began = Instant::now();
    let files = maybe_of_turn(seen, of);
    let read = |listing| workspace::read(seen.top, &files, listing);
    let listing = seen.listing.filter(|_| !files.is_empty());
    (listing.map(read), began.elapsed())
}

/// Asks git what changed, and which tests there are if the policy needs to know. `meanwhile` runs as in
/// [`git::inspect_while`].
fn inspect(of: Of<'_>, meanwhile: &mut dyn FnMut(git::Seen<'_>)) -> git::Tree {
    let Of {
        config,
        state,
        policy,
        judged,
        ..
    } = of;
    let folder = &judged.folder;
    let by_head = !policy.is_letter();
    let head = state.turn.head_before().filter(|_| by_head).cloned();
    let is_known = head.is_some();
    let by_time = state.turn_start(policy.timer);
    let since = if is_known { whose::began(of) } else { by_time };
    let wanted = git::Request {
        since,
        head,
        contents: !policy.is_letter(),
        comments: !policy.is_letter() && policy.comments == Comments::Ignored,
        named: of.named.clone(),
        spans: whose::spans(of),
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
        within: limits.git_timeout.0,
        files_max: limits.changed_files_max.get(),
    }
}

/// Returns the changes that may be the turn's: the calls of its transcript are not known yet.
fn maybe_of_turn(seen: git::Seen<'_>, of: Of<'_>) -> Vec<ChangedFile> {
    let baseline = of.state.turn.baseline.as_ref();
    let is_wanted = of.policy.scope == Scope::Turn && !of.judged.is_elsewhere;
    let Some(before) = baseline.filter(|_| is_wanted) else {
        return seen.files.to_vec();
    };
    let named = git::Within::new(of.named, seen.top);
    let before: BTreeSet<&ChangedFile> = before.iter().collect();
    let open = &of.state.open.files;
    let may_be = |file: &&ChangedFile| {
        !before.contains(file) || named.has(&file.path) || open.contains(&file.path)
    };
    seen.files.iter().filter(may_be).cloned().collect()
}
