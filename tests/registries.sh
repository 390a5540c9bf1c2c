#!/usr/bin/env bash
# Publishes the packages for npm and PyPI to registries on loopback, and meets them as a person does: from nothing to a
# finding, then hooks that go on when the package manager's cache is gone. Leaves out with a word what npm or Python is
# missing for. Says how long the first finding takes.
#
#   tests/registries.sh ARCHIVES
set -euo pipefail
archives=$(cd "${1:?usage: tests/registries.sh ARCHIVES}" && pwd)
cd "$(dirname "$0")/.."

fail() { echo "error: $1" >&2; exit 1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
scratch=$(mktemp -d)
trap 'wait; rm -rf "$scratch"' EXIT

# Runs a command of a person with an empty home folder, on a machine with these registries only.
as() { # HOME COMMAND..
    local home=$1
    shift
    (cd "$home" && env -i PATH="$path" HOME="$home" LANG=C.UTF-8 npm_config_registry="http://127.0.0.1:$npm/" npm_config_update_notifier=false \
        PIP_INDEX_URL="http://127.0.0.1:$pypi/simple/" UV_DEFAULT_INDEX="http://127.0.0.1:$pypi/simple/" UV_PYTHON_DOWNLOADS=never \
        PIP_DISABLE_PIP_VERSION_CHECK=1 "$@")
}
path=/usr/local/bin:/usr/bin:/bin npm=0 pypi=0

# Makes a home folder in which two agents left something open.
person() {
    local home
    home=$(mktemp -d -p "$scratch")
    mkdir -p "$home/.claude/projects/shop" "$home/.codex/sessions/2026/11/24" "$home/code/shop/src" "$home/code/limiter"
    sed "s|HOME|$home|g" tests/data/readme/claude.jsonl >"$home/.claude/projects/shop/7c1d9e52-0a6b-4f7e-9d3a-1b2c3d4e5f60.jsonl"
    sed "s|HOME|$home|g" tests/data/readme/codex.jsonl >"$home/.codex/sessions/2026/11/24/rollout-2026-11-24T16-00-00-01a20e5c-71d4-7c02-9a55-3f6f0c1d2e3b.jsonl"
    echo "$home"
}

# The first finding, and the hooks of `init`, which must outlive the cache.
meet() { # HOME CACHE COMMAND..: how checkpointd is run, and the folder that its package manager may delete
    local home=$1 cache=$2 began=${EPOCHREALTIME/./} hook call
    shift 2
    as "$home" "$@" lookback --since 2026-11-16 >"$scratch/said" 2>&1 || fail "$*: lookback: $(cat "$scratch/said")"
    grep -q 'claude --resume' "$scratch/said" || fail "$*: lookback found nothing: $(cat "$scratch/said")"
    echo "the first finding with \`$*\`: $(((${EPOCHREALTIME/./} - began) / 1000)) ms"
    [ "$(as "$home" "$@" --version)" = "checkpointd $version" ] || fail "$*: --version"
    as "$home" "$@" init --agent claude >"$scratch/said"
    rm -rf "$cache"
    hook=$(sed -n 's/.*"command": "\[ -x \([^ ]*\) \].*/\1/p' "$home/.claude/settings.json" | sort -u)
    [ -x "$hook" ] || fail "$*: without $cache, the hooks are dead: $hook; init said: $(cat "$scratch/said")"
    call="{\"session_id\":\"met\",\"hook_event_name\":\"UserPromptSubmit\",\"cwd\":\"$home/code/shop\",\"transcript_path\":\"$home/none\",\"prompt\":\"Go\"}"
    echo "$call" | as "$home" "$hook" claude || fail "$*: the hook fails"
    for _ in $(seq 50); do
        ! as "$home" "${hook%-hook}" daemon status >"$scratch/said" 2>&1 || break
        sleep 0.2
    done
    as "$home" "${hook%-hook}" daemon status >/dev/null || fail "$*: the hook started no daemon"
    as "$home" "${hook%-hook}" uninstall --yes --purge >/dev/null
    ! grep -qs checkpointd "$home/.claude/settings.json" || fail "$*: uninstall left hooks"
    [ ! -e "$hook" ] || [ "${hook#"$home/.local/share/checkpointd"}" = "$hook" ] || fail "$*: uninstall left $hook"
}

answers() { # URL: whether a server answers within ten seconds
    for _ in $(seq 50); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null || return 0
        sleep 0.2
    done
    return 1
}

with_npm() {
    local place=$tools/verdaccio-6.8.0 home
    if [ ! -e "$place/whole" ]; then
        rm -rf "$place"
        mkdir -p "$place"
        echo '{"private": true, "overrides": {"node-fetch": "2.7.0"}}' >"$place/package.json"
        (cd "$place" && npm install --silent --no-audit --no-fund verdaccio@6.8.0) || { echo 'skipped: npm, because verdaccio cannot be installed'; return 0; }
        touch "$place/whole"
    fi
    path=$(dirname "$(command -v npm)"):$(dirname "$(command -v node)"):/usr/bin:/bin
    npm=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
    mkdir "$scratch/npm"
    cat >"$scratch/npm/config.yaml" <<END
storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
packages: { '**': { access: \$all, publish: \$all } }
max_body_size: 500mb
log: { type: file, path: $scratch/npm/log, level: warn }
END
    node "$place/node_modules/verdaccio/bin/verdaccio" --config "$scratch/npm/config.yaml" --listen "127.0.0.1:$npm" >"$scratch/npm/out" 2>&1 &
    packaging/npm.sh "$archives" "$scratch/npm" >/dev/null
    answers "$npm" || fail "verdaccio does not answer: $(cat "$scratch/npm/out")"
    home=$(person)
    # A registry without users takes any word.
    echo "//127.0.0.1:$npm/:_authToken=none" >"$home/.npmrc"
    # Those of platforms first: the last one needs them.
    for package in "$scratch"/npm/checkpointd-*-*.tgz "$scratch/npm/checkpointd-$version.tgz"; do
        as "$home" npm publish --silent "$package" >"$scratch/said" 2>&1 || fail "npm publish $package: $(cat "$scratch/said")"
    done
    # Nothing of it is run by npm.
    ! tar -xzOf "$scratch/npm/checkpointd-$version.tgz" package/package.json | grep -qE '"scripts"|"dependencies"' || fail 'the npm package has scripts or dependencies'
    meet "$home" "$home/.npm" npx --yes checkpointd
    # Where the folder of the package stays, hooks call the program in it, also after an update.
    as "$home" npm install --silent --global --prefix "$home/npm" checkpointd
    meet "$home" "$home/.npm" "$home/npm/bin/checkpointd"
    # Without its programs it says so in a sentence, and its hook client ends well.
    find "$home/npm" -name @checkpointd -prune -exec rm -rf {} +
    ! as "$home" "$home/npm/bin/checkpointd" --version 2>"$scratch/said" || fail 'a package without programs runs'
    grep -q '^error: @checkpointd/.* is not installed' "$scratch/said" || fail "a package without programs says: $(cat "$scratch/said")"
    as "$home" "$home/npm/bin/checkpointd-hook" claude </dev/null 2>/dev/null || fail 'the hook client of a package without programs fails'
}

with_python3() {
    local python home
    python=$(python3 -c 'import sys; print(sys.executable)')
    packaging/wheels.py "$archives" "$scratch/pypi/simple/checkpointd" >/dev/null
    # The list of a folder is the page that such an index has.
    "$python" -u -m http.server --bind 127.0.0.1 --directory "$scratch/pypi" 0 >"$scratch/pypi.out" 2>&1 &
    for _ in $(seq 50); do
        pypi=$(sed -n 's/^Serving HTTP on 127.0.0.1 port \([0-9]*\) .*/\1/p' "$scratch/pypi.out")
        [ -z "$pypi" ] || break
        sleep 0.1
    done
    [ -n "$pypi" ] || fail "the index does not answer: $(cat "$scratch/pypi.out")"
    path=$(dirname "$python"):/usr/bin:/bin
    home=$(person)
    "$python" -m venv "$home/venv" || { echo 'skipped: pip, because Python has no venv'; return 0; }
    as "$home" "$home/venv/bin/pip" install --quiet checkpointd
    meet "$home" "$home/.cache" "$home/venv/bin/checkpointd"
    # uv is a wheel that carries a program, as this one is.
    if [ ! -x "$tools/uv-0.13.9/bin/uvx" ] && ! "$home/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$tools/uv-0.13.9" uv==0.13.9; then
        echo 'skipped: uvx, because uv cannot be installed'
        return 0
    fi
    path=$tools/uv-0.13.9/bin:$path
    home=$(person)
    meet "$home" "$home/.cache" uvx checkpointd
    as "$home" uv tool install --quiet checkpointd
    meet "$home" "$home/.cache" "$home/.local/bin/checkpointd"
}

# Each with a folder and servers of its own, so that both can run at the same time.
part() (
    scratch=$scratch/$1
    mkdir "$scratch"
    trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 0; }
    "with_$1"
)
part npm &
beside=$!
part python3
wait "$beside"
