#!/bin/sh
# Makes the npm packages of a release from its archives: one with the programs for each platform, and `checkpointd`, which
# depends on them and runs the one that npm chose. Nothing runs at installation. Needs no npm.
#
#   packaging/npm.sh ARCHIVES [OUTPUT]
#
#   ARCHIVES  the folder of checkpointd-TARGET.tar.gz, as packaging/archive.sh writes them
#   OUTPUT    the folder for NAME-VERSION.tgz; default: target/npm
set -eu
archives=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
output=${2:-target/npm}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$output"

# Prints the fields that all packages have, of a package NAME.
manifest() {
    cat <<END
  "name": "$1",
  "version": "$version",
  "description": "Debriefs AI coding agents when they stop",
  "license": "MIT OR Apache-2.0",
  "homepage": "https://github.com/checkpointd/checkpointd",
  "repository": "github:checkpointd/checkpointd",
  "publishConfig": { "access": "public" },
END
}

pack() { # FILE: packs the folder `package`, which is removed
    cp LICENSE-APACHE LICENSE-MIT "$stage/package/"
    tar -C "$stage" -czf "$output/$1-$version.tgz" package
    rm -rf "$stage/package"
    echo "$output/$1-$version.tgz"
}

depends=
for archive in "$archives"/checkpointd-*.tar.gz; do
    [ -e "$archive" ] || { echo "error: $archives has no archives" >&2; exit 1; }
    target=$(basename "$archive" .tar.gz)
    case $target in
        *-x86_64-unknown-linux-musl) os=linux cpu=x64 ;;
        *-aarch64-unknown-linux-musl) os=linux cpu=arm64 ;;
        *-x86_64-apple-darwin) os=darwin cpu=x64 ;;
        *-aarch64-apple-darwin) os=darwin cpu=arm64 ;;
        *) echo "error: npm has no name for the platform of $archive" >&2; exit 1 ;;
    esac
    mkdir -p "$stage/package/bin"
    tar -C "$stage" -xzf "$archive"
    for program in checkpointd checkpointd-hook checkpointd-fleet; do cp "$stage/$target/$program" "$stage/package/bin/"; done
    { echo '{'; manifest "@checkpointd/$os-$cpu"; printf '  "os": ["%s"],\n  "cpu": ["%s"]\n}\n' "$os" "$cpu"; } >"$stage/package/package.json"
    echo "The programs of [checkpointd](https://www.npmjs.com/package/checkpointd) for $os on $cpu." >"$stage/package/README.md"
    pack "checkpointd-$os-$cpu"
    depends="$depends${depends:+, }\"@checkpointd/$os-$cpu\": \"$version\""
done

mkdir -p "$stage/package/bin"
cp packaging/npm/run.js README.md "$stage/package/"
for program in checkpointd checkpointd-hook; do
    printf "#!/usr/bin/env node\nrequire('../run.js')('%s');\n" "$program" >"$stage/package/bin/$program.js"
    chmod 755 "$stage/package/bin/$program.js"
done
{
    echo '{'
    manifest checkpointd
    cat <<END
  "bin": { "checkpointd": "bin/checkpointd.js", "checkpointd-hook": "bin/checkpointd-hook.js" },
  "engines": { "node": ">=16" },
  "optionalDependencies": { $depends }
}
END
} >"$stage/package/package.json"
pack checkpointd
