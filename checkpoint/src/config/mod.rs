//! YAML in, settings and policies out: the compiled-in `config.yml`, the user's file over it, a project's file over both.
//!
//! The texts are passed in; nothing here opens a file. A file with a mistake is refused as a whole, with the place and a
//! hint, and the caller chooses to continue with the settings that it had.

mod agents;
mod candidate;
mod endpoint;
mod error;
mod fleet;
mod layers;
mod paths;
mod project_file;
mod retention;
pub(crate) mod rule_entry;
mod rule_layers;
mod settings;
mod show;
#[cfg(test)]
mod tests;
mod text;
mod units;
mod values;
pub(crate) mod yaml;

pub use agents::{DescribedAgent, DescribedAgents, HooksFormat, StopReply, UsualTool};
pub use candidate::{Candidate, RuleFile};
pub use endpoint::{Endpoint, MaybeEndpoint};
pub use error::{ConfigError, did_you_mean};
pub use fleet::{FleetLevel, MaybeName, MaybeServers, Servers};
pub use layers::Config;
pub use paths::{
    AutoPath, FileName, Glob, MaybePath, ProjectGlobs, ProjectPath, Projects, UserPath,
};
pub use project_file::ProjectFile;
pub use retention::{EventKind, Keep, Retention};
pub use rule_entry::{Example, RuleEntry};
pub use settings::{
    AutoProgress, Codex, Daemon, EvidenceLimits, Fleet, Hooks, Journal, Listeners, Logs, Otlp,
    Phase, Progress, Redact, Restart, Settings, Tmux, Web,
};
pub use show::{InProject, Shown};
pub use units::{Interval, Size, Span, parse_duration, parse_size};
pub use values::{
    CodexDelivery, CompactWhen, Count, Fail, LogLevel, PackName, Packs, Pattern, Percent, Prefix,
    ProgressPlace, ResumeLine, Sync, Template, UserCheck, UserCommand, VariableName,
};
pub use yaml::DEFAULT_TEXT;
pub use yaml::{Name, value as yaml_value};
