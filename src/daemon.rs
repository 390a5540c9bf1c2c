//! The daemon: locks, journal, actors, socket, signals, and the order in which they come and go.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actix::{Actor, Addr, Arbiter};
use actix_web::{App, web};
use actors::draft::daemon_draft;
use actors::hook_reply::HookReply;
use actors::ingest::Ingest;
use actors::listener::{self, Listener};
use actors::progress;
use actors::registry::{EventsAppended, SessionRegistry};
use actors::restart::Restarts;
use actors::routes::Routes;
use actors::tmux::TmuxDelivery;
use actors::{Shared, recovery, spool};
use checkpoint::config::Config;
use journal::{Agent, Event, Home, Journal, Options};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, watch};

use crate::api::{self, Api};
use crate::failure::{Failure, Result};
use crate::metrics::Metrics;
use crate::otlp::Otlp;
use crate::query::Reader;
use crate::web::Page;
use crate::{client, log_file, phase, serve, settings, source, upkeep};

/// A journal that a command holds open is free again soon.
const JOURNAL_WAIT: Duration = Duration::from_secs(5);
/// A daemon that was killed while it started a process leaves its lock to that until it runs its own program.
const PID_WAIT: Duration = Duration::from_secs(5);
/// The longest that a stop waits for requests under way.
const GRACE: Duration = Duration::from_millis(500);
/// How long `--detach` waits for the daemon to take hooks.
const DETACH_WAIT: Duration = Duration::from_secs(10);

/// Runs the daemon until it is told to stop.
///
/// # Errors
///
/// When another one runs already, or the journal or the socket cannot be had.
pub(crate) fn run(home: Home) -> Result<()> {
    // Whatever the caller's umask: what is made here is its owner's alone.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    for folder in [&home.run, &home.spool, &home.journal, &home.logs] {
        private_folder(folder)?;
    }
    let pid_file = lock(&home)?;
    let (config, config_error) = match settings::load(&home.config) {
        Ok(config) => (config, None),
        Err(error) => (Config::default(), Some(error.to_string())),
    };
    log_to_stderr(&home, &config);
    if let Some(error) = &config_error {
        tracing::warn!(%error, "The configuration was not used; the defaults hold.");
    }
    actix::System::new().block_on(serve(home, config, config_error, pid_file))
}

fn private_folder(folder: &Path) -> Result<()> {
    let made = journal::home::create_folder(folder);
    made.and_then(|()| fs::set_permissions(folder, Permissions::from_mode(0o700)))
        .map_err(|error| {
            Failure::unreachable(format!(
                "cannot use the folder {}: {error}",
                folder.display()
            ))
            .hint("it must belong to you; CHECKPOINTD_HOME can name another place")
        })
}

