#!/usr/bin/env bash
# Runs the real agents against scripted models, in a network of their own that holds nothing but loopback.
# Arguments are words: only scenarios with one of them in their name, or of an agent so named, are run.
# Without words, the agents that were added last play a part of their scenarios; CHECKPOINTD_AGENTS_ALL=1 plays all.
# Needs npm (with node 20 or newer), Python 3.12 for one of them, git, tmux, unshare and ip. Passes with a word of explanation only where npm cannot
# be reached or the kernel permits no namespaces.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() { printf 'SKIPPED: the real agents were not run: %s\n' "$1"; exit 0; }

status=0
CHECKPOINTD_AGENTS=$(tests/agents/install.sh) || status=$?
[ "$status" != 75 ] || skip 'npm is not there, or cannot reach its registry'
[ "$status" = 0 ] || exit "$status"
export CHECKPOINTD_AGENTS

[ "$(uname -s)" = Linux ] || skip 'this system has no network namespaces'
for tool in unshare ip git tmux; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed (packages util-linux, iproute2, git, tmux)"; exit 1; }
done
isolated=(unshare --net)
"${isolated[@]}" true 2>/dev/null || isolated=(unshare --map-root-user --net)
"${isolated[@]}" true 2>/dev/null || skip 'namespaces are not permitted here'

# As one workspace: so it shares what was built for the other tests.
cargo test --quiet --workspace --all-features --test agents --no-run
# Cargo, too, runs without a network: all that it needs was built a moment ago.
exec "${isolated[@]}" sh -c 'ip link set lo up && exec cargo test --quiet --offline --workspace --all-features --test agents -- "$@"' sh "$@"
