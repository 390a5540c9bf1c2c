#!/bin/sh
# Prints the part of CHANGELOG.md about a version. Fails if there is none.
#
#   packaging/notes.sh VERSION
set -eu
cd "$(dirname "$0")/.."

notes=$(awk -v heading="## [$1]" '
    /^\[[^]]*\]: / { next }
    index($0, "## ") == 1 { inside = index($0, heading) == 1; next }
    inside { print }
' CHANGELOG.md)
[ -n "$notes" ] || { echo "error: CHANGELOG.md has nothing about $1" >&2; exit 1; }
printf '%s\n' "$notes"
