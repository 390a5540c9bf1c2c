#!/bin/sh
# Installs checkpointd and its hook client with manual pages and completions. In a clone: the release of its version if
# there is one for this machine, else a build. Elsewhere (`curl .. | sh`): the newest release.
#
#   ./install.sh [--prefix FOLDER] [--build] [--profile NAME]
#   ./install.sh --uninstall [--prefix FOLDER]
#
#   --prefix FOLDER   install to FOLDER/bin and FOLDER/share; default: cargo's folder (~/.cargo)
#   --build           build this clone, even if there is a release
#   --profile NAME    build with this cargo profile; default: release. `dev` builds faster, but the programs are slower
#   --uninstall       remove the hooks from the agents' settings, and then all files that were installed
set -eu

say() { printf '%s\n' "$*"; }
fail() { say "error: $1" >&2; [ $# -lt 2 ] || say "hint: $2" >&2; exit 1; }

prefix=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}
profile=release
build=false
uninstall=false
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) [ $# -gt 1 ] || fail '--prefix needs a folder'; prefix=$2; shift 2 ;;
        --prefix=*) prefix=${1#--prefix=}; shift ;;
        --profile) [ $# -gt 1 ] || fail '--profile needs a name'; profile=$2; build=true; shift 2 ;;
        --profile=*) profile=${1#--profile=}; build=true; shift ;;
        --build) build=true; shift ;;
        --uninstall) uninstall=true; shift ;;
        -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail "unknown argument $1" './install.sh --help' ;;
    esac
done

# The path ends up in agents' settings, so it must be absolute.
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
# From a pipe, `$0` is the shell: the folder in which it stands is never built, whatever it says that it is.
is_clone() { false; }
case $0 in
    *install.sh)
        cd "$(dirname "$0")"
        is_clone() { grep -qs '^name = "checkpointd"$' Cargo.toml; }
        ;;
esac
releases=${CHECKPOINTD_RELEASES:-https://github.com/checkpointd/checkpointd/releases}
bash=share/bash-completion/completions/checkpointd
zsh=share/zsh/site-functions/_checkpointd
fish=share/fish/vendor_completions.d/checkpointd.fish

if $uninstall; then
    program=$prefix/bin/checkpointd
    [ -x "$program" ] || fail "$program not found" 'name the folder of the installation with --prefix'
    # Also ends the daemon and a service. Journal and configuration stay.
    "$program" uninstall --yes --keep-data
    ! grep -qs '"checkpointd ' "$prefix/.crates2.json" || cargo uninstall --quiet --root "$prefix" checkpointd
    rm -f "$program" "$program-hook" "$program-fleet" "$prefix/$bash" "$prefix/$zsh" "$prefix/$fish" \
        "$prefix/share/man/man1/checkpointd.1" "$prefix"/share/man/man1/checkpointd-*.1
    # Folders that are empty now were made for these files.
    for folder in bin "${bash%/*}" share/bash-completion "${zsh%/*}" share/zsh "${fish%/*}" share/fish share/man/man1 share/man share; do
        rmdir "$prefix/$folder" 2>/dev/null || true
    done
    say "uninstalled  $prefix/bin/checkpointd and checkpointd-hook"
    exit 0
fi

# Prints the name of this machine's archive of a release.
archive() {
    case $(uname -sm) in
        'Linux x86_64') say checkpointd-x86_64-unknown-linux-musl ;;
        'Linux aarch64') say checkpointd-aarch64-unknown-linux-musl ;;
        'Darwin x86_64') say checkpointd-x86_64-apple-darwin ;;
        'Darwin arm64') say checkpointd-aarch64-apple-darwin ;;
        *) return 1 ;;
    esac
}

# Prints the folder of the release below $releases: that of this clone's version, or elsewhere the newest one.
release() {
    if is_clone; then
        say "download/v$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
    else
        say latest/download
    fi
}

fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl --proto '=https,file' --proto-redir '=https' --silent --fail --location --output "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --output-document "$2" "$1"
    else
        return 1
    fi
}

