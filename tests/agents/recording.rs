//! A recording of a real agent in a terminal, for the documentation: it is stopped, told what is missing, and does it.
//! Made where somebody asks for it, in the format of asciinema.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::agent::Agent;
use crate::model::{says, shell, write};
use crate::stage::{Counts, Stage};
use crate::terminal::Terminal;

/// Names the file of the recording.
const FILE: &str = "CHECKPOINTD_RECORDING";

const TASK: &str = "Add a function for prices with tax, in price.py.";
const CODE: &str = "def with_tax(net, rate=0.19):\n    return round(net * (1 + rate), 2)\n\n\nif __name__ == \"__main__\":\n    print(with_tax(100))\n";
/// The size of the screen: the whole message fits.
const COLUMNS: u16 = 100;
const ROWS: u16 = 40;
/// How often the screen is looked at. An agent's clock and spinner change all the time, and each change is kept.
const FRAME: Duration = Duration::from_millis(500);
/// How long the model takes for an answer.
const THINK: Duration = Duration::from_secs(3);
/// How long a viewer needs to read a screen.
const READ: Duration = Duration::from_secs(4);

pub(crate) fn is_wanted() -> bool {
    std::env::var_os(FILE).is_some()
}

/// Ends the recording, also when a wait fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Writes down a terminal's screen whenever it changes, until it is told to end.
fn record(terminal: &Terminal, file: PathBuf, end: &AtomicBool) -> std::io::Result<()> {
    let mut out = File::create(file)?;
    let title = "checkpointd and a real agent, whose model is scripted";
    let head = json!({ "version": 2, "width": COLUMNS, "height": ROWS, "title": title });
    writeln!(out, "{head}")?;
    let began = Instant::now();
    let mut last = String::new();
    loop {
        let is_last = end.load(Ordering::Relaxed);
        let screen = terminal.colored_screen();
        // The last screen is written again, so that it is shown as long as it was.
        if is_last || (screen != last && !screen.trim().is_empty()) {
            let lines = screen.trim_end().replace('\n', "\r\n");
            let text = format!("\x1b[0m\x1b[H\x1b[2J{lines}");
            writeln!(out, "{}", json!([began.elapsed().as_secs_f32(), "o", text]))?;
            last = screen;
        }
        if is_last {
            return Ok(());
        }
        thread::sleep(FRAME);
    }
}

pub(crate) fn told_and_finished(agent: Agent) -> Counts {
    let file = PathBuf::from(std::env::var_os(FILE).expect("a file"));
    // Viewers see where it is.
    let parent = std::env::temp_dir();
    let mut stage = Stage::below(&parent, agent, "min_turn: 1s\nall_clear: silent\n");
    stage.model.slow_down(THINK);
    let answers = [
        write("price.py", CODE),
        says("Done: price.py has with_tax()."),
        shell("python3 price.py"),
        says("with_tax() is in price.py, and a run of it prints 119.0."),
    ];
    let terminal = stage.open_from_shell(TASK, answers);
    terminal.resize(COLUMNS, ROWS);
    // Without it Claude Code shows a hint about tmux.
    terminal.set("focus-events", "on");
    let end = AtomicBool::new(false);
    thread::scope(|scope| {
        let recording = scope.spawn(|| record(&terminal, file, &end));
        let end = End(&end);
        let decided = || stage.decisions().len() == 2;
        terminal.wait_until("it was told and has stopped again", decided);
        thread::sleep(READ);
        terminal.say("/quit");
        let is_prompt = || terminal.screen().trim_end().ends_with(['#', '$']);
        terminal.wait_until("the shell is back", || {
            terminal.program() == "bash" && is_prompt()
        });
        terminal.say("checkpointd audit");
        let is_shown = || terminal.screen().contains("block_budget");
        terminal.wait_until("the decisions are shown", is_shown);
        thread::sleep(READ);
        drop(end);
        recording.join().expect("no panic").expect("writes");
    });
    drop(terminal);
    assert_eq!(
        stage.decisions(),
        ["actions_due confirmed", "block_budget none"]
    );
    stage.finish()
}
