//! What has to hold for a record to be accepted.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::dsse;
use super::statement::{
    Digest, Level, PREDICATE, Predicate, STATEMENT, Statement, Subject, totals,
};
use super::table::Content;
use crate::judging::Verified;

/// How far times may go back from one event to the next: reports may arrive late.
const LATE_MS: u64 = 10 * 60 * 1_000;

/// What a repository holds, as far as a record is about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// The commit; none for a work tree that is not committed.
    pub commit: Option<String>,
    /// The tree.
    pub tree: String,
    /// The commit that changes are counted from.
    pub base: Option<String>,
    /// Host and path of the repository that it is a clone of.
    pub remote: Option<String>,
    /// What differs between base and tree, sorted by path.
    pub files: Vec<Content>,
}

impl Repository {
    pub(super) fn subjects(&self) -> Vec<Subject> {
        let commit = self.commit.as_deref().map(|id| Subject {
            name: "commit".to_owned(),
            digest: Digest::commit(id),
        });
        let tree = Subject {
            name: "tree".to_owned(),
            digest: Digest::tree(&self.tree),
        };
        commit.into_iter().chain([tree]).collect()
    }
}

/// What was found about the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// A key that counts made it.
    Good,
    /// It does not fit, or the key does not count; why.
    Bad(String),
    /// There is none.
    Missing,
    /// There is none, and the caller accepts that.
    NotNeeded,
}

/// What the journal of the record says now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Again {
    /// It is not on this machine.
    Elsewhere,
    /// It is on this machine: the bytes that it gives up to the event that the record names; none if it has no such event.
    Here {
        /// The statement's bytes.
        bytes: Option<Vec<u8>>,
        /// Whether later events say something else about the same contents.
        is_older: bool,
    },
}

/// Why a record is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// `envelope`, `signature`, `schema`, `subject`, `content`, `consistency` or `journal`.
    pub check: String,
    /// What is wrong.
    pub text: String,
}

/// What a record says before it is verified: enough to look up what it is compared with.
#[derive(Clone, Debug)]
pub struct Claims {
    /// The bytes that were signed.
    pub payload: Vec<u8>,
    /// The statement.
    pub statement: Statement,
}

impl Claims {
    /// Reads an envelope's statement.
    ///
    /// # Errors
    ///
    /// Why it is none of this form.
    pub fn read(envelope: &dsse::Envelope) -> Result<Self, Refusal> {
        let refuse = |text: String| refusal("envelope", text);
        if envelope.payload_type != dsse::PAYLOAD_TYPE {
            return Err(refuse(format!(
                "unknown payload type `{}`",
                envelope.payload_type
            )));
        }
        let payload = dsse::decode(&envelope.payload);
        let payload = payload.ok_or_else(|| refuse("the payload is not base64".to_owned()))?;
        let statement: Statement = serde_json::from_slice(&payload)
            .map_err(|error| refusal("schema", format!("not a record of this version: {error}")))?;
        Ok(Self { payload, statement })
    }

    /// Returns the commit that it is about.
    pub fn commit(&self) -> Option<&str> {
        let mut subjects = self.statement.subject.iter();
        subjects.find_map(|one| one.digest.git_commit.as_deref())
    }

    /// Returns the commit that its changes are counted from.
    pub fn base(&self) -> Option<&str> {
        let base = self.statement.predicate.base.as_ref()?;
        base.git_commit.as_deref()
    }
}

fn refusal(check: &str, text: impl Into<String>) -> Refusal {
    Refusal {
        check: check.to_owned(),
        text: text.into(),
    }
}

/// Returns why a record is refused; nothing if it is accepted.
pub fn verify(
    claims: &Claims,
    signature: &Signature,
    repository: &Repository,
    again: &Again,
) -> Vec<Refusal> {
    let statement = &claims.statement;
    let mut found = Vec::new();
    let mut refuse = |check: &str, text: String| found.push(refusal(check, text));
    match signature {
        Signature::Good | Signature::NotNeeded => {}
        Signature::Bad(why) => refuse("signature", why.clone()),
        Signature::Missing => refuse("signature", "it is not signed".to_owned()),
    }
    if statement.kind != STATEMENT || statement.predicate_type != PREDICATE {
        refuse(
            "schema",
            format!("unknown type `{}`", statement.predicate_type),
        );
    }
    if statement.bytes() != claims.payload {
        refuse(
            "schema",
            "its bytes are not in the one form that a record has".to_owned(),
        );
    }
    if statement.subject != repository.subjects() {
        refuse(
            "subject",
            format!(
                "it is about another commit or tree, not {}",
                repository.tree
            ),
        );
    }
    let predicate = &statement.predicate;
    for text in of_repository(predicate, repository) {
        refuse("subject", text);
    }
    for text in contents(predicate, repository) {
        refuse("content", text);
    }
    for text in consistency(predicate) {
        refuse("consistency", text);
    }
    if let Again::Here { bytes, is_older } = again {
        match bytes {
            None => refuse(
                "journal",
                "the journal ends before the event that it names".to_owned(),
            ),
            Some(bytes) if *bytes != claims.payload => {
                refuse("journal", "the journal gives another record".to_owned());
            }
            Some(_) if *is_older => refuse(
                "journal",
                "an older record: later events say something else about these contents".to_owned(),
            ),
            Some(_) => {}
        }
    }
    found
}