checksum() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Puts the files of an unpacked archive in place. A running program is replaced, not overwritten.
put() {
    mkdir -p "$prefix/$(dirname "$3")"
    cp "$2" "$prefix/$3.new"
    chmod "$1" "$prefix/$3.new"
    mv -f "$prefix/$3.new" "$prefix/$3"
}

# Fetches and unpacks the release beside where it goes, and tries it. Returns 1 and says `why` if there is none.
fetch_release() {
    why="there is no release for $(uname -sm)"
    name=$(archive) || return 1
    from=$releases/$(release)
    mkdir -p "$prefix/bin" 2>/dev/null && scratch=$(mktemp -d "$prefix/bin/.new.XXXXXX" 2>/dev/null) ||
        fail "$prefix cannot be written to" 'name another folder with --prefix'
    trap 'rm -rf "$scratch"; rmdir "$prefix/bin" "$prefix" 2>/dev/null || true' EXIT
    why="$from/$name.tar.gz cannot be fetched"
    fetch "$from/$name.tar.gz" "$scratch/archive" || return 1
    fetch "$from/$name.tar.gz.sha256" "$scratch/sum" || fail "$from has no checksum" 'build instead: ./install.sh --build'
    [ "$(checksum "$scratch/archive")" = "$(cut -d ' ' -f 1 "$scratch/sum")" ] ||
        fail "the archive in $from does not have its checksum" 'try again later, or build instead: ./install.sh --build'
    tar -C "$scratch" -xzf "$scratch/archive" 2>/dev/null || fail "$prefix has no room for the release"
    said=$("$scratch/$name/checkpointd" --version 2>&1) ||
        fail "the release does not run on this system: $(say "$said" | head -n 1)" 'in a clone of the repository, build it: ./install.sh --build'
}

put_release() {
    for program in checkpointd checkpointd-hook checkpointd-fleet; do put 755 "$scratch/$name/$program" "bin/$program"; done
    for page in "$scratch/$name"/man/*.1; do put 644 "$page" "share/man/man1/$(basename "$page")"; done
    put 644 "$scratch/$name/completions/bash" "$bash"
    put 644 "$scratch/$name/completions/zsh" "$zsh"
    put 644 "$scratch/$name/completions/fish" "$fish"
}

install_build() {
    is_clone || fail "${why:-this is no clone that could be built}" 'clone the repository, and build it with its `./install.sh --build`'
    command -v cargo >/dev/null 2>&1 || fail 'cargo not found' 'install a Rust toolchain, 1.95 or newer'
    command -v cc >/dev/null 2>&1 || fail 'no C compiler found' 'install gcc or clang; on macOS: xcode-select --install'
    # `--force` also replaces another build of the same version.
    cargo install --locked --force --all-features --path . --root "$prefix" --profile "$profile"
    "$prefix/bin/checkpointd" completions --man "$prefix/share/man/man1" >/dev/null
    mkdir -p "$prefix/${bash%/*}" "$prefix/${zsh%/*}" "$prefix/${fish%/*}"
    "$prefix/bin/checkpointd" completions bash >"$prefix/$bash"
    "$prefix/bin/checkpointd" completions zsh >"$prefix/$zsh"
    "$prefix/bin/checkpointd" completions fish >"$prefix/$fish"
}

command -v git >/dev/null 2>&1 || say 'warning: git not found; checkpoints cannot say which files changed'
if ! $build && fetch_release; then
    put_release
    how=' (release)'
    ! is_clone || [ ! -e .git ] || say 'note       this is the release; `./install.sh --build` builds this clone'
else
    how=
    install_build
fi
program=$prefix/bin/checkpointd
say ''
say "installed  $("$program" --version)$how: $program and checkpointd-hook"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) say "warning    $prefix/bin is not on your PATH" ;;
esac
say ''
# What the agents left open until today, from their transcripts; it changes nothing.
"$program" lookback || true
say ''
say 'next       checkpointd init      (add hooks to the agents found)'
say '           checkpointd doctor    (check the installation)'
