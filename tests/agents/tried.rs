//! What is tried with which agent.

use crate::agent::Agent;
use crate::notify;
use crate::opencode;
use crate::progress;
use crate::scenarios::{
    also_run, client_gone, done_already, failing_command, held_push, held_subagent, in_terminal,
    killed_daemon, long_turn, next_prompt, no_cap, parallel_calls, recorded, short_turn, subagent,
    uninstalled,
};
use crate::stage::Counts;
use crate::typed;

/// A name, and what to do.
type Scenario = (&'static str, fn(Agent) -> Counts);

const PUSHED: &str = "a push of open work is held once";
const LONG: &str = "a long turn is journaled, gets one checkpoint, then may end";
const DONE: &str = "what is done already is not asked for";
const RECORDED: &str = "its commit has a record that stands up to public tools";
const GONE: &str = "without the hook client it works as before";
const FAILING: &str = "a failing command is seen";
const UNINSTALLED: &str = "without hooks nothing is called";
const WATCHED: &str = "without a terminal it is only watched";
const PARALLEL: &str = "parallel calls are seen once each";
const KILLED: &str = "a daemon killed in mid-turn loses nothing";
const RESUMED: &str = "after the checkpoint it may work on; the next prompt counts anew";
const TOLD: &str = "what was left is told once, to the session that begins next";
const CLEARED: &str = "after /clear it is told what was left";
const TERMINAL: &str = "in its terminal it is told once too";
const COMPACTED: &str = "before a compaction the work is written down";
const RESTARTED: &str = "restarted in its terminal it is the same session, told there once";
const DRAFTED: &str = "a person's draft is waited out, and nothing of it is lost";
const ASKED: &str = "while it asks for permission nothing is typed";
const STEERED: &str = "what is typed while it works is added to the turn";
const STAYS: &str = "a half-typed draft stays as it is";
const BESIDE: &str = "what is there for Claude Code is not journaled too";
const DELEGATED: &str = "a subagent's stops change nothing";

const USUAL: [Scenario; 19] = [
    ("a short turn is left alone", short_turn),
    (LONG, long_turn),
    (DONE, done_already),
    (RECORDED, recorded),
    (RESUMED, next_prompt),
    (FAILING, failing_command),
    (PARALLEL, parallel_calls),
    (DELEGATED, subagent),
    (KILLED, killed_daemon),
    (UNINSTALLED, uninstalled),
    (GONE, client_gone),
    (TERMINAL, in_terminal),
    (TOLD, progress::told_at_start),
    (COMPACTED, progress::compacted),
    (CLEARED, progress::cleared),
    (RESTARTED, typed::restarted),
    (DRAFTED, typed::drafted),
    (ASKED, typed::asked),
    (STEERED, typed::steered),
];

/// Returns what is tried with this agent.
pub(crate) fn of(agent: Agent) -> Vec<Scenario> {
    let mut scenarios = USUAL.to_vec();
    scenarios.retain(|(name, _)| !left_out(agent).contains(name));
    scenarios.extend_from_slice(own(agent));
    scenarios
}

/// Returns whether a scenario is played where nobody asked for all. The time of these checks is limited, and what they
/// are about is the same for all agents.
pub(crate) fn is_short(agent: Agent, name: &str) -> bool {
    match agent {
        Agent::Kilo | Agent::OpenHands => [LONG, FAILING].contains(&name),
        Agent::OpenCode => [LONG, UNINSTALLED, WATCHED].contains(&name),
        Agent::Droid => [LONG, FAILING, UNINSTALLED].contains(&name),
        Agent::Pi => [LONG, RESUMED, UNINSTALLED, TERMINAL].contains(&name),
        Agent::Kimi => [LONG, FAILING, UNINSTALLED, GONE].contains(&name),
        Agent::Vibe => [RESUMED, FAILING, UNINSTALLED].contains(&name),
        Agent::Dsh => [FAILING, UNINSTALLED, GONE].contains(&name),
        Agent::Grok => [LONG, FAILING, UNINSTALLED, BESIDE].contains(&name),
        // It denies everything if a hook fails.
        Agent::Copilot if name == GONE => true,
        _ => ![DONE, GONE, DRAFTED, ASKED].contains(&name),
    }
}

/// Returns what the agent has no use for.
fn left_out(agent: Agent) -> &'static [&'static str] {
    match agent {
        // It has no hook whose reply a new session reads, and no id of the turn. Its subagents and compactions are not tried.
        Agent::Kimi => &[DELEGATED, TOLD, COMPACTED, CLEARED, STEERED],
        // Their settings here allow everything. Their dialogs are known from recorded screens.
        Agent::Claude | Agent::Codex => &[ASKED],
        // It holds back what is typed until it has stopped, too.
        Agent::Gemini => &[STEERED, ASKED],
        // It has no hook for a prompt, a start or a compaction.
        Agent::Vibe => &[DELEGATED, TOLD, COMPACTED, CLEARED, STEERED],
        // They read no reply to the start of a session, and have no id of the turn.
        Agent::Copilot | Agent::OpenCode | Agent::Kilo => &[TOLD, CLEARED, STEERED],
        // Without an account it has no terminal view and takes up no session. Its subagents are not tried.
        Agent::Droid => &[
            RESUMED, TOLD, TERMINAL, COMPACTED, CLEARED, RESTARTED, DRAFTED, ASKED, STEERED,
            DELEGATED,
        ],
        // It has no subagents, and asks for no permission.
        Agent::Pi => &[TOLD, CLEARED, STEERED, DELEGATED, COMPACTED, ASKED],
        // It reads no reply to the start of a session, tells of no compaction, and has no id of the turn.
        Agent::OpenHands => &[DELEGATED, TOLD, COMPACTED, CLEARED, STEERED],
        // The package from PyPI has no terminal view, and takes up no session. Its subagents are not tried.
        Agent::Dsh => &[
            RESUMED, TOLD, TERMINAL, COMPACTED, CLEARED, RESTARTED, DRAFTED, ASKED, STEERED,
            DELEGATED,
        ],
        // It reads no reply to the start of a session. What is typed while it works, and its compactions, are not tried.
        Agent::Grok => &[TOLD, CLEARED, STEERED, COMPACTED],
        Agent::Qwen => &[],
    }
}

/// Returns what is tried with this agent only.
fn own(agent: Agent) -> &'static [Scenario] {
    match agent {
        Agent::Claude => &[
            (PUSHED, held_push),
            (
                "a subagent that leaves its work open goes on with it, once",
                held_subagent,
            ),
        ],
        Agent::Gemini => &[(PUSHED, held_push)],
        Agent::Codex => &[
            (PUSHED, held_push),
            (
                "its notify beside hooks tells of nothing new",
                notify::notified_too,
            ),
            (
                "by notify alone it is told in its terminal, once",
                notify::notified_only,
            ),
            ("a half-typed draft is waited out", notify::draft),
        ],
        Agent::Copilot | Agent::Grok => &[(BESIDE, also_run)],
        Agent::Droid | Agent::OpenHands => &[("with no limit of its own ours holds", no_cap)],
        Agent::OpenCode => &[(WATCHED, opencode::watched), (STAYS, opencode::draft_stays)],
        Agent::Kilo => &[(STAYS, opencode::draft_stays)],
        _ => &[],
    }
}