fn of_repository(predicate: &Predicate, repository: &Repository) -> Vec<String> {
    let mut wrong = Vec::new();
    let base = predicate
        .base
        .as_ref()
        .and_then(|base| base.git_commit.as_ref());
    if base != repository.base.as_ref() {
        wrong.push("its base is not in the history of the commit".to_owned());
    }
    let remote = predicate.repository.remote.as_ref();
    if let (Some(said), Some(own)) = (remote, &repository.remote)
        && said != own
    {
        wrong.push(format!("it is about another repository: {said}, not {own}"));
    }
    wrong
}

/// Compares the contents with those of the tree: every changed file once, and no other.
fn contents(predicate: &Predicate, repository: &Repository) -> Vec<String> {
    let mut wrong = Vec::new();
    type One<'a> = (Option<&'a String>, &'a Digest, Option<&'a Digest>);
    let units = predicate.units.iter();
    let mut said: Vec<One<'_>> = units
        .map(|unit| (unit.file.as_ref(), &unit.content, unit.was.as_ref()))
        .collect();
    let named = predicate.level != Level::Summary;
    let files = repository.files.iter();
    let mut held: Vec<One<'_>> = files
        .map(|one| (named.then_some(&one.file), &one.content, one.was.as_ref()))
        .collect();
    said.sort();
    held.sort();
    if said != held {
        let other = said.iter().find(|one| held.binary_search(one).is_err());
        let missing = held.iter().find(|one| said.binary_search(one).is_err());
        let name = |(file, content, was): &One<'_>| {
            let id = content.id().or_else(|| was.and_then(Digest::id));
            file.map_or(id.unwrap_or_default(), String::as_str)
                .to_owned()
        };
        wrong.push(match (other, missing) {
            (Some(one), _) => format!("{}: the tree holds another content", name(one)),
            (None, Some(one)) => format!("{}: it changed, and the record leaves it out", name(one)),
            (None, None) => "a content is named more than once".to_owned(),
        });
    }
    wrong
}

/// Returns the sentences of what does not hold.
fn broken<const N: usize>(rules: [(bool, &str); N]) -> Vec<String> {
    let rules = rules.into_iter().filter(|(holds, _)| !holds);
    rules.map(|(_, text)| text.to_owned()).collect()
}

/// Checks what must hold within a record.
fn consistency(predicate: &Predicate) -> Vec<String> {
    let Predicate {
        units,
        runs,
        demands,
        switches,
        ..
    } = predicate;
    let level = predicate.level;
    let named = level != Level::Summary;
    let mut wrong = broken([
        (
            totals(units, runs, demands, switches) == predicate.totals,
            "the totals are not those of the lists",
        ),
        (
            units.is_sorted_by(|one, other| one.file <= other.file),
            "the files are not in order",
        ),
        (runs.is_sorted(), "the runs are not in order"),
        (
            demands.is_sorted_by(|one, other| one.decision < other.decision),
            "the demands are not in order",
        ),
        (switches.is_sorted(), "the switches are not in order"),
        (
            units.iter().all(|unit| {
                unit.file.is_some() == named && unit.why.is_some() == (level == Level::Full)
            }) && (named || units.iter().all(|unit| unit.doubts.is_empty()))
                && runs.iter().all(|run| run.command.is_some() == named)
                && demands
                    .iter()
                    .all(|demand| level == Level::Full || demand.asked.is_empty()),
            "it holds more or less than its level says",
        ),
    ]);
    wrong.extend(of_runs(predicate));
    wrong.extend(times(predicate));
    wrong
}

/// Checks that answers and runs say the same.
fn of_runs(Predicate { units, runs, .. }: &Predicate) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, text: &str| {
        if !holds {
            wrong.push(text.to_owned());
        }
    };
    let mut used: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); runs.len()];
    for unit in units {
        let Some(place) = unit.run else {
            must(
                unit.answer != Verified::Done
                    || matches!(unit.row.as_str(), "not asked" | "not wanted"),
                "a file is verified by no run",
            );
            continue;
        };
        let Some(run) = runs.get(place) else {
            must(false, "a file names a run that is not there");
            continue;
        };
        let fits = match unit.answer {
            Verified::Done => "passed",
            Verified::Open => "failed",
            Verified::Unknown => "unknown",
        };
        must(
            run.ended == fits,
            "a run ended otherwise than the answer says",
        );
        used[place].extend(unit.content.git_blob.as_deref());
    }
    let listed = runs.iter().zip(&used);
    must(
        listed.clone().all(|(run, used)| {
            run.contents
                .iter()
                .map(String::as_str)
                .eq(used.iter().copied())
        }),
        "a run did not run on the contents that name it",
    );
    must(
        runs.iter()
            .all(|run| run.ended != "passed" || run.failed.is_none_or(|failed| failed == 0)),
        "a run passed with failed tests",
    );
    wrong
}

/// Checks that nothing is later than the journal's head, by number and by time.
fn times(predicate: &Predicate) -> Vec<String> {
    let Predicate {
        units,
        runs,
        demands,
        switches,
        ..
    } = predicate;
    let head = &predicate.journal;
    let numbers = units.iter().filter_map(|unit| unit.decision);
    let numbers = numbers.chain(demands.iter().map(|one| one.decision));
    let numbers = numbers.chain(switches.iter().map(|one| one.seq));
    let times = runs
        .iter()
        .map(|run| run.at)
        .chain(demands.iter().map(|one| one.at));
    broken([
        (
            numbers.max().unwrap_or_default() <= head.seq,
            "it names events after the journal's head",
        ),
        (
            times
                .max()
                .is_none_or(|last| last.millis_since(head.at) <= LATE_MS),
            "something in it is later than the journal's head: a clock was set back",
        ),
        (
            demands.is_sorted_by(|one, other| one.at.millis_since(other.at) <= LATE_MS),
            "the times go back: a clock was set back",
        ),
    ])
}
