//! What the rules look for: `redact/words.yml`, compiled in and read once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::shapes::Shape;

/// The lists of all rules.
pub(super) static WORDS: LazyLock<Words> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("../words.yml"))
        .unwrap_or_else(|error| panic!("words.yml: {error}"))
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) names: Names,
    pub(super) values: Values,
    pub(super) sentences: Sentences,
    pub(super) lines: Lines,
    pub(super) payload: Payload,
    /// Commands and words that set a variable to the word after its name.
    pub(super) setters: Vec<String>,
    pub(super) options: Options,
    /// The kinds of markers. Of two findings at one place, the later kind names it.
    pub(super) kinds: Vec<String>,
    /// Parts of addresses.
    pub(super) addresses: BTreeMap<AddressPart, Vec<String>>,
    /// What blocks of lines begin or end with.
    pub(super) blocks: BTreeMap<BlockPart, Vec<String>>,
    /// The shapes of keys and tokens, as their issuers document them.
    pub(super) shapes: Vec<Shape>,
}

/// What a literal of an address begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AddressPart {
    /// The address's host, perhaps after a login.
    Host,
    /// A parameter's value.
    Parameter,
    /// The end of a login without a scheme.
    LoginEnd,
    /// A login whose parts a slash separates, as Oracle writes it.
    SlashLogin,
    /// The secret of a bot of Telegram, after its number.
    Bot,
}

/// What a literal of a block of lines begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BlockPart {
    /// The frame of a key in PEM form.
    Begin,
    /// The end of that frame.
    End,
    /// The lines of a key in PuTTY's form.
    Putty,
    /// A key whose numbers have names: JWK, XML of .NET, the text of openssl.
    Numbers,
    /// A Kubernetes secret.
    Kubernetes,
    /// The port of a line of `.pgpass`.
    PgPass,
}

/// Options of commands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Options {
    /// What one begins with.
    pub(super) begin: Vec<String>,
    /// Last words of those that name a person, who may have a password: `--user jane:...`.
    pub(super) users: Vec<String>,
    /// Letters of those.
    pub(super) user_letters: String,
    /// Letters of those that a secret may follow.
    pub(super) secret_letters: String,
    /// What tells that a command logs in or encrypts.
    pub(super) logins: Vec<String>,
    /// Those of them that say so in words.
    pub(super) asking: Vec<String>,
}

/// The names that secrets are assigned to. All but `stems` and `providers` are without `_` and `-`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Parts of names that are looked for; `Name::read` reads the whole name around one.
    pub(super) stems: Vec<String>,
    /// Names of the private numbers of a key.
    pub(super) numbers: Vec<String>,
    /// Names of providers, which are looked for too.
    pub(super) providers: Vec<String>,
    /// Ends of names of passwords.
    pub(super) passwords: Vec<String>,
    /// Ends of names of keys and tokens.
    pub(super) secrets: Vec<String>,
    /// Words before `key` that make it a secret's name.
    pub(super) key_words: Vec<String>,
    /// Names of codes, and words before `code` that make it one that lets a person in.
    pub(super) codes: Vec<String>,
    pub(super) code_words: Vec<String>,
    /// What a call's name begins with that asks for a secret and does not set it.
    pub(super) getters: Vec<String>,
    /// Ends of names of keys that are not secret.
    pub(super) public: Vec<String>,
    /// What may follow such a name: an environment, an encoding, a part.
    pub(super) suffixes: Vec<String>,
    /// Ends of names of providers that are not secret.
    pub(super) identities: Vec<String>,
}

/// Values that are not secrets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Values {
    /// Placeholders and the words of code.
    pub(super) nothing: Vec<String>,
    /// Words that stand for a value that the reader is to write.
    pub(super) placeholders: Vec<String>,
    /// What values of configurations begin with that name an algorithm or a place.
    pub(super) beginnings: Vec<String>,
    /// Names of technical things with a digit between letters.
    pub(super) numbered: Vec<String>,
    /// What words of code and of messages have in them.
    pub(super) code: Vec<String>,
    /// What tells a label of a form from a password.
    pub(super) labels: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sentences {
    /// What separates a name from its secret.
    pub(super) verbs: Vec<String>,
    /// What other scripts join to a name before its secret.
    pub(super) particles: Vec<String>,
}

/// What hides secrets in lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lines {
    /// What quotes a line: mails, diffs, tables of compilers.
    pub(super) quotes: Vec<String>,
    /// What separates a line's number from its text: editors, `cat -n`, `grep -n`, `git grep -n`, `nl`.
    pub(super) after_number: Vec<String>,
    /// HTML's names of the characters that assignments are written with.
    pub(super) entities: BTreeMap<String, char>,
}

/// Members of a hook payload's JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Payload {
    /// Those that identify the session and its place; they are not redacted.
    pub(super) address: Vec<String>,
    /// Those that name a value.
    pub(super) names: Vec<String>,
    /// Those that hold the value.
    pub(super) values: Vec<String>,
}
