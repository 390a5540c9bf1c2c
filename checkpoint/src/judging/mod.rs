//! What a stop leaves to be done: for each changed unit of code whether it was verified, and what rules of a person ask for.
//! Deterministic, no I/O (spec EVID-1).
//!
//! `answers` is the table that decides and explains. `letter` follows the requirements of TeleClaude word for word.

mod answers;
mod claims;
mod imagined;
mod letter;
mod paths;
mod person;
mod required;
mod runs;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::{BTreeSet, HashSet};

use journal::{Action, ChangedFile, Evidence, Step};

use crate::catalogue::Purpose;
use crate::digest;
use crate::policy::{Ask, Policy};
use crate::project::covering::within;
use crate::project::is_test;
use crate::rules::{Kind, Rule, RuleAction};

pub use answers::{ActionTrace, Answer, Findings, OpenItem, RuleTrace, Verified};
pub use imagined::{Imagined, asked_after};
pub use letter::plan_files;
pub use required::{Outcome, TracedCall};
pub use runs::{could_verify, leaving};
pub use turn::shorten;

use answers::wording::{self, languages};
use answers::{Ground, TESTS, Unit, failures};
use claims::{Claims, Group, INSTALL};
use paths::PathRef;
use person::Word;
use required::{Position, Proof};
use runs::{Ended, Run};
use turn::Turn;

/// How a turn ended, whatever its policy asks for (spec LOOK-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Code changed in it.
    pub code_changed: bool,
    /// Code changed, and nothing that could show a mistake ran on it.
    pub nothing_run: bool,
    /// The last tests that were run failed.
    pub tests_failed: bool,
    /// A verification that failed was left.
    pub error_left: bool,
    /// The agent claimed that tests pass, and none passed after the last edit of code.
    pub claimed: bool,
}

/// Returns the findings of a stop.
///
/// `project` is the top of the work tree, empty when it is not known.
pub fn find(
    evidence: &Evidence,
    elapsed_ms: Option<u64>,
    project: &str,
    policy: &Policy,
) -> Findings {
    let Some(turn) = Turn::new(evidence, elapsed_ms, project, policy) else {
        // Without the changes only the general message is possible: it says what always holds (spec FILES-6).
        return Findings {
            generic: true,
            ..Findings::default()
        };
    };
    let claims = Claims::new(&turn);
    let stop = Stop::new(&turn, &claims);
    let mut findings = stop.demands();
    if turn.has_timeline() {
        let (errors, edits) = stop.failures(&findings);
        findings.unresolved = !errors.is_empty();
        findings.observations.extend(errors);
        findings.observations.extend(edits);
    }
    if policy.is_letter() {
        findings.observations.extend(letter::wide(&turn));
    }
    findings.observations.extend(letter::drift(&turn));
    findings.due_by_turn |= !findings.observations.is_empty();
    findings.unchanged =
        (turn.files.is_empty() || evidence.facts.untouched) && !findings.unresolved;
    let answers = findings.trace.iter().flat_map(|rule| &rule.actions);
    let answers: Vec<&Answer> = answers.flat_map(|action| &action.answers).collect();
    let has = |verified| answers.iter().any(|answer| answer.verified == verified);
    // What is open and not asked for is not all clear.
    findings.unknown =
        has(Verified::Unknown) || (findings.actions.is_empty() && has(Verified::Open));
    findings.unresolved |= answers.iter().any(|answer| answer.row == answers::FAILED);
    findings.docs_only = !claims.any_of(Kind::is_work);
    findings.all_clear =
        !findings.docs_only && findings.actions.is_empty() && findings.observations.is_empty();
    findings
}

/// Returns how a turn ended, according to its evidence.
pub fn ending(evidence: &Evidence, project: &str, policy: &Policy) -> Ending {
    let Some(turn) = Turn::new(evidence, None, project, policy) else {
        return Ending::default();
    };
    let claims = Claims::new(&turn);
    let stop = Stop::new(&turn, &claims);
    let code: BTreeSet<usize> = claims.files_of(Kind::Code).collect();
    let answers = stop.answers(&code);
    let nothing = |answer: &Answer| answer.row == answers::NOTHING_RAN;
    let tests = stop
        .runs
        .iter()
        .rev()
        .find(|run| run.does == Some(Purpose::Tests) && run.ended != Ended::Unknown);
    Ending {
        code_changed: !code.is_empty(),
        nothing_run: !answers.is_empty() && answers.iter().all(nothing),
        tests_failed: tests.is_some_and(|run| run.ended == Ended::Failed),
        error_left: !failures::find(&turn, &stop.runs, &HashSet::new()).is_empty(),
        claimed: !code.is_empty()
            && person::claims_passing(&evidence.facts.last_message)
            && !stop.tests_may_have_passed(&code),
    }
}

