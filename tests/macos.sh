#!/usr/bin/env bash
# Type-checks the programs for macOS on a machine that is none; with --all-targets tests and benches too. Nothing is linked, so
# nothing of Apple's is needed, and an empty object stands for what libraries have in C. That it works is not proved.
# Passes with a word of explanation only where the standard library for macOS cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-apple-darwin
skip() { printf 'SKIPPED: not checked for macOS: %s\n' "$1"; exit 0; }
command -v rustup >/dev/null || skip 'rustup is not there to install the standard library'
rustup target list --installed | grep -qx "$target" || rustup target add "$target" >/dev/null 2>&1 ||
    skip "rustup target add $target failed"

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
cat > "$tools/cc" <<'CC'
#!/bin/sh
# Makes the file behind -o, or the archive that is named, and leaves it empty.
while [ $# -gt 0 ]; do
    case $1 in -o) out=$2 ;; *.a) out=$1 ;; esac
    shift
done
[ -z "${out:-}" ] || : > "$out"
CC
chmod +x "$tools/cc"
cp "$tools/cc" "$tools/ar"
export CC_aarch64_apple_darwin=$tools/cc AR_aarch64_apple_darwin=$tools/ar RUSTFLAGS='-D warnings'
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo check --quiet --workspace --target "$target" "$@"
echo "it compiles for $target"
