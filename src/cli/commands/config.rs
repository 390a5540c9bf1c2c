//! `config show` and `config check`.

use checkpoint::config::Config;
use journal::Home;
use serde_json::json;

use crate::cli::args::ConfigAction;
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::render::Table;

/// Shows or checks the configuration.
pub(super) fn run(home: &Home, action: ConfigAction) -> Result<u8> {
    match action {
        ConfigAction::Show { output } => {
            let rows = settings::load(&home.config)?.show();
            if output.json {
                for (key, value, source) in rows {
                    println!(
                        "{}",
                        json!({ "key": key, "value": value, "source": source })
                    );
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
