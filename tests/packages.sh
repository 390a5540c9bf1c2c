#!/usr/bin/env bash
# Installs with install.sh, and builds and unpacks the Debian package if cargo-deb is installed, each for a user with an
# empty home folder. Checks that all files are in place and that the programs work from there. Builds without
# optimization.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
# Cargo and rustup stay those of the current user.
export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
unset CHECKPOINTD_HOME CHECKPOINTD_SOCKET XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME

fail() { echo "error: $1" >&2; exit 1; }

# Adds the hooks of the programs in FOLDER for a user of Claude Code, and removes them again.
try_out() {
    local folder=$1 home
    home=$(mktemp -d -p "$scratch")
    mkdir "$home/.claude"
    "$folder/checkpointd" --version | grep -q '^checkpointd [0-9]' || fail "$folder: --version prints no version"
    [ -z "$(echo '{}' | HOME=$home CHECKPOINTD_AUTOSTART=0 "$folder/checkpointd-hook" claude Stop)" ] ||
        fail "$folder: the hook client prints something without a daemon"
    HOME=$home "$folder/checkpointd" init --agent claude >/dev/null
    grep -q "$folder/checkpointd-hook" "$home/.claude/settings.json" || fail "$folder: init did not add the hook of this installation"
    HOME=$home "$folder/checkpointd" uninstall --yes --purge >/dev/null
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
# The layout does not depend on the profile, so package the programs that are already built.
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
grep -q '^License: Expat or Apache-2.0$' "$scratch/unpacked/usr/share/doc/checkpointd/copyright" || fail 'the package does not name both licenses'
# Files for all users must not contain the home folder of one user or a path of the build.
units=$scratch/unpacked/usr/lib/systemd/user
grep -qx 'ListenStream=%h/.local/state/checkpointd/run/sock' "$units/checkpointd.socket" || fail 'the socket unit listens on another socket than the hooks use'
grep -qx 'ExecStart="/usr/bin/checkpointd" daemon' "$units/checkpointd.service" || fail 'the service unit starts another program than the packaged one'
! grep -rqF -e "$scratch" -e "$HOME/" "$scratch/unpacked/usr/share" "$units" || fail 'the package contains a path of the build'
dpkg-deb --field "$scratch/checkpointd.deb" Depends | grep -q libc6 || fail 'the package does not depend on the C library'
