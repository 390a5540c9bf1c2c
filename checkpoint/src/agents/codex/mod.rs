//! Codex CLI.

mod composer;
mod headless;
mod hooks;
mod items;
mod literals;
mod prompts;
mod results;
mod script;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;
mod values;

use journal::{Event, Host, Place, ReplyForm};

use super::adapter::{
    Adapter, HandOver, HeadlessSign, Library, TranscriptPlace, TranscriptSearch, Variables,
};
use crate::config::{CodexDelivery, Settings};
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::{Authors, Texts};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::facts::Facts;
use crate::transcript::forward::Forward;
use crate::transcript::tail::Tail;

const PROGRAM: &str = "codex";
const HOME: &str = "CODEX_HOME";

#[derive(Debug)]
pub(super) struct Codex;

impl Adapter for Codex {
    fn fields(&self, payload: &Payload<'_>) -> &'static Fields {
        hooks::fields(payload)
    }

    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event {
        hooks::event(hook, host, payload)
    }

    fn variables(&self) -> Variables {
        Variables::default()
    }

    fn texts(&self) -> &'static Texts {
        &prompts::TEXTS
    }

    fn tools(&self) -> &'static Tools {
        &tools::TOOLS
    }

    fn transcript(&self, tail: Tail<'_>, authors: &Authors<'_>) -> Option<Facts> {
        transcript::read(tail, authors)
    }

    /// `notify` does not say where the rollout is.
    fn transcript_search(&self) -> Option<TranscriptSearch> {
        Some(TranscriptSearch {
            home_variable: HOME,
            home_default: ".codex",
            folder: "sessions",
            place: TranscriptPlace::ByDay { prefix: "rollout-" },
        })
    }

    fn library(&self) -> Library {
        Library {
            home_variable: HOME,
            home_default: ".codex",
            patterns: &[
                "sessions/*/*/*/rollout-*.jsonl",
                "archived_sessions/rollout-*.jsonl",
            ],
            project_file: None,
        }
    }

    fn forward(&self) -> Forward {
        Forward::Lines(transcript::line)
    }

    fn headless(&self, _: &Place) -> HeadlessSign {
        HeadlessSign::Transcript(headless::is_exec)
    }

    fn reply_forms(&self) -> &'static [ReplyForm] {
        &[ReplyForm::Block]
    }

    fn reply_form(&self, _: Reply, _: Option<&str>) -> ReplyForm {
        ReplyForm::Block
    }

    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
        composer::find(rows, view)
    }

    fn package(&self) -> &'static str {
        "@openai/codex"
    }

    fn particulars(&self) -> &'static [&'static str] {
        &[
            "It runs only trusted hooks, and `init` records them as trusted. Otherwise, it asks at its next start, and `codex exec` skips them silently.",
            "Versions before 0.124 get a `notify` entry, and their checkpoints are typed. By hand, add `notify = [\"/abs/checkpointd-hook\", \"codex\"]` in `~/.codex/config.toml`, above any table.",
            "It does not name its session to commands, so a progress document belongs to the project's most recently active session.",
        ]
    }

    fn stands_for(&self, shown: &str, pasted: &str) -> bool {
        composer::stands_for(shown, pasted)
    }

    /// `codex queue` hands a message to the terminal program of a thread, which takes it up when it is idle. It needs no
    /// terminal, leaves drafts alone, and waits while a question is up.
    fn hand_over(
        &self,
        settings: &Settings,
        place: &Place,
        session: &str,
        text: &str,
    ) -> Option<HandOver> {
        let arguments = ["queue", "--thread", session, "--message", text];
        (settings.codex.delivery == CodexDelivery::Queue).then(|| HandOver {
            program: PROGRAM,
            arguments: arguments.map(str::to_owned).to_vec(),
            env: place
                .env(HOME)
                .map(|home| (HOME.to_owned(), home.to_owned()))
                .into_iter()
                .collect(),
            missing: "no_codex",
        })
    }
}
