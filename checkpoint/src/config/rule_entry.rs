//! Rules as files write them: in the program's packs, in `config.yml` and in `.checkpointd.yml`.

use journal::Step;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::error::did_you_mean;
use super::units::TextVisitor;
use super::values::{Glob, PackName};
use super::{ConfigError, Name};
use crate::rules::{Kind, Rule, RuleAction, packs};

/// A rule of a file: a new one, or what is to be different in one that exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleEntry {
    /// Category name.
    pub name: Name,
    /// Overrides and disables in this pack only.
    #[serde(default)]
    pack: Option<PackName>,
    /// Switches the rule off.
    #[serde(default)]
    disable: bool,
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default)]
    include: Option<Vec<Glob>>,
    #[serde(default)]
    exclude: Option<Vec<Glob>>,
    #[serde(default)]
    alone: Option<bool>,
    #[serde(default)]
    fallback: Option<bool>,
    #[serde(default)]
    modified: Option<Line>,
    #[serde(default)]
    actions: Option<Vec<ActionEntry>>,
    /// Purposes of the packs' own actions (`tests`, `logs`, ..) that this rule asks for too.
    #[serde(default)]
    needs: Vec<Name>,
}

/// An action of a file's rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionEntry {
    text: Line,
    #[serde(default)]
    purpose: Option<Line>,
    #[serde(default)]
    evidence: Vec<Line>,
    #[serde(default)]
    label: Option<Line>,
    #[serde(default)]
    step: Option<Step>,
    #[serde(default)]
    order: Option<u32>,
    #[serde(default)]
    after: Option<Line>,
}

/// A file of a pack.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackFile {
    detect: Vec<Glob>,
    rules: Vec<RuleEntry>,
}

impl PackFile {
    /// Reads the text of a pack.
    pub(crate) fn read(name: &str, text: &str) -> Result<Self, ConfigError> {
        super::read(&format!("{name}.yml"), text)
    }

    /// Returns the globs that switch the pack on, and its rules.
    pub(crate) fn into_rules(self, pack: &str) -> (Vec<String>, Vec<Rule>) {
        let rules = self
            .rules
            .iter()
            .map(|entry| entry.rule(pack, &[]))
            .collect();
        (texts(self.detect), rules)
    }
}

/// A text of one line that messages show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Line(String);

impl Line {
    /// The longest text; a checkpoint has many.
    const BYTES_MAX: usize = 500;
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor("a line of text"))?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || text.len() > Self::BYTES_MAX {
            return Err(D::Error::custom(format!(
                "a text has 1 to {} bytes",
                Self::BYTES_MAX
            )));
        }
        Ok(Self(text))
    }
}

/// The place of actions that name none: after those of the packs.
const ORDER_LAST: u32 = 90;

impl ActionEntry {
    fn action(&self, rule: &str) -> RuleAction {
        let purpose = self
            .purpose
            .as_ref()
            .map_or(rule, |purpose| &purpose.0)
            .to_owned();
        let step = self.step.unwrap_or(match purpose.as_str() {
            "tests" => Step::Validate,
            "logs" => Step::Observe,
            _ => Step::Runtime,
        });
        RuleAction {
            purpose,
            text: self.text.0.clone(),
            evidence: self.evidence.iter().map(|line| line.0.clone()).collect(),
            label: self
                .label
                .as_ref()
                .map(|line| line.0.clone())
                .unwrap_or_default(),
            step,
            order: self.order.unwrap_or(ORDER_LAST),
            after: self.after.as_ref().map(|line| line.0.clone()),
        }
    }
}

impl RuleEntry {
    /// Returns the rule, where the entry is all there is of it.
    fn rule(&self, pack: &str, active: &[Rule]) -> Rule {
        let mut rule = Rule {
            name: self.name.text.clone(),
            pack: pack.to_owned(),
            ..Rule::default()
        };
        self.change(&mut rule, active);
        rule
    }

    /// Changes what the entry names in a rule that exists.
    fn change(&self, rule: &mut Rule, active: &[Rule]) {
        if let Some(kind) = self.kind {
            rule.kind = kind;
        }
        if let Some(include) = &self.include {
            rule.include = texts(include.clone());
        }
        if let Some(exclude) = &self.exclude {
            rule.exclude = texts(exclude.clone());
        }
        if let Some(modified) = &self.modified {
            rule.modified.clone_from(&modified.0);
        }
        if let Some(actions) = &self.actions {
            rule.actions = actions
                .iter()
                .map(|action| action.action(&self.name.text))
                .collect();
        }
        rule.alone = self.alone.unwrap_or(rule.alone);
        rule.fallback = self.fallback.unwrap_or(rule.fallback);
        for need in &self.needs {
            rule.actions.extend(borrowed(&need.text, active));
        }
    }

    /// Returns whether the entry is about an existing rule.
    fn means(&self, rule: &Rule) -> bool {
        rule.name == self.name.text && self.pack.as_ref().is_none_or(|pack| pack.0 == rule.pack)
    }
}

/// Returns the action of a purpose that the active packs, or else any pack, have.
fn borrowed(purpose: &str, active: &[Rule]) -> Option<RuleAction> {
    let any = packs::all().iter().flat_map(|pack| &pack.rules).rev();
    // The words of a rule that speaks only when no code changed would be wrong for most files.
    let rules = active.iter().chain(any).filter(|rule| !rule.alone);
    rules
        .flat_map(|rule| &rule.actions)
        .find(|action| action.purpose == purpose)
        .cloned()
}

fn texts(globs: Vec<Glob>) -> Vec<String> {
    globs.into_iter().map(|glob| glob.0).collect()
}

/// Returns the rules of the named packs as the files' entries change them; later files go over earlier ones.
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

/// Returns rules as one file's entries change them.
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
                .for_each(|rule| entry.change(rule, &active));
        } else if entry.include.is_some() {
            added.push(entry.rule(Rule::OWN_PACK, &rules));
        }
    }
    // What somebody wrote for this project speaks before what the packs know in general.
    rules.splice(0..0, added);
    rules
}

/// Refuses entries that can never have an effect; `earlier` are the entries of the file below.
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
            return Err(wrong(
                &entry.name,
                format!("no rule is called `{}`", entry.name.text),
            )
            .with_hint(hint));
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
