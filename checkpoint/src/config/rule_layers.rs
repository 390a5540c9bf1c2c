//! Rules of packs and files, laid over one another.

use super::error::{ConfigError, did_you_mean};
use super::project_file::ASKED_BY_PROJECT;
use super::rule_entry::RuleEntry;
use super::yaml::Name;
use crate::rules::{Rule, RuleAction, packs};

/// Applies the user's entries and then the project's to the rules of the named packs.
pub(super) fn resolve(
    pack_names: &[String],
    user: &[RuleEntry],
    project: &[RuleEntry],
) -> Vec<Rule> {
    let rules = packs::all()
        .iter()
        .filter(|pack| pack_names.iter().any(|name| name == pack.name))
        .flat_map(|pack| pack.rules.iter().cloned())
        .collect();
    lay(lay(rules, user, ""), project, ASKED_BY_PROJECT)
}

/// Applies the entries of one file. `source` is added to the text of every action that the file asks for.
pub(super) fn lay(mut rules: Vec<Rule>, entries: &[RuleEntry], source: &str) -> Vec<Rule> {
    let mut added = Vec::new();
    let is_foreign = !source.is_empty();
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
                    ask(entry, rule, &active, source);
                    rule.of_project |= is_foreign && entry.speaks();
                });
        } else if entry.include.is_some() {
            let mut rule = entry.rule(Rule::OWN_PACK);
            ask(entry, &mut rule, &rules, source);
            rule.of_project = is_foreign;
            added.push(rule);
        }
    }
    // Rules written for this project come before those of the packs.
    rules.splice(0..0, added);
    rules
}

/// Applies the keys of an entry, and adds the actions for the purposes that it needs.
fn ask(entry: &RuleEntry, rule: &mut Rule, active: &[Rule], source: &str) {
    entry.change(rule);
    let before = if entry.replaces_actions() {
        0
    } else {
        rule.actions.len()
    };
    let needs = entry.needs.iter();
    rule.actions
        .extend(needs.filter_map(|need| borrowed(&need.text, active)));
    rule.actions
        .iter_mut()
        .skip(before)
        .for_each(|action| action.text.push_str(source));
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
