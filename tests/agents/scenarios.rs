//! What is tried with every agent.

use crate::agent::Agent;
use crate::model::{Answer, Call, says, shell, write};
use crate::stage::{Counts, Stage};

/// A name, and what to do.
type Scenario = (&'static str, fn(Agent) -> Counts);

/// Returns what is tried with this agent.
pub(crate) fn of(_agent: Agent) -> Vec<Scenario> {
    vec![("a short turn is left alone", short_turn), ("a long turn gets one checkpoint", long_turn)]
}

const CODE: &str = "def answer():\n    return 42\n";
const SOON: &str = "min_turn: 1s\n";

fn short_turn(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, "min_turn: 1h\n");
    let task = "Write a small program.";
    stage.run(task, [write("app.py", CODE), says("Written.")]);
    assert_eq!(stage.decisions(), ["below_threshold none"]);
    assert_eq!(stage.checkpoints(task), [0, 0]);
    stage.finish()
}

fn long_turn(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let task = "Write a small program.";
    stage.run(task, [write("app.py", CODE), shell("sleep 1.2"), says("Written."), says("Verified.")]);
    assert_eq!(stage.decisions(), ["actions_due confirmed", "block_budget none"]);
    assert_eq!(stage.checkpoints(task), [0, 0, 0, 1]);
    stage.finish()
}
