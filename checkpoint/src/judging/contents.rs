//! Which rules claim a changed file, given what it holds (spec RULE-5, RULE-17, RULE-18).

use std::collections::BTreeSet;

use journal::ChangedFile;

use super::{INSTALL, turn::Turn};
use crate::manifest;
use crate::policy::Comments;
use crate::rules::{Kind, Rule, Sorting};

/// What the changed files contain, besides their names.
pub(super) struct Contents<'a> {
    sorting: Sorting,
    generated: BTreeSet<&'a str>,
    /// Files that are empty or hold what they held before, perhaps with other comments.
    nothing: BTreeSet<&'a str>,
    same_dependencies: BTreeSet<&'a str>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(turn: &Turn<'a>) -> Self {
        let files = &turn.evidence.facts.files;
        let is_new = !turn.policy.is_letter();
        let is_commented = is_new && turn.policy.comments == Comments::Ignored;
        let set = |paths: &'a [String], counts: bool| {
            let paths = if counts { paths } else { &[] };
            paths.iter().map(String::as_str)
        };
        Self {
            sorting: turn.policy.sorting(),
            generated: set(&files.generated, is_new).collect(),
            nothing: set(&files.empty, is_new)
                .chain(set(&files.restored, is_new))
                .chain(set(&files.comments_only, is_commented))
                .collect(),
            same_dependencies: set(&files.same_dependencies, is_new).collect(),
        }
    }

    /// Returns the rules that claim a file, in order.
    pub(super) fn claimants(&self, turn: &Turn<'_>, file: &ChangedFile) -> Vec<usize> {
        let rule = |position: usize| &turn.policy.rules[position];
        let is_own = |position: &usize| rule(*position).pack == Rule::OWN_PACK;
        let mut taking = turn.rules.taking(&file.path, self.sorting);
        let is_generated = |position: &usize| {
            rule(*position).kind == Kind::Data && !rule(*position).fallback && !is_own(position)
        };
        if taking.iter().any(is_generated) && turn.is_by_hand(&file.path) {
            let by_hand = Sorting {
                by_hand: true,
                ..self.sorting
            };
            taking = turn.rules.taking(&file.path, by_hand);
        }
        let path = file.path.as_str();
        let is_nothing = self.nothing.contains(path)
            || (self.generated.contains(path) && !turn.is_by_hand(&file.path));
        if is_nothing {
            // A person who names a file in a rule wants to know about it.
            taking.retain(is_own);
        }
        if self.sorting.dependencies && self.has_same_dependencies(turn, file) {
            taking.retain(|position| !asks_for_install_only(rule(*position)));
        }
        taking
    }

    /// Returns whether a manifest was deleted or names the dependencies that it named before, or is a lock
    /// file whose manifests do.
    fn has_same_dependencies(&self, turn: &Turn<'_>, file: &ChangedFile) -> bool {
        if manifest::is_lock(&file.path) {
            let is_changed_manifest = |other: &ChangedFile| {
                manifest::format(&other.path).is_some()
                    && other.hash.is_some()
                    && !self.same_dependencies.contains(other.path.as_str())
                    && manifest::may_lock(&other.path, &file.path)
            };
            return !turn.files.iter().any(is_changed_manifest);
        }
        self.same_dependencies.contains(file.path.as_str())
            || (file.hash.is_none() && manifest::format(&file.path).is_some())
    }
}

fn asks_for_install_only(rule: &Rule) -> bool {
    let mut purposes = rule.actions.iter().map(|action| action.purpose.as_str());
    !rule.actions.is_empty() && purposes.all(|purpose| purpose == INSTALL)
}
