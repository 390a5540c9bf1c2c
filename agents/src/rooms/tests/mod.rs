//! What must hold for every adapter.

mod antigravity;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod dsh;
mod gemini;
mod grok;
mod kilo;
mod kimi;
mod opencode;
mod openhands;
mod pi;
mod prompts;
mod qwen;
mod screens;
mod unknown;
mod vibe;

use std::collections::HashSet;
use std::path::Path;

use journal::{Agent, Event, Host, PromptOrigin, Timestamp};
use serde_json::json;
use testkit::dialect::Dialect;

use super::*;
use crate::adapter::Reply;
use crate::hooks::payload::Payload;
use crate::transcript::tests::fixtures;

#[test]
fn every_agent_has_an_adapter() {
    assert!(ALL.is_sorted_by_key(|adapter| adapter.agent.word()));
    for agent in Agent::HOSTS {
        assert!(adapter(agent).is_some(), "{agent}");
    }
    assert!(adapter(Agent::Daemon).is_none());
}

#[test]
fn adapters_answer_in_their_own_terms() {
    let mut tools = HashSet::new();
    for adapter in ALL {
        let agent = adapter.agent;
        assert!(!adapter.program.is_empty());
        for form in [Reply::Auto, Reply::Block, Reply::Context] {
            let form = adapter.reply_form(form, None);
            assert!(adapter.reply_forms().any(|known| known == form), "{agent}");
        }
        let variables = adapter.variables;
        for name in [variables.session, variables.project, variables.pid]
            .into_iter()
            .flatten()
        {
            assert!(
                journal::request::ENV_NAMES.contains(&name),
                "{agent}: {name}"
            );
        }
        let known = (adapter.tools.known)();
        for name in known.tools.values().flatten() {
            assert!(tools.insert((agent, name)), "{agent}: {name} twice");
        }
        let lists = [
            &known.refusals,
            &known.failures,
            &known.companions,
            &known.calls_to_work,
            &known.asides,
            &known.statuses,
            &known.marks,
            &known.line_types,
            &known.task_marks,
            &known.fields.turn,
        ];
        for list in known.tools.values().chain(lists) {
            assert!(
                list.is_sorted_by(|a, b| a < b),
                "{agent}: {list:?} is not sorted"
            );
        }
    }
}

#[test]
fn our_text_that_comes_back_as_a_prompt_is_no_persons_whichever_agent_says_it() {
    let authors = authors("[TeleClaude Checkpoint] - ");
    for adapter in ALL {
        let agent = adapter.agent;
        let dialect = Dialect::of(agent);
        for (text, is_ours) in [("[TeleClaude Checkpoint] - run it", true), ("go", false)] {
            let mut payload = json!({ "prompt": text, "typed": !is_ours });
            (dialect.rewrite)(&mut payload);
            let read = Payload::new(&payload, Timestamp::default(), &authors);
            let hook = dialect.hook("UserPromptSubmit");
            let Event::PromptSubmitted { origin, .. } =
                (adapter.event)(hook, Host::default(), &read, adapter.tools)
            else {
                panic!("{agent}: no prompt");
            };
            assert_eq!(origin == PromptOrigin::Own, is_ours, "{agent}: {text}");
            assert_eq!(origin == PromptOrigin::User, !is_ours, "{agent}: {text}");
        }
    }
}

#[test]
fn the_session_of_a_tool_is_that_of_the_agent_that_runs_it() {
    // Gemini CLI also sets Claude Code's variables, and Qwen Code those of both.
    let variables: Vec<_> = session_variables().collect();
    assert_eq!(
        variables,
        [
            "QWEN_CODE_SESSION_ID",
            "CHECKPOINTD_PI_SESSION",
            "CHECKPOINTD_OPENCODE_SESSION",
            "CHECKPOINTD_KILO_SESSION",
            "GEMINI_SESSION_ID",
            "DSH_SESSION_ID",
            "CLAUDE_CODE_SESSION_ID"
        ]
    );
}

#[test]
fn only_a_notify_call_of_codex_has_other_fields() {
    let notify = json!({ "type": "agent-turn-complete", "thread-id": "t" });
    let authors = authors("");
    let payload = Payload::new(&notify, Timestamp::default(), &authors);
    for adapter in ALL {
        let agent = adapter.agent;
        let hook = adapter.fields(&payload).hook.as_deref();
        let expected = (agent == Agent::Codex).then_some("notify");
        assert_eq!(hook, expected, "{agent}");
    }
}

#[test]
fn every_recorded_transcript_has_a_row_in_the_tests_of_its_agent() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for agent in Agent::WORDS {
        // An agent may keep its sessions in no files.
        let tests = crate_folder.join(format!("src/rooms/tests/{agent}.rs"));
        let rows = std::fs::read_to_string(tests).unwrap_or_default();
        for folder in std::fs::read_dir(fixtures().join(agent)).expect("recordings") {
            let folder = folder.expect("a recording").path();
            if folder.extension().is_none_or(|kind| kind != "transcripts") {
                continue;
            }
            for file in std::fs::read_dir(&folder).expect("transcripts") {
                let name = file.expect("a transcript").file_name();
                let name = name.into_string().expect("a plain name");
                assert!(rows.contains(&name), "{agent}: {name} has no row");
            }
        }
    }
}
