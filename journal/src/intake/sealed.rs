//! A sealed segment: its frames in blocks that can be read one by one, and a directory of the blocks.
//!
//! ```text
//! blocks      each a zstd frame that unpacks to whole frames of the log
//! parity      packets of it (parity.rs)
//! directory   a zstd skippable frame: its head (8 bytes), and for each block
//!             first event (8), length packed (4), length unpacked (4), CRC-32 of the packed bytes (4);
//!             then the CRC-32 of all these (4), and their number (4); all numbers little-endian
//! ```
//!
//! `zstd -d` unpacks such a file to the frames as they were written.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::files::create_private;
use super::parity;
use crate::error::{Doing, Error, Result};
use crate::frame::{self, HEADER_BYTES, PAYLOAD_BYTES_MAX, Reader};
use crate::{codec, named_file};

/// A block is closed at this size. Larger ones compress a tenth better, and each read of an event unpacks a whole one.
const BLOCK_BYTES: usize = 128 * 1024;
/// Maximum size of an unpacked block.
pub(super) const UNPACKED_BYTES_MAX: usize = BLOCK_BYTES + HEADER_BYTES + PAYLOAD_BYTES_MAX;
/// How hard zstd tries; its default.
const LEVEL: i32 = 3;
/// First bytes of a zstd frame that zstd skips.
const SKIPPABLE: [u8; 4] = [0x5D, 0x2A, 0x4D, 0x18];
/// Size of a block's directory entry, in bytes.
const ENTRY_BYTES: usize = 20;
/// Bytes of the directory before and behind its entries.
const HEAD_BYTES: usize = 8;
const TAIL_BYTES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) first_seq: u64,
    at: u64,
    length: u32,
    unpacked: u32,
    sum: u32,
}

impl Block {
    fn end(&self) -> u64 {
        self.at + u64::from(self.length)
    }

    fn entry(&self) -> [u8; ENTRY_BYTES] {
        let mut entry = [0; ENTRY_BYTES];
        entry[..8].copy_from_slice(&self.first_seq.to_le_bytes());
        entry[8..12].copy_from_slice(&self.length.to_le_bytes());
        entry[12..16].copy_from_slice(&self.unpacked.to_le_bytes());
        entry[16..].copy_from_slice(&self.sum.to_le_bytes());
        entry
    }

    fn of(entry: &[u8; ENTRY_BYTES], at: u64) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *entry;
        Self {
            first_seq: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            at,
            length: number(&entry[8..]),
            unpacked: number(&entry[12..]),
            sum: number(&entry[16..]),
        }
    }
}

/// Returns the number in the first four bytes.
fn number(bytes: &[u8]) -> u32 {
    let four = bytes.first_chunk();
    four.map_or(0, |four| u32::from_le_bytes(*four))
}

/// An open sealed segment.
pub(crate) struct Sealed {
    bytes: Bytes,
    path: PathBuf,
    pub(crate) blocks: Vec<Block>,
    directory_at: u64,
}

/// Where a segment's bytes are read from.
enum Bytes {
    File(File),
    /// Repaired ones that could not be written.
    Memory(Vec<u8>),
}

impl Bytes {
    fn read(&self, to: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(to, at),
            Self::Memory(bytes) => {
                let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
                from.unwrap_or_default().read_exact(to)
            }
        }
    }
}

impl Sealed {
    /// Opens a sealed segment and reads its directory.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = named_file::open_own(path, File::options().read(true)).doing("read", path)?;
        let length = file.metadata().doing("read", path)?.len();
        Self::new(path, Bytes::File(file), length)
    }

    /// Returns the segment that a file would have with these bytes.
    pub(super) fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let length = bytes.len() as u64;
        Self::new(path, Bytes::Memory(bytes), length)
    }

    fn new(path: &Path, bytes: Bytes, length: u64) -> Result<Self> {
        let found = directory(&bytes, length).doing("read", path)?;
        let problem = "its directory is not whole";
        let (blocks, directory_at) =
            found.ok_or_else(|| Error::damaged(path.display().to_string(), problem))?;
        Ok(Self {
            bytes,
            path: path.to_owned(),
            blocks,
            directory_at,
        })
    }

    fn blocks_end(&self) -> u64 {
        self.blocks.last().map_or(0, Block::end)
    }

    /// Returns the bytes of the file that also has parity; `file` are those that it has.
    pub(super) fn with_parity(&self, file: &[u8]) -> Result<Vec<u8>> {
        let (blocks, directory) = file.split_at(self.directory_at as usize);
        assemble(&self.path, &blocks[..self.blocks_end() as usize], directory)
    }

    /// Unpacks a block and appends its frames to `frames`.
    pub(crate) fn read(&self, block: &Block, frames: &mut Vec<u8>) -> Result<()> {
        let damaged = |problem: &str| {
            let behind = self.blocks.iter().find(|other| other.at > block.at);
            let events = match behind {
                Some(next) => format!("events {} to {}", block.first_seq, next.first_seq - 1),
                None => format!("event {} and those behind it", block.first_seq),
            };
            Error::damaged(
                self.path.display().to_string(),
                format!("{problem}: {events}"),
            )
        };
        let mut packed = vec![0; block.length as usize];
        let read = self.bytes.read(&mut packed, block.at);
        read.doing("read", &self.path)?;
        if crc32fast::hash(&packed) != block.sum {
            return Err(damaged("the checksum of a block is wrong"));
        }
        let unpacked = zstd::bulk::decompress(&packed, block.unpacked as usize)
            .map_err(|error| damaged(&error.to_string()))?;
        if unpacked.len() != block.unpacked as usize {
            return Err(damaged("a block is too short"));
        }
        frames.extend_from_slice(&unpacked);
        Ok(())
    }

    /// Returns whether its blocks unpack to exactly these frames.
    pub(super) fn holds(&self, frames: &[u8]) -> Result<bool> {
        let mut rest = frames;
        let mut block_frames = Vec::new();
        for block in &self.blocks {
            block_frames.clear();
            self.read(block, &mut block_frames)?;
            match rest.strip_prefix(block_frames.as_slice()) {
                Some(behind) => rest = behind,
                None => return Ok(false),
            }
        }
        Ok(rest.is_empty())
    }

    /// Unpacks all blocks and appends their frames to `frames`.
    pub(crate) fn read_all(&self, frames: &mut Vec<u8>) -> Result<()> {
        let mut blocks = self.blocks.iter();
        blocks.try_for_each(|block| self.read(block, frames))
    }
}

