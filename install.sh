#!/bin/sh
# Builds checkpointd and its hook client from this clone, and installs both with manual pages.
#
#   ./install.sh [--prefix FOLDER] [--profile NAME]
#
#   --prefix FOLDER   install to FOLDER/bin and FOLDER/share; default: cargo's folder (~/.cargo)
#   --profile NAME    cargo profile; default: release. `dev` builds faster, but the programs are slower
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

# The path ends up in agents' settings, so it must be absolute.
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
cd "$(dirname "$0")"
command -v cargo >/dev/null 2>&1 || fail 'cargo not found' 'install a Rust toolchain, 1.95 or newer'
command -v cc >/dev/null 2>&1 || fail 'no C compiler found' 'install gcc or clang; on macOS: xcode-select --install'
command -v git >/dev/null 2>&1 || say 'warning: git not found; checkpoints cannot say which files changed'

# `--force` also replaces another build of the same version.
cargo install --locked --force --path . --root "$prefix" --profile "$profile"
"$prefix/bin/checkpointd" man "$prefix/share/man/man1" >/dev/null

say ''
say "installed  $prefix/bin/checkpointd and checkpointd-hook"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) say "warning    $prefix/bin is not on your PATH" ;;
esac
say 'next       checkpointd init      (add hooks to the agents found)'
say '           checkpointd doctor    (check the installation)'
