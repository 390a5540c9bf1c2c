#!/bin/sh
# Writes the plugins for Claude Code, Codex, and Gemini CLI: hooks and commands as `init` adds them, calling
# packaging/plugins/hook.sh, and the skill. Manifests are written by hand. Run it after a change of hooks or commands, which
# tests/plugins.sh notices.
#
#   packaging/plugins.sh PROGRAM [OUTPUT]
#
#   PROGRAM   a built checkpointd, with its hook client beside it
#   OUTPUT    default: packaging/plugins
set -eu
folder=$(cd "$(dirname "$1")" && pwd -P)
output=${2:-$(dirname "$0")/plugins}
mkdir -p "$output"
output=$(cd "$output" && pwd)
cd "$(dirname "$0")/plugins"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir "$home/bin" "$home/.claude" "$home/.codex" "$home/.gemini"
# One unknown event makes an older Claude Code ignore all hooks. This version knows all but the newest event.
printf '#!/bin/sh\necho 2.1.89\n' >"$home/bin/claude"
chmod +x "$home/bin/claude"
env -i PATH="$home/bin:/usr/bin:/bin" HOME="$home" "$folder/checkpointd" init --agent claude --agent codex --agent gemini --commands >/dev/null

write() { # AGENT FILE ROOT: the file of its hooks, and what the agent replaces by the plugin's folder
    mkdir -p "$output/$1/hooks" "$output/$1/skills/checkpointd"
    sed "s|$folder/checkpointd-hook|\\\\\"\${$3}/hook.sh\\\\\"|g" "$home/.$1/$2" >"$output/$1/hooks/hooks.json"
    # Codex has commands of the user only.
    [ ! -d "$home/.$1/commands" ] || { mkdir -p "$output/$1/commands" && cp "$home/.$1"/commands/* "$output/$1/commands/"; }
    cp SKILL.md "$output/$1/skills/checkpointd/"
    cp hook.sh "$output/$1/"
}
write claude settings.json CLAUDE_PLUGIN_ROOT
write codex hooks.json PLUGIN_ROOT
write gemini settings.json extensionPath
