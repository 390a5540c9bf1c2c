//! Damage to every kind of file of a journal: it comes up whole from the copy that is whole, or says that it does not.
//! `CHECKPOINTD_DAMAGE_ROUNDS` sets how many random positions of each kind are tried.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use journal::maintenance::{pack, rebuild};
use journal::{
    Agent, Draft, Envelope, Error, Event, Host, Journal, Options, PromptOrigin, Stream, Timestamp,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{Home, run, wait};

/// Events in each segment.
const EVENTS: u64 = 24;
/// Every byte of so many records at the end is damaged.
const LAST_RECORDS: usize = 3;

/// Every event with its payload.
type Events = Vec<(Envelope, Option<String>)>;

/// What is done to a file.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Flip(usize),
    Cut(usize),
    Delete,
}

impl Harm {
    fn to(self, path: &Path) {
        let mut bytes = fs::read(path).expect("read");
        match self {
            Self::Flip(at) => bytes[at] ^= 0x41,
            Self::Cut(at) => bytes.truncate(at),
            Self::Delete => return fs::remove_file(path).expect("removed"),
        }
        fs::write(path, bytes).expect("written");
    }
}

fn draft(number: u64) -> Draft {
    let text = format!("prompt {number}");
    let event = Event::PromptSubmitted {
        host: Host::default(),
        origin: PromptOrigin::User,
        text,
        digest: number,
    };
    Draft {
        stream: Stream::of_native(
            Agent::Claude,
            if number.is_multiple_of(3) { "a" } else { "b" },
        ),
        at: Timestamp::from_micros(1_000_000 * i64::try_from(number).expect("small")),
        id: Uuid::from_u128(number.into()),
        event,
        payload: Some(format!(
            r#"{{"number":{number},"text":"{}"}}"#,
            "word ".repeat(9)
        )),
    }
}

/// A journal of two sealed segments and one that is not, with snapshots, and what is in it.
fn journal() -> (TempDir, Events) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut events = Vec::new();
    for part in 0..3 {
        let (journal, _) = Journal::open(folder.path(), Options::default()).expect("opens");
        journal
            .append_wait(
                (part * EVENTS + 1..=(part + 1) * EVENTS)
                    .map(draft)
                    .collect(),
            )
            .expect("appends");
        for session in journal.sessions() {
            journal
                .put_snapshot(session.stream.session, session.last_seq, b"a snapshot")
                .expect("kept");
        }
        events = all(&journal).expect("reads");
        journal.close();
        drop(journal);
        if part < 2 {
            // Seals the segment, as the journal does once it is large.
            pack(folder.path(), |_, _| ()).expect("packs");
        }
    }
    let endings: Vec<_> = segments(folder.path())
        .iter()
        .filter_map(|path| path.extension().map(|ending| ending.to_owned()))
        .collect();
    assert_eq!(endings, ["zst", "zst", "log"]);
    (folder, events)
}

fn segments(journal: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(journal.join("intake"))
        .expect("listed")
        .map(|entry| entry.expect("one").path())
        .collect();
    found.sort();
    found
}

fn store_files(journal: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(journal.join("store"))
        .expect("listed")
        .map(|entry| entry.expect("one").path());
    let mut found: Vec<_> = entries
        .filter(|path| path.is_file() && path.metadata().expect("there").len() > 0)
        .collect();
    found.extend(
        fs::read_dir(journal.join("store/snap.never"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path()),
    );
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            assert!(fs::copy(entry.path(), target).is_ok())
        }
    }
}

fn all(journal: &Journal) -> journal::Result<Events> {
    journal.settle()?;
    journal
        .events_from(1)
        .map(|envelope| {
            envelope.and_then(|envelope| Ok((envelope.clone(), journal.payload(envelope.seq)?)))
        })
        .collect()
}

/// What came of damage.
#[derive(Debug, PartialEq, Eq, Clone, Copy, Hash, PartialOrd, Ord)]
enum Outcome {
    /// All events are there, and somebody was told.
    Mended,
    /// All events are there, and nothing is wrong with either copy.
    Unharmed,
    /// It opened, not with all events, and said so.
    Told,
    /// It did not open.
    Refused,
}

