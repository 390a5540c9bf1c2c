//! Rules of packs and files, laid over one another.

use super::error::{ConfigError, did_you_mean};
use super::rule_entry::RuleEntry;
use super::yaml::Name;
use crate::rules::{Rule, RuleAction, packs};

/// Applies the entries of files, in order, to the rules of the named packs.
pub(super) fn resolve(pack_names: &[String], files: &[&[RuleEntry]]) -> Vec<Rule> {
    let rules = packs::all()
        .iter()
        .filter(|pack| pack_names.iter().any(|name| name == pack.name))
        .flat_map(|pack| pack.rules.iter().cloned())
        .collect();
    files
        .iter()
        .fold(rules, |rules, entries| lay(rules, entries))
}

/// Applies the entries of one file.
pub(super) fn lay(mut rules: Vec<Rule>, entries: &[RuleEntry]) -> Vec<Rule> {
    let mut added = Vec::new();
    for entry in entries {
        let known = rules.iter().any(|rule| entry.means(rule));
        if entry.disable {
            rules.retain(|rule| !entry.means(rule));
        } else if known {
            let active = rules.clone();
            rules
                .iter_mut()
                .filter(|rule| entry.means(rule))
                .for_each(|rule| {
                    entry.change(rule);
                    borrow(entry, rule, &active);
                });
        } else if entry.include.is_some() {
            let mut rule = entry.rule(Rule::OWN_PACK);
            borrow(entry, &mut rule, &rules);
            added.push(rule);
        }
    }
    // Rules written for this project come before those of the packs.
    rules.splice(0..0, added);
    rules
}

/// Adds the actions for the purposes that the entry needs.
fn borrow(entry: &RuleEntry, rule: &mut Rule, active: &[Rule]) {
    let needs = entry.needs.iter();
    rule.actions
        .extend(needs.filter_map(|need| borrowed(&need.text, active)));
}

/// Returns the action for a purpose from the active rules, or else from any pack.
fn borrowed(purpose: &str, active: &[Rule]) -> Option<RuleAction> {
    let any = packs::all().iter().flat_map(|pack| &pack.rules).rev();
    // Rules that apply only when no code changed have wording that is wrong for other files.
    let rules = active.iter().chain(any).filter(|rule| !rule.alone);
    rules
        .flat_map(|rule| &rule.actions)
        .find(|action| action.purpose == purpose)
        .cloned()
}

/// Refuses entries that can have no effect; `earlier` are the entries of the lower layer.
pub(super) fn check(
    file: &str,
    text: &str,
    entries: &[RuleEntry],
    earlier: &[RuleEntry],
) -> Result<(), ConfigError> {
    let known = || packs::all().iter().flat_map(|pack| &pack.rules);
    let wrong =
        |name: &Name, message: String| ConfigError::at(file, text, name.line, name.column, message);
    for entry in entries {
        let exists = known().any(|rule| entry.means(rule))
            || earlier
                .iter()
                .any(|other| other.name.text == entry.name.text);
        if !exists && (entry.disable || entry.include.is_none()) {
            let names = known()
                .map(|rule| rule.name.as_str())
                .chain(earlier.iter().map(|entry| entry.name.text.as_str()));
            let hint =
                did_you_mean(&entry.name.text, names).or(Some("a new rule needs `include`".into()));
            return Err(
                wrong(&entry.name, format!("unknown rule `{}`", entry.name.text)).with_hint(hint),
            );
        }
        for need in &entry.needs {
            if borrowed(&need.text, &[]).is_none() {
                let purposes = known()
                    .flat_map(|rule| &rule.actions)
                    .map(|action| action.purpose.as_str());
                let hint = did_you_mean(&need.text, purposes);
                return Err(
                    wrong(need, format!("no pack has an action for `{}`", need.text))
                        .with_hint(hint),
                );
            }
        }
    }
    Ok(())
}
