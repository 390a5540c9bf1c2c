#!/usr/bin/env bash
# Installs with install.sh and as plugins of agents (tests/plugins.sh), and builds and unpacks the Debian package if cargo-deb
# is installed, each for a user with an empty home folder. Checks that all files are in place and that the programs work from
# there. With CHECKPOINTD_MINUTE=1, meets them in empty systems too (tests/minute.sh). Builds without optimization.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT
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

# What the tests have built: other steps need not wait for a build of their own.
cargo test --quiet --workspace --all-features --no-run
mkdir "$scratch/built"
for program in checkpointd checkpointd-hook checkpointd-fleet; do
    strip -o "$scratch/built/$program" "$CARGO_TARGET_DIR/debug/$program"
done

# These mostly wait: for the compiler, for agents, and for registries. So they run beside the rest.
build() {
    local installed=$scratch/home/.local file
    mkdir "$scratch/home"
    HOME=$scratch/home ./install.sh --prefix "$installed" --profile dev
    try_out "$installed/bin"
    for file in share/man/man1/checkpointd-init.1 share/bash-completion/completions/checkpointd share/zsh/site-functions/_checkpointd \
        share/fish/vendor_completions.d/checkpointd.fish; do
        [ -s "$installed/$file" ] || fail "install.sh did not install $file"
    done
    HOME=$scratch/home ./install.sh --uninstall --prefix "$installed"
    [ ! -e "$installed/bin/checkpointd" ] || fail 'install.sh --uninstall left the programs of a build'
}
build >"$scratch/build" 2>&1 &
build=$!
tests/plugins.sh "$scratch/built" >"$scratch/plugins" 2>&1 &
plugins=$!
packaging/check.sh >"$scratch/check" 2>&1 &
check=$!

echo '-- install.sh from a release'
# A folder of files takes the place of the address of releases.
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
case $(uname -sm) in
    'Linux x86_64') target=x86_64-unknown-linux-musl ;;
    'Linux aarch64') target=aarch64-unknown-linux-musl ;;
    'Darwin x86_64') target=x86_64-apple-darwin ;;
    *) target=aarch64-apple-darwin ;;
esac
LEVEL=1 packaging/archive.sh "$target" "$scratch/built" "$scratch/archives"
mkdir -p "$scratch/releases/download"
cp -r "$scratch/archives" "$scratch/releases/download/v$version"
mkdir "$scratch/source" "$scratch/user"
cp install.sh Cargo.toml "$scratch/source/"
release() { HOME=$scratch/user CHECKPOINTD_RELEASES=file://$scratch/releases "$scratch/source/install.sh" --prefix "$scratch/user/.local" "$@"; }
release >"$scratch/said"
took() { # WHERE: whether the release was installed, and what agents left open is shown
    grep -q "installed  checkpointd $version (release)" "$scratch/said" || fail "$1: install.sh did not take the release: $(cat "$scratch/said")"
    grep -q '^No turns since' "$scratch/said" || fail "$1: install.sh did not look back: $(cat "$scratch/said")"
}
took 'an unpacked release'
try_out "$scratch/user/.local/bin"
mkdir -p "$scratch/user/.claude"
HOME=$scratch/user "$scratch/user/.local/bin/checkpointd" init --agent claude >/dev/null
release --uninstall
! grep -qs checkpointd "$scratch/user/.claude/settings.json" || fail 'install.sh --uninstall left hooks'
left=$(find "$scratch/user/.local" -path "$scratch/user/.local/share/checkpointd" -prune -o -path "$scratch/user/.local/state" -prune -o -type f -print 2>/dev/null || true)
[ -z "$left" ] || fail "install.sh --uninstall left $left"
# A clone takes the release too, whatever was committed after it.
git -C "$scratch/source" init --quiet
release >"$scratch/said"
took 'a clone'
grep -q -- '--build' "$scratch/said" || fail 'install.sh does not say how to build a clone'
release --uninstall >/dev/null
# Without a clone it is the newest one, and nothing is built in another project's folder, even if that says that it is a clone.
mkdir -p "$scratch/releases/latest" "$scratch/other"
ln -s "../download/v$version" "$scratch/releases/latest/download"
printf '[package]\nname = "checkpointd"\nversion = "9.9.9"\n' >"$scratch/other/Cargo.toml"
piped() { (cd "$scratch/other" && HOME=$scratch/user CHECKPOINTD_RELEASES=file://$scratch/releases sh -s -- --prefix "$scratch/user/.local" "$@" <"$scratch/source/install.sh"); }
piped >"$scratch/said"
took 'without a clone'
piped --uninstall >/dev/null
! piped --build >"$scratch/said" 2>&1 || fail 'install.sh from a pipe built the folder in which it stood'
grep -q 'this is no clone' "$scratch/said" || fail "install.sh from a pipe said: $(cat "$scratch/said")"
# An archive that somebody has changed is not installed.
echo x >>"$scratch/releases/download/v$version/checkpointd-$target.tar.gz"
! release >"$scratch/said" 2>&1 || fail 'install.sh installed an archive with another checksum'
grep -q 'does not have its checksum' "$scratch/said" || fail "install.sh said: $(cat "$scratch/said")"
[ ! -e "$scratch/user/.local/bin/checkpointd" ] || fail 'install.sh left programs of an archive with another checksum'

finished() { # NAME JOB FILE: waits for what ran beside
    echo "-- $1"
    wait "$2" || { cat "$3"; exit 1; }
    cat "$3"
}
finished 'recipes and crates' "$check" "$scratch/check"
finished plugins "$plugins" "$scratch/plugins"
finished 'install.sh from the source' "$build" "$scratch/build"

echo '-- the first minute'
# Alone, because it has a stopwatch.
if [ -n "${CHECKPOINTD_MINUTE:-}" ]; then tests/minute.sh "$scratch/archives"; else echo 'not tried: it takes minutes; CHECKPOINTD_MINUTE=1 tries it'; fi

echo '-- Debian package'
if ! cargo deb --version >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null; then
    echo 'skipped: cargo-deb is not installed (cargo install cargo-deb --locked)'
    exit 0
fi
# The layout does not depend on the profile, so package the programs that are already built.
mkdir -p "$scratch/target"
ln -s "$scratch/built" "$scratch/target/dist"
CARGO_TARGET_DIR=$scratch/target packaging/deb.sh "$scratch/checkpointd.deb"
dpkg-deb -x "$scratch/checkpointd.deb" "$scratch/unpacked"
try_out "$scratch/unpacked/usr/bin"
for file in bin/checkpointd bin/checkpointd-hook bin/checkpointd-fleet share/man/man1/checkpointd.1.gz share/man/man1/checkpointd-init.1.gz \
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
