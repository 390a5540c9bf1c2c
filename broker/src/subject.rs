//! Names of streams and subjects. Subjects are built from checked parts only.

use serde::{Deserialize, Serialize};

/// The stream of what machines send.
pub const RUNS: &str = "FLEET";
/// The stream of what the collector has.
pub const HEADS: &str = "HEADS";

/// A machine's journal, as subjects name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// The machine's name.
    pub machine: String,
    /// The journal's id, 32 hexadecimal digits.
    pub journal: String,
}

/// Returns whether a text can be one token of a subject.
pub fn is_token(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=40).contains(&text.len()) && text.bytes().all(plain)
}

impl Source {
    /// Makes one of names that are tokens.
    pub fn new(machine: &str, journal: &str) -> Option<Self> {
        (is_token(machine) && is_token(journal)).then(|| Self {
            machine: machine.to_owned(),
            journal: journal.to_owned(),
        })
    }

    /// Reads the subject of a run or a head.
    pub fn of_subject(subject: &str) -> Option<Self> {
        let rest = subject
            .strip_prefix("ckpt.v1.")
            .or_else(|| subject.strip_prefix("head.v1."))?;
        let (machine, journal) = rest.split_once('.')?;
        Self::new(machine, journal)
    }

    /// Returns the subject of its runs.
    pub fn runs(&self) -> String {
        format!("ckpt.v1.{}.{}", self.machine, self.journal)
    }

    /// Returns the subject of its head.
    pub fn head(&self) -> String {
        format!("head.v1.{}.{}", self.machine, self.journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_have_no_more_tokens_than_they_should() {
        let source = Source::new("laptop-7", "0af3").expect("tokens");
        assert_eq!(Source::of_subject(&source.runs()), Some(source.clone()));
        assert_eq!(Source::of_subject(&source.head()), Some(source));
        for wrong in [
            "",
            "a.b",
            "*",
            ">",
            "A",
            "a b",
            "a\r\nPUB x",
            &"a".repeat(41),
        ] {
            assert_eq!(Source::new(wrong, "0af3"), None, "{wrong:?}");
            assert_eq!(Source::new("m", wrong), None, "{wrong:?}");
        }
        for wrong in ["ckpt.v1.m", "ckpt.v1.m.j.k", "ckpt.v2.m.j", "$JS.ACK.m.j"] {
            assert_eq!(Source::of_subject(wrong), None, "{wrong}");
        }
    }
}
