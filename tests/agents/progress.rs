//! Progress documents with the real agents: what a session that begins is told, and what a compaction leaves.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::agent::Agent;
use crate::model::{says, shell, write};
use crate::scenarios::{CODE, TASK};
use crate::stage::{Counts, Stage};
use crate::terminal::Terminal;

/// What a later session is asked.
const NEXT: &str = "Go on with it.";
/// What it is asked when it is resumed.
const LATER: &str = "And now?";
/// What an agent states of its work.
const STATED: &str = "## Goal\nA small program\n\n## Remaining\n- a test for it\n\n## Must Read\n- app.py - goes on here\n";
/// No stop gets a checkpoint.
const NEVER: &str = "min_turn: 1h\nprogress: {resume: true}\n";

/// The text is given at the start of a session that begins, and at no other time.
pub(crate) fn told_at_start(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, NEVER);
    stage.run(TASK, [write("app.py", CODE), says("Begun.")]);
    state(&stage);
    stage.run(NEXT, [shell("echo on"), says("More is done.")]);
    let (first, offers) = match agent {
        // It leaves a message out of a resumed session that begins with what a hook said.
        Agent::Gemini => (LATER, 0),
        // It writes nothing down of what a hook said.
        Agent::Qwen => (NEXT, 0),
        _ => (NEXT, 1),
    };
    stage.run_again(first, LATER, [says("Now it is well.")]);
    assert_eq!(
        stage.offers(TASK),
        [0, 0],
        "there was nothing to go on with"
    );
    assert_eq!(stage.offers(NEXT)[..2], [1, 1]);
    assert_eq!(
        stage.offers(first).last(),
        Some(&offers),
        "who resumes a session is told nothing new"
    );
    assert_eq!(stage.events("resume_offered").len(), 1);
    let told = &stage.model.asked(NEXT)[0];
    for words in [
        "Goal: A small program",
        "Validation: it still holds.",
        "- `app.py` goes on here",
        "- a test for it",
    ] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    stage.finish()
}

/// The compaction is the agent's own, asked for by a person.
pub(crate) fn compacted(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, NEVER);
    let terminal = begin(&mut stage);
    terminal.say(match agent {
        Agent::Gemini | Agent::Qwen => "/compress",
        _ => "/compact",
    });
    terminal.wait_until("it is written down", || {
        !stage.events("progress_written").is_empty()
    });
    if agent == Agent::Gemini {
        terminal.wait_until("the history is compressed", || {
            terminal.screen().contains("compressed from")
        });
    } else if agent == Agent::Copilot {
        terminal.wait_until("the history is compacted", || {
            terminal.screen().contains("Compaction completed")
        });
    } else {
        terminal.wait_until("the context is compacted", || {
            !stage.events("compaction_finished").is_empty()
        });
    }
    if !matches!(
        agent,
        Agent::Gemini | Agent::Copilot | Agent::OpenCode | Agent::Kilo
    ) {
        // Who is compacted needs its own document.
        go_on(&stage, &terminal);
        assert_eq!(stage.offers(NEXT), [1]);
    }
    let written = &stage.events("progress_written")[0];
    assert_eq!(written["progress"], "pre-compaction");
    let text = fs::read_to_string(written["file"].as_str().expect("a path")).expect("a file");
    assert!(
        text.contains("**Type**: pre-compaction\n") && text.contains("| `app.py` | created |"),
        "{text}"
    );
    terminal.quit();
    stage.finish()
}

/// The session that `/clear` begins is another one.
pub(crate) fn cleared(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, NEVER);
    let terminal = begin(&mut stage);
    state(&stage);
    terminal.say("/clear");
    terminal.wait_until("the screen is cleared", || {
        !terminal.screen().contains("Begun.")
    });
    if agent == Agent::Qwen {
        // It takes no key until the new session has begun.
        let has_begun = || stage.events("session_started").len() == 2;
        terminal.wait_until("the next session has begun", has_begun);
        thread::sleep(Duration::from_secs(2));
    }
    go_on(&stage, &terminal);
    assert_eq!(stage.offers(NEXT), [1]);
    assert_eq!(stage.ask(&["sessions", "--json"]).len(), 2);
    terminal.quit();
    stage.finish()
}

/// States how the work stands, as a person or an agent does by hand.
fn state(stage: &Stage) {
    fs::write(stage.path("stated.md"), STATED).expect("writes");
    let file = stage.path("stated.md");
    stage.checkpointd(&[
        "progress",
        "write",
        "--type",
        "handoff",
        "--from",
        file.to_str().expect("text"),
    ]);
}

/// Has an agent begin in its terminal, and waits until it is at rest.
fn begin(stage: &mut Stage) -> Terminal {
    let terminal = stage.open(TASK, [write("app.py", CODE), says("Begun.")]);
    let has_stopped = |line: &Value| line["kind"] == "agent_stopped";
    terminal.wait_until("it is at rest", || {
        stage.journaled().iter().any(has_stopped)
    });
    terminal.wait_until("its words are shown", || {
        terminal.screen().contains("Begun.")
    });
    terminal
}

/// Gives it another prompt, and waits for its answer.
fn go_on(stage: &Stage, terminal: &Terminal) {
    stage.model.expect(NEXT, [says("Going on.")]);
    terminal.say(NEXT);
    terminal.wait_until("it answers", || terminal.screen().contains("Going on."));
}
