//! What a person types while an agent works.

use crate::agent::Agent;
use crate::model::{says, shell, write};
use crate::scenarios::{CODE, SOON, TASK, WHILE, finish_in_terminal};
use crate::stage::{Counts, Stage};

pub(crate) fn steered(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let answers = [
        write("app.py", CODE),
        shell("sleep 6; true"),
        shell(WHILE),
        says("Written."),
        says("Debrief."),
    ];
    let terminal = stage.open(TASK, answers);
    let is_at_work = || stage.events("tool_started").len() == 2;
    terminal.wait_until("it is at work", is_at_work);
    terminal.say("Also say why.");
    finish_in_terminal(&stage, terminal);
    assert_eq!(
        stage.decisions(),
        ["actions_due confirmed", "block_budget none"]
    );
    // Qwen Code says of itself that the prompt belongs to the turn: it has no `submitted_prompt`.
    let joined = usize::from(agent != Agent::Qwen);
    assert_eq!(stage.events("turn_joined").len(), joined);
    let head = &stage.events("head_seen")[0];
    assert!(head["commit"].is_string(), "{head}");
    stage.finish()
}
