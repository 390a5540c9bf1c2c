#!/bin/sh
# Writes the Homebrew formula and the PKGBUILD of a version, which name the checksum of its source archive.
#
#   packaging/recipes.sh VERSION SHA256 [OUTPUT]          default: target/recipes
set -eu
cd "$(dirname "$0")"

output=${3:-../target/recipes}
mkdir -p "$output"
for recipe in checkpointd.rb PKGBUILD; do
    sed "s|@VERSION@|$1|g; s|@SHA256@|$2|g" "$recipe.in" >"$output/$recipe"
done
