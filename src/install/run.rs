//! Makes plans for several agents and applies them.

use journal::Home;

use super::apply::{self, Way};
use super::change::{AgentPlan, Scope};
use super::found::Found;
use super::plan::{self, Means};
use super::record::Record;
use crate::config;
use crate::error::{Failure, Result};
use crate::service::place;

pub(crate) fn plans(
    home: &Home,
    found: &[Found],
    scope: &Scope,
    adds_commands: bool,
) -> Result<Vec<AgentPlan>> {
    let record = Record::load(home).map_err(Failure::failed)?;
    let client = plan::client(home).map_err(Failure::failed)?;
    // As in the daemon: an invalid configuration is not used.
    let config = config::load(home).unwrap_or_default();
    let stop_wait_ms = config.settings.hooks.stop_wait.as_millis();
    let means = Means {
        home,
        record: &record,
        client: &client,
        stop_wait_ms,
        adds_commands,
    };
    let plans = found
        .iter()
        .map(|found| plan::plan(found, scope, &means).map_err(Failure::failed));
    plans.collect()
}

pub(crate) fn install(home: &Home, plans: &[AgentPlan]) -> Result<()> {
    place::settle(home).map_err(Failure::failed)?;
    let changes: Vec<_> = plans.iter().flat_map(|plan| plan.changes.clone()).collect();
    apply::apply(home, &changes, Way::In).map_err(Failure::failed)
}
