//! Checks of the whole installation, each with one line on what to do. A check that cannot be made is skipped, and
//! skipped is not passed.

mod agents;
mod fire;
mod own;
mod system;

use journal::Home;

pub(crate) use crate::install::check::{Check, Status};
pub(crate) use agents::mend as mend_agents;
pub(crate) use fire::fire;
pub(crate) use own::mend as mend_own;
pub(crate) use system::free_bytes;

/// Makes all checks. `progress` gets what is done and what there is in all, of the one that takes long.
pub(crate) fn all(home: &Home, progress: impl FnMut(u64, u64)) -> Vec<Check> {
    let mut checks = own::checks(home, progress);
    checks.extend(agents::checks(home));
    checks.extend(system::checks(home));
    checks
}
