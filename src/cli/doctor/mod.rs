//! Checks of the whole installation, each with one line on what to do. A check that cannot be made is skipped, and
//! skipped is not passed.

mod agents;
mod fire;
mod own;
mod system;

use journal::Home;
use serde_json::{Value, json};

pub(crate) use agents::mend as mend_agents;
pub(crate) use fire::fire;
pub(crate) use own::mend as mend_own;
pub(crate) use system::free_bytes;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is well.
    Pass,
    /// Worth a look; it works all the same.
    Warn,
    /// Something does not work.
    Fail,
    /// There was nothing to check.
    Skip,
}

impl Status {
    /// Returns the word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// A check and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// What was checked.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) status: Status,
    /// What was found.
    pub(crate) detail: String,
    /// What to do, where something is to be done.
    pub(crate) fix: Option<String>,
}

impl Check {
    fn pass(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            status: Status::Pass,
            detail: detail.into(),
            fix: None,
        }
    }

    fn skip(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            status: Status::Skip,
            ..Self::pass(name, detail)
        }
    }

    fn warn(name: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            status: Status::Warn,
            fix: Some(fix.into()),
            ..Self::pass(name, detail)
        }
    }

    fn fail(name: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            status: Status::Fail,
            fix: Some(fix.into()),
            ..Self::pass(name, detail)
        }
    }

    /// Returns it as the machine interface promises.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "name": self.name, "status": self.status.word(), "detail": self.detail, "fix": self.fix })
    }
}

/// Makes all checks. `progress` gets what is done and what there is in all, of the one that takes long.
pub(crate) fn all(home: &Home, progress: impl FnMut(u64, u64)) -> Vec<Check> {
    let mut checks = own::checks(home, progress);
    checks.extend(agents::checks(home));
    checks.extend(system::checks(home));
    checks
}
