#!/bin/sh
# Builds a Debian package from the programs in target/release, with manual pages, completions, and systemd user units.
# Needs cargo-deb.
#
#   packaging/deb.sh [OUTPUT]          default: target/debian
set -eu
cd "$(dirname "$0")/.."

packaging/stage.sh "${CARGO_TARGET_DIR:-target}/release/checkpointd" target/package /usr/bin/checkpointd
cargo deb --no-build --no-strip ${1:+--output "$1"}
