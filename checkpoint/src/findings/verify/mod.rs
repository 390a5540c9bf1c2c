//! Whether changed code was verified: by its tests if some cover it, else by a build or a run of the program
//! (spec EVID-20 to EVID-24).

mod classes;
mod console;
mod covers;
mod deployed;
mod ended;
mod inline;
mod judge;
mod kind;
pub(super) mod kinds;
mod named;
mod names;
mod need;
mod none;
mod notebook;
mod program;
mod ran;
mod reach;
mod remote;
mod reports;
mod run;
mod shown;
#[cfg(test)]
mod tests;
mod unknown;
mod wording;

use std::cmp::Reverse;

use journal::{ChangedFile, SummaryVerdict, ToolKind, Workspace};

use super::edits::Edits;
use super::paths::PathRef;
use super::proof::{Position, Proof, shorten};
use super::trace::{Outcome, TracedCall};
use super::turn::Turn;
use crate::digest;
use crate::policy::{Commands, EvidenceRule, Uncovered, Unknown, VerifiedCode};
use crate::project::covering::{Family, family};
use crate::project::folder;
use crate::project::resolve::{Map, Placed, resolve};
use crate::shell::{self, Pattern};

use deployed::Deployed;
use ended::{ended, served};
use judge::Judge;
use kind::Kind;
use kinds::kind_of;
use names::kind_of_name;
use need::Need;
use reach::Reach;
use run::{Does, Run};

pub(super) use none::says_no_tests;
pub(super) use program::{asks_server, given_inline, is_browser, looks_at_page};
pub(super) use reports::passed as reported;
pub(super) use wording::Wording;

/// The files to verify, and how.
pub(super) struct Wanted<'a> {
    pub(super) files: Vec<&'a ChangedFile>,
    /// Commands of the rules of packs.
    pub(super) evidence: Vec<&'a str>,
    /// Commands of the user's own rules.
    pub(super) own: Vec<&'a str>,
}

/// The result.
#[derive(Debug, Default)]
pub(super) struct Verified {
    pub(super) proof: Proof,
    /// Nothing of the files can be verified: they are gone or empty.
    pub(super) nothing: bool,
    /// The words of the demand.
    pub(super) wording: Wording,
}

/// Returns the facts if the policy judges by them.
pub(super) fn workspace<'a>(turn: &Turn<'a>) -> Option<&'a Workspace> {
    let verify = &turn.policy.verify;
    let is_new = verify.commands == Commands::Project
        || verify.uncovered == Uncovered::Build
        || verify.scope != VerifiedCode::Anywhere;
    let judged = is_new && turn.policy.evidence == EvidenceRule::Command;
    turn.evidence.facts.workspace.as_ref().filter(|_| judged)
}

/// Searches the turn for calls that verify the files.
pub(super) fn verify(turn: &Turn<'_>, workspace: &Workspace, wanted: &Wanted<'_>) -> Verified {
    let map = Map {
        workspace,
        top: turn.project,
        folders: wanted.files.iter().map(|file| folder(&file.path)).collect(),
    };
    let mut needs = needs(turn, &map, wanted);
    let runs = if turn.has_timeline() && !needs.is_empty() {
        runs(turn, wanted, &map)
    } else {
        Vec::new()
    };
    none::uncover(turn, &runs, &map, &mut needs);
    if needs.is_empty() {
        return Verified {
            nothing: true,
            ..Verified::default()
        };
    }
    let judge = Judge { turn, map: &map };
    let done: Vec<Option<Position>> = needs.iter().map(|need| judge.first(&runs, need)).collect();
    let open: Vec<&Need<'_>> = needs
        .iter()
        .zip(&done)
        .filter(|(_, done)| done.is_none())
        .map(|(need, _)| need)
        .collect();
    let shown: Vec<&Need<'_>> = if open.is_empty() {
        needs.iter().collect()
    } else {
        open.clone()
    };
    let mut proof = Proof {
        done: done
            .iter()
            .copied()
            .max()
            .flatten()
            .filter(|_| open.is_empty()),
        found: Vec::new(),
    };
    for run in &runs {
        let outcomes = shown.iter().filter_map(|need| judge.outcome(run, need));
        let Some(outcome) = outcomes.max() else {
            continue;
        };
        let call = run.position.0;
        match proof.found.last_mut().filter(|seen| seen.call == call) {
            Some(seen) => seen.outcome = seen.outcome.max(outcome),
            None => proof.found.push(TracedCall {
                call,
                command: shorten(&turn.evidence.timeline.calls[call]),
                outcome,
            }),
        }
    }
    let asked = if open.is_empty() { shown } else { open };
    let names_project = turn.policy.verify.commands == Commands::Project;
    let files: Vec<(&str, bool)> = asked.iter().map(|need| (need.path, need.covered)).collect();
    Verified {
        proof,
        nothing: false,
        wording: wording::wording(&files, &map, names_project),
    }
}

