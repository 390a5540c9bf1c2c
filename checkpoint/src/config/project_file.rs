//! A project's own file, and which of its keys count before its owner trusts it (spec RULE-16).

use super::rule_entry::Example;
use super::settings::{ProjectLayer, Settings};

/// What the text of each action of a project's rule ends with, so that a demand names its source (spec RULE-16).
pub(super) const ASKED_BY_PROJECT: &str = " (asked for by the project's .checkpointd.yml)";

/// A project's own file, read and without mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectFile {
    pub(super) layer: ProjectLayer,
    /// What of it has no effect, one sentence each.
    pub(super) notes: Vec<String>,
}

impl ProjectLayer {
    /// Drops the keys that only config.yml sets (spec RULE-16), and says which.
    pub(super) fn drop_users_own(&mut self) -> impl Iterator<Item = String> {
        let had = [
            ("prefix", self.prefix.take().is_some()),
            ("message", self.message.take().is_some()),
        ];
        let keys = had.into_iter().filter(|(_, had)| *had);
        keys.map(|(key, _)| format!("`{key}` has no effect here: only config.yml sets it"))
    }
}

impl ProjectFile {
    /// Returns what of the file counts only once it is trusted: its keys, and the names of its rules.
    pub fn needs_trust(&self) -> Vec<String> {
        let before = self.before_trust();
        let mut parts: Vec<String> = self
            .layer
            .keys()
            .into_iter()
            .filter(|key| !before.keys().contains(key) && *key != "rules")
            .map(|key| format!("`{key}`"))
            .collect();
        let rules = self.layer.rules.iter().flatten();
        parts.extend(rules.map(|rule| format!("rule `{}`", rule.name.text)));
        parts
    }

    /// Returns the examples beside the file's rules, each with the name of its rule.
    pub fn examples(&self) -> impl Iterator<Item = (&str, &Example)> {
        let rules = self.layer.rules.iter().flatten();
        rules.flat_map(|rule| {
            let examples = rule.expect.iter();
            examples.map(|example| (rule.name.text.as_str(), example))
        })
    }

    /// Returns which parts of the file never have an effect, and why, one sentence each.
    pub fn overruled(&self, user: &Settings) -> Vec<String> {
        let mut said = self.notes.clone();
        let most = user.max_blocks_per_turn;
        if let Some(wanted) = self
            .layer
            .max_blocks_per_turn
            .filter(|wanted| *wanted > most)
        {
            said.push(format!(
                "`max_blocks_per_turn: {wanted}` counts as {most}, the most that config.yml allows"
            ));
        }
        said
    }

    /// Returns the part that can do no harm even if an attacker wrote it: it only takes demands away, or selects
    /// built-in ones.
    fn before_trust(&self) -> ProjectLayer {
        ProjectLayer {
            enabled: self.layer.enabled,
            packs: self.layer.packs.clone(),
            ..ProjectLayer::default()
        }
    }

    /// Returns the keys that take effect.
    pub(super) fn counting(&self, trusted: bool) -> ProjectLayer {
        if trusted {
            self.layer.clone()
        } else {
            self.before_trust()
        }
    }
}
