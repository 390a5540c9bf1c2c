//! What is typed in an agent's terminal: by a person while it works, and by checkpointd where no hook waits for an answer,
//! which is so after a restart.

use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use checkpoint::terminal::Composer;
use serde_json::Value;

use crate::agent::Agent;
use crate::model::{Answer, says, shell, write};
use crate::scenarios::{CODE, SOON, TASK, WHILE, finish_in_terminal};
use crate::stage::{Counts, PREFIX, Stage};
use crate::terminal::Terminal;

/// What a person has begun to type.
const DRAFT: &str = "half a thought";
/// Long enough for an agent to start and for a person to do something before a checkpoint is typed. opencode needs long to
/// show what was typed.
fn later(agent: Agent) -> &'static str {
    if agent.is_opencode() { "50s" } else { "25s" }
}

/// How long a dialog is watched.
const WATCHED: Duration = Duration::from_secs(3);

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

/// Sets a stage where the checkpoint after a restart is due after a delay.
fn set(agent: Agent, delay: &str) -> Stage {
    let openhands = "openhands --override-with-envs --exit-without-confirmation --resume {session}";
    let restart = format!(
        "restart: {{gemini: 'gemini --yolo -m gemini-2.5-flash --resume {{session}}', openhands: '{openhands}'}}"
    );
    let config = format!("min_turn: 1h\nrestart_delay: {delay}\n{restart}\n");
    Stage::new(agent, &config)
}

/// Has the agent give these answers in its terminal, and restarts it there.
fn restart(stage: &mut Stage, answers: impl IntoIterator<Item = Answer>) -> Terminal {
    let terminal = stage.open_from_shell(TASK, answers);
    let has_stopped = || !stage.decisions().is_empty();
    terminal.wait_until("it is at rest", has_stopped);
    terminal.wait_until("its words are shown", || {
        terminal.screen().contains("Written.")
    });
    let answer = stage.ask(&["restart", "last", "--json"]);
    assert_eq!(answer.len(), 1);
    terminal
}

/// Waits until the checkpoint after a restart is taken and answered, quits the agent, and asserts that it was typed once,
/// and that so many stops came after it was decided.
fn finish(
    stage: Stage,
    terminal: Terminal,
    stops: RangeInclusive<usize>,
    checkpoints: &[usize],
) -> Counts {
    let is_told = || {
        stage
            .decisions()
            .iter()
            .any(|decision| decision == "restart confirmed")
    };
    terminal.wait_until("the checkpoint is typed and taken", is_told);
    terminal.wait_until("the debrief is shown", || {
        terminal.screen().contains("Debrief.")
    });
    terminal.wait_until("it is at rest again", || {
        stage.decisions().len() >= 2 + stops.start()
    });
    terminal.leave();
    let decisions = stage.decisions();
    let (told, passed) = decisions.split_at(2);
    assert_eq!(told, ["below_threshold none", "restart confirmed"]);
    let is_passed = passed
        .iter()
        .all(|decision| decision == "block_budget none");
    assert!(is_passed && stops.contains(&passed.len()), "{passed:?}");
    assert_eq!(
        stage.ask(&["audit", "--verdict", "inject", "--json"])[0]["route"],
        "tmux"
    );
    assert_eq!(stage.checkpoints(TASK), checkpoints);
    let sessions: Vec<Value> = stage.ask(&["sessions", "--json"]);
    assert_eq!(
        sessions.len(),
        1,
        "a resumed session is the same one: {sessions:?}"
    );
    stage.finish()
}

fn work() -> [Answer; 2] {
    [write("app.py", CODE), says("Written.")]
}

/// Returns whether a delivery was held up by one of these.
fn is_held(stage: &Stage, obstacles: &[&str]) -> bool {
    let held = stage.events("delivery_held");
    held.iter().any(|line| {
        obstacles
            .iter()
            .any(|obstacle| line["obstacle"] == *obstacle)
    })
}

pub(crate) fn restarted(agent: Agent) -> Counts {
    // Until these have drawn their composer they take no paste.
    let is_slow = matches!(
        agent,
        Agent::Qwen
            | Agent::Copilot
            | Agent::OpenCode
            | Agent::Vibe
            | Agent::Kilo
            | Agent::OpenHands
    );
    let mut stage = set(agent, if is_slow { "12s" } else { "2s" });
    let terminal = restart(&mut stage, work());
    stage.model.expect(TASK, [says("Debrief.")]);
    finish(stage, terminal, 1..=1, &[0, 0, 1])
}

pub(crate) fn drafted(agent: Agent) -> Counts {
    let mut stage = set(agent, later(agent));
    let terminal = restart(&mut stage, work());
    stage.model.expect(TASK, [says("Debrief.")]);
    terminal.wait_until("its composer is empty", || {
        terminal.composer(agent) == Composer::Empty
    });
    terminal.press(&["-l", DRAFT]);
    terminal.wait_until("the draft is seen", || is_held(&stage, &["draft_present"]));
    let screen = terminal.screen();
    assert!(
        screen.contains(DRAFT) && !screen.contains(PREFIX),
        "{screen}"
    );
    terminal.press(&["C-u"]);
    finish(stage, terminal, 1..=1, &[0, 0, 1])
}

pub(crate) fn asked(agent: Agent) -> Counts {
    let mut stage = set(agent, later(agent));
    stage.be_careful();
    let terminal = restart(&mut stage, [says("Written.")]);
    stage.model.expect(
        TASK,
        [shell("touch asked.txt"), says("Touched."), says("Debrief.")],
    );
    terminal.wait_until("its composer is empty", || {
        terminal.composer(agent) == Composer::Empty
    });
    terminal.say("Touch a file.");
    terminal.wait_until("the dialog is seen", || {
        is_held(&stage, &["dialog", "no_composer"])
    });
    thread::sleep(WATCHED);
    let screen = terminal.screen();
    assert!(
        screen.contains("touch asked.txt") && !screen.contains(PREFIX),
        "{screen}"
    );
    let file = stage.path("project/asked.txt");
    assert!(!file.exists(), "nobody has allowed it");
    terminal.press(&[agent.allows_once()]);
    terminal.wait_until("what was allowed is done", || file.exists());
    // Some agents take the text into the turn that they are in, others begin a new one with it.
    finish(stage, terminal, 1..=2, &[0, 0, 0, 1])
}
