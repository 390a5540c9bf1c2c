//! What is determined at the beginning of a turn: the state of the work tree, and whether it is a
//! turn of its own.

use checkpoint::config::Config;
use checkpoint::policy::Scope;
use checkpoint::state::SessionState;
use journal::{Event, Timestamp};

use crate::project::Project;
use crate::trust::Trust;
use crate::work_tree::bounds;
use crate::{git, work_tree_choice};

/// Returns the state of the work tree when the session's turn begins, as far as the policy needs it: where HEAD is, and
/// the files that are changed already.
pub fn seen(config: &Config, trust: &Trust, state: &SessionState) -> Vec<(Timestamp, Event)> {
    let Some(turn_at) = state.turn.started_at else {
        return Vec::new();
    };
    let policy = Project::look(config, trust, work_tree_choice::project(config, state)).policy;
    if !policy.enabled {
        return Vec::new();
    }
    let folder = work_tree_choice::of(state, &policy).folder;
    let head = || {
        let head = git::head(&folder, turn_at, bounds(config).within)?;
        let event = Event::HeadSeen {
            turn_at,
            top: head.top,
            commit: head.commit,
            tips: head.tips,
        };
        Some((head.at, event))
    };
    let baseline = || {
        let files = git::baseline(&folder, bounds(config))?;
        Some((Timestamp::now(), Event::BaselineTaken { turn_at, files }))
    };
    // HEAD comes first: it takes less time, and may move first.
    let head = (!policy.is_letter()).then(head).flatten();
    let baseline = (policy.scope == Scope::Turn).then(baseline).flatten();
    head.into_iter().chain(baseline).collect()
}

/// Returns the event that joins the turn with the one that it is part of, if the host says so and the policy wants it.
pub fn joined(config: &Config, trust: &Trust, state: &SessionState) -> Option<Event> {
    let turn_at = state.joins()?;
    let policy = Project::look(config, trust, work_tree_choice::project(config, state)).policy;
    (!policy.is_letter()).then_some(Event::TurnJoined { turn_at })
}
