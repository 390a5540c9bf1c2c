//! Commands, as people and scripts run them.

mod audit;
mod config;
mod cursor;
mod demo;
mod described;
mod doctor;
mod examples;
mod fleet;
mod forged;
mod install;
mod lookback;
mod nesting;
mod phase;
mod preview;
mod progress;
mod sessions;
mod sql;
mod status;
mod statusline;
mod steering;
mod store;
mod top;
mod trust;
mod uninstall;
mod upgrade;
mod whatif;
