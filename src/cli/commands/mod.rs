//! One module for each command: its arguments, and what it does.

pub(crate) mod audit;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod journal;
pub(crate) mod maintenance;
pub(crate) mod orders;
pub(crate) mod phase;
pub(crate) mod preview;
pub(crate) mod progress;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod service;
pub(crate) mod sessions;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod timeline;
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod web;