/// Opens a damaged journal and judges what it does. `must_mend`: a whole copy is there.
fn judge(folder: &Path, events: &Events, must_mend: bool) -> Result<Outcome, String> {
    let opened = catch_unwind(AssertUnwindSafe(|| {
        Journal::open(folder, Options::default())
    }));
    let (journal, recovered) = match opened.map_err(|_| "it panicked as it opened")? {
        Ok(opened) => opened,
        Err(Error::Newer { .. }) => return Ok(Outcome::Refused),
        Err(error) if must_mend => return Err(format!("not mended from the whole copy: {error}")),
        Err(Error::Damaged { .. } | Error::Store { .. } | Error::Disk { .. }) => {
            return Ok(Outcome::Refused);
        }
        Err(error) => return Err(format!("refused for a wrong reason: {error}")),
    };
    let looked = catch_unwind(AssertUnwindSafe(|| {
        (all(&journal), journal.verify(|_, _| {}))
    }));
    journal.close();
    let (read, verified) = looked.map_err(|_| "it panicked as it was read")?;
    let told = !recovered.notes.is_empty()
        || !matches!(&verified, Ok(verified) if verified.ok)
        || !journal.repaired().is_empty();
    match read {
        Ok(read) if read == *events => Ok(if told {
            Outcome::Mended
        } else {
            Outcome::Unharmed
        }),
        Ok(read) if told && !must_mend => {
            match read[..] == events[..read.len().min(events.len())] {
                true => Ok(Outcome::Told),
                false => Err(format!(
                    "what is left is not the beginning: {} events",
                    read.len()
                )),
            }
        }
        _ if told && must_mend => Ok(Outcome::Told),
        Err(_) if told => Ok(Outcome::Told),
        Ok(read) => Err(format!(
            "silently {} of {} events, {verified:?}",
            read.len(),
            events.len()
        )),
        Err(error) => Err(format!("silently unreadable: {error}")),
    }
}

/// Tries each harm on a fresh copy and counts the outcomes.
fn try_all(
    what: &str,
    whole: &Path,
    events: &Events,
    harms: Vec<(PathBuf, Harm)>,
    must_mend: bool,
) -> Vec<(Outcome, usize)> {
    let mut outcomes = std::collections::BTreeMap::new();
    let mut wrong = Vec::new();
    let count = harms.len();
    for (file, harm) in harms {
        let copied = tempfile::tempdir().expect("a folder");
        copy(whole, copied.path());
        harm.to(&copied.path().join(&file));
        let (folder, events) = (copied.path().to_owned(), events.clone());
        // In a thread of its own: what hangs fails.
        match wait(move || judge(&folder, &events, must_mend)) {
            Ok(outcome) => {
                if outcome == Outcome::Unharmed {
                    println!("{what}: {} {harm:?} does no harm", file.display());
                }
                *outcomes.entry(outcome).or_insert(0) += 1;
            }
            Err(problem) => wrong.push(format!("{} {harm:?}: {problem}", file.display())),
        }
    }
    println!("{what}: {count} tried, {outcomes:?}, {} wrong", wrong.len());
    assert!(
        wrong.is_empty(),
        "{what}: {} of {count} went wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    outcomes.into_iter().collect()
}

fn rounds(short: usize) -> usize {
    std::env::var("CHECKPOINTD_DAMAGE_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(short)
}

fn relative(file: &Path, to: &Path) -> PathBuf {
    file.strip_prefix(to).expect("below").to_owned()
}

/// Random harms to files, the same in each run: flips, some cuts, and each file deleted once.
fn random_harms(files: &[PathBuf], root: &Path, count: usize) -> Vec<(PathBuf, Harm)> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("small") % bound
    };
    let mut harms: Vec<_> = files
        .iter()
        .map(|file| (relative(file, root), Harm::Delete))
        .collect();
    for number in 0..count {
        let file = &files[next(files.len())];
        let bytes = fs::read(file).expect("read");
        // Files are mostly zeros at their end; half of the harm goes to where something is.
        let used = bytes
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(1, |last| last + 1);
        let at = next(if number % 2 == 0 { used } else { bytes.len() });
        harms.push((
            relative(file, root),
            if number % 5 == 4 {
                Harm::Cut(at)
            } else {
                Harm::Flip(at)
            },
        ));
    }
    harms
}

/// The places where the last records of a segment begin, and its end.
fn last_records(log: &Path) -> (Vec<usize>, usize) {
    let bytes = fs::read(log).expect("read");
    let frames: Vec<_> = journal::frame::Reader::new(&bytes)
        .map(|frame| frame.expect("whole").offset)
        .collect();
    (frames[frames.len() - LAST_RECORDS..].to_vec(), bytes.len())
}

#[test]
fn the_end_of_the_intake_log_may_be_damaged_at_every_byte() {
    let (whole, events) = journal();
    let log = segments(whole.path()).pop().expect("a segment");
    let (starts, to) = last_records(&log);
    let step = if std::env::var_os("CHECKPOINTD_DAMAGE_ROUNDS").is_some() {
        1
    } else {
        7
    };
    let name = relative(&log, whole.path());
    let harms = |offset: usize| -> Vec<_> {
        let positions = (starts[0] + offset..to).step_by(step);
        positions
            .flat_map(|at| {
                [
                    (name.clone(), Harm::Flip(at)),
                    (name.clone(), Harm::Cut(at)),
                ]
            })
            .collect()
    };
    // The store has all that is not sealed, so nothing may be lost, and all of it must be noticed.
    let outcomes = try_all(
        "end of the log, store whole",
        whole.path(),
        &events,
        harms(0),
        true,
    );
    assert!(
        outcomes
            .iter()
            .all(|(outcome, _)| [Outcome::Mended, Outcome::Refused].contains(outcome)),
        "{outcomes:?}"
    );
    // The log is the only copy.
    fs::remove_dir_all(whole.path().join("store")).expect("removed");
    let mut within = harms(step / 2);
    within.retain(|(_, harm)| !matches!(harm, Harm::Cut(at) if starts.contains(at)));
    let outcomes = try_all(
        "end of the log, no store",
        whole.path(),
        &events,
        within,
        false,
    );
    assert!(
        outcomes
            .iter()
            .all(|(outcome, _)| [Outcome::Told, Outcome::Refused].contains(outcome)),
        "{outcomes:?}"
    );
    // Cut between two records it is what a kill before the later ones leaves: nothing can tell, and the rest is whole.
    for (start, left) in starts.iter().zip(events.len() - LAST_RECORDS..) {
        let copied = tempfile::tempdir().expect("a folder");
        copy(whole.path(), copied.path());
        Harm::Cut(*start).to(&copied.path().join(&name));
        let (journal, recovered) = Journal::open(copied.path(), Options::default()).expect("opens");
        assert_eq!(
            (all(&journal).expect("reads"), recovered.notes),
            (events[..left].to_vec(), vec![])
        );
        journal.close();
    }
}

