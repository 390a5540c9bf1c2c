#!/bin/sh
# Packs built programs as a release has them: one archive for each target, and its checksum beside it.
#
#   packaging/archive.sh TARGET PROGRAMS [OUTPUT]
#
#   TARGET    for example x86_64-unknown-linux-musl
#   PROGRAMS  the folder of the built programs; RUNNER, if set, runs them (for example qemu-aarch64-static)
#   OUTPUT    the folder for checkpointd-TARGET.tar.gz; default: target/archives
#
# LEVEL, if set, is that of gzip: 1 is quick, for a test.
set -eu
cd "$(dirname "$0")/.."

target=$1
programs=$2
output=${3:-target/archives}
name=checkpointd-$target
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

packaging/stage.sh "$programs/checkpointd" "$stage/share"
mkdir "$stage/$name" "$stage/$name/completions"
cp "$programs/checkpointd" "$programs/checkpointd-hook" "$programs/checkpointd-fleet" "$stage/$name/"
mv "$stage/share/man" "$stage/$name/"
mv "$stage/share/bash" "$stage/share/zsh" "$stage/share/fish" "$stage/$name/completions/"
cp README.md CHANGELOG.md SECURITY.md LICENSE-APACHE LICENSE-MIT config.yml install.sh "$stage/$name/"

mkdir -p "$output"
tar -C "$stage" -cf - "$name" | gzip "-${LEVEL:-9}" >"$output/$name.tar.gz"
(cd "$output" && if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi) >"$output/$name.tar.gz.sha256"
echo "$output/$name.tar.gz"
