//! A small terminal program with the composers of the three agents: what is pasted or typed stands in it until Enter
//! submits it, which is logged and told to the real hook client.
//!
//! It runs as a test of this binary that is started again, under the agent's name, with [`SETUP`] in its environment.
//! Files in its folder say how it behaves: `dialog` (a question is up, and Enter approves), `busy` (what is submitted
//! waits).

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The variable with the [`Setup`] as JSON.
pub(crate) const SETUP: &str = "CHECKPOINTD_TERMINAL_PROGRAM";
/// The test that becomes the program.
pub(crate) const TEST: &str =
    "support::terminal::program::a_composer_keeps_what_is_pasted_until_enter";
/// So soon after a paste an Enter is a line break, for Codex and Gemini.
const BURST: Duration = Duration::from_millis(60);
const TICK: Duration = Duration::from_millis(15);
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// How the program behaves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// `claude`, `gemini` or `codex`.
    pub(crate) agent: String,
    /// Where its log, its switches and its rollout are.
    pub(crate) folder: PathBuf,
    /// The hook client.
    pub(crate) hook: PathBuf,
    /// It understands bracketed paste.
    pub(crate) brackets: bool,
    /// It has no prompt hook: it writes a rollout, and `notify` tells of its stops.
    pub(crate) notify_only: bool,
    /// How long it takes to tell of a prompt, in milliseconds.
    pub(crate) tell_after_ms: u64,
}

/// What somebody types into, and what the screen shows of it.
struct Composer {
    agent: String,
    text: String,
    /// The lines of the last paste, where the composer shows only that there was one.
    folded: Option<String>,
    pasted_at: Option<Instant>,
    input: Vec<u8>,
}

/// What a key led to.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    Submitted(String),
    Approved,
}

impl Composer {
    fn new(agent: &str) -> Self {
        Self {
            agent: agent.into(),
            text: String::new(),
            folded: None,
            pasted_at: None,
            input: Vec::new(),
        }
    }

    /// Takes what came from the terminal. While a question is up, everything but Enter is swallowed.
    fn feed(&mut self, bytes: &[u8], asks: bool, now: Instant) -> Vec<Done> {
        self.input.extend_from_slice(bytes);
        let mut done = Vec::new();
        while !self.input.is_empty() {
            if self.input.starts_with(PASTE_BEGINS) {
                let Some(end) = self
                    .input
                    .windows(PASTE_ENDS.len())
                    .position(|bytes| bytes == PASTE_ENDS)
                else {
                    break;
                };
                let text = String::from_utf8(self.input[PASTE_BEGINS.len()..end].to_vec())
                    .expect("text is pasted");
                self.input.drain(..end + PASTE_ENDS.len());
                if !asks {
                    self.paste(&text, now);
                }
                continue;
            }
            if self.input[0] == 0x1b && PASTE_BEGINS.starts_with(&self.input) {
                break;
            }
            let byte = self.input[0];
            let whole = match byte {
                0xc0..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0.. => 4,
                _ => 1,
            };
            if self.input.len() < whole {
                break;
            }
            let char: Vec<u8> = self.input.drain(..whole).collect();
            match byte {
                b'\r' if asks => done.push(Done::Approved),
                _ if asks => {}
                b'\r' => done.extend(self.enter(now)),
                b'\n' => self.text.push('\n'),
                0x15 => self.clear_line(),
                0x00..0x20 | 0x7f => {}
                _ => {
                    self.text
                        .push_str(std::str::from_utf8(&char).expect("text is typed"));
                    self.folded = None;
                }
            }
            if !matches!(byte, b'\r' | 0x15) {
                self.pasted_at = Some(now);
            }
        }
        done
    }

    fn paste(&mut self, text: &str, now: Instant) {
        let (breaks, chars) = (text.matches('\n').count(), text.chars().count());
        let folded = match self.agent.as_str() {
            "claude" if breaks > 0 => Some(format!("[Pasted text #1 +{breaks} lines]")),
            "gemini" if breaks > 4 => Some(format!("[Pasted Text: {} lines]", breaks + 1)),
            "codex" if chars > 1_000 => Some(format!("[Pasted Content {chars} chars]")),
            _ => None,
        };
        self.folded = folded.map(|folded| self.text.clone() + &folded);
        self.text.push_str(text);
        self.pasted_at = Some(now);
    }

