//! What is left of a segment that is damaged beyond its parity.

use zstd::zstd_safe;

use super::files::{Form, Segment};
use super::sealed::UNPACKED_BYTES_MAX;
use crate::named_file;

/// First bytes of a block.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

impl Segment {
    /// Returns the frames that can still be read. Each has a checksum, so what is whole is known to be.
    pub(crate) fn salvage(&self) -> Vec<u8> {
        let bytes = named_file::own(&self.path, u64::MAX).unwrap_or_default();
        match self.form {
            Form::Open => bytes,
            Form::Sealed => blocks(&bytes).flatten().collect(),
        }
    }
}

/// Finds the blocks that can be unpacked, without a directory.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = bytes.get(at..)?;
            at += rest.windows(MAGIC.len()).position(|four| four == MAGIC)?;
            match block(&bytes[at..]) {
                Some((block, length)) => {
                    at += length;
                    return Some(block);
                }
                None => at += MAGIC.len(),
            }
        }
    })
}

/// Unpacks the block that `bytes` begin with. Returns it and its packed length.
fn block(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let length = zstd_safe::find_frame_compressed_size(bytes).ok()?;
    let unpacked = zstd_safe::get_frame_content_size(bytes).ok()??;
    let unpacked = usize::try_from(unpacked).ok()?;
    if unpacked > UNPACKED_BYTES_MAX {
        return None;
    }
    let block = zstd::bulk::decompress(bytes.get(..length)?, unpacked).ok()?;
    Some((block, length))
}
