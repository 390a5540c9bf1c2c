//! The HTTP interface on the socket, for hooks and the command line.

pub(crate) mod answers;
pub(crate) mod connections;
mod documents;
pub(super) mod health;
mod hooks;
mod journal;
mod metrics;
pub(crate) mod orders;
mod queries;
mod state;
mod web;

use actix_web::web::ServiceConfig;

pub(crate) use state::{Actors, Api};

/// Sets up the routes of a collector: everything that only asks.
pub(crate) fn questions(config: &mut ServiceConfig) {
    config
        .configure(queries::routes)
        .configure(health::routes)
        .configure(journal::routes)
        .configure(metrics::routes)
        .configure(web::routes);
}

/// Sets up the routes of a daemon.
pub(crate) fn routes(config: &mut ServiceConfig) {
    config
        .configure(hooks::routes)
        .configure(questions)
        .configure(orders::routes)
        .configure(documents::routes);
}
