//! The demands of a decision: what an agent was asked to do, one by one, each with the rule that asked.

use journal::{Action, Decision};

/// The rule of observations, which no rule of a file makes.
const OBSERVATION: &str = "observation";

/// One demand of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand<'a> {
    /// Its number in the decision, from 1.
    pub item: u32,
    /// The rule that made it: the category of an action, or `observation`.
    pub rule: &'a str,
    /// Its words.
    pub text: &'a str,
    /// Whether it asks for an action. Later evidence can show whether an action was done.
    pub is_action: bool,
}

/// Returns the demands of a decision that sent a checkpoint: its actions, then its observations.
pub fn of(decision: &Decision) -> Vec<Demand<'_>> {
    of_parts(&decision.actions, &decision.observations)
}

/// As [`of`], from the parts of a decision.
pub fn of_parts<'a>(actions: &'a [Action], observations: &'a [String]) -> Vec<Demand<'a>> {
    let actions = actions
        .iter()
        .map(|action| (action.category.as_str(), action.text.as_str(), true));
    let observations = observations
        .iter()
        .map(|text| (OBSERVATION, text.as_str(), false));
    actions
        .chain(observations)
        .zip(1..)
        .map(|((rule, text, is_action), item)| Demand {
            item,
            rule,
            text,
            is_action,
        })
        .collect()
}
