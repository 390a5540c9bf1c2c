//! The agents: one table, from which every list of them is made.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use super::agent_name::{AgentName, BadName};

/// Calls a macro with the table of agents. A row holds the variant, the word, the vendor's name, and the environment
/// variables that a hook call of the agent passes on, none of which may hold a secret.
///
/// The journal stores an agent by its place. The daemon took the one after `first`, and those that a configuration
/// describes the one after `later`. So new rows go to the end of `latest`.
#[macro_export]
macro_rules! agents {
    ($then:ident) => {
        $then! {
            first {
                Claude, claude, "Claude Code",
                    ["CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID"];
                Gemini, gemini, "Gemini CLI", ["GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD"];
                Codex, codex, "Codex CLI", ["CODEX_HOME"];
            }
            later {
                Qwen, qwen, "Qwen Code", ["QWEN_CODE_SESSION_ID", "QWEN_PROJECT_DIR"];
                Copilot, copilot, "GitHub Copilot CLI", ["COPILOT_PROJECT_DIR"];
                OpenCode, opencode, "opencode", ["CHECKPOINTD_OPENCODE_SESSION"];
                Droid, droid, "Factory droid", ["FACTORY_PROJECT_DIR"];
                Pi, pi, "Pi", ["CHECKPOINTD_PI_SESSION"];
                Kimi, kimi, "Kimi Code", ["KIMI_CODE_HOME"];
                Vibe, vibe, "Mistral Vibe", ["VIBE_HOME"];
            }
            latest {
                Cursor, cursor, "Cursor", ["CURSOR_PROJECT_DIR"];
                Grok, grok, "Grok Build", [];
                Kilo, kilo, "Kilo CLI", ["CHECKPOINTD_KILO_SESSION"];
                OpenHands, openhands, "OpenHands CLI", ["OPENHANDS_PROJECT_DIR"];
                Dsh, dsh, "DeepSeek Harness", ["DSH_SESSION_ID"];
                Antigravity, antigravity, "Antigravity", [];
            }
        }
    };
}

