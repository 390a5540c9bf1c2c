#!/usr/bin/env bash
# Meets checkpointd as a person does on an empty Debian: with node (npx, npm), with Python (uvx, uv, pipx, pip), with neither
# (`curl .. | sh`), and with a package of Debian. From nothing to the first finding of one's own, with a stopwatch; then `init`, a
# turn of a real agent with its checkpoint, `uninstall`, and nothing is left. At last each step fails once: one sentence, and
# nothing half done. The steps of action.yml are taken in such a system, too. The registries are on loopback; while it is tried there is no other network.
#
#   tests/minute.sh ARCHIVES [PACKAGE.deb]
#
#   ARCHIVES  the folder of checkpointd-TARGET.tar.gz, as packaging/archive.sh writes it
#
# Needs root and a Debian. The empty systems come from its mirror once and are kept in a cache. Passes with a reason where they
# or the registries' programs cannot be had.
set -euo pipefail
archives=$(cd "${1:?usage: tests/minute.sh ARCHIVES [PACKAGE.deb]}" && pwd)
deb=${2:+$(realpath -- "$2")}
cd "$(dirname "$0")/.."

fail() { echo "error: $1" >&2; exit 1; }
skip() { echo "skipped: the first minute, because $1"; exit 0; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/checkpointd-minute

# What comes from mirrors and registries, once for a machine.
prepare() {
    [ "$(uname -s)" = Linux ] && [ "$(id -u)" = 0 ] || skip 'only root on Linux can make an empty system'
    . /etc/os-release
    [ "${ID:-}" = debian ] && [ -n "${VERSION_CODENAME:-}" ] || skip 'this is no Debian, so its programs may not run in one'
    unshare --net --mount true 2>/dev/null || skip 'namespaces are not permitted'
    for tool in npm node python3 openssl curl ip; do command -v $tool >/dev/null || skip "$tool is not installed"; done
    if ! command -v mmdebstrap >/dev/null && ! apt-get install -y -qq mmdebstrap >/dev/null 2>&1; then
        { apt-get update -qq && apt-get install -y -qq mmdebstrap; } >/dev/null 2>&1 || skip 'mmdebstrap cannot be installed'
    fi
    mkdir -p "$cache"
    exec 8>"$cache/lock"
    flock 8
    system "bare-$VERSION_CODENAME" ca-certificates,curl,git,jq,openssh-client &
    local plain=$!
    system "python-$VERSION_CODENAME" ca-certificates,git,pipx,python3-venv &
    local python=$! tools=$cache/tools-1
    if [ ! -e "$tools/whole" ]; then
        rm -rf "$tools"
        mkdir "$tools"
        echo '{"private": true, "overrides": {"node-fetch": "2.7.0"}}' >"$tools/package.json"
        (cd "$tools" && npm install --silent --no-audit --no-fund verdaccio@6.8.0 npm@11.19.1 "node-linux-$(node -p process.arch)@22.23.3") &&
            python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target "$tools/uv" uv==0.13.9 && touch "$tools/whole"
    fi || true
    wait $plain && wait $python || skip 'no Debian can be fetched'
    [ -e "$tools/whole" ] || skip 'npm or pip cannot install the registries'
    agents=$(tests/agents/install.sh 2>/dev/null) || skip 'the agents cannot be installed'
    plain=$cache/bare-$VERSION_CODENAME python=$cache/python-$VERSION_CODENAME
    flock --unlock 8
    export MINUTE_PLAIN=$plain MINUTE_PYTHON=$python MINUTE_TOOLS=$tools MINUTE_AGENTS=$agents
}

system() { # NAME PACKAGES
    [ ! -e "$cache/$1.whole" ] || return 0
    rm -rf "${cache:?}/$1"
    mmdebstrap --quiet --variant=minbase --include="$2" "${1#*-}" "$cache/$1" >/dev/null 2>&1 && touch "$cache/$1.whole"
}

if [ -z "${MINUTE_PLAIN:-}" ]; then
    prepare
    # Mounts and servers end with this namespace, and nothing but loopback is reached from it.
    exec unshare --net --mount --pid --fork --kill-child --mount-proc sh -c 'ip link set lo up && exec "$@"' sh "$0" "$archives" ${deb:+"$deb"}
fi

scratch=$(mktemp -d)
mount -t tmpfs tmpfs "$scratch"
finish() {
    local status=$?
    kill $(jobs -p) 2>/dev/null || true
    umount --recursive --lazy "$scratch"
    rmdir "$scratch"
    exit $status
}
trap finish EXIT
python=$(python3 -c 'import sys; print(sys.executable)')
node=$MINUTE_TOOLS/node_modules/.bin

port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
answers() { # PORT: waits for a server
    local _
    for _ in $(seq 100); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null || return 0
        sleep 0.1
    done
    fail "no server answers: $(tail -n 3 "$scratch"/*.log)"
}

# -- the registries and the releases
npm=$(port) pypi=$(port) web=$(port)
cat >"$scratch/verdaccio.yaml" <<END
storage: $scratch/storage
auth: { htpasswd: { file: $scratch/htpasswd } }
packages: { '**': { access: \$all, publish: \$all } }
max_body_size: 500mb
log: { type: file, path: $scratch/npm.log, level: warn }
END
"$node/node" "$MINUTE_TOOLS/node_modules/verdaccio/bin/verdaccio" --config "$scratch/verdaccio.yaml" --listen "127.0.0.1:$npm" >"$scratch/npm.log" 2>&1 &
packaging/wheels.py "$archives" "$scratch/pypi/simple/checkpointd" >/dev/null &
wheels=$!
packaging/npm.sh "$archives" "$scratch/npm" >/dev/null
wait $wheels
"$python" -m http.server --bind 127.0.0.1 --directory "$scratch/pypi" "$pypi" >"$scratch/pypi.log" 2>&1 &
mkdir -p "$scratch/web/releases/latest"
cp install.sh "$scratch/web/"
ln -s "$archives" "$scratch/web/releases/latest/download"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>/dev/null
"$python" - "$scratch" "$web" >"$scratch/web.log" 2>&1 <<'END' &
import functools, http.server, ssl, sys
scratch, port = sys.argv[1:]
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), functools.partial(http.server.SimpleHTTPRequestHandler, directory=scratch + "/web"))
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(scratch + "/cert.pem", scratch + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
END
answers "$npm"
# A registry without users takes any word.
echo "//127.0.0.1:$npm/:_authToken=none" >"$scratch/npmrc"
# Those of platforms first: the last one needs them.
for package in "$scratch"/npm/checkpointd-*-*.tgz "$scratch/npm/checkpointd-$version.tgz"; do
    "$node/node" "$MINUTE_TOOLS/node_modules/npm/bin/npm-cli.js" publish --silent --userconfig "$scratch/npmrc" --registry "http://127.0.0.1:$npm/" "$package" >"$scratch/said" 2>&1 ||
        fail "npm publish $package: $(cat "$scratch/said")"
done
! tar -xzOf "$scratch/npm/checkpointd-$version.tgz" package/package.json | grep -qE '"scripts"|"dependencies"' || fail 'the npm package has scripts or dependencies'
answers "$pypi"
answers "$web"

# -- an empty system with a person, in whose home folder three agents left something
root=
machine() { # SYSTEM
    local day
    root=$(mktemp -d -p "$scratch")
    mkdir "$root/upper" "$root/work" "$root/system"
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$root/upper,workdir=$root/work" "$root/system"
    root=$root/system
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --make-rslave "$root/dev"
    for folder in "$MINUTE_TOOLS" "${MINUTE_AGENTS%/node_modules/.bin}"; do
        mkdir -p "$root$folder"
        mount --bind "$folder" "$root$folder"
        mount -o remount,bind,ro "$root$folder"
    done
    cp "$scratch/cert.pem" "$root/etc/cert.pem"
    home=/home/person
    mkdir -p "$root$home/code/shop/src" "$root$home/code/limiter" "$root$home/.claude/projects/shop" "$root$home/.codex/sessions/2026/11/24" \
        "$root$home/.gemini/tmp/shop/chats"
    day=$(date --date='2 days ago' +%F)
    left() { sed "s|HOME|$home|g; s/2026-11-2[0-9]T/${day}T/g" "$1" >"$root$home/$2"; }
    left tests/data/readme/claude.jsonl .claude/projects/shop/7c1d9e52-0a6b-4f7e-9d3a-1b2c3d4e5f60.jsonl
    left tests/data/readme/codex.jsonl .codex/sessions/2026/11/24/rollout-2026-11-24T16-00-00-01a20e5c-71d4-7c02-9a55-3f6f0c1d2e3b.jsonl
    left "$(ls tests/data/fixtures/gemini/h-normal.transcripts/*.jsonl)" .gemini/tmp/shop/chats/session-2026-11-21T21-19-5c9c151e.jsonl
    echo '[project]' >"$root$home/code/shop/pyproject.toml"
    inside git -C "$home/code/shop" init --quiet
    inside git -C "$home/code/shop" add pyproject.toml
    inside git -C "$home/code/shop" -c user.name=a -c user.email=a@localhost commit --quiet --message=Begin
}
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# Runs a command there, as the person would.
inside() {
    chroot "$root" /usr/bin/env -i --chdir="$home" PATH="$path" HOME="$home" LANG=C.UTF-8 npm_config_registry="http://127.0.0.1:$npm/" \
        npm_config_update_notifier=false PIP_INDEX_URL="http://127.0.0.1:$pypi/simple/" UV_DEFAULT_INDEX="http://127.0.0.1:$pypi/simple/" \
        UV_PYTHON_DOWNLOADS=never PIP_DISABLE_PIP_VERSION_CHECK=1 CURL_CA_BUNDLE=/etc/cert.pem CHECKPOINTD_STOP_WAIT_MS=60000 \
        CHECKPOINTD_PLAIN_WAIT_MS=60000 CHECKPOINTD_RELEASES="${releases:-https://127.0.0.1:$web/releases}" "$@"
}
# The files of the person, with their contents, but for what agents and package managers keep of themselves.
listing() {
    (cd "$root$home" && find . \( -path './.claude*' -o -path ./.npm -o -path ./.cache -o -path ./.local/share/uv -o -path '*/pipx' \) -prune -o -type f -exec sha256sum {} + | sort -k 2)
    ls -d "$root$home"/.claude/settings.json "$root$home"/.local/bin/* "$root$home"/.local/s*/checkpointd "$root$home/.config/checkpointd" 2>/dev/null || true
}
processes() { local one; for one in /proc/[0-9]*; do [ "$(readlink "$one/root")" != "$root" ] || cat "$one/comm"; done; }

# The first finding; `init`; with a turn, one of Claude Code and its checkpoint; `uninstall`; and what is left.
meet() { # TURN RUN CACHE REMOVE LINE..: how it is run then, what of the home folder may be deleted, how to remove it, what a person types
    local turn=$1 run=$2 cache=$3 remove=$4 before size began line took hook told model name=${*: -1}
    shift 4
    before=$(listing) size=$(du --summarize --block-size=1M "${root%/*}/upper" | cut -f 1) began=${EPOCHREALTIME/./}
    for line in "$@"; do inside sh -c "$line" >"$scratch/$kind" 2>&1 || fail "$line: $(cat "$scratch/$kind")"; done
    took=$(((${EPOCHREALTIME/./} - began) / 1000)) size=$(($(du --summarize --block-size=1M "${root%/*}/upper" | cut -f 1) - size))
    grep -q '&& claude --resume' "$scratch/$kind" && grep -q '^5 turns in 3 sessions' "$scratch/$kind" || fail "$name: nothing was found: $(cat "$scratch/$kind")"
    printf '%6d.%d s %5d %8d MB  %s\n' $((took / 1000)) $((took % 1000 / 100)) $# "$size" "$(IFS=';'; echo "$*" | sed 's|;|; |g; s|https://127[^ ]*/|https://../|')"
    [ "$took" -lt 60000 ] && [ $# -le 3 ] || fail "$name: more than a minute or three commands"
    # It only reads: in a home folder that cannot be written to it says the same, and nothing stays.
    left=$(processes; ls -d "$root$home"/.local/s*/checkpointd 2>/dev/null || true)
    [ -z "$left" ] || fail "$name: lookback left $left"

    mkdir -p "$root$home/.config/checkpointd"
    echo 'min_turn: 1ms' >"$root$home/.config/checkpointd/config.yml"
    inside sh -c "$run --version" | grep -qx "checkpointd $version" || fail "$name: --version"
    inside sh -c "$run init --agent claude" >"$scratch/$kind" || fail "$name: init: $(cat "$scratch/$kind")"
    rm -rf "${root:?}$home/$cache"
    hook=$(sed -n 's/.*"command": "\[ -x \([^ ]*\) \].*/\1/p' "$root$home/.claude/settings.json" | sort -u)
    inside test -x "$hook" || fail "$name: without $cache the hooks are dead: $hook"
    if [ -n "$turn" ]; then
        rm -f "$scratch/$kind.requests"
        : >"$scratch/$kind.port"
        "$python" tests/scripted-model.py "$home/code/shop" "$scratch/$kind.requests" >"$scratch/$kind.port" &
        model=$!
        until [ -s "$scratch/$kind.port" ]; do sleep 0.1; done
        inside ANTHROPIC_API_KEY=sk-ant-dummy CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 \
            ANTHROPIC_BASE_URL="http://127.0.0.1:$(cat "$scratch/$kind.port")" \
            sh -c "cd code/shop && exec timeout 120 $MINUTE_AGENTS/claude -p 'Write app.py' --allowedTools Write" \
            </dev/null >"$scratch/$kind" 2>&1 || fail "$name: Claude Code ended with: $(cat "$scratch/$kind")"
        kill $model
        told=$(tail -n 1 "$scratch/$kind.requests" | grep -o '\[checkpointd\] Not verified' | wc -l)
        [ "$told" = 1 ] || fail "$name: the model of Claude Code was told $told times"
        rm "$root$home/code/shop/app.py"
    else
        echo "{\"session_id\":\"met\",\"hook_event_name\":\"UserPromptSubmit\",\"cwd\":\"$home/code/shop\",\"prompt\":\"Go\"}" | inside "$hook" claude || fail "$name: the hook fails"
    fi
    for _ in $(seq 50); do ! inside "${hook%-hook}" daemon status >"$scratch/$kind" 2>&1 || break; sleep 0.1; done
    inside "${hook%-hook}" daemon status >/dev/null 2>&1 || fail "$name: the hooks started no daemon: $(cat "$scratch/$kind")"
    inside "${hook%-hook}" uninstall --yes --purge >"$scratch/$kind" 2>&1 || fail "$name: uninstall: $(cat "$scratch/$kind")"
    [ -z "$remove" ] || inside sh -c "$remove" >"$scratch/$kind" 2>&1 || fail "$remove: $(cat "$scratch/$kind")"
    diff <(echo "$before") <(listing) >"$scratch/$kind" || fail "$name: this is left or gone: $(cat "$scratch/$kind")"
    [ -z "$(processes)" ] || fail "$name: this is left: $(processes)"
}

# A failure: a sentence that says so, and nothing half done.
fails() { # SENTENCE COMMAND..
    local sentence=$1 before
    shift
    before=$(listing)
    ! inside "$@" >"$scratch/$kind" 2>&1 || fail "$* does not fail: $(cat "$scratch/$kind")"
    [ "$(grep -cE "$sentence" "$scratch/$kind")" = 1 ] && [ "$(grep -c '^error: ' "$scratch/$kind")" -le 1 ] || fail "$* says: $(cat "$scratch/$kind")"
    diff <(echo "$before") <(listing) >"$scratch/$kind" || fail "$*, which fails, left: $(cat "$scratch/$kind")"
}
# In a home folder that cannot be written to, one can look back, `init` says what is wrong, and so does an installation.
read_only() { # RUN [SENTENCE COMMAND]..: the program, if it is there, and installations
    local run=$1
    shift
    mount --bind "$root$home" "$root$home"
    mount -o remount,bind,ro "$root$home"
    inside sh -c "$run lookback" >"$scratch/$kind" 2>&1 && grep -q '&& claude --resume' "$scratch/$kind" || fail "$run lookback, read-only: $(cat "$scratch/$kind")"
    fails '^error: .*(Read-only|cannot be)' sh -c "$run init --agent claude"
    while [ $# != 0 ]; do fails "$1" sh -c "$2"; shift 2; done
    umount "$root$home"
}

with_node() {
    machine "$MINUTE_PLAIN"
    path=$node:$path
    meet turn 'npx --yes checkpointd' .npm '' 'npx --yes checkpointd lookback'
    meet '' npm/bin/checkpointd .npm 'cp -r npm /tmp; npm uninstall --silent --global --prefix npm checkpointd; rm -r npm' \
        'npm install --silent --global --prefix npm checkpointd' 'npm/bin/checkpointd lookback'
    read_only /tmp/npm/bin/checkpointd 'npm error code (EROFS|ENOENT)' 'npx --yes checkpointd lookback'
    fails 'npm error (code|network request)' env npm_config_fetch_retries=0 unshare --net npx --yes checkpointd lookback
    # Without its programs it says so in a sentence, and its hook client ends well.
    find "$root/tmp/npm" -name @checkpointd -prune -exec rm -r {} +
    fails '^error: @checkpointd/.* is not installed' /tmp/npm/bin/checkpointd --version
    inside /tmp/npm/bin/checkpointd-hook claude </dev/null 2>/dev/null || fail 'the hook client of a package without programs fails'
    rm -rf "${root:?}$home/.npm"
    for package in "$scratch"/storage/@checkpointd/*/*.tgz; do echo x >>"$package"; done
    # npm takes a dependency that is optional and damaged for one that there is not.
    fails '^error: @checkpointd/.* is not installed|EINTEGRITY' npx --yes checkpointd lookback
}

with_python() {
    machine "$MINUTE_PYTHON"
    path=$MINUTE_TOOLS/uv/bin:$path
    meet turn 'uvx checkpointd' .cache '' 'uvx checkpointd lookback'
    meet '' .local/bin/checkpointd .cache 'uv tool uninstall checkpointd' 'uv tool install checkpointd' '.local/bin/checkpointd lookback'
    meet '' .local/bin/checkpointd .cache 'pipx uninstall checkpointd' 'pipx install checkpointd' '.local/bin/checkpointd lookback'
    meet '' venv/bin/checkpointd .cache 'mv venv /tmp' 'python3 -m venv venv' 'venv/bin/pip install checkpointd' 'venv/bin/checkpointd lookback'
    fails '^ERROR: No matching distribution' unshare --net /tmp/venv/bin/python3 -m pip install --force-reinstall --retries 0 checkpointd
    fails '^ERROR: No matching distribution' /tmp/venv/bin/python3 -m pip install --force-reinstall --index-url "http://127.0.0.1:$pypi/other/" checkpointd
    fails '^ERROR: THESE PACKAGES DO NOT MATCH' /tmp/venv/bin/python3 -m pip install --force-reinstall --no-cache-dir --index-url "http://127.0.0.1:$pypi/changed/" checkpointd
    fails 'No matching distribution' unshare --net pipx install --pip-args=--retries=0 checkpointd
    fails 'No matching distribution' pipx install --index-url "http://127.0.0.1:$pypi/other/" checkpointd
    fails 'DO NOT MATCH' pipx install --index-url "http://127.0.0.1:$pypi/changed/" --pip-args=--no-cache-dir checkpointd
    fails 'No solution found' uvx --default-index "http://127.0.0.1:$pypi/other/" checkpointd lookback
    rm -rf "${root:?}$home/.cache"
    fails '^error: ' env UV_HTTP_RETRIES=0 unshare --net uvx checkpointd lookback
    fails 'Hash mismatch' uvx --default-index "http://127.0.0.1:$pypi/changed/" checkpointd lookback
    read_only /tmp/venv/bin/checkpointd 'Read-only file system' 'uvx checkpointd lookback' 'Read-only file system' 'pipx install checkpointd'
}

with_neither() {
    machine "$MINUTE_PLAIN"
    local piped="curl --proto '=https' -fsSL https://127.0.0.1:$web/install.sh | sh" program=$root/tmp/program
    meet turn .cargo/bin/checkpointd .cache "$piped -s -- --uninstall" "$piped"
    cp install.sh "$root/tmp/"
    mkdir "$root/tmp/other"
    printf '#!/bin/sh\necho Linux riscv64\n' >"$root/tmp/other/uname"
    chmod +x "$root/tmp/other/uname"
    fails '^error: .* cannot be fetched' unshare --net sh /tmp/install.sh
    fails '^error: there is no release for Linux riscv64' env PATH="/tmp/other:$path" sh /tmp/install.sh
    fails '^error: .* does not have its checksum' env CHECKPOINTD_RELEASES="https://127.0.0.1:$web/changed" sh /tmp/install.sh
    tar -C "$root/tmp" -xzf "$archives/$archive" "${archive%.tar.gz}/checkpointd" "${archive%.tar.gz}/checkpointd-hook"
    mv "$root/tmp/${archive%.tar.gz}" "$program"
    if [ -e "$scratch/web/old" ]; then
        fails "^error: the release does not run on this system: .*GLIBC_2.99' not found" env CHECKPOINTD_RELEASES="https://127.0.0.1:$web/old" sh /tmp/install.sh
    fi
    read_only /tmp/program/checkpointd '^error: .*/.cargo cannot be written to' 'sh /tmp/install.sh'
    (machine "$MINUTE_PLAIN"; mkdir "$root/tmp/program"; cp "$program"/* "$root/tmp/program/"; action /tmp/program)
    [ -n "$deb" ] || return 0
    cp "$deb" "$root/tmp/checkpointd.deb"
    meet turn checkpointd .cache 'dpkg --purge checkpointd' 'dpkg --install /tmp/checkpointd.deb' 'checkpointd lookback'
    left=$(find "$root"/usr "$root"/etc "$root"/var/lib/systemd -iname '*checkpointd*')
    [ -z "$left" ] || fail "the package left $left"
}

# The steps of action.yml, as they stand there, on a commit that its author's machine recorded.
action() { # PROGRAMS
    local name input step status=0
    mkdir "$root/action"
    cp -r action.yml install.sh ci "$root/action/"
    inside sh -ec "cd code/shop; ssh-keygen -qt ed25519 -N '' -f ~/key; ssh-keygen -qt ed25519 -N '' -f ~/other
        git config user.name a; git config user.email a@localhost; echo 'a = 1' > a.py; git add a.py; git commit -qm a
        echo '{\"agent\":\"claude\",\"payload\":{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"x\",\"cwd\":\"/\"}}' | $1/checkpointd journal append
        $1/checkpointd record --notes --key ~/key" >"$scratch/$kind" 2>&1 || fail "a record: $(cat "$scratch/$kind")"
    for key in key other; do
        local -A given=([commit]=HEAD [allowed-signers]='' [key]="$home/$key.pub" [require]=record [token]='')
        local variables=(GITHUB_ACTION_PATH=/action GITHUB_STEP_SUMMARY="$home/$key.summary")
        while read -r name input; do variables+=("$name=${given[$input]}"); done < <(sed -n 's/^        \([A-Z_]*\): ${{ inputs\.\([a-z-]*\) }}$/\1 \2/p' action.yml)
        while IFS= read -r step; do
            inside "${variables[@]}" bash -c "cd code/shop && $step" >"$scratch/$kind" 2>&1 || status=$?
        done < <(sed -n 's/^      run: //p' action.yml)
        [ "$key" = other ] || [ "$status" = 0 ] || fail "the action: $(cat "$scratch/$kind")"
    done
    [ "$status" != 0 ] || fail 'the action accepts a record by another key'
    grep -q '| unknown | `a.py` |' "$root$home/key.summary" && grep -q 'Refused' "$root$home/other.summary" || fail "the action says: $(cat "$root$home"/*.summary)"
}

# Releases and indexes in which something is wrong.
case $(uname -m) in x86_64 | aarch64) archive=checkpointd-$(uname -m)-unknown-linux-musl.tar.gz ;; *) fail 'there are no releases for this machine' ;; esac
mkdir -p "$scratch/web/changed/latest/download" "$scratch/pypi/other/checkpointd" "$scratch/pypi/changed/checkpointd" "$scratch/unpacked"
ln -s "$archives/$archive" "$scratch/web/changed/latest/download/"
printf '%064d  %s\n' 0 "$archive" >"$scratch/web/changed/latest/download/$archive.sha256"
wheel=$(ls "$scratch/pypi/simple/checkpointd" | head -n 1)
echo "<a href=\"/$wheel\">checkpointd-$version-py3-none-macosx_11_0_arm64.whl</a>" >"$scratch/pypi/other/checkpointd/index.html"
sed -i "s|/$wheel|checkpointd-$version-py3-none-macosx_11_0_arm64.whl|" "$scratch/pypi/other/checkpointd/index.html"
echo "<a href=\"/simple/checkpointd/$wheel#sha256=$(printf '%064d' 0)\">$wheel</a>" >"$scratch/pypi/changed/checkpointd/index.html"
# A program that needs a newer C library than there is; those of a release need none.
tar -C "$scratch/unpacked" -xzf "$archives/$archive" "${archive%.tar.gz}/checkpointd"
newest=$(grep -ao 'GLIBC_2\.[0-9][0-9]' "$scratch/unpacked/${archive%.tar.gz}/checkpointd" | sort -uV | tail -n 1 || true)
if [ -n "$newest" ]; then
    sed -i "s/$newest/GLIBC_2.99/" "$scratch/unpacked/${archive%.tar.gz}/checkpointd"
    mkdir -p "$scratch/web/old/latest/download"
    tar -C "$scratch/unpacked" -cf - "${archive%.tar.gz}" | gzip -1 >"$scratch/web/old/latest/download/$archive"
    (cd "$scratch/web/old/latest/download" && sha256sum "$archive" >"$archive.sha256")
fi

printf '%10s %5s %10s\n' 'to finding' lines 'disk'
parts=()
for kind in node python neither; do
    ("with_$kind") >"$scratch/$kind.out" 2>&1 &
    parts+=("$kind $!")
done
failed=
for part in "${parts[@]}"; do
    wait "${part#* }" || failed="$failed ${part% *}"
    cat "$scratch/${part% *}.out"
done
[ -z "$failed" ] || fail "with$failed"
echo 'with nothing left, and one sentence for each failure'
