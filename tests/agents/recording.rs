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
use crate::terminal::{COLUMNS, ROWS, Terminal};

/// Names the file of the recording.
const FILE: &str = "CHECKPOINTD_RECORDING";

const TASK: &str = "Add a function for prices with tax, in price.py.";
const CODE: &str = "def with_tax(net, rate=0.19):\n    return round(net * (1 + rate), 2)\n\n\nif __name__ == \"__main__\":\n    print(with_tax(100))\n";
/// How often the screen is looked at.
const FRAME: Duration = Duration::from_millis(100);
/// How long a viewer needs to read a screen.
const READ: Duration = Duration::from_secs(3);

pub(crate) fn is_wanted() -> bool {
    std::env::var_os(FILE).is_some()
}

/// Writes down a terminal's screen whenever it changes, until it is told to end.
fn record(terminal: &Terminal, file: PathBuf, end: &AtomicBool) -> std::io::Result<()> {
    let mut out = File::create(file)?;
    let title = "checkpointd and a real agent, whose model is scripted";
    let head = json!({ "version": 2, "width": COLUMNS, "height": ROWS, "title": title });
    writeln!(out, "{head}")?;
    let began = Instant::now();
    let mut last = String::new();
    while !end.load(Ordering::Relaxed) {
        let screen = terminal.colored_screen();
        if screen != last && !screen.trim().is_empty() {
            let lines = screen.trim_end().replace('\n', "\r\n");
            let frame = json!([
                began.elapsed().as_secs_f64(),
                "o",
                format!("\x1b[H\x1b[2J{lines}")
            ]);
            writeln!(out, "{frame}")?;
            last = screen;
        }
        thread::sleep(FRAME);
    }
    Ok(())
}

pub(crate) fn told_and_finished(agent: Agent) -> Counts {
    let file = PathBuf::from(std::env::var_os(FILE).expect("a file"));
    let mut stage = Stage::new(agent, "min_turn: 1s\nall_clear: silent\n");
    let answers = [
        write("price.py", CODE),
        shell("sleep 1.2"),
        says("Done: price.py has with_tax()."),
        shell("python3 price.py"),
        says("with_tax() is in price.py, and a run of it prints 119.0."),
    ];
    let terminal = stage.open_from_shell(TASK, answers);
    let end = AtomicBool::new(false);
    thread::scope(|scope| {
        let recording = scope.spawn(|| record(&terminal, file, &end));
        let decided = || stage.decisions().len() == 2;
        terminal.wait_until("it was told and has stopped again", decided);
        thread::sleep(READ);
        terminal.say("/quit");
        terminal.wait_until("the shell is back", || terminal.program() == "bash");
        let program = stage.path("bin/checkpointd");
        terminal.say(&format!("clear; {} audit", program.display()));
        thread::sleep(READ);
        end.store(true, Ordering::Relaxed);
        recording.join().expect("no panic").expect("writes");
    });
    drop(terminal);
    assert_eq!(
        stage.decisions(),
        ["actions_due confirmed", "block_budget none"]
    );
    stage.finish()
}
