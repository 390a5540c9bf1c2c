//! The hook client: takes one hook call to the daemon and brings its answer back
//! (spec JRNL-13, JRNL-14).
//!
//! It must never hurt the agent that runs it: it always exits 0, prints nothing or exactly one JSON object, waits
//! for nothing without a bound, and reads no configuration. A call that cannot be delivered is kept in the spool,
//! where the daemon finds it. `checkpointd-hook` and `checkpointd hook` both include this module.

mod autostart;
mod debug;
mod exchange;
mod input;
mod spool;

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use journal::home::Home;
use journal::request::Head;

use autostart::Start;
use debug::debug;
use exchange::Answer;
use input::{Awaits, Call};

/// How long a call may take whose reply nobody acts upon, unless the environment says otherwise.
const PLAIN_WAIT: Duration = Duration::from_millis(250);
/// How long the start of a session may wait for what there is to go on with.
const GREETING_WAIT: Duration = Duration::from_secs(1);
/// How long a call may wait for its reply where the daemon has not said otherwise.
const STOP_WAIT: Duration = Duration::from_secs(5);
/// The longest wait that a setting can ask for.
const STOP_WAIT_MAX: Duration = Duration::from_secs(60);
/// Pause between two attempts to reach a daemon that is coming up.
const RETRY_PAUSE: Duration = Duration::from_millis(15);
/// How much longer to wait for a daemon after the one we started has failed: another may be coming up.
const FAILED_START_GRACE: Duration = Duration::from_millis(500);
/// How long the host may take to read a piece of the reply.
const PRINT_WAIT: Duration = Duration::from_secs(1);
/// What fits into a pipe that poll calls writable.
const PIPE_BYTES: usize = 4096;

const HELP: &str = "\
Usage: checkpointd-hook AGENT [EVENT]      the agent's payload on standard input
       checkpointd-hook codex [notify] JSON

Passes one hook call of a coding agent (claude, gemini, codex) on to checkpointd and prints its reply, if any.
Always exits 0. CHECKPOINTD_DEBUG=1 says on standard error what happened.
";

/// Takes one hook call, given by the arguments behind the program's name, to the daemon.
///
/// The code is always that of success: to an agent anything else means something, and never what is meant here.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    panic::set_hook(Box::new(|panic| debug(&panic)));
    let arguments: Vec<OsString> = arguments.collect();
    let _ = panic::catch_unwind(AssertUnwindSafe(|| match arguments.as_slice() {
        [only] if only == "--help" || only == "-h" => print(HELP.as_bytes()),
        [only] if only == "--version" || only == "-V" => {
            print(concat!("checkpointd-hook ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
        }
        _ => {
            if let Some(call) = Call::read(arguments) {
                deliver(&call);
            }
        }
    }));
    ExitCode::SUCCESS
}

/// Sends the call, prints the reply, or keeps the call for later.
fn deliver(call: &Call) {
    let Some(home) = Home::from_env() else {
        return debug(&"no home folder in the environment");
    };
    let id = new_id(call.at);
    let environment = input::environment(&call.agent);
    let head = Head {
        agent: &call.agent,
        event: call.event.as_deref(),
        id: &id,
        at: call.at,
        env: &environment,
        truncated: call.truncated,
    };
    let mut request = head.to_bytes(call.payload.len());
    request.extend_from_slice(&call.payload);

    let awaits = call.awaits();
    let answer = match awaits {
        Awaits::Decision => converse(&home, &request, Instant::now() + stop_wait(&home)),
        Awaits::Greeting => converse(
            &home,
            &request,
            Instant::now() + GREETING_WAIT.max(plain_wait()).min(stop_wait(&home)),
        ),
        Awaits::Nothing => exchange::send(&home.socket, &request, Instant::now() + plain_wait()),
    };
    match answer {
        Answer::Taken(body) if call.is_reply_read => print(&body),
        Answer::Taken(_) => {}
        Answer::Refused => debug(&"the daemon refused the payload"),
        Answer::NoDaemon | Answer::Broken | Answer::Useless(_) => {
            debug(&format_args!("not delivered: {answer:?}"));
            if let Err(error) = spool::keep(&home.spool, &id, call.at, &request) {
                debug(&format_args!("not spooled: {error}"));
            }
            // The start comes last, so that the daemon finds the call. A call that waits has tried it before.
            if awaits == Awaits::Nothing && matches!(answer, Answer::NoDaemon) {
                let _ = autostart::start(&home);
            }
        }
    }
}

/// Returns a new uuid of version 7.
///
/// Its randomness comes from the standard library, which asks the kernel; the usual crate opens two devices for it
/// in a static program.
fn new_id(at: SystemTime) -> String {
    let millis = at
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis() as u64;
    let random = RandomState::new();
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&random.hash_one(0).to_le_bytes());
    bytes[8..].copy_from_slice(&random.hash_one(1).to_le_bytes()[..2]);
    uuid::Builder::from_unix_timestamp_millis(millis, &bytes)
        .into_uuid()
        .hyphenated()
        .to_string()
}

/// Sends a call whose reply matters, starting the daemon where there is none, until the deadline.
///
/// Sending the same bytes again is safe: the daemon knows a call by its id.
fn converse(home: &Home, request: &[u8], deadline: Instant) -> Answer {
    let mut deadline = deadline;
    let mut start = None;
    loop {
        let answer = exchange::send(&home.socket, request, deadline);
        match answer {
            Answer::NoDaemon => match start.get_or_insert_with(|| autostart::start(home)) {
                Start::Impossible => return answer,
                Start::Underway => {}
                Start::Begun(child) => {
                    if child
                        .try_wait()
                        .is_ok_and(|status| status.is_some_and(|status| !status.success()))
                    {
                        deadline = deadline.min(Instant::now() + FAILED_START_GRACE);
                        start = Some(Start::Underway);
                    }
                }
            },
            Answer::Broken => {}
            Answer::Taken(_) | Answer::Refused | Answer::Useless(_) => return answer,
        }
        if Instant::now() + RETRY_PAUSE >= deadline {
            return answer;
        }
        std::thread::sleep(RETRY_PAUSE);
    }
}

/// Returns how long a call may take whose reply nobody acts upon. A disk that takes long to sync may need more.
fn plain_wait() -> Duration {
    millis(std::env::var("CHECKPOINTD_PLAIN_WAIT_MS").ok())
        .map_or(PLAIN_WAIT, |wait| wait.clamp(PLAIN_WAIT, STOP_WAIT_MAX))
}

/// Returns how long a call may wait for a reply that somebody acts upon.
fn stop_wait(home: &Home) -> Duration {
    let said = std::env::var("CHECKPOINTD_STOP_WAIT_MS").ok();
    let said = said.or_else(|| std::fs::read_to_string(home.stop_wait_file()).ok());
    millis(said).map_or(STOP_WAIT, |wait| wait.clamp(PLAIN_WAIT, STOP_WAIT_MAX))
}

fn millis(text: Option<String>) -> Option<Duration> {
    text?.trim().parse().ok().map(Duration::from_millis)
}

/// Writes to standard output without waiting for ever for a host that does not read.
fn print(bytes: &[u8]) {
    let stdout = rustix::stdio::stdout();
    let mut rest = bytes;
    while !rest.is_empty() {
        if !exchange::is_ready(
            stdout,
            rustix::event::PollFlags::OUT,
            Instant::now() + PRINT_WAIT,
        ) {
            return debug(&"nobody reads the reply");
        }
        match rustix::io::write(stdout, &rest[..rest.len().min(PIPE_BYTES)]) {
            Ok(written) => rest = &rest[written..],
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return debug(&error),
        }
    }
}
