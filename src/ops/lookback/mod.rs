//! Looking back: reads the agents' own transcripts, decides each turn by the rules in force now, and counts, or journals,
//! what comes of it (spec LOOK-1 to LOOK-9). Two threads share the files, and one imports them;
//! each has one turn in memory at a time.

#[cfg_attr(not(feature = "sqlite"), path = "no_database.rs")]
mod database;
mod find;
mod ground;
mod read;
mod rows;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use actors::session_state;
use actors::trust::Trust;
use checkpoint::agents;
use checkpoint::config::Config;
use checkpoint::digest;
use checkpoint::lookback::PastSession;
use checkpoint::transcript::turns::{PastTurn, Seen, Turns};
use journal::{Agent, Draft, Journal, Stream, Timestamp};
use parking_lot::Mutex;

use crate::ops::views::{FileProblem, Imported, LookBack, PastTurnRow};
use find::FoundFile;
use ground::{Looked, Projects};
use read::Reading;

/// The threads that read: one for each of the two cores that any machine has.
const THREADS_MAX: usize = 2;
/// The last turn of a transcript may still be running if it was written within this time.
const RUNNING: Duration = Duration::from_secs(10 * 60);
/// Larger files that name a project's folder are not read.
const PROJECT_FILE_BYTES_MAX: u64 = 4 * 1024;

/// What to look back at.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// Only turns that began since then.
    pub(crate) since: Timestamp,
    /// Only turns of this agent.
    pub(crate) agent: Option<Agent>,
    /// Only those in this folder or below it.
    pub(crate) project: Option<String>,
    /// How many of the turns most worth reading.
    pub(crate) limit: usize,
    /// How long to read at most.
    pub(crate) within: Option<Duration>,
}

/// The rules that judge the turns.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) config: &'a Config,
    pub(crate) trust: &'a Trust,
}

/// Returns the transcript of an agent that was written last, if that was after `since`, and when it was.
pub(crate) fn newest_transcript(
    agent: Agent,
    since: Timestamp,
    config: &Config,
) -> Option<(PathBuf, Timestamp)> {
    let files = find::find(Some(agent), since, &config.settings.agents);
    let newest = files.into_iter().next()?;
    Some((newest.path, newest.written))
}

/// Reads the transcripts, and returns their totals with a row for each turn, the oldest first. Keeps nothing.
pub(crate) fn look_back(
    rules: Rules<'_>,
    wanted: &Scope,
    progress: &mut dyn FnMut(u64, u64),
) -> (LookBack, Vec<PastTurnRow>) {
    let walk = Walk::new(rules, wanted, None);
    let walked = walk
        .run(progress)
        .expect("nothing is appended that could fail");
    let mut rows = walked.rows;
    rows.sort_by(|one, other| (one.at, &one.session).cmp(&(other.at, &other.session)));
    let reached = rows::Reached {
        since: wanted.since,
        complete: !walk.is_cut.load(Ordering::Relaxed),
        files: walked.files,
        bytes: walk.reading.bytes.load(Ordering::Relaxed),
        problems: walked.problems,
    };
    let summary = rows::sum(&rows, reached, wanted.limit, &rules.config.settings);
    (summary, rows)
}

/// Journals the turns of the transcripts as imported sessions. A second import of the same transcripts changes nothing.
///
/// # Errors
///
/// If the journal does not take the events.
pub(crate) fn import(
    rules: Rules<'_>,
    wanted: &Scope,
    journal: &Journal,
    progress: &mut dyn FnMut(u64, u64),
) -> journal::Result<Imported> {
    journal.settle()?;
    let first = journal.last_seq() + 1;
    journal.mark_imported_from(first)?;
    let walk = Walk::new(rules, wanted, Some(journal));
    let walked = walk.run(progress)?;
    Ok(Imported {
        problems: walked.problems,
        events: journal.last_seq() + 1 - first,
        ..walked.imported
    })
}

/// A walk over the transcripts.
struct Walk<'a> {
    rules: Rules<'a>,
    wanted: &'a Scope,
    journal: Option<&'a Journal>,
    projects: Projects<'a>,
    reading: Reading,
    /// Turns that were seen: a resumed session may be a copy of an older one.
    seen: Mutex<HashSet<u64>>,
    /// The sequence number of the last event that is not kept.
    seq: AtomicU64,
    began: Instant,
    now: Timestamp,
    is_cut: AtomicBool,
}

/// The result of one thread.
#[derive(Default)]
struct Walked {
    rows: Vec<PastTurnRow>,
    files: usize,
    problems: Vec<FileProblem>,
    imported: Imported,
}

