#!/usr/bin/env bash
# Installs a Debian package in a fresh Debian that holds nothing else, has a real Claude Code work with it there, and removes
# it again. Says how long it takes from the package to the first checkpoint.
#
#   tests/fresh-debian.sh PACKAGE.deb [MIRROR]
#
# Needs root, debootstrap and npm, and a mirror of Debian that can be reached.
set -euo pipefail

package=$(realpath -- "${1:?usage: tests/fresh-debian.sh PACKAGE.deb [MIRROR]}")
mirror=${2:-http://deb.debian.org/debian}
cd "$(dirname "$0")/.."
# The programs of the tests run in the fresh system, so it must have their C library.
. /etc/os-release
[ "${ID:-}" = debian ] && [ -n "${VERSION_CODENAME:-}" ] || { echo 'error: this is not a Debian' >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo 'error: only root can make a fresh system (sudo tests/fresh-debian.sh)' >&2; exit 1; }

agents=$(tests/agents/install.sh)
cargo test --quiet --workspace --all-features --test agents --no-run
tests=$(find "${CARGO_TARGET_DIR:-$PWD/target}/debug/deps" -name 'agents-*' -type f -executable -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)

target=$(realpath "${CARGO_TARGET_DIR:-target}")
root=$(mktemp -d)
# Nothing is deleted while a folder of this system is still mounted below it.
finish() { umount --recursive "$root" 2>/dev/null || umount --recursive --lazy "$root"; rm -rf "$root"; }
trap finish EXIT
echo "-- a fresh $VERSION_CODENAME"
log=$(mktemp)
debootstrap --variant=minbase --include=ca-certificates,iproute2,make,procps "$VERSION_CODENAME" "$root" "$mirror" >"$log" || { tail "$log" >&2; exit 1; }
rm "$log"
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
# Terminals are made there.
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
for folder in "$PWD" "$target" "${agents%/node_modules/.bin}"; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
    mount -o remount,bind,ro "$root$folder"
done
# The tests' scratch folder.
mkdir -p "$target/tmp"
mount -t tmpfs tmpfs "$root$target/tmp"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"; }

echo '-- the package'
began=$SECONDS
cp "$package" "$root/tmp/checkpointd.deb"
inside apt-get install -y -qq --no-install-recommends git tmux /tmp/checkpointd.deb >/dev/null
inside checkpointd --version
inside checkpointd demo >/dev/null
echo "from the package to the first checkpoint, that of the demo: $((SECONDS - began)) s"

echo '-- a real agent: init, turns with and without a checkpoint, uninstall'
inside CHECKPOINTD_AGENTS="$agents" CHECKPOINTD_PROGRAMS=/usr/bin \
    unshare --net sh -c 'ip link set lo up && exec "$@"' sh "$(realpath "$tests")" claude

echo '-- without it'
inside apt-get purge -y -qq checkpointd >/dev/null
left=$(find "$root"/usr "$root"/etc "$root"/var/lib/systemd -iname '*checkpointd*')
[ -z "$left" ] || { echo "error: the package left $left" >&2; exit 1; }
echo 'nothing is left'
