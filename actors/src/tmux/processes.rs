//! Who runs in a terminal: whether the program in front of the person is still the agent.

use std::path::Path;
use std::time::Duration;

use checkpoint::agents::adapter;
use journal::Agent;

use super::pane::{TmuxError, tell};

/// Programs that run an agent's script.
const INTERPRETERS: [&str; 4] = ["node", "nodejs", "bun", "deno"];

/// A process of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// Keys that are pressed reach it, or its group.
    pub in_front: bool,
    /// Its command line, words separated by blanks.
    pub command: String,
}

/// Returns the processes of a terminal.
///
/// # Errors
///
/// As tmux's: [`TmuxError`].
pub fn processes(tty: &Path, within: Duration) -> Result<Vec<Process>, TmuxError> {
    let tty = tty.to_string_lossy();
    let output = tell(
        "ps",
        &["-ww", "-o", "pid=,ppid=,stat=,args=", "-t", &tty],
        within,
    )?;
    // Without any process on the terminal it ends with an error, and prints nothing.
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
    let (pid, parent, state) = (word()?.parse().ok()?, word()?.parse().ok()?, word()?);
    // A stopped process (`T`) takes no keys, and a dead one (`Z`) never again.
    let in_front = state.contains('+') && !state.starts_with(['T', 'Z']);
    Some(Process {
        pid,
        parent,
        in_front,
        command: rest.trim().to_owned(),
    })
}

/// Returns the process among them that is the agent and takes the keys: the one with the known id, otherwise one that
/// runs the agent's program.
pub fn agent_among(processes: &[Process], agent: Agent, known: Option<u32>) -> Option<u32> {
    let mut in_front = processes.iter().filter(|process| process.in_front);
    match known {
        Some(pid) => in_front.find(|process| process.pid == pid),
        None => {
            let name = adapter(agent)?.program();
            in_front.find(|process| is_called(&process.command, name))
        }
    }
    .map(|process| process.pid)
}

/// Returns whether a command line runs the program `name`, or a script of that name.
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
        || INTERPRETERS.contains(&program.as_str())
            && words
                .find(|word| !word.starts_with('-'))
                .is_some_and(|script| has_name(&base(script)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_is_read() {
        let read = process("  4711  4700 Sl+  node /usr/bin/gemini -m  x").expect("a process");
        let command = "node /usr/bin/gemini -m  x".to_owned();
        assert_eq!(
            read,
            Process {
                pid: 4711,
                parent: 4700,
                in_front: true,
                command
            }
        );
        assert!(!process("1 0 Ss -bash").expect("a process").in_front);
        assert!(!process("1 0 T+ vim").expect("a process").in_front);
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
            ("vim gemini.md", None),
            ("less codex", None),
            ("claudette", None),
            ("node server.js codex", None),
            ("-bash", None),
            ("", None),
        ] {
            let one = Process {
                pid: 7,
                parent: 1,
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
