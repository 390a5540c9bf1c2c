//! The command line: types only. Doc comments are the help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::ArgValueCompleter;

use crate::cli::complete;

mod data;
mod filter;
mod setup;
mod work;

pub(crate) use data::{JournalAction, SqlArgs};
pub(crate) use filter::{AgentName, AuditFilter};
pub(crate) use setup::{DoctorArgs, InitArgs, ServiceAction, UninstallArgs, WebArgs};
pub(crate) use work::{PhaseAction, ProgressAction, ProgressOf};

/// Makes AI coding agents finish their work: journals every hook event of Claude Code, Gemini CLI and Codex CLI, and
/// when an agent stops, tells it what is still to be verified
#[derive(Debug, Parser)]
#[command(name = "checkpointd", version, max_term_width = 100)]
#[command(
    after_help = "Environment:\n  CHECKPOINTD_HOME       one folder for everything (default: XDG folders)\n  \
    CHECKPOINTD_SOCKET     the daemon's socket\n  CHECKPOINTD_AUTOSTART  0: hooks start no daemon\n\n\
    Exit codes: 0 ok, 1 a check failed or the request could not be met, 2 usage, 3 daemon or journal unreachable"
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How an answer is printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take one hook call from stdin to the daemon, as checkpointd-hook does
    #[command(disable_help_flag = true)]
    Hook {
        /// AGENT and EVENT, or `codex JSON`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Run the daemon, or stop it, or ask how it is
    #[command(
        after_help = "Examples:\n  checkpointd daemon --detach\n  checkpointd daemon status --json\n  checkpointd daemon stop"
    )]
    Daemon {
        /// Go into the background and return once hooks are taken
        #[arg(long)]
        detach: bool,
        /// The daemon's own mark of a detached run.
        #[arg(long, hide = true)]
        background: bool,
        /// What to do instead of running.
        #[command(subcommand)]
        action: Option<DaemonAction>,
    },
    /// Play recorded sessions of all three agents through client, daemon and actors, in a folder of their own
    Demo {
        /// Keep the folder, and say where it is
        #[arg(long)]
        keep: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Show what every agent is doing, live, in the terminal
    #[command(
        after_help = "Example:\n  checkpointd top\n\nKeys: Enter opens, Esc goes back, / filters, ? helps, q quits."
    )]
    Top,
    /// Serve a page that shows what every agent is doing, on this machine alone
    #[command(
        after_help = "Examples:\n  checkpointd web --open\n  checkpointd web --port 8090 --json\n  checkpointd web --stop\n\n\
        The address holds a token that opens the page once. The page stays open until the daemon ends."
    )]
    Web(WebArgs),
    /// Add the hooks to the settings of every agent on this machine
    #[command(
        after_help = "Examples:\n  checkpointd init --dry-run\n  checkpointd init --agent claude\n  checkpointd init --project"
    )]
    Init(InitArgs),
    /// Put agents' settings back as they were, stop the daemon and remove all data
    #[command(
        after_help = "Examples:\n  checkpointd uninstall --dry-run\n  checkpointd uninstall --keep-data\n  checkpointd uninstall --agent codex"
    )]
    Uninstall(UninstallArgs),
    /// Check that everything works, and say how to mend what does not
    #[command(
        after_help = "Examples:\n  checkpointd doctor\n  checkpointd doctor --fix\n  checkpointd doctor --fire claude\n\n\
        Exit code 1 when a check fails; warnings and skipped checks do not count."
    )]
    Doctor(DoctorArgs),
    /// Show at a glance how things stand
    #[command(
        after_help = "Examples:\n  checkpointd status\n  checkpointd status --json | jq .warnings"
    )]
    Status {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// List sessions
    #[command(
        after_help = "Examples:\n  checkpointd sessions\n  checkpointd sessions --json | jq 'select(.running)'"
    )]
    Sessions {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Show what is known of a session, now or at a point in the past, or what changed between two points
    #[command(
        after_help = "Examples:\n  checkpointd state last --at 2h\n  checkpointd state last --at 421\n  checkpointd state last --diff yesterday now"
    )]
    State {
        /// A session: id, beginning of one, or `last`
        #[arg(add = ArgValueCompleter::new(complete::sessions))]
        session: String,
        /// After this event (sequence number) or at this time (2h ago, yesterday, 14:30, 2026-11-20, RFC 3339)
        #[arg(long, value_name = "SEQ|TIME")]
        at: Option<String>,
        /// Show only what changed from one point to another
        #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "at")]
        diff: Option<Vec<String>>,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Show a session's prompts, tool calls, stops and decisions on a time axis
    #[command(
        after_help = "Examples:\n  checkpointd timeline last\n  checkpointd timeline 3f0a --turn 2 --json\n  checkpointd timeline last --follow"
    )]
    Timeline {
        /// A session: id, beginning of one, or `last`
        #[arg(add = ArgValueCompleter::new(complete::sessions))]
        session: String,
        /// Only this turn
        #[arg(long)]
        turn: Option<u64>,
        /// Wait for more
        #[arg(short, long)]
        follow: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// List past decisions
    #[command(
        after_help = "Examples:\n  checkpointd audit --verdict inject --since 2h\n  checkpointd audit --session last --json\n  \
        checkpointd audit --project . --since monday --until yesterday --csv\n  checkpointd audit --since 7d --summary"
    )]
    Audit {
        /// Which decisions.
        #[command(flatten)]
        filter: AuditFilter,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Explain one decision with all that it was based on
    #[command(
        after_help = "Examples:\n  checkpointd explain\n  checkpointd explain 421 --json\n  checkpointd explain --session 3f0a"
    )]
    Explain {
        /// The decision's sequence number, its stop's, or `last`
        #[arg(default_value = "last")]
        decision: String,
        /// `last` of this session
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Show the newest events, and with -f those to come
    #[command(
        after_help = "Examples:\n  checkpointd tail -f --project .\n  checkpointd tail -n 5 --kind decided --agent claude\n  checkpointd tail -f --session last --json"
    )]
    Tail {
        /// Wait for more
        #[arg(short, long)]
        follow: bool,
        /// How many events to begin with
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: u64,
        /// Only this session
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Only events of this kind, for example decided (docs/journal.md has all; a wrong one names the nearest)
        #[arg(long, value_parser = filter::kind(), hide_possible_values = true)]
        kind: Option<String>,
        /// Only this agent
        #[arg(long)]
        agent: Option<AgentName>,
        /// Only sessions in this folder or below it
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Let a session's next stop pass: the way out for an agent that cannot do what is asked
    #[command(after_help = "Examples:\n  checkpointd clear last")]
    Clear {
        /// A session: id, beginning of one, or `last`
        session: String,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Switch a session off: its stops pass, and nothing is told of it
    #[command(
        after_help = "Examples:\n  checkpointd mute last --for 2h\n  checkpointd unmute last"
    )]
    Mute {
        /// A session: id, beginning of one, or `last`
        session: String,
        /// For so long, for example 2h (default: until `unmute`)
        #[arg(long = "for", value_name = "DURATION")]
        period: Option<String>,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Switch a muted session on again
    Unmute {
        /// A session: id, beginning of one, or `last`
        session: String,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Stop an agent in its tmux pane, start it again with its resume command, and send it a checkpoint
    #[command(after_help = "Examples:\n  checkpointd restart last")]
    Restart {
        /// A session: id, beginning of one, or `last`
        session: String,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Keep the state of a task at the end of a phase of work, for a later session
    #[command(
        after_help = "Examples:\n  checkpointd phase create --phase build --number 4 --summary 'the parser is done' --metadata branch=parser\n  \
        checkpointd phase detect\n  checkpointd phase complete 019ab3\n\n\
        The answer is JSON with --json, and wherever it does not go to a terminal."
    )]
    Phase {
        /// What to do.
        #[command(subcommand)]
        action: PhaseAction,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Write down where work stands, show it, and check whether it still holds
    #[command(
        after_help = "Examples:\n  checkpointd progress write --type handoff --from notes.md\n  checkpointd progress show\n  \
        checkpointd progress validate --json\n\n\
        Facts come from the journal and git. What --from states, as Markdown under headings (Goal, Done, Remaining,\n\
        Blocked, Decisions, Must Read, Can Skip, Next Action, ..) or as JSON, is marked as stated by the agent, and\n\
        stays until it is stated anew."
    )]
    Progress {
        /// What to do.
        #[command(subcommand)]
        action: ProgressAction,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Fold history again: prove past decisions, try another policy, or play recorded hook calls
    #[command(
        after_help = "Examples:\n  checkpointd replay --verify\n  checkpointd replay --policy new.yml --json\n  checkpointd replay --file hooks.ndjson --json\n  \
        checkpointd replay --session last --step\n\n\
        The FILE of --policy is a whole config.yml, which then stands in place of yours:\n  \
        min_turn: 60s\n  max_blocks_per_turn: 2\n\
        or a file of rules, which lies over the policy that each decision was made by. Such a file\n\
        has `rules` alone, is called .checkpointd.yml, or has a key that only a project's file has\n\
        (`enabled`, `working_slug`):\n  \
        rules:\n    - name: database schema\n      include: [\"migrations/**\"]\n      actions:\n        \
        - text: Run the migration against a copy (`make migrate-test`)\n          evidence: [make migrate-test]\n\n\
        Exit codes: 0 ok, 1 --verify found a difference or a line of --file is not right, 2 usage"
    )]
    Replay {
        /// Only this session
        #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
        session: Option<String>,
        /// Decide every past decision again; exit 1 on a difference
        #[arg(long, conflicts_with_all = ["policy", "file"])]
        verify: bool,
        /// Show what would have been decided under this config.yml or file of rules (see below)
        #[arg(long, value_name = "FILE", conflicts_with = "file")]
        policy: Option<PathBuf>,
        /// Play hook calls from a file through fold and decide, in memory, by their own clock
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        /// Show what each event of the session or the file changed; on a terminal one at a time
        #[arg(long, conflicts_with_all = ["verify", "policy"])]
        step: bool,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Ask the journal in SQL: over tables of events, decisions, tools, turns and sessions, in memory
    Sql(SqlArgs),
    /// Append to, export, import, check, back up, restore or compact the journal
    #[command(
        after_help = "Examples:\n  checkpointd journal export > events.ndjson\n  CHECKPOINTD_HOME=/tmp/copy checkpointd journal import < events.ndjson\n  checkpointd journal verify"
    )]
    Journal {
        /// What to do.
        #[command(subcommand)]
        action: JournalAction,
    },
    /// Decide now, send nothing: what a stop of this agent would get
    #[command(
        after_help = "Examples:\n  checkpointd preview --agent claude --project . --elapsed 90s\n  checkpointd preview --agent codex --transcript rollout.jsonl --json"
    )]
    Preview(PreviewArgs),
    /// Show which rules there are, which match a file, and whether a file of rules is right
    #[command(
        after_help = "Examples:\n  checkpointd rules\n  checkpointd rules test src/main.rs\n  checkpointd rules check new-rules.yml"
    )]
    Rules {
        /// What to do.
        #[command(subcommand)]
        action: Option<RulesAction>,
        /// The project
        #[arg(long, default_value = ".", global = true)]
        project: PathBuf,
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Let the daemon start with your session: systemd user units with socket activation, or a launchd agent
    #[command(
        after_help = "Examples:\n  checkpointd service install\n  checkpointd service install --print\n  checkpointd service logs -f"
    )]
    Service {
        /// What to do.
        #[command(subcommand)]
        action: ServiceAction,
    },
    /// Print the shell's completions, which know the sessions of the journal too
    #[command(
        after_help = "Examples:\n  source <(checkpointd completions bash)\n  checkpointd completions fish > ~/.config/fish/completions/checkpointd.fish"
    )]
    Completions {
        /// The shell
        #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
        shell: String,
    },
    /// Write the manual pages into a folder, for example ~/.local/share/man/man1
    Man {
        /// The folder; it is made where there is none
        folder: PathBuf,
    },
    /// Show or check the configuration
    #[command(
        after_help = "Examples:\n  checkpointd config show\n  checkpointd config check new.yml"
    )]
    Config {
        /// What to do.
        #[command(subcommand)]
        action: ConfigAction,
    },
}

