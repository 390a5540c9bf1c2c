//! opencode, whose plugin sends checkpoints as messages.

use crate::agent::Agent;
use crate::model::{says, shell, write};
use crate::scenarios::{CODE, SOON, TASK, WHILE, finish_in_terminal};
use crate::stage::{Counts, Stage};

/// `opencode run` ends with its first stop.
pub(crate) fn watched(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let answers = [write("app.py", CODE), shell(WHILE), says("Written.")];
    stage.run_headless(TASK, answers);
    assert_eq!(stage.decisions(), ["nobody_waiting none"]);
    assert_eq!(stage.checkpoints(TASK), [0, 0, 0]);
    // It ends with its first stop: what its plugin told last may come by the spool.
    testkit::wait_until(|| stage.events("tool_finished").len() == 2);
    stage.finish()
}

pub(crate) fn draft_stays(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let answers = [
        write("app.py", CODE),
        shell("sleep 4"),
        says("Written."),
        says("Debrief."),
    ];
    let terminal = stage.open(TASK, answers);
    let is_at_work = || stage.events("tool_started").len() == 2;
    terminal.wait_until("it is at work", is_at_work);
    terminal.press(&["-l", "half a thought"]);
    terminal.wait_until("the checkpoint is answered", || {
        terminal.screen().contains("Debrief.")
    });
    let screen = terminal.screen();
    assert!(screen.contains("half a thought"), "{screen}");
    terminal.press(&["C-u"]);
    finish_in_terminal(&stage, terminal);
    assert_eq!(
        stage.decisions(),
        ["actions_due confirmed", "block_budget none"]
    );
    assert_eq!(stage.checkpoints(TASK), [0, 0, 0, 1]);
    stage.finish()
}
