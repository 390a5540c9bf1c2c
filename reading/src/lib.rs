//! What command lines, outputs and manifests say, and the catalogue of programs and languages by which they are read.
//!
//! Pure, like the core: texts are passed in. Nothing in here knows an agent, a rule or a session.

pub mod catalogue;
pub mod comments;
pub mod digest;
pub mod manifest;
pub mod outcome;
pub mod shell;
pub mod text;
