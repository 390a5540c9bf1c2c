//! Codex, which may tell of its stops by a notify program only.

use serde_json::Value;

use crate::agent::Agent;
use crate::model::{says, shell, write};
use crate::scenarios::{CODE, SOON, TASK, finish_in_terminal, work_in_terminal};
use crate::stage::{Counts, PREFIX, Stage};

pub(crate) fn notified_too(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    stage.notify();
    work_in_terminal(&mut stage);
    assert_told_once(&stage, "hook_reply");
    stage.finish()
}

pub(crate) fn notified_only(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    stage.checkpointd(&["uninstall", "--agent", "codex"]);
    stage.notify();
    work_in_terminal(&mut stage);
    assert_told_once(&stage, "tmux");
    stage.finish()
}

pub(crate) fn draft(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    stage.checkpointd(&["uninstall", "--agent", "codex"]);
    stage.notify();
    let answers = [
        write("app.py", CODE),
        shell("sleep 4"),
        says("Written."),
        says("Debrief."),
    ];
    let terminal = stage.open(TASK, answers);
    terminal.wait_until("it is at work", || {
        terminal.screen().contains("Added app.py")
    });
    terminal.press(&["-l", "half a thought"]);
    let is_held =
        |line: &Value| line["kind"] == "delivery_held" && line["obstacle"] == "draft_present";
    terminal.wait_until("the draft is seen", || {
        stage.ask(&["journal", "export"]).iter().any(is_held)
    });
    let screen = terminal.screen();
    assert!(
        screen.contains("half a thought") && !screen.contains(PREFIX),
        "{screen}"
    );
    terminal.press(&["C-u"]);
    finish_in_terminal(&stage, terminal);
    assert_told_once(&stage, "tmux");
    stage.finish()
}

/// Asserts that one checkpoint was sent by this route and reached the model, and that the next stop passed.
fn assert_told_once(stage: &Stage, route: &str) {
    let mut decisions = stage.decisions();
    // Codex has turns of their own for a session's title, in other sessions, and notifies of their ends too.
    decisions.retain(|decision| decision != "no_turn_start none");
    assert_eq!(decisions, ["actions_due confirmed", "block_budget none"]);
    assert_eq!(
        stage.ask(&["audit", "--verdict", "inject", "--json"])[0]["route"],
        route
    );
    assert_eq!(stage.checkpoints(TASK), [0, 0, 0, 1]);
    let notified = stage
        .journaled()
        .iter()
        .filter(|line| line["host"]["hook"] == "notify")
        .count();
    assert_eq!(notified, stage.fired_with("{"), "each notification is kept");
    assert!(notified > 0);
}