    fn enter(&mut self, now: Instant) -> Option<Done> {
        if self.agent != "claude"
            && self
                .pasted_at
                .is_some_and(|at| now.duration_since(at) < BURST)
        {
            self.text.push('\n');
            return None;
        }
        let text = std::mem::take(&mut self.text);
        self.folded = None;
        (!text.trim().is_empty()).then_some(Done::Submitted(text))
    }

    fn clear_line(&mut self) {
        self.folded = None;
        let line = self.text.rfind('\n').map_or(0, |at| at + 1);
        let keep = if line == self.text.len() {
            line.saturating_sub(1)
        } else {
            line
        };
        self.text.truncate(keep);
    }

    /// Returns the rows to show, and where the cursor goes.
    fn rows(&self, asks: bool) -> (Vec<String>, (usize, usize)) {
        let mut rows = vec![format!("  {} for tests", self.agent), String::new()];
        if asks {
            let sign = if self.agent == "claude" { "❯" } else { "›" };
            rows.extend([
                "Run this command?".into(),
                format!("{sign} 1. Yes"),
                "  2. No".into(),
            ]);
            return (rows, (0, 0));
        }
        let rule = "─".repeat(60);
        let (marker, indent) = match self.agent.as_str() {
            "claude" => ("❯ ", 2),
            "gemini" => (" > ", 3),
            _ => ("› ", 2),
        };
        if self.agent != "codex" {
            rows.push(rule.clone());
        }
        let shown = self.folded.as_deref().unwrap_or(&self.text);
        let mut lines: Vec<_> = shown.split('\n').map(str::to_owned).collect();
        let first = rows.len();
        let cursor = (
            indent + lines.last().map_or(0, |line| line.chars().count()),
            first + lines.len() - 1,
        );
        if shown.is_empty() && self.agent != "claude" {
            let hint = if self.agent == "gemini" {
                "Type your message"
            } else {
                "\x1b[2mAsk Codex to do anything\x1b[0m"
            };
            lines = vec![hint.into()];
        }
        rows.extend(lines.iter().enumerate().map(|(at, line)| match at {
            0 => format!("{marker}{line}"),
            _ if line.is_empty() => String::new(),
            _ => " ".repeat(indent) + line,
        }));
        rows.push(if self.agent == "claude" {
            rule
        } else {
            String::new()
        });
        rows.push("  footer".into());
        (rows, cursor)
    }
}

/// The program at work.
struct Program {
    setup: Setup,
    /// The terminal; standard output belongs to the test harness, which has words of its own for a test that takes long.
    screen: File,
    composer: Composer,
    /// Submitted while the agent was busy.
    queued: VecDeque<String>,
}

impl Program {
    fn run(setup: Setup) {
        let stdin = std::io::stdin();
        let mut raw = rustix::termios::tcgetattr(&stdin).expect("a terminal");
        raw.make_raw();
        rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Now, &raw)
            .expect("raw mode");
        let mut screen = OpenOptions::new()
            .write(true)
            .open("/dev/tty")
            .expect("a terminal");
        if setup.brackets {
            screen.write_all(b"\x1b[?2004h").expect("written");
        }
        let (sender, typed) = mpsc::channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = std::io::stdin().read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let composer = Composer::new(&setup.agent);
        let mut program = Self {
            setup,
            screen,
            composer,
            queued: VecDeque::new(),
        };
        let mut asked = program.is("dialog");
        program.show();
        fs::write(program.setup.folder.join("ready"), b"").expect("writes");
        loop {
            let asks = program.is("dialog");
            match typed.recv_timeout(TICK) {
                Ok(bytes) => {
                    for done in program.composer.feed(&bytes, asks, Instant::now()) {
                        program.did(done);
                    }
                    program.show();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if asks != asked {
                asked = asks;
                program.show();
            }
            program.notify();
            if !program.is("busy")
                && let Some(text) = program.queued.pop_front()
            {
                program.tell(&text);
            }
        }
    }

    /// Calls the notify program as Codex does, with the payload in a file that is then taken away.
    fn notify(&self) {
        let path = self.setup.folder.join("notify");
        let Ok(payload) = fs::read_to_string(&path) else {
            return;
        };
        fs::remove_file(&path).expect("was there");
        let mut command = Command::new(&self.setup.hook);
        command
            .args(["codex", &payload])
            .env("CODEX_HOME", self.setup.folder.join("codex-home"));
        let output = command.output().expect("runs");
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(0), &b""[..])
        );
    }

    fn is(&self, switch: &str) -> bool {
        self.setup.folder.join(switch).exists()
    }

    fn show(&mut self) {
        let (rows, (column, row)) = self.composer.rows(self.is("dialog"));
        let cursor = if self.setup.agent == "codex" && !self.is("dialog") {
            "\x1b[?25h"
        } else {
            "\x1b[?25l"
        };
        let shown = format!(
            "\x1b[H\x1b[2J{}\x1b[{};{}H{cursor}",
            rows.join("\r\n"),
            row + 1,
            column + 1
        );
        self.screen.write_all(shown.as_bytes()).expect("written");
    }

    fn did(&mut self, done: Done) {
        match done {
            Done::Approved => self.log(&json!({ "approved": true })),
            Done::Submitted(text) => {
                self.log(&json!({ "text": text }));
                // Claude Code tells at once, the others when they take it up.
                if self.is("busy") && self.setup.agent != "claude" {
                    self.queued.push_back(text);
                } else {
                    self.tell(&text);
                }
            }
        }
    }

    fn log(&self, line: &Value) {
        append(&self.setup.folder.join("log"), &line.to_string());
    }

    /// Tells of a prompt: by the hook, or for who looks into the rollout.
    fn tell(&self, text: &str) {
        let setup = self.setup.clone();
        // Agents take the blanks around a prompt away.
        let text = text.trim().to_owned();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(setup.tell_after_ms));
            if setup.notify_only {
                write_rollout(&setup.folder, &text)
            } else {
                call_hook(&setup, &text)
            }
        });
    }
}

