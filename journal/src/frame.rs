//! Frames: checksummed records from which the intake log and the hook client's spool are built, readable after any damage.
//! Standard library and a checksum only, so the hook client can use it without the store.
//!
//! ```text
//! offset  size  field
//!      0     4  magic  C5 4B 9D 1E  (finds the next frame after damage)
//!      4     1  format version of the frame, 1
//!      5     1  kind of the payload
//!      6     2  zero
//!      8     4  payload length, little-endian
//!     12     4  CRC-32 of bytes 4..12 and the payload, little-endian
//!     16     n  payload
//! ```

/// First bytes of every frame.
pub const MAGIC: [u8; 4] = [0xC5, 0x4B, 0x9D, 0x1E];
/// The format of all frames but heads.
pub const VERSION: u8 = 1;
/// The format of a frame of [`Kind::Head`]: programs that do not know that segments are sealed in blocks refuse it.
pub const HEAD_VERSION: u8 = 2;
/// Size of the header before the payload.
pub const HEADER_BYTES: usize = 16;
/// Maximum payload size: a hook payload of maximum size and its request head.
pub const PAYLOAD_BYTES_MAX: usize = 80 * 1024 * 1024;

/// The kind of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A hook call as the client would have sent it (`hook_call/request.rs`).
    Request = 1,
    /// An encoded envelope with its payload (`codec.rs`).
    Envelope = 2,
    /// The beginning of a segment, without a payload.
    Head = 3,
}

impl Kind {
    const fn of(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Request),
            2 => Some(Self::Envelope),
            3 => Some(Self::Head),
            _ => None,
        }
    }

    const fn version(self) -> u8 {
        match self {
            Self::Request | Self::Envelope => VERSION,
            Self::Head => HEAD_VERSION,
        }
    }
}

/// A complete frame whose checksum is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Offset of its first byte.
    pub offset: usize,
    /// Kind of the payload.
    pub kind: Kind,
    /// The payload.
    pub payload: &'a [u8],
}

impl Frame<'_> {
    /// Returns the offset after the last byte of this frame.
    pub const fn end(&self) -> usize {
        self.offset + HEADER_BYTES + self.payload.len()
    }
}

/// A range of bytes that is not a complete frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The bytes end inside a frame: a write was interrupted.
    Torn {
        /// Offset of the unfinished frame.
        offset: usize,
        /// Number of its bytes that are present.
        bytes: usize,
    },
    /// Bytes that are not a frame.
    Corrupt {
        /// Offset of the first byte.
        offset: usize,
        /// Number of bytes up to the next complete frame or the end.
        bytes: usize,
    },
    /// A frame whose format is newer than this program.
    Newer {
        /// Offset of the frame.
        offset: usize,
        /// Format version of the frame.
        version: u8,
    },
}

/// Appends one frame to `out`.
///
/// # Panics
///
/// If the payload is larger than [`PAYLOAD_BYTES_MAX`]; callers must limit it.
pub fn push(out: &mut Vec<u8>, kind: Kind, payload: &[u8]) {
    out.reserve(HEADER_BYTES + payload.len());
    push_with(out, kind, |out| out.extend_from_slice(payload));
}

/// Appends a frame whose payload `write` appends.
///
/// # Panics
///
/// As [`push`].
pub fn push_with(out: &mut Vec<u8>, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&MAGIC);
    header[4] = kind.version();
    header[5] = kind as u8;
    let at = out.len();
    out.extend_from_slice(&header);
    write(out);
    let payload = &out[at + HEADER_BYTES..];
    assert!(
        payload.len() <= PAYLOAD_BYTES_MAX,
        "frame payload over the limit"
    );
    header[8..12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    let sum = checksum(&header[4..12], payload);
    header[12..].copy_from_slice(&sum.to_le_bytes());
    out[at..at + HEADER_BYTES].copy_from_slice(&header);
}

fn checksum(head: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(payload);
    hasher.finalize()
}

/// Returns the payload length in a header, or `None` if the bytes are not a header.
pub fn payload_length(header: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(header.get(8..12)?.try_into().ok()?) as usize;
    (header.starts_with(&MAGIC) && length <= PAYLOAD_BYTES_MAX).then_some(length)
}

/// How often the bytes of a slice may be summed up in search of a frame behind damage, on average.
const SUMS: usize = 16;

