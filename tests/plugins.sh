#!/usr/bin/env bash
# Checks the plugins for Claude Code, Codex, and Gemini CLI: that they hold what `init` would add, that the real programs accept and
# install them without a network, that one stop gets one answer beside hooks of `init`, and what they say without checkpointd.
#
#   tests/plugins.sh PROGRAMS
set -euo pipefail
programs=$(cd "${1:?usage: tests/plugins.sh PROGRAMS}" && pwd -P)
cd "$(dirname "$0")/.."

fail() { echo "error: $1" >&2; exit 1; }
scratch=$(mktemp -d)
home=$scratch/home
as() { env -i PATH="$path" HOME="$home" LANG=C.UTF-8 CHECKPOINTD_STOP_WAIT_MS=60000 CHECKPOINTD_PLAIN_WAIT_MS=60000 "$@"; }
path=/usr/bin:/bin
finish() { as "$programs/checkpointd" daemon stop >/dev/null 2>&1 || true; rm -rf "$scratch"; }
trap finish EXIT

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
for manifest in claude/.claude-plugin/plugin.json codex/.codex-plugin/plugin.json gemini/gemini-extension.json; do
    grep -q "\"version\": \"$version\"" "packaging/plugins/$manifest" || fail "packaging/plugins/$manifest is not of version $version"
done
packaging/plugins.sh "$programs/checkpointd" "$scratch/plugins"
for agent in claude codex gemini; do
    diff -r --exclude='*-plugin' --exclude=gemini-extension.json "$scratch/plugins/$agent" "packaging/plugins/$agent" ||
        fail 'run packaging/plugins.sh: hooks, commands or the skill have changed'
done

# Without the program the first session says so, and nothing else does.
mkdir -p "$home/.claude" "$home/project" "$home/bin"
silent() { local said; said=$(echo "$1" | as packaging/plugins/claude/hook.sh claude 2>&1) || fail 'a hook of a plugin fails without checkpointd'; [ -z "$said" ] || fail "$2: $said"; }
silent '{"hook_event_name":"Stop"}' 'without checkpointd, a stop is answered with'
echo '{"hook_event_name":"SessionStart"}' | as packaging/plugins/claude/hook.sh claude | grep -q '"systemMessage": ".*npm install' || fail 'without checkpointd, nothing says how to get it'
silent '{"hook_event_name":"SessionStart"}' 'it is said twice'

# A turn as an agent with both hooks makes it: each call comes twice, at the same time.
ln -s "$programs"/checkpointd* "$home/bin/"
path=$home/bin:$path
mkdir -p "$home/.config/checkpointd"
echo 'min_turn: 1ms' >"$home/.config/checkpointd/config.yml"
as checkpointd init --agent claude >/dev/null
hook=$(sed -n 's/.*"command": "\[ -x \([^ ]*\) \].*/\1/p' "$home/.claude/settings.json" | head -n 1)
git -C "$home/project" init --quiet
echo '[project]' >"$home/project/pyproject.toml"
git -C "$home/project" add .
git -C "$home/project" -c user.name=a -c user.email=a@localhost commit --quiet --message=Begin
call() { # HOOK FIELDS
    local payload
    payload=$(printf '{"session_id":"tried","hook_event_name":"%s","cwd":"%s","transcript_path":"%s"%s}' "$1" "$home/project" "$home/none" "$2")
    echo "$payload" | as "$hook" claude >"$scratch/by-init" &
    echo "$payload" | as packaging/plugins/claude/hook.sh claude >"$scratch/by-plugin"
    wait $!
}
call SessionStart ',"source":"startup"'
call UserPromptSubmit ',"prompt":"Write app.py"'
echo 'print(1)' >"$home/project/app.py"
call PostToolUse ",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$home/project/app.py\",\"content\":\"print(1)\"},\"tool_response\":{}"
call Stop ',"stop_hook_active":false'
answers=$(cat "$scratch/by-init" "$scratch/by-plugin" | grep -c '\[checkpointd\]' || true)
[ "$answers" = 1 ] || fail "one stop with both hooks got $answers answers: $(cat "$scratch/by-init" "$scratch/by-plugin")"
decided=$(as checkpointd journal tail --kind decided --json | grep -c .)
[ "$decided" = 1 ] || fail "one stop with both hooks got $decided decisions"