#[test]
fn earlier_segments_may_be_damaged_anywhere() {
    let (whole, events) = journal();
    let earlier = &segments(whole.path())[..2];
    let harms = random_harms(earlier, whole.path(), rounds(60));
    // No other copy has what is sealed. Its parity mends what is wrong; too much that is missing is told, and what is whole
    // is still read.
    let (flips, cuts): (Vec<_>, Vec<_>) = harms
        .into_iter()
        .partition(|(_, harm)| matches!(harm, Harm::Flip(_)));
    for store in ["whole", "missing"] {
        if store == "missing" {
            fs::remove_dir_all(whole.path().join("store")).expect("removed");
        }
        let what = format!("flips in earlier segments, store {store}");
        let outcomes = try_all(&what, whole.path(), &events, flips.clone(), true);
        assert!(
            outcomes
                .iter()
                .all(|(outcome, _)| *outcome == Outcome::Mended),
            "{outcomes:?}"
        );
        let what = format!("cuts of earlier segments, store {store}");
        let outcomes = try_all(&what, whole.path(), &events, cuts.clone(), false);
        assert!(
            outcomes
                .iter()
                .all(|(outcome, _)| *outcome != Outcome::Unharmed),
            "{outcomes:?}"
        );
    }
}

#[test]
fn what_is_lost_is_left_out_only_by_force() {
    let (whole, events) = journal();
    let lost = &segments(whole.path())[1];
    Harm::Delete.to(lost);
    for (store, left) in [("whole", 0), ("missing", 1)] {
        if store == "missing" {
            fs::remove_dir_all(whole.path().join("store")).expect("removed");
        }
        let copied = tempfile::tempdir().expect("a folder");
        copy(whole.path(), copied.path());
        let refused = rebuild(copied.path(), false).expect_err("refused");
        assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
        let rebuilt = rebuild(copied.path(), true).expect("rebuilt");
        assert_eq!(rebuilt.left_out, [EVENTS + 1..=2 * EVENTS], "{left}");
        let (journal, _) = Journal::open(copied.path(), Options::default()).expect("opens");
        let verified = journal.verify(|_, _| {}).expect("verifies");
        assert!(verified.ok, "{verified:?}");
        let read = all(&journal).expect("reads");
        for ((is, _), (was, _)) in read.iter().zip(&events) {
            let is_lost = rebuilt.left_out[0].contains(&was.seq);
            let expected = if is_lost {
                &Event::Forgotten {}
            } else {
                &was.event
            };
            assert_eq!((is.seq, &is.event), (was.seq, expected));
        }
        assert_eq!(read.len(), events.len());
        journal.close();
    }
}

#[test]
fn the_store_may_be_damaged_anywhere() {
    let (whole, events) = journal();
    let harms = random_harms(&store_files(whole.path()), whole.path(), rounds(60));
    try_all("the store, log whole", whole.path(), &events, harms, true);
}

#[test]
fn the_program_says_what_is_damaged_and_what_to_run() {
    let (whole, _) = journal();
    fs::remove_dir_all(whole.path().join("store")).expect("removed");
    let home = Home::new();
    copy(whole.path(), &home.path().join("journal"));
    Harm::Cut(40).to(&segments(&home.path().join("journal"))[1]);
    for arguments in [&["daemon"][..], &["journal", "verify"], &["sessions"]] {
        let output = run(
            &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
            b"",
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(
            said.contains("hint: ") && !said.contains("panicked"),
            "{arguments:?}: {said}"
        );
    }
    let restore = |more: &[&str]| {
        let arguments = [&["journal", "restore"], more].concat();
        let output = run(
            &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &arguments),
            b"",
        );
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    };
    let (code, said) = restore(&[]);
    assert!(code != Some(0) && said.contains("--force"), "{said}");
    let (code, said) = restore(&["--force"]);
    let left_out = format!("skipped: events {} to {}", EVENTS + 1, 2 * EVENTS);
    assert!(code == Some(0) && said.contains(&left_out), "{said}");
}
