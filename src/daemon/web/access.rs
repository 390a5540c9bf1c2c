//! Admission to the page: one-time tokens, the keys that they are exchanged for, and the secrets by which an admitted tab
//! comes back after a restart of the daemon.
//!
//! Of tokens and keys only hashes are kept and compared, so that comparison times reveal nothing about a secret.
//!
//! While the daemon is away, another user's program can listen on its port, and tabs that try to reach the daemon reach
//! that program. So a key, which is in every request, ends with the daemon. A tab's secret is in no request: both sides
//! prove that they have it, the daemon first.

use journal::hex;
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// An unused token expires after this time.
const TOKEN_LIFE: Duration = Duration::from_secs(5 * 60);
/// The most unused tokens; beyond that the oldest expire.
const TOKENS_MAX: usize = 8;
/// The most admitted tabs of browsers; beyond that the oldest must be admitted again.
const KEYS_MAX: usize = 16;

/// Length of a secret, in characters.
const SECRET_CHARS: usize = 64;

type Hash = [u8; 32];

/// Unused tokens and valid keys.
#[derive(Default)]
pub(super) struct AccessTokens {
    tokens: VecDeque<(Hash, Instant)>,
    keys: VecDeque<Hash>,
    tabs: VecDeque<Tab>,
    /// Those of the last daemon, by id.
    earlier: HashSet<String>,
    /// Of a tab that wants to come back: its id, its number and ours.
    asked: VecDeque<(String, String, String)>,
}

/// What an admitted tab has to come back with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tab {
    id: String,
    secret: String,
}

impl Tab {
    pub(super) fn new() -> Self {
        Self {
            id: secret(),
            secret: secret(),
        }
    }

    /// Returns what only who has the secret can say, in answer to both numbers.
    fn proof(&self, who: &str, theirs: &str, ours: &str) -> String {
        let text = format!("{} {who} {theirs} {ours}", self.secret);
        hex(&Sha256::digest(text))
    }
}

/// What a tab gets when it is let in.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) tab: Tab,
    /// An earlier daemon let the tab in.
    pub(super) restarted: bool,
}

/// The daemon's proof, and its own number.
#[derive(Debug, Serialize)]
pub(super) struct Proof {
    pub(super) number: String,
    pub(super) proof: String,
}

impl AccessTokens {
    /// Begins with the tabs of the last daemon.
    pub(super) fn with_tabs(tabs: Vec<Tab>) -> Self {
        Self {
            earlier: tabs.iter().map(|tab| tab.id.clone()).collect(),
            tabs: tabs.into_iter().take(KEYS_MAX).collect(),
            ..Self::default()
        }
    }

    pub(super) fn tabs(&self) -> Vec<Tab> {
        self.tabs.iter().cloned().collect()
    }

    /// Proves to a tab that this is the daemon that let it in; `None` if it did not.
    pub(super) fn prove(&mut self, id: &str, number: &str) -> Option<Proof> {
        let tab = self.tabs.iter().find(|tab| tab.id == id)?;
        let is_number =
            number.len() == SECRET_CHARS && number.bytes().all(|b| b.is_ascii_hexdigit());
        let ours = secret();
        let proof = is_number.then(|| tab.proof("daemon", number, &ours))?;
        self.asked
            .push_back((id.to_owned(), number.to_owned(), ours.clone()));
        if self.asked.len() > KEYS_MAX {
            self.asked.pop_front();
        }
        Some(Proof {
            number: ours,
            proof,
        })
    }

    /// Lets a tab in again that has proved itself. Its secret has served; it gets another one.
    pub(super) fn come_back(&mut self, id: &str, proof: &str) -> Option<Entry> {
        let place = self.asked.iter().position(|(of, _, _)| of == id)?;
        let (_, theirs, ours) = self.asked.remove(place)?;
        let place = self.tabs.iter().position(|tab| tab.id == id)?;
        let expected = self.tabs[place].proof("tab", &theirs, &ours);
        if hash(&expected) != hash(proof) {
            return None;
        }
        self.tabs.remove(place);
        let restarted = self.earlier.remove(id);
        Some(Entry {
            restarted,
            ..self.admit()
        })
    }

