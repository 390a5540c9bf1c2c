#!/bin/sh
# Logs which agent finished in which project, and shows a desktop notification where notify-send is installed.
# checkpointd passes the agent's last output on stdin and everything else in CHECKPOINTD_* variables.
set -eu

log=${XDG_STATE_HOME:-$HOME/.local/state}/finished-agents.log
mkdir -p "$(dirname "$log")"
summary=$(head -n 1 | cut -c 1-200)
printf '%s %s in %s: %s\n' \
    "$(date '+%Y-%m-%d %H:%M')" "$CHECKPOINTD_AGENT" "$CHECKPOINTD_PROJECT" "$summary" >>"$log"

# `--` keeps notify-send from reading the agent's text as an option.
if command -v notify-send >/dev/null; then
    notify-send -- "$CHECKPOINTD_AGENT has finished" "$summary" || true
fi