fn append(path: &Path, line: &str) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .expect("opens");
    file.write_all(format!("{line}\n").as_bytes())
        .expect("writes");
}

/// The session that a text is for stands in it, so that one program can speak for many.
pub(crate) fn session_of(text: &str) -> &str {
    text.split_once("session=").map_or("", |(_, rest)| {
        rest.split_whitespace().next().unwrap_or_default()
    })
}

fn call_hook(setup: &Setup, text: &str) {
    let wrapped = match setup.agent.as_str() {
        "claude" if text.contains('\n') => {
            format!("\n\n<pasted_content id=\"4144\">\n{text}\n</pasted_content id=\"4144\">\n")
        }
        _ => text.to_owned(),
    };
    let event = if setup.agent == "gemini" {
        "BeforeAgent"
    } else {
        "UserPromptSubmit"
    };
    let payload = json!({ "session_id": session_of(text), "hook_event_name": event, "cwd": "/", "prompt": wrapped });
    let mut command = Command::new(&setup.hook);
    let mut child = command
        .arg(&setup.agent)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("runs");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(payload.to_string().as_bytes())
        .expect("writes");
    child.wait().expect("ends");
}

/// Adds a user's message to the rollout, as Codex does.
pub(crate) fn write_rollout(folder: &Path, text: &str) {
    let at = journal::Timestamp::now().to_string();
    let item = json!({ "type": "UserMessage", "content": [{ "type": "text", "text": text }] });
    let line = json!({ "timestamp": at, "type": "event_msg", "payload": { "type": "item_completed", "item": item } });
    let path = fs::read_to_string(folder.join("rollout")).expect("a path");
    append(Path::new(path.trim()), &line.to_string());
}

/// The program, where it was started as one; and without that, how its composer behaves.
#[test]
fn a_composer_keeps_what_is_pasted_until_enter() {
    if let Ok(setup) = std::env::var(SETUP) {
        Program::run(serde_json::from_str(&setup).expect("a setup"));
        return;
    }
    let start = Instant::now();
    for agent in ["claude", "gemini", "codex"] {
        let mut composer = Composer::new(agent);
        let submitted = |text: &str| vec![Done::Submitted(text.into())];
        assert_eq!(composer.feed(b"\x1b[200~one\ntwo\x1b[20", false, start), []);
        assert_eq!(composer.feed(b"1~", false, start), []);
        let soon = composer.feed(b"\r", false, start + BURST / 2);
        let late = composer.feed(b"\r", false, start + BURST);
        let expected = if agent == "claude" {
            (submitted("one\ntwo"), vec![])
        } else {
            (vec![], submitted("one\ntwo\n"))
        };
        assert_eq!((soon, late), expected, "{agent}");
        assert_eq!(composer.feed("half ü\x15\x15".as_bytes(), false, start), []);
        assert_eq!(composer.text, "");
        assert_eq!(
            composer.feed(b"\x1b[200~x\x1b[201~\r", true, start),
            [Done::Approved],
            "{agent}"
        );
        assert_eq!(composer.text, "");
    }
}
