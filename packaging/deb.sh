#!/bin/sh
# Makes a Debian package of the programs that `cargo build --release` has left, with manual pages,
# completions and systemd's user units. Needs cargo-deb.
#
#   packaging/deb.sh [OUTPUT]          default: target/debian
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
program=$target/release/checkpointd
stage=target/package
if [ ! -x "$program" ]; then
    echo "error: $program is not there" >&2
    echo 'hint: cargo build --release --locked' >&2
    exit 1
fi
rm -rf "$stage"
mkdir -p "$stage/units"

"$program" man "$stage/man" >/dev/null
# A completion script names the program that wrote it, and the one of the package lies elsewhere.
absolute=$(cd "$(dirname "$program")" && pwd -P)/checkpointd
for shell in bash zsh fish; do
    "$program" completions "$shell" | sed "s|$absolute|/usr/bin/checkpointd|g" >"$stage/$shell"
    ! grep -qF "$absolute" "$stage/$shell" || { echo "error: completions for $shell name $absolute" >&2; exit 1; }
done

# The units of a user whose home stands for everybody's: systemd calls it %h.
somebody=/home/somebody
env -i HOME=$somebody PATH="$PATH" "$program" service install --print |
    sed "s|$absolute|/usr/bin/checkpointd|g; s|$somebody|%h|g" |
    awk -v folder="$stage/units" '/^# / { file = folder "/" substr($0, match($0, /[^\/]*$/)); next } { print > file }'
for unit in checkpointd.socket checkpointd.service; do
    [ -s "$stage/units/$unit" ] || { echo "error: no $unit" >&2; exit 1; }
    ! grep -qF "$absolute" "$stage/units/$unit" || { echo "error: $unit names $absolute" >&2; exit 1; }
done

cargo deb --no-build --no-strip ${1:+--output "$1"}
