//! Checks of the whole installation, each with a fix. A check that cannot run is skipped, which is
//! not a pass.

mod agents;
mod fire;
mod own;
mod system;

use journal::Home;

pub(crate) use crate::install::check::{Check, Status};
pub(crate) use agents::fix as fix_agents;
pub(crate) use fire::fire;
pub(crate) use own::fix as fix_own;
pub(crate) use system::free_bytes;

/// Runs all checks. `progress` gets the done and the total amount of the slow one.
pub(crate) fn all(home: &Home, progress: impl FnMut(u64, u64)) -> Vec<Check> {
    let mut checks = own::checks(home);
    // What the user may not look at would pass for what is missing.
    let folders = own::folders(home);
    let is_usable = folders.status == Status::Pass;
    checks.push(folders);
    if is_usable {
        checks.extend(own::data_checks(home, progress));
        checks.extend(agents::checks(home));
    }
    checks.extend(system::checks(home));
    checks
}
