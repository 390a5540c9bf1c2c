//! What is tried with every agent. Its model is told what to answer; what comes of it is up to the agent and to us.

use std::fs;

use serde_json::Value;

use crate::agent::Agent;
use crate::model::{Answer, Call, edit, says, shell, write};
use crate::stage::{Counts, Stage};
use crate::terminal::Terminal;

pub(crate) const TASK: &str = "Write a small program.";
pub(crate) const CODE: &str = "def answer():\n    return 42\n";
/// Turns of a second and more are long.
pub(crate) const SOON: &str = "min_turn: 1s\n";
/// Makes a turn long.
pub(crate) const WHILE: &str = "sleep 1.2";

pub(crate) fn short_turn(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, "min_turn: 1h\n");
    stage.run(
        TASK,
        [write("app.py", CODE), shell(WHILE), says("Written.")],
    );
    assert_eq!(stage.decisions(), ["below_threshold none"]);
    assert_eq!(stage.checkpoints(TASK), [0, 0, 0]);
    stage.finish()
}

/// Returns the answers of a model that was told: a tool call shows it where no second stop does.
pub(crate) fn debrief(agent: Agent) -> Vec<Answer> {
    let mut answers = vec![says("Debrief.")];
    if agent.stops_once() {
        answers.insert(0, shell("echo on"));
    }
    answers
}

/// Returns the decisions about a turn that gets one checkpoint.
pub(crate) fn told_once(agent: Agent) -> Vec<&'static str> {
    let mut decisions = vec!["actions_due confirmed", "block_budget none"];
    decisions.truncate(if agent.stops_once() { 1 } else { 2 });
    decisions
}

/// Asserts that a turn got one checkpoint, after so many requests of the agent.
fn assert_told_once(stage: &Stage, before: usize) {
    let agent = stage.agent;
    let decisions = stage.decisions();
    if decisions != told_once(agent) {
        println!("{}", stage.checkpointd(&["explain", "--verbose"]));
    }
    assert_eq!(decisions, told_once(agent));
    let after = debrief(agent).len();
    let expected = [vec![0; before], vec![1; after]].concat();
    assert_eq!(stage.checkpoints(TASK), expected);
}

pub(crate) fn long_turn(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let work = vec![
        write("app.py", CODE),
        edit("app.py", "    return 42", "    return 43"),
        shell(WHILE),
        says("Written."),
    ];
    stage.run(TASK, [work, debrief(agent)].concat());
    assert_told_once(&stage, 4);
    assert!(
        message(&stage).contains("Run the tests of `app.py`"),
        "{}",
        message(&stage)
    );
    let text = fs::read_to_string(stage.path("project/app.py")).expect("it is written");
    assert_eq!(text, CODE.replace("42", "43"));
    let is_app = |call: &Value| {
        let path = call["paths"][0].as_str();
        path.is_some_and(|path| path.ends_with("app.py")) && call["paths"][1].is_null()
    };
    let seen: Vec<String> = calls(&stage)
        .iter()
        .map(|call| {
            let kind = call["kind"].as_str().expect("a word");
            let about = match call["command"].as_str() {
                Some(command) => command.to_owned(),
                None => format!("app.py {}", is_app(call)),
            };
            let ended = (&call["finished"], &call["is_error"]);
            format!("{kind} {about} {ended:?}")
        })
        .collect();
    let ended = "(Bool(true), Bool(false))";
    assert_eq!(
        seen,
        [
            format!("write app.py true {ended}"),
            format!("edit app.py true {ended}"),
            format!("shell {WHILE} {ended}"),
        ]
    );
    stage.finish()
}

/// The changed code was run, and nothing else is to be verified.
pub(crate) fn done_already(agent: Agent) -> Counts {
    let mut stage = Stage::new(
        agent,
        &format!("{SOON}headless: always\nall_clear: silent\n"),
    );
    let run = shell(format!("{WHILE}; python3 app.py"));
    stage.run(TASK, [write("app.py", CODE), run, says("Written.")]);
    assert_eq!(stage.decisions(), ["silent_all_clear none"]);
    assert_eq!(stage.checkpoints(TASK), [0, 0, 0]);
    stage.finish()
}

