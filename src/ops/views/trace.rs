//! What each rule found, and the words for it that people read, in the terminal and on the page.

use checkpoint::findings::{ActionTrace, Outcome, RuleTrace, TracedCall};
use journal::{Timeline, TimelineSource};
use serde_json::{Value, json};

/// Commands that are named as what was looked for; of more, only how many there are.
const NAMED_MAX: usize = 4;
/// The most of a command line that is shown.
const COMMAND_CHARS_MAX: usize = 90;

/// Returns the trace with `looked` and `seen` for each action: what was looked for among the calls of this timeline, and
/// a line for each call that looked like it, or one on why there is none.
pub(super) fn trace(rules: &[RuleTrace], timeline: &Timeline) -> Value {
    let mut view = json!(rules);
    for (rule, shown) in rules.iter().zip(view.as_array_mut().into_iter().flatten()) {
        for (action, shown) in rule
            .actions
            .iter()
            .zip(shown["actions"].as_array_mut().into_iter().flatten())
        {
            shown["looked"] = looked(&action.looked_for).into();
            shown["seen"] = seen(action, timeline).into();
        }
    }
    view
}

fn looked(commands: &[String]) -> String {
    if commands.is_empty() {
        return "nothing: no command shows that it was done".into();
    }
    let named = commands[..commands.len().min(NAMED_MAX)].join(", ");
    match commands.len().saturating_sub(NAMED_MAX) {
        0 => named,
        // One more is no longer than to say so.
        1 => commands.join(", "),
        more => format!("{named} and {more} more"),
    }
}

fn seen(action: &ActionTrace, timeline: &Timeline) -> Vec<String> {
    if !action.found.is_empty() {
        return action.found.iter().map(call).collect();
    }
    let nothing = match timeline.calls.len() {
        _ if action.looked_for.is_empty() => return Vec::new(),
        _ if timeline.source == TimelineSource::None => {
            "nothing: what the agent did is not known".into()
        }
        0 => "nothing: the agent called no tool".into(),
        1 => "nothing like it in 1 call".into(),
        calls => format!("nothing like it in {calls} calls"),
    };
    vec![nothing]
}

fn call(seen: &TracedCall) -> String {
    let outcome = match seen.outcome {
        Outcome::Counts => "counts",
        Outcome::NotRun => "was not certainly run",
        Outcome::Failed => "failed",
        Outcome::TooEarly => "came before what it has to follow",
        Outcome::BeforeEdit => "came before the last edit",
    };
    format!(
        "call {} `{}`: {outcome}",
        seen.call + 1,
        crate::render::cut(&seen.command, COMMAND_CHARS_MAX)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_short() {
        let looked = |commands: &str| {
            looked(
                &commands
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(looked("a b c d"), "a, b, c, d");
        assert_eq!(looked("a b c d e"), "a, b, c, d, e");
        assert_eq!(looked("a b c d e f"), "a, b, c, d and 2 more");
        assert_eq!(looked(""), "nothing: no command shows that it was done");
    }
}
