//! What tests with real processes share beyond `testkit`.

pub(crate) mod machine;
pub(crate) mod terminal;

pub(crate) use testkit::*;
