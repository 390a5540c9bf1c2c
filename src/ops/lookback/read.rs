//! Reads one transcript, line by line or whole, with bounded memory.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::sync::atomic::{AtomicU64, Ordering};

use actors::named_file::{self, Links};
use checkpoint::agents;
use checkpoint::agents::adapter::Database;
use checkpoint::transcript::turns::{PastTurn, Seen, Turns};
use parking_lot::Mutex;

use super::database;
use super::find::FoundFile;

/// Longer lines are left out: no message of a person or call of a tool needs so much.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How much memory of a long line is kept, in bytes.
const LINE_BYTES_KEPT: usize = 1024 * 1024;
/// Larger files that have to be read whole are left out.
const WHOLE_BYTES_MAX: u64 = 48 * 1024 * 1024;
/// Only one file at a time that is larger is in memory whole.
const SMALL_BYTES_MAX: u64 = 4 * 1024 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// Data that several readers share.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) bytes: AtomicU64,
    large: Mutex<()>,
}

/// Hands the turns of a transcript to `each`, which returns whether to continue.
///
/// # Errors
///
/// If the file cannot be read, or is too large.
pub(super) fn read(
    file: &FoundFile,
    mut turns: Turns<'_>,
    reading: &Reading,
    goes_on: impl Fn() -> bool,
    each: &mut impl FnMut(PastTurn),
) -> io::Result<Seen> {
    if let Some(questions) = agents::adapter(file.agent).and_then(|adapter| adapter.database) {
        rows(file, questions, &mut turns, reading, goes_on, each)?;
        return Ok(turns.finish(each));
    }
    let (opened, length) = named_file::open(&file.path, Links::Follow)?;
    if turns.is_whole() {
        if length > WHOLE_BYTES_MAX {
            let mb = WHOLE_BYTES_MAX / 1024 / 1024;
            return Err(io::Error::other(format!(
                "it is larger than {mb} MB and can only be read whole"
            )));
        }
        let is_large = length > SMALL_BYTES_MAX;
        let _permit = is_large.then(|| reading.large.lock());
        let mut bytes = Vec::new();
        opened.take(WHOLE_BYTES_MAX).read_to_end(&mut bytes)?;
        reading
            .bytes
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        turns.whole(&String::from_utf8_lossy(&bytes), each);
        return Ok(turns.finish(each));
    }
    lines(opened, &mut turns, reading, goes_on, each)?;
    Ok(turns.finish(each))
}

fn rows(
    file: &FoundFile,
    questions: Database,
    turns: &mut Turns<'_>,
    reading: &Reading,
    goes_on: impl Fn() -> bool,
    each: &mut impl FnMut(PastTurn),
) -> io::Result<()> {
    let Some(session) = &file.session else {
        // Listing its sessions has failed, and fails again.
        return database::sessions(&file.path, questions).map(drop);
    };
    database::lines(&file.path, questions, session, |line| {
        reading
            .bytes
            .fetch_add(line.len() as u64, Ordering::Relaxed);
        let is_small = line.len() <= LINE_BYTES_MAX;
        goes_on() && turns.line(if is_small { line } else { "" }, each)
    })
}

fn lines(
    file: File,
    turns: &mut Turns<'_>,
    reading: &Reading,
    goes_on: impl Fn() -> bool,
    each: &mut impl FnMut(PastTurn),
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
    let mut line = Vec::new();
    while goes_on() {
        line.clear();
        line.shrink_to(LINE_BYTES_KEPT);
        let limit = LINE_BYTES_MAX as u64;
        let read = input.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        let mut bytes = read;
        if read == LINE_BYTES_MAX && line.last() != Some(&b'\n') {
            bytes += input.skip_until(b'\n')?;
            line.clear();
        }
        reading.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let more = match std::str::from_utf8(&line) {
            Ok(text) => turns.line(text, each),
            Err(_) => turns.line(&String::from_utf8_lossy(&line), each),
        };
        if !more {
            break;
        }
    }
    Ok(())
}
