//! A whole transcript, cut into turns from its beginning (spec LOOK-2).
//!
//! Only the current turn is in memory, with its texts cut to their limits as it grows. Agents whose later records change
//! earlier ones have to be read whole.

use journal::{Agent, Timestamp, ToolCall};

use super::facts::Facts;
use super::forward::{Forward, Read, Reader, Text};
use super::normal::{Entry, Folding};
use super::tail;
use crate::adapter::Adapter;
use crate::prompts::Authors;
use crate::rooms;
use reading::shell::shortened;
use reading::text;
use redact::Redactor;

/// A turn of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTurn {
    /// What the transcript says about it. Its texts are redacted and cut.
    pub facts: Facts,
    /// When it began.
    pub began: Timestamp,
    /// When the last of its entries was written.
    pub ended: Timestamp,
    /// Whether a person stopped the agent.
    pub interrupted: bool,
}

impl PastTurn {
    /// Returns the message that began it.
    pub fn prompt(&self) -> &str {
        self.facts.prompts.first().map_or("", String::as_str)
    }
}

/// What was found in a transcript besides its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// It has the agent's format.
    pub is_own: bool,
    /// Lines that cannot be read.
    pub broken: usize,
    /// The number of the first of them, from 1.
    pub first_broken: Option<usize>,
}

/// Cuts a transcript into turns.
pub struct Turns<'a> {
    adapter: &'static Adapter,
    authors: Authors<'a>,
    redactor: &'a Redactor,
    /// What earlier turns say about the session.
    session: Facts,
    current: Option<Growing>,
    has_tasks: bool,
    /// A task began or ended since the current turn began.
    between_tasks: bool,
    is_foreign: bool,
    lines: usize,
    seen: Seen,
}

/// The turn that is being read.
struct Growing {
    facts: Facts,
    folding: Folding,
    began: Timestamp,
    ended: Timestamp,
    interrupted: bool,
}

impl<'a> Turns<'a> {
    /// Begins with a transcript of an agent; none for the daemon. `prefix` begins this product's own texts.
    pub fn new(agent: Agent, prefix: &'a str, redactor: &'a Redactor) -> Option<Self> {
        Some(Self {
            adapter: rooms::adapter(agent)?,
            authors: rooms::authors(prefix),
            redactor,
            session: Facts::default(),
            current: None,
            has_tasks: false,
            between_tasks: false,
            is_foreign: false,
            lines: 0,
            seen: Seen::default(),
        })
    }

    /// Returns whether the transcript has to be given whole.
    pub fn is_whole(&self) -> bool {
        matches!(self.adapter.forward, Forward::Whole(_))
    }

    /// Takes the next line. Returns false if no further line is needed.
    pub fn line(&mut self, line: &str, each: &mut impl FnMut(PastTurn)) -> bool {
        let Forward::Lines(lines) = self.adapter.forward else {
            return false;
        };
        self.lines += 1;
        let line = line.trim_end();
        if line.is_empty() {
            return true;
        }
        // A line that was not written to its end is broken, whatever it was to hold.
        if !line.starts_with('{') || !line.ends_with('}') {
            self.note_broken();
            return true;
        }
        let mut reader = Reader::new(&self.authors);
        let said = lines.read(line, &mut reader);
        let Reader { facts, entries, .. } = reader;
        let may_begin = match said {
            Read::Nothing => return true,
            Read::Broken => {
                self.note_broken();
                return true;
            }
            Read::Foreign => {
                self.is_foreign = true;
                self.seen.is_own = true;
                return false;
            }
            Read::Task => {
                (self.has_tasks, self.between_tasks) = (true, true);
                false
            }
            Read::Own { may_begin } => may_begin,
        };
        self.seen.is_own = true;
        self.note_place(facts);
        for entry in entries {
            self.take(entry, may_begin, each);
        }
        true
    }

    /// Takes the whole text.
    pub fn whole(&mut self, text: &str, each: &mut impl FnMut(PastTurn)) {
        let Forward::Whole(read) = self.adapter.forward else {
            return;
        };
        let mut reader = Reader::new(&self.authors);
        let text = Text {
            whole: Some(text),
            lines: tail::backward(text).collect(),
        };
        let said = read(&text, &mut reader);
        let Reader { facts, entries, .. } = reader;
        self.seen.is_own = said.is_own;
        self.seen.broken = said.broken;
        self.is_foreign = !said.is_persons;
        if self.is_foreign {
            return;
        }
        self.note_place(facts);
        for entry in entries {
            self.take(entry, true, each);
        }
    }

