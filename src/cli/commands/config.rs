//! `config show` and `config check`.

use std::path::PathBuf;

use checkpoint::config::Config;
use clap::{Args, Subcommand};
use journal::Home;
use serde_json::json;

use crate::cli::shared::Output;
use crate::cli::text::print_json;
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::render::Table;

/// Show or check the configuration
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  checkpointd config show\n  checkpointd config check new.yml")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Show every key with its value and its source
    Show {
        #[command(flatten)]
        output: Output,
    },
    /// Check a file (default: your config.yml)
    Check {
        /// The file to check
        file: Option<PathBuf>,
    },
}

pub(crate) fn run(home: &Home, args: ConfigArgs) -> Result<u8> {
    match args.action {
        ConfigAction::Show { output } => {
            let rows = settings::load(home)?.show();
            if output.json {
                for (key, value, source) in rows {
                    print_json(&json!({ "key": key, "value": value, "source": source }));
                }
            } else {
                let mut table = Table::new(["KEY", "VALUE", "FROM"]);
                rows.into_iter()
                    .for_each(|(key, value, source)| table.row([key, value, source]));
                table.print();
            }
            Ok(exit::OK)
        }
        ConfigAction::Check { file } => {
            let path = file.unwrap_or_else(|| home.config.clone());
            let text = std::fs::read_to_string(&path).map_err(|error| {
                Failure::usage(format!("cannot read {}: {error}", path.display()))
            })?;
            let _: Config = settings::check(&path, &text)?;
            println!("{}: ok", path.display());
            Ok(exit::OK)
        }
    }
}
