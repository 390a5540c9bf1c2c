//! Compares the demo's results with the expected ones: the demo also tests the installation.

use checkpoint::agents;
use checkpoint::reply;
use journal::recovery::verify::Verified;
use journal::{Agent, Outcome as Delivery, ReplyForm};

use super::play::Reply;
use super::recording::Script;
use super::recordings::Recording;
use crate::ops::views::{DecisionRow, Reproved, SessionRow};

/// The result of one recording.
pub(super) struct Played<'a> {
    pub(super) recording: &'a Recording,
    pub(super) session: String,
    /// The stops in the recording.
    pub(super) stops: usize,
    /// Whether the recording has the session's end.
    pub(super) ends: bool,
    pub(super) replies: Vec<Reply>,
}

impl<'a> Played<'a> {
    pub(super) fn new(recording: &'a Recording, script: Script, replies: Vec<Reply>) -> Self {
        Self {
            recording,
            stops: script.stops(),
            ends: script.ends(),
            session: script.session,
            replies,
        }
    }
}

/// What the daemon reports afterward.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) sessions: Vec<SessionRow>,
    pub(super) decisions: Vec<DecisionRow>,
    /// The result of `journal verify`.
    pub(super) journal: Verified,
    /// The result of `replay --verify`.
    pub(super) replay: Reproved,
    /// Payloads that could not be read.
    pub(super) rejected: u64,
}

/// Returns all deviations, one sentence each.
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
    if !outcome.journal.ok {
        problems.push(format!("journal verify: {:?}", outcome.journal));
    }
    let replay = &outcome.replay;
    if replay.decisions != replay.matched || replay.decisions == 0 {
        problems.push(format!("replay --verify: {replay:?}"));
    }
    if outcome.rejected > 0 {
        problems.push(format!("{} payloads could not be read", outcome.rejected));
    }
    problems
}

fn of_session(played: &Played<'_>, outcome: &Outcome, expected_reason: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut sessions = outcome.sessions.iter();
    if !sessions.any(|row| row.native_session == played.session && row.ended == played.ends) {
        problems.push("its session is missing or has not ended".to_owned());
    }
    let decisions = outcome.decisions.iter();
    let decisions: Vec<_> = decisions
        .filter(|row| row.native_session == played.session)
        .collect();
    let made: Vec<_> = decisions
        .iter()
        .map(|row| (row.verdict.word(), row.reason.word()))
        .collect();
    let later = std::iter::repeat_n(("pass", "block_budget"), played.stops - 1);
    let expected = std::iter::once(("inject", expected_reason)).chain(later);
    if !made.iter().copied().eq(expected) {
        problems.push(format!(
            "decided {made:?}, not one checkpoint ({expected_reason}) and then to let it stop"
        ));
    }
    let [reply] = played.replies.as_slice() else {
        problems.push(format!("it got {} messages, not one", played.replies.len()));
        return problems;
    };
    let message = decisions
        .first()
        .and_then(|row| row.message.as_deref())
        .unwrap_or_default();
    let forms = Agent::host(played.recording.agent)
        .and_then(agents::adapter)
        .map(|adapter| adapter.reply_forms());
    let is_message = |form: ReplyForm| reply::to_stop(form, message) == reply.text;
    if !forms.is_some_and(|mut forms| forms.any(is_message)) {
        problems.push(format!(
            "the reply is not the decided message in its dialect: {}",
            reply.text
        ));
    }
    if !decisions
        .first()
        .is_some_and(|row| row.delivery == Delivery::Confirmed)
    {
        problems.push("the checkpoint's delivery was not confirmed".to_owned());
    }
    problems
}
