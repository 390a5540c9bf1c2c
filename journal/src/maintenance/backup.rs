//! Writes a journal into one file, and reads it back.
//!
//! ```text
//! checkpointd backup 1 N\n     format version, and sequence number of the last event
//! one zstd frame               the frames of events 1 to N with their payloads, as in the intake log
//! ```
//!
//! A backup is read from the store event by event up to an event that is fixed at the start, so appends meanwhile do not
//! change it. It holds no indexes: they are rebuilt from the events.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use crate::error::{Doing, Error, Result};
use crate::frame::{self, HEADER_BYTES, Kind, Reader};
use crate::home::create_folder;
use crate::intake::{self, SEGMENT_BYTES, Writer};
use crate::store::Store;
use crate::{codec, layout};

/// The backup format that is written, and the newest one that is read.
const VERSION: u32 = 1;
const HEAD: &str = "checkpointd backup ";
/// Maximum length of the first line.
const HEAD_BYTES_MAX: u64 = 64;
/// How hard zstd tries; its fastest.
const LEVEL: i32 = 1;
/// Bytes in one write to the compressor.
const WRITE_BYTES: usize = 256 * 1024;

fn failed(error: &std::io::Error) -> Error {
    Error::disk("write", Path::new("the backup"), error)
}

/// Writes events `1..=last`.
pub(crate) fn write(
    store: &Store,
    last: u64,
    mut out: impl Write,
    mut progress: impl FnMut(u64, u64),
) -> Result<()> {
    let head = format!("{HEAD}{VERSION} {last}\n");
    out.write_all(head.as_bytes())
        .map_err(|error| failed(&error))?;
    let mut packed = zstd::Encoder::new(&mut out, LEVEL).map_err(|error| failed(&error))?;
    let summed = packed.include_checksum(true);
    summed.map_err(|error| failed(&error))?;
    let mut frames = Vec::new();
    for seq in 1..=last {
        let missing = || Error::missing("the store", seq);
        let event = store.event_value(seq)?.ok_or_else(missing)?;
        let payload = store.payload_value(seq)?;
        let payload = payload.as_deref().unwrap_or(&codec::NO_PAYLOAD);
        frame::push(&mut frames, Kind::Envelope, &codec::join(&event, payload));
        if frames.len() >= WRITE_BYTES || seq == last {
            packed.write_all(&frames).map_err(|error| failed(&error))?;
            frames.clear();
            progress(seq, last);
        }
    }
    packed.finish().map_err(|error| failed(&error))?;
    out.flush().map_err(|error| failed(&error))
}

/// Writes a backup's events as an intake log below `dir` and checks each. Returns their number.
///
/// # Errors
///
/// If the file is not a backup, was written by a newer program, is cut short or damaged. The events before stay in `dir`.
pub(crate) fn unpack(backup: &Path, dir: &Path, mut progress: impl FnMut(u64, u64)) -> Result<u64> {
    let name = backup.display().to_string();
    let mut file = BufReader::new(fs::File::open(backup).doing("open", backup)?);
    let last = read_head(&mut file, &name)?;
    let intake = layout::intake_dir(dir);
    create_folder(&intake).doing("create", &intake)?;
    let mut frames = BufReader::new(zstd::Decoder::with_buffer(file).doing("read", backup)?);
    let mut writer = Writer::create(&intake, 1)?;
    for seq in 1..=last {
        let cut_short = |error: std::io::Error| {
            Error::damaged(&name, format!("at event {seq} of {last}: {error}"))
        };
        let bytes = read_frame(&mut frames).map_err(cut_short)?;
        let found = intake::records(&bytes, |_| ()).next().transpose()?;
        if found.map(|record| record.envelope.seq) != Some(seq) {
            let problem = format!("event {seq} of {last} is missing or out of order");
            return Err(Error::damaged(&name, problem));
        }
        if writer.len() >= SEGMENT_BYTES {
            writer.sync()?;
            intake::seal(&writer.segment())?;
            writer = Writer::create(&intake, seq)?;
        }
        writer.append(&bytes)?;
        if seq.is_multiple_of(1_000) {
            progress(seq, last);
        }
    }
    // The decoder compares the frame's sum at its end.
    match frames.read(&mut [0]) {
        Ok(0) => {}
        Ok(_) => return Err(Error::damaged(&name, "something follows its last event")),
        Err(error) => return Err(Error::damaged(&name, error.to_string())),
    }
    writer.sync()?;
    Ok(last)
}

/// Returns the sequence number of the last event that the head of a backup states.
pub(crate) fn last_event(backup: &Path) -> Result<u64> {
    let mut file = BufReader::new(fs::File::open(backup).doing("open", backup)?);
    read_head(&mut file, &backup.display().to_string())
}

fn read_head(file: &mut impl BufRead, name: &str) -> Result<u64> {
    let mut head = Vec::new();
    let read = file.take(HEAD_BYTES_MAX).read_until(b'\n', &mut head);
    read.doing("read", Path::new(name))?;
    let head = String::from_utf8_lossy(&head);
    let numbers = || {
        let fields = head.strip_prefix(HEAD)?.strip_suffix('\n')?;
        let (version, last) = fields.split_once(' ')?;
        Some((version.parse::<u32>().ok()?, last.parse().ok()?))
    };
    match numbers() {
        Some((VERSION, last)) => Ok(last),
        Some((found, _)) => Err(Error::Newer {
            what: name.to_owned(),
            found,
            known: VERSION,
        }),
        None => Err(Error::damaged(name, "it is not a backup of a journal")),
    }
}

fn read_frame(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER_BYTES];
    from.read_exact(&mut bytes)?;
    let length = frame::payload_length(&bytes).ok_or(std::io::ErrorKind::InvalidData)?;
    bytes.resize(HEADER_BYTES + length, 0);
    from.read_exact(&mut bytes[HEADER_BYTES..])?;
    match Reader::new(&bytes).next() {
        Some(Ok(_)) => Ok(bytes),
        _ => Err(std::io::ErrorKind::InvalidData.into()),
    }
}
