#!/bin/sh
# Calls the hook client of checkpointd, wherever it is installed. Where it is not, the first session that begins says so
# once, and all else is silent: no hook may fail.
copies=${CHECKPOINTD_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/checkpointd}/installed/bin
for folder in "$(dirname "$(command -v checkpointd-hook)")" "$HOME/.local/bin" "$HOME/.cargo/bin" "$copies"; do
    # A relative folder may be one of the project.
    case $folder in /*) [ ! -x "$folder/checkpointd-hook" ] || exec "$folder/checkpointd-hook" "$@" ;; esac
done
said=${XDG_CACHE_HOME:-$HOME/.cache}/checkpointd-plugin
case $(cat) in
    *'"SessionStart"'*)
        if [ ! -e "$said" ] && mkdir -p "${said%/*}" && : >"$said"; then
            echo '{"systemMessage": "The checkpointd plugin is idle, because the program is not installed: `npm install -g checkpointd` or `pipx install checkpointd`, then start a new session."}'
        fi
        ;;
esac 2>/dev/null
exit 0
