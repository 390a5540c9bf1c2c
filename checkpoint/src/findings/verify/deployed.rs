//! What was brought to another machine, so that an answer of a service there shows the change (spec EVID-24, EVID-30).

use std::collections::HashSet;

use journal::ToolCall;

use super::program::{self, Request};
use crate::findings::turn::Turn;
use crate::findings::{outcomes, questions};
use crate::shell::Simple;

/// Words by which programs say that they bring something to another machine.
const PUBLISHES: [&str; 12] = [
    "publish",
    "push",
    "release",
    "upload",
    "sync",
    "promote",
    "ship",
    "up",
    "apply",
    "redeploy",
    "update-function-code",
    "import",
];
/// Hosts that show no program of the project.
const STORES: [&str; 12] = [
    "github.com",
    "githubusercontent",
    "gitlab.com",
    "bitbucket.org",
    "npmjs",
    "pypi.org",
    "crates.io",
    "rubygems.org",
    "docker.io",
    "docker.com",
    "googleapis.com",
    "stackoverflow",
];
/// The shortest name of a host, or part of one, that a command may have named.
const NAME_CHARS_MIN: usize = 4;
/// The most words of commands that are kept.
const WORDS_MAX: usize = 512;

/// What earlier calls of the turn brought to other machines.
#[derive(Debug, Default)]
pub(super) struct Deployed {
    any: bool,
    /// What commands named that did more than look.
    named: HashSet<String>,
}

impl Deployed {
    /// Notes a command of a call.
    pub(super) fn note(&mut self, turn: &Turn<'_>, simple: &Simple, call: &ToolCall) {
        if call.is_error {
            return;
        }
        self.any |= program::deploys(simple);
        if !turn.believes_runners() || call.refused || outcomes::only_shows(&simple.words) {
            return;
        }
        let mut verbs = simple.words.iter().skip(1).take(4);
        self.any |= verbs.any(|word| PUBLISHES.contains(&word.as_str()));
        if questions::is_question(simple, "") || program::request(simple).is_some() {
            return;
        }
        for word in simple.words.iter().flat_map(|word| names(word)) {
            if self.named.len() < WORDS_MAX {
                self.named.insert(word);
            }
        }
    }

    /// Returns whether a command asks a server on this machine, or what was brought to another one.
    pub(super) fn is_asked(&self, turn: &Turn<'_>, simple: &Simple) -> bool {
        match program::request(simple) {
            Some(Request::Local) => true,
            Some(Request::Remote) => self.answers(turn, simple),
            None => false,
        }
    }

    /// Returns whether a request to another machine asks what was brought there.
    fn answers(&self, turn: &Turn<'_>, simple: &Simple) -> bool {
        let words = simple.words.iter().skip(1);
        let mut hosts = words.filter(|word| word.contains('.') && !word.starts_with('-'));
        if !turn.believes_runners() {
            return self.any;
        }
        hosts.any(|host| {
            let is_store = STORES.iter().any(|store| host.contains(store));
            !is_store && (self.any || names(host).any(|name| self.named.contains(&name)))
        })
    }
}

/// Returns the names that a word holds: those of an address, of a path, or of a resource.
fn names(word: &str) -> impl Iterator<Item = String> {
    let word = word.split_once("://").map_or(word, |(_, rest)| rest);
    let parts = word.split(['/', '.', ':', '@', '=', ',', '?']);
    parts
        .filter(|part| {
            part.len() >= NAME_CHARS_MIN && !["https", "html", "json", "index"].contains(part)
        })
        .map(str::to_lowercase)
}
