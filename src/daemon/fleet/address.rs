//! Where the broker is, and what is shown to it, from the settings.

use std::os::unix::fs::MetadataExt as _;

use broker::{Broker, Credentials, Problem};
use checkpoint::config;
use journal::Home;

/// The settings of a fleet, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) servers: String,
    pub(super) machine: String,
    credentials: Option<String>,
}

impl Address {
    /// Returns the address and credentials, if a broker is configured.
    pub(super) fn of(settings: &config::Fleet, own: &Home) -> Option<Self> {
        let home = std::env::var("HOME").ok();
        let path = settings.credentials.0.as_ref();
        let beside = own.config.with_file_name("fleet.pem");
        let beside = beside.is_file().then(|| beside.display().to_string());
        Some(Self {
            servers: settings.url.0.as_ref()?.text().to_owned(),
            machine: settings.machine.0.clone().unwrap_or_default(),
            credentials: match path {
                Some(path) => path.resolve(home.as_deref()),
                None => beside,
            },
        })
    }

    /// Returns the last day on which the certificate holds, as `fleet enrol` noted it.
    pub(super) fn until(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.credentials.as_ref()?).ok()?;
        let until = text
            .lines()
            .find_map(|line| line.strip_prefix("# valid until "))?;
        Some(until.chars().take(10).collect())
    }

    pub(super) async fn connect(&self, name: &str) -> broker::Result<Broker> {
        let credentials = match &self.credentials {
            None => Credentials::None,
            Some(path) => read(path).map_err(Problem::Refused)?,
        };
        Broker::connect(&self.servers, name, &credentials).await
    }
}

fn read(path: &str) -> Result<Credentials, String> {
    let meta = std::fs::metadata(path).map_err(|error| format!("{path}: {error}"))?;
    if meta.mode() & 0o077 != 0 {
        return Err(format!("others can read {path}: `chmod 600 {path}`"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Credentials::read(&text).map_err(|error| format!("{path}: {error}"))
}
