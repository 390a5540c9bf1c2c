//! Who wrote a prompt. Only a person's prompt begins a turn; this product's own text, and what the agents put into the
//! conversation by themselves, changes no timer (spec TURN-1).
//!
//! Agents wrap what is pasted or fed back: Claude Code in `<pasted_content id="..">` and `Stop hook feedback:`, Codex in
//! `<hook_prompt ..>`, both with line breaks that vary. Own text is recognized by its canonical prefix after such
//! wrappers are taken off; a message that merely quotes it further down belongs to its writer.
//!
//! Each agent lists its wrappers and texts in its file. They are searched for in the prompts of every agent: no two
//! agents use one opening for different things.

use journal::PromptOrigin;

use crate::known::Known;

/// How many wrappers are taken off at most.
const WRAPPERS_MAX: usize = 8;

/// How this product's own texts began by default, now and with the rules of TeleClaude. A transcript may hold both.
const MARKS: [&str; 2] = ["[checkpointd]", "[TeleClaude Checkpoint]"];

/// How hook feedback begins, in Claude Code's words. Readers of other transcripts write it so too.
pub(crate) const FEEDBACK: &str = "Stop hook feedback:";

/// Removes one wrapper from a text and returns the parts to check, the likelier one last; none if there is no wrapper.
pub type Peel = for<'a> fn(&'a str) -> Option<[&'a str; 2]>;

/// Tells the authors of prompts apart.
#[derive(Debug)]
pub struct Authors<'a> {
    prefix: &'a str,
    agents: Vec<(Peel, &'static Known)>,
}

impl<'a> Authors<'a> {
    /// `prefix` is the canonical prefix of this product's own texts, besides the defaults.
    pub(crate) fn new(prefix: &'a str, agents: Vec<(Peel, &'static Known)>) -> Self {
        let prefix = prefix.trim();
        Self { prefix, agents }
    }

    /// Returns whether `text` is this product's own: it begins with the canonical prefix once all wrappers are off.
    pub fn is_own(&self, text: &str) -> bool {
        let all = MARKS.into_iter().chain([self.prefix]);
        let prefixes = || all.clone().filter(|prefix| !prefix.is_empty());
        let mut pending = vec![text.trim()];
        for _ in 0..WRAPPERS_MAX {
            let Some(text) = pending.pop() else {
                return false;
            };
            if prefixes().any(|prefix| text.starts_with(prefix)) {
                return true;
            }
            let parts = self.peel(text).into_iter().flatten().map(str::trim);
            pending.extend(parts.filter(|part| !part.is_empty()));
        }
        false
    }

    /// Returns who wrote a prompt, as far as its text tells.
    pub fn origin(&self, text: &str, subagent: bool) -> PromptOrigin {
        if self.is_own(text) {
            PromptOrigin::Own
        } else if subagent {
            PromptOrigin::Subagent
        } else if self.is_host(text) {
            PromptOrigin::Host
        } else {
            PromptOrigin::User
        }
    }

    /// Returns whether an agent's text in a user's name sets the agent to work.
    pub(crate) fn calls_to_work(&self, text: &str) -> bool {
        begins_with(text.trim_start(), self.all(|known| &known.calls_to_work))
    }

    /// Returns whether an agent put the text into the conversation by itself.
    pub(crate) fn is_host(&self, text: &str) -> bool {
        let mut rest = text.trim();
        if rest.is_empty() {
            return false;
        }
        let companions = || self.all(|known| &known.companions);
        while let Some((_, after)) = companions().find_map(|name| element(rest, name)) {
            rest = after.trim();
        }
        rest.is_empty()
            || begins_with(rest, self.all(|known| &known.calls_to_work))
            || begins_with(rest, self.all(|known| &known.asides))
    }

    fn peel<'t>(&self, text: &'t str) -> Option<[&'t str; 2]> {
        self.agents.iter().find_map(|(peel, _)| peel(text))
    }

    fn all(
        &self,
        list: fn(&'static Known) -> &'static [String],
    ) -> impl Iterator<Item = &'static str> {
        let lists = self.agents.iter().flat_map(move |&(_, known)| list(known));
        lists.map(String::as_str)
    }
}

fn begins_with(text: &str, mut openings: impl Iterator<Item = &'static str>) -> bool {
    openings.any(|opening| text.starts_with(opening))
}

/// Splits `<name ..>inner</name ..>after`; without an end tag (the text was cut) nothing comes after it.
pub(crate) fn element<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let attributes = text.strip_prefix('<')?.strip_prefix(name)?;
    if !attributes.starts_with(['>', ' ']) {
        return None;
    }
    let (_, body) = attributes.split_once('>')?;
    let Some((inner, end)) = body.split_once(&format!("</{name}")) else {
        return Some((body, ""));
    };
    Some((inner, end.split_once('>').map_or("", |(_, after)| after)))
}
