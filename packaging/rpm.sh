#!/bin/sh
# Builds an RPM package from the programs in target/dist, with the same files as the Debian package.
# Needs cargo-generate-rpm.
#
#   packaging/rpm.sh [OUTPUT]          default: target/generate-rpm
set -eu
cd "$(dirname "$0")/.."

packaging/stage.sh "${CARGO_TARGET_DIR:-target}/dist/checkpointd" target/package /usr/bin/checkpointd
cargo generate-rpm --profile dist ${1:+--output "$1"}
