//! The daemon: hook calls, the socket and its routes, terminals, the service.

mod callers;
mod control;
#[cfg(target_os = "linux")]
mod desktop;
#[cfg(target_os = "linux")]
mod hanging;
mod logs;
mod main_job;
mod metrics;
mod otlp;
mod privacy;
mod restart;
#[cfg(target_os = "linux")]
mod resting;
mod service;
mod surroundings;
#[cfg(target_os = "linux")]
mod systemd;
mod tmux;
mod web;
