//! The hook client: passes one hook call to the daemon and prints the reply (spec JRNL-13,
//! JRNL-14).
//!
//! It must never harm the agent that runs it: for a hook call it always exits with 0, prints nothing or exactly one
//! JSON object, limits every wait, and reads no configuration. A call that cannot be delivered goes
//! to the spool, where the daemon finds it. `checkpointd-hook` and `checkpointd hook` both use this
//! module.

mod autostart;
mod debug;
mod ending;
mod exchange;
mod input;
mod person;
mod spool;
mod status_line;

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use journal::home::Home;
use journal::named_file;
use journal::request::Head;

use autostart::Start;
use debug::debug;
use exchange::Answer;
use input::{Awaits, Call};
use status_line::Request;

/// The longest wait for a reply that the agent ignores, unless the environment sets another.
const PLAIN_WAIT: Duration = Duration::from_millis(250);
/// The longest wait for the context at the start of a session.
const GREETING_WAIT: Duration = Duration::from_secs(1);
/// The longest wait for a stop's reply, unless the daemon has set another.
const STOP_WAIT: Duration = Duration::from_secs(5);
/// The upper limit of configured waits.
const STOP_WAIT_MAX: Duration = Duration::from_secs(60);
/// Pause between two attempts to reach a daemon that is starting.
const RETRY_PAUSE: Duration = Duration::from_millis(15);
/// How much longer to wait after our daemon failed to start: another may be starting.
const FAILED_START_GRACE: Duration = Duration::from_millis(500);
/// The longest wait for the host to read a piece of the reply.
const PRINT_WAIT: Duration = Duration::from_secs(1);
/// A pipe that poll reports as writable accepts this many bytes.
const PIPE_BYTES: usize = 4096;

const HELP: &str = "\
Usage: checkpointd-hook AGENT [EVENT]      the agent's payload on standard input
       checkpointd-hook AGENT --as=VARIABLE:OTHER  the same, for another agent if the variable is set
       checkpointd-hook codex [notify] JSON
       checkpointd-hook run -- COMMAND       runs a command, as `checkpointd run` does
       checkpointd-hook statusline [--json]  the line of a status bar, as `checkpointd statusline` prints it

Passes one hook call of a coding agent on to checkpointd and prints its reply, if any.
Always exits 0, but for `run`. CHECKPOINTD_DEBUG=1 says on standard error what happened.
";

/// Returns whether arguments are a person's own run: `run [--] COMMAND ..`.
pub(crate) fn is_run(arguments: &[OsString]) -> bool {
    match arguments {
        [run, dashes, _, ..] if run == "run" && dashes == "--" => true,
        [run, program, ..] => run == "run" && !program.as_encoded_bytes().starts_with(b"-"),
        _ => false,
    }
}

/// Passes one hook call, given by the arguments after the program's name, to the daemon.
///
/// The exit code is always 0: agents give every other code a meaning of their own. A person's own run has that of its
/// command.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    if is_run(&arguments) {
        let from = if arguments[1] == "--" { 2 } else { 1 };
        let id = new_id(SystemTime::now());
        return ExitCode::from(person::run(&arguments[from..], &id, deliver));
    }
    ending::watch();
    panic::set_hook(Box::new(|panic| debug(&panic)));
    let _ = panic::catch_unwind(AssertUnwindSafe(|| match arguments.as_slice() {
        [only] if only == "--help" || only == "-h" => print(HELP.as_bytes()),
        [only] if only == "--version" || only == "-V" => {
            print(concat!("checkpointd-hook ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
        }
        [first, rest @ ..] if first == "statusline" => {
            status_line(rest);
        }
        _ => {
            if let Some(call) = Call::read(arguments) {
                deliver(&call);
            }
        }
    }));
    ExitCode::SUCCESS
}

/// Prints the line of a status bar. Returns whether the arguments are known.
pub(crate) fn status_line(arguments: &[OsString]) -> bool {
    let Some(wanted) = Request::read(arguments) else {
        return false;
    };
    let wait = millis(std::env::var("CHECKPOINTD_PLAIN_WAIT_MS").ok());
    let wait = wait.map_or(status_line::WAIT, |wait| {
        wait.clamp(status_line::WAIT, STOP_WAIT_MAX)
    });
    if let Some(line) = wanted.line(wait) {
        print(&line);
    }
    true
}

/// Sends the call, prints the reply, or spools the call.
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
        Awaits::Call => exchange::send(&home.socket, &request, Instant::now() + call_wait(&home)),
        Awaits::Nothing => exchange::send(&home.socket, &request, Instant::now() + plain_wait()),
    };
    match answer {
        Answer::Taken(body) if call.is_reply_read => print(&body),
        Answer::Taken(_) => {}
        Answer::Refused => debug(&"the daemon refused the payload"),
        Answer::NoDaemon | Answer::Broken | Answer::Useless(_) => {
            debug(&format_args!("not delivered: {answer:?}"));
            if let Err(error) = spool::keep(&home, &id, call.at, &request) {
                debug(&format_args!("not spooled: {error}"));
            }
            // The start comes last, so that the daemon finds the spooled call. A call that waits
            // for its reply has tried it before.
            let starts = matches!(awaits, Awaits::Nothing | Awaits::Call);
            if starts && matches!(answer, Answer::NoDaemon) {
                let _ = autostart::start(&home);
            }
        }
    }
}

