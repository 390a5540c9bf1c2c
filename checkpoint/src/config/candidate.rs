//! Files that `whatif` tries on past decisions: another `config.yml`, or a file of rules in the
//! form of a project's `.checkpointd.yml`.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::error::ConfigError;
use super::layers::{Config, in_order, judgment_of};
use super::project_file::ASKED_BY_PROJECT;
use super::rule_layers;
use super::settings::{ProjectLayer, Settings};
use super::units::Span;
use super::values::Packs;
use super::yaml::{ONLY_PROJECT, read};
use crate::policy::Policy;
use crate::rules::{Rule, packs};

/// A file to try on past decisions.
#[derive(Debug)]
pub enum Candidate {
    /// Replaces the user's `config.yml`.
    Config(Box<Config>),
    /// Is laid over the policy of each decision.
    Rules(Box<RuleFile>),
}

/// A file of rules and of other keys that a project may set.
#[derive(Debug)]
pub struct RuleFile {
    file: String,
    text: String,
    layer: ProjectLayer,
}

impl Candidate {
    /// Reads a file, given by path and text. A file of rules is one that is called `.checkpointd.yml`, has a key that only
    /// such a file may have, or has `rules` and nothing else.
    ///
    /// # Errors
    ///
    /// Returns an error with its place when the file is of neither kind or has a mistake.
    pub fn read(file: &str, text: &str) -> Result<Self, ConfigError> {
        let keys = read::<Option<BTreeMap<String, IgnoredAny>>>(file, text)?.unwrap_or_default();
        let is_named = file.rsplit('/').next() == Some(".checkpointd.yml");
        let has_own = ONLY_PROJECT.iter().any(|key| keys.contains_key(*key));
        if !is_named && !has_own && !keys.keys().eq(["rules"]) {
            return Config::load(Some((file, text))).map(|config| Self::Config(Box::new(config)));
        }
        Ok(Self::Rules(Box::new(RuleFile {
            file: file.into(),
            text: text.into(),
            layer: read(file, text)?,
        })))
    }
}

impl RuleFile {
    /// Refuses rules that can have no effect on top of the configuration `user`.
    ///
    /// # Errors
    ///
    /// Returns the first such rule with its place.
    pub fn check(&self, user: &Config) -> Result<(), ConfigError> {
        rule_layers::check(
            &self.file,
            &self.text,
            self.layer.rules.as_deref().unwrap_or_default(),
            &user.settings.rules,
        )
    }

    /// Returns a policy with this file applied to it. Packs that the file adds have their built-in
    /// rules.
    pub fn over(&self, policy: &Policy) -> Policy {
        let layer = &self.layer;
        let mut laid = policy.clone();
        if let Some(Packs::Only(names)) = &layer.packs {
            lay_packs(&mut laid, in_order(names));
        }
        if let Some(rules) = &layer.rules {
            laid.rules = rule_layers::lay(laid.rules, rules, ASKED_BY_PROJECT);
        }
        laid.judgment = layer.judgment.unwrap_or(laid.judgment);
        if laid.judgment != policy.judgment {
            let settings = Settings::judging_by(laid.judgment);
            laid.scope = settings.scope;
            laid.all_clear = settings.all_clear;
            laid.docs_only = settings.docs_only;
            laid.unchanged = settings.unchanged;
            laid.background = settings.background;
            laid.prefix = settings.prefix.0;
            laid.escape_marker = settings.hooks.escape_marker.0;
        }
        let millis = |span: Option<Span>, before: u64| span.map_or(before, Span::as_millis);
        Policy {
            enabled: layer.enabled.unwrap_or(policy.enabled),
            min_turn_ms: millis(layer.min_turn, policy.min_turn_ms),
            timer: layer.timer.unwrap_or(policy.timer),
            max_blocks_per_turn: layer
                .max_blocks_per_turn
                .unwrap_or(u32::MAX)
                .min(policy.max_blocks_per_turn),
            ask: layer.ask.unwrap_or(policy.ask),
            uncovered: layer.uncovered.unwrap_or(policy.uncovered),
            comments: layer.comments.unwrap_or(policy.comments),
            scope: layer.scope.unwrap_or(laid.scope),
            repeat: layer.repeat.unwrap_or(policy.repeat),
            evidence: layer.evidence.unwrap_or(laid.evidence),
            all_clear: layer.all_clear.unwrap_or(laid.all_clear),
            docs_only: layer.docs_only.unwrap_or(laid.docs_only),
            programs: layer
                .programs
                .clone()
                .unwrap_or_else(|| policy.programs.clone()),
            unchanged: layer.unchanged.unwrap_or(laid.unchanged),
            background: layer.background.unwrap_or(laid.background),
            reply: layer.reply.unwrap_or(policy.reply),
            headless: layer.headless.unwrap_or(policy.headless),
            restart_delay_ms: millis(layer.restart_delay, policy.restart_delay_ms),
            confirm_timeout_ms: millis(layer.confirm_timeout, policy.confirm_timeout_ms),
            working_slug: layer.working_slug.clone().map_or_else(
                || policy.working_slug.clone(),
                |slug| Some(slug).filter(|slug| !slug.trim().is_empty()),
            ),
            slug_from_branch: layer.slug_from_branch.unwrap_or(policy.slug_from_branch),
            ..laid
        }
    }
}

