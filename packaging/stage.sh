#!/bin/sh
# Writes manual pages, completions, and systemd user units for a package into a folder.
#
#   packaging/stage.sh PROGRAM FOLDER [INSTALLED]
#
#   PROGRAM    the built checkpointd; RUNNER, if set, runs it (for example qemu-aarch64-static)
#   FOLDER     gets man/, bash, zsh, fish, and, if INSTALLED is given, units/
#   INSTALLED  the path of the program in the package, which completions and units name
set -eu

program=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
stage=$2
installed=${3:-checkpointd}
[ -x "$program" ] || { echo "error: $program not found" >&2; echo 'hint: run `cargo build --profile dist --all-features --locked --package checkpointd --package checkpointd-fleet` first' >&2; exit 1; }
rm -rf "$stage"
mkdir -p "$stage"

run() { ${RUNNER:-} "$program" "$@"; }

run completions --man "$stage/man" >/dev/null
# A completion script contains the path of the program that wrote it; replace it with the path in the package.
for shell in bash zsh fish; do
    run completions "$shell" | sed "s|$program|$installed|g" >"$stage/$shell"
    ! grep -qF "$program" "$stage/$shell" || { echo "error: the completions for $shell contain $program" >&2; exit 1; }
done
[ $# -gt 2 ] || exit 0

# The units must work for every user, so replace the home folder with %h, systemd's name for it.
mkdir "$stage/units"
home=/home/user
env -i HOME=$home PATH="$PATH" ${RUNNER:-} "$program" daemon service install --print |
    sed "s|$program|$installed|g; s|$home|%h|g" |
    awk -v folder="$stage/units" '/^# / { file = folder "/" substr($0, match($0, /[^\/]*$/)); next } { print > file }'
for unit in checkpointd.socket checkpointd.service; do
    [ -s "$stage/units/$unit" ] || { echo "error: $unit is missing or empty" >&2; exit 1; }
    ! grep -qF "$program" "$stage/units/$unit" || { echo "error: $unit contains $program" >&2; exit 1; }
done