/// What to do with the daemon.
#[derive(Debug, Subcommand)]
pub(crate) enum DaemonAction {
    /// Stop it
    Stop,
    /// Say whether it runs
    Status {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
}

/// What a preview is made for.
#[derive(Args, Debug)]
pub(crate) struct PreviewArgs {
    /// The agent
    #[arg(long)]
    pub(crate) agent: AgentName,
    /// The project's folder (default: the session's, else the current one)
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// The agent's transcript (default: the session's, else none)
    #[arg(long, value_name = "FILE")]
    pub(crate) transcript: Option<PathBuf>,
    /// As this session of the journal: id, beginning of one, or `last`
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// How long the turn has lasted, for example 90s (default: by the session, else by the transcript)
    #[arg(long, value_name = "DURATION")]
    pub(crate) elapsed: Option<String>,
    /// The active work item, whose plan says which files to expect
    #[arg(long)]
    pub(crate) slug: Option<String>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesAction {
    /// List the packs and rules that are active in the project
    List,
    /// Say which rules these files match
    Test {
        /// Paths, relative to the project
        #[arg(required = true)]
        files: Vec<String>,
    },
    /// Check a project's .checkpointd.yml
    Check {
        /// The file (default: the project's)
        file: Option<PathBuf>,
    },
}

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Show every key, its value and where that comes from
    Show {
        /// How an answer is printed.
        #[command(flatten)]
        output: Output,
    },
    /// Check a file (default: your config.yml)
    Check {
        /// The file
        file: Option<PathBuf>,
    },
}
