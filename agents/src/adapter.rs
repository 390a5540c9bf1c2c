//! What differs between agents, as data, so that everything else treats all agents alike.

use journal::{Agent, Event, Host, Place, ReplyForm};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hooks::common;
use crate::hooks::payload::{Payload, is_running};
use crate::known::{Fields, Known};
use crate::prompts::{Authors, Peel};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::backward;
use crate::transcript::facts::Facts;
use crate::transcript::forward::{Forward, Lines, Read};
use crate::transcript::tail::Tail;

/// One agent, as the rest of the product sees it. `DEFAULT` has what most agents share.
#[derive(Debug)]
pub struct Adapter {
    /// Its name in the journal.
    pub agent: Agent,
    /// The name of its program, or of its script.
    pub program: &'static str,

    // Hook calls.
    /// The fields that say where a call belongs, where they are not the same in each.
    pub(crate) fields: Option<fn(&Payload<'_>) -> &'static Fields>,
    /// Returns the event that a call of a hook reports. Which prompts are a person's is decided here too, by the whole
    /// payload.
    pub(crate) event: fn(&str, Host, &Payload<'_>, &Tools) -> Event,
    /// The `notification_type`s that matter.
    pub notifications: Notifications,
    /// Returns whether a background task that a stop's payload lists brings another stop when it ends; none if the task
    /// does not say so.
    pub(crate) task_returns: Option<fn(&Value) -> Option<bool>>,
    /// Returns whether the agent continues if the stop of a payload is answered.
    pub(crate) may_continue: fn(&Value) -> bool,
    /// Two stops of one session may be reported by the same bytes. Such calls are never taken for one call of a hook that
    /// is registered twice.
    pub(crate) repeats_stops: bool,
    /// The environment variables that the agent sets for its hooks and tools.
    pub variables: Variables,

    // Texts and tools.
    /// Removes one wrapper from a text and returns the parts to check, the likelier one last; none if there is no wrapper.
    pub(crate) peel: Peel,
    /// The agent's tools.
    pub tools: &'static Tools,

    // Transcripts.
    /// How a transcript is read from its beginning.
    pub(crate) forward: Forward,
    /// Reads the current turn from a transcript's tail; none if nothing in it has the agent's format. Without it, the
    /// lines are read from the last one back.
    pub(crate) backward: Option<fn(Tail<'_>, &Authors<'_>) -> Option<Facts>>,
    /// Where to search for the transcript of a session whose hooks do not name it.
    pub transcript_place: Option<TranscriptPlace>,
    /// The folder of files that make up a transcript, in the one that hooks name as the transcript. Each continues the
    /// one before it by name.
    pub transcript_files: Option<&'static str>,
    /// Where the transcripts of a session's subagents are.
    pub subagents: Option<SubagentTranscripts>,
    /// Where the agent keeps the transcripts of all sessions.
    pub library: Library,
    /// How the transcripts are read from the files of the library, if those are databases.
    pub database: Option<Database>,
    /// No hook reports some prompts, so they are searched for in the transcript at each stop.
    pub omits_prompts: bool,
    /// How to learn whether a person is at the agent.
    pub headless: fn(&Place) -> HeadlessSign,

    // Replies to hook calls.
    /// The form in which a stop is answered.
    pub(crate) reply_form: ReplyForm,
    /// The form in which a tool call is held back; none if it is not known that the agent reads one.
    pub tool_form: Option<ReplyForm>,
    /// The hooks that are called when a part of the work is done, and whose reply can make the agent go on with it.
    pub part_hooks: &'static [&'static str],
    /// The first version that can be answered in the form [`ReplyForm::Context`] too.
    pub(crate) context_since: Option<[u64; 3]>,
    /// No hook tells that the agent took the answer to its stop, so its next tool call or stop does.
    pub takes_silently: bool,
    /// The agent reads the reply to a session's start.
    pub hears_start: bool,
    /// The start of a session whose reply the agent ignores.
    pub ignored_start: Option<IgnoredStart>,

    // The terminal.
    /// The agent's composer; none if it is not known, so that checkpoints cannot be typed.
    pub composer: Option<ComposerForm>,
    /// Returns the key that sends this text from the composer, as tmux names it.
    pub submit: fn(&str) -> &'static str,
    /// Returns the command that hands a text to a session; none if it can only be typed.
    pub hand_over: Option<fn(&Place, &str, &str) -> HandOver>,
}

/// What most agents share: they call hooks by Claude Code's names, and take the answer that blocks a stop. An agent says
/// in what it differs.
pub(crate) const DEFAULT: Adapter = Adapter {
    agent: Agent::Daemon,
    program: "",
    fields: None,
    event: common::event,
    notifications: Notifications {
        dialog: None,
        idle: None,
    },
    task_returns: None,
    may_continue: |_| true,
    repeats_stops: false,
    variables: Variables::NONE,
    peel: |_| None,
    tools: &Tools::PLAIN,
    forward: Forward::lines(Known::nothing, |_, _| Ok(Read::Nothing)),
    backward: None,
    transcript_place: None,
    transcript_files: None,
    subagents: None,
    library: Library::NONE,
    database: None,
    omits_prompts: false,
    headless: has_no_terminal,
    reply_form: ReplyForm::Block,
    tool_form: None,
    part_hooks: &[],
    context_since: None,
    takes_silently: false,
    hears_start: true,
    ignored_start: None,
    composer: None,
    submit: |_| "Enter",
    hand_over: None,
};

/// Most agents do not say whether a person is there, but the hook client notes whether it has a terminal.
fn has_no_terminal(place: &Place) -> HeadlessSign {
    let has_terminal = ["CHECKPOINTD_TTY", "TMUX"].map(|name| place.env(name).is_some());
    HeadlessSign::Known(has_terminal == [false, false])
}

impl Adapter {
    pub(crate) fn fields(&self, payload: &Payload<'_>) -> &'static Fields {
        match self.fields {
            Some(fields) => fields(payload),
            None => &(self.tools.known)().fields,
        }
    }

    /// Returns how many of the running background tasks that a stop's payload lists bring another stop when they end;
    /// `None` if the payload does not say what they are.
    pub fn returning_tasks(&self, payload: &Value) -> Option<u32> {
        let returns = self.task_returns?;
        let tasks = payload.get("background_tasks")?.as_array()?;
        let mut returning = 0;
        for task in tasks.iter().filter(|task| is_running(task)) {
            returning += u32::from(returns(task)?);
        }
        Some(returning)
    }

    /// Reads the current turn from a transcript's tail; none if nothing in it has the agent's format.
    pub(crate) fn transcript(&self, tail: Tail<'_>, authors: &Authors<'_>) -> Option<Facts> {
        match (self.backward, self.forward) {
            (Some(read), _) => read(tail, authors),
            (None, Forward::Lines(lines)) => backward::read(tail, authors, self.tools, lines),
            (None, Forward::Whole(read)) => backward::whole(tail, authors, self.tools, read),
        }
    }

    /// Returns the forms in which a stop can be answered.
    pub fn reply_forms(&self) -> impl Iterator<Item = ReplyForm> + use<> {
        let context = self.context_since.map(|_| ReplyForm::Context);
        context.into_iter().chain([self.reply_form])
    }

    /// Returns the form in which to answer a stop, by the setting and the agent's version.
    pub fn reply_form(&self, setting: Reply, version: Option<&str>) -> ReplyForm {
        match (setting, self.context_since) {
            (Reply::Context, Some(_)) => ReplyForm::Context,
            (Reply::Auto, Some(since)) if is_since(version, since) => ReplyForm::Context,
            _ => self.reply_form,
        }
    }
}

/// Returns whether a version is known to be this one or a later one.
fn is_since(version: Option<&str>, since: [u64; 3]) -> bool {
    let parts = version.unwrap_or_default().split(['.', '-', '+']);
    let mut parts = parts.map(|part| part.parse::<u64>().ok());
    let parts: [Option<u64>; 3] = std::array::from_fn(|_| parts.next().flatten());
    let [Some(major), Some(minor), Some(patch)] = parts else {
        return false;
    };
    [major, minor, patch] >= since
}

/// An agent's composer on a screen.
#[derive(Clone, Copy, Debug)]
pub struct ComposerForm {
    /// Finds it. None unless it is beyond doubt, with the cursor in it.
    pub(crate) find: for<'a> fn(&'a [Row], &View) -> Option<TextBox<'a>>,
    /// Returns whether its text is what it shows in place of a pasted text.
    pub(crate) stands_for: fn(&str, &str) -> bool,
}

/// The `notification_type`s of an agent that matter.
#[derive(Clone, Copy, Debug)]
pub struct Notifications {
    /// A dialog waits for a person.
    pub dialog: Option<&'static str>,
    /// The agent has been waiting for a while. It says so after every finish, announced or not.
    pub idle: Option<&'static str>,
}

/// Environment variables of an agent. Those of its hooks must be among [`journal::request::ENV_NAMES`].
#[derive(Clone, Copy, Debug)]
pub struct Variables {
    /// Holds the session's id.
    pub session: Option<&'static str>,
    /// Holds the project's folder.
    pub project: Option<&'static str>,
    /// Holds the id of the agent's process.
    pub pid: Option<&'static str>,
}

impl Variables {
    pub(crate) const NONE: Self = Self {
        session: None,
        project: None,
        pid: None,
    };