/// Returns the answers for code that is gone, and for tests that are empty. No stop asks for a check of them, but a record
/// says whether something ran since (spec EVID-20).
pub fn removed(evidence: &Evidence, project: &str, policy: &Policy) -> Vec<Answer> {
    let empty = &evidence.facts.files.empty;
    let is_removed = |file: &&ChangedFile| {
        file.hash.is_none() || (empty.contains(&file.path) && is_test(&file.path))
    };
    let files = evidence.changes.files().unwrap_or_default();
    let removed: Vec<&ChangedFile> = files.iter().filter(is_removed).collect();
    if removed.is_empty() {
        return Vec::new();
    }
    let Some(turn) = Turn::new(evidence, None, project, policy) else {
        return Vec::new();
    };
    let claims = Claims::new(&turn);
    let stop = Stop::new(&turn, &claims);
    let is_code = |file: &&&ChangedFile| {
        let rules = turn.rules.taking(&file.path, policy.sorting()).into_iter();
        let mut actions = rules.flat_map(|rule| &policy.rules[rule].actions);
        actions.any(|action| action.purpose == TESTS)
    };
    let code = removed.iter().filter(is_code);
    code.map(|file| answers::answer(&stop.ground(), &stop.unit(&file.path)))
        .collect()
}

/// What a stop is judged by.
struct Stop<'a> {
    turn: &'a Turn<'a>,
    claims: &'a Claims<'a>,
    runs: Vec<Run>,
    word: Word,
}

/// The result for a group of actions.
#[derive(Default)]
struct Weighed {
    proof: Proof,
    answers: Vec<Answer>,
    stands: bool,
    /// The project's own words for it.
    text: Option<String>,
}

impl Weighed {
    /// Returns the instruction as the agent reads it.
    fn text(&self, action: &RuleAction, turn: &Turn<'_>) -> String {
        let text = || {
            action
                .text
                .replace("{window}", &wording::window(turn.elapsed_ms))
        };
        self.text.clone().unwrap_or_else(text)
    }
}

impl<'a> Stop<'a> {
    fn new(turn: &'a Turn<'a>, claims: &'a Claims<'a>) -> Self {
        let facts = &turn.evidence.facts;
        Self {
            turn,
            claims,
            runs: runs::runs(turn),
            word: person::word(&turn.catalogue, &facts.prompts, &facts.last_message),
        }
    }

