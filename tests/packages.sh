#!/usr/bin/env bash
# Installs from this tree as install.sh does, and makes and unpacks the Debian package where cargo-deb is there, each for
# a user whose home is empty: what is installed lies where it belongs and works from there. Builds without optimising.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
# The tools stay those of this user.
export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
unset CHECKPOINTD_HOME CHECKPOINTD_SOCKET XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME

fail() { echo "error: $1" >&2; exit 1; }

# A user with Claude Code puts the hooks of the programs in FOLDER in place, and takes them out again.
try_out() {
    local folder=$1 home
    home=$(mktemp -d -p "$scratch")
    mkdir "$home/.claude"
    "$folder/checkpointd" --version | grep -q '^checkpointd [0-9]' || fail "$folder: no version"
    [ -z "$(echo '{}' | HOME=$home CHECKPOINTD_AUTOSTART=0 "$folder/checkpointd-hook" claude Stop)" ] ||
        fail "$folder: the hook client says something without a daemon"
    HOME=$home "$folder/checkpointd" init --agent claude >/dev/null
    grep -q "$folder/checkpointd-hook" "$home/.claude/settings.json" || fail "$folder: not the hook of this installation"
    HOME=$home "$folder/checkpointd" uninstall --yes >/dev/null
    [ -z "$(find "$home" -type f)" ] || fail "$folder: uninstall left $(find "$home" -type f)"
}

echo '-- install.sh'
mkdir "$scratch/home"
HOME=$scratch/home ./install.sh --prefix "$scratch/home/.local" --profile dev
try_out "$scratch/home/.local/bin"
[ -s "$scratch/home/.local/share/man/man1/checkpointd-init.1" ] || fail 'no manual pages'

echo '-- Debian package'
if ! cargo deb --version >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null; then
    echo 'skipped: cargo-deb is not installed (cargo install cargo-deb --locked)'
    exit 0
fi
# The layout is the same whatever the profile, so the programs that are there stand in for optimised ones.
mkdir -p "$scratch/target/release"
for program in checkpointd checkpointd-hook; do
    strip -o "$scratch/target/release/$program" "$scratch/home/.local/bin/$program"
done
CARGO_TARGET_DIR=$scratch/target packaging/deb.sh "$scratch/checkpointd.deb"
dpkg-deb -x "$scratch/checkpointd.deb" "$scratch/unpacked"
try_out "$scratch/unpacked/usr/bin"
for file in bin/checkpointd bin/checkpointd-hook share/man/man1/checkpointd.1.gz share/man/man1/checkpointd-init.1.gz \
    share/bash-completion/completions/checkpointd share/zsh/vendor-completions/_checkpointd \
    share/fish/vendor_completions.d/checkpointd.fish lib/systemd/user/checkpointd.socket \
    lib/systemd/user/checkpointd.service share/doc/checkpointd/copyright share/doc/checkpointd/config.yml; do
    [ -s "$scratch/unpacked/usr/$file" ] || fail "the package has no usr/$file"
done
# What is for everybody names nobody's home and no folder of the build.
units=$scratch/unpacked/usr/lib/systemd/user
grep -qx 'ListenStream=%h/.local/state/checkpointd/run/sock' "$units/checkpointd.socket" || fail 'not the socket of hooks'
grep -qx 'ExecStart="/usr/bin/checkpointd" daemon' "$units/checkpointd.service" || fail 'not the daemon of the package'
! grep -rqF -e "$scratch" -e "$HOME/" "$scratch/unpacked/usr/share" "$units" || fail 'a path of the build is in the package'
dpkg-deb --field "$scratch/checkpointd.deb" Depends | grep -q libc6 || fail 'the package does not name the C library'
