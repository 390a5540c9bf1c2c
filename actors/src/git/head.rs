//! Where HEAD was as a turn began, and which commits are the turn's by that (spec FILES-4).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use checkpoint::state::Head;
use journal::Timestamp;

use super::command::{Git, words};
use super::parse;
use super::view::View;

/// The most other refs whose commits are kept. Only those that are no older than the turn matter: hardly ever one.
const TIPS_MAX: usize = 64;
/// Says that commits were counted by their time because the repository lacks the commit where HEAD
/// was.
pub(super) const NOT_KNOWN_HERE: &str = "git: this repository has not the commit where HEAD was when the turn began: \
                                         commits count by their time";

/// Returns where HEAD is, for a turn that began at `turn_at`; `None` if git gives no answer in time.
pub fn head(cwd: &Path, turn_at: Timestamp, within: Duration) -> Option<Head> {
    head_with(&Git::default(), cwd, turn_at, within)
}

pub(super) fn head_with(
    git: &Git,
    cwd: &Path,
    turn_at: Timestamp,
    within: Duration,
) -> Option<Head> {
    let deadline = Instant::now() + within;
    let view = View::open(git, cwd, deadline).ok()?;
    let outputs = view.run(
        &[words("rev-parse --verify --quiet HEAD^{commit}")],
        deadline,
    );
    let commit = parse::object_id(&outputs.ok()?.first()?.stdout);
    Some(Head {
        at: Timestamp::now(),
        top: view.found.top.to_string_lossy().into_owned(),
        commit,
        tips: tips(&view, second(turn_at), deadline),
    })
}

/// Returns the commits of other refs that are no older than a second. They are read last, since many refs take a while.
/// Without them, only a commit of the same second can be taken for one of the turn.
fn tips(view: &View, second: i64, deadline: Instant) -> Vec<String> {
    let call = vec![
        "for-each-ref".into(),
        format!("--count={TIPS_MAX}"),
        "--sort=-committerdate".into(),
        "--format=%(committerdate:unix) %(objectname)".into(),
        "refs/heads".into(),
        "refs/remotes".into(),
        "refs/tags".into(),
    ];
    let refs = view.ask(call, deadline);
    refs.map_or_else(Vec::new, |refs| parse::tips(&refs.stdout, second))
}

/// Returns a time in the resolution of commits.
pub(super) fn second(at: Timestamp) -> i64 {
    at.as_micros().div_euclid(1_000_000).max(0)
}

/// Returns the arguments that leave out what HEAD and other refs had.
pub(super) fn excluded(head: &Head) -> impl Iterator<Item = String> {
    head.commit
        .iter()
        .chain(&head.tips)
        .map(|commit| format!("^{commit}"))
}

/// Returns the commit where HEAD was in this work tree. In another one it was somewhere else.
pub(super) fn commit_at_top<'a>(head: Option<&'a Head>, top: &Path) -> Option<&'a str> {
    head.filter(|head| Path::new(&head.top) == top)?
        .commit
        .as_deref()
}

/// Keeps the files that differ from where HEAD was: a rebase makes commits without changing what their files hold. If git
/// cannot say, or the commit is not known, all stay.
pub(super) fn keep_changed(
    view: &View,
    before: Option<&str>,
    committed: &mut Vec<&[u8]>,
    deadline: Instant,
) {
    let Some(before) = before.filter(|_| !committed.is_empty()) else {
        return;
    };
    let call = words(&format!(
        "diff-tree -r -z --name-only --no-renames --no-relative --no-ext-diff --no-textconv -O/dev/null \
         --ignore-submodules=none {before} HEAD --"
    ));
    if let Some(output) = view.ask(call, deadline).filter(|it| !it.is_cut) {
        let differing: BTreeSet<&[u8]> = parse::names(&output.stdout).collect();
        committed.retain(|name| differing.contains(name));
    }
}
