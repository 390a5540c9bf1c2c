//! Hashes that are stored and compared across versions and machines, so the algorithm is fixed: XXH3, 64 bit. That of a
//! call is not stored.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use uuid::Uuid;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

/// No agent can know it, so no tool's output can be crafted to pass for another call.
static CALL_SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));

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

/// Returns the hash of a hook call's content, to tell whether two calls are one; another one in each process.
pub fn of_call(session: Uuid, hook: &str, payload: &[u8]) -> Uuid {
    let session = xxh3_64_with_seed(session.as_bytes(), *CALL_SEED);
    let seed = xxh3_64_with_seed(hook.as_bytes(), session);
    Uuid::from_u128(xxh3_128_with_seed(payload, seed))
}
