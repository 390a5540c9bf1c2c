//! Says whether the demo went as it should: it is a test of the installation as well.

use checkpoint::agents::{self, adapter::Adapter};
use checkpoint::reply;
use journal::{Agent, ReplyForm};
use serde_json::{Value, json};

use super::play::Reply;
use super::recording::Recording;

/// What came of one recording.
pub(super) struct Played<'a> {
    /// The recording.
    pub(super) recording: &'a Recording,
    /// The agent's id of the session.
    pub(super) session: String,
    /// All that the agent was told.
    pub(super) replies: Vec<Reply>,
}

/// What the daemon says afterwards.
#[derive(Default)]
pub(super) struct Outcome {
    /// The sessions.
    pub(super) sessions: Vec<Value>,
    /// The decisions.
    pub(super) decisions: Vec<Value>,
    /// What `journal verify` says.
    pub(super) journal: Value,
    /// What `replay --verify` says.
    pub(super) replay: Value,
    /// Payloads that could not be read.
    pub(super) rejected: u64,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns what is not as expected, one sentence each.
pub(super) fn problems(
    played: &[Played<'_>],
    outcome: &Outcome,
    expected_reason: &str,
) -> Vec<String> {
    let mut problems = Vec::new();
    for played in played {
        let name = played.recording.name;
        problems.extend(
            of_session(played, outcome, expected_reason)
                .into_iter()
                .map(|what| format!("{name}: {what}")),
        );
    }
    if outcome.journal["ok"] != json!(true) {
        problems.push(format!("journal verify: {}", outcome.journal));
    }
    if outcome.replay["decisions"] != outcome.replay["matched"]
        || outcome.replay["decisions"] == json!(0)
    {
        problems.push(format!("replay --verify: {}", outcome.replay));
    }
    if outcome.rejected > 0 {
        problems.push(format!("{} payloads could not be read", outcome.rejected));
    }
    problems
}

fn of_session(played: &Played<'_>, outcome: &Outcome, expected_reason: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let ours = |line: &&Value| text(&line["native_session"]) == played.session;
    if !outcome
        .sessions
        .iter()
        .filter(ours)
        .any(|session| session["ended"] == json!(true))
    {
        problems.push("its session is not there, or has not ended".to_owned());
    }
    let decisions: Vec<_> = outcome.decisions.iter().filter(ours).collect();
    let made: Vec<_> = decisions
        .iter()
        .map(|line| (text(&line["verdict"]), text(&line["reason"])))
        .collect();
    if made != [("inject", expected_reason), ("pass", "block_budget")] {
        problems.push(format!(
            "decided {made:?}, not one checkpoint ({expected_reason}) and then to let it stop"
        ));
    }
    let [reply] = played.replies.as_slice() else {
        problems.push(format!(
            "it was told something {} times, not once",
            played.replies.len()
        ));
        return problems;
    };
    let message = decisions
        .first()
        .map(|line| text(&line["message"]))
        .unwrap_or_default();
    let forms = Agent::host(played.recording.agent)
        .and_then(agents::adapter)
        .map(Adapter::reply_forms);
    let is_message = |form: &ReplyForm| reply::to_stop(*form, message) == reply.text;
    if !forms.is_some_and(|forms| forms.iter().any(is_message)) {
        problems.push(format!(
            "the reply is not the decided message in its dialect: {}",
            reply.text
        ));
    }
    if !decisions
        .first()
        .is_some_and(|line| line["delivery"] == "confirmed")
    {
        problems.push("it was not seen to take the checkpoint".to_owned());
    }
    problems
}