/// Reads the directory at the end of a file, and where it begins; `None` if it is not one.
fn directory(file: &Bytes, length: u64) -> io::Result<Option<(Vec<Block>, u64)>> {
    let Some(tail_at) = length.checked_sub(TAIL_BYTES as u64) else {
        return Ok(None);
    };
    let mut tail = [0; TAIL_BYTES];
    file.read(&mut tail, tail_at)?;
    let entries_bytes = u64::from(number(&tail[4..])) * ENTRY_BYTES as u64;
    let whole = HEAD_BYTES as u64 + entries_bytes + TAIL_BYTES as u64;
    let Some(directory_at) = length.checked_sub(whole) else {
        return Ok(None);
    };
    let mut bytes = vec![0; whole as usize - TAIL_BYTES];
    file.read(&mut bytes, directory_at)?;
    let (head, entries) = bytes.split_at(HEAD_BYTES);
    if head != head_of(entries.len()) || crc32fast::hash(entries) != number(&tail) {
        return Ok(None);
    }
    let mut at = 0;
    let blocks = entries.as_chunks::<ENTRY_BYTES>().0.iter().map(|entry| {
        let block = Block::of(entry, at);
        at += u64::from(block.length);
        block
    });
    let blocks: Vec<_> = blocks.collect();
    let fits = |block: &Block| block.unpacked as usize <= UNPACKED_BYTES_MAX;
    let is_sound = at <= directory_at && blocks.iter().all(fits);
    Ok(is_sound.then_some((blocks, directory_at)))
}

fn head_of(entries_bytes: usize) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&SKIPPABLE);
    head[4..].copy_from_slice(&((entries_bytes + TAIL_BYTES) as u32).to_le_bytes());
    head
}

/// Writes frames to a new sealed segment and syncs it. Damaged bytes between frames are kept.
pub(crate) fn write(path: &Path, frames: &[u8], first_seq: u64) -> Result<()> {
    let mut packer = zstd::bulk::Compressor::new(LEVEL).doing("write to", path)?;
    let mut entries = Vec::new();
    let mut packed_blocks = Vec::new();
    for (first_seq, frames) in blocks(frames, first_seq) {
        let packed = packer.compress(frames).doing("write to", path)?;
        let block = Block {
            first_seq,
            at: packed_blocks.len() as u64,
            length: packed.len() as u32,
            unpacked: frames.len() as u32,
            sum: crc32fast::hash(&packed),
        };
        packed_blocks.extend_from_slice(&packed);
        entries.extend_from_slice(&block.entry());
    }
    let count = (entries.len() / ENTRY_BYTES) as u32;
    let mut directory = head_of(entries.len()).to_vec();
    directory.extend_from_slice(&entries);
    directory.extend_from_slice(&crc32fast::hash(&entries).to_le_bytes());
    directory.extend_from_slice(&count.to_le_bytes());
    let bytes = assemble(path, &packed_blocks, &directory)?;
    let mut file = create_private(path)?;
    file.write_all(&bytes).doing("write to", path)?;
    file.sync_data().doing("sync", path)
}

/// Puts parity between blocks and directory.
fn assemble(path: &Path, blocks: &[u8], directory: &[u8]) -> Result<Vec<u8>> {
    let packets = parity::packets(blocks, directory).map_err(io::Error::other);
    Ok([blocks, &packets.doing("protect", path)?, directory].concat())
}

/// Divides frames into blocks, each with the sequence number of its first event.
fn blocks(frames: &[u8], first_seq: u64) -> Vec<(u64, &[u8])> {
    let mut blocks = Vec::new();
    let (mut from, mut seq) = (0, first_seq);
    for frame in Reader::new(frames).flatten() {
        if frame.offset - from < BLOCK_BYTES {
            continue;
        }
        // A block begins with an event, so that its place can be found.
        if let Some(next) = seq_of(&frame) {
            blocks.push((seq, &frames[from..frame.offset]));
            (from, seq) = (frame.offset, next);
        }
    }
    if from < frames.len() {
        blocks.push((seq, &frames[from..]));
    }
    blocks
}

fn seq_of(frame: &frame::Frame<'_>) -> Option<u64> {
    let (event, _) = codec::split(frame.payload).ok()?;
    codec::address(event).map(|(seq, _)| seq)
}