/// Switches packs on and off: those that are new have their built-in rules.
fn lay_packs(laid: &mut Policy, packs: Vec<String>) {
    let is_on = |rule: &Rule| rule.pack == Rule::OWN_PACK || packs.contains(&rule.pack);
    laid.rules.retain(is_on);
    let new = packs::all()
        .iter()
        .filter(|pack| packs.iter().any(|name| name == pack.name));
    let new = new.filter(|pack| !laid.packs.iter().any(|name| name == pack.name));
    let new: Vec<Rule> = new.flat_map(|pack| pack.rules.iter().cloned()).collect();
    laid.rules.extend(new);
    // Own rules come first, then those of the packs, the most specific first.
    let place = |rule: &Rule| {
        packs
            .iter()
            .position(|name| *name == rule.pack)
            .map_or(0, |place| place + 1)
    };
    laid.rules.sort_by_key(place);
    if judgment_of(&packs) != judgment_of(&laid.packs) {
        laid.judgment = judgment_of(&packs);
    }
    laid.packs = packs;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::pack_names::ProjectFacts;

    const NEW_RULE: &str = "rules:\n  - name: database schema\n    include: ['migrations/**']\n    actions: [{text: Migrate a copy, evidence: [migrate]}]\n";

    fn policy(user: &str, project: Option<&str>) -> Policy {
        let facts = ProjectFacts {
            path: "/p".into(),
            files: vec!["Cargo.toml".into()],
        };
        let config = Config::load(Some(("config.yml", user))).unwrap();
        config
            .policy_for(&facts, project.map(|text| (".checkpointd.yml", text)))
            .unwrap()
    }

    /// Laying a file over a policy gives the policy that the daemon makes of the same file in the
    /// project.
    #[test]
    fn a_rule_file_lies_over_a_policy_as_a_projects_file_does_over_the_settings() {
        let user = "min_turn: 2m\nrepeat: always\nrules: [{name: own, include: ['**/*.own'], actions: [{text: Own}]}]\n";
        for file in [
            NEW_RULE,
            "enabled: false\n",
            "working_slug: parser\nmin_turn: 5s\ntimer: first_tool_use\nmax_blocks_per_turn: 3\nscope: turn\nrepeat: once\n\
             evidence: substring\nall_clear: silent\ndocs_only: silent\nreply: block\nheadless: never\nrestart_delay: 1s\n\
             prefix: '[X] - '\nconfirm_timeout: 9s\nslug_from_branch: true\n",
            "working_slug: x\nunchanged: message\nbackground: any\nask: likely\nuncovered: tests\ncomments: code\n\
             programs: {check-all: {does: tests}}\n",
            "working_slug: x\njudgment: letter\ndocs_only: silent\n",
            "working_slug: x\npacks: [teleclaude]\njudgment: '2026-11'\n",
            "enabled: true\nrules: [{name: Rust code, disable: true}]\n",
            "enabled: true\nrules: [{name: Rust code, include: ['src/**']}, {name: own, needs: [tests]}]\n",
            "enabled: true\npacks: [python]\n",
            "enabled: true\npacks: [rust, teleclaude]\n",
        ] {
            let Candidate::Rules(rules) = Candidate::read("rules.yml", file).unwrap() else {
                panic!("{file}")
            };
            let base = Config::load(Some(("config.yml", user))).unwrap();
            rules.check(&base).unwrap();
            assert_eq!(
                rules.over(&policy(user, None)),
                policy(user, Some(file)),
                "{file}"
            );
        }
    }

    #[test]
    fn a_file_is_taken_for_what_it_is() {
        for (file, text, is_rules) in [
            ("new.yml", "min_turn: 60s\n", false),
            ("new.yml", "", false),
            ("new.yml", "rules: []\nmin_turn: 60s\n", false),
            ("/p/.checkpointd.yml", "min_turn: 60s\n", true),
            ("new.yml", "enabled: false\nmin_turn: 60s\n", true),
            ("new.yml", NEW_RULE, true),
        ] {
            let read =
                Candidate::read(file, text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                matches!(read, Candidate::Rules(_)),
                is_rules,
                "{file}: {text}"
            );
        }
    }

    #[test]
    fn a_file_that_is_neither_is_refused() {
        let refused = |file, text| Candidate::read(file, text).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                refused("new.yml", "just words\n"),
                refused("new.yml", "- name: a rule\n"),
                refused("new.yml", "enabled: true\nlogs: {level: info}\n"),
                refused(".checkpointd.yml", "logs: {level: info}\n"),
                refused("new.yml", "min_trun: 60s\n"),
                refused("new.yml", "rules: [{nam: x}]\n"),
            ]
            .join("\n\n"),
            @r#"
            new.yml:1:1: expected keys with values (`key: value`)
              |
            1 | just words
              | ^

            new.yml:1:1: expected keys with values (`key: value`)
              |
            1 | - name: a rule
              | ^

            new.yml:2:1: unknown key `logs`
              |
            2 | logs: {level: info}
              | ^
            hint: `logs` belongs in config.yml

            .checkpointd.yml:1:1: unknown key `logs`
              |
            1 | logs: {level: info}
              | ^
            hint: `logs` belongs in config.yml

            new.yml:1:1: unknown key `min_trun`
              |
            1 | min_trun: 60s
              | ^
            hint: did you mean `min_turn`?

            new.yml:1:10: unknown key `nam`
              |
            1 | rules: [{nam: x}]
              |          ^
            hint: did you mean `name`?
            "#
        );
        let Candidate::Rules(unknown) =
            Candidate::read("r.yml", "rules: [{name: Rust cod, disable: true}]").unwrap()
        else {
            panic!("rules")
        };
        assert!(
            unknown
                .check(&Config::default())
                .unwrap_err()
                .to_string()
                .contains("did you mean `Rust code`?")
        );
    }
}
