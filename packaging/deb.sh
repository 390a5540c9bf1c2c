#!/bin/sh
# Builds a Debian package from the programs in target/release, with manual pages, completions, and systemd user units.
# Needs cargo-deb.
#
#   packaging/deb.sh [OUTPUT]          default: target/debian
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
program=$target/release/checkpointd
stage=target/package
if [ ! -x "$program" ]; then
    echo "error: $program not found" >&2
    echo 'hint: run `cargo build --release --locked` first' >&2
    exit 1
fi
rm -rf "$stage"
mkdir -p "$stage/units"

"$program" man "$stage/man" >/dev/null
# A completion script contains the path of the program that wrote it; replace it with the path in the package.
absolute=$(cd "$(dirname "$program")" && pwd -P)/checkpointd
for shell in bash zsh fish; do
    "$program" completions "$shell" | sed "s|$absolute|/usr/bin/checkpointd|g" >"$stage/$shell"
    ! grep -qF "$absolute" "$stage/$shell" || { echo "error: the completions for $shell contain $absolute" >&2; exit 1; }
done

# The units must work for every user, so replace the home folder with %h, systemd's name for it.
home=/home/user
env -i HOME=$home PATH="$PATH" "$program" service install --print |
    sed "s|$absolute|/usr/bin/checkpointd|g; s|$home|%h|g" |
    awk -v folder="$stage/units" '/^# / { file = folder "/" substr($0, match($0, /[^\/]*$/)); next } { print > file }'
for unit in checkpointd.socket checkpointd.service; do
    [ -s "$stage/units/$unit" ] || { echo "error: $unit is missing or empty" >&2; exit 1; }
    ! grep -qF "$absolute" "$stage/units/$unit" || { echo "error: $unit contains $absolute" >&2; exit 1; }
done

cargo deb --no-build --no-strip ${1:+--output "$1"}
