//! What an agent has to answer, so that everything else treats all agents alike.
//!
//! Methods with a body are answered by few agents; an agent without that peculiarity leaves them out.

use std::fmt::Debug;

use journal::{Event, Host, Place, ReplyForm};

use crate::config::Settings;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};
use crate::policy::Reply;
use crate::prompts::{Authors, Texts};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;
use crate::tools::Tools;
use crate::transcript::backward;
use crate::transcript::facts::Facts;
use crate::transcript::forward::{Forward, ReadLine};
use crate::transcript::tail::Tail;

/// One agent, as the rest of the product sees it.
pub trait Adapter: Debug + Sync {
    // Hook calls.

    /// Returns the fields that say where a call belongs.
    fn fields(&self, _payload: &Payload<'_>) -> &'static Fields {
        &common::FIELDS
    }

    /// Fields that the agent names in its own way, with their usual names.
    fn renames(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns the event that a call of `hook` reports. Which prompts are a person's is decided here too, by the whole
    /// payload.
    fn event(&self, hook: &str, host: Host, payload: &Payload<'_>) -> Event;

    /// The `notification_type`s that matter.
    fn notifications(&self) -> Notifications {
        Notifications::default()
    }

    /// Returns how many of the running background tasks that a stop's payload lists bring another stop when they end;
    /// `None` if the payload does not say what they are.
    fn returning_tasks(&self, _payload: &serde_json::Value) -> Option<u32> {
        None
    }

    /// Returns whether the agent continues if the stop of a payload is answered.
    fn may_continue(&self, _payload: &serde_json::Value) -> bool {
        true
    }

    /// Whether two stops of one session may be reported by the same bytes. Such calls are never taken for one call of a
    /// hook that is registered twice.
    fn repeats_stops(&self) -> bool {
        false
    }

    /// The environment variables that the agent sets for its hooks and tools.
    fn variables(&self) -> Variables;

    // Texts and tools.

    /// The texts that the agent writes in its user's name.
    fn texts(&self) -> &'static Texts;

    /// The agent's tools.
    fn tools(&self) -> &'static Tools;

    // Transcripts.

    /// Reads the current turn from a transcript's tail; none if nothing in it has the agent's format.
    fn transcript(&self, tail: Tail<'_>, authors: &Authors<'_>) -> Option<Facts> {
        match self.forward() {
            Forward::Lines(line) => backward::read(tail, authors, self.tools(), line),
            Forward::Whole(_) => None,
        }
    }

    /// Where to search for the transcript of a session whose hooks do not name it.
    fn transcript_search(&self) -> Option<TranscriptSearch> {
        None
    }

    /// The folder of files that make up a transcript, in the one that hooks name as the transcript. Each continues the
    /// one before it by name.
    fn transcript_files(&self) -> Option<&'static str> {
        None
    }

    /// Where the transcripts of a session's subagents are.
    fn subagents(&self) -> Option<SubagentTranscripts> {
        None
    }

    /// Where the agent keeps the transcripts of all sessions.
    fn library(&self) -> Library;

    /// How the transcripts are read from the files of the library, if those are databases.
    fn database(&self) -> Option<Database> {
        None
    }

    /// Whether no hook reports some prompts, so that they are searched for in the transcript at each stop.
    fn omits_prompts(&self) -> bool {
        false
    }

    /// How a whole transcript is read from its beginning.
    fn forward(&self) -> Forward;

    /// How to learn whether a person is at the agent. Most agents do not say so, but the hook client notes whether it
    /// has a terminal.
    fn headless(&self, place: &Place) -> HeadlessSign {
        HeadlessSign::Known(place.env("CHECKPOINTD_TTY").is_none() && place.env("TMUX").is_none())
    }

    // Replies to hook calls.

    /// The forms in which a stop can be answered.
    fn reply_forms(&self) -> &'static [ReplyForm];

    /// Returns the form in which to answer a stop, by the setting and the agent's version.
    fn reply_form(&self, setting: Reply, version: Option<&str>) -> ReplyForm;

    /// Whether no hook tells that the agent took the answer to its stop, so that its next tool call does.
    fn takes_silently(&self) -> bool {
        false
    }

    /// Whether the agent reads the reply to a session's start.
    fn hears_start(&self) -> bool {
        true
    }

    /// The start of a session whose reply the agent ignores.
    fn ignored_start(&self) -> Option<IgnoredStart> {
        None
    }

    // The terminal.

    /// The name of the agent's program, or of its script.
    fn program(&self) -> &'static str;

    /// Whether the agent's composer is known, so that checkpoints can be typed.
    fn has_composer(&self) -> bool {
        true
    }

    /// Finds the composer on a screen. None unless it is beyond doubt, with the cursor in it.
    fn composer<'a>(&self, rows: &'a [Row], view: &View) -> Option<TextBox<'a>>;

    /// Returns whether `shown` is what the composer shows in place of the pasted text.
    fn stands_for(&self, shown: &str, pasted: &str) -> bool;

    // The documentation.

    /// The package that the agent is installed from; empty if the tests do not run it.
    fn package(&self) -> &'static str;

    /// What its users have to know of it, in sentences.
    fn particulars(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the command that hands a text to a session, if that is how the settings want it delivered; otherwise it
    /// is typed.
    fn hand_over(
        &self,
        _settings: &Settings,
        _place: &Place,
        _session: &str,
        _text: &str,
    ) -> Option<HandOver> {
        None
    }
}

/// The `notification_type`s of an agent that matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notifications {
    /// A dialog waits for a person.
    pub dialog: Option<&'static str>,
    /// The agent has been waiting for a while. It says so after every finish, announced or not.
    pub idle: Option<&'static str>,
}

/// Environment variables of an agent. Those of its hooks must be among [`journal::request::ENV_NAMES`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables {
    /// Holds the session's id.
    pub session: Option<&'static str>,
    /// Holds the project's folder.
    pub project: Option<&'static str>,
    /// Holds the id of the agent's process.
    pub pid: Option<&'static str>,
}

/// Where the transcript of a session is that no hook names.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptSearch {
    /// The variable that holds the agent's home.
    pub home_variable: &'static str,
    /// The agent's home in the user's, if the variable is not set.
    pub home_default: &'static str,
    /// The folder in the agent's home.
    pub folder: &'static str,
    /// The place below that folder.
    pub place: TranscriptPlace,
}

/// The place of a session's transcript below the folder of all.
#[derive(Clone, Copy, Debug)]
pub enum TranscriptPlace {
    /// `YYYY/MM/DD/PREFIX..-SESSION.jsonl`.
    ByDay {
        /// How the names of the files begin.
        prefix: &'static str,
    },
    /// `ANY/SESSION/FILE`.
    InFolder {
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
    pub line: ReadLine,
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