    fn admit(&mut self) -> Entry {
        let key = secret();
        self.keys.push_back(hash(&key));
        if self.keys.len() > KEYS_MAX {
            self.keys.pop_front();
        }
        let tab = Tab::new();
        self.tabs.push_back(tab.clone());
        if self.tabs.len() > KEYS_MAX {
            self.tabs.pop_front();
        }
        Entry {
            key,
            tab,
            restarted: false,
        }
    }

    pub(super) fn issue(&mut self, now: Instant) -> String {
        let token = secret();
        self.tokens.push_back((hash(&token), now));
        if self.tokens.len() > TOKENS_MAX {
            self.tokens.pop_front();
        }
        token
    }

    /// Consumes a token and lets a tab in; `None` for an invalid token.
    pub(super) fn exchange(&mut self, token: &str, now: Instant) -> Option<Entry> {
        self.tokens
            .retain(|(_, issued)| now.saturating_duration_since(*issued) < TOKEN_LIFE);
        let token = hash(token);
        let place = self.tokens.iter().position(|(known, _)| *known == token)?;
        self.tokens.remove(place);
        Some(self.admit())
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
        let key = tokens.exchange(&token, now).expect("it opens").key;
        assert!(!tokens.waits(&token));
        assert!(tokens.know(&key) && !tokens.know(&token) && !tokens.know(""));
        assert!(tokens.exchange(&token, now).is_none(), "it is used up");
        let late = tokens.issue(now);
        let late = tokens.exchange(&late, now + TOKEN_LIFE);
        assert!(late.is_none(), "it is too old");
        assert!(tokens.exchange("", now).is_none());
    }

    #[test]
    fn there_is_a_bound_on_both() {
        let mut tokens = AccessTokens::default();
        let now = Instant::now();
        let first = tokens.issue(now);
        let keys: Vec<_> = (0..=KEYS_MAX)
            .map(|_| {
                let token = tokens.issue(now);
                tokens.exchange(&token, now).expect("it opens").key
            })
            .collect();
        assert!(!tokens.know(&keys[0]) && keys[1..].iter().all(|key| tokens.know(key)));
        (0..TOKENS_MAX).for_each(|_| drop(tokens.issue(now)));
        assert!(tokens.exchange(&first, now).is_none());
    }

    #[test]
    fn a_tab_comes_back_once_to_a_daemon_that_let_it_in_and_the_old_key_ends() {
        let mut last = AccessTokens::default();
        let now = Instant::now();
        let token = last.issue(now);
        let Entry { key, tab, .. } = last.exchange(&token, now).expect("it opens");
        let mut tokens = AccessTokens::with_tabs(last.tabs());
        assert!(!tokens.know(&key), "a key ends with its daemon");
        let number = secret();
        assert!(tokens.prove("none", &number).is_none());
        assert!(tokens.prove(&tab.id, "x y").is_none(), "no number");
        let said = tokens.prove(&tab.id, &number).expect("known");
        assert_eq!(said.proof, tab.proof("daemon", &number, &said.number));
        assert!(
            tokens.come_back(&tab.id, &said.proof).is_none(),
            "the daemon's own proof is none of the tab"
        );
        let said = tokens.prove(&tab.id, &number).expect("known");
        let proof = tab.proof("tab", &number, &said.number);
        let entry = tokens.come_back(&tab.id, &proof).expect("proved");
        assert!(tokens.know(&entry.key) && entry.tab != tab && entry.restarted);
        assert!(tokens.come_back(&tab.id, &proof).is_none(), "once");
        assert!(
            tokens.prove(&tab.id, &number).is_none(),
            "it has another secret now"
        );
    }
}