    fn ground(&self) -> Ground<'_> {
        Ground {
            turn: self.turn,
            word: &self.word,
        }
    }

    /// Returns whether something ran after the last edit of these files that may have been tests which passed.
    fn tests_may_have_passed(&self, code: &BTreeSet<usize>) -> bool {
        let path = |file: &usize| PathRef::changed(&self.turn.files[*file].path).path;
        let edits = code
            .iter()
            .filter_map(|file| self.turn.last_edit(&path(file)));
        let last = edits.map(|edit| edit.call).max();
        self.runs.iter().any(|run| {
            last.is_none_or(|last| run.call > last)
                && run.does.is_none_or(|does| does == Purpose::Tests)
                && matches!(run.ended, Ended::Passed | Ended::Unknown)
        })
    }

    /// Returns the categories, actions and the trace.
    fn demands(&self) -> Findings {
        let (turn, claims) = (self.turn, self.claims);
        let groups = claims::group(claims);
        let results = self.weigh(&groups);
        let mut findings = Findings {
            categories: claims::categories(claims, &groups),
            ..Findings::default()
        };
        let (mut purposes, mut behind) = (Vec::new(), BTreeSet::new());
        let standing = groups
            .iter()
            .zip(&results)
            .filter(|(_, result)| result.stands);
        for (group, result) in standing {
            let (rule, action) = group.leader();
            findings.actions.push(Action {
                text: result.text(action, turn),
                category: claims.rules[rule].name.clone(),
                step: action.step,
            });
            if turn.has_timeline() && turn.policy.is_letter() {
                findings
                    .gaps
                    .push(letter::gap(&claims.rules[rule], action, &result.proof));
            }
            purposes.push(group.purpose.to_owned());
            let is_always = claims.rules[rule].kind == Kind::Always;
            findings.due_by_turn |= !is_always;
            if is_always {
                behind.extend(0..turn.files.len());
            }
            behind.extend(&group.files);
        }
        self.expected(&mut findings, &mut purposes);
        let behind: Vec<&ChangedFile> = behind.into_iter().map(|file| &turn.files[file]).collect();
        findings.demand = answers::demand(&purposes, &behind);
        findings.trace = trace(self, &groups, &results);
        findings
    }

    /// Adds what the person asked for in this turn and what did not run since (spec EVID-9).
    fn expected(&self, findings: &mut Findings, purposes: &mut Vec<String>) {
        if self.turn.policy.is_letter() || self.turn.files.is_empty() {
            return;
        }
        let files = self.turn.files.iter();
        let after_edit = files
            .filter_map(|file| self.turn.last_edit(&file.path))
            .max();
        for wanted in &self.word.wants {
            let proof = required::find(
                self.turn,
                &required::Sought {
                    evidence: std::slice::from_ref(&wanted.command),
                    must_succeed: false,
                    looks: false,
                    after_edit,
                    after: None,
                },
            );
            let is_readable = crate::shell::Pattern::read(&wanted.command).is_some();
            if is_readable && proof.is_certainly_missing() {
                findings.due_by_turn = true;
                purposes.push(wanted.command.clone());
                findings.actions.push(Action {
                    text: format!(
                        "Run `{}`. The user asked: \"{}\"",
                        wanted.command, wanted.quote
                    ),
                    category: "what the user asked for".to_owned(),
                    step: Step::Validate,
                });
            }
        }
    }

    /// Searches for evidence of every group; a group that has to follow another comes after it.
    fn weigh(&self, groups: &[Group<'_>]) -> Vec<Weighed> {
        let mut results: Vec<Weighed> = groups.iter().map(|_| Weighed::default()).collect();
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|index| groups[*index].leader().1.after.is_some());
        for index in order {
            let group = &groups[index];
            if !self.turn.policy.is_letter() && group.purpose == TESTS && !group.files.is_empty() {
                results[index] = self.verified(group);
                continue;
            }
            let first = group.leader().1.after.as_deref();
            let first =
                first.and_then(|purpose| groups.iter().position(|one| one.purpose == purpose));
            let after = first.map(|first| results[first].proof.done);
            let proof = self.prove(group, after);
            // While the first of two is due, its text asks for the second too (spec RULE-8).
            let spoken_for = first.is_some_and(|first| results[first].stands);
            let is_used = group.purpose == INSTALL && self.is_used(group);
            let is_missing = if self.turn.policy.is_letter() {
                proof.done.is_none()
            } else {
                proof.is_certainly_missing()
            };
            results[index] = Weighed {
                stands: is_missing && !spoken_for && !is_used,
                proof,
                ..Weighed::default()
            };
        }
        results
    }

    /// Judges a group by the answer table. The words of a person's own rule hold for all its files.
    fn verified(&self, group: &Group<'_>) -> Weighed {
        let own =
            |(rule, _): &&(usize, &RuleAction)| self.claims.rules[*rule].pack == Rule::OWN_PACK;
        let own: Vec<String> = group
            .members
            .iter()
            .filter(own)
            .flat_map(|(_, action)| action.evidence.iter().cloned())
            .collect();
        let proof = if own.is_empty() {
            Proof::default()
        } else {
            self.search(group, &own, None)
        };
        let answers = self.answers(&group.files);
        let asks = |answer: &&Answer| {
            let is_asked = answer.verified == Verified::Open
                || (answer.verified == Verified::Unknown && self.turn.policy.ask == Ask::Likely);
            is_asked && !self.says_why_not(&answer.file)
        };
        let open: Vec<&Answer> = answers.iter().filter(asks).collect();
        let stands = proof.done.is_none() && !open.is_empty() && !self.word.only_asks;
        let speaks_for_pack = self.claims.rules[group.leader().0].pack != Rule::OWN_PACK;
        let text = (speaks_for_pack && stands).then(|| wording::text(self.turn, &open));
        Weighed {
            proof,
            stands,
            text,
            answers,
        }
    }

    /// Returns whether the agent said what is missing to test a file, and the record does not contradict it.
    fn says_why_not(&self, path: &str) -> bool {
        let language = self.unit(path).language;
        let ran = |run: &Run| {
            let ended = matches!(run.ended, Ended::Passed | Ended::Failed);
            run.does == Some(Purpose::Tests) && run.speaks(language) && ended
        };
        self.word.lacks && !self.runs.iter().any(ran)
    }

    /// Returns the answers for the files of a group that are there and hold something.
    fn answers(&self, files: &BTreeSet<usize>) -> Vec<Answer> {
        let ground = self.ground();
        let files = files.iter().map(|file| &self.turn.files[*file]);
        let empty = digest::of_bytes(b"");
        files
            .filter(|file| file.hash.is_some_and(|hash| hash != empty))
            .map(|file| answers::answer(&ground, &self.unit(&file.path)))
            .collect()
    }

    /// Returns whether the project has tools of a language for a file. Without them, those of other languages may test it.
    fn has_tools(&self, language: &str, path: &str) -> bool {
        let mut above = self.turn.tasks().filter(|task| within(path, &task.folder));
        above.any(|task| languages(&self.turn.catalogue, task).contains(&language))
    }

    /// Returns the runs that say something about the files of a group, each call once.
    fn seen(&self, group: &Group<'_>) -> Vec<TracedCall> {
        let mut seen: Vec<TracedCall> = Vec::new();
        for file in &group.files {
            let unit = self.unit(&self.turn.files[*file].path);
            for run in self.runs.iter().filter(|run| run.speaks(unit.language)) {
                let is_tests = run.does == Some(Purpose::Tests);
                let is_after = unit.runs.iter().any(|known| std::ptr::eq(*known, run));
                let outcome = match run.ended {
                    Ended::Nothing => Outcome::NotRun,
                    Ended::Failed => Outcome::Failed,
                    Ended::Unknown => Outcome::Unclear,
                    Ended::Passed if !is_after => Outcome::BeforeEdit,
                    Ended::Passed => Outcome::Counts,
                };
                match seen.iter_mut().find(|seen| seen.call == run.call) {
                    Some(seen) => seen.outcome = seen.outcome.max(outcome),
                    None if is_tests => seen.push(TracedCall {
                        call: run.call,
                        command: shorten(&self.turn.calls()[run.call]),
                        outcome,
                    }),
                    None => {}
                }
            }
        }
        seen.sort_by_key(|seen| seen.call);
        seen
    }

    fn unit<'b>(&'b self, path: &'b str) -> Unit<'b> {
        let language = self.turn.language(path);
        let workspace = self.turn.evidence.facts.workspace.as_ref();
        let is_on = |run: &&Run| self.turn.ran_on(run.call, &run.program, path);
        let runs: Vec<&Run> = self.runs.iter().filter(is_on).collect();
        let finds_none =
            |run: &&Run| run.does == Some(Purpose::Tests) && run.ended == Ended::Nothing;
        Unit {
            path,
            language: match self.has_tools(language, path) {
                true => language,
                false => "",
            },
            is_covered: !runs.iter().any(finds_none)
                && workspace.is_some_and(|known| {
                    known.tests_unknown || known.covered.iter().any(|(file, _)| file == path)
                }),
            runs,
        }
    }

    /// Returns whether dependencies may have been installed, or were used by something that ran after the manifest changed.
    /// An unknown program may do either. Packages are often installed by name before the manifest names them.
    fn is_used(&self, group: &Group<'_>) -> bool {
        let files: Vec<&str> = group
            .files
            .iter()
            .map(|file| self.turn.files[*file].path.as_str())
            .collect();
        let went_well = |run: &&Run| !matches!(run.ended, Ended::Failed | Ended::Nothing);
        self.runs.iter().filter(went_well).any(|run| {
            let may_use = run.is_opaque() || run.does >= Some(Purpose::Serve);
            let is_after = |file: &&str| self.turn.ran_on(run.call, &run.program, file);
            run.does == Some(Purpose::Install) || (may_use && files.iter().all(is_after))
        })
    }

    fn prove(&self, group: &Group<'_>, after: Option<Option<Position>>) -> Proof {
        if !self.turn.has_timeline() {
            return Proof::default();
        }
        self.search(group, &group.evidence(), after)
    }

    fn search(
        &self,
        group: &Group<'_>,
        evidence: &[String],
        after: Option<Option<Position>>,
    ) -> Proof {
        let always = self.claims.rules[group.leader().0].kind == Kind::Always;
        let files = if always {
            self.claims.beyond_docs()
        } else {
            group.files.clone()
        };
        let edits = files
            .iter()
            .filter_map(|file| self.turn.last_edit(&self.turn.files[*file].path));
        required::find(
            self.turn,
            &required::Sought {
                evidence,
                must_succeed: group.purpose == "restart",
                looks: group.leader().1.step == Step::Observe,
                after_edit: edits.max(),
                after,
            },
        )
    }

    /// Returns what is said about failures, and about how the work was done.
    fn failures(&self, findings: &Findings) -> (Vec<String>, Vec<String>) {
        if self.turn.policy.is_letter() {
            return letter::find(self.turn);
        }
        let traced = findings.trace.iter().flat_map(|rule| &rule.actions);
        let due = traced
            .filter(|action| action.stands)
            .flat_map(|action| &action.answers);
        let asked: HashSet<usize> = due.filter_map(|answer| answer.call).collect();
        if !findings.actions.is_empty() || self.turn.files.is_empty() {
            return Default::default();
        }
        (failures::find(self.turn, &self.runs, &asked), Vec::new())
    }
}

fn trace(stop: &Stop<'_>, groups: &[Group<'_>], results: &[Weighed]) -> Vec<RuleTrace> {
    let (turn, claims) = (stop.turn, stop.claims);
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
            answers: result.answers.clone(),
            looked_for: group.evidence(),
            found: if result.answers.is_empty() {
                result.proof.found.clone()
            } else {
                stop.seen(group)
            },
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
