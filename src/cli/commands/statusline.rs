//! `statusline`: its help. The hook client answers it before the command line is parsed (`client::status_line`), because
//! status bars ask every few seconds.

use clap::Args;

/// Print one line for the status bar of Claude Code or tmux
#[derive(Args, Debug)]
#[command(
    after_help = "Set-up:\n  Claude Code, in ~/.claude/settings.json:\n    \
    \"statusLine\": {\"type\": \"command\", \"command\": \"checkpointd statusline\"}\n  \
    tmux, in ~/.tmux.conf, for the pane that you look at or for all sessions:\n    \
    set -g status-right '#(checkpointd statusline --pane \"#{pane_id}\")'\n    \
    set -g status-right '#(checkpointd statusline --all)'\n\n\
    One session:   cp: 2 open · 1 sent · 3m   two actions without proof, one checkpoint, the turn's time\n\
    Many sessions: cp: 1 needs you · 2 waiting · 3 running\n\n\
    It waits at most 50 ms for the daemon and always exits 0."
)]
pub(crate) struct StatuslineArgs {
    /// Id of a session (default: the one that Claude Code names on standard input, else all)
    #[arg(long, value_name = "ID", conflicts_with_all = ["pane", "project", "all"])]
    session: Option<String>,
    /// The session in a tmux pane
    #[arg(long, value_name = "PANE", conflicts_with_all = ["project", "all"])]
    pane: Option<String>,
    /// The sessions in a folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "all")]
    project: Option<String>,
    /// All sessions
    #[arg(long)]
    all: bool,
    /// Print the line and its parts as JSON
    #[arg(long)]
    json: bool,
}
