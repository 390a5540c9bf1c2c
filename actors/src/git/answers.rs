//! What git is asked about a work tree's changes.

use std::sync::Arc;
use std::time::Instant;

use checkpoint::state::Head;
use journal::Timestamp;

use super::before::Reader;
use super::command::{Failure, Output, words};
use super::listing::{self, Listing};
use super::request::Request;
use super::{head, left, parse, view};

/// Git's answers.
pub(super) struct Answers {
    pub(super) status: Output,
    /// The listed files, if any were asked for.
    pub(super) listing: Option<Arc<Listing>>,
    /// The files of the commits since the turn began; `None` if there is nothing to ask for.
    pub(super) log: Option<Output>,
    /// The files of the turn's commits whose date is before the turn.
    pub(super) dated: Option<Output>,
    /// Whether the repository has the commit where HEAD was; without it, commits are asked for by their time.
    pub(super) is_head_known: bool,
}

impl Answers {
    /// Asks for the changes.
    pub(super) fn ask(
        reader: &mut Reader<'_>,
        wanted: &Request,
        deadline: Instant,
    ) -> Result<Self, Failure> {
        let repository = reader.view;
        let by_head = wanted.head.as_ref().zip(wanted.since);
        let by_time = wanted.since.filter(|_| by_head.is_none());
        let (began, index) = (Timestamp::now(), repository.found.git_dir.join("index"));
        let last = &repository.found.listing;
        let known = last.get(&index, wanted.listed);
        let lists = known.is_none() && !wanted.listed.is_empty();
        let mut calls = vec![words(
            "status --porcelain=v2 --branch --no-ahead-behind -z --untracked-files=all --no-renames \
             --ignore-submodules=dirty",
        )];
        calls.extend(lists.then(|| listing::call(wanted.listed)));
        calls.extend(by_time.map(|since| log(since, None)));
        let mut outputs = repository
            .run_while(&calls, deadline, || {
                if wanted.likely && (wanted.contents || wanted.comments) {
                    reader.start();
                }
            })?
            .into_iter();
        let status = outputs.next().ok_or_else(view::not_understood)?;
        let listed = lists.then(|| outputs.next()).flatten().map(|output| {
            let listing = Arc::new(listing::read(&output));
            last.keep(&index, wanted.listed, began, &listing);
            listing
        });
        let mut answers = Self {
            status,
            listing: known.or(listed),
            log: outputs.next(),
            dated: None,
            is_head_known: true,
        };
        if let Some((head, since)) = by_head
            && !answers.is_at(head)
        {
            let ask = |call| Ok(repository.run(&[call], deadline)?.into_iter().next());
            answers.log = ask(log(since, Some(head)))?;
            let dated = left::dated_earlier(&repository.found.git_dir, head, since);
            if !dated.is_empty() {
                let each = std::iter::once("--no-walk".to_owned()).chain(dated);
                answers.dated = ask(files_of(each))?;
            }
            if answers.is_log_refused() {
                answers.log = ask(log(since, None))?;
                answers.is_head_known = false;
            }
        }
        Ok(answers)
    }

    /// Returns whether HEAD is where it was. Most turns commit nothing, and then there are no commits to ask for.
    fn is_at(&self, head: &Head) -> bool {
        let status = parse::status(&self.status.stdout);
        status.head == head.commit.as_deref().map(str::as_bytes)
    }

    /// Returns whether `log` failed although the repository has a commit to begin at.
    fn is_log_refused(&self) -> bool {
        let answer = parse::status(&self.status.stdout);
        let has_commit = self.status.is_good() && answer.answered && !answer.unborn;
        has_commit && self.log.as_ref().is_some_and(|log| !log.is_good())
    }
}

/// The arguments of `log` for the files of the commits since a time, without those that `head` had.
fn log(since: Timestamp, head: Option<&Head>) -> Vec<String> {
    let newest = [format!("--max-age={}", head::second(since)), "HEAD".into()];
    files_of(
        newest
            .into_iter()
            .chain(head.into_iter().flat_map(head::excluded)),
    )
}

/// The arguments of `log` for the files of commits.
fn files_of(which: impl IntoIterator<Item = String>) -> Vec<String> {
    // `-O` and `--no-relative` override settings that make git read another file or hide files.
    let mut log = words(
        "log -z --format= --name-only -c --no-renames --no-relative --no-ext-diff --no-textconv -O/dev/null",
    );
    log.extend(which);
    log.push("--".into());
    log
}
