#!/bin/sh
# Builds a Debian package from the programs in target/dist, with manual pages, completions, and systemd user units.
# Needs cargo-deb.
#
#   packaging/deb.sh [OUTPUT]          default: target/debian
set -eu
cd "$(dirname "$0")/.."

packaging/stage.sh "${CARGO_TARGET_DIR:-target}/dist/checkpointd" target/package /usr/bin/checkpointd
cargo deb --profile dist --no-build --no-strip ${1:+--output "$1"}
