//! The hooks for each agent: events, command lines and time limits.

use std::path::Path;

use journal::Agent;

use super::version::Version;

/// The hook client's file name. A command in our form that contains it is an entry of ours.
pub(crate) const CLIENT: &str = "checkpointd-hook";

/// How much longer than the daemon the host waits: the client must start, connect and print.
const MARGIN_S: u64 = 2;
/// The host's limit for calls whose reply is ignored; the client ends within 250 ms.
const PLAIN_S: u64 = 2;
/// The host's limit at a session's end. Claude Code cuts off all its hooks after 1.5 s, Codex after
/// 1 s.
const END_S: u64 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookEntry {
    pub(crate) event: &'static str,
    /// The condition, if the entry is not for all calls.
    pub(crate) matcher: Option<&'static str>,
    /// The command, quoted for the host's shell.
    pub(crate) command: String,
    /// The time limit in the host's unit.
    pub(crate) timeout: u64,
}

/// The time limit of a hook.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// For a hook whose reply matters.
    Reply,
    /// The agent ignores the reply.
    Plain,
    /// For the end of a session.
    End,
}

impl Limit {
    /// Returns the host's limit in seconds. `stop_wait_ms` is the daemon's longest wait for a
    /// reply.
    pub(super) const fn seconds(self, stop_wait_ms: u64) -> u64 {
        match self {
            Self::Reply => stop_wait_ms.div_ceil(1000) + MARGIN_S,
            Self::Plain => PLAIN_S,
            Self::End => END_S,
        }
    }
}

/// An event, its limit, and the first version that knows it.
pub(crate) type Row = (&'static str, Limit, Version);

pub(super) const ANY: Version = Version(0, 0, 0);

/// Rows of events: `EVENT: LIMIT since VERSION`, where the limit is `Plain` and the version any one if nothing is said.
macro_rules! rows {
    (@limit) => { $crate::install::hooks::Limit::Plain };
    (@limit $limit:ident) => { $crate::install::hooks::Limit::$limit };
    (@since) => { $crate::install::hooks::ANY };
    (@since $major:literal $minor:literal $patch:literal) => {
        $crate::install::version::Version($major, $minor, $patch)
    };
    ($($event:ident $(: $limit:ident)? $(since $major:literal $minor:literal $patch:literal)?),*) => {
        &[$((
            stringify!($event),
            $crate::install::hooks::rows!(@limit $($limit)?),
            $crate::install::hooks::rows!(@since $($major $minor $patch)?),
        )),*]
    };
}

pub(super) use rows;

/// Returns the command line: short, because Claude Code shows it to its model, and silent if the
/// client is missing. Gemini CLI takes a shell's error about a missing program for a prompt, and
/// loops.
pub(super) fn command(client: &Path, arguments: &str) -> String {
    let client = client.to_string_lossy();
    let client = shlex::try_quote(&client).expect("a path has no NUL");
    format!("[ -x {client} ] && exec {client} {arguments}; exit 0")
}

/// Returns the client's path in one of our commands: as [`command`] writes it, or without quotes as
/// a person may write it. Other commands that name the client are the user's own.
pub(crate) fn client_of(command: &str) -> Option<String> {
    let words = shlex::split(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let client = match words.as_slice() {
        ["[", "-x", guard, "]", "&&", "exec", client, .., "exit", "0"]
        | ["[", "-x", guard, "]", "&&", client, .., "exit", "0"]
            if guard == client =>
        {
            *client
        }
        [client, agent] | [client, agent, _] if Agent::host(agent).is_some() => *client,
        _ => return None,
    };
    let name = Path::new(client).file_name()?;
    (name == CLIENT).then(|| client.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::agents::installer;
    use super::*;

    fn stop(agent: Agent, client: &str, stop_wait_ms: u64) -> HookEntry {
        let all = installer(agent).wanted(None, Path::new(client), stop_wait_ms);
        all.into_iter()
            .find(|entry| entry.event == installer(agent).stop_event)
            .expect("there is one")
    }

    #[test]
    fn the_host_waits_a_little_longer_than_the_daemon_may_take_in_its_own_unit() {
        let limits = [Agent::Claude, Agent::Gemini, Agent::Codex]
            .map(|agent| stop(agent, "/x/checkpointd-hook", 5_001));
        assert_eq!(limits.map(|entry| entry.timeout), [8, 8_000, 8]);
    }

    #[test]
    fn commands_are_quoted_for_the_shell_and_known_again() {
        for path in [
            "/a/checkpointd-hook",
            "/my bin/checkpointd-hook",
            "/o'neil/$x `y` \"z\"/checkpointd-hook",
        ] {
            for agent in [Agent::Claude, Agent::Gemini, Agent::Codex] {
                assert_eq!(
                    client_of(&stop(agent, path, 5_000).command).as_deref(),
                    Some(path)
                );
            }
        }
        insta::assert_snapshot!(
            stop(Agent::Gemini, "/my bin/checkpointd-hook", 5_000).command,
            @"[ -x '/my bin/checkpointd-hook' ] && exec '/my bin/checkpointd-hook' gemini AfterAgent; exit 0"
        );
    }

    #[test]
    fn other_commands_are_not_ours_even_where_they_name_the_client() {
        assert_eq!(
            client_of("/x/checkpointd-hook claude").as_deref(),
            Some("/x/checkpointd-hook")
        );
        for other in [
            "log checkpointd-hook claude",
            "/x/checkpointd-hook --version",
            "/x/my-checkpointd-hook claude",
            "'",
        ] {
            assert_eq!(client_of(other), None, "{other}");
        }
    }

    #[test]
    fn an_old_claude_code_gets_no_event_that_it_does_not_know() {
        let old = installer(Agent::Claude).wanted(
            Some(Version(2, 0, 14)),
            Path::new("/x/checkpointd-hook"),
            5_000,
        );
        let names: Vec<_> = old.iter().map(|entry| entry.event).collect();
        assert!(
            names.contains(&"SubagentStop") && !names.contains(&"StopFailure"),
            "{names:?}"
        );
    }
}