impl Walked {
    fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.files += other.files;
        self.problems.extend(other.problems);
        self.imported.sessions += other.imported.sessions;
        self.imported.turns += other.imported.turns;
        self.imported.known += other.imported.known;
        self.imported.earlier += other.imported.earlier;
        self.imported.live += other.imported.live;
    }
}

/// A session while its transcript is read.
struct Reader {
    session: PastSession,
    native: String,
    looked: Looked,
    /// When the session's first journaled event happened.
    first_at: Option<Timestamp>,
    /// Hooks reported it: it is left alone.
    is_live: bool,
    kept: u64,
}

impl<'a> Walk<'a> {
    fn new(rules: Rules<'a>, wanted: &'a Scope, journal: Option<&'a Journal>) -> Self {
        let projects = Projects::new(rules.config, rules.trust, wanted.since, journal);
        Self {
            rules,
            wanted,
            journal,
            projects,
            reading: Reading::default(),
            seen: Mutex::default(),
            seq: AtomicU64::new(0),
            began: Instant::now(),
            now: Timestamp::now(),
            is_cut: AtomicBool::new(false),
        }
    }

    fn run(&self, progress: &mut dyn FnMut(u64, u64)) -> journal::Result<Walked> {
        let mut files = find::find(
            self.wanted.agent,
            self.wanted.since,
            &self.rules.config.settings.agents,
        );
        // A session goes on from what was journaled of it, so its files are read one after the other, the oldest first.
        if self.journal.is_some() {
            files.reverse();
        }
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let next = AtomicUsize::new(0);
        let work = |mut progress: Option<&mut dyn FnMut(u64, u64)>| {
            let mut walked = Walked::default();
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                if !self.goes_on() {
                    break;
                }
                self.file(file, &mut walked, &mut || {
                    if let Some(progress) = &mut progress {
                        progress(self.reading.bytes.load(Ordering::Relaxed).min(bytes), bytes);
                    }
                })?;
            }
            Ok(walked)
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.journal.is_some() { 1 } else { cores };
        let mut walked = std::thread::scope(|scope| -> journal::Result<Walked> {
            let others: Vec<_> = (1..threads.min(THREADS_MAX))
                .map(|_| scope.spawn(|| work(None)))
                .collect();
            let mut walked = work(Some(progress))?;
            for other in others {
                let other = other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                walked.add(other?);
            }
            Ok(walked)
        })?;
        walked.problems.sort();
        Ok(walked)
    }

    /// Returns whether there is time left.
    fn goes_on(&self) -> bool {
        let is_over = self
            .wanted
            .within
            .is_some_and(|within| self.began.elapsed() > within);
        if is_over {
            self.is_cut.store(true, Ordering::Relaxed);
        }
        !is_over
    }

    fn file(
        &self,
        file: &FoundFile,
        walked: &mut Walked,
        progress: &mut dyn FnMut(),
    ) -> journal::Result<()> {
        let prefix = &self.rules.config.settings.prefix.0;
        let Some(turns) = Turns::new(file.agent, prefix, &self.rules.config.redactor) else {
            return Ok(());
        };
        let mut reader: Option<Reader> = None;
        let mut failed = Ok(());
        let mut each = |turn: PastTurn| {
            progress();
            if failed.is_ok() {
                failed = self.turn(file, turn, &mut reader, walked);
            }
        };
        let read = read::read(file, turns, &self.reading, || self.goes_on(), &mut each);
        failed?;
        walked.files += 1;
        let problem = match read {
            Ok(seen) => problem(&seen, file.bytes),
            Err(error) => Some(error.to_string()),
        };
        walked.problems.extend(problem.map(|problem| FileProblem {
            file: file.path.clone(),
            problem,
        }));
        let Some(mut reader) = reader else {
            return Ok(());
        };
        walked.imported.live += u64::from(reader.is_live);
        if reader.kept > 0 {
            let is_new = self.seen.lock().insert(digest::of_text(&reader.native));
            walked.imported.sessions += u64::from(is_new);
            reader.session.end(&mut |drafts| self.append(drafts))?;
        }
        Ok(())
    }

