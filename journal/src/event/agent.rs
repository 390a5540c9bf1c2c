//! The agents: one table, from which every list of them is made.

use serde::{Deserialize, Serialize};

/// Calls a macro with the table of agents. A row holds the variant, the word, the vendor's name, and the environment
/// variables that a hook call of the agent passes on, none of which may hold a secret.
///
/// The journal stores an agent by its place, and the daemon took the fourth. So new rows go to the end of `later`.
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
        }
    };
}

macro_rules! define {
    (first { $($first:ident, $first_word:ident, $first_name:literal, [$($first_variable:literal),*];)* }
     later { $($later:ident, $later_word:ident, $later_name:literal, [$($later_variable:literal),*];)* }) => {
        /// The agent a session belongs to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Agent {
            $(#[doc = concat!($first_name, ".")] $first,)*
            /// The daemon itself, for events without a session.
            Daemon,
            $(#[doc = concat!($later_name, ".")] $later,)*
        }

        impl Agent {
            /// The agents that call hooks.
            pub const HOSTS: [Self; [$($first_name,)* $($later_name,)*].len()] =
                [$(Self::$first,)* $(Self::$later,)*];

            /// The environment variables that hook calls pass on for agents' sake.
            pub(crate) const VARIABLES: &[&str] = &[$($($first_variable,)*)* $($($later_variable,)*)*];

            /// Returns its name on command lines, in URLs and in JSON.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$first => stringify!($first_word),)*
                    Self::Daemon => "daemon",
                    $(Self::$later => stringify!($later_word),)*
                }
            }

            /// Returns its name as its vendor writes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$first => $first_name,)*
                    Self::Daemon => "checkpointd",
                    $(Self::$later => $later_name,)*
                }
            }
        }
    };
}

agents!(define);

impl Agent {
    /// Returns the hook-calling agent with a name.
    pub fn host(word: &str) -> Option<Self> {
        Self::HOSTS.into_iter().find(|agent| agent.word() == word)
    }

    /// Returns the words of all hook-calling agents, separated by commas.
    pub fn words() -> String {
        Self::HOSTS.map(Self::word).join(", ")
    }

    /// Returns the names of all hook-calling agents as a sentence lists them.
    pub fn names() -> String {
        let [rest @ .., last] = Self::HOSTS.map(Self::name);
        format!("{}, and {last}", rest.join(", "))
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
        ];
        assert_eq!(
            places.map(|agent| agent as usize),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        );
        assert_eq!(
            places.len(),
            Agent::HOSTS.len() + 1,
            "a new agent has a place here"
        );
    }

    #[test]
    fn words_lead_back_to_their_agents() {
        for agent in Agent::HOSTS {
            assert_eq!(Agent::host(agent.word()), Some(agent));
            assert_eq!(serde_json::to_value(agent).ok(), Some(agent.word().into()));
        }
        assert_eq!(Agent::host("daemon"), None);
    }
}
