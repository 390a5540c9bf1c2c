//! The identity of a journal: a random id and a secret, in the file `identity` of its folder (spec FLEET-1).
//!
//! Sequence numbers are unique only within one history. A history that may have got another past, because a backup was
//! restored or events were imported or removed, gets a new identity. Otherwise its events could be confused with those
//! that had the same numbers before.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::{Timestamp, intake, named_file};

const SECRET_BYTES: usize = 32;

/// Why a journal has a new identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Renewal {
    /// It had none.
    New,
    /// A backup was restored.
    Restored,
    /// Events were imported.
    Imported,
    /// Events were removed.
    Forgotten,
}

/// The identity of a journal.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Random; tells the journal from all others and from its own earlier pasts.
    pub journal: Uuid,
    /// Since when it has this identity.
    pub since: Timestamp,
    /// Why it got this id.
    pub because: Renewal,
    /// Makes hashes that leave the machine useless to those who guess what was hashed. Never leaves it.
    #[serde(with = "digits")]
    secret: [u8; SECRET_BYTES],
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.journal)
    }
}

impl Identity {
    fn new(because: Renewal) -> Self {
        let mut secret = [0; SECRET_BYTES];
        // Hashed, because some bits of a random UUID are fixed.
        let random = [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()];
        let mut hash = Sha256::new();
        random.iter().for_each(|part| hash.update(part.as_bytes()));
        secret.copy_from_slice(&hash.finalize());
        Self {
            journal: Uuid::new_v4(),
            since: Timestamp::now(),
            because,
            secret,
        }
    }

    /// Returns a hash that is equal for equal texts of this journal and reveals the text to no other reader.
    pub fn keyed(&self, text: &[u8]) -> u64 {
        let hash = Sha256::new().chain_update(self.secret).chain_update(text);
        let hash = hash.finalize();
        u64::from_be_bytes(hash[..8].try_into().expect("32 bytes"))
    }

    /// Loads the identity of the journal in `dir`; without one, makes it.
    pub(crate) fn of(dir: &Path) -> Result<Self> {
        let path = path(dir);
        let text = match named_file::own_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Self::renew(dir, Renewal::New);
            }
            Err(error) => return Err(Error::disk("read", &path, &error)),
        };
        serde_json::from_str(&text).map_err(|error| {
            Error::damaged(
                path.display().to_string(),
                format!("{error}; remove it, and the journal gets a new identity"),
            )
        })
    }

    /// Gives the journal in `dir` a new identity, durably.
    pub(crate) fn renew(dir: &Path, because: Renewal) -> Result<Self> {
        let identity = Self::new(because);
        let text = serde_json::to_string(&identity).expect("plain data");
        intake::replace(&path(dir), text.as_bytes())?;
        Ok(identity)
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("identity")
}

/// Serde form of bytes: hexadecimal digits.
mod digits {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    use super::SECRET_BYTES;

    pub(super) fn serialize<S: Serializer>(
        bytes: &[u8; SECRET_BYTES],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&crate::hex::hex(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[u8; SECRET_BYTES], D::Error> {
        let text = String::deserialize(deserializer)?;
        let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..text.len().div_ceil(2)).map(byte).collect();
        let secret = bytes.and_then(|bytes| bytes.try_into().ok());
        secret.ok_or_else(|| D::Error::custom("the secret is not 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_stays_until_it_is_renewed() {
        let dir = tempfile::tempdir().expect("a folder");
        let first = Identity::of(dir.path()).expect("made");
        assert_eq!(Identity::of(dir.path()).expect("read"), first);
        assert_eq!(first.because, Renewal::New);
        let second = Identity::renew(dir.path(), Renewal::Restored).expect("made");
        assert_eq!(Identity::of(dir.path()).expect("read"), second);
        assert_ne!(first.journal, second.journal);
        assert_ne!(first.keyed(b"/home/u"), second.keyed(b"/home/u"));
        assert_eq!(second.keyed(b"/home/u"), second.keyed(b"/home/u"));
        std::fs::write(path(dir.path()), "{}").expect("written");
        let error = Identity::of(dir.path()).expect_err("damaged");
        assert!(error.to_string().contains("remove it"), "{error}");
    }
}