    pub(crate) const fn session(name: &'static str) -> Self {
        Self {
            session: Some(name),
            ..Self::NONE
        }
    }

    pub(crate) const fn project(name: &'static str) -> Self {
        Self {
            project: Some(name),
            ..Self::NONE
        }
    }
}

/// The place of a session's transcript that no hook names, in the agent's home.
#[derive(Clone, Copy, Debug)]
pub enum TranscriptPlace {
    /// `FOLDER/YYYY/MM/DD/PREFIX..-SESSION.jsonl`.
    ByDay {
        /// The folder of all.
        folder: &'static str,
        /// How the names of the files begin.
        prefix: &'static str,
    },
    /// `FOLDER/ANY/SESSION/FILE`.
    InFolder {
        /// The folder of all.
        folder: &'static str,
        /// The path in the session's folder.
        file: &'static str,
    },
}

/// The transcripts of a session's subagents.
#[derive(Clone, Copy, Debug)]
pub struct SubagentTranscripts {
    /// Where one may be, from the folder of the session's transcript; `SESSION` is the name of that without its ending,
    /// and `ID` the agent's id of the subagent.
    pub files: &'static [&'static str],
    /// How its lines are read.
    pub(crate) lines: Lines,
}

/// Where an agent keeps the transcripts of all sessions.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The variable that holds the agent's home.
    pub home_variable: &'static str,
    /// The agent's home in the user's, if the variable is not set; empty for the user's home itself.
    pub home_default: &'static str,
    /// Paths of transcripts, or of databases, in the agent's home; `*` matches any part of one name.
    pub patterns: &'static [&'static str],
    /// The file that names a transcript's project, if the transcript may not say it.
    pub project_file: Option<ProjectFile>,
}

