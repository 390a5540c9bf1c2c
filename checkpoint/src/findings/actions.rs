//! Which rules the changed files trigger, and which of their actions were not done (spec RULE-6, RULE-7).

use std::collections::{BTreeMap, BTreeSet};

use journal::{Action, ChangedFile, Step};

use super::contents::Contents;
use super::paths::PathRef;
use super::proof::{Position, Proof, Wanted, find_proof, last_edit};
use super::trace::{ActionTrace, Findings, Outcome, RuleTrace};
use super::turn::Turn;
use super::verify::{self, Wording};
use crate::digest;
use crate::rules::{Kind, Rule, RuleAction};

/// The log check looks back at least this far (spec RULE-10).
const WINDOW_MINUTES_MIN: u64 = 2;

/// The changed files that each rule claims.
pub(super) struct Claims<'a> {
    rules: &'a [Rule],
    /// Positions of the rules that claimed each file, in order.
    by_file: Vec<Vec<usize>>,
    /// Files of each rule that claimed any.
    by_rule: BTreeMap<usize, BTreeSet<usize>>,
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
    fn beyond_docs(&self) -> BTreeSet<usize> {
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
struct Group<'a> {
    purpose: &'a str,
    /// The rules that require it; the first one gives the words.
    members: Vec<(usize, &'a RuleAction)>,
    files: BTreeSet<usize>,
}

impl Group<'_> {
    fn leader(&self) -> (usize, &RuleAction) {
        self.members[0]
    }

    /// Returns the evidence of all members without duplicates.
    fn evidence(&self) -> Vec<String> {
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

/// Returns the categories, actions, gaps and the trace.
pub(super) fn find(turn: &Turn<'_>, claims: &Claims<'_>) -> Findings {
    let groups = group(claims);
    let results = weigh(turn, claims, &groups);
    let mut findings = Findings {
        categories: categories(claims, &groups),
        ..Findings::default()
    };
    let mut purposes = Vec::new();
    let mut behind: BTreeSet<usize> = BTreeSet::new();
    for (group, result) in groups
        .iter()
        .zip(&results)
        .filter(|(_, result)| result.stands)
    {
        let (rule, action) = group.leader();
        let category = claims.rules[rule].name.clone();
        findings.actions.push(Action {
            text: result.text(action, turn),
            category,
            step: action.step,
        });
        if turn.has_timeline() {
            findings
                .observations
                .push(gap(&claims.rules[rule], action, result));
        }
        purposes.push(group.purpose);
        findings.due_by_turn |= claims.rules[rule].kind != Kind::Always;
        if claims.rules[rule].kind == Kind::Always {
            behind.extend(0..turn.files.len());
        }
        behind.extend(&group.files);
    }
    let behind: Vec<&ChangedFile> = behind.into_iter().map(|file| &turn.files[file]).collect();
    findings.demand = demand(&purposes, &behind);
    findings.trace = trace(turn, claims, &groups, &results);
    findings
}

/// Groups the actions by purpose, in order of the rules.
fn group<'a>(claims: &'a Claims<'_>) -> Vec<Group<'a>> {
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

/// The result of a group.
#[derive(Default)]
struct Weighed {
    proof: Proof,
    stands: bool,
    /// The project's own words for it.
    wording: Option<Wording>,
}

impl Weighed {
    /// Returns the instruction as the agent reads it.
    fn text(&self, action: &RuleAction, turn: &Turn<'_>) -> String {
        let text = action.text.replace("{window}", &window(turn.elapsed_ms));
        self.wording
            .as_ref()
            .map_or(text.clone(), |wording| wording.text(&text))
    }
}

/// Searches for evidence of every group; a group that has to follow another comes after it.
fn weigh(turn: &Turn<'_>, claims: &Claims<'_>, groups: &[Group<'_>]) -> Vec<Weighed> {
    let mut results: Vec<Weighed> = groups.iter().map(|_| Weighed::default()).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|index| groups[*index].leader().1.after.is_some());
    for index in order {
        let group = &groups[index];
        let first = group.leader().1.after.as_deref();
        let first =
            first.and_then(|purpose| groups.iter().position(|other| other.purpose == purpose));
        let after = first.map(|first| results[first].proof.done);
        if let Some(verified) = verified(turn, claims, group) {
            results[index] = verified;
            continue;
        }
        let mut proof = prove(turn, claims, group, after);
        if group.purpose == "install" && proof.best() == Some(Outcome::BeforeEdit) {
            proof.done = used(turn, group);
        }
        // While the first of two is due, its text asks for the second too
        // (spec RULE-8: "`make restart` then `make status`").
        let spoken_for = first.is_some_and(|first| results[first].stands);
        results[index] = Weighed {
            stands: proof.done.is_none() && !spoken_for,
            proof,
            wording: None,
        };
    }
    results
}

/// Searches for what verified the changed files of an action that asks for tests, if the project's own files say what
/// does.
fn verified(turn: &Turn<'_>, claims: &Claims<'_>, group: &Group<'_>) -> Option<Weighed> {
    if group.purpose != "tests" || group.files.is_empty() {
        return None;
    }
    let workspace = verify::workspace(turn)?;
    let (mut evidence, mut own) = (Vec::new(), Vec::new());
    for (rule, action) in &group.members {
        let is_own = claims.rules[*rule].pack == Rule::OWN_PACK;
        let list = if is_own { &mut own } else { &mut evidence };
        list.extend(action.evidence.iter().map(String::as_str));
    }
    let speaks_for_pack = claims.rules[group.leader().0].pack != Rule::OWN_PACK;
    let wanted = verify::Wanted {
        files: group.files.iter().map(|file| &turn.files[*file]).collect(),
        evidence,
        own,
    };
    let verified = verify::verify(turn, workspace, &wanted);
    Some(Weighed {
        stands: verified.proof.done.is_none() && !verified.nothing,
        proof: verified.proof,
        wording: speaks_for_pack.then_some(verified.wording),
    })
}

/// Returns what ran with the packages that were installed before another edit of the manifest (spec EVID-29).
fn used(turn: &Turn<'_>, group: &Group<'_>) -> Option<Position> {
    let workspace = verify::workspace(turn).filter(|_| turn.believes_runs())?;
    let wanted = verify::Wanted {
        files: group.files.iter().map(|file| &turn.files[*file]).collect(),
        evidence: Vec::new(),
        own: Vec::new(),
    };
    verify::verify(turn, workspace, &wanted).proof.done
}

fn prove(
    turn: &Turn<'_>,
    claims: &Claims<'_>,
    group: &Group<'_>,
    after: Option<Option<Position>>,
) -> Proof {
    if !turn.has_timeline() {
        return Proof::default();
    }
    let always = claims.rules[group.leader().0].kind == Kind::Always;
    let files = if always {
        claims.beyond_docs()
    } else {
        group.files.clone()
    };
    let covered: Vec<PathRef> = files
        .into_iter()
        .map(|file| PathRef::changed(&turn.files[file].path))
        .collect();
    let evidence = group.evidence();
    let after_edit = last_edit(turn, &covered);
    let packs: Vec<&str> = group
        .members
        .iter()
        .map(|(rule, _)| claims.rules[*rule].pack.as_str())
        .collect();
    find_proof(
        turn,
        &Wanted {
            evidence: &evidence,
            purpose: group.purpose,
            packs: &packs,
            looks: group.leader().1.step == Step::Observe,
            must_succeed: group.purpose == "restart",
            after_edit,
            after,
        },
    )
}

/// Returns the names of the rules that claimed files and give the category (spec RULE-1).
fn categories(claims: &Claims<'_>, groups: &[Group<'_>]) -> Vec<String> {
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

/// Returns the time since the turn began in minutes, rounded up (spec RULE-10).
fn window(elapsed_ms: Option<u64>) -> String {
    let minutes = elapsed_ms
        .unwrap_or_default()
        .div_ceil(60_000)
        .max(WINDOW_MINUTES_MIN);
    format!("{minutes}m")
}

/// Returns the observation about an action that is due (spec EVID-13).
fn gap(rule: &Rule, action: &RuleAction, result: &Weighed) -> String {
    let how = match result.proof.best() {
        // It passed once, and failed after that.
        Some(Outcome::Failed | Outcome::Unclear | Outcome::Counts) => {
            "was not observed to succeed this turn"
        }
        Some(Outcome::BeforeEdit) => "was not observed this turn after the last edit",
        _ => "was not observed this turn",
    };
    let label = match &result.wording {
        Some(wording) => wording.label(action.label()),
        None => action.label(),
    };
    format!("{} but {label} {how}", rule.subject())
}

/// Returns whether an observation is about a missing action.
pub(super) fn is_gap(observation: &str) -> bool {
    observation.contains(" but ") && observation.contains(" was not observed ")
}

fn trace(
    turn: &Turn<'_>,
    claims: &Claims<'_>,
    groups: &[Group<'_>],
    results: &[Weighed],
) -> Vec<RuleTrace> {
    let mut traces = Vec::new();
    for (index, rule) in claims.rules.iter().enumerate() {
        let files = claims.by_rule.get(&index);
        if files.is_none() && rule.kind != Kind::Always {
            continue;
        }
        let led = groups
            .iter()
            .zip(results)
            .filter(|(group, _)| group.leader().0 == index);
        let actions = led.map(|(group, result)| ActionTrace {
            purpose: group.purpose.to_owned(),
            text: result.text(group.leader().1, turn),
            stands: result.stands,
            looked_for: group.evidence(),
            found: result.proof.found.clone(),
        });
        traces.push(RuleTrace {
            rule: rule.name.clone(),
            pack: rule.pack.clone(),
            files: files
                .into_iter()
                .flatten()
                .map(|file| turn.files[*file].path.clone())
                .collect(),
            actions: actions.collect(),
        });
    }
    traces
}

/// Returns the hash of a demand: its purposes and the contents of the files behind them.
fn demand(purposes: &[&str], files: &[&ChangedFile]) -> Option<u64> {
    if purposes.is_empty() {
        return None;
    }
    let mut text = purposes.join("\n");
    for file in files {
        text.push_str(&format!("\n{}\0{:?}", file.path, file.hash));
    }
    Some(digest::of_text(&text))
}
