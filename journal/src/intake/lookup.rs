//! Finds single events in sealed segments. Keeps the blocks that were read last: events that are read one after the
//! other are mostly in one.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::files::{Form, Segment, segments};
use super::repair::repair;
use super::sealed::Sealed;
use crate::codec;
use crate::error::{Error, Result};
use crate::frame::{Kind, Reader};
use parking_lot::Mutex;

/// Unpacked blocks that are kept: about 2 MB.
const BLOCKS_MAX: usize = 16;
const SEGMENTS_MAX: usize = 8;

/// An event's two values, as in the log.
pub(crate) struct Found {
    pub(crate) event: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

/// Reads events from the sealed segments of a folder.
pub(crate) struct Lookup {
    dir: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    segments: Vec<Segment>,
    open: VecDeque<(u64, Arc<Sealed>)>,
    blocks: VecDeque<Unpacked>,
}

impl Lookup {
    pub(crate) fn new(dir: PathBuf) -> Self {
        let kept = Mutex::default();
        Self { dir, kept }
    }

    /// Forgets what was read: a segment was sealed or replaced.
    pub(crate) fn forget(&self) {
        *self.kept.lock() = Kept::default();
    }

    /// Returns an event, if a sealed segment has it.
    ///
    /// # Errors
    ///
    /// If the block that should have it cannot be read.
    pub(crate) fn find(&self, seq: u64) -> Result<Option<Found>> {
        let mut kept = self.kept.lock();
        if let Some(at) = kept.blocks.iter().position(|block| block.at(seq).is_some()) {
            kept.blocks.swap(0, at);
            return Ok(kept.blocks[0].find(seq));
        }
        if kept.segments.is_empty() {
            kept.segments = segments(&self.dir)?;
        }
        let Some(block) = kept.read(seq)? else {
            return Ok(None);
        };
        let found = block.find(seq);
        kept.blocks.truncate(BLOCKS_MAX - 1);
        kept.blocks.push_front(block);
        Ok(found)
    }
}

impl Kept {
    /// Reads the block that an event is in.
    fn read(&mut self, seq: u64) -> Result<Option<Unpacked>> {
        let segments = &self.segments;
        let behind = segments.partition_point(|segment| segment.first_seq <= seq);
        let segment = segments[..behind].last();
        let Some(segment) = segment.filter(|segment| segment.form == Form::Sealed) else {
            return Ok(None);
        };
        let (first, path) = (segment.first_seq, segment.path.clone());
        let open = self.open.iter().find(|(open, _)| *open == first);
        let read = match open.map(|(_, sealed)| Arc::clone(sealed)) {
            Some(sealed) => unpack(&sealed, seq),
            None => Sealed::open(&path).and_then(|sealed| unpack(&self.keep(first, sealed), seq)),
        };
        match read {
            Err(Error::Damaged { .. }) => {
                let repaired = repair(&path)?.0;
                unpack(&self.keep(first, repaired), seq)
            }
            read => read,
        }
    }

    fn keep(&mut self, first: u64, sealed: Sealed) -> Arc<Sealed> {
        let sealed = Arc::new(sealed);
        self.open.retain(|(open, _)| *open != first);
        self.open.truncate(SEGMENTS_MAX - 1);
        self.open.push_front((first, Arc::clone(&sealed)));
        sealed
    }
}

fn unpack(sealed: &Sealed, seq: u64) -> Result<Option<Unpacked>> {
    let blocks = &sealed.blocks;
    let behind = blocks.partition_point(|block| block.first_seq <= seq);
    let Some(block) = blocks[..behind].last() else {
        return Ok(None);
    };
    let mut frames = Vec::new();
    sealed.read(block, &mut frames)?;
    Ok(Some(Unpacked::new(frames)))
}

/// The frames of a block, with the places of its events.
struct Unpacked {
    frames: Vec<u8>,
    places: Vec<(u64, usize)>,
}

impl Unpacked {
    fn new(frames: Vec<u8>) -> Self {
        let place = |frame: crate::frame::Frame<'_>| {
            let (event, _) = codec::split(frame.payload).ok()?;
            Some((codec::address(event)?.0, frame.offset))
        };
        let whole = Reader::new(&frames).flatten();
        let events = whole.filter(|frame| frame.kind == Kind::Envelope);
        let places = events.filter_map(place).collect();
        Self { frames, places }
    }

    fn at(&self, seq: u64) -> Option<usize> {
        let at = self.places.binary_search_by_key(&seq, |place| place.0);
        Some(self.places[at.ok()?].1)
    }

    fn find(&self, seq: u64) -> Option<Found> {
        let mut frames = Reader::starting_at(&self.frames, self.at(seq)?);
        let frame = frames.next()?.ok()?;
        let (event, payload) = codec::split(frame.payload).ok()?;
        Some(Found {
            event: event.to_vec(),
            payload: payload.to_vec(),
        })
    }
}
