//! Which rules claim the changed files, by their names and what they hold, and which actions they require (spec RULE-5 to
//! RULE-7, RULE-17, RULE-18).

use std::collections::{BTreeMap, BTreeSet};

use journal::ChangedFile;

use super::turn::Turn;
use crate::manifest;
use crate::policy::Comments;
use crate::rules::{Kind, Rule, RuleAction, Sorting};

/// The purpose of actions that a change of dependencies asks for.
pub(super) const INSTALL: &str = "install";

/// The changed files that each rule claims.
pub(super) struct Claims<'a> {
    pub(super) rules: &'a [Rule],
    /// Positions of the rules that claimed each file, in order.
    by_file: Vec<Vec<usize>>,
    /// Files of each rule that claimed any.
    pub(super) by_rule: BTreeMap<usize, BTreeSet<usize>>,
    /// Whether any file is code, which excludes "tests only".
    code: bool,
}

impl<'a> Claims<'a> {
    pub(super) fn new(turn: &Turn<'a>) -> Self {
        let rules = turn.policy.rules.as_slice();
        let contents = Contents::new(turn);
        let by_file: Vec<_> = turn
            .files
            .iter()
            .map(|file| contents.claimants(turn, file))
            .collect();
        let mut by_rule: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (file, taken_by) in by_file.iter().enumerate() {
            for rule in taken_by {
                by_rule.entry(*rule).or_default().insert(file);
            }
        }
        let code = by_rule.keys().any(|rule| rules[*rule].kind == Kind::Code);
        Self {
            rules,
            by_file,
            by_rule,
            code,
        }
    }

    /// Returns whether a rule of such a kind claimed a file.
    pub(super) fn any_of(&self, kind: impl Fn(Kind) -> bool) -> bool {
        self.by_rule.keys().any(|rule| kind(self.rules[*rule].kind))
    }

    /// Returns the positions of the files that a rule of a kind claimed.
    pub(super) fn files_of(&self, kind: Kind) -> impl Iterator<Item = usize> {
        let is_of = move |taken_by: &&Vec<usize>| {
            taken_by.iter().any(|rule| self.rules[*rule].kind == kind)
        };
        let files = self.by_file.iter().enumerate();
        files
            .filter(move |(_, taken_by)| is_of(taken_by))
            .map(|(file, _)| file)
    }

    /// Returns whether a rule does not apply because code changed.
    fn silent(&self, rule: usize) -> bool {
        self.rules[rule].alone && self.code
    }

    /// Returns whether a rule is the first to claim one of its files. A second pack that claims the
    /// file adds evidence and its own actions, but no category.
    fn speaks_first(&self, rule: usize, files: &BTreeSet<usize>) -> bool {
        let pack = self.rules[rule].pack.as_str();
        let first = |file: usize| {
            let packs = self.by_file[file]
                .iter()
                .map(|other| self.rules[*other].pack.as_str());
            packs.into_iter().find(|other| *other != Rule::OWN_PACK)
        };
        pack == Rule::OWN_PACK || files.iter().any(|file| first(*file) == Some(pack))
    }

    /// Returns the changed files that are not documentation.
    pub(super) fn beyond_docs(&self) -> BTreeSet<usize> {
        let docs = |taken_by: &Vec<usize>| {
            taken_by
                .iter()
                .any(|rule| self.rules[*rule].kind == Kind::Docs)
        };
        (0..self.by_file.len())
            .filter(|file| !docs(&self.by_file[*file]))
            .collect()
    }
}

/// Actions of several rules with the same purpose.
pub(super) struct Group<'a> {
    pub(super) purpose: &'a str,
    /// The rules that require it; the first one gives the words.
    pub(super) members: Vec<(usize, &'a RuleAction)>,
    pub(super) files: BTreeSet<usize>,
}

impl Group<'_> {
    pub(super) fn leader(&self) -> (usize, &RuleAction) {
        self.members[0]
    }

    /// Returns the evidence of all members without duplicates.
    pub(super) fn evidence(&self) -> Vec<String> {
        let mut evidence: Vec<String> = Vec::new();
        for line in self.members.iter().flat_map(|(_, action)| &action.evidence) {
            if !evidence.contains(line) {
                evidence.push(line.clone());
            }
        }
        evidence
    }

    /// Returns whether the action of another rule belongs to this group.
    fn takes(&self, rule: usize, files: &BTreeSet<usize>, claims: &Claims<'_>) -> bool {
        let pack = &claims.rules[rule].pack;
        claims.rules[rule].fallback
            || self
                .members
                .iter()
                .any(|(member, _)| claims.rules[*member].pack == *pack)
            || !self.files.is_disjoint(files)
    }
}

/// Groups the actions by purpose, in order of the rules.
pub(super) fn group<'a>(claims: &'a Claims<'_>) -> Vec<Group<'a>> {
    let none = BTreeSet::new();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (index, rule) in claims.rules.iter().enumerate() {
        let files = claims.by_rule.get(&index).unwrap_or(&none);
        if files.is_empty() && rule.kind != Kind::Always {
            continue;
        }
        for action in &rule.actions {
            let is_same = |group: &mut Group<'_>| {
                group.purpose == action.purpose && group.takes(index, files, claims)
            };
            let mut joined = Group {
                purpose: &action.purpose,
                members: Vec::new(),
                files: files.clone(),
            };
            // A rule may join two groups.
            for other in groups.extract_if(.., is_same) {
                joined.members.extend(other.members);
                joined.files.extend(other.files);
            }
            joined.members.push((index, action));
            joined
                .members
                .sort_by_key(|(rule, _)| (claims.silent(*rule), *rule));
            groups.push(joined);
        }
    }
    groups.sort_by_key(|group| {
        let (rule, action) = group.leader();
        (action.step, action.order, rule, group.purpose)
    });
    groups
}

/// Returns the names of the rules that claimed files and give the category (spec RULE-1).
pub(super) fn categories(claims: &Claims<'_>, groups: &[Group<'_>]) -> Vec<String> {
    if !claims.any_of(Kind::is_work) {
        let docs = claims.rules.iter().find(|rule| rule.kind == Kind::Docs);
        return docs.map(Rule::category).into_iter().collect();
    }
    let leads = |rule: usize| groups.iter().any(|group| group.leader().0 == rule);
    let mut names: Vec<String> = Vec::new();
    for (rule, files) in &claims.by_rule {
        let listed = claims.rules[*rule].kind.is_work()
            && !claims.silent(*rule)
            && (claims.speaks_first(*rule, files) || leads(*rule));
        let name = claims.rules[*rule].category();
        if listed && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What the changed files contain, besides their names.
struct Contents<'a> {
    sorting: Sorting,
    generated: BTreeSet<&'a str>,
    /// Files that are empty or hold what they held before, perhaps with other comments.
    nothing: BTreeSet<&'a str>,
    same_dependencies: BTreeSet<&'a str>,
}

impl<'a> Contents<'a> {
    fn new(turn: &Turn<'a>) -> Self {
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
    fn claimants(&self, turn: &Turn<'_>, file: &ChangedFile) -> Vec<usize> {
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
        if !turn.policy.is_letter() && self.has_same_dependencies(turn, file) {
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
