//! Rules as data: the actions that changed files require, and the evidence that they were done.
//!
//! The rules themselves are in `packs/*.yml` and in the user's files. By the time they are here they are resolved and
//! flat, the most specific first, and part of the [`Policy`](crate::Policy) that is journaled, so every field that is
//! added later needs a default.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use journal::Step;
use serde::de::IntoDeserializer as _;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Catalogue, Purpose};
use crate::shell::{Pattern, Simple};

pub mod pack_names;
pub mod packs;

/// One rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Category name, as messages show it (spec RULE-1).
    pub name: String,
    /// The pack it comes from; [`Rule::OWN_PACK`] for rules of the user's files.
    #[serde(default)]
    pub pack: String,
    /// The kind of files that it matches.
    #[serde(default)]
    pub kind: Kind,
    /// Globs of the files that it matches, relative to the top of the work tree.
    #[serde(default)]
    pub include: Vec<String>,
    /// Globs of files that it does not match.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Whether it is a category only when no code changed (spec RULE-9, "tests only").
    #[serde(default)]
    pub alone: bool,
    /// Whether it takes only files that no other rule claims.
    #[serde(default)]
    pub fallback: bool,
    /// First half of its observations, for example `Daemon code was modified` (spec LETTER-2).
    #[serde(default)]
    pub modified: String,
    /// The actions that it requires.
    #[serde(default)]
    pub actions: Vec<RuleAction>,
    /// Whether its name or what it says comes from a project's own file (spec RULE-16).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_project: bool,
}

/// What follows the name and the observations of a project's rule.
const BY_PROJECT: &str = " (a rule of the project's .checkpointd.yml)";

impl Rule {
    /// The pack name of rules that the user's files add.
    pub const OWN_PACK: &'static str = "own";

    /// Returns the name of the category, with its source if that is the project's own file.
    pub fn category(&self) -> String {
        format!("{}{}", self.name, self.source())
    }

    const fn source(&self) -> &'static str {
        if self.of_project { BY_PROJECT } else { "" }
    }

    /// Returns the first half of the rule's observations.
    pub fn subject(&self) -> String {
        format!("{}{}", self.modified(), self.source())
    }

    fn modified(&self) -> String {
        if !self.modified.is_empty() {
            return self.modified.clone();
        }
        let mut letters = self.name.chars();
        let first = letters.next().map(char::to_uppercase);
        format!(
            "{}{} was modified",
            first.into_iter().flatten().collect::<String>(),
            letters.as_str()
        )
    }
}

/// The kind of files that a rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Code.
    #[default]
    Code,
    /// Tests of code.
    Tests,
    /// Settings, dependencies and other files that are neither code nor documentation.
    #[serde(alias = "dependencies")]
    Settings,
    /// Documentation. Such a rule never takes a file that another rule claims.
    Docs,
    /// Settings, data and generated files, which ask for nothing. Such a rule takes its files before all others; with
    /// `fallback`, like documentation (spec RULE-17).
    Data,
    /// Every stop, whatever changed (the log check: spec RULE-10).
    Always,
}

impl Kind {
    /// Returns whether its files are neither documentation nor data.
    pub fn is_work(self) -> bool {
        !matches!(self, Self::Docs | Self::Data)
    }
}

/// An action that a rule requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleAction {
    /// Its purpose (`restart`, `tests`, `install`,..). Actions with one purpose on the same files
    /// are one action.
    pub purpose: String,
    /// The instruction as the agent reads it; `{window}` is the time since the turn began (spec RULE-10).
    pub text: String,
    /// The commands any of which shows that it was done, as words; a word beginning with `*` is part of an argument.
    /// `{tests}` and `{Rust tests}` stand for every command that does this according to the catalogue.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The missing evidence in the words of the observation; the first entry of `evidence` when
    /// empty.
    #[serde(default)]
    pub label: String,
    /// Its section of the checkpoint (spec RULE-7).
    pub step: Step,
    /// Its position within the step.
    #[serde(default)]
    pub order: u32,
    /// The purpose that has to be observed first. While that one is due, its text asks for both
    /// (spec RULE-8).
    pub after: Option<String>,
}

impl RuleAction {
    /// Returns what an evidence text means, if it means all commands of a purpose: the language, empty for any,
    /// and the purpose.
    pub fn stands_for(evidence: &str) -> Option<(&str, Purpose)> {
        let inner = evidence.strip_prefix('{')?.strip_suffix('}')?;
        let (language, does) = inner.rsplit_once(' ').unwrap_or(("", inner));
        let does: StrDeserializer<'_, serde::de::value::Error> = does.into_deserializer();
        Some((language, Purpose::deserialize(does).ok()?))
    }

    /// Returns the missing evidence in the words of the observation.
    pub fn label(&self) -> String {
        match (self.label.as_str(), self.evidence.first()) {
            ("", Some(first)) => format!("`{}`", first.replace('*', "")),
            ("", None) => format!("`{}`", self.purpose),
            (label, _) => label.to_owned(),
        }
    }
}

/// A list of rules whose globs and evidence are compiled.
#[derive(Debug)]
pub struct RuleSet<'a> {
    rules: &'a [Rule],
    compiled: Arc<Compiled>,
}

impl<'a> RuleSet<'a> {
    /// Compiles `rules`. A glob that cannot be compiled matches nothing; `config/` refuses it earlier.
    pub fn new(rules: &'a [Rule]) -> Self {
        Self {
            rules,
            compiled: Compiled::of(rules),
        }
    }

