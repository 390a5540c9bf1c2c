//! The actions that need a broker.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};
use journal::Home;

use super::arguments::{Operator, level, machine};
use super::members;
use crate::error::Result;
use crate::ops::fleet::Level;

/// What to do with a broker.
#[derive(Debug, Subcommand)]
pub(crate) enum BrokerAction {
    /// Create a certificate authority and the configuration of NATS servers and the collector
    InitServer {
        /// The servers, one or three: HOST or HOST:PORT
        #[arg(required = true, value_name = "SERVER")]
        servers: Vec<String>,
        #[command(flatten)]
        operator: Operator,
    },
    /// Add a machine or renew its certificate; writes NAME.join for `fleet join`
    Enrol {
        /// Name of the machine: lower-case letters, digits and `-`
        #[arg(value_parser = machine)]
        name: String,
        #[command(flatten)]
        operator: Operator,
    },
    /// Revoke a machine's certificate
    Revoke {
        /// Name of the machine
        #[arg(value_parser = machine)]
        name: String,
        #[command(flatten)]
        operator: Operator,
    },
    /// Renew the certificates of the servers and the collector, which are valid for 398 days
    Renew {
        #[command(flatten)]
        operator: Operator,
    },
    /// Start to send this machine's events, with the file that `fleet enrol` wrote
    Join {
        /// The file
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// How much is sent: decisions, a skeleton of all events without their texts, or all with prompts and payloads
        #[arg(long, default_value = "decisions", value_parser = level())]
        level: Level,
    },
    /// Run the collector: write what machines send to the broker to the journal
    ///
    /// The broker is `fleet.url` in config.yml. While the collector runs, it answers queries as a daemon does.
    Collect,
}

pub(super) fn run(home: &Home, action: BrokerAction) -> Result<u8> {
    match action {
        BrokerAction::InitServer { servers, operator } => members::init_server(&operator, &servers),
        BrokerAction::Enrol { name, operator } => members::enrol(&operator, &name),
        BrokerAction::Revoke { name, operator } => members::revoke(&operator, &name),
        BrokerAction::Renew { operator } => members::renew(&operator),
        BrokerAction::Join { file, level } => members::join(home, &file, level),
        BrokerAction::Collect => {
            crate::daemon::collect(home.clone())?;
            Ok(crate::error::exit::OK)
        }
    }
}
