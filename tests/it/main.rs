//! All integration tests: one binary, one folder for each part of the product, one module for each subject.

mod cli;
mod client;
mod daemon;
mod docs;
mod faults;
mod formats;
mod support;
mod tidy;