/// Makes this the one daemon, and says so in the pid file.
fn lock(home: &Home) -> Result<File> {
    let path = home.run.join("pid");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(fs::TryLockError::WouldBlock) => {
                let pid = fs::read_to_string(&path).unwrap_or_default();
                let owner = pid.trim().parse().ok().and_then(Pid::from_raw);
                if owner.is_some_and(|owner| test_kill_process(owner) != Err(Errno::SRCH))
                    || began.elapsed() > PID_WAIT
                {
                    return Err(Failure::failed(format!("a daemon is running already (pid {})", pid.trim()))
                        .hint("`checkpointd daemon status` asks it how it is, `checkpointd daemon stop` stops it"));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{}", std::process::id())?;
    Ok(file)
}

fn log_to_stderr(home: &Home, config: &Config) {
    let level = config.settings.logs.level.word();
    let filter =
        tracing_subscriber::EnvFilter::try_from_env("CHECKPOINTD_LOG").unwrap_or_else(|_| {
            tracing_subscriber::EnvFilter::new(format!("{level},actix_server=warn,sled=warn"))
        });
    let log = Mutex::new(log_file::Log::new(home.logs.clone()));
    let _ = tracing_subscriber::fmt()
        .json()
        .with_env_filter(filter)
        .with_writer(log)
        .try_init();
}

fn open_journal(home: &Home, config: &Config) -> Result<(Journal, journal::recovery::Recovered)> {
    let options = Options {
        sync: match config.settings.journal.sync {
            checkpoint::config::Sync::Mixed => journal::Sync::Mixed,
            checkpoint::config::Sync::Always => journal::Sync::Always,
        },
        batch_window: Duration::from_millis(config.settings.journal.batch_window.as_millis()),
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

async fn serve(
    home: Home,
    config: Config,
    config_error: Option<String>,
    pid_file: File,
) -> Result<()> {
    let (journal, recovered) = open_journal(&home, &config)?;
    for note in &recovered.notes {
        tracing::warn!(note, "Recovery of the journal.");
    }
    let shared = Arc::new(Shared::new(journal.clone(), home.clone(), config)?);
    let stop_wait = shared.config().settings.hooks.stop_wait.as_millis();
    fs::write(home.run.join(client::STOP_WAIT_FILE), stop_wait.to_string())?;
    // Before any actor is there: one that never ran panics when it is dropped.
    let Socket {
        listener: socket,
        is_handed_over,
    } = listen(&home)?;
    let replies = HookReply::new(Arc::clone(&shared)).start();
    let typist = TmuxDelivery::new(Arc::clone(&shared));
    // On a thread of its own: it reads the journal while it types.
    let tmux = TmuxDelivery::start_in_arbiter(&Arbiter::new().handle(), move |_| typist);
    let sessions = SessionRegistry::new(
        Arc::clone(&shared),
        Routes {
            replies: replies.clone(),
            tmux,
        },
    )
    .start();
    let ingest = Ingest::new(Arc::clone(&shared), sessions.clone(), replies).start();
    let listener = Listener::new(Arc::clone(&shared)).start();
    let automatic = progress::Automatic::new(Arc::clone(&shared)).start();
    let poke = sessions.clone();
    let reader = Arc::new(Reader::new(journal.clone()));
    let page = Page::new(Arc::clone(&shared), Arc::clone(&reader));
    let lookers = Arc::clone(&page);
    let metrics = Arc::new(Metrics::default());
    let counting = Arc::clone(&metrics);
    let otlp = Otlp::new(Arc::clone(&shared), Arc::clone(&metrics));
    let telling = Arc::clone(&otlp);
    journal.observe(move |events| {
        lookers.tell(events);
        counting.count(events);
        telling.tell(events);
        listener::tell(&listener, events);
        progress::tell(&automatic, events);
        let mut touched: Vec<_> = events
            .iter()
            .filter(|envelope| envelope.stream.agent != Agent::Daemon)
            .map(|envelope| envelope.stream.session)
            .collect();
        touched.sort_unstable();
        touched.dedup();
        // A full registry means that its sessions will catch up later.
        let _ = poke.try_send(EventsAppended(touched));
    });

    let api = web::Data::new(Api {
        shared: Arc::clone(&shared),
        reader,
        sessions: sessions.clone(),
        ingest: ingest.clone(),
        ready: watch::Sender::new(false),
        restarts: Restarts::new(Arc::clone(&shared)).start(),
        stop: Notify::new(),
        began: Instant::now(),
        recovery: recovered.notes.clone(),
        config_error: std::sync::RwLock::new(config_error),
        otlp: Arc::clone(&otlp),
    });
    // The first look makes the rules ready, which the first hook call shall not wait for.
    let _ = shared.config().redactor.text("");
    let stop = Rc::new(Notify::new());
    let app = App::new()
        .app_data(api.clone())
        .app_data(web::Data::from(Arc::clone(&page)))
        .app_data(web::Data::from(metrics))
        .configure(api::routes);
    let mut serving = actix::spawn(serve::serve(socket, app, Rc::clone(&stop), GRACE));

    // Before anybody is told that the daemon is ready: a change made after that must not be missed.
    let _watcher = watch_config(&api);
    come_up(&shared, &ingest, &sessions, &recovered).await?;
    let looker = Arc::clone(&shared);
    drop(actix_web::rt::task::spawn_blocking(move || {
        phase::look(&looker)
    }));
    otlp.start();
    api.ready.send_replace(true);
    actix::spawn(spool::watch(Arc::clone(&shared), ingest));
    actix::spawn(upkeep::compact_daily(Arc::clone(&shared)));
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        "Ready."
    );

    tokio::select! {
        () = told_to_stop(&api) => {}
        ended = &mut serving => {
            return Err(Failure::unreachable(format!("the server ended by itself: {ended:?}")));
        }
    }
    tracing::info!("Stopping.");
    if !is_handed_over {
        let _ = fs::remove_file(&home.socket);
    }
    stop.notify_one();
    page.close().await;
    let _ = tokio::join!(serving, otlp.close());
    let _ = tokio::task::spawn_blocking(move || journal.close()).await;
    drop(pid_file);
    Ok(())
}

/// Takes in what was spooled, and settles what the last run left open, before anything new.
async fn come_up(
    shared: &Arc<Shared>,
    ingest: &Addr<Ingest>,
    sessions: &Addr<SessionRegistry>,
    recovered: &journal::recovery::Recovered,
) -> Result<()> {
    let event = Event::DaemonStarted {
        version: env!("CARGO_PKG_VERSION").into(),
        recovery: recovered.notes.clone(),
    };
    let name = format!(
        "{}:{}",
        std::process::id(),
        journal::Timestamp::now().as_micros()
    );
    shared.append(vec![daemon_draft(event, &name)]).await?;
    match spool::drain(shared, ingest).await {
        Ok(0) => {}
        Ok(calls) => tracing::info!(calls, "Took hook calls from the spool."),
        Err(error) => tracing::warn!(%error, "Could not empty the spool; it is tried again."),
    }
    let open = recovery::settle(shared, sessions).await?;
    if open > 0 {
        tracing::info!(open, "Settling what the last run left open.");
    }
    Ok(())
}

/// The socket, and who made it.
struct Socket {
    listener: tokio::net::UnixListener,
    /// The service manager holds it, and keeps it when the daemon goes.
    is_handed_over: bool,
}

/// Takes the socket that a service manager holds, or binds one, readable for its owner only. The pid
/// lock is held, so an old socket is a dead one's.
fn listen(home: &Home) -> Result<Socket> {
    if let Some(listener) = handed_over()? {
        listener.set_nonblocking(true)?;
        return Ok(Socket {
            listener: tokio::net::UnixListener::from_std(listener)?,
            is_handed_over: true,
        });
    }
    let folder = home.socket.parent().unwrap_or(Path::new("/"));
    private_folder_if_missing(folder)?;
    let name = home
        .socket
        .file_name()
        .ok_or_else(|| Failure::usage("the socket's path has no file name"))?;
    // A socket's path may have about 100 bytes; the name alone always fits.
    std::env::set_current_dir(folder)?;
    let _ = fs::remove_file(name);
    let listener = UnixListener::bind(name).map_err(|error| {
        Failure::unreachable(format!(
            "cannot listen on {}: {error}",
            home.socket.display()
        ))
        .hint("CHECKPOINTD_SOCKET can name another place")
    })?;
    fs::set_permissions(name, Permissions::from_mode(0o600))?;
    std::env::set_current_dir("/")?;
    listener.set_nonblocking(true)?;
    Ok(Socket {
        listener: tokio::net::UnixListener::from_std(listener)?,
        is_handed_over: false,
    })
}

/// Returns the socket of a service manager: launchd is asked for it, systemd passes it on (`LISTEN_FDS`).
fn handed_over() -> std::io::Result<Option<UnixListener>> {
    #[cfg(target_os = "macos")]
    if let Some(listener) = crate::service::launchd::socket() {
        return Ok(Some(listener));
    }
    listenfd::ListenFd::from_env().take_unix_listener(0)
}

fn private_folder_if_missing(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        Ok(())
    } else {
        private_folder(folder)
    }
}

async fn told_to_stop(api: &Api) {
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

/// Puts a changed configuration into force. A file with a mistake changes nothing, and `status` says so.
fn watch_config(api: &web::Data<Api>) -> Option<notify::RecommendedWatcher> {
    use notify::{RecursiveMode, Watcher};
    let path = api.shared.home.config.clone();
    let folder = path.parent()?.to_owned();
    let watched = api.clone();
    let reload = move |event: notify::Result<notify::Event>| {
        let is_ours = event.is_ok_and(|event| {
            let named = event
                .paths
                .iter()
                .any(|changed| changed.file_name() == path.file_name());
            spool::is_change(&event) && (event.need_rescan() || named)
        });
        if is_ours {
            watched.reload();
        }
    };
    let mut watcher = notify::recommended_watcher(reload).ok()?;
    private_folder_if_missing(&folder).ok()?;
    watcher.watch(&folder, RecursiveMode::NonRecursive).ok()?;
    // What was changed between the first reading and now was seen by nobody.
    api.reload();
    Some(watcher)
}

/// Starts the daemon in the background, and says so once it takes hooks.
///
/// # Errors
///
/// As [`start_in_background`].
pub(crate) fn detach(home: &Home) -> Result<()> {
    let health = start_in_background(home)?;
    println!(
        "checkpointd {} runs (pid {})",
        env!("CARGO_PKG_VERSION"),
        health["pid"]
    );
    Ok(())
}

/// Starts the daemon in the background and waits until it takes hooks. Returns how it is.
///
/// # Errors
///
/// When it does not come up; the message names its log.
pub(crate) fn start_in_background(home: &Home) -> Result<serde_json::Value> {
    if let Some(health) = source::health(home) {
        let pid = health["pid"].as_u64().unwrap_or_default();
        return Err(
            Failure::failed(format!("a daemon is running already (pid {pid})")).hint(
                "`checkpointd daemon status` asks it how it is, `checkpointd daemon stop` stops it",
            ),
        );
    }
    private_folder(&home.logs)?;
    let (path, log) = (log_file::path(&home.logs), log_file::open(&home.logs)?);
    let mut child = Command::new(std::env::current_exe()?)
        .args(["daemon", "--background"])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()?;
    let began = Instant::now();
    while began.elapsed() < DETACH_WAIT {
        if let Some(health) = source::health(home) {
            return Ok(health);
        }
        if let Some(status) = child.try_wait()? {
            return Err(
                Failure::unreachable(format!("the daemon did not come up ({status})"))
                    .hint(format!("its log is {}", path.display())),
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(Failure::unreachable(format!(
        "the daemon does not answer after {} s",
        DETACH_WAIT.as_secs()
    ))
    .hint(format!("its log is {}", path.display())))
}

/// Leaves the terminal's session, so that closing the terminal does not end the daemon.
pub(crate) fn leave_terminal() {
    // Fails only for a process that leads its group already, and that one is on its own anyway.
    let _ = rustix::process::setsid();
}

/// Stops the daemon and says so.
///
/// # Errors
///
/// As [`end`].
pub(crate) fn stop(home: &Home) -> Result<()> {
    end(home)?;
    println!("stopped");
    Ok(())
}

/// Stops the daemon and waits until it is gone.
///
/// # Errors
///
/// When none runs, or it does not stop.
pub(crate) fn end(home: &Home) -> Result<()> {
    if source::health(home).is_none() {
        return Err(Failure::unreachable("no daemon is running"));
    }
    source::post(home, "/v1/shutdown", b"")?;
    let began = Instant::now();
    while began.elapsed() < DETACH_WAIT {
        let free = File::open(home.run.join("pid")).is_ok_and(|file| file.try_lock().is_ok());
        if free {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(Failure::failed("the daemon does not stop")
        .hint("`kill` its pid; nothing that was acknowledged is lost"))
}