    /// Returns whether a command is what an evidence text asks for.
    pub fn fits(&self, evidence: &str, simple: &Simple, catalogue: &Catalogue) -> bool {
        if let Some((language, does)) = RuleAction::stands_for(evidence) {
            let known = catalogue.command(&simple.words);
            return known.is_some_and(|known| {
                let is_any = language.is_empty() || known.language.is_empty();
                known.does == Some(does) && (is_any || known.language == language)
            });
        }
        match self.compiled.patterns.get(evidence) {
            Some(pattern) => pattern.fits(simple),
            None => Pattern::read(evidence).is_some_and(|pattern| pattern.fits(simple)),
        }
    }

    /// Returns the rules that take `path`, by their position, in order; of those in packs, only the ones that `sorting`
    /// lets apply.
    ///
    /// Documentation and fallback rules give way to others, so a documentation glob never swallows a file that another
    /// rule claims, and code that matches no rule still asks for tests.
    pub fn taking(&self, path: &str, sorting: Sorting) -> Vec<usize> {
        let excluded = self.compiled.exclude.matching(path);
        let mut matching = self.compiled.include.matching(path);
        matching.retain(|rule| !excluded.contains(rule) && sorting.applies(&self.rules[*rule]));
        let tier = |rule: usize| tier(&self.rules[rule]);
        let is_own = |rule: usize| self.rules[rule].pack == Rule::OWN_PACK;
        // What a person says about a file is more specific than what a pack says about generated files.
        if matching
            .iter()
            .any(|rule| is_own(*rule) && tier(*rule) == Tier::Ordinary)
        {
            matching.retain(|rule| is_own(*rule) || tier(*rule) != Tier::Generated);
        }
        let best = matching.iter().map(|rule| tier(*rule)).min();
        matching.retain(|rule| Some(tier(*rule)) == best);
        if best.is_some_and(|best| best > Tier::Ordinary) {
            // One rule is enough for files that only fallbacks match.
            matching.truncate(1);
        }
        matching
    }
}

/// Which rules of packs apply besides the ordinary ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sorting {
    /// Whether those of the kind `data` apply.
    pub data: bool,
    /// Whether the agent wrote the file itself, so that it was not generated.
    pub by_hand: bool,
}

impl Sorting {
    fn applies(self, rule: &Rule) -> bool {
        let is_own = rule.pack == Rule::OWN_PACK;
        match rule.kind {
            Kind::Always => false,
            Kind::Data => is_own || (self.data && (rule.fallback || !self.by_hand)),
            Kind::Code | Kind::Tests | Kind::Settings | Kind::Docs => true,
        }
    }
}

/// The order in which rules are asked for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    /// Rules about generated files.
    Generated,
    Ordinary,
    /// Documentation, settings and data.
    Plain,
    /// A fallback is for unknown files, so even documentation goes before it.
    Fallback,
}

fn tier(rule: &Rule) -> Tier {
    match (rule.kind, rule.fallback) {
        (Kind::Data, true) | (Kind::Docs, false) => Tier::Plain,
        (Kind::Data, false) => Tier::Generated,
        (_, true) => Tier::Fallback,
        (_, false) => Tier::Ordinary,
    }
}

/// The most lists of rules that stay compiled; the projects of a machine have few different ones.
const COMPILED_MAX: usize = 16;

/// Compiled lists, the last used first. Compiling takes longer than the rest of a decision, and
/// equal rules compile to equal results.
static COMPILED: Mutex<Vec<Arc<Compiled>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Compiled {
    rules: Vec<Rule>,
    include: Globs,
    exclude: Globs,
    /// Patterns of commands by their evidence text.
    patterns: HashMap<String, Pattern>,
}

impl Compiled {
    fn of(rules: &[Rule]) -> Arc<Self> {
        let mut all = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = all.iter().find(|compiled| compiled.rules == rules) {
            return Arc::clone(compiled);
        }
        let evidence = rules
            .iter()
            .flat_map(|rule| &rule.actions)
            .flat_map(|action| &action.evidence);
        let compiled = Arc::new(Self {
            rules: rules.to_vec(),
            include: Globs::new(rules.iter().map(|rule| &rule.include)),
            exclude: Globs::new(rules.iter().map(|rule| &rule.exclude)),
            patterns: evidence
                .filter_map(|text| Some((text.clone(), Pattern::read(text)?)))
                .collect(),
        });
        all.truncate(COMPILED_MAX - 1);
        all.insert(0, Arc::clone(&compiled));
        compiled
    }
}

/// Many globs, each of which belongs to a rule.
#[derive(Debug)]
struct Globs {
    set: GlobSet,
    rule_of: Vec<usize>,
}

impl Globs {
    fn new<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut rule_of = Vec::new();
        for (rule, globs) in lists.enumerate() {
            for glob in globs.iter().filter_map(|text| glob(text).ok()) {
                builder.add(glob);
                rule_of.push(rule);
            }
        }
        Self {
            set: builder.build().unwrap_or_default(),
            rule_of,
        }
    }

    /// Returns the rules with a matching glob, in order, each once.
    fn matching(&self, path: &str) -> Vec<usize> {
        let mut rules: Vec<_> = self
            .set
            .matches(path)
            .into_iter()
            .map(|index| self.rule_of[index])
            .collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

/// Compiles one glob: `*` stays within a folder, `**` crosses folders.
pub fn glob(text: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .empty_alternates(true)
        .build()
}
