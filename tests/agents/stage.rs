//! One run's world: a home of its own for the agent, a project under git, a daemon, and the scripted model.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use checkpoint::terminal::Composer;
use serde_json::Value;
use tempfile::TempDir;

use crate::agent::{self, Agent};
use crate::model::{Answer, Model};
use crate::programs;
use crate::terminal::Terminal;

/// After this long an agent hangs. Far above what a run takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(180);
/// Begins every checkpoint.
pub(crate) const PREFIX: &str = "[checkpointd]";
/// Begins what a session is told of an earlier one's work.
const OFFER: &str = "Work of an earlier session can be resumed here.";

/// What happened in runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// How often an agent was started.
    pub(crate) runs: usize,
    /// Hook calls in the journal.
    pub(crate) hooks: usize,
    /// Decisions.
    pub(crate) decisions: usize,
    /// Checkpoints that the agent was seen to take.
    pub(crate) delivered: usize,
}

impl Counts {
    /// Adds what happened in other runs.
    pub(crate) fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.hooks += other.hooks;
        self.decisions += other.decisions;
        self.delivered += other.delivered;
    }
}

/// The world of a scenario. Removed at the end, or kept and named where the scenario fails.
pub(crate) struct Stage {
    pub(crate) agent: Agent,
    pub(crate) model: Model,
    folder: Option<TempDir>,
    runs: usize,
    in_terminal: bool,
    /// In its terminal the agent asks before it runs a command.
    is_careful: bool,
    /// The agent's settings before hooks were installed.
    pub(crate) settings_before: String,
}

/// A machine that builds meanwhile answers late; what is tried is what is decided, not when.
const UNHURRIED: &str = "evidence_limits: {git_timeout: 20s, transcript_timeout: 5s}\n";

impl Stage {
    /// Sets a stage with hooks installed and the daemon running under this configuration.
    pub(crate) fn new(agent: Agent, config: &str) -> Self {
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")), agent, config)
    }

    /// Sets it below this folder.
    pub(crate) fn below(parent: &Path, agent: Agent, config: &str) -> Self {
        let folder = TempDir::with_prefix_in("a", parent).expect("a folder");
        let path = folder.path();
        for name in ["home", "project", "data", "tmp", "bin"] {
            fs::create_dir(path.join(name)).expect("a folder");
        }
        fs::write(path.join("data/config.yml"), format!("{config}{UNHURRIED}")).expect("writes");
        let model = Model::start(agent, &path.join("project"), path);
        let mut stage = Self {
            agent,
            model,
            folder: Some(folder),
            runs: 0,
            in_terminal: false,
            is_careful: false,
            settings_before: String::new(),
        };
        agent.settle(
            &stage.path("home"),
            &stage.path("project"),
            stage.model.port,
        );
        stage.commit();
        stage.link_programs();
        stage.settings_before = stage.settings();
        stage.checkpointd(&["init", "--agent", agent.name()]);
        stage.checkpointd(&["daemon", "--detach"]);
        stage
    }

