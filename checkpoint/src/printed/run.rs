//! One run of a line in thought.

use std::collections::{BTreeMap, HashMap};

use crate::shell::{Flow, Step};

use super::case::{self, Case};
use super::choices::Choices;
use super::programs::{PLAIN, is_mute, keeps_failures, passes};
use super::template::{self, Piece};

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    NotRun,
    /// It ran, and nothing depended on how it ended.
    Ran,
    Passed,
    Failed,
}

/// A command's exit status, as far as it is known.
#[derive(Clone, Debug)]
pub(super) enum Status {
    Good,
    Bad,
    /// The status of a command, or of something else that is unknown.
    Of(usize),
    Not(Box<Status>),
    /// Zero if all of these are zero.
    All(Vec<Status>),
}

/// A step of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Did {
    /// Printed this line of the output.
    Line(usize),
    /// Ran a command whose output can be seen; whether failures would be in it.
    Seen(usize, bool),
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// What they print does not get out.
    pub(super) hidden: bool,
    /// What they print goes through a filter.
    pub(super) filtered: bool,
    /// It may drop what a compiler says of failures.
    lossy: bool,
    /// What they print goes to the file that is shown.
    pub(super) to_file: bool,
}

pub(super) struct Run<'c> {
    pub(super) case: &'c Case<'c>,
    choices: Choices,
    fates: BTreeMap<usize, Fate>,
    others: BTreeMap<usize, bool>,
    pub(super) variables: HashMap<String, Status>,
    pub(super) last: Status,
    pub(super) parts: Vec<Status>,
    job: Option<Status>,
    errexit: bool,
    over: bool,
    pub(super) possible: bool,
    pub(super) cursor: usize,
    pub(super) did: Vec<Did>,
    /// The texts that were reached, and whether the output shows them.
    pub(super) reached: Vec<(usize, bool)>,
    pub(super) place: Place,
    pub(super) steps: usize,
}

/// A run that was followed to its end.
pub(super) struct Finished<'c> {
    case: &'c Case<'c>,
    fates: BTreeMap<usize, Fate>,
    did: Vec<Did>,
}

impl<'c> Run<'c> {
    pub(super) fn new(case: &'c Case<'c>, choices: Choices) -> Self {
        Self {
            case,
            choices,
            fates: BTreeMap::new(),
            others: BTreeMap::new(),
            variables: HashMap::new(),
            last: Status::Good,
            parts: Vec::new(),
            job: None,
            errexit: false,
            over: false,
            possible: true,
            cursor: 0,
            did: Vec::new(),
            reached: Vec::new(),
            place: Place::default(),
            steps: 0,
        }
    }

    /// Runs a part of the line; returns its status.
    pub(super) fn follow(&mut self, flow: &Flow<Step>) -> Status {
        self.steps += 1;
        if self.over || !self.possible {
            return Status::Good;
        }
        let status = match flow {
            Flow::Run(step) => self.step(step),
            Flow::Set(values, by) => {
                let status = by.as_ref().map(|by| self.hidden(by));
                for (name, value) in values {
                    self.set(name, value);
                }
                status.unwrap_or(Status::Good)
            }
            Flow::Pipe(parts, fails) => return self.pipe(parts, *fails),
            Flow::Not(inner) => Status::Not(Box::new(self.follow(inner))),
            Flow::Chain(first, rest) => self.chain(first, rest),
            Flow::Seq(items) => self.seq(items),
            Flow::Behind(inner) => {
                let job = self.hidden(inner);
                self.job = Some(job);
                Status::Good
            }
            Flow::Apart(inner) => self.apart(inner),
            Flow::Away(inner, files) => {
                let before = self.place;
                self.place.to_file = self.is_shown(files);
                self.place.hidden = !self.place.to_file;
                let status = self.follow(inner);
                self.place = before;
                status
            }
            Flow::If(condition, then, other) => {
                let status = self.follow(condition);
                if self.force(&status) {
                    self.follow(then)
                } else {
                    other
                        .as_ref()
                        .map_or(Status::Good, |other| self.follow(other))
                }
            }
            Flow::Opaque => self.unknown(),
        };
        self.parts = vec![status.clone()];
        status
    }

    fn hidden(&mut self, flow: &Flow<Step>) -> Status {
        let before = self.place;
        self.place.hidden = true;
        let status = self.apart(flow);
        self.place = before;
        status
    }

