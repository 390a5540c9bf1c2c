//! Admission to the page: one-time tokens, and the keys that they are exchanged for.
//!
//! Only hashes are kept and compared, so that comparison times reveal nothing about a secret.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// An unused token expires after this time.
const TOKEN_LIFE: Duration = Duration::from_secs(5 * 60);
/// The most unused tokens; beyond that the oldest expire.
const TOKENS_MAX: usize = 8;
/// The most admitted tabs of browsers; beyond that the oldest must be admitted again.
const KEYS_MAX: usize = 16;

type Hash = [u8; 32];

/// Unused tokens and valid keys.
#[derive(Default)]
pub(super) struct AccessTokens {
    tokens: VecDeque<(Hash, Instant)>,
    keys: VecDeque<Hash>,
}

impl AccessTokens {
    pub(super) fn issue(&mut self, now: Instant) -> String {
        let token = secret();
        self.tokens.push_back((hash(&token), now));
        if self.tokens.len() > TOKENS_MAX {
            self.tokens.pop_front();
        }
        token
    }

    /// Consumes a token and returns a key; `None` for an invalid token.
    pub(super) fn exchange(&mut self, token: &str, now: Instant) -> Option<String> {
        self.tokens
            .retain(|(_, issued)| now.saturating_duration_since(*issued) < TOKEN_LIFE);
        let token = hash(token);
        let place = self.tokens.iter().position(|(known, _)| *known == token)?;
        self.tokens.remove(place);
        let key = secret();
        self.keys.push_back(hash(&key));
        if self.keys.len() > KEYS_MAX {
            self.keys.pop_front();
        }
        Some(key)
    }

    /// Returns whether a token is still unused.
    pub(super) fn waits(&self, token: &str) -> bool {
        let token = hash(token);
        self.tokens.iter().any(|(known, _)| *known == token)
    }

    /// Returns whether a key is valid.
    pub(super) fn know(&self, key: &str) -> bool {
        self.keys.contains(&hash(key))
    }
}

fn hash(secret: &str) -> Hash {
    Sha256::digest(secret).into()
}

/// Returns 244 bits from the system's generator.
fn secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_once_and_not_for_long() {
        let mut tokens = AccessTokens::default();
        let now = Instant::now();
        let token = tokens.issue(now);
        assert!(tokens.waits(&token) && !tokens.waits(""));
        let key = tokens.exchange(&token, now).expect("it opens");
        assert!(!tokens.waits(&token));
        assert!(tokens.know(&key) && !tokens.know(&token) && !tokens.know(""));
        assert_eq!(tokens.exchange(&token, now), None, "it is used up");
        let late = tokens.issue(now);
        assert_eq!(
            tokens.exchange(&late, now + TOKEN_LIFE),
            None,
            "it is too old"
        );
        assert_eq!(tokens.exchange("", now), None);
    }

    #[test]
    fn there_is_a_bound_on_both() {
        let mut tokens = AccessTokens::default();
        let now = Instant::now();
        let first = tokens.issue(now);
        let keys: Vec<_> = (0..=KEYS_MAX)
            .map(|_| {
                let token = tokens.issue(now);
                tokens.exchange(&token, now).expect("it opens")
            })
            .collect();
        assert!(!tokens.know(&keys[0]) && keys[1..].iter().all(|key| tokens.know(key)));
        (0..TOKENS_MAX).for_each(|_| drop(tokens.issue(now)));
        assert_eq!(tokens.exchange(&first, now), None);
    }
}