impl Library {
    /// No transcripts.
    const NONE: Self = Self::of("HOME", "", &[]);

    /// A library whose transcripts name their projects.
    pub(crate) const fn of(
        home_variable: &'static str,
        home_default: &'static str,
        patterns: &'static [&'static str],
    ) -> Self {
        Self {
            home_variable,
            home_default,
            patterns,
            project_file: None,
        }
    }
}

/// The questions to a database (SQLite) that holds sessions.
#[derive(Clone, Copy, Debug)]
pub struct Database {
    /// Selects the id, the time of the last change in milliseconds, and the size in bytes of each session of a person.
    pub sessions: &'static str,
    /// Selects the lines of the transcript of the session whose id is the parameter, in order.
    pub lines: &'static str,
}

/// A file that names a transcript's project.
#[derive(Clone, Copy, Debug)]
pub struct ProjectFile {
    /// Its path, relative to the transcript's folder.
    pub path: &'static str,
    /// Where the folder is in its JSON, as a JSON pointer. None if the text is the folder.
    pub pointer: Option<&'static str>,
}

/// How to learn whether a person is at an agent.
#[derive(Clone, Copy, Debug)]
pub enum HeadlessSign {
    /// It is known.
    Known(bool),
    /// The beginning of the transcript says so.
    Transcript(fn(&[u8]) -> bool),
}

/// A session's start whose reply the agent ignores, and the hook whose reply it reads instead.
#[derive(Clone, Copy, Debug)]
pub struct IgnoredStart {
    /// The `source` of the start.
    pub source: &'static str,
    /// The prompt hook that follows.
    pub prompt_hook: &'static str,
}

/// The reply form for Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// `context` when the host's version is known to support it, else `block`.
    Auto,
    /// `{"decision":"block","reason":..}`.
    Block,
    /// `hookSpecificOutput.additionalContext`.
    Context,
}

/// A command that hands a text to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The name or path of the program.
    pub program: &'static str,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Environment variables to set.
    pub env: Vec<(String, String)>,
    /// The reason of a delivery that fails because the program is not installed.
    pub missing: &'static str,
}