# The real programs, in a network of their own that holds nothing.
agents=$(tests/agents/install.sh 2>/dev/null) || { echo 'skipped: the plugins in the real agents, which cannot be installed'; exit 0; }
unshare --net true 2>/dev/null || { echo 'skipped: the plugins in the real agents, because namespaces are not permitted'; exit 0; }
path=$agents:$(dirname "$(command -v node)"):/usr/bin:/bin
real() { as GEMINI_CLI_TRUST_WORKSPACE=true unshare --net "$@" </dev/null >"$scratch/said" 2>&1 || fail "$*: $(cat "$scratch/said")"; }
real claude plugin validate --strict packaging/plugins/claude
real claude plugin validate --strict .
real claude plugin marketplace add "$PWD"
real claude plugin install checkpointd@checkpointd
real claude plugin list
grep -q 'enabled' "$scratch/said" || fail "Claude Code has not enabled the plugin: $(cat "$scratch/said")"

real codex plugin marketplace add "$PWD"
real codex plugin add checkpointd@checkpointd
[ -x "$home/.codex/plugins/cache/checkpointd/checkpointd/$version/hook.sh" ] || fail 'Codex has not installed its plugin'
mkdir -p "$home/.gemini"
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "model": {"skipNextSpeakerCheck": true}}' >"$home/.gemini/settings.json"
real gemini extensions install --consent "$PWD/packaging/plugins/gemini"
[ -x "$home/.gemini/extensions/checkpointd/hook.sh" ] || fail 'Gemini CLI has not installed the extension'

# A turn of the real agent in which it writes a file and runs nothing: its model must be told once, by one decision.
turn() { # WITH COMMAND..: which hooks there are, and the agent's command line
    local with=$1 told decided
    shift
    rm -f "$home/project/app.py" "$scratch/requests" "$scratch/port"
    decided=$(as checkpointd journal tail --kind decided --json | grep -c . || true)
    (cd "$home/project" && as ANTHROPIC_API_KEY=sk-ant-dummy CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 SCRIPTED_KEY=dummy CODEX_URL="${CODEX_URL:-}" \
        GEMINI_API_KEY=dummy GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true unshare --net bash -euc '
        ip link set lo up
        "$3" "$1/scripted-model.py" "$PWD" "$2/requests" >"$2/port" &
        trap "kill $!" EXIT
        until [ -s "$2/port" ]; do sleep 0.1; done
        export ANTHROPIC_BASE_URL=http://127.0.0.1:$(cat "$2/port")
        export GOOGLE_GEMINI_BASE_URL=$ANTHROPIC_BASE_URL
        timeout 120 "${@:4}" ${CODEX_URL:+-c "model_providers.scripted.base_url=\"$ANTHROPIC_BASE_URL/v1\""}
    ' bash "$tests" "$scratch" "$python" "$@") </dev/null >"$scratch/said" 2>&1 || fail "$with: $1 ended with: $(cat "$scratch/said")"
    told=$(tail -n 1 "$scratch/requests" | grep -o '\[checkpointd\] Not verified' | wc -l)
    [ "$told" = 1 ] || fail "with $with, the model of $1 was told $told times: $(cat "$scratch/said")"
    decided=$(($(as checkpointd journal tail --kind decided --json | grep -c .) - decided))
    # The stop after the checkpoint is one more.
    [ "$decided" = 2 ] || fail "with $with, two stops of $1 got $decided decisions"
}
if ! command -v python3 >/dev/null || ! command -v ip >/dev/null; then
    echo 'skipped: turns of the agents with their plugins, because python3 or ip is not installed'
    exit 0
fi
tests=$PWD/tests
python=$(python3 -c 'import sys; print(sys.executable)')
path=$home/bin:$path
cat >>"$home/.codex/config.toml" <<END

[model_providers.scripted]
name = "scripted"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[projects."$home/project"]
trust_level = "trusted"
END
claude=(claude -p 'Write app.py' --allowedTools Write)
# What a person does with \`/hooks\` once.
codex=(codex exec --dangerously-bypass-hook-trust --dangerously-bypass-approvals-and-sandbox -c 'model_provider="scripted"' -c 'model="gpt-5.5"' 'Write app.py')
gemini=(gemini --yolo -m gemini-2.5-flash -p 'Write app.py')
as checkpointd init --agent codex --agent gemini >/dev/null
each() { # WITH
    turn "$1" "${claude[@]}"
    CODEX_URL=yes turn "$1" "${codex[@]}"
    turn "$1" "${gemini[@]}"
}
each 'hooks of init and the plugin'
as checkpointd uninstall --yes --keep-data >/dev/null
each 'the plugin alone'
as checkpointd doctor >"$scratch/said" || true
[ "$(grep -c 'those of the plugin' "$scratch/said")" = 3 ] || fail "doctor does not know the plugins: $(cat "$scratch/said")"
