//! Rules as files write them: in the program's packs, in `config.yml` and in `.checkpointd.yml`.

use journal::Step;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::paths::Glob;
use super::text::from_text;
use super::values::PackName;
use super::yaml::{Name, read};
use crate::rules::{Kind, Rule, RuleAction};

/// An entry of `rules`: a new rule, or changes to an existing one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleEntry {
    /// Category name.
    pub name: Name,
    /// The pack whose rule is changed.
    pack: Option<PackName>,
    /// Switches the rule off.
    #[serde(default)]
    pub(super) disable: bool,
    kind: Option<Kind>,
    pub(super) include: Option<Vec<Glob>>,
    exclude: Option<Vec<Glob>>,
    alone: Option<bool>,
    fallback: Option<bool>,
    modified: Option<Line>,
    actions: Option<Vec<ActionEntry>>,
    /// Purposes of the packs' own actions (`tests`, `logs`, ..) that this rule asks for too.
    #[serde(default)]
    pub(super) needs: Vec<Name>,
    /// Examples of what is asked for (spec RULE-21).
    #[serde(default)]
    pub(super) expect: Vec<Example>,
}

/// An example beside a rule: these changes and commands lead to these demands, and no others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Files that change.
    pub changed: Vec<String>,
    /// Commands that are run then.
    #[serde(default)]
    pub ran: Vec<String>,
    /// Commands that are run then and fail.
    #[serde(default)]
    pub failed: Vec<String>,
    /// What is asked for: the texts of the actions, or parts of them.
    pub asks: Vec<String>,
}

impl Example {
    /// Returns the demands that were expected and not made, and those that were made and not
    /// expected.
    pub fn compare(&self, asked: &[String]) -> (Vec<String>, Vec<String>) {
        let mut unexpected = asked.to_vec();
        let mut missing = self.asks.clone();
        missing.retain(|wanted| {
            let found = unexpected.iter().position(|text| text.contains(wanted));
            found.is_none_or(|at| {
                unexpected.remove(at);
                false
            })
        });
        (missing, unexpected)
    }
}

impl std::fmt::Display for Example {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} changed", self.changed.join(", "))?;
        for (what, lines) in [("ran", &self.ran), ("failed", &self.failed)] {
            if !lines.is_empty() {
                write!(f, "; {what} `{}`", lines.join("`, `"))?;
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionEntry {
    text: Line,
    purpose: Option<Line>,
    #[serde(default)]
    evidence: Vec<Line>,
    label: Option<Line>,
    step: Option<Step>,
    order: Option<u32>,
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
    pub(crate) fn read(name: &str, text: &str) -> Result<Self, ConfigError> {
        read(&format!("{name}.yml"), text)
    }

    /// Returns the globs that switch the pack on, and its rules.
    pub(crate) fn into_rules(self, pack: &str) -> (Vec<String>, Vec<Rule>) {
        let rules = self.rules.iter().map(|entry| entry.rule(pack)).collect();
        (texts(self.detect), rules)
    }
}

/// A text of one line that messages show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Line(String);

impl Line {
    /// The longest text in bytes; a checkpoint has many of them.
    const BYTES_MAX: usize = 500;
}

from_text!(Line, "a line of text", |text: String| {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.len() > Self::BYTES_MAX {
        return Err(format!("a text has 1 to {} bytes", Self::BYTES_MAX));
    }
    Ok(Self(text))
});

/// The order of actions without `order`: after those of the packs.
pub(crate) const ORDER_LAST: u32 = 90;

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
    /// Returns a new rule made from this entry alone.
    pub(super) fn rule(&self, pack: &str) -> Rule {
        let mut rule = Rule {
            name: self.name.text.clone(),
            pack: pack.to_owned(),
            ..Rule::default()
        };
        self.change(&mut rule);
        rule
    }

    /// Applies the keys of the entry to an existing rule.
    pub(super) fn change(&self, rule: &mut Rule) {
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
    }

    /// Returns whether the entry has actions, which replace those of its rule.
    pub(super) const fn replaces_actions(&self) -> bool {
        self.actions.is_some()
    }

    /// Returns whether the entry brings words that messages show.
    pub(super) const fn speaks(&self) -> bool {
        self.modified.is_some() || self.actions.is_some()
    }

    /// Returns whether the entry names this rule.
    pub(super) fn means(&self, rule: &Rule) -> bool {
        rule.name == self.name.text && self.pack.as_ref().is_none_or(|pack| pack.0 == rule.pack)
    }
}

fn texts(globs: Vec<Glob>) -> Vec<String> {
    globs.into_iter().map(|glob| glob.0).collect()
}
