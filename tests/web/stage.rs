//! A daemon with what there is to look at: recorded sessions, two weeks of history, and sessions that run.

use std::cell::{Cell, RefCell};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::daemon::Daemon;
use testkit::recordings::{self, Folders};
use testkit::{Home, http};

/// After this long something hangs.
const LIMIT: Duration = Duration::from_secs(120);
/// What is told of long ago takes its time to arrive. It changes no file, so it is judged by what it says; the recorded
/// sessions were judged as by default.
pub(crate) const CONFIG: &str = "min_turn: 30s\nheadless: always\nconfirm_timeout: 720h\njudgment: letter\nprefix: '[checkpointd] '\n";
/// Turns of this length end with a check that fails at first, if the agent does what it was asked for.
const FAILS_FIRST: u64 = 240;
/// Days of history.
const DAYS: u64 = 14;

/// The daemon and its folder; both go at the end.
pub(crate) struct Stage {
    /// With the projects in it.
    folder: TempDir,
    home: Home,
    daemon: RefCell<Child>,
    /// Checks that a checkpoint asked for and that failed first, counted as they are told.
    pub(crate) caught: Cell<u64>,
}

/// The agents whose recorded sessions are played.
const AGENTS: [&str; 3] = ["claude", "gemini", "codex"];

impl Stage {
    /// Plays the recordings, starts a daemon on what they left, and adds to it.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = recorded(folder.path());
        fs::write(home.path().join("config.yml"), CONFIG).expect("writes");
        testkit::git::git(
            &folder.path().join("webshop"),
            &[
                "remote",
                "add",
                "origin",
                "git@example.org:team/webshop.git",
            ],
        );
        let stage = Self {
            folder,
            daemon: RefCell::new(spawn(&home)),
            caught: Cell::new(0),
            home,
        };
        stage.comes_up();
        stage.past();
        stage.present();
        stage
    }

    fn comes_up(&self) {
        let began = Instant::now();
        while self
            .send("GET", "/healthz", &[], b"")
            .is_none_or(|(status, _)| status != 200)
        {
            assert!(began.elapsed() < LIMIT, "the daemon does not come up");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(&self) {
        let mut daemon = self.daemon.borrow_mut();
        daemon.kill().expect("kills");
        daemon.wait().expect("is gone");
    }

    /// Starts a daemon after [`Stage::kill`].
    pub(crate) fn start(&self) {
        *self.daemon.borrow_mut() = spawn(&self.home);
        self.comes_up();
    }

    /// Returns an address that opens the page once.
    pub(crate) fn url(&self) -> String {
        self.ask(&["web", "--json"])[0]["url"]
            .as_str()
            .expect("an address")
            .to_owned()
    }

    /// Asks the command line, and returns the lines of its answer.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Vec<Value> {
        let output = program_at(self.home.path(), arguments)
            .output()
            .expect("runs");
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }

    /// Asks the command line, and returns what it prints.
    pub(crate) fn print(&self, arguments: &[&str]) -> Vec<u8> {
        let output = program_at(self.home.path(), arguments)
            .output()
            .expect("runs");
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    /// Has the command line open the page in a browser, which is a program that notes what it is to open. Returns the
    /// command, which waits for the browser, and the file.
    pub(crate) fn open(&self) -> (Child, PathBuf) {
        let folder = self.folder.path().join("opener");
        fs::create_dir_all(&folder).expect("a folder");
        let called = folder.join("called");
        for name in ["open", "xdg-open"] {
            let text = format!(
                "#!/bin/sh\necho \"$1\" > '{0}.new' && mv '{0}.new' '{0}'\n",
                called.display()
            );
            fs::write(folder.join(name), text).expect("writes");
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o700))
                .expect("its owner's");
        }
        let path = format!(
            "{}:{}",
            folder.display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let mut command = program_at(self.home.path(), &["web", "--open"]);
        let child = command
            .env("PATH", path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let began = Instant::now();
        while !called.exists() {
            assert!(began.elapsed() < LIMIT, "nothing is opened");
            std::thread::sleep(Duration::from_millis(5));
        }
        let file = fs::read_to_string(&called).expect("readable");
        (child, PathBuf::from(file.trim()))
    }

    /// Writes a file beside the projects.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("writes");
        path
    }

    /// Returns a project's folder.
    pub(crate) fn project(&self, name: &str) -> String {
        let folder = self.folder.path().canonicalize().expect("a folder");
        folder.join(name).display().to_string()
    }

    /// Calls a hook of Claude Code, now or so long ago, and returns the answer.
    pub(crate) fn hook(&self, ago: Duration, payload: &Value) -> String {
        self.hook_in(&json!({}), ago, payload)
    }

    /// The same, from a terminal with these variables.
    pub(crate) fn hook_in(&self, variables: &Value, ago: Duration, payload: &Value) -> String {
        let at = jiff::Timestamp::now() - ago;
        let headers = [
            ("Checkpointd-At", at.to_string()),
            ("Checkpointd-Env", variables.to_string()),
        ];
        let (status, body) = self
            .send(
                "POST",
                "/v1/hooks/claude",
                &headers,
                payload.to_string().as_bytes(),
            )
            .expect("answers");
        assert_eq!(status, 200, "{body}");
        body
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> Option<(u16, String)> {
        let stream = UnixStream::connect(self.home.path().join("run/sock")).ok()?;
        let own = headers.iter().map(|(name, value)| (*name, &**value));
        let headers: Vec<_> = [("Host", "x")].into_iter().chain(own).collect();
        let answer = http::ask(stream, method, path, &headers, body)?;
        Some((answer.status, answer.body))
    }

    /// Two weeks in which agents worked in three projects, and did what they were asked for more often than not.
    fn past(&self) {
        for day in 2..DAYS {
            for (number, project) in ["inventory", "webshop", "parser"].iter().enumerate() {
                let turns = (day * 7 + number as u64 * 5) % 4;
                for turn in 0..turns {
                    let ago = Duration::from_secs(day * 86_400 - turn * 3_600);
                    let mut told =
                        Told::new(self, &format!("past {day} {project} {turn}"), project, ago);
                    let length = [12, 48, 95, 240, 410, 900]
                        [((day + turn * 2 + number as u64) % 6) as usize];
                    told.turn(length, (day + turn) % 3 != 0);
                    told.end();
                }
            }
        }
    }

    /// Sessions that run, ask and have finished.
    fn present(&self) {
        let mut runs = Told::new(self, "runs", "webshop", Duration::from_secs(250));
        runs.prompt("Add a discount code to the basket, with tests");
        runs.tool(
            "Read",
            &json!({ "file_path": "src/basket.js" }),
            &json!("export class Basket {}"),
            2,
            1,
        );
        runs.tool(
            "Edit",
            &json!({ "file_path": "src/basket.js", "old_string": "a", "new_string": "b" }),
            &json!("ok"),
            40,
            1,
        );
        runs.tool(
            "Bash",
            &json!({ "command": "npm test -- --watch=false" }),
            &bash("2 failed, 31 passed", "Error: Exit code 1"),
            60,
            18,
        );
        runs.tool(
            "Edit",
            &json!({ "file_path": "src/discount.js", "old_string": "a", "new_string": "b" }),
            &json!("ok"),
            35,
            1,
        );
        runs.tool(
            "Bash",
            &json!({ "command": "npm test -- --watch=false" }),
            &bash("33 passed", ""),
            30,
            21,
        );
        runs.begin("Bash", &json!({ "command": "npm run lint" }), 20);

        let mut asks = Told::new(self, "asks", "inventory", Duration::from_secs(96));
        asks.prompt("Clean up the build folder and release 2.1");
        asks.tool(
            "Bash",
            &json!({ "command": "git status --short" }),
            &bash("", ""),
            10,
            1,
        );
        asks.begin("Bash", &json!({ "command": "rm -rf build dist" }), 20);
        asks.ask("Bash", &json!({ "command": "rm -rf build dist" }), 0);

        let mut finished = Told::new(self, "finished", "parser", Duration::from_secs(400));
        finished.turn(95, true);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let daemon = self.daemon.get_mut();
        let _ = daemon.kill();
        let _ = daemon.wait();
    }
}

/// Plays recorded sessions in projects in this folder, and returns what they left in the journal.
fn recorded(folder: &Path) -> Home {
    let mut daemon = Daemon::prepared(recordings::CONFIG);
    let folders = Folders::new(folder, &AGENTS);
    folders.start(&mut daemon);
    let replies = folders.play(&daemon.home, &AGENTS);
    assert_eq!(replies.len(), AGENTS.len(), "a checkpoint for each");
    let is_pending = |row: &Value| row["delivery"] == "pending";
    testkit::wait_until(|| !daemon.ask(&["audit", "--json"]).iter().any(is_pending));
    let stop = &mut program_at(daemon.home.path(), &["daemon", "stop"]);
    assert!(stop.output().expect("runs").status.success());
    daemon.home.clone()
}

fn spawn(home: &Home) -> Child {
    program_at(home.path(), &["daemon"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Returns a command of the program with a home of its own.
pub(crate) fn program_at(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_checkpointd"));
    command
        .args(arguments)
        .env("CHECKPOINTD_HOME", home)
        .env("CHECKPOINTD_AUTOSTART", "0");
    command.env_remove("CHECKPOINTD_SOCKET").env("TZ", "UTC");
    command
}

/// The answer of a shell command.
pub(crate) fn bash(stdout: &str, stderr: &str) -> Value {
    json!({ "stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false })
}

/// What the hooks of one session tell, one after the other.
pub(crate) struct Told<'a> {
    stage: &'a Stage,
    session: uuid::Uuid,
    project: String,
    /// How long ago it is where the story stands.
    ago: Duration,
    calls: u32,
}

impl<'a> Told<'a> {
    /// Begins a session so long ago.
    pub(crate) fn new(stage: &'a Stage, name: &str, project: &str, ago: Duration) -> Self {
        let project = if project.starts_with('/') {
            project.to_owned()
        } else {
            stage.project(project)
        };
        let session = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, name.as_bytes());
        Self {
            stage,
            session,
            project,
            ago,
            calls: 0,
        }
    }

    /// Returns the session's id.
    pub(crate) fn session(&self) -> String {
        self.session.to_string()
    }

    fn tell(&self, mut payload: Value) -> String {
        payload["session_id"] = self.session.to_string().into();
        payload["cwd"] = self.project.as_str().into();
        payload["prompt_id"] = "turn".into();
        self.stage.hook(self.ago, &payload)
    }

    fn pass(&mut self, seconds: u64) {
        self.ago = self.ago.saturating_sub(Duration::from_secs(seconds));
    }

    /// A person writes.
    pub(crate) fn prompt(&mut self, text: &str) {
        self.tell(json!({ "hook_event_name": "UserPromptSubmit", "prompt": text }));
    }

    /// A tool is begun, so many seconds later.
    pub(crate) fn begin(&mut self, tool: &str, input: &Value, after: u64) {
        self.pass(after);
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        self.tell(
            json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": id }),
        );
    }

    /// A tool runs for so many seconds.
    pub(crate) fn tool(
        &mut self,
        tool: &str,
        input: &Value,
        output: &Value,
        after: u64,
        took: u64,
    ) {
        self.begin(tool, input, after);
        self.pass(took);
        let id = format!("toolu_{}", self.calls);
        // What says that a command failed is a hook of its own.
        let failed = output["stderr"]
            .as_str()
            .is_some_and(|stderr| !stderr.is_empty());
        let name = if failed {
            "PostToolUseFailure"
        } else {
            "PostToolUse"
        };
        let mut payload = json!({ "hook_event_name": name, "tool_name": tool, "tool_input": input, "tool_use_id": id });
        if failed {
            payload["error"] = output["stderr"].clone();
        } else {
            payload["tool_response"] = output.clone();
        }
        self.tell(payload);
    }

    /// A dialog asks whether a tool may run.
    pub(crate) fn ask(&mut self, tool: &str, input: &Value, after: u64) {
        self.pass(after);
        self.tell(json!({ "hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": input }));
    }

    /// The agent stops; returns what it is told then.
    pub(crate) fn stop(&mut self, after: u64, again: bool, last: &str) -> String {
        self.pass(after);
        self.tell(json!({ "hook_event_name": "Stop", "stop_hook_active": again, "last_assistant_message": last }))
    }

    /// A whole turn of about so many seconds: asked to, the agent runs the tests, or does not.
    pub(crate) fn turn(&mut self, seconds: u64, obeys: bool) {
        self.prompt("Please make the next case work, and keep the tests green");
        self.tool(
            "Read",
            &json!({ "file_path": "src/lib.rs" }),
            &json!("text"),
            seconds / 8,
            1,
        );
        self.tool(
            "Edit",
            &json!({ "file_path": "src/lib.rs", "old_string": "a", "new_string": "b" }),
            &json!("ok"),
            seconds / 4,
            1,
        );
        self.tool(
            "Bash",
            &json!({ "command": "git diff --stat" }),
            &bash("1 file changed", ""),
            seconds / 4,
            2,
        );
        let reply = self.stop(seconds / 3, false, "The next case works now.");
        if reply.is_empty() {
            return;
        }
        if obeys {
            // What was broken was not known before: of each kind of project the first run fails.
            if seconds == FAILS_FIRST {
                for command in ["npm test", "cargo test", "pytest"] {
                    let failed = bash("", "Error: Exit code 1\n1 failed, 2 passed");
                    self.tool("Bash", &json!({ "command": command }), &failed, 3, 4);
                }
                self.stage.caught.set(self.stage.caught.get() + 1);
            }
            for command in [
                "pip install -e .",
                "npm install",
                "npm test",
                "cargo test",
                "pytest",
            ] {
                self.tool(
                    "Bash",
                    &json!({ "command": command }),
                    &bash("all passed", ""),
                    3,
                    4,
                );
            }
        }
        self.stop(5, true, "Done: the tests pass.");
    }

    /// The session ends.
    pub(crate) fn end(&mut self) {
        self.pass(2);
        self.tell(json!({ "hook_event_name": "SessionEnd", "reason": "other" }));
    }
}