/// Returns what is needed for each file that is there and holds something.
fn needs<'a>(turn: &Turn<'_>, map: &Map<'_>, wanted: &Wanted<'a>) -> Vec<Need<'a>> {
    let workspace = map.workspace;
    let edits = Edits::new(turn);
    let builds = turn.policy.verify.uncovered == Uncovered::Build;
    let empty = digest::of_bytes(b"");
    let holds = |file: &&ChangedFile| !builds || file.hash.is_some_and(|hash| hash != empty);
    let need = |path: &'a str| Need {
        path,
        family: family(path),
        covered: !builds
            || workspace.tests_unknown
            || workspace.covered.iter().any(|(file, _)| file == path),
        checkable: wording::is_checkable(path, map),
        edit: edits.last(&PathRef::changed(path)),
    };
    let there = wanted.files.iter().copied().filter(holds);
    let mut needs: Vec<Need<'a>> = there.map(|file| need(file.path.as_str())).collect();
    if workspace.tests_unknown {
        // Then there may be thousands of files; those of one folder and language need the same.
        needs.sort_by_key(|need| (folder(need.path), need.family, Reverse(need.edit)));
        needs.dedup_by_key(|need| (folder(need.path), need.family));
    }
    needs
}

/// Returns the commands of a turn that verify something.
fn runs(turn: &Turn<'_>, wanted: &Wanted<'_>, map: &Map<'_>) -> Vec<Run> {
    let patterns = |texts: &[&str]| -> Vec<Pattern> {
        texts
            .iter()
            .filter_map(|text| turn.rules.pattern(text).cloned())
            .collect()
    };
    let search = Search {
        turn,
        map,
        listed: patterns(&wanted.evidence),
        own: patterns(&wanted.own),
    };
    let mut found = Vec::new();
    let mut deployed = Deployed::default();
    for (call, line) in turn.lines.iter().enumerate() {
        let tool = &turn.evidence.timeline.calls[call];
        reports::add(turn, call, &mut found);
        notebook::add(turn, call, &mut found);
        if program::looks_at_page(tool) {
            found.push(Run {
                position: (call, 0),
                program: String::new(),
                does: Does::Looks,
                outcome: Outcome::Counts,
            });
        }
        if tool.kind != ToolKind::Shell || turn.is_aside(call) {
            continue;
        }
        for (place, simple) in line.commands.iter().enumerate() {
            deployed.note(turn, simple, tool);
            search.read(simple, (call, place), &deployed, &mut found);
            for inner in remote::ending(turn, simple) {
                search.read(&inner, (call, place), &deployed, &mut found);
            }
        }
        shown::add(turn, call, &mut found);
        ran::add_service(turn, call, &mut found);
    }
    found
}

struct Search<'a> {
    turn: &'a Turn<'a>,
    map: &'a Map<'a>,
    listed: Vec<Pattern>,
    own: Vec<Pattern>,
}