    fn apart(&mut self, flow: &Flow<Step>) -> Status {
        let errexit = self.errexit;
        let status = self.follow(flow);
        (self.over, self.errexit) = (false, errexit);
        status
    }

    fn pipe(&mut self, parts: &[Flow<Step>], fails: bool) -> Status {
        let before = self.place;
        let mut statuses = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter().enumerate() {
            let behind = &parts[at + 1..];
            self.place.filtered |= !behind.is_empty();
            self.place.hidden |= !behind.iter().all(passes);
            self.place.lossy |= !behind.iter().all(keeps_failures);
            statuses.push(self.apart(part));
            self.place = before;
        }
        self.parts.clone_from(&statuses);
        if fails {
            Status::All(statuses)
        } else {
            statuses.pop().unwrap_or(Status::Good)
        }
    }

    fn chain(&mut self, first: &Flow<Step>, rest: &[(bool, Flow<Step>)]) -> Status {
        let mut status = self.follow(first);
        self.last = status.clone();
        for (or, part) in rest {
            if self.over || !self.possible {
                break;
            }
            if self.force(&status) != *or {
                status = self.follow(part);
                self.last = status.clone();
            }
        }
        status
    }

    fn seq(&mut self, items: &[Flow<Step>]) -> Status {
        let mut status = Status::Good;
        for item in items {
            if self.over || !self.possible {
                break;
            }
            status = self.follow(item);
            self.last = status.clone();
            let is_exempt = matches!(item, Flow::Chain(..) | Flow::If(..) | Flow::Not(_));
            if self.errexit && !is_exempt && !self.over && !self.force(&status) {
                self.over = true;
            }
        }
        status
    }

    fn unknown(&mut self) -> Status {
        let id = self.case.steps.steps.len() + self.others.len();
        // Whether it is good is chosen when something depends on it.
        self.others.insert(id, false);
        Status::Of(id)
    }

    fn step(&mut self, step: &Step) -> Status {
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        let Some((program, rest)) = words.split_first() else {
            return Status::Good;
        };
        match *program {
            "exit" | "return" => {
                self.over = true;
                return match rest.first() {
                    None => self.last.clone(),
                    Some(&"0") => Status::Good,
                    Some(value) => self.status_in(value).unwrap_or(Status::Bad),
                };
            }
            "true" | ":" => return Status::Good,
            "false" => return Status::Bad,
            "test" | "[" => return self.test(rest),
            "wait" => {
                let job = self.job.take().filter(|_| !rest.is_empty());
                return job.unwrap_or(Status::Good);
            }
            "set" => {
                for word in rest {
                    let letters = word.trim_start_matches(['-', '+']);
                    if letters.len() + 1 == word.len() && letters.contains('e') {
                        self.errexit = word.starts_with('-');
                    }
                }
            }
            "export" | "local" | "declare" | "readonly" | "typeset" => {
                for (name, value) in rest.iter().filter_map(|word| word.split_once('=')) {
                    self.set(name, value);
                }
            }
            _ => {}
        }
        if template::prints(&step.words) {
            self.print(step);
        }
        if template::prints(&step.words) || PLAIN.contains(program) {
            return Status::Good;
        }
        let id = self.case.steps.position(step);
        self.fates.entry(id).or_insert(Fate::Ran);
        if !self.place.hidden && !step.away && !step.hushed {
            self.did.push(Did::Seen(id, !self.place.lossy));
        }
        Status::Of(id)
    }

    fn set(&mut self, name: &str, value: &str) {
        match self.status_in(value) {
            Some(status) => self.variables.insert(name.to_owned(), status),
            None => self.variables.remove(name),
        };
    }

    fn status_in(&self, text: &str) -> Option<Status> {
        match template::value(text)? {
            Piece::Status => Some(self.last.clone()),
            Piece::Part(part) => self.parts.get(part).cloned(),
            Piece::Variable(name) => self.variables.get(&name).cloned(),
            _ => None,
        }
    }

    /// `[ $? -eq 0 ]`.
    fn test(&mut self, words: &[&str]) -> Status {
        let words = words.strip_suffix(&["]"]).unwrap_or(words);
        let known = match words {
            [value, operator, "0"] => self.status_in(value).map(|status| (status, *operator)),
            _ => None,
        };
        match known {
            Some((status, "-eq" | "=" | "==")) => status,
            Some((status, "-ne" | "!=" | "-gt")) => Status::Not(Box::new(status)),
            _ => self.unknown(),
        }
    }

