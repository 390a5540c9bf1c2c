//! What is read of a call as it ends, with a real repository: which contents it ran on, and what it printed.

use std::path::{Path, PathBuf};
use std::process::Command;

use journal::{Facts, Summary, SummaryKind, SummaryVerdict, Timeline, ToolCall};

use super::*;

const RUN: &str = "pytest -q 2>&1 | tail -1";
const PRINTED: &str = "3 passed in 0.01s\n";
const ONE: &str = "fn one() {}\n";

/// Every change counts, whoever made it.
const CONFIG: &str = "min_turn: 0s\nheadless: always\nscope: worktree\n";

/// What happens in a turn, and whether the file that was run holds at the stop what it held then.
const CASES: &[(&[&str], &str)] = &[
    (&["edit", "run"], "same"),
    (&["edit", "run", "edit again"], "other"),
    (&["run", "edit"], "other"),
    (&["edit", "run", "comment"], "same"),
    (&["edit", "run", "layout"], "same"),
    (&["edit", "run", "edit again", "edit"], "same"),
    (&["edit", "run", "stash", "pop"], "same"),
    (&["edit", "stash", "run", "pop"], "other"),
    (&["edit", "run", "commit"], "same"),
    (&["edit", "commit", "run"], "same"),
    (&["edit", "commit", "run", "edit again"], "other"),
    (&["edit", "run and edit again"], "neither"),
    (&["edit", "run", "python"], "other"),
    (&["new", "run"], "same"),
    (&["remove", "run"], "same"),
    (&["edit", "run", "remove"], "other"),
    (&["edit", "run by a subagent"], "same"),
    (&["edit", "run by a tool"], "same"),
];

struct Turn {
    world: World,
    top: PathBuf,
    calls: usize,
    /// What the calls print.
    printed: &'static str,
    _folder: tempfile::TempDir,
}

impl Turn {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().canonicalize().expect("a path");
        let mut turn = Self {
            world: World::new(CONFIG),
            top,
            calls: 0,
            printed: PRINTED,
            _folder: folder,
        };
        turn.write("code.rs", "fn zero() {}\n");
        turn.git("init -q");
        turn.git("add -A");
        turn.git("-c user.name=a -c user.email=a@example.org commit -q -m one");
        let prompt = json!({ "cwd": turn.top, "prompt": "go", "prompt_id": "p" });
        turn.world.call("UserPromptSubmit", prompt, None).await;
        turn.wait_for("head_seen", 1).await;
        turn
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.top.join(name), text).expect("writes");
    }

    fn git(&self, arguments: &str) {
        git(&self.top, arguments);
    }

    fn count(&self, kind: &str) -> usize {
        let events = self.world.shared.journal.events_from(1);
        let events = events.map(|envelope| envelope.expect("reads").event);
        events.filter(|event| event.kind() == kind).count()
    }

    async fn wait_for(&self, kind: &str, count: usize) {
        while self.count(kind) < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.world.shared.settle().await.expect("settles");
        }
    }

    /// A call begins, does something, ends, and is examined.
    async fn call(&mut self, mut fields: Value, does: impl FnOnce(&Self)) {
        self.calls += 1;
        fields["tool_use_id"] = format!("toolu_{}", self.calls).into();
        self.world.call("PreToolUse", fields.clone(), None).await;
        // A file that is written in the same tick may have been there before.
        tokio::time::sleep(2 * crate::git::FILE_TICK).await;
        does(self);
        fields["tool_response"] = json!({ "stdout": self.printed, "stderr": "" });
        self.world.call("PostToolUse", fields, None).await;
        self.wait_for("call_examined", self.calls).await;
    }

    async fn step(&mut self, step: &str) {
        let shell = |line: &str| json!({ "tool_name": "Bash", "tool_input": { "command": line } });
        match step {
            "edit" => self.write("code.rs", ONE),
            "edit again" => self.write("code.rs", "fn two() {}\n"),
            "comment" => self.write("code.rs", "// Does one thing.\nfn one() {}\n\n"),
            "layout" => self.write("code.rs", "fn one()\n{\n}\n"),
            "new" => self.write("new.rs", ONE),
            "remove" => std::fs::remove_file(self.top.join("code.rs")).expect("removes"),
            "stash" => self.git("-c user.name=a -c user.email=a@example.org stash -q"),
            "pop" => self.git("stash pop -q"),
            "commit" => {
                self.git("-c user.name=a -c user.email=a@example.org commit -q -a -m two");
            }
            "run" => self.call(shell(RUN), |_| ()).await,
            "run and edit again" => {
                self.call(shell(RUN), |turn| turn.write("code.rs", "fn two() {}\n"))
                    .await;
            }
            "run by a subagent" => {
                let mut fields = shell(RUN);
                fields["agent_id"] = "a1".into();
                self.call(fields, |_| ()).await;
            }
            "run in another session" | "fail in another session" => {
                let of_other = json!({ "session_id": "another", "cwd": self.top });
                let mut prompt = of_other.clone();
                prompt["prompt"] = "test it".into();
                self.world.call("UserPromptSubmit", prompt, None).await;
                let mut fields = shell(RUN);
                for (key, value) in of_other.as_object().expect("an object") {
                    fields[key] = value.clone();
                }
                // The pipe hides the status.
                if step.starts_with("fail") {
                    self.printed = "1 failed, 2 passed in 0.01s\n";
                }
                self.call(fields, |_| ()).await;
            }
            "run by a tool" => {
                let tool = json!({ "tool_name": "mcp__ide__run_tests", "tool_input": {} });
                self.call(tool, |_| ()).await;
            }
            "python" => {
                let line = "python - <<X\nopen('code.rs', 'w').write('fn two() {}')\nX";
                self.call(shell(line), |turn| turn.write("code.rs", "fn two() {}\n"))
                    .await;
            }
            other => panic!("{other}"),
        }
    }

    async fn stop(mut self) -> (Timeline, Facts) {
        self.world
            .call(
                "Stop",
                json!({ "cwd": self.top }),
                Some(Duration::from_secs(60)),
            )
            .await;
        self.world.shared.settle().await.expect("settles");
        let (mut timeline, mut facts) = (Timeline::default(), Facts::default());
        for envelope in self.world.shared.journal.events_from(1) {
            match envelope.expect("reads").event {
                Event::EvidenceGathered { evidence, .. } => timeline = evidence.timeline,
                Event::FactsGathered { facts: found, .. } => facts = *found,
                _ => {}
            }
        }
        (timeline, facts)
    }
}