impl Search<'_> {
    /// Notes what a command of a line does.
    fn read(
        &self,
        simple: &shell::Simple,
        position: Position,
        deployed: &Deployed,
        found: &mut Vec<Run>,
    ) {
        let call = &self.turn.evidence.timeline.calls[position.0];
        let program = simple.words.first().cloned().unwrap_or_default();
        let (placed, task) = self.resolved(simple);
        let mut note = |does: Does, simple: &shell::Simple| {
            let outcome = ended(self.turn, position, simple, &does);
            found.push(Run {
                position,
                program: program.clone(),
                does,
                outcome,
            });
        };
        let mut is_known = false;
        for one in &placed {
            let known = kind_of(&one.simple).map(|known| served(known, call));
            is_known |= known.is_some();
            if let Some((kind, family)) = known.filter(|(kind, _)| *kind >= Kind::Run) {
                note(self.tool(kind, family, one), &one.simple);
            }
            if deployed.is_asked(self.turn, &one.simple) {
                note(Does::Asks, &one.simple);
            }
            note(Does::Command(one.clone()), &one.simple);
        }
        let listed = self.is_listed(simple, is_known && task.is_some());
        let own = || simple.dir.as_deref().and_then(|dir| self.map.locate(dir));
        let of_task = placed.first().and_then(|one| one.place.clone());
        let outer = Placed {
            simple: simple.clone(),
            place: of_task.filter(|_| task.is_some()).or_else(own),
        };
        let does = if listed {
            // The words of a person's own rule hold for all its files.
            let known = kind_of(simple).filter(|_| !fits(&self.own, simple));
            Some((Kind::Tests, known.map_or(Family::Other, |(_, of)| of)))
        } else {
            let named = match &task {
                Some(name) => kind_of_name(name),
                None => names::called(simple),
            };
            named.filter(|_| !is_known).map(|known| served(known, call))
        };
        if let Some((kind, family)) = does.filter(|(kind, _)| *kind >= Kind::Run) {
            note(self.tool(kind, family, &outer), simple);
        } else if !is_known
            && does.is_none()
            && let Some(does) = self.unlisted(&outer, task.as_deref(), position)
        {
            note(does, simple);
        }
    }

    /// Returns what a command verifies that no table lists.
    fn unlisted(&self, outer: &Placed, task: Option<&str>, position: Position) -> Option<Does> {
        let simple = &outer.simple;
        if let Some(test) = named::compiled(self.turn, simple, self.map) {
            return Some(test);
        }
        if self.says_all_is_well(simple, task, position) {
            return Some(self.tool(Kind::Build, Family::Other, outer));
        }
        let verify = &self.turn.policy.verify;
        if verify.unknown != Unknown::Counts || verify.commands != Commands::Project {
            return None;
        }
        let call = &self.turn.evidence.timeline.calls[position.0];
        let of = unknown::Of {
            line: call.command.as_deref().unwrap_or_default(),
            task,
            top: self.turn.project,
        };
        unknown::does(outer, &of, self.map).map(Does::Unknown)
    }

    /// Returns the commands that a command runs, and the task that it is.
    fn resolved(&self, simple: &shell::Simple) -> (Vec<Placed>, Option<String>) {
        let place = simple.dir.as_deref().and_then(|dir| self.map.locate(dir));
        if self.turn.policy.verify.commands == Commands::Project {
            return resolve(simple, place, self.map);
        }
        let simple = simple.clone();
        (vec![Placed { simple, place }], None)
    }

    /// Returns whether a check of the project's own says that all is well (spec EVID-19).
    fn says_all_is_well(
        &self,
        simple: &shell::Simple,
        task: Option<&str>,
        (call, _): Position,
    ) -> bool {
        let name = task.or_else(|| names::name_of(simple));
        let said = || {
            self.turn
                .outcomes
                .as_ref()
                .and_then(|said| said.others(call))
        };
        name.is_some_and(names::is_check_name) && said() == Some(SummaryVerdict::Passed)
    }

    /// Returns whether a rule lists a command as a test run. Of a command that is known to do something else, and of a task
    /// that is, only a person's own rule is believed.
    fn is_listed(&self, simple: &shell::Simple, is_known_task: bool) -> bool {
        let is_else = || {
            let known = kind_of(simple).filter(|(kind, _)| *kind < Kind::Tests);
            known.is_some_and(|(kind, of)| of != Family::Other || kind == Kind::Lint)
        };
        fits(&self.own, simple) || (fits(&self.listed, simple) && !is_known_task && !is_else())
    }

    fn tool(&self, kind: Kind, family: Family, placed: &Placed) -> Does {
        let scope = self.turn.policy.verify.scope;
        // A rule's words do not name the language; those of the table do.
        let of = kind_of(&placed.simple).map_or(family, |(_, family)| family);
        let reach = match scope {
            VerifiedCode::Anywhere => Reach::All,
            VerifiedCode::Package => reach::reach(placed, kind, of, self.map),
            VerifiedCode::Files => reach::reach(placed, kind, of, self.map).exact(),
            VerifiedCode::Named => reach::reach(placed, kind, of, self.map)
                .exact()
                .of_classes(classes::chosen(&placed.simple)),
        };
        Does::Tool {
            kind,
            family,
            reach,
        }
    }
}

/// Returns the language of the code that a command tests, builds or runs; `Other` if it may be any.
pub(super) fn language(simple: &shell::Simple) -> Option<Family> {
    let known = kind_of(simple).or_else(|| names::called(simple));
    let known = known.filter(|(kind, _)| *kind >= Kind::Run);
    known
        .map(|(_, family)| family)
        .or_else(|| program::language_of_script(simple))
}

fn fits(patterns: &[Pattern], simple: &shell::Simple) -> bool {
    patterns.iter().any(|pattern| pattern.fits(simple))
}
