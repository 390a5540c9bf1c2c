#!/bin/sh
# Builds checkpointd and its hook client from this clone, installs both with manual pages, and says what comes next.
#
#   ./install.sh [--prefix FOLDER]     default: cargo's own folder (~/.cargo); programs go to FOLDER/bin
set -eu

say() { printf '%s\n' "$*"; }
fail() { say "error: $1" >&2; [ $# -lt 2 ] || say "hint: $2" >&2; exit 1; }

prefix=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) [ $# -gt 1 ] || fail '--prefix needs a folder'; prefix=$2; shift 2 ;;
        --prefix=*) prefix=${1#--prefix=}; shift ;;
        -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail "unknown argument $1" './install.sh --help' ;;
    esac
done

cd "$(dirname "$0")"
command -v cargo >/dev/null 2>&1 || fail 'cargo is not there' 'install a Rust toolchain, 1.95 or newer'
command -v git >/dev/null 2>&1 || say 'warning: git is not there; checkpoints will not know what has changed'

cargo install --locked --path . --root "$prefix"
"$prefix/bin/checkpointd" man "$prefix/share/man/man1" >/dev/null

say ''
say "installed  $prefix/bin/checkpointd and checkpointd-hook"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) say "warning    $prefix/bin is not on your PATH" ;;
esac
say 'next       checkpointd init      (hooks for the agents that are here)'
say '           checkpointd doctor    (is all well?)'