fn git(top: &Path, arguments: &str) {
    let output = Command::new("git")
        .args(arguments.split(' '))
        .current_dir(top)
        .output();
    let output = output.expect("git runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {complaint}");
}

#[test]
fn a_run_counts_for_the_content_that_it_ran_on() {
    run(async {
        let mut wrong = Vec::new();
        for (steps, expected) in CASES {
            let mut turn = Turn::begin().await;
            for step in *steps {
                turn.step(step).await;
            }
            let name = if steps.contains(&"new") {
                "new.rs"
            } else {
                "code.rs"
            };
            let (_, facts) = turn.stop().await;
            let seen = facts.seen.iter().find(|seen| seen.call == 0);
            let has = |list: &[String]| list.iter().any(|path| path == name);
            let found = match seen {
                Some(seen) if has(&seen.same) => "same",
                Some(seen) if has(&seen.other) => "other",
                _ => "neither",
            };
            if found != *expected {
                wrong.push(format!("{steps:?}: {found}, {:?}", facts.seen));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// It has to have run on all that the stop leaves.
#[test]
fn a_run_of_another_session_counts_for_the_same_contents() {
    run(async {
        for (steps, counts) in [
            (["run", "edit", "run in another session"].as_slice(), true),
            (&["run", "edit", "new", "run in another session"], true),
            (&["run", "run in another session", "edit"], false),
            (&["run", "edit", "fail in another session"], false),
            (&["run", "edit", "run in another session", "new"], false),
        ] {
            let mut turn = Turn::begin().await;
            for step in steps {
                turn.step(step).await;
            }
            let (timeline, facts) = turn.stop().await;
            let others = timeline.calls.iter().position(ToolCall::is_others);
            assert_eq!(others.is_some(), counts, "{steps:?}: {timeline:?}");
            let of_other = facts.seen.iter().find(|seen| Some(seen.call) == others);
            assert_eq!(of_other.is_some(), counts, "{steps:?}: {:?}", facts.seen);
        }
    });
}

#[test]
fn an_output_is_read_from_the_hook_call_where_there_is_no_transcript() {
    run(async {
        let mut turn = Turn::begin().await;
        turn.step("edit").await;
        turn.step("run").await;
        let (timeline, facts) = turn.stop().await;
        assert_eq!(timeline.calls.len(), 1);
        let outcome = facts.outcome(0).expect("an outcome");
        let expected = Summary {
            kind: SummaryKind::Tests,
            tool: "pytest".into(),
            verdict: SummaryVerdict::Passed,
            passed: Some(3),
            ..Summary::default()
        };
        assert_eq!(outcome.summaries, [expected]);
        assert_eq!(facts.prompts, ["go"]);
    });
}

/// A daemon that died in between looks again, and an actor that replays looks at nothing twice.
#[test]
fn a_call_is_examined_once() {
    run(async {
        let mut turn = Turn::begin().await;
        turn.step("edit").await;
        turn.step("run").await;
        let session = turn.world.state().await.session();
        for _ in 0..2 {
            turn.world
                .sessions
                .send(crate::registry::Kill(session))
                .await
                .expect("it lives");
            let state = turn.world.state().await;
            assert!(state.turn.waiting.is_empty() && state.turn.examined.len() == 1);
        }
        turn.step("run").await;
        assert_eq!(turn.count("call_examined"), 2);
    });
}
