//! Hashes that are stored and compared across versions and machines, so the algorithm is fixed: XXH3, 64 bit. That of a
//! call is not stored.

use uuid::Uuid;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

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

/// Returns the hash of a hook call's content, to tell whether two calls are one.
pub(crate) fn of_call(session: Uuid, hook: &str, payload: &[u8]) -> Uuid {
    let seed = xxh3_64_with_seed(hook.as_bytes(), xxh3_64(session.as_bytes()));
    Uuid::from_u128(xxh3_128_with_seed(payload, seed))
}
