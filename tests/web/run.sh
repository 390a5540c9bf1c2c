#!/usr/bin/env bash
# Looks at the web page in a real browser: Debian's chromium, installed where it is missing.
# Arguments are words: only scenarios with one of them in their name are run.
# CHECKPOINTD_SCREENSHOTS=docs/images has the README's pictures taken anew.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v chromium >/dev/null; then
    command -v apt-get >/dev/null || { echo 'chromium is not installed, and apt-get is not there to install it'; exit 1; }
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
exec cargo test --quiet --test web -- "$@"