    /// Returns whether a status is good; if nothing says so yet, one of both is chosen.
    pub(super) fn force(&mut self, status: &Status) -> bool {
        match status {
            Status::Good => true,
            Status::Bad => false,
            Status::Not(inner) => !self.force(inner),
            Status::All(parts) => parts.iter().all(|part| self.force(part)),
            Status::Of(id) if *id >= self.case.steps.steps.len() => self.choices.next(),
            Status::Of(id) => match self.fates.get(id) {
                Some(Fate::Passed) => true,
                Some(Fate::Failed) => false,
                _ => {
                    let good = self.choices.next();
                    let fate = if good { Fate::Passed } else { Fate::Failed };
                    self.fates.insert(*id, fate);
                    good
                }
            },
        }
    }

    /// Returns whether the output may be that of this run.
    pub(super) fn is_possible(&self) -> bool {
        let case = self.case;
        // A text that was not reached may not be there.
        self.possible
            && case
                .counts
                .iter()
                .filter(|(at, _)| !case.is_ambiguous(**at))
                .all(|(at, count)| {
                    let same = |(other, _): &&(usize, bool)| case.is_alike(*at, *other);
                    let reached = self.reached.iter().filter(same).count();
                    let seen = self
                        .reached
                        .iter()
                        .filter(same)
                        .filter(|(_, seen)| *seen)
                        .count();
                    reached >= case.alike(*at) || *count <= seen
                })
    }

    /// Returns the finished run and the choices that it made.
    pub(super) fn finished(self) -> (Finished<'c>, Choices) {
        let finished = Finished {
            case: self.case,
            fates: self.fates,
            did: self.did,
        };
        (finished, self.choices)
    }
}

impl Finished<'_> {
    pub(super) fn fate(&self, step: usize) -> Fate {
        self.fates.get(&step).copied().unwrap_or(Fate::NotRun)
    }

    /// Returns the lines between the texts before and after a command, and what was done between those texts.
    fn part(&self, step: usize) -> Option<(&[&str], &[Did])> {
        let is_it = |did: &Did| matches!(did, Did::Seen(id, _) if *id == step);
        let at = self.did.iter().position(is_it)?;
        let is_line = |did: &Did| matches!(did, Did::Line(_));
        let before = self.did[..at].iter().rposition(is_line);
        let after = self.did[at..]
            .iter()
            .position(is_line)
            .map(|after| at + after);
        let line = |at: usize| match self.did[at] {
            Did::Line(line) => line,
            Did::Seen(..) => 0,
        };
        let start = before.map_or(0, |before| line(before) + 1);
        let end = after.map_or(self.case.lines.len(), line);
        let first = before.map_or(0, |before| before + 1);
        let did = &self.did[first..after.unwrap_or(self.did.len())];
        Some((self.case.lines.get(start..end)?, did))
    }

    /// Returns whether nothing was printed between the texts before and after a command.
    pub(super) fn is_silent(&self, step: usize) -> bool {
        let any_runner = self
            .case
            .steps
            .steps
            .iter()
            .any(|step| case::is_runner(step));
        let is_blank = |line: &&str| case::is_blank(line, any_runner);
        self.part(step)
            .is_some_and(|(lines, _)| lines.iter().all(is_blank))
    }

    /// Returns the part of the output that a command printed, if it is not all of it and no other command may have.
    pub(super) fn own_part(&self, step: usize) -> Option<&[&str]> {
        let (lines, did) = self.part(step)?;
        let may_print = |did: &&Did| match did {
            Did::Seen(id, _) => !is_mute(self.case.steps.steps[*id]),
            Did::Line(_) => false,
        };
        let alone = did.iter().filter(may_print).count() == 1;
        (alone && lines.len() < self.case.lines.len()).then_some(lines)
    }

    /// Returns whether a failure of a command would be in the output.
    pub(super) fn would_tell(&self, step: usize) -> bool {
        let tells = |did: &Did| matches!(did, Did::Seen(id, true) if *id == step);
        !self.case.cut && self.did.iter().any(tells)
    }
}
