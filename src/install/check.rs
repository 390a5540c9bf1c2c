//! The outcome of one check of an installation.

use serde_json::{Value, json};

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
    pub(crate) fn pass(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            status: Status::Pass,
            detail: detail.into(),
            fix: None,
        }
    }

    pub(crate) fn skip(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            status: Status::Skip,
            ..Self::pass(name, detail)
        }
    }

    pub(crate) fn warn(
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            status: Status::Warn,
            fix: Some(fix.into()),
            ..Self::pass(name, detail)
        }
    }

    pub(crate) fn fail(
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
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