/// What its tests ran on is recorded, signed, and found right by us, by public tools, and by the journal.
pub(crate) fn recorded(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, &format!("{SOON}headless: always\n"));
    let test = "import unittest, app\nclass Test(unittest.TestCase):\n    def test_answer(self):\n        self.assertEqual(app.answer(), 42)\n";
    let run = shell(format!("{WHILE}; python3 -m unittest test_app"));
    let work = [write("app.py", CODE), write("test_app.py", test), run];
    stage.run(TASK, [&work[..], &[says("Tested.")]].concat());
    stage.sh(
        "git add . && git -c user.name=A -c user.email=a@localhost commit -qm Work
        mkdir -p ~/.ssh && ssh-keygen -qt ed25519 -N '' -f ~/.ssh/id_ed25519
        git config user.name A; git config user.email a@localhost
        checkpointd record --notes --key ~/.ssh/id_ed25519",
    );
    let verify = "checkpointd record verify HEAD --json --key ~/.ssh/id_ed25519.pub";
    let said: Value = serde_json::from_str(&stage.sh(verify)).expect("JSON");
    assert!(
        said["accepted"] == true && said["recomputed"] == true,
        "{said}"
    );
    // The chapter's own commands, for those who do not have checkpointd.
    let blocks = include_str!("../../docs/record.md")
        .split("```sh\n")
        .skip(1);
    let mut blocks = blocks.filter_map(|block| block.split("```").next());
    let check = blocks.find(|block| block.contains("ssh-keygen -Y verify"));
    let said = stage.sh(check.expect("a block that verifies"));
    for file in ["app.py", "test_app.py"] {
        assert!(
            said.contains(&format!("done\ttests passed\t{file}")),
            "{said}"
        );
    }
    stage.finish()
}

/// The program that the hooks call was removed without them.
pub(crate) fn client_gone(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    fs::remove_file(stage.path("bin/checkpointd-hook")).expect("it was there");
    let append = shell(format!("{WHILE}; echo done > done.txt"));
    let change = edit("app.py", "    return 42", "    return 43");
    stage.run(
        TASK,
        [write("app.py", CODE), change, append, says("Written.")],
    );
    let text = |name: &str| fs::read_to_string(stage.path(name)).expect("it is written");
    assert_eq!(text("project/app.py"), CODE.replace("42", "43"));
    assert_eq!(text("project/done.txt"), "done\n");
    assert_eq!(stage.checkpoints(TASK), [0, 0, 0, 0]);
    assert!(stage.journaled().is_empty());
    stage.finish()
}

/// The agent would go on for ever.
pub(crate) fn no_cap(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, &format!("{SOON}max_blocks_per_turn: 2\n"));
    let work = |file: &str| [write(file, CODE), shell(WHILE), says("Written.")];
    stage.run(TASK, [work("a.py"), work("b.py"), work("c.py")].concat());
    let told = "actions_due confirmed";
    assert_eq!(stage.decisions(), [told, told, "block_budget none"]);
    assert_eq!(stage.checkpoints(TASK), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    stage.finish()
}

pub(crate) fn next_prompt(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let first = [
        write("app.py", CODE),
        shell(WHILE),
        says("Written."),
        write("more.py", CODE),
        shell(WHILE),
        says("Done."),
    ];
    stage.run(TASK, first);
    let each = told_once(agent);
    assert_eq!(stage.decisions(), each);
    let work = vec![write("third.py", CODE), shell(WHILE), says("Written.")];
    stage.run_again(TASK, "Go on.", [work, debrief(agent)].concat());
    assert_eq!(stage.decisions(), [&each[..], &each[..]].concat());
    // Qwen Code writes nothing down of what a hook said, so a resumed session does not hold it.
    let known = usize::from(agent != Agent::Qwen);
    let resumed = [vec![known; 3], vec![known + 1; debrief(agent).len()]].concat();
    let first = vec![0, 0, 0, 1, 1, 1];
    assert_eq!(stage.checkpoints(TASK), [first, resumed].concat());
    assert_eq!(
        stage.ask(&["sessions", "--json"]).len(),
        1,
        "a resumed session is the same one"
    );
    stage.finish()
}

pub(crate) fn failing_command(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let fails = shell(format!("{WHILE}; ls no-such-file"));
    let work = vec![write("app.py", CODE), fails, says("Written.")];
    stage.run(TASK, [work, debrief(agent)].concat());
    assert_told_once(&stage, 3);
    assert!(
        message(&stage).contains("Run the tests of `app.py`"),
        "{}",
        message(&stage)
    );
    let failed: Vec<Value> = calls(&stage)
        .into_iter()
        .filter(|call| call["is_error"] == true)
        .collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(
        failed[0]["command"]
            .as_str()
            .is_some_and(|command| command.ends_with("ls no-such-file"))
    );
    stage.finish()
}

