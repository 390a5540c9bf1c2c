#!/usr/bin/env bash
# Installs the archive of a release with install.sh, has a session work with it, and removes it. An archive for another
# processor is run by qemu-user (package qemu-user-static), whatever programs the programs start themselves.
#
#   tests/archive.sh checkpointd-TARGET.tar.gz
set -euo pipefail

fail() { echo "error: $1" >&2; exit 1; }

archive=$(realpath -- "${1:?usage: tests/archive.sh checkpointd-TARGET.tar.gz}")
cd "$(dirname "$0")/.."
name=$(basename "$archive" .tar.gz)
target=${name#checkpointd-}
processor=${target%%-*}

scratch=$(mktemp -d)
daemon=
finish() { [ -z "$daemon" ] || "$daemon" daemon stop >/dev/null 2>&1 || true; rm -rf "$scratch"; }
trap finish EXIT
tar -C "$scratch" -xzf "$archive"

# A program of another processor must also be able to start itself. The kernel runs an emulator for it if told how, and in a
# namespace of its own nobody else is told.
if ! "$scratch/$name/checkpointd" --version >/dev/null 2>&1; then
    [ -z "${CHECKPOINTD_EMULATED:-}" ] || fail "the kernel does not run programs for $processor"
    emulator=$(command -v "qemu-$processor-static") || fail "qemu-$processor-static is not installed (package qemu-user-static)"
    echo "-- $($emulator --version | head -n 1)"
    rm -rf "$scratch"
    # The first bytes of a program of this processor: an ELF file, its class, and its machine.
    export CHECKPOINTD_EMULATED=$emulator
    exec unshare --user --map-root-user --mount bash -euc '
        mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
        case $2 in aarch64) machine=b7 ;; x86_64) machine=3e ;; *) echo "error: no emulation of $2" >&2; exit 1 ;; esac
        magic="\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x$machine\\x00"
        mask="\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff"
        echo ":emulated:M::$magic:$mask:$CHECKPOINTD_EMULATED:F" > /proc/sys/fs/binfmt_misc/register
        exec tests/archive.sh "$1"' bash "$archive" "$processor"
fi

echo '-- installation'
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
mkdir -p "$scratch/releases/download/v$version" "$scratch/source" "$scratch/machine" "$scratch/home/.claude" "$scratch/project"
ln -s "$archive" "$scratch/releases/download/v$version/$name.tar.gz"
cp "$archive.sha256" "$scratch/releases/download/v$version/$name.tar.gz.sha256"
cp install.sh Cargo.toml "$scratch/source/"
# What a machine of this kind says of itself.
case $target in *linux*) machine="Linux $processor" ;; aarch64*) machine='Darwin arm64' ;; *) machine="Darwin $processor" ;; esac
printf '#!/bin/sh\necho "%s"\n' "$machine" >"$scratch/machine/uname"
chmod +x "$scratch/machine/uname"
unset CHECKPOINTD_HOME CHECKPOINTD_SOCKET XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME CLAUDE_CONFIG_DIR
# Emulated, or on a busy machine, a stop may take its time.
export HOME=$scratch/home CHECKPOINTD_STOP_WAIT_MS=60000 CHECKPOINTD_PLAIN_WAIT_MS=60000
release() { PATH=$scratch/machine:$PATH CHECKPOINTD_RELEASES=file://$scratch/releases "$scratch/source/install.sh" --prefix "$HOME/.local" "$@"; }
release | grep -q "installed  checkpointd $version (release)" || fail 'install.sh did not take the release'
programs=$HOME/.local/bin
"$programs/checkpointd" --version

echo '-- demo'
"$programs/checkpointd" demo | grep 'stop:'

echo '-- a session'
mkdir -p "$HOME/.config/checkpointd"
echo 'min_turn: 1ms' >"$HOME/.config/checkpointd/config.yml"
"$programs/checkpointd" init --agent claude >/dev/null
daemon=$programs/checkpointd
git -C "$scratch/project" init --quiet
echo '[project]' >"$scratch/project/pyproject.toml"
git -C "$scratch/project" add .
git -C "$scratch/project" -c user.name=a -c user.email=a@localhost commit --quiet --message=Begin
call() { # HOOK FIELDS: a hook call of a session, as the agent makes it
    printf '{"session_id":"tried","hook_event_name":"%s","cwd":"%s","transcript_path":"%s"%s}' "$1" "$scratch/project" "$scratch/none" "$2" |
        (cd "$scratch/project" && "$programs/checkpointd-hook" claude)
}
call SessionStart ',"source":"startup"' >/dev/null
call UserPromptSubmit ',"prompt":"Write app.py"' >/dev/null
echo 'print(1)' >"$scratch/project/app.py"
call PostToolUse ",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$scratch/project/app.py\",\"content\":\"print(1)\"},\"tool_response\":{}" >/dev/null
said=$(call Stop ',"stop_hook_active":false')
case $said in *'[checkpointd]'*) ;; *) fail "the stop was answered with: $said" ;; esac
"$programs/checkpointd" status
"$programs/checkpointd" audit
"$programs/checkpointd" journal verify
release --uninstall | tail -n 1
left=$(find "$HOME/.local/bin" "$HOME/.claude" -type f 2>/dev/null || true)
[ -z "$left" ] || fail "install.sh --uninstall left $left"
echo "-- $name works"