    /// Judges a turn if it is wanted, and counts it.
    fn turn(
        &self,
        file: &FoundFile,
        turn: PastTurn,
        reader: &mut Option<Reader>,
        walked: &mut Walked,
    ) -> journal::Result<()> {
        if reader.is_none() {
            *reader = Some(self.reader(file, &turn)?);
        }
        let Some(reader) = reader else { return Ok(()) };
        let project = &reader.looked.known().top;
        let is_wanted = turn.began >= self.wanted.since
            && !self.is_running(&turn)
            && self
                .wanted
                .project
                .as_ref()
                .is_none_or(|wanted| Path::new(project).starts_with(wanted));
        if reader.is_live || !is_wanted || !self.is_new(file.agent, &turn) {
            return Ok(());
        }
        if !reader.session.wants(&turn) {
            let is_earlier = reader.first_at.is_some_and(|first| turn.began < first);
            walked.imported.earlier += u64::from(is_earlier);
            walked.imported.known += u64::from(!is_earlier);
            return Ok(());
        }
        let transcript = file.path.to_string_lossy();
        let prompt = turn.prompt().to_owned();
        let about = rows::About {
            agent: file.agent,
            project,
            session: &reader.native,
            transcript: &file.path,
            prompt: &prompt,
            began: turn.began,
            ended: turn.ended,
            interrupted: turn.interrupted,
        };
        let session = &mut reader.session;
        let judged = reader
            .looked
            .stand(&self.projects, turn, &transcript, |turn, ground| {
                session.judge(turn, ground, &mut |drafts| self.append(drafts))
            })?;
        match self.journal {
            None => walked.rows.push(rows::row(&about, &judged)),
            Some(_) if !judged.is_new => walked.imported.known += 1,
            Some(_) => {
                reader.kept += 1;
                walked.imported.turns += 1;
            }
        }
        Ok(())
    }

    /// Begins a session with the first turn of its transcript.
    fn reader(&self, file: &FoundFile, turn: &PastTurn) -> journal::Result<Reader> {
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
        let native = turn
            .facts
            .session
            .clone()
            .unwrap_or_else(|| stem.into_owned());
        let cwd = turn.facts.cwd.clone().or_else(|| named_project(file));
        let stream = Stream::of_native(file.agent, &native);
        // The file before this one may be of the same session.
        if let Some(journal) = self.journal {
            journal.settle()?;
        }
        let entry = self
            .journal
            .and_then(|journal| journal.session(stream.session));
        let (mut session, mut is_live) = (PastSession::new(stream.clone()), false);
        if let (Some(journal), Some(entry)) = (self.journal, &entry) {
            is_live = !journal.is_imported(entry.first_seq) || !journal.is_imported(entry.last_seq);
            session = PastSession::resume(session_state::load(journal, &stream)?);
        }
        Ok(Reader {
            session,
            native,
            looked: self.projects.of(&cwd.unwrap_or_default()),
            first_at: entry.map(|entry| entry.first_at),
            is_live,
            kept: 0,
        })
    }

    /// Returns whether the agent may still be at work on a turn.
    fn is_running(&self, turn: &PastTurn) -> bool {
        turn.ended <= self.now && self.now.since(turn.ended) < RUNNING
    }

    fn is_new(&self, agent: Agent, turn: &PastTurn) -> bool {
        let key = format!("{agent} {} {}", turn.began.as_micros(), turn.prompt());
        self.seen.lock().insert(digest::of_text(&key))
    }

    /// Journals events if they are kept, and otherwise only numbers them.
    fn append(&self, drafts: Vec<Draft>) -> journal::Result<Vec<u64>> {
        let Some(journal) = self.journal else {
            let number = |_: &Draft| self.seq.fetch_add(1, Ordering::Relaxed) + 1;
            return Ok(drafts.iter().map(number).collect());
        };
        let appended = journal.append_wait(drafts)?;
        Ok(appended.into_iter().map(|appended| appended.seq).collect())
    }
}

/// Returns the folder that a file beside a transcript names.
fn named_project(file: &FoundFile) -> Option<String> {
    let named = agents::adapter(file.agent)?.library.project_file?;
    let path = file.path.parent()?.join(named.path);
    let text = actors::named_file::text(&path, PROJECT_FILE_BYTES_MAX).ok()?;
    let folder = match named.pointer {
        None => text.trim().to_owned(),
        Some(pointer) => {
            let value: serde_json::Value = serde_json::from_str(&text).ok()?;
            value.pointer(pointer)?.as_str()?.to_owned()
        }
    };
    Some(folder).filter(|folder| !folder.is_empty())
}

/// Says what is wrong with a transcript, if anything is.
fn problem(seen: &Seen, bytes: u64) -> Option<String> {
    if !seen.is_own && bytes > 0 {
        return Some("it does not have the agent's format".to_owned());
    }
    let first = seen
        .first_broken
        .map_or(String::new(), |line| format!(", the first is line {line}"));
    let lines = if seen.broken == 1 { "line" } else { "lines" };
    (seen.broken > 0).then(|| format!("{} {lines} cannot be read{first}", seen.broken))
}