pub(crate) fn also_run(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    // Grok runs what is in its user's settings without asking.
    let project: &[&str] = match agent {
        Agent::Grok => &[],
        _ => &["--project", "."],
    };
    stage.checkpointd(&[&["init", "--agent", "claude"], project].concat());
    stage.run(
        TASK,
        [
            write("app.py", CODE),
            shell(WHILE),
            says("Written."),
            says("Debrief."),
        ],
    );
    assert!(stage.fired_with("claude") > 0, "it runs them");
    assert_eq!(
        stage.decisions(),
        ["actions_due confirmed", "block_budget none"]
    );
    let sessions = stage.ask(&["sessions", "--json"]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0]["agent"], agent.name());
    stage.finish()
}

pub(crate) fn parallel_calls(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let commands = [WHILE, "echo one", "echo two", "echo three"];
    let calls_at_once = commands.map(|command| Call::Shell(command.to_owned()));
    let work = vec![
        write("app.py", CODE),
        Answer::Calls(calls_at_once.into()),
        says("Written."),
    ];
    stage.run(TASK, [work, debrief(agent)].concat());
    assert_told_once(&stage, 3);
    let mut seen: Vec<String> = calls(&stage)
        .iter()
        .filter_map(|call| Some(call["command"].as_str()?.to_owned()))
        .collect();
    seen.sort();
    assert_eq!(seen, ["echo one", "echo three", "echo two", WHILE]);
    stage.finish()
}

pub(crate) fn subagent(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let part = "Look after the other part.";
    stage
        .model
        .expect(part, [shell(WHILE), says("The part is done.")]);
    let delegate = Answer::Calls(vec![Call::Delegate(part.to_owned())]);
    let then = match agent {
        // It ends its turn, and has another when the subagent is done.
        Agent::Claude | Agent::Qwen => vec![says("Delegated.")],
        Agent::Codex => vec![Answer::Calls(vec![Call::Wait])],
        _ => vec![],
    };
    let answers = [
        vec![write("app.py", CODE), delegate],
        then,
        vec![says("Written."), says("Debrief.")],
    ];
    stage.run(TASK, answers.concat());
    assert_eq!(
        stage.checkpoints(part),
        [0, 0],
        "a subagent is told nothing"
    );
    let first = if matches!(agent, Agent::Claude | Agent::Qwen) {
        vec!["background_tasks none"]
    } else {
        vec![]
    };
    assert_eq!(
        stage.decisions(),
        [first, vec!["actions_due confirmed", "block_budget none"]].concat()
    );
    let seen = stage.checkpoints(TASK);
    assert_eq!(
        (seen.iter().sum::<usize>(), seen.last()),
        (1, Some(&1)),
        "{seen:?}"
    );
    let stops = stage
        .journaled()
        .iter()
        .filter(|line| line["kind"] == "agent_stopped")
        .count();
    assert_eq!(
        stops,
        stage.decisions().len(),
        "only the agent's own stops are decided"
    );
    let written = |kind: &str| {
        stage
            .events("progress_written")
            .iter()
            .filter(|line| line["progress"] == kind)
            .count()
    };
    if agent == Agent::Grok {
        let is_its = |call: &Value| call["command"] == WHILE;
        assert!(calls(&stage).iter().any(is_its), "its transcript is read");
    }
    // Grok reports a subagent's end in the subagent's session.
    let after = usize::from(agent != Agent::Grok);
    assert_eq!(
        (written("pre-operation"), written("incremental")),
        (1, after),
        "before the subagent and after it"
    );
    stage.finish()
}

/// A push of open work is held once; the second try runs, and the stop is not held too.
pub(crate) fn held_push(agent: Agent) -> Counts {
    let mut stage = Stage::new(
        agent,
        &format!("{SOON}headless: always\nhooks: {{exits: hold}}\n"),
    );
    let work = [
        write("app.py", CODE),
        shell(WHILE),
        shell("git push"),
        shell("git push"),
        says("There is no remote."),
    ];
    stage.run(TASK, work);
    let expected = [
        "leaves_open confirmed",
        "block_budget none",
        "block_budget none",
    ];
    assert_eq!(stage.decisions(), expected);
    let seen = stage.checkpoints(TASK);
    assert!(seen[..3] == [0, 0, 0] && seen[3] > 0, "{seen:?}");
    stage.finish()
}

