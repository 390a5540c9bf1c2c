//! Hashes that are stored and compared across versions and machines, so the algorithm is fixed: XXH3, 64 bit.

use xxhash_rust::xxh3::xxh3_64;

/// Returns the hash of a text.
pub fn of_text(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// Returns the hash of bytes, for file contents.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// Returns the hash of a prompt without the white space at its ends, in which hosts differ.
pub fn of_prompt(text: &str) -> u64 {
    of_text(text.trim())
}
