#!/usr/bin/env bash
# Looks at the web page in a real browser: Debian's chromium, installed where it is missing, as is axe-core from npm.
# Arguments are words: only scenarios with one of them in their name are run.
# CHECKPOINTD_SCREENSHOTS=docs/images has the README's pictures taken anew.
# Passes with a word of explanation only where one of them is not there and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() { printf 'SKIPPED: the web page was not looked at in a browser: %s\n' "$1"; exit 0; }

if ! command -v chromium >/dev/null; then
    command -v apt-get >/dev/null || skip 'chromium is not installed, and apt-get is not there to install it'
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo --non-interactive)
    "${as_root[@]}" apt-get update -qq || skip 'the package lists cannot be fetched'
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null ||
        skip 'chromium cannot be installed'
fi
# What looks for obstacles to people (https://github.com/dequelabs/axe-core), in the version that was tried.
axe=target/axe
if [ ! -f "$axe/node_modules/axe-core/axe.min.js" ]; then
    command -v npm >/dev/null || skip 'npm is not installed, which fetches axe-core'
    mkdir -p "$axe"
    npm install --silent --no-audit --no-fund --prefix "$axe" axe-core@4.11 || skip 'axe-core cannot be installed'
fi
# As one workspace: so it shares what was built for the other tests.
exec cargo test --quiet --workspace --all-features --test web -- "$@"
