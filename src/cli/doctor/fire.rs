//! Sends a test event through an installed hook, as the agent would, and looks for it in the
//! journal.

use std::process::Command;
use std::time::{Duration, Instant};

use journal::{Agent, Home};
use serde_json::json;

use crate::cli::connection;
use crate::cli::shared::with_input;
use crate::edit::files;
use crate::install::agents::{self, hooks_file, installer};
use crate::install::check::Check;
use crate::ops::query::{Events, FIRED_PREFIX, Query};
use crate::render;

/// An event that no agent has: it is journaled and has no effect.
const EVENT: &str = "CheckpointdDoctor";
/// The longest wait for the event in the journal, including a daemon's start.
const ARRIVAL_MAX: Duration = Duration::from_secs(15);

/// Fires one agent's hook.
pub(crate) fn fire(home: &Home, agent: Agent) -> Check {
    let name = format!("{agent}.fire");
    let command = match installed(agent) {
        Ok(Some(command)) => command,
        Ok(None) => {
            let fix = format!("`checkpointd init --agent {agent}` installs it");
            return Check::fail(
                name,
                format!("{} has no hook of checkpointd", agent.name()),
                fix,
            );
        }
        Err(error) => {
            return Check::fail(name, error, "fix the file, then run `checkpointd init`");
        }
    };
    let session = format!("{FIRED_PREFIX}{}", uuid::Uuid::now_v7());
    let began = Instant::now();
    if let Err(error) = run(agent, &command, &session) {
        return Check::fail(
            name,
            error,
            "`checkpointd doctor` says what is wrong with the hooks",
        );
    }
    let called =
        render::duration_ms(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
    while began.elapsed() < ARRIVAL_MAX {
        // Without a daemon the journal is not opened: one that is starting needs it.
        if connection::health(home).is_some() && has_arrived(home, &session) {
            return Check::pass(
                name,
                format!(
                    "the hook's command took {called}, and its event is in the journal; that {} calls it shows only its next session",
                    agent.name()
                ),
            );
        }
        let spooled = actors::spool::list(&home.spool).is_ok_and(|calls| !calls.is_empty());
        let stays_away =
            std::env::var_os("CHECKPOINTD_AUTOSTART").is_some_and(|value| value == "0");
        if spooled && stays_away && connection::health(home).is_none() {
            let detail =
                format!("the hook took {called}, and the event waits in the spool: no daemon runs");
            return Check::warn(name, detail, "`checkpointd daemon --detach` imports it");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let detail = format!("the hook took {called}, but its event did not arrive");
    Check::fail(
        name,
        detail,
        "`checkpointd doctor`; then `CHECKPOINTD_DEBUG=1` before the hook's command prints details",
    )
}

fn installed(agent: Agent) -> Result<Option<String>, String> {
    let path = hooks_file(agent, &agents::find(agent)?.folder);
    let text = files::text(files::read(&path)?.as_deref());
    installer(agent)
        .stop_command(&text)
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn run(agent: Agent, command: &str, session: &str) -> Result<(), String> {
    let shell = installer(agent).shell();
    let cwd = std::env::current_dir().unwrap_or_default();
    let payload = json!({ "session_id": session, "sessionId": session, "hook_event_name": EVENT, "cwd": cwd, "transcript_path": null });
    let failed = |error: std::io::Error| format!("the hook cannot be run: {error}");
    let mut hook = Command::new(shell);
    hook.args(["-c", command]);
    let output = with_input(hook, payload.to_string().as_bytes()).map_err(failed)?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // Antigravity's hooks say so that there is nothing to say.
    if !output.status.success() || !matches!(said.trim(), "" | "{}") {
        let said = render::printable(&render::cut(&said, 200));
        return Err(format!(
            "the hook ended with {} and printed: {said}",
            output.status
        ));
    }
    Ok(())
}

fn has_arrived(home: &Home, session: &str) -> bool {
    let query = Query::Events(Events {
        session: Some(session.to_owned()),
        ..Events::default()
    });
    let mut seen = false;
    connection::ask_json(home, &query, |_| seen = true).is_ok() && seen
}
