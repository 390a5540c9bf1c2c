//! Bytes from elsewhere: journals of released versions, and damaged input for every parser.

mod frozen;
mod fuzzing;
mod json;
