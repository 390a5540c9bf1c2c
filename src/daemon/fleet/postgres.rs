//! The collector's copy in Postgres, through `psql`: its own way to connect, encrypt and authenticate is every operator's.
//!
//! It may be unreachable, or be emptied, at any time. The last copied event is stored in it, in the transaction of the
//! rows (spec FLEET-16).

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::{Shared, programs};
use journal::{Home, Timestamp};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::state::State;
use crate::config;
use crate::error::{Failure, Result};
use crate::ops::fleet::tables::{self, Batch, Position};
use crate::ops::views::Copied;

/// Events in one transaction.
const BATCH_EVENTS: u64 = 5_000;
/// Time between two looks for new events.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time between two looks whether the tables are still as they were left.
const CHECK_EVERY: Duration = Duration::from_secs(15);
/// The longest that `psql` may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Characters of an error that are shown.
const ERROR_CHARS_MAX: usize = 300;

/// Copies events of the journal to Postgres.
pub(super) struct Copy {
    shared: Arc<Shared>,
    state: Arc<State>,
    stop: Notify,
}

impl Copy {
    pub(super) fn new(shared: Arc<Shared>, state: Arc<State>) -> Arc<Self> {
        let stop = Notify::new();
        Arc::new(Self {
            shared,
            state,
            stop,
        })
    }

    /// Begins, on a thread of its own.
    pub(super) fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let own = Arc::clone(self);
        let body = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = own.copy_for_ever() => {}
                    () = own.stop.notified() => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("postgres".into());
        thread.spawn(body).map(drop)
    }

    /// Ends the copy. Uncommitted events are discarded.
    pub(super) fn close(&self) {
        self.stop.notify_one();
    }

    fn url(&self) -> Option<String> {
        let config = self.shared.config();
        let database = config.settings.fleet.postgres.0.as_ref()?;
        Some(database.text().to_owned())
    }

    async fn copy_for_ever(&self) {
        let mut pause = PAUSE;
        loop {
            let Some(url) = self.url() else {
                self.note(|_| None);
                sleep(LOOK_EVERY).await;
                continue;
            };
            let began = Instant::now();
            let ended = self.copy(&url).await;
            if began.elapsed() > PAUSE_MAX {
                pause = PAUSE;
            }
            if let Err(why) = ended {
                tracing::warn!(why, "Postgres cannot be used.");
                let end = self.shared.journal.last_seq();
                self.note(|before| {
                    Some(Copied {
                        behind: end.saturating_sub(before.last),
                        trouble: Some(why),
                        ..before
                    })
                });
                sleep(pause).await;
                pause = (2 * pause).min(PAUSE_MAX);
            }
        }
    }

    /// Copies until something fails or changes.
    async fn copy(&self, url: &str) -> std::result::Result<(), String> {
        let journal = &self.shared.journal;
        let own = journal
            .identity()
            .map_err(|error| error.to_string())?
            .journal;
        psql(url, tables::TABLES).await?;
        let answer = psql(url, tables::POSITION).await?;
        let mut last = match Position::read(&answer, own, journal.last_seq()) {
            Some(position) => position.last,
            None => {
                psql(url, &tables::empty(own, &answer)).await?;
                0
            }
        };
        self.at(last, false);
        let mut checked = Instant::now();
        while self.url().as_deref() == Some(url) {
            if journal.last_seq() == last {
                if checked.elapsed() > CHECK_EVERY {
                    checked = Instant::now();
                    let answer = psql(url, tables::POSITION).await?;
                    if Position::read(&answer, own, last) != Some(Position { last }) {
                        return Ok(());
                    }
                }
                sleep(LOOK_EVERY).await;
                continue;
            }
            // What is not on the disk yet may get other numbers after a power cut.
            self.shared
                .sync()
                .await
                .map_err(|error| error.to_string())?;
            journal.settle().map_err(|error| error.to_string())?;
            let batch =
                Batch::after(journal, last, BATCH_EVENTS).map_err(|error| error.to_string())?;
            let Some(batch) = batch else {
                sleep(LOOK_EVERY).await;
                continue;
            };
            match psql(url, &batch.script(own)).await {
                Ok(_) => last = batch.last,
                // It was emptied, or has another writer.
                Err(why) if why.contains(tables::MOVED) => return Ok(()),
                Err(why) => return Err(why),
            }
            self.at(last, true);
        }
        Ok(())
    }

    fn at(&self, last: u64, is_written: bool) {
        let behind = self.shared.journal.last_seq().saturating_sub(last);
        self.note(|before| {
            Some(Copied {
                last,
                behind,
                written_at: is_written.then(Timestamp::now).or(before.written_at),
                trouble: None,
            })
        });
    }

    fn note(&self, change: impl FnOnce(Copied) -> Option<Copied>) {
        self.state.change(|line| {
            let collects = line.collects.get_or_insert_default();
            collects.postgres = change(collects.postgres.take().unwrap_or_default());
        });
    }
}

/// Runs statements. Returns the rows of the answer.
async fn psql(url: &str, sql: &str) -> std::result::Result<String, String> {
    let program =
        programs::find("psql").ok_or("psql is not installed, the client of PostgreSQL")?;
    let mut command = Command::new(program);
    // No settings of a user, never a question for a password, nothing after the first error.
    command
        .args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-w",
            "-v",
            "ON_ERROR_STOP=1",
            "-f",
            "-",
            "-d",
            url,
        ])
        .env("PGCLIENTENCODING", "UTF8")
        .env("PGCONNECT_TIMEOUT", "10")
        .env("PGAPPNAME", "checkpointd")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("psql: {error}"))?;
    let input = child.stdin.take();
    let running = async {
        let write = async {
            if let Some(mut input) = input {
                // It may end before it has read everything; its exit code says so.
                let head = "set client_min_messages = warning;\nset statement_timeout = '110s';\n";
                let _ = input.write_all(head.as_bytes()).await;
                let _ = input.write_all(sql.as_bytes()).await;
            }
        };
        tokio::join!(write, child.wait_with_output()).1
    };
    let output = timeout(ANSWER_WITHIN, running).await;
    let output = output.map_err(|_| "no answer from Postgres".to_owned())?;
    let output = output.map_err(|error| format!("psql: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let plain: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Err(plain.chars().take(ERROR_CHARS_MAX).collect())
}

/// Empties the tables. A running collector fills them again.
pub(crate) fn rebuild(home: &Home) -> Result<()> {
    let config = config::load(home)?;
    let Some(database) = &config.settings.fleet.postgres.0 else {
        return Err(Failure::failed("`fleet.postgres` is not set in config.yml"));
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // Of no journal: the next writer begins from the start.
    let nobody = uuid::Uuid::nil();
    let script = format!("{}{}", tables::TABLES, tables::empty(nobody, ""));
    runtime
        .block_on(psql(database.text(), &script))
        .map(drop)
        .map_err(|why| Failure::unreachable(format!("Postgres: {why}")))
}