macro_rules! define {
    (first { $($first:ident, $first_word:ident, $first_name:literal, [$($first_variable:literal),*];)* }
     later { $($later:ident, $later_word:ident, $later_name:literal, [$($later_variable:literal),*];)* }
     latest { $($latest:ident, $latest_word:ident, $latest_name:literal, [$($latest_variable:literal),*];)* }) => {
        /// The agent a session belongs to. Its stored form is its place in the list.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(remote = "Self")]
        pub enum Agent {
            $(#[doc = concat!($first_name, ".")] $first,)*
            /// The daemon itself, for events without a session.
            #[default]
            Daemon,
            $(#[doc = concat!($later_name, ".")] $later,)*
            /// An agent that the user's configuration describes.
            Configured(AgentName),
            $(#[doc = concat!($latest_name, ".")] $latest,)*
        }

        impl Agent {
            /// The agents with rooms of their own.
            pub const HOSTS: [Self; [$($first_name,)* $($later_name,)* $($latest_name,)*].len()] =
                [$(Self::$first,)* $(Self::$later,)* $(Self::$latest,)*];

            /// The words of [`Self::HOSTS`], in its order.
            pub const WORDS: [&str; Self::HOSTS.len()] =
                [$(stringify!($first_word),)* $(stringify!($later_word),)* $(stringify!($latest_word),)*];

            /// The names of [`Self::HOSTS`] as their vendors write them, in its order.
            pub const NAMES: [&str; Self::HOSTS.len()] = [$($first_name,)* $($later_name,)* $($latest_name,)*];

            /// The environment variables that hook calls pass on for agents' sake.
            pub(crate) const VARIABLES: &[&str] =
                &[$($($first_variable,)*)* $($($later_variable,)*)* $($($latest_variable,)*)*];

            /// Returns its name on command lines, in URLs and in JSON.
            pub const fn word(&self) -> &str {
                match self {
                    $(Self::$first => stringify!($first_word),)*
                    Self::Daemon => DAEMON,
                    $(Self::$later => stringify!($later_word),)*
                    Self::Configured(name) => name.as_str(),
                    $(Self::$latest => stringify!($latest_word),)*
                }
            }

            /// Returns its word where only words of this product may be used: one word represents all configured
            /// agents.
            pub const fn label(self) -> &'static str {
                match self {
                    $(Self::$first => stringify!($first_word),)*
                    Self::Daemon => DAEMON,
                    $(Self::$later => stringify!($later_word),)*
                    Self::Configured(_) => "configured",
                    $(Self::$latest => stringify!($latest_word),)*
                }
            }

            /// Returns its name as its vendor writes it.
            pub const fn name(&self) -> &str {
                match self {
                    $(Self::$first => $first_name,)*
                    Self::Daemon => "checkpointd",
                    $(Self::$later => $later_name,)*
                    Self::Configured(name) => name.as_str(),
                    $(Self::$latest => $latest_name,)*
                }
            }
        }
    };
}

const DAEMON: &str = "daemon";

agents!(define);

impl Agent {
    /// Returns the agent with rooms of its own that has a word.
    pub fn host(word: &str) -> Option<Self> {
        Self::HOSTS.into_iter().find(|agent| agent.word() == word)
    }

    /// Returns the agent that a word names. Any name that no agent has is that of a configured one.
    ///
    /// # Errors
    ///
    /// If the word is not an agent's name and cannot be one.
    pub fn of_word(word: &str) -> Result<Self, BadName> {
        match Self::host(word) {
            Some(agent) => Ok(agent),
            None if word == DAEMON => Ok(Self::Daemon),
            None => AgentName::new(word).map(Self::Configured),
        }
    }

    /// The word of a person, whose own runs are journaled as tool calls.
    pub const PERSON: &str = "person";

    /// Returns the agent of a person's own runs.
    pub fn person() -> Self {
        Self::Configured(AgentName::new(Self::PERSON).expect("a name"))
    }

    /// Returns whether sessions of it are those of an agent: not the daemon's, and not a person's runs.
    pub fn is_agent(&self) -> bool {
        ![DAEMON, Self::PERSON].contains(&self.word())
    }

    /// Returns the words of the agents with rooms of their own, separated by commas.
    pub fn words() -> String {
        Self::WORDS.join(", ")
    }

    /// Returns the names of these agents as a sentence lists them.
    pub fn names() -> String {
        let [rest @ .., last] = Self::NAMES;
        format!("{}, and {last}", rest.join(", "))
    }
}

impl Serialize for Agent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(self.word())
        } else {
            Self::serialize(self, serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Agent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Self::deserialize(deserializer);
        }
        let word = String::deserialize(deserializer)?;
        Self::of_word(&word).map_err(serde::de::Error::custom)
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(name: &str) -> Agent {
        Agent::Configured(AgentName::new(name).expect("a name"))
    }

    #[cfg(feature = "store")]
    #[test]
    fn stored_places_never_change() {
        let places = [
            Agent::Claude,
            Agent::Gemini,
            Agent::Codex,
            Agent::Daemon,
            Agent::Qwen,
            Agent::Copilot,
            Agent::OpenCode,
            Agent::Droid,
            Agent::Pi,
            Agent::Kimi,
            Agent::Vibe,
            configured("x"),
            Agent::Cursor,
            Agent::Grok,
            Agent::Kilo,
            Agent::OpenHands,
            Agent::Dsh,
            Agent::Antigravity,
        ];
        assert_eq!(
            places.len(),
            Agent::HOSTS.len() + 2,
            "a new agent has a place here"
        );
        let config = bincode::config::standard();
        for (place, agent) in (0_u8..).zip(places) {
            let stored = bincode::serde::encode_to_vec(agent, config).expect("encoded");
            assert_eq!(stored[0], place, "{agent}");
            let read = bincode::serde::decode_from_slice(&stored, config).expect("decoded");
            assert_eq!(read, (agent, stored.len()));
        }
        let stored = bincode::serde::encode_to_vec(configured("codebuddy"), config);
        assert_eq!(stored.expect("encoded"), b"\x0b\x09codebuddy");
        assert!(bincode::serde::decode_from_slice::<Agent, _>(b"\x0b\x02A!", config).is_err());
    }

    #[test]
    fn words_lead_back_to_their_agents() {
        let all = Agent::HOSTS.into_iter();
        for agent in all.chain([Agent::Daemon, configured("codebuddy")]) {
            assert_eq!(Agent::of_word(agent.word()), Ok(agent));
            let json = serde_json::to_value(agent).expect("JSON");
            assert_eq!(json, agent.word());
            assert_eq!(serde_json::from_value::<Agent>(json).ok(), Some(agent));
        }
        assert_eq!(
            Agent::HOSTS.map(|agent| agent.word().to_owned()),
            Agent::WORDS
        );
        assert_eq!(Agent::host("daemon"), None);
        assert!(serde_json::from_str::<Agent>("\"No Agent\"").is_err());
    }
}