/// Returns a new uuid of version 7.
///
/// The random bits come from the standard library, which asks the kernel; the uuid crate opens two
/// devices for them in a static program.
fn new_id(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let random = RandomState::new();
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&random.hash_one(0).to_le_bytes());
    bytes[8..].copy_from_slice(&random.hash_one(1).to_le_bytes()[..2]);
    let id = uuid::Builder::from_unix_timestamp_millis(since.as_millis() as u64, &bytes);
    id.into_uuid().hyphenated().to_string()
}

/// Sends a call whose reply matters until the deadline, and starts the daemon if none runs.
///
/// Sending the same bytes again is safe: the daemon deduplicates calls by id.
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
                    let ended = child.try_wait().ok().flatten();
                    if ended.is_some_and(|status| !status.success()) {
                        deadline = deadline.min(Instant::now() + FAILED_START_GRACE);
                        start = Some(Start::Underway);
                    }
                }
            },
            Answer::Broken => {}
            Answer::Taken(_) | Answer::Refused | Answer::Useless(_) => return answer,
        }
        if Instant::now() + RETRY_PAUSE >= deadline || ending::pause(RETRY_PAUSE) {
            return answer;
        }
    }
}

/// Returns the longest wait for a reply that the agent ignores. A disk with slow syncs may need
/// more.
fn plain_wait() -> Duration {
    let set = millis(std::env::var("CHECKPOINTD_PLAIN_WAIT_MS").ok());
    set.map_or(PLAIN_WAIT, |wait| wait.clamp(PLAIN_WAIT, STOP_WAIT_MAX))
}

/// Returns the longest wait before a tool runs: longer only while the daemon may hold one.
fn call_wait(home: &Home) -> Duration {
    match home.exits_file().symlink_metadata() {
        Ok(_) => stop_wait(home),
        Err(_) => plain_wait(),
    }
}

/// Returns the longest wait for a reply that the agent acts on.
fn stop_wait(home: &Home) -> Duration {
    let said = std::env::var("CHECKPOINTD_STOP_WAIT_MS").ok();
    let said = said.or_else(|| named_file::own_text(&home.stop_wait_file()).ok());
    millis(said).map_or(STOP_WAIT, |wait| wait.clamp(PLAIN_WAIT, STOP_WAIT_MAX))
}

fn millis(text: Option<String>) -> Option<Duration> {
    text?.trim().parse().ok().map(Duration::from_millis)
}

/// Writes to standard output, with a limit for a host that does not read.
fn print(bytes: &[u8]) {
    let stdout = rustix::stdio::stdout();
    let mut rest = bytes;
    while !rest.is_empty() {
        let until = Instant::now() + PRINT_WAIT;
        if !exchange::is_ready(stdout, rustix::event::PollFlags::OUT, until) {
            return debug(&"the host does not read the reply");
        }
        match rustix::io::write(stdout, &rest[..rest.len().min(PIPE_BYTES)]) {
            Ok(written) => rest = &rest[written..],
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return debug(&error),
        }
    }
}
