//! The facts that a transcript's tail gives.

use std::borrow::Cow;

use journal::{CallOutcome, Event, PromptOrigin, Timestamp, ToolCall};

use crate::tools;
use reading::text;
use redact::Redactor;

/// A message in the user's role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserText {
    /// The text, cut to [`journal::Event::TEXT_BYTES_MAX`].
    pub text: String,
    /// When it was written; the epoch if the transcript does not say.
    pub at: Timestamp,
    /// Who wrote it.
    pub origin: PromptOrigin,
}

/// What the agent said to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// How many calls of the turn had begun before it.
    pub calls: usize,
    /// The text, cut to [`Said::BYTES_MAX`].
    pub text: String,
}

impl Said {
    /// The most bytes of one message that are kept.
    pub const BYTES_MAX: usize = 4096;
    /// The most messages of one turn that are kept.
    pub const MESSAGES_MAX: usize = 48;
}

/// A subagent that a call of the turn started, or spoke to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subagent {
    /// The agent's id of it.
    pub id: String,
    /// The position of the call.
    pub call: usize,
}

/// What a transcript's tail says about its session and the current turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The tool calls of the current turn, one for each tool use, in the order in which they began.
    pub calls: Vec<ToolCall>,
    /// What the outputs of the calls say.
    pub outcomes: Vec<CallOutcome>,
    /// The subagents that the calls started, as far as the agent names them.
    pub subagents: Vec<Subagent>,
    /// The last message in the user's role that set the agent to work, by any author: a person, this product, or the
    /// agent (hook feedback, task notifications). Reminders, summaries and echoes of local commands do not count.
    pub last_user: Option<UserText>,
    /// The last real user message; `None` if it is before the tail.
    pub last_real_user: Option<UserText>,
    /// When the current turn began: at the message that the agent set to work on, not at those that were typed while it
    /// worked. `None` if it is before the tail.
    pub began: Option<Timestamp>,
    /// Whether the tail holds the beginning of the turn.
    pub is_whole: bool,
    /// All messages of real users that were read, oldest first, cut like `last_user`.
    pub prompts: Vec<String>,
    /// The agent's last words in the current turn, cut to [`journal::Event::TEXT_BYTES_MAX`].
    pub last_assistant: Option<String>,
    /// What the agent said in the current turn, oldest first: the latest messages, each cut.
    pub said: Vec<Said>,
    /// The agent's version.
    pub host_version: Option<String>,
    /// The git branch, if the agent notes it.
    pub branch: Option<String>,
    /// The working directory, if the agent notes it.
    pub cwd: Option<String>,
    /// The agent's id of the session.
    pub session: Option<String>,
    /// Whether the transcript says that no person was in front of the agent.
    pub headless: bool,
}

impl Facts {
    /// Returns what people and the agent said, besides the agent's messages of the turn.
    fn words(&mut self) -> impl Iterator<Item = &mut String> {
        let said = [&mut self.last_user, &mut self.last_real_user];
        let said = said.into_iter().flatten().map(|said| &mut said.text);
        said.chain(&mut self.prompts)
            .chain(&mut self.last_assistant)
    }

    /// Removes secrets from every text that a person, a model or a program wrote. Ids and versions stay.
    pub(super) fn redact(&mut self, redactor: &Redactor) {
        let clean = |text: &mut String| {
            if let Cow::Owned(redacted) = redactor.text(text) {
                *text = redacted;
            }
        };
        self.words().for_each(clean);
        self.branch.iter_mut().for_each(clean);
        self.said.iter_mut().for_each(|said| clean(&mut said.text));
        for call in &mut self.calls {
            let texts = call.command.iter_mut().chain(&mut call.paths);
            texts.chain([&mut call.output]).for_each(clean);
        }
    }

    /// Cuts all texts to their limits.
    pub(super) fn bound(&mut self) {
        let cut = |text: &mut String, bytes_max| text.truncate(text::head(text, bytes_max).len());
        let words = self.words();
        words.for_each(|text| cut(text, Event::TEXT_BYTES_MAX));
        let said = self.said.iter_mut();
        said.for_each(|said| cut(&mut said.text, Said::BYTES_MAX));
        self.calls.iter_mut().for_each(tools::bound);
    }
}
