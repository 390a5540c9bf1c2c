//! What command lines, outputs and manifests say, and the catalogue of programs and languages by which they are read.
//!
//! Pure, like the core: texts are passed in. Nothing in here knows an agent, a rule or a session.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "a test has a limit of time")
)]

pub mod catalogue;
pub mod comments;
pub mod digest;
pub mod manifest;
pub mod outcome;
pub mod shell;
pub mod text;
