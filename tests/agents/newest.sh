#!/usr/bin/env bash
# Plays all scenarios of all agents in the versions of install.sh and in their newest ones, and says what differs: the
# versions, scenarios that fail in the newest only, and fields of hook payloads that came or went. Fails if one fails or went.
# Arguments are those of run.sh. Needs jq, and what run.sh needs.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v jq >/dev/null || { echo 'error: jq is not installed' >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

play() { # NAME ARGUMENTS..: plays with what is installed by that name
    local name=$1
    shift
    mkdir "$scratch/$name"
    CHECKPOINTD_AGENTS_ALL=1 CHECKPOINTD_AGENTS_PAYLOADS=$scratch/$name tests/agents/run.sh "$@" >"$scratch/$name.out" 2>&1 || true
    grep -q ' s$' "$scratch/$name.out" || { cat "$scratch/$name.out"; exit 1; }
    sed -n 's/ *FAILED  *[0-9.]* s$//p' "$scratch/$name.out" | sort >"$scratch/$name.failed"
    # An event's fields, as far as they are alike in all calls of a tool.
    for file in "$scratch/$name"/*; do
        jq -r --arg agent "$(basename "$file" | cut -d . -f 1)" '
            (.hook_event_name // .hookEventName // .event // .type // "?") as $event | [paths(scalars)]
            | map(map(if type == "number" then "#" else . end) | .[0:2] | join(".")) | unique[] | "\($agent) \($event) \(.)"' "$file" 2>/dev/null || true
    done | sort -u >"$scratch/$name.fields"
}

play tried "$@"
CHECKPOINTD_AGENTS_NEWEST=1 play newest "$@"
versions() { (PATH=$1:$PATH; for agent in claude gemini codex qwen copilot opencode droid pi kimi vibe grok kilo openhands dsh; do echo "$agent $("$agent" --version 2>/dev/null | grep -o '[0-9][0-9.]*' | head -n 1)"; done); }
echo '-- versions: tried, newest'
join <(versions "$(tests/agents/install.sh)" | sort) <(versions "$(CHECKPOINTD_AGENTS_NEWEST=1 tests/agents/install.sh)" | sort)
say() { # TITLE LINES: prints what there is
    [ -z "$2" ] || printf -- '-- %s\n%s\n' "$1" "$2"
}
echo "-- $(cat "$scratch"/newest/* | wc -c) bytes of payloads, $(wc -l <"$scratch/newest.fields") fields"
failed=$(comm -13 "$scratch"/{tried,newest}.failed)
gone=$(comm -23 "$scratch"/{tried,newest}.fields)
say 'scenarios that fail in the newest version' "$failed"
say 'fields that went' "$gone"
say 'fields that came' "$(comm -13 "$scratch"/{tried,newest}.fields)"
[ -z "$failed$gone" ] && echo 'All scenarios hold in the newest versions.'
