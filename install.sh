#!/bin/sh
# Builds checkpointd and its hook client from this clone, installs both with manual pages, and says what comes next.
#
#   ./install.sh [--prefix FOLDER] [--profile NAME]
#
#   --prefix FOLDER   default: cargo's own folder (~/.cargo); programs go to FOLDER/bin
#   --profile NAME    cargo's profile, default: release; dev builds in a fraction of the time, for a slower program
set -eu

say() { printf '%s\n' "$*"; }
fail() { say "error: $1" >&2; [ $# -lt 2 ] || say "hint: $2" >&2; exit 1; }

prefix=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}
profile=release
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) [ $# -gt 1 ] || fail '--prefix needs a folder'; prefix=$2; shift 2 ;;
        --prefix=*) prefix=${1#--prefix=}; shift ;;
        --profile) [ $# -gt 1 ] || fail '--profile needs a name'; profile=$2; shift 2 ;;
        --profile=*) profile=${1#--profile=}; shift ;;
        -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail "unknown argument $1" './install.sh --help' ;;
    esac
done

# The programs' folder ends up in agents' settings, so it must mean the same from everywhere.
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
cd "$(dirname "$0")"
command -v cargo >/dev/null 2>&1 || fail 'cargo is not there' 'install a Rust toolchain, 1.95 or newer'
command -v cc >/dev/null 2>&1 || fail 'no C compiler is there' 'install gcc or clang; on macOS: xcode-select --install'
command -v git >/dev/null 2>&1 || say 'warning: git is not there; checkpoints will not know what has changed'

# `--force`: an older build of the same version is replaced too.
cargo install --locked --force --path . --root "$prefix" --profile "$profile"
"$prefix/bin/checkpointd" man "$prefix/share/man/man1" >/dev/null

say ''
say "installed  $prefix/bin/checkpointd and checkpointd-hook"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) say "warning    $prefix/bin is not on your PATH" ;;
esac
say 'next       checkpointd init      (hooks for the agents that are here)'
say '           checkpointd doctor    (is all well?)'
