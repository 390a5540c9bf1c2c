//! How the daemon and the collector begin and end: configuration, folders, lock, log, journal, signals.

use std::fs::File;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use checkpoint::config::Config;
use journal::recovery::Recovered;
use journal::{Home, Journal, Options};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::http::Api;
use super::instance::{lock, private_folder};
use super::{environment, log_file};
use crate::config;
use crate::error::Result;

/// The longest wait for a journal that a command holds open.
const JOURNAL_WAIT: Duration = Duration::from_secs(5);

/// What is prepared before the journal is opened.
pub(super) struct Prepared {
    pub(super) config: Config,
    pub(super) config_error: Option<String>,
    /// The lock of this home folder.
    pub(super) pid_file: File,
}

/// Loads the configuration, reduces the environment, and takes the lock of this home.
pub(super) fn prepare(home: &Home) -> Result<Prepared> {
    let (config, config_error) = match config::load(home) {
        Ok(config) => (config, None),
        Err(error) => (Config::default(), Some(error.to_string())),
    };
    environment::reduce(&config)?;
    config::refuse_reachable_home(home)?;
    // Files are readable by their owner only, whatever the caller's umask is.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    for folder in [
        &home.run,
        &home.spool,
        &home.journal,
        &home.logs,
        &home.clear,
    ] {
        private_folder(folder)?;
    }
    let pid_file = lock(home)?;
    actors::lost::reserve(home);
    actors::git::clear_private_folders(home);
    log_to_stderr(home, &config);
    if let Some(error) = &config_error {
        tracing::warn!(%error, "Invalid configuration; the defaults apply.");
    }
    Ok(Prepared {
        config,
        config_error,
        pid_file,
    })
}

fn log_to_stderr(home: &Home, config: &Config) {
    let level = config.settings.logs.level.word();
    let asked: Option<Targets> = std::env::var("CHECKPOINTD_LOG")
        .ok()
        .and_then(|targets| targets.parse().ok());
    let targets = asked.unwrap_or_else(|| {
        format!("{level},actix_server=warn,sled=warn,async_nats=warn")
            .parse()
            .expect("a level and targets")
    });
    let log = Mutex::new(log_file::Log::new(home.logs.clone()));
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .with_writer(log)
        // They would be printed where the log goes, and a full disk takes neither.
        .log_internal_errors(false);
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .try_init();
}

/// Opens the journal, and waits a little for one that a command has open.
pub(super) fn open_journal(home: &Home, config: &Config) -> Result<(Journal, Recovered)> {
    let options = Options {
        sync: match config.settings.journal.sync {
            checkpoint::config::Sync::Mixed => journal::Sync::Mixed,
            checkpoint::config::Sync::Always => journal::Sync::Always,
        },
        batch_window: Duration::from_millis(config.settings.journal.batch_window.as_millis()),
        ..Options::default()
    };
    let began = Instant::now();
    loop {
        match Journal::open(&home.journal, options) {
            Err(journal::Error::Locked { .. }) if began.elapsed() < JOURNAL_WAIT => {
                std::thread::sleep(Duration::from_millis(50));
            }
            other => return Ok(other?),
        }
    }
}

/// Waits until the process is asked to stop.
pub(super) async fn asked_to_stop(api: &Api) {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        api.stop.notified().await;
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = api.stop.notified() => {}
    }
}
