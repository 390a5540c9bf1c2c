//! The result of one check of an installation.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Pass,
    /// A problem that does not stop anything from working.
    Warn,
    /// It does not work.
    Fail,
    /// The check could not run.
    Skip,
}

impl Status {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) status: Status,
    /// What the check found.
    pub(crate) detail: String,
    /// How to fix it.
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
}
