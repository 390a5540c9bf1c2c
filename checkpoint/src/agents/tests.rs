//! What holds for every adapter.

mod prompts;

use std::collections::HashSet;

use journal::{Agent, Timestamp};
use serde_json::json;

use super::*;
use crate::hooks::payload::Payload;
use crate::policy::Reply;

#[test]
fn every_agent_has_an_adapter() {
    for agent in Agent::HOSTS {
        let found = adapter(agent).map(Adapter::agent);
        assert_eq!(found, Some(agent));
    }
    assert!(adapter(Agent::Daemon).is_none());
}

#[test]
fn adapters_answer_in_their_own_terms() {
    let mut tools = HashSet::new();
    for adapter in ALL {
        let agent = adapter.agent();
        assert!(!adapter.program().is_empty() && !adapter.reply_forms().is_empty());
        for form in [Reply::Auto, Reply::Block, Reply::Context] {
            assert!(
                adapter
                    .reply_forms()
                    .contains(&adapter.reply_form(form, None))
            );
        }
        let variables = adapter.variables();
        for name in [variables.session, variables.project, variables.pid]
            .into_iter()
            .flatten()
        {
            assert!(
                journal::request::ENV_NAMES.contains(&name),
                "{agent}: {name}"
            );
        }
        for (_, names) in adapter.tools().kinds {
            for name in *names {
                assert!(tools.insert((agent, *name)), "{agent}: {name} twice");
            }
        }
    }
}

#[test]
fn the_session_of_a_tool_is_that_of_the_agent_that_runs_it() {
    // Gemini CLI also sets Claude Code's variables.
    let variables: Vec<_> = session_variables().collect();
    assert_eq!(variables, ["GEMINI_SESSION_ID", "CLAUDE_CODE_SESSION_ID"]);
}

#[test]
fn only_a_notify_call_of_codex_has_other_fields() {
    let notify = json!({ "type": "agent-turn-complete", "thread-id": "t" });
    let authors = authors("");
    let payload = Payload::new(&notify, Timestamp::default(), &authors);
    for adapter in ALL {
        let hook = adapter.fields(&payload).hook;
        let expected = (adapter.agent() == Agent::Codex).then_some("notify");
        assert_eq!(hook, expected, "{}", adapter.agent());
    }
}
