//! A terminal that a person sits at: one pane of a tmux server that nobody else uses.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use checkpoint::terminal::{self, Composer, View};

use crate::agent::Agent;

/// After this long what is waited for will not come.
const LIMIT: Duration = Duration::from_secs(180);
/// After this long Enter is pressed once more.
const ENTER_AGAIN: Duration = Duration::from_secs(5);

/// The shell that agents are started from. Its prompt begins with its name.
const SHELL: &str = "bash";

/// The size of the screen, unless it is changed.
const COLUMNS: u16 = 120;
const ROWS: u16 = 50;

/// The terminal. Its programs end with it.
pub(crate) struct Terminal {
    socket: PathBuf,
    /// What quits the agent.
    quit: &'static str,
}

impl Terminal {
    /// Opens one that runs this command in the command's own folder and environment.
    pub(crate) fn open(socket: PathBuf, command: &Command) -> Self {
        let terminal = Self {
            socket,
            quit: quits(command),
        };
        let mut tmux = terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &COLUMNS.to_string(),
            "-y",
            &ROWS.to_string(),
        ]);
        // The server takes its environment from whoever starts it, and its panes from the server.
        tmux.env_clear().envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        tmux.env("TERM", "xterm-256color");
        if let Some(folder) = command.get_current_dir() {
            tmux.arg("-c").arg(folder);
        }
        tmux.arg("--")
            .arg(command.get_program())
            .args(command.get_args());
        let status = tmux.status().expect("tmux is installed");
        assert!(status.success(), "tmux: {status}");
        terminal
    }

    /// Opens one that runs a shell, in which this command is typed.
    pub(crate) fn open_shell(socket: PathBuf, command: &Command) -> Self {
        let mut shell = Command::new(SHELL);
        shell.args(["--norc", "--noprofile", "-i"]);
        shell.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        shell.current_dir(command.get_current_dir().expect("it has one"));
        let mut terminal = Self::open(socket, &shell);
        terminal.quit = quits(command);
        // The command's path begins with its folder.
        let program = Path::new(command.get_program()).file_name();
        let words = program.into_iter().chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_str().expect("text")).collect();
        terminal.wait_until("the shell is up", || terminal.screen().contains(SHELL));
        terminal.say(&shlex::try_join(words).expect("no NUL"));
        terminal
    }

    /// Returns what the screen shows.
    pub(crate) fn screen(&self) -> String {
        self.capture(&["capture-pane", "-p"])
    }

    /// Returns what it shows of the composer of the agent in it.
    pub(crate) fn composer(&self, agent: Agent) -> Composer {
        let cursor = self.capture(&["display-message", "-p", "#{cursor_x} #{cursor_y}"]);
        let mut cursor = cursor
            .split_whitespace()
            .filter_map(|word| word.parse().ok());
        let view = View {
            screen: self.colored_screen(),
            cursor: (
                cursor.next().unwrap_or_default(),
                cursor.next().unwrap_or_default(),
            ),
            cursor_shown: true,
        };
        let agent = journal::Agent::host(agent.name()).expect("it is known");
        terminal::read(agent, &view, "")
    }

    /// Returns the same with its colors.
    pub(crate) fn colored_screen(&self) -> String {
        self.capture(&["capture-pane", "-p", "-e"])
    }

    fn capture(&self, words: &[&str]) -> String {
        let output = self
            .tmux(words)
            .stdout(Stdio::piped())
            .output()
            .expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Presses keys, named as tmux names them.
    pub(crate) fn press(&self, keys: &[&str]) {
        assert!(
            self.tmux(&["send-keys"])
                .args(keys)
                .status()
                .expect("tmux is installed")
                .success()
        );
    }

    /// Waits until something holds.
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < LIMIT, "never: {what}\n{}", self.screen());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Types a line and sends it, as a person does.
    pub(crate) fn say(&self, line: &str) {
        self.press(&["-l", line]);
        // Fast typing is taken for a paste, in which Enter is a new line.
        thread::sleep(Duration::from_millis(500));
        self.press(&["Enter"]);
    }

    /// Tells the agent to quit, and waits until it has.
    pub(crate) fn quit(self) {
        let is_gone = || {
            !self
                .tmux(&["has-session"])
                .status()
                .expect("tmux is installed")
                .success()
        };
        self.say_quit("it quits", is_gone);
    }

    /// Tells the agent to quit, and waits until the shell that it was started from is back.
    pub(crate) fn leave(self) {
        self.say_quit("the shell is back", || self.program() == SHELL);
    }

    /// Says that the agent is to quit until it has. The menu of commands may take Enter to choose from it, and a person
    /// presses it once more then.
    fn say_quit(&self, what: &str, has_quit: impl Fn() -> bool) {
        self.say(self.quit);
        let pressed = Cell::new(Instant::now());
        self.wait_until(what, || {
            let is_over = has_quit();
            if !is_over && pressed.get().elapsed() > ENTER_AGAIN {
                pressed.set(Instant::now());
                // It may have quit in this moment.
                drop(self.tmux(&["send-keys", "Enter"]).status());
            }
            is_over
        });
    }

    /// Returns the program in front, as tmux names it.
    pub(crate) fn program(&self) -> String {
        let mut command = self.tmux(&["display-message", "-p", "#{pane_current_command}"]);
        let output = command
            .stdout(Stdio::piped())
            .output()
            .expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

/// Returns what quits a program.
fn quits(command: &Command) -> &'static str {
    let program = command.get_program().as_encoded_bytes();
    let has_exit = program.ends_with(b"/vibe") || program.ends_with(b"/openhands");
    if has_exit { "/exit" } else { "/quit" }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.tmux(&["kill-server"]).status());
    }
}