/// A subagent that ends with its work open is made to go on, once.
pub(crate) fn held_subagent(agent: Agent) -> Counts {
    let mut stage = Stage::new(
        agent,
        &format!("{SOON}headless: always\nhooks: {{exits: parts}}\n"),
    );
    let part = "Look after the other part.";
    let work = [
        write("app.py", CODE),
        shell(WHILE),
        says("The tests pass."),
        says("I could not run any."),
    ];
    stage.model.expect(part, work);
    let delegate = Answer::Calls(vec![Call::Delegate(part.to_owned())]);
    stage.run(TASK, [delegate, says("Delegated."), says("Written.")]);
    // Claude Code tells its subagents of a hook's answer twice.
    assert_eq!(stage.checkpoints(part), [0, 0, 0, 2]);
    let decisions = stage.decisions();
    assert_eq!(
        decisions[decisions.len() - 2..],
        ["block_budget none"; 2],
        "{decisions:?}"
    );
    stage.finish()
}

pub(crate) fn killed_daemon(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    let pid = stage.path("data/run/pid");
    // Copilot looks at the arguments of `kill` in a command line.
    let script = stage.path("end.sh");
    fs::write(&script, format!("xargs kill -9 < '{}'\n", pid.display())).expect("writes");
    let kill = shell(format!("sh '{}'; {WHILE}", script.display()));
    let before = fs::read_to_string(&pid).expect("it runs");
    let work = vec![
        write("app.py", CODE),
        kill,
        // What the script did with the file is not known, so that only a change after it asks for tests.
        edit("app.py", "    return 42", "    return 43"),
        shell("echo on"),
        says("Written."),
    ];
    stage.run(TASK, [work, debrief(agent)].concat());
    assert_ne!(fs::read_to_string(&pid).expect("it runs again"), before);
    let log = fs::read_to_string(stage.path("data/logs/daemon.log")).expect("a log");
    assert!(log.contains("Accepted spooled hook calls."), "{log}");
    assert_told_once(&stage, 5);
    assert!(
        calls(&stage)
            .iter()
            .any(|call| call["command"] == "echo on"),
        "what came after the kill is known"
    );
    stage.finish()
}

pub(crate) fn uninstalled(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    stage.run(TASK, [says("Hello.")]);
    let fired = stage.fired();
    assert!(fired > 0);
    stage.checkpointd(&["uninstall", "--keep-data"]);
    let settings = stage.settings();
    if agent == Agent::Claude {
        // It sorts the keys of its settings when it starts.
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(json(&settings), json(&stage.settings_before));
    } else {
        assert_eq!(settings, stage.settings_before);
    }
    stage.run(
        "Do it again.",
        [write("app.py", CODE), shell(WHILE), says("Written.")],
    );
    assert_eq!(stage.fired(), fired);
    stage.finish()
}

pub(crate) fn in_terminal(agent: Agent) -> Counts {
    let mut stage = Stage::new(agent, SOON);
    work_in_terminal(&mut stage);
    assert_told_once(&stage, 3);
    stage.finish()
}

/// Has the agent write something in its terminal, for longer than a moment, and quits it once it is at rest.
pub(crate) fn work_in_terminal(stage: &mut Stage) {
    let work = vec![write("app.py", CODE), shell(WHILE), says("Written.")];
    let terminal = stage.open(TASK, [work, debrief(stage.agent)].concat());
    finish_in_terminal(stage, terminal);
}

/// Waits until the agent was told and is at rest again, and quits it.
pub(crate) fn finish_in_terminal(stage: &Stage, terminal: Terminal) {
    let expected = told_once(stage.agent);
    let is_over = || {
        let decisions = stage.decisions();
        expected
            .iter()
            .all(|one| decisions.iter().any(|it| it == one))
    };
    terminal.wait_until("it was told, and its second stop is let pass", is_over);
    terminal.wait_until("the debrief is shown", || {
        terminal.screen().contains("Debrief.")
    });
    terminal.quit();
}

/// Returns the first checkpoint as it was sent.
fn message(stage: &Stage) -> String {
    let decisions = stage.ask(&["audit", "--verdict", "inject", "--json"]);
    decisions[0]["message"].as_str().expect("a text").to_owned()
}

/// Returns the tool calls that the first checkpoint was based on.
fn calls(stage: &Stage) -> Vec<Value> {
    let decisions = stage.ask(&["audit", "--verdict", "inject", "--json"]);
    let explained = stage.ask(&["explain", &decisions[0]["seq"].to_string(), "--json"]);
    explained[0]["evidence"]["timeline"]["calls"]
        .as_array()
        .expect("a list")
        .clone()
}
