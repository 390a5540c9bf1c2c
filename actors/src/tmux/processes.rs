//! The processes of a terminal: whether the agent is still in the foreground.

use std::path::Path;
use std::time::Duration;

use checkpoint::agents::program;
use journal::Agent;

use super::pane::{TmuxError, query};

/// Programs that run an agent's script, without a version.
const INTERPRETERS: [&str; 5] = ["node", "nodejs", "bun", "deno", "python"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Whether it is in the foreground: keys reach it, or its process group.
    pub(crate) in_front: bool,
    /// The command line, words separated by spaces.
    pub(crate) command: String,
}

pub(crate) fn processes(tty: &Path, within: Duration) -> Result<Vec<Process>, TmuxError> {
    let tty = tty.to_string_lossy();
    let arguments = ["-ww", "-o", "pid=,stat=,args=", "-t", &tty];
    let output = query("ps", &arguments, within)?;
    // ps fails and prints nothing if the terminal has no process.
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(process)
        .collect())
}

fn process(line: &str) -> Option<Process> {
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.trim_start().split_once(' ')?;
        rest = after;
        Some(word)
    };
    let pid = word()?.parse().ok()?;
    let state = word()?;
    // A stopped process (`T`) and a dead one (`Z`) read no keys.
    let in_front = state.contains('+') && !state.starts_with(['T', 'Z']);
    Some(Process {
        pid,
        in_front,
        command: rest.trim().to_owned(),
    })
}

/// Returns the agent's process, if it is in the foreground: the known process if the agent reported its id, otherwise a
/// process with the agent's name.
pub(crate) fn agent_among(processes: &[Process], agent: Agent, known: Option<u32>) -> Option<u32> {
    let mut in_front = processes.iter().filter(|process| process.in_front);
    match known {
        Some(pid) => in_front.find(|process| process.pid == pid),
        None => {
            let name = program(&agent)?;
            in_front.find(|process| is_called(&process.command, name))
        }
    }
    .map(|process| process.pid)
}

/// Returns whether a command line runs the program `name` or a script of that name.
fn is_called(command: &str, name: &str) -> bool {
    let base = |word: &str| {
        word.rsplit('/')
            .next()
            .unwrap_or_default()
            .trim_start_matches('-')
            .to_owned()
    };
    let mut words = command.split(' ').filter(|word| !word.is_empty());
    let program = base(words.next().unwrap_or_default());
    let has_name = |word: &str| {
        word.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    };
    has_name(&program)
        || INTERPRETERS
            .contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
            && words
                .find(|word| !word.starts_with('-'))
                .is_some_and(|script| has_name(&base(script)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_is_read() {
        let read = process("  4711 Sl+  node /usr/bin/gemini -m  x").expect("a process");
        let command = "node /usr/bin/gemini -m  x".to_owned();
        assert_eq!(
            read,
            Process {
                pid: 4711,
                in_front: true,
                command
            }
        );
        assert!(!process("1 Ss -bash").expect("a process").in_front);
        assert!(!process("1 T+ vim").expect("a process").in_front);
        assert_eq!(process("not a process"), None);
    }

    #[test]
    fn an_agent_is_known_by_its_id_or_by_its_name() {
        for (command, agent) in [
            ("claude --resume x", Some(Agent::Claude)),
            ("/home/u/.local/bin/claude", Some(Agent::Claude)),
            (
                "node --max-old-space-size=4096 /usr/bin/gemini",
                Some(Agent::Gemini),
            ),
            (
                "node /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js",
                Some(Agent::Gemini),
            ),
            (
                "/opt/codex-x86_64-unknown-linux-musl resume",
                Some(Agent::Codex),
            ),
            ("node /usr/bin/codex", Some(Agent::Codex)),
            (
                "/venv/bin/python3.12 /home/u/.local/bin/openhands -t x",
                Some(Agent::OpenHands),
            ),
            ("vim gemini.md", None),
            ("less codex", None),
            ("claudette", None),
            ("node server.js codex", None),
            ("-bash", None),
            ("", None),
        ] {
            let one = Process {
                pid: 7,
                in_front: true,
                command: command.to_owned(),
            };
            for host in Agent::HOSTS {
                let expected = (agent == Some(host)).then_some(7);
                assert_eq!(
                    agent_among(std::slice::from_ref(&one), host, None),
                    expected,
                    "{command} {host}"
                );
            }
            assert_eq!(
                agent_among(std::slice::from_ref(&one), Agent::Codex, Some(7)),
                Some(7)
            );
            assert_eq!(
                agent_among(std::slice::from_ref(&one), Agent::Codex, Some(8)),
                None
            );
            let behind = Process {
                in_front: false,
                ..one
            };
            assert_eq!(
                agent_among(std::slice::from_ref(&behind), Agent::Claude, None),
                None
            );
        }
    }
}