/// Iterates over the frames of a byte slice. Damage is an item and never ends the iteration early.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many bytes behind damage may still be summed up: heads that each claim all that follows would take a time that
    /// grows with the square. What is behind them then counts as damage.
    sums: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self::starting_at(bytes, 0)
    }

    /// Starts at offset `at`, which must be the start of a frame.
    pub const fn starting_at(bytes: &'a [u8], at: usize) -> Self {
        let sums = bytes.len().saturating_mul(SUMS);
        Self { bytes, at, sums }
    }

    fn frame_at(&self, at: usize) -> Look<'a> {
        let rest = &self.bytes[at..];
        let known = rest.len().min(4);
        if rest[..known] != MAGIC[..known] {
            return Look::Nothing;
        }
        if rest.len() < HEADER_BYTES {
            return Look::Short;
        }
        let kind = Kind::of(rest[5]).filter(|kind| kind.version() == rest[4]);
        if rest[4] > VERSION && kind.is_none() {
            return Look::Newer(rest[4]);
        }
        let length = u32::from_le_bytes([rest[8], rest[9], rest[10], rest[11]]) as usize;
        let Some(kind) = kind.filter(|_| length <= PAYLOAD_BYTES_MAX) else {
            return Look::Nothing;
        };
        let Some(payload) = rest.get(HEADER_BYTES..HEADER_BYTES + length) else {
            return Look::Short;
        };
        let sum = u32::from_le_bytes([rest[12], rest[13], rest[14], rest[15]]);
        if checksum(&rest[4..12], payload) != sum {
            return Look::Nothing;
        }
        Look::Whole(Frame {
            offset: at,
            kind,
            payload,
        })
    }

    /// Returns the offset of the next complete frame at `from` or later.
    fn next_whole(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        while at + HEADER_BYTES <= self.bytes.len() {
            let found = self.bytes[at..].windows(4).position(|four| four == MAGIC)?;
            at += found;
            let claimed = payload_length(&self.bytes[at..]).unwrap_or_default();
            self.sums = self.sums.checked_sub(claimed.min(self.bytes.len() - at))?;
            if matches!(self.frame_at(at), Look::Whole(_)) {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}

enum Look<'a> {
    Whole(Frame<'a>),
    Short,
    Newer(u8),
    Nothing,
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Frame<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at;
        if offset >= self.bytes.len() {
            return None;
        }
        let look = self.frame_at(offset);
        if let Look::Whole(frame) = look {
            self.at = frame.end();
            return Some(Ok(frame));
        }
        let next = self.next_whole(offset + 1);
        self.at = next.unwrap_or(self.bytes.len());
        let bytes = self.at - offset;
        Some(Err(match look {
            Look::Short if next.is_none() => Damage::Torn { offset, bytes },
            Look::Newer(version) => Damage::Newer { offset, version },
            _ => Damage::Corrupt { offset, bytes },
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn three() -> Vec<u8> {
        let mut out = Vec::new();
        push(&mut out, Kind::Request, b"one");
        push(&mut out, Kind::Envelope, b"");
        push(&mut out, Kind::Envelope, &[7; 300]);
        out
    }

    fn payloads(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<Damage>) {
        let (mut whole, mut damage) = (Vec::new(), Vec::new());
        for item in Reader::new(bytes) {
            match item {
                Ok(frame) => whole.push(frame.payload.to_vec()),
                Err(found) => damage.push(found),
            }
        }
        (whole, damage)
    }

    #[test]
    fn bytes_of_a_frame_are_fixed() {
        let mut out = Vec::new();
        push(&mut out, Kind::Request, b"hi");
        assert_eq!(
            out,
            [
                0xC5, 0x4B, 0x9D, 0x1E, 1, 1, 0, 0, 2, 0, 0, 0, 0x53, 0x8E, 0xB1, 0xCF, b'h', b'i'
            ]
        );
    }

    #[test]
    fn every_cut_gives_the_whole_frames_before_it_and_names_the_torn_one() {
        let bytes = three();
        let ends = [0, 19, 35, 351];
        for cut in 0..=bytes.len() {
            let (whole, damage) = payloads(&bytes[..cut]);
            assert_eq!(
                whole.len(),
                ends.iter().filter(|end| **end <= cut).count() - 1,
                "cut at {cut}"
            );
            let expected = if ends.contains(&cut) { 0 } else { 1 };
            assert_eq!(damage.len(), expected, "cut at {cut}: {damage:?}");
            assert!(
                damage
                    .iter()
                    .all(|found| matches!(found, Damage::Torn { .. })),
                "cut at {cut}: {damage:?}"
            );
        }
    }

    #[test]
    fn a_flipped_byte_costs_its_own_frame_only_and_is_reported() {
        let bytes = three();
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 0x40;
            let (whole, damage) = payloads(&damaged);
            assert_eq!(whole.len(), 2, "at {position}: {damage:?}");
            assert_eq!(damage.len(), 1, "at {position}");
        }
    }

    #[test]
    fn heads_that_each_claim_the_rest_take_a_time_that_grows_with_the_size() {
        let mut head = Vec::new();
        push(&mut head, Kind::Request, b"");
        let mut bytes = Vec::new();
        for left in (0..200_000_u32).rev() {
            head[8..12].copy_from_slice(&(left * HEADER_BYTES as u32).to_le_bytes());
            bytes.extend_from_slice(&head);
        }
        let mut reader = Reader::new(&bytes);
        let damage = reader.by_ref().filter(Result::is_err).count();
        assert!(damage > 0);
        // All that was allowed is used up, so nothing more was summed up.
        assert!(reader.sums < bytes.len(), "{} left", reader.sums);
    }

    #[test]
    fn a_newer_format_is_named_not_guessed_at() {
        let mut bytes = three();
        bytes[4] = VERSION + 1;
        let (whole, damage) = payloads(&bytes);
        assert_eq!(
            (whole.len(), damage),
            (
                2,
                vec![Damage::Newer {
                    offset: 0,
                    version: VERSION + 1
                }]
            )
        );
    }

    proptest! {
        #[test]
        fn what_is_pushed_is_read(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20)) {
            let mut bytes = Vec::new();
            for part in &parts {
                push(&mut bytes, Kind::Envelope, part);
            }
            let (whole, damage) = payloads(&bytes);
            prop_assert_eq!(whole, parts);
            prop_assert!(damage.is_empty());
        }

        #[test]
        fn any_bytes_are_walked_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let covered: usize = Reader::new(&bytes).map(|item| match item {
                Ok(frame) => frame.end() - frame.offset,
                Err(Damage::Torn { bytes, .. } | Damage::Corrupt { bytes, .. }) => bytes,
                Err(Damage::Newer { .. }) => 0,
            }).sum();
            prop_assert!(covered <= bytes.len());
        }
    }
}