    /// Ends the transcript: the last turn ends with it.
    pub fn finish(mut self, each: &mut impl FnMut(PastTurn)) -> Seen {
        self.end_turn(each);
        self.seen
    }

    fn note_broken(&mut self) {
        self.seen.broken += 1;
        self.seen.first_broken.get_or_insert(self.lines);
    }

    /// Keeps what a line says about where the session runs: the session's id and version from the first line, the rest
    /// for the current turn.
    fn note_place(&mut self, said: Facts) {
        let Facts {
            session,
            host_version,
            cwd,
            branch,
            headless,
            ..
        } = said;
        let known = &mut self.session;
        known.session = known.session.take().or(session);
        known.host_version = host_version.or(known.host_version.take());
        known.cwd = known.cwd.take().or(cwd);
        known.headless |= headless;
        if branch.is_some() {
            known.branch.clone_from(&branch);
        }
        if let Some(turn) = &mut self.current {
            turn.facts.branch = turn.facts.branch.take().or(branch);
        }
    }

    fn take(&mut self, entry: Entry<'_>, may_begin: bool, each: &mut impl FnMut(PastTurn)) {
        if may_begin && entry.begins_turn() && self.begins(&entry) {
            self.end_turn(each);
            self.between_tasks = false;
            self.current = Some(Growing {
                facts: Facts {
                    is_whole: true,
                    branch: self.session.branch.clone(),
                    ..Facts::default()
                },
                folding: Folding::default(),
                began: entry.at(),
                ended: entry.at(),
                interrupted: false,
            });
        }
        // Lines before the first message belong to no turn.
        if let Some(turn) = &mut self.current {
            turn.take(entry, self.adapter, &self.authors, self.redactor);
        }
    }

    /// Returns whether a person's message begins a turn: not if it is a second record of the same message, or was typed
    /// while the agent worked on a task.
    fn begins(&self, entry: &Entry<'_>) -> bool {
        let (Some(turn), Entry::User { text, .. }) = (&self.current, entry) else {
            return true;
        };
        let last = turn.facts.prompts.last();
        let is_same = last.is_some_and(|known| known.trim() == text.trim());
        let is_echo = is_same && !turn.folding.has_begun();
        !is_echo && (!self.has_tasks || self.between_tasks)
    }

    fn end_turn(&mut self, each: &mut impl FnMut(PastTurn)) {
        let Some(turn) = self.current.take() else {
            return;
        };
        let mut facts = turn.facts;
        turn.folding.finish(&mut facts);
        let known = &self.session;
        facts.session.clone_from(&known.session);
        facts.host_version.clone_from(&known.host_version);
        facts.cwd.clone_from(&known.cwd);
        facts.headless = known.headless;
        facts.redact(self.redactor);
        facts.bound();
        each(PastTurn {
            facts,
            began: turn.began,
            ended: turn.ended,
            interrupted: turn.interrupted,
        });
    }
}

impl Growing {
    fn take(
        &mut self,
        entry: Entry<'_>,
        adapter: &Adapter,
        authors: &Authors<'_>,
        redactor: &Redactor,
    ) {
        self.ended = self.ended.max(entry.at());
        match &entry {
            Entry::Interrupted { .. } => self.interrupted = true,
            Entry::Call { .. } | Entry::Assistant { .. } => self.interrupted = false,
            _ => {}
        }
        let folding = &mut self.folding;
        let touched = folding.push(adapter.tools, authors, entry, &mut self.facts);
        if let Some(call) = touched.and_then(|at| self.facts.calls.get_mut(at)) {
            shorten(call, redactor);
        }
        // A turn has few prompts; a session that is steered all the time keeps the first ones.
        self.facts.prompts.truncate(PROMPTS_MAX);
    }
}

/// The most prompts of one turn that are kept.
const PROMPTS_MAX: usize = 64;

/// Cuts the long texts of a call. Secrets go first: of a secret that is cut, nothing would know the rest.
fn shorten(call: &mut ToolCall, redactor: &Redactor) {
    if let Some(command) = &mut call.command
        && command.len() > ToolCall::COMMAND_BYTES_MAX
    {
        let redacted = redactor.text(command);
        *command = shortened(&redacted, ToolCall::COMMAND_BYTES_MAX).into_owned();
    }
    if call.output.len() > ToolCall::OUTPUT_BYTES_MAX {
        let redacted = redactor.text(&call.output);
        call.output = text::head(&redacted, ToolCall::OUTPUT_BYTES_MAX).to_owned();
    }
}

#[cfg(test)]
mod tests;
