#!/usr/bin/env bash
# Runs exactly the tests that the tables of protections and attacks in SECURITY.md name. `--release` attacks optimized binaries.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=()
[ "${1:-}" != --release ] || profile=(--release)
names=$(sed -n "/^## What is protected/,/^## Not promised/p" SECURITY.md | grep -oE "\`[a-z]+::[a-z0-9_:]+\`" | tr -d "\`" | sort -u)

# run TARGET ARGUMENTS-OF-CARGO..
run() {
    local target=$1; shift
    local tests; tests=$(sed -n "s/^${target}:://p" <<<"$names")
    [ -n "$tests" ] || return 0
    local wanted; wanted=$(wc -l <<<"$tests")
    local out; out=$(mktemp)
    # shellcheck disable=SC2086 # one word for each name
    cargo test --all-features ${profile[@]+"${profile[@]}"} "$@" -- --exact $tests 2>&1 | tee "$out"
    grep -q "^test result: ok. $wanted passed" "$out" || { echo "$target: not all of $wanted tests ran and passed"; exit 1; }
    rm -f "$out"
}
for crate in agents memory reading redact; do run "$crate" -p "checkpointd-$crate" --lib; done
run journal -p checkpointd-journal --lib
run checkpoint -p checkpointd-checkpoint --lib
run actors -p checkpointd-actors --lib
run checkpointd -p checkpointd --bin checkpointd
run it -p checkpointd --test it