    /// Returns the path of something on the stage.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder
            .as_ref()
            .expect("it is there until the end")
            .path()
            .join(name)
    }

    /// Returns the agent's settings as they are now.
    pub(crate) fn settings(&self) -> String {
        fs::read_to_string(self.agent.settings(&self.path("home"))).unwrap_or_default()
    }

    /// Gives the project a first commit, so that git can say what has changed since.
    fn commit(&self) {
        fs::write(
            self.path("project/pyproject.toml"),
            "[project]\nname = \"small\"\n",
        )
        .expect("writes");
        let git = |arguments: &[&str]| {
            let mut command = self.command("git");
            command
                .args(["-c", "user.name=A", "-c", "user.email=a@localhost"])
                .args(arguments);
            self.finish_command(&mut command, "git");
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message=Begin"]);
    }

    /// Puts the programs beside each other as an installation does. The client's name is a script that counts calls and
    /// then becomes the client, so that no call can go missing unnoticed.
    fn link_programs(&self) {
        let daemon = programs::installed("checkpointd", env!("CARGO_BIN_EXE_checkpointd"));
        // A link or a copy, as the installer looks beside the file that it runs from.
        let path = self.path("bin/checkpointd");
        fs::hard_link(&daemon, &path)
            .or_else(|_| fs::copy(&daemon, &path).map(drop))
            .expect("a program");
        let script =
            programs::counting_client(self.agent, &self.path("fired"), &self.path("ended"));
        let path = self.path("bin/checkpointd-hook");
        fs::write(&path, script).expect("writes");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("may run");
    }

    /// Returns a command that lives on this stage.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        self.place(&mut command);
        command
    }

    fn place(&self, command: &mut Command) {
        command
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        command
            .env("HOME", self.path("home"))
            // As Python's package of the harness has to be told.
            .env("DSH_HOME", self.path("home/.dsh"))
            .env("TMPDIR", self.path("tmp"))
            // OpenHands runs commands in a tmux of its own, which outlives it.
            .env("TMUX_TMPDIR", self.path("tmp"));
        command.env("CHECKPOINTD_HOME", self.path("data"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let first = [self.path("bin"), agent::programs()].into_iter();
        let path = std::env::join_paths(first.chain(std::env::split_paths(&path)));
        command.env("PATH", path.expect("no folder has a colon in its name"));
    }

    /// Has the agent work on a task, with these answers of its model, until it ends.
    pub(crate) fn run(&mut self, task: &str, answers: impl IntoIterator<Item = Answer>) {
        if self.agent.needs_terminal() {
            let words = self.agent.asks(task);
            return self.see_through(task, &words, None, answers);
        }
        self.run_headless(task, answers);
    }

    /// Has the agent work on a task without a terminal.
    pub(crate) fn run_headless(&mut self, task: &str, answers: impl IntoIterator<Item = Answer>) {
        self.model.expect(task, answers);
        let command = self.agent.headless(task, false, self.model.port);
        self.finish_run(command);
    }

    /// Has the agent work in a terminal until all answers are given and it is at rest, and quits it. Without a prompt in
    /// its words it is typed.
    fn see_through(
        &mut self,
        task: &str,
        words: &[&str],
        prompt: Option<&str>,
        answers: impl IntoIterator<Item = Answer>,
    ) {
        let before = self.decisions().len();
        let client = self.path("bin/checkpointd-hook");
        let is_hooked = !self.settings().is_empty() && client.exists();
        let command = self.interactive(task, words, answers);
        let terminal = Terminal::open(self.path("tmux"), &command);
        if let Some(prompt) = prompt {
            terminal.wait_until("it is up", || terminal.screen().contains("ctrl+p"));
            terminal.say(prompt);
        }
        terminal.wait_until("it is at rest", || {
            let decisions = self.decisions();
            let has_passed = || decisions.last().is_some_and(|last| last.ends_with(" none"));
            let is_decided = || !is_hooked || (decisions.len() > before && has_passed());
            self.model.is_over(task) && is_decided()
        });
        terminal.quit();
    }

    /// Gives the session that began with a task another prompt.
    pub(crate) fn run_again(
        &mut self,
        task: &str,
        prompt: &str,
        answers: impl IntoIterator<Item = Answer>,
    ) {
        if self.agent.needs_terminal() {
            return self.see_through(task, &["--continue"], Some(prompt), answers);
        }
        self.model.expect(task, answers);
        let command = self.agent.headless(prompt, true, self.model.port);
        self.finish_run(command);
    }

    /// Has the agent ask before it runs a command in a terminal.
    pub(crate) fn be_careful(&mut self) {
        self.is_careful = true;
        self.agent.ask_before_commands(&self.path("home"));
    }

    /// Has the agent work on a task in a terminal.
    pub(crate) fn open(
        &mut self,
        task: &str,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Terminal {
        let command = self.interactive(task, &self.agent.asks(task), answers);
        let terminal = Terminal::open(self.path("tmux"), &command);
        self.give(task, &terminal);
        terminal
    }

    /// Has the agent work on a task in a terminal, started from a shell there.
    pub(crate) fn open_from_shell(
        &mut self,
        task: &str,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Terminal {
        let command = self.interactive(task, &self.agent.asks(task), answers);
        let terminal = Terminal::open_shell(self.path("tmux"), &command);
        self.give(task, &terminal);
        terminal
    }

    /// Types the task if the agent's command cannot hold it.
    fn give(&self, task: &str, terminal: &Terminal) {
        if let Some(question) = self.agent.asks_at_start() {
            terminal.wait_until("it asks", || terminal.screen().contains(question));
            terminal.press(&["Enter"]);
        }
        if !self.agent.asks(task).contains(&task) {
            terminal.wait_until("its composer is empty", || {
                terminal.composer(self.agent) == Composer::Empty
            });
            terminal.say(task);
        }
    }

    fn interactive(
        &mut self,
        task: &str,
        words: &[&str],
        answers: impl IntoIterator<Item = Answer>,
    ) -> Command {
        self.model.expect(task, answers);
        let mut command = self.agent.command(self.model.port);
        self.place(&mut command);
        command.args(words);
        if !self.is_careful {
            command.args(self.agent.allows());
        }
        self.runs += 1;
        self.in_terminal = true;
        command
    }

    /// Has Codex call its notify program, too. `init` uses it for versions without hooks only.
    pub(crate) fn notify(&self) {
        let file = self.agent.settings(&self.path("home"));
        let settings = fs::read_to_string(&file).expect("settings");
        let client = self.path("bin/checkpointd-hook");
        fs::write(
            file,
            format!("notify = [{:?}, \"codex\"]\n{settings}", client),
        )
        .expect("writes");
    }

    fn finish_run(&mut self, mut command: Command) {
        self.place(&mut command);
        self.runs += 1;
        self.finish_command(&mut command, &format!("run-{}", self.runs));
    }

    /// Runs a command to its end and returns what it printed, which is also kept in a file of this name.
    fn finish_command(&self, command: &mut Command, name: &str) -> String {
        let log = self.path(&format!("{name}.log"));
        drop(fs::remove_file(&log));
        let open = || {
            File::options()
                .append(true)
                .create(true)
                .open(&log)
                .expect("a log")
        };
        let (out, err) = (open(), open());
        let mut child = command
            .stdout(out)
            .stderr(err)
            .spawn()
            .expect("it is installed");
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if began.elapsed() > LIMIT {
                child.kill().expect("kills");
                child.wait().expect("is gone");
                panic!("it hangs: {command:?}");
            }
            thread::sleep(Duration::from_millis(20));
        };
        let printed = fs::read_to_string(&log).unwrap_or_default();
        assert!(status.success(), "{status}: {command:?}\n{printed}");
        printed
    }

    /// Runs a script in the project, and returns what it printed.
    pub(crate) fn sh(&self, script: &str) -> String {
        let mut command = self.command("sh");
        self.finish_command(command.args(["-ec", script]), "script")
    }

    /// Runs the installed program, and returns what it printed.
    pub(crate) fn checkpointd(&self, arguments: &[&str]) -> String {
        let mut command = self.command(self.path("bin/checkpointd"));
        self.finish_command(command.args(arguments), "checkpointd")
    }

    /// Asks the installed program, and returns the lines of its JSON answer.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Vec<Value> {
        self.checkpointd(arguments)
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }

    /// Returns reason and delivery of each decision, oldest first.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let word = |value: &Value| value.as_str().expect("a word").to_owned();
        let decision =
            |line: &Value| format!("{} {}", word(&line["reason"]), word(&line["delivery"]));
        self.ask(&["audit", "--json"])
            .iter()
            .map(decision)
            .collect()
    }

    /// Returns how many checkpoints each request of a conversation held.
    pub(crate) fn checkpoints(&self, task: &str) -> Vec<usize> {
        self.model
            .asked(task)
            .iter()
            .map(|holds| holds.matches(PREFIX).count())
            .collect()
    }

    /// Returns how often each request of a conversation held the text that a session is told which begins.
    pub(crate) fn offers(&self, task: &str) -> Vec<usize> {
        self.model
            .asked(task)
            .iter()
            .map(|holds| holds.matches(OFFER).count())
            .collect()
    }

    /// Returns the events of a kind.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        self.ask(&["journal", "tail", "-n", "1000", "--kind", kind, "--json"])
    }

    /// Returns the hook calls that the agent has made, once all of them have ended.
    pub(crate) fn fired(&self) -> usize {
        programs::settle(&self.path(""));
        fs::read_to_string(self.path("fired"))
            .unwrap_or_default()
            .lines()
            .count()
    }

    /// Returns how many of the calls had a first argument that begins so.
    pub(crate) fn fired_with(&self, beginning: &str) -> usize {
        let fired = fs::read_to_string(self.path("fired")).unwrap_or_default();
        fired
            .lines()
            .filter(|line| line.starts_with(beginning))
            .count()
    }

    /// Returns the hook calls in the journal.
    pub(crate) fn journaled(&self) -> Vec<Value> {
        let mut lines = self.ask(&["journal", "export"]);
        lines.retain(|line| line["host"].is_object());
        lines
    }

    /// Proves that the journal is whole, holds every call that the agent has made, and explains every decision; then
    /// counts.
    pub(crate) fn finish(mut self) -> Counts {
        programs::settle(&self.path(""));
        self.checkpointd(&["journal", "verify"]);
        self.checkpointd(&["replay", "--verify"]);
        let journaled = self.journaled();
        let mut expected = self.fired();
        let mut told = journaled.len();
        if self.agent == Agent::Gemini && self.in_terminal {
            // It says three times that it ends, and ends without waiting for the last one.
            expected -= self.fired_with("SessionEnd");
            told -= journaled
                .iter()
                .filter(|line| line["kind"] == "session_ended")
                .count();
        }
        if matches!(self.agent, Agent::Copilot | Agent::Grok) {
            // They also run what is there for Claude Code, and say the same then.
            expected -= self.fired_with("claude");
        }
        if self.agent == Agent::Codex {
            // It gives the call at its end one second and then kills it, which on a busy machine is too little.
            let ends = journaled
                .iter()
                .filter(|line| line["kind"] == "session_ended")
                .count();
            expected -= expected
                .saturating_sub(told)
                .min(self.runs.saturating_sub(ends));
        }
        // A client that has not begun when its host ends it knows of no call.
        expected -= programs::ended(&self.path("ended"));
        assert_eq!(told, expected, "calls in the journal against calls made");
        let decisions = self.decisions();
        let delivered = decisions
            .iter()
            .filter(|decision| decision.ends_with(" confirmed"))
            .count();
        let counts = Counts {
            runs: self.runs,
            hooks: journaled.len(),
            decisions: decisions.len(),
            delivered,
        };
        self.stop_daemon();
        drop(self.folder.take());
        counts
    }

    fn stop_daemon(&self) {
        let stop = |program: &Path, arguments: &[&str]| {
            let mut stop = self.command(program);
            let quiet = stop.stdout(Stdio::null()).stderr(Stdio::null());
            drop(quiet.args(arguments).status());
        };
        stop(&self.path("bin/checkpointd"), &["daemon", "stop"]);
        if self.agent == Agent::OpenHands {
            stop(Path::new("tmux"), &["-L", "openhands", "kill-server"]);
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Only a failed scenario still has its folder here.
        if self.folder.is_some() {
            self.stop_daemon();
        }
        if let Some(folder) = self.folder.take() {
            eprintln!("kept for a look: {}", folder.keep().display());
        }
    }
}
